//! Commands and blocks of the READMEs and of docs, for tests that run them: a wrong command must fail a test.

use crate::paths::{programs, root};
use std::path::Path;
use std::process::{Command, Output};

fn text(file: &str) -> String {
    std::fs::read_to_string(root().join(file)).unwrap()
}

/// The fenced block of `file` in which a line begins with `begin`.
pub fn block(file: &str, begin: &str) -> String {
    let text = text(file);
    let fenced = text.split("\n```").skip(1).step_by(2).filter_map(|block| block.split_once('\n'));
    let found: Vec<&str> = fenced
        .map(|(_, lines)| lines)
        .filter(|lines| lines.lines().any(|line| line.starts_with(begin)))
        .collect();
    assert_eq!(found.len(), 1, "blocks of {file} with {begin:?}");
    found[0].to_string()
}

/// The command between two backticks of `file` that begins with `begin`.
pub fn quoted(file: &str, begin: &str) -> String {
    let text = text(file);
    let found = text.split('`').find(|quoted| quoted.starts_with(begin));
    assert!(found.is_some(), "{file} does not quote {begin:?}");
    found.unwrap().to_string()
}

/// A command as a user types it in a folder; `tailback` is the program built for the tests.
pub fn typed(folder: &Path, command: &str) -> Command {
    let path = std::env::var("PATH").unwrap();
    let mut shell = Command::new("bash");
    shell.args(["-euo", "pipefail", "-c", command]).current_dir(folder);
    shell.env("PATH", format!("{}:{path}", programs().display())).env_remove("RUST_LOG");
    shell
}

/// Output of a typed command; it must succeed.
pub fn printed(folder: &Path, command: &str) -> String {
    let Output { status, stdout, stderr } = typed(folder, command).output().unwrap();
    assert!(status.success(), "{command}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap()
}
