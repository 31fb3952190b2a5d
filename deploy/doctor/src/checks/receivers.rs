//! Receivers of alerts, judged.

use crate::facts::receivers::Probed;
use crate::finding::{Finding, Group, Notes};

/// Whether every receiver accepts notices.
pub fn check(receivers: &[Probed]) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Alerts, "receivers");
    if receivers.is_empty() {
        notes.ok("no receiver of alerts is configured: incidents are only in the database");
    }
    for receiver in receivers {
        let at = if receiver.url.is_empty() { String::new() } else { format!(" at {}", receiver.url) };
        let what = format!("receiver {}{at}", receiver.name);
        match &receiver.refused {
            None => notes.ok(format!("{what} answers")),
            Some(why) => {
                let (why, remedy) = why.split_once("; ").unwrap_or((why, "start it, or correct its file"));
                notes.error(format!("{what} refuses: {why}"), remedy);
            }
        }
    }
    notes.done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Level;

    #[test]
    fn receiver_that_refuses_is_named_with_its_remedy() {
        let probed = |refused: Option<&str>| Probed {
            name: "am".into(),
            url: "https://am.site".into(),
            refused: refused.map(str::to_string),
        };
        assert_eq!(check(&[])[0].level, Level::Ok);
        assert_eq!(check(&[probed(None)])[0].level, Level::Ok);
        let found = check(&[probed(Some("it answers 401 Unauthorized: ; correct user and password_file"))]);
        assert_eq!(found[0].level, Level::Error);
        assert!(found[0].what.contains("am at https://am.site refuses: it answers 401"), "{found:?}");
        assert_eq!(found[0].mend, "correct user and password_file");
        let found = check(&[probed(Some("it does not answer in time"))]);
        assert_eq!(found[0].mend, "start it, or correct its file");
    }
}
