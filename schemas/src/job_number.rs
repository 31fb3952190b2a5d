//! Jobs as their schedulers number them, as names.
//!
//! | scheduler | writes | name | what users call it |
//! |---|---|---|---|
//! | Slurm | `1234` | `1234` | |
//! | PBS | `1234.server` | `1234.server` | `1234` |
//! | PBS, a task of an array | `1234[5].server` | `1234:5.server` | `1234[5]` |
//! | Flux | `ƒ2yDR3kVs1y` or `f2yDR3kVs1y` | `f2yDR3kVs1y` | `ƒ2yDR3kVs1y` |
//! | Slurm of another cluster | `1234`, cluster `beta` | `1234@beta` | `1234` |
//!
//! Brackets and letters beyond ASCII stand in no name: names become parts of topics, paths and commands.

use crate::name::NAME_BYTES_MAX;
use crate::{Name, NameError};

/// What Flux puts before its base58.
const FLUX: char = 'ƒ';
/// Digits of Flux's base58: no 0, O, I and l.
const BASE58: &str = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
/// Longest base58 of 64 bits, and a digit to spare.
const BASE58_MAX: usize = 12;

/// A job by its name, and what users call it where that is something else; else empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobNumber {
    /// Its name.
    pub job_id: Name,
    /// What users call it.
    pub label: String,
}

/// Why a text names no job.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JobNumberError {
    /// It cannot be a name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// It is a whole array of PBS, which never runs itself.
    #[error("{0:?} is a whole array; report its tasks, as 1234[5].server")]
    WholeArray(String),
}

impl JobNumber {
    /// Reads the number of a job as any scheduler writes it.
    ///
    /// # Errors
    /// [`JobNumberError`] says why it is none.
    pub fn parse(text: &str) -> Result<JobNumber, JobNumberError> {
        let text = text.trim();
        if let Some(digits) = text.strip_prefix(FLUX) {
            return JobNumber::flux(text, digits);
        }
        if let Some((array, rest)) = text.split_once('[') {
            return JobNumber::task(text, array, rest);
        }
        let job_id = Name::parse(text)?;
        let label = match text.split_once('.') {
            Some((number, server)) if is_number(number) && is_server(server) => number.to_string(),
            _ if is_flux(text) => format!("{FLUX}{}", &text[1..]),
            _ => String::new(),
        };
        Ok(JobNumber { job_id, label })
    }

    /// The same number of another cluster: its name has the cluster behind it.
    ///
    /// # Errors
    /// The cluster cannot be part of a name.
    pub fn of_cluster(self, cluster: &str) -> Result<JobNumber, NameError> {
        let job_id = Name::parse(&format!("{}@{cluster}", self.job_id))?;
        let label = if self.label.is_empty() { self.job_id.to_string() } else { self.label };
        Ok(JobNumber { job_id, label })
    }

    fn flux(text: &str, digits: &str) -> Result<JobNumber, JobNumberError> {
        if !is_base58(digits) {
            return Err(NameError::Character(text.to_string()).into());
        }
        Ok(JobNumber { job_id: Name::parse(&format!("f{digits}"))?, label: text.to_string() })
    }

    /// A task of an array of PBS.
    fn task(text: &str, array: &str, rest: &str) -> Result<JobNumber, JobNumberError> {
        let wrong = || NameError::Character(text.to_string());
        let (task, server) = rest.split_once(']').ok_or_else(wrong)?;
        if task.is_empty() {
            return Err(JobNumberError::WholeArray(text.to_string()));
        }
        if !is_number(array) || !is_number(task) || !(server.is_empty() || server.starts_with('.')) {
            return Err(wrong().into());
        }
        let job_id = Name::parse(&format!("{array}:{task}{server}"))?;
        Ok(JobNumber { job_id, label: format!("{array}[{task}]") })
    }
}

/// The name or label of a job in a query, which may have the number as its scheduler writes it.
pub fn name_or_label(text: &str) -> String {
    let text = text.trim();
    let is_whole = text.starts_with(FLUX) || text.contains("].");
    match JobNumber::parse(text) {
        Ok(number) if is_whole => number.job_id.to_string(),
        _ => text.to_string(),
    }
}

/// A label as a scheduler's script gives it: letters and digits of any script, and those marks that schedulers use.
///
/// # Errors
/// It has another character, or is too long.
pub fn label(text: &str) -> Result<String, NameError> {
    let allowed = |c: char| c.is_alphanumeric() || "._-:@+#[]".contains(c);
    match text {
        _ if text.len() > NAME_BYTES_MAX => Err(NameError::TooLong(text.len())),
        _ if text.chars().all(allowed) => Ok(text.to_string()),
        _ => Err(NameError::Character(text.to_string())),
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether it is the name of a server, not the number of a run as in `1234.r1`.
fn is_server(text: &str) -> bool {
    let is_run = text.strip_prefix('r').is_some_and(is_number);
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && !is_run
}

/// Whether it is Flux's number where no letter beyond ASCII can be written. A shorter one, or one of small letters alone, may be
/// any word.
fn is_flux(text: &str) -> bool {
    const LEAST: usize = 8;
    let is_no_word = |digits: &str| digits.bytes().any(|byte| !byte.is_ascii_lowercase());
    text.strip_prefix('f')
        .is_some_and(|digits| digits.len() >= LEAST && is_base58(digits) && is_no_word(digits))
}

fn is_base58(text: &str) -> bool {
    (1..=BASE58_MAX).contains(&text.len()) && text.chars().all(|c| BASE58.contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<(String, String), String> {
        let number = JobNumber::parse(text).map_err(|error| error.to_string())?;
        Ok((number.job_id.to_string(), number.label))
    }

    #[test]
    fn numbers_of_every_scheduler_are_names() {
        for (text, job_id, label) in [
            ("1234", "1234", ""),
            ("1234.r1", "1234.r1", ""),
            ("1234.pbs01", "1234.pbs01", "1234"),
            (" 1234[5].pbs01.site.org ", "1234:5.pbs01.site.org", "1234[5]"),
            ("1234[5]", "1234:5", "1234[5]"),
            ("ƒ2yDR3kVs1y", "f2yDR3kVs1y", "ƒ2yDR3kVs1y"),
            ("f2yDR3kVs1y", "f2yDR3kVs1y", "ƒ2yDR3kVs1y"),
            ("fetch", "fetch", ""),
            ("foregathers", "foregathers", ""),
        ] {
            assert_eq!(of(text), Ok((job_id.to_string(), label.to_string())), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_of_a_job_is_refused() {
        let whole = of("1234[].pbs01").unwrap_err();
        assert_eq!(whole, "\"1234[].pbs01\" is a whole array; report its tasks, as 1234[5].server");
        for text in ["", "1234[5", "1234[a]", "x[5].s", "1234[5]s", "ƒ0", "ƒA/ƒB", "a b", "1[2];drop"] {
            assert!(of(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_query_may_have_the_number_as_the_scheduler_writes_it() {
        for (text, found) in [
            ("1234[5].pbs01", "1234:5.pbs01"),
            ("1234[5]", "1234[5]"),
            ("ƒ2yDR3kVs1y", "f2yDR3kVs1y"),
            ("1234_7", "1234_7"),
            ("'; --", "'; --"),
        ] {
            assert_eq!(name_or_label(text), found);
        }
        assert!(label("1234[5]").is_ok() && label("ƒ2yDR3kVs1y").is_ok());
        assert!(label("<b>").is_err() && label(&"a".repeat(1_000)).is_err());
    }
}
