//! A PgBouncer that gives each transaction another session: each command names it.

use super::serving::Serving;
use std::ffi::OsStr;
use std::process::Command;
use support::service::{Service, open_folder};

#[test]
fn every_command_names_a_pooler_of_transactions() {
    let folder = open_folder();
    let Some(server) = Service::start_in("postgres", &folder.path().join("pg"), &[], &[]) else { return };
    let more = [OsStr::new(&server.address), OsStr::new("transaction")];
    let Some(pooler) = Service::start_in("pgbouncer", &folder.path().join("pooler"), &more, &[]) else {
        return;
    };
    let file = folder.path().join("tailback.toml");
    let text = format!(
        "[kafka]\nbrokers = [\"127.0.0.1:9\"]\n[database]\nurl = \"{}\"\n[doctor]\ntimeout_s = 3\n",
        pooler.address
    );
    std::fs::write(&file, text).unwrap();
    let is_named = |text: &str, command: &str| {
        assert!(text.contains("PgBouncer") && text.contains("pool_mode = session"), "{command}: {text}");
    };
    for command in [&["migrate"][..], &["report", "7"], &["explain", "7"], &["alerts", "list"], &["doctor"]] {
        let output = Command::new(crate::TAILBACK).args(command).arg("--config").arg(&file).output().unwrap();
        assert!(!output.status.success());
        let said = [output.stdout, output.stderr].concat();
        is_named(&String::from_utf8_lossy(&said), command[0]);
    }
    is_named(&Serving::start("--config", &file).line(), "serve");
}
