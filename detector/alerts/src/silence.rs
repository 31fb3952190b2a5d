//! Silences hold back notices for a while; they do not lose them.

use schemas::{AlertSilence, Notice};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// Longest silence; for more, change the rule.
const SILENCE_MAX_S: f64 = 30.0 * 86_400.0;

/// Longest author and comment, in bytes.
const TEXT_BYTES_MAX: usize = 1_000;
/// Labels of a posted silence, at most.
const MATCHERS_MAX: usize = 32;

/// A silence that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SilenceError {
    /// A matcher.
    #[error(transparent)]
    Matcher(#[from] MatcherError),
    /// A length of time.
    #[error("{option} must be {least_s}s to 30d, as 30m or 2h, not {text:?}")]
    Length {
        /// Option of the command line.
        option: &'static str,
        /// Least seconds.
        least_s: u32,
        /// What was given.
        text: String,
    },
    /// The number of labels.
    #[error("matchers has {0} labels; it may have 1 to {MATCHERS_MAX}")]
    Matchers(usize),
    /// The author or the comment.
    #[error("{field} must have at most {TEXT_BYTES_MAX} bytes and no control characters")]
    Text {
        /// Its field.
        field: &'static str,
    },
}

/// A silence as a page posts it; the fields are those of [`Wanted`].
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Posted {
    matchers: Vec<String>,
    #[serde(rename = "for")]
    length: String,
    #[serde(rename = "in")]
    begins_in: Option<String>,
    #[serde(default)]
    author: String,
    #[serde(default)]
    comment: String,
}

impl Posted {
    /// The silence that is wanted `now_s`, seconds since the epoch.
    ///
    /// # Errors
    /// [`SilenceError`].
    pub fn silence(&self, now_s: f64) -> Result<AlertSilence, SilenceError> {
        if !(1..=MATCHERS_MAX).contains(&self.matchers.len()) {
            return Err(SilenceError::Matchers(self.matchers.len()));
        }
        for (field, text) in [("author", &self.author), ("comment", &self.comment)] {
            if text.len() > TEXT_BYTES_MAX || text.chars().any(char::is_control) {
                return Err(SilenceError::Text { field });
            }
        }
        let wanted = Wanted {
            matchers: &self.matchers,
            begins_in: self.begins_in.as_deref().unwrap_or("0s"),
            length: &self.length,
            author: &self.author,
            comment: &self.comment,
        };
        silence(&wanted, now_s)
    }
}

/// A silence as a person words it. Times are `90s`, `30m`, `2h` or `7d`.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// `LABEL=TEXT`; all must match.
    pub matchers: &'a [String],
    /// In which time it begins.
    pub begins_in: &'a str,
    /// For how long it holds.
    pub length: &'a str,
    /// Who wants it.
    pub author: &'a str,
    /// Why.
    pub comment: &'a str,
}

/// A matcher that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a matcher must be LABEL=TEXT, as alertname=link_contended or subject=leaf-*, not {0:?}")]
pub struct MatcherError(pub String);

/// Reads `LABEL=TEXT`.
///
/// # Errors
/// [`MatcherError`].
pub fn matcher(text: &str) -> Result<(String, String), MatcherError> {
    let word = |label: &str| {
        !label.is_empty() && label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    };
    match text.split_once('=') {
        Some((label, value)) if word(label) && !value.is_empty() && value.len() <= 256 => {
            Ok((label.to_string(), value.to_string()))
        }
        _ => Err(MatcherError(text.to_string())),
    }
}

/// The silence that is wanted `now_s`, seconds since the epoch.
///
/// # Errors
/// [`SilenceError`].
pub fn silence(wanted: &Wanted<'_>, now_s: f64) -> Result<AlertSilence, SilenceError> {
    let matchers: BTreeMap<String, String> =
        wanted.matchers.iter().map(|text| matcher(text)).collect::<Result<_, _>>()?;
    let from_s = now_s + checked("--in", wanted.begins_in, 0)?;
    let until_s = from_s + checked("--for", wanted.length, 1)?;
    // Each state is seeded at random: silences of one millisecond, and of several processes, differ.
    let id = format!("s{:012x}", RandomState::new().build_hasher().finish() >> 16);
    let [author, comment] = [wanted.author, wanted.comment].map(str::to_string);
    Ok(AlertSilence { id, matchers, from_s, until_s, author, comment })
}

fn checked(option: &'static str, text: &str, least_s: u32) -> Result<f64, SilenceError> {
    let length_s = seconds(text).filter(|s| (f64::from(least_s)..=SILENCE_MAX_S).contains(s));
    length_s.ok_or_else(|| SilenceError::Length { option, least_s, text: text.to_string() })
}

fn seconds(text: &str) -> Option<f64> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let unit_s = match unit {
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3_600.0,
        "d" => 86_400.0,
        _ => return None,
    };
    number.parse::<u32>().ok().map(|number| f64::from(number) * unit_s)
}

/// Until when silences hold a notice back; `None` if none does.
pub fn held_until(silences: &[AlertSilence], notice: &Notice, now_s: f64) -> Option<f64> {
    silences.iter().filter(|s| s.holds(notice, now_s)).map(|s| s.until_s).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(matcher: &str, begins_in: &str, length: &str) -> Result<AlertSilence, SilenceError> {
        let matchers = &[matcher.to_string()];
        silence(&Wanted { matchers, begins_in, length, author: "erin", comment: "maintenance" }, 10_000.0)
    }

    #[test]
    fn lengths_have_units() {
        for (text, expected) in [("90s", Some(90.0)), ("2h", Some(7_200.0)), ("1d", Some(86_400.0))] {
            assert_eq!(seconds(text), expected);
        }
        for refused in ["", "h", "2", "2w", "-1h", "1.5h", "é"] {
            assert_eq!(seconds(refused), None, "{refused}");
        }
    }

    #[test]
    fn invalid_matcher_is_named() {
        let error = of("subject", "0s", "1h").unwrap_err().to_string();
        assert!(error.contains("LABEL=TEXT") && error.contains("\"subject\""), "{error}");
        assert!(of("a=b", "0s", "40d").unwrap_err().to_string().contains("--for must be 1s"));
    }

    #[test]
    fn silences_of_one_millisecond_have_ids_of_their_own() {
        let ids: std::collections::BTreeSet<_> =
            (0..1_000).map(|_| of("a=b", "0s", "1h").unwrap().id).collect();
        assert_eq!(ids.len(), 1_000);
    }

    #[test]
    fn a_posted_silence_is_checked() {
        let posted = |text: &str| serde_json::from_str::<Posted>(text).unwrap().silence(10_000.0);
        let silence = posted(r#"{"matchers":["a=b"],"for":"1h","author":"ann"}"#).unwrap();
        assert_eq!((silence.from_s, silence.until_s, silence.author.as_str()), (10_000.0, 13_600.0, "ann"));
        for (text, part) in [
            (r#"{"matchers":[],"for":"1h"}"#, "matchers has 0 labels"),
            (r#"{"matchers":["a"],"for":"1h"}"#, "LABEL=TEXT"),
            (r#"{"matchers":["a=b"],"for":"1y"}"#, "30d"),
            ("{\"matchers\":[\"a=b\"],\"for\":\"1h\",\"author\":\"a\\u0007\"}", "author must have"),
        ] {
            let error = posted(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn a_silence_may_begin_later() {
        let times = |begins_in| of("subject=leaf-*", begins_in, "2h").map(|s| (s.from_s, s.until_s));
        assert_eq!(times("0s"), Ok((10_000.0, 17_200.0)));
        assert_eq!(times("1h"), Ok((13_600.0, 20_800.0)));
        assert!(times("soon").unwrap_err().to_string().contains("--in must be 0s"));
    }
}
