//! Notices conform to `schemas/alerts/notice.schema.json`.

use super::outbox::notice;
use boon::{Compiler, SchemaIndex, Schemas};
use schemas::{Action, NoticeKind};
use serde_json::{Value, json};

/// Panics if the schema is invalid.
fn schema() -> (Schemas, SchemaIndex) {
    let text = include_str!("../../../schemas/alerts/notice.schema.json");
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    compiler.add_resource("notice.json", serde_json::from_str(text).unwrap()).unwrap();
    let index = compiler.compile("notice.json", &mut schemas).unwrap();
    (schemas, index)
}

fn is_valid(notice: &Value) -> bool {
    let (schemas, index) = schema();
    schemas.validate(notice, index).is_ok()
}

/// Panics with all violations of the schema in `notice`.
pub fn check(notice: &Value) {
    let (schemas, index) = schema();
    if let Err(error) = schemas.validate(notice, index) {
        panic!("{error:#}: {notice}");
    }
}

/// A notice whose incident number has the form of the engine.
fn sample() -> Value {
    let mut notice = serde_json::to_value(notice("00ff00ff00ff00ff", 1, NoticeKind::Firing)).unwrap();
    notice["labels"]["severity"] = json!("warning");
    notice["labels"]["about"] = json!("region");
    notice["labels"]["subject"] = json!("leaf-1");
    notice
}

#[test]
fn the_schema_is_one_and_knows_every_action() {
    let mut linked = sample();
    linked["url"] = json!("https://monitor.site/#/alerts?all=true&incident=00ff00ff00ff00ff");
    check(&linked);
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
        assert!(!is_valid(&notice), "{pointer}");
    }
    let mut notice = sample();
    notice["extra"] = json!(1);
    assert!(!is_valid(&notice), "a key of another version");
}
