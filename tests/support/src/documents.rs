//! What stands in the READMEs and in docs, for tests that run it: a command that is wrong there must not pass.

use crate::paths::{programs, root};
use std::path::Path;
use std::process::{Command, Output};

fn text(file: &str) -> String {
    std::fs::read_to_string(root().join(file)).unwrap()
}

/// The fenced block of such a file in which a line begins so.
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

/// The command between two backticks of such a file that begins so.
pub fn quoted(file: &str, begin: &str) -> String {
    let text = text(file);
    let found = text.split('`').find(|quoted| quoted.starts_with(begin));
    assert!(found.is_some(), "{file} does not quote {begin:?}");
    found.unwrap().to_string()
}

/// A command as somebody types it in a folder; `tailback` is the one that was built for the tests.
pub fn typed(folder: &Path, command: &str) -> Command {
    let path = std::env::var("PATH").unwrap();
    let mut shell = Command::new("bash");
    shell.args(["-euo", "pipefail", "-c", command]).current_dir(folder);
    shell.env("PATH", format!("{}:{path}", programs().display())).env_remove("RUST_LOG");
    shell
}

/// What such a command prints; it must succeed.
pub fn printed(folder: &Path, command: &str) -> String {
    let Output { status, stdout, stderr } = typed(folder, command).output().unwrap();
    assert!(status.success(), "{command}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap()
}
