//! Findings for people and for programs.

use crate::finding::{Finding, Level, Summary};
use serde_json::json;
use std::io::Write;

/// How lines are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// ✓ ! ✗, on a terminal.
    Marks,
    /// ASCII.
    Plain,
}

fn mark(level: Level, style: Style) -> &'static str {
    match (style, level) {
        (Style::Marks, Level::Ok) => "✓",
        (Style::Marks, Level::Warn) => "!",
        (Style::Marks, Level::Error) => "✗",
        (Style::Plain, Level::Ok) => "ok   ",
        (Style::Plain, Level::Warn) => "WARN ",
        (Style::Plain, Level::Error) => "ERROR",
    }
}

/// Groups, a line for each finding, what to do below it, counts at the end.
///
/// # Errors
/// If the output cannot be written.
pub fn text(findings: &[Finding], style: Style, out: &mut impl Write) -> std::io::Result<()> {
    let mut group = None;
    let indent = match style {
        Style::Marks => "    ",
        Style::Plain => "        ",
    };
    for finding in findings {
        if group != Some(finding.group) {
            let before = if group.is_some() { "\n" } else { "" };
            writeln!(out, "{before}{}", finding.group.title())?;
            group = Some(finding.group);
        }
        writeln!(out, "  {} {}", mark(finding.level, style), finding.what)?;
        if !finding.mend.is_empty() {
            let arrow = if style == Style::Marks { "→" } else { "->" };
            writeln!(out, "{indent}{arrow} {}", finding.mend)?;
        }
    }
    let Summary { ok, warn, error } = Summary::of(findings);
    let s = |count: usize| if count == 1 { "" } else { "s" };
    writeln!(out, "\n{ok} ok, {warn} warning{}, {error} error{}", s(warn), s(error))
}

/// One object: `findings` and `summary`.
///
/// # Errors
/// If the output cannot be written.
pub fn json(findings: &[Finding], out: &mut impl Write) -> std::io::Result<()> {
    let report = json!({ "findings": findings, "summary": Summary::of(findings) });
    writeln!(out, "{report:#}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Group, Notes};

    fn findings() -> Vec<Finding> {
        let mut notes = Notes::of(Group::Kafka, "brokers");
        notes.ok("1 broker answers");
        notes.error("topic x is missing", "create it");
        notes.done()
    }

    #[test]
    fn lines_are_grouped_and_counted() {
        let mut out = Vec::new();
        text(&findings(), Style::Plain, &mut out).unwrap();
        let expected = "Kafka\n  ok    1 broker answers\n  ERROR topic x is missing\n        -> create it\n\n\
                        1 ok, 0 warnings, 1 error\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn programs_get_findings_and_a_summary() {
        let mut out = Vec::new();
        json(&findings(), &mut out).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(value["findings"][1]["level"], "error");
        assert_eq!(value["findings"][1]["check"], "brokers");
        assert_eq!(value["summary"]["error"], 1);
    }
}
