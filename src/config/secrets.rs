//! Secrets: never shown, read from files that only their owner should be able to read.

use super::merge::Layers;
use super::problem::Problem;
use schemas::secret::{HIDDEN, Redacted};
use serde::Deserialize;
use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Largest secret file in bytes; a larger one is another file by mistake.
const SECRET_MAX_BYTES: u64 = 65_536;
/// Fewest characters of a token: it guards a port that any host may try.
const TOKEN_LEAST: usize = 16;
/// Files with keys, one a line.
const KEYS_BY_LINE: [&str; 2] = ["kafka.message_key_file", "http.job_token_key_file"];
/// Fewest characters of such a key: half of what `openssl rand -hex 32` prints.
const KEY_LEAST: usize = 32;

/// A URL that may hold a password, which `Debug` and `Display` hide.
#[derive(Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(transparent)]
pub struct SecretUrl(String);

impl SecretUrl {
    /// The URL with its password, for the one place that connects.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether there is one.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for SecretUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&without_password(&self.0))
    }
}

impl fmt::Debug for SecretUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A URL without its password: behind the user, or as a parameter. What is no URL is hidden as a whole, since a
/// connection string may hold a password anywhere.
pub fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return if url.is_empty() { String::new() } else { HIDDEN.to_string() };
    };
    let (user, rest) = match rest.split_once('@') {
        // An @ that was not encoded: where the password ends is unknown.
        Some((user, rest)) if user.contains('?') || rest.contains('@') => {
            return format!("{scheme}://{HIDDEN}");
        }
        Some((user, rest)) => (Some(user), rest),
        None => (None, rest),
    };
    let user = user.map_or(String::new(), |user| match user.split_once(':') {
        Some((name, _)) => format!("{name}:{HIDDEN}@"),
        None => format!("{user}@"),
    });
    let (address, query) =
        rest.split_once('?').map_or((rest, None), |(address, query)| (address, Some(query)));
    let shown = |parameter: &str| match parameter.split_once('=') {
        Some((name, _)) if is_secret(name) => format!("{name}={HIDDEN}"),
        _ => parameter.to_string(),
    };
    let query = query.map_or(String::new(), |query| {
        "?".to_string() + &query.split('&').map(shown).collect::<Vec<_>>().join("&")
    });
    format!("{scheme}://{user}{address}{query}")
}

/// Whether a property of that name (of librdkafka, of a URL) holds a secret; rather one too many.
pub fn is_secret(property: &str) -> bool {
    let name = property.to_lowercase();
    let words =
        ["password", "secret", "passphrase", ".pem", "token", "oauthbearer.config", "jaas", "keytab.cmd"];
    words.iter().any(|word| name.contains(word)) && !name.ends_with(".url") && !name.ends_with(".file")
}

/// Keys that name a file with a secret.
pub fn is_secret_file(key: &str) -> bool {
    ["password_file", "token_file", "secret_file", "key_file"].iter().any(|end| key.ends_with(end))
        && key != "database.tls_key_file"
}

/// Reads the file that `key` names, if it names one; what is wrong is noted, what is unwise is warned of.
pub fn read(layers: &mut Layers, warnings: &mut Vec<Problem>, key: &str) -> Option<Redacted> {
    let file = layers.text(key).to_string();
    if file.is_empty() {
        return None;
    }
    let path = Path::new(&file);
    match read_file(path).and_then(|text| long_enough(key, text)) {
        Ok(text) => {
            warnings.extend(open_to_all(path).map(|mode| {
                let text =
                    format!("{key} {file} can be read by all users (mode {mode:o}); `chmod 600 {file}`");
                Problem { origin: layers.origin(key), key: key.to_string(), text }
            }));
            Some(Redacted::new(text))
        }
        Err(reason) => {
            layers.problem_of(key, format!("{key} {file} {reason}"));
            None
        }
    }
}

/// Reads the secret in a file; `key` names it.
///
/// # Errors
/// What is wrong with the file, as it continues its name.
pub fn read_secret(key: &str, path: &Path) -> Result<Redacted, String> {
    read_file(path).and_then(|text| long_enough(key, text)).map(Redacted::new)
}

fn read_file(path: &Path) -> Result<String, String> {
    let unreadable = |error: std::io::Error| format!("cannot be read: {error}");
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if metadata.is_file() && metadata.len() > SECRET_MAX_BYTES {
        return Err(format!("is no secret: it is longer than {SECRET_MAX_BYTES} bytes"));
    }
    let bytes = std::fs::read(path).map_err(unreadable)?;
    let text = String::from_utf8(bytes).map_err(|_| "is no text (UTF-8)".to_string())?;
    // Editors end files with a line end, which is no part of the secret.
    let text = text.trim_end_matches(['\r', '\n']);
    if text.is_empty() { Err("is empty".to_string()) } else { Ok(text.to_string()) }
}

fn long_enough(key: &str, text: String) -> Result<String, String> {
    let token = key.ends_with("token_file");
    if token && (text.len() < TOKEN_LEAST || !text.bytes().all(|byte| byte.is_ascii_graphic())) {
        return Err(format!("must hold a token of at least {TOKEN_LEAST} ASCII characters without spaces"));
    }
    if KEYS_BY_LINE.contains(&key) && text.lines().any(|line| line.trim().len() < KEY_LEAST) {
        return Err(format!(
            "must hold keys of at least {KEY_LEAST} characters, one a line: `openssl rand -hex 32`"
        ));
    }
    Ok(text)
}

fn open_to_all(path: &Path) -> Option<u32> {
    let mode = std::fs::metadata(path).ok()?.permissions().mode() & 0o777;
    (mode & 0o004 != 0).then_some(mode)
}
