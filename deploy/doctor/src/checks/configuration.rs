//! The configuration, judged.

use crate::finding::{Finding, Group, Notes};
use configuration::Examined;

/// Its errors and warnings.
pub fn check(examined: &Examined) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Configuration, "configuration");
    for problem in &examined.problems {
        notes
            .error(problem.to_string(), "correct it; `tailback config` prints every key with what it may be");
    }
    for warning in &examined.warnings {
        notes.warn(warning.to_string(), "");
    }
    if notes.problems() == 0 {
        notes.ok("the configuration is valid");
    }
    notes.done()
}
