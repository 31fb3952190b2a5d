//! What is sent is what `schemas/alerts/notice.schema.json` says.

use super::outbox::notice;
use jsonschema::Validator;
use schemas::{Action, NoticeKind};
use serde_json::{Value, json};

fn validator() -> Validator {
    let text = include_str!("../../../schemas/alerts/notice.schema.json");
    jsonschema::draft202012::new(&serde_json::from_str(text).unwrap()).unwrap()
}

/// Fails with everything that the schema does not allow in `notice`.
pub fn check(notice: &Value) {
    let errors: Vec<String> =
        validator().iter_errors(notice).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:?}: {notice}");
}

/// A notice whose number is of the form that the engine gives.
fn sample() -> Value {
    let mut notice = serde_json::to_value(notice("00ff00ff00ff00ff", 1, NoticeKind::Firing)).unwrap();
    notice["labels"]["severity"] = json!("warning");
    notice["labels"]["about"] = json!("region");
    notice["labels"]["subject"] = json!("leaf-1");
    notice
}

#[test]
fn the_schema_is_one_and_knows_every_action() {
    let text = include_str!("../../../schemas/alerts/notice.schema.json");
    assert!(jsonschema::meta::is_valid(&serde_json::from_str(text).unwrap()));
    for action in Action::ALL {
        let mut notice = sample();
        notice["advice"]["action"] = json!(action.name());
        check(&notice);
    }
}

#[test]
fn the_schema_refuses_what_is_no_notice() {
    for (pointer, value) in [
        ("/version", json!(2)),
        ("/key", json!("no key")),
        ("/sequence", json!(0)),
        ("/completeness", json!(1.5)),
        ("/advice/action", json!("reboot")),
        ("/advice/jobs/0/lost_s", json!("12")),
        ("/advice", json!({})),
    ] {
        let mut notice = sample();
        *notice.pointer_mut(pointer).unwrap() = value;
        assert!(!validator().is_valid(&notice), "{pointer}");
    }
    let mut notice = sample();
    notice["extra"] = json!(1);
    assert!(!validator().is_valid(&notice), "a key of another version");
}
