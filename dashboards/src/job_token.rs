//! Tokens with which a job reads its own answer and reports its progress: bound to the job and to a time, and not stored anywhere.
//!
//! A token is `tbjob.JOB.UNTIL.CODE`: `UNTIL` in seconds since the epoch, and `CODE` HMAC-SHA256 over the rest. A holder of the key makes
//! tokens without asking the server, so that no prolog waits for it. A token opens nothing else.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use schemas::Name;
use schemas::secret::Redacted;
use sha2::Sha256;
use subtle::ConstantTimeEq;

/// What every token begins with.
const PREFIX: &str = "tbjob.";
/// Bytes of a code.
const CODE_BYTES: usize = 32;

/// Keys of tokens: the first makes them, all check them, so that a key can be replaced while jobs run.
#[derive(Clone, Default)]
pub struct JobKeys(Vec<Redacted>);

/// Why a token does not open an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenRefusal {
    /// It was not made with a key of this server, or was changed.
    #[error(
        "this job token was not made with a key of this server: make it with `tailback ask --issue`, and with the file that \
         http.job_token_key_file names"
    )]
    Unknown,
    /// Its time is over.
    #[error(
        "this job token expired at {0} (seconds since the epoch): let the prolog issue one for the whole time limit of the job, \
         with `tailback ask --issue --valid-s`"
    )]
    Expired(u64),
    /// It is of another job.
    #[error("this token is of job {0}: a job asks and reports for itself alone")]
    OtherJob(String),
}

impl JobKeys {
    /// The keys of a file, one a line; without a file no token opens anything.
    pub fn of(file: Option<&Redacted>) -> JobKeys {
        // An empty key would let anyone make tokens.
        let lines = file.map_or("", Redacted::reveal).lines().map(str::trim).filter(|line| !line.is_empty());
        JobKeys(lines.map(|line| Redacted::new(line.to_string())).collect())
    }

    /// A token for `job` until `until_s`, in seconds since the epoch; `None` without a key.
    pub fn issue(&self, job: &Name, until_s: u64) -> Option<String> {
        let signed = format!("{PREFIX}{job}.{until_s}");
        let code = URL_SAFE_NO_PAD.encode(code(self.0.first()?, &signed)?);
        Some(format!("{signed}.{code}"))
    }

    /// Until when `token` opens the answer of `job`, in seconds since the epoch.
    ///
    /// # Errors
    /// [`TokenRefusal`].
    pub fn check(&self, token: &str, job: &str, now_s: u64) -> Result<u64, TokenRefusal> {
        let (signed, given) = token.rsplit_once('.').ok_or(TokenRefusal::Unknown)?;
        let given = URL_SAFE_NO_PAD.decode(given).map_err(|_| TokenRefusal::Unknown)?;
        let is_right = |key: &Redacted| code(key, signed).is_some_and(|right| right.ct_eq(&given).into());
        if !self.0.iter().any(is_right) {
            return Err(TokenRefusal::Unknown);
        }
        let parts = signed.strip_prefix(PREFIX).and_then(|rest| rest.rsplit_once('.'));
        let (own, until) = parts.ok_or(TokenRefusal::Unknown)?;
        let until_s: u64 = until.parse().map_err(|_| TokenRefusal::Unknown)?;
        match own == job {
            _ if until_s <= now_s => Err(TokenRefusal::Expired(until_s)),
            true => Ok(until_s),
            false => Err(TokenRefusal::OtherJob(own.to_string())),
        }
    }
}

/// Whether a bearer token is one of a job.
pub fn is_job_token(token: &str) -> bool {
    token.starts_with(PREFIX)
}

fn code(key: &Redacted, signed: &str) -> Option<[u8; CODE_BYTES]> {
    // HMAC takes keys of any length.
    let mut code = Hmac::<Sha256>::new_from_slice(key.reveal().as_bytes()).ok()?;
    code.update(signed.as_bytes());
    Some(code.finalize().into_bytes().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "0123456789abcdef0123456789abcdef";

    fn keys(text: &str) -> JobKeys {
        JobKeys::of(Some(&Redacted::new(text.to_string())))
    }

    fn token(job: &str) -> String {
        keys(KEY).issue(&Name::parse(job).unwrap(), 2_000).unwrap()
    }

    /// Computed with `printf 'tbjob.1234.2000' | openssl dgst -sha256 -hmac KEY -binary | basenc --base64url`.
    #[test]
    fn a_token_is_the_hmac_of_job_and_time() {
        assert_eq!(token("1234"), "tbjob.1234.2000.KI3CSPwA3kLmPCslHOmQjAQWY3w-AtK-98FnxCv0NQ4");
    }

    #[test]
    fn a_token_opens_its_job_until_its_time() {
        for job in ["1234", "1234.r1", "1234:5.server", "1234@beta"] {
            assert_eq!(keys(KEY).check(&token(job), job, 1_999), Ok(2_000));
            assert_eq!(keys(KEY).check(&token(job), job, 2_000), Err(TokenRefusal::Expired(2_000)));
        }
        let other = TokenRefusal::OtherJob("1234".to_string());
        assert_eq!(keys(KEY).check(&token("1234"), "1235", 0), Err(other));
    }

    #[test]
    fn a_changed_token_opens_nothing() {
        let token = token("1234");
        for at in 0..token.len() {
            let mut changed = token.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            assert_eq!(keys(KEY).check(&changed, "1234", 0), Err(TokenRefusal::Unknown), "{changed}");
        }
        for text in ["", "tbjob.", "tbjob.1234.9999999999", "tbjob.1234.9999999999."] {
            assert_eq!(keys(KEY).check(text, "1234", 0), Err(TokenRefusal::Unknown), "{text:?}");
        }
        assert_eq!(JobKeys::default().check(&token, "1234", 0), Err(TokenRefusal::Unknown));
    }

    #[test]
    fn an_empty_line_is_no_key() {
        let forged = JobKeys(vec![Redacted::new(String::new())]);
        let forged = forged.issue(&Name::parse("1234").unwrap(), 2_000).unwrap();
        assert_eq!(keys(&format!("{KEY}\n\n")).check(&forged, "1234", 0), Err(TokenRefusal::Unknown));
    }

    #[test]
    fn a_replaced_key_opens_what_it_made() {
        let newer = format!("fedcba9876543210fedcba9876543210\n{KEY}\n");
        assert_eq!(keys(&newer).check(&token("1234"), "1234", 0), Ok(2_000));
        let newest = keys(&newer).issue(&Name::parse("1234").unwrap(), 2_000).unwrap();
        assert_eq!(keys(KEY).check(&newest, "1234", 0), Err(TokenRefusal::Unknown));
    }
}
