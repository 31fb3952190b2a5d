//! A test that lacks a part of the machine passes and records why; `tests/run` counts it as skipped with the reason.

use std::fs::OpenOptions;
use std::io::Write;

/// Records that the running test is skipped as a whole.
pub fn skip(reason: &str) {
    record("test", reason);
}

/// Records that a part of the running test is skipped; the rest counts as passed.
pub fn skip_part(reason: &str) {
    record("part", reason);
}

fn record(what: &str, reason: &str) {
    eprintln!("skipped: {reason}");
    let Some(file) = std::env::var_os("TAILBACK_SKIPPED") else { return };
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let line = format!("{what}\t{test}\t{}\n", reason.trim().replace(['\n', '\t'], " "));
    // One write a line: other tests append at the same time.
    OpenOptions::new().create(true).append(true).open(file).unwrap().write_all(line.as_bytes()).unwrap();
}

/// Whether servers may be started; if not, the running test is skipped.
pub fn servers_allowed() -> bool {
    let allowed = std::env::var_os("TAILBACK_SKIP_SERVICES").is_none_or(|skip| skip != "1");
    if !allowed {
        skip("TAILBACK_SKIP_SERVICES=1");
    }
    allowed
}
