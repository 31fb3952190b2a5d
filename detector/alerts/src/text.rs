//! Sentences of rules with their words filled in.

use schemas::Interval;

/// Words that a rule's text may have, in braces.
pub const WORDS: [&str; 10] = [
    "subject",
    "members",
    "links",
    "duration",
    "slowdown",
    "completeness",
    "judged",
    "cause",
    "kind",
    "action",
];

/// What the words stand for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Words {
    /// What the incident is about.
    pub subject: String,
    /// How many are in it.
    pub members: u32,
    /// Links in it.
    pub links: u32,
    /// Seconds since it began.
    pub duration_s: f64,
    /// Seconds lost by the member that lost most.
    pub slowdown_s: Interval,
    /// Share of the data that was there, 0 to 1.
    pub completeness: f64,
    /// Share of its time that had a quiet baseline, 0 to 1.
    pub judged: f64,
    /// The largest cause.
    pub cause: &'static str,
    /// What could be done.
    pub kind: &'static str,
    /// The advice.
    pub action: &'static str,
}

/// Whether all words of a text are known.
///
/// # Errors
/// The first that is not.
pub fn check(template: &str) -> Result<(), String> {
    let mut rest = template;
    while let Some((_, after)) = rest.split_once('{') {
        let Some((word, behind)) = after.split_once('}') else { return Err(after.to_string()) };
        if !WORDS.contains(&word) {
            return Err(word.to_string());
        }
        rest = behind;
    }
    Ok(())
}

/// The text with its words filled in; what was filled in is not looked at again.
pub fn fill(template: &str, words: &Words) -> String {
    let mut text = String::with_capacity(template.len() + 64);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let (word, behind) = after.split_once('}').unwrap_or((after, ""));
        text.push_str(&value(word, words));
        rest = behind;
    }
    text.push_str(rest);
    text
}

fn value(word: &str, words: &Words) -> String {
    match word {
        "subject" => words.subject.clone(),
        "members" => words.members.to_string(),
        "links" => words.links.to_string(),
        "duration" => format!("{:.0} s", words.duration_s),
        "slowdown" => words.slowdown_s.to_string(),
        "completeness" => format!("{:.0}%", 100.0 * words.completeness),
        "judged" => format!("{:.0}%", 100.0 * words.judged),
        "cause" => words.cause.to_string(),
        "kind" => words.kind.to_string(),
        "action" => words.action.to_string(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_filled_in_once() {
        let words = Words {
            subject: "{members}".into(),
            members: 3,
            slowdown_s: Interval { value: 2.04, lo: 0.0, hi: 3.1 },
            ..Words::default()
        };
        assert_eq!(fill("{subject}: {members}, {slowdown}.", &words), "{members}: 3, 2.0 s [0.0, 3.1].");
    }

    #[test]
    fn unclosed_word_stays_text() {
        assert_eq!(check("{subject} and {members}"), Ok(()));
        assert_eq!(check("{subject} and {members"), Err("members".to_string()));
        assert_eq!(check("{subjects}"), Err("subjects".to_string()));
    }
}
