//! A finding of doctor: one sentence with numbers, how bad it is, and what to do.

use serde::Serialize;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// As it should be.
    Ok,
    /// Works, but should not stay so; or could not be checked.
    Warn,
    /// Results are lost, wrong or missing until a person fixes it.
    Error,
}

/// What a finding is about; findings are shown by these, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// The configuration.
    Configuration,
    /// Brokers and topics.
    Kafka,
    /// What ldmsd publishes.
    Rows,
    /// Samplers and their clocks.
    Samplers,
    /// The network's links and peers.
    Topology,
    /// The database server.
    Database,
    /// Tailback's own stages.
    Stages,
    /// Receivers of alerts.
    Alerts,
    /// Versions.
    Versions,
}

impl Group {
    /// The heading.
    pub fn title(self) -> &'static str {
        match self {
            Group::Configuration => "Configuration",
            Group::Kafka => "Kafka",
            Group::Rows => "Rows from ldmsd",
            Group::Samplers => "Samplers",
            Group::Topology => "Topology",
            Group::Database => "Database",
            Group::Stages => "Stages",
            Group::Alerts => "Alerts",
            Group::Versions => "Versions",
        }
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is about.
    pub group: Group,
    /// Name of the check, stable for programs.
    pub check: &'static str,
    /// How bad it is.
    pub level: Level,
    /// What was found, one sentence; never a secret.
    pub what: String,
    /// What to type or do; empty where nothing is to be done.
    pub mend: String,
}

/// Findings of one check, as they are made.
#[derive(Debug)]
pub struct Notes {
    group: Group,
    check: &'static str,
    findings: Vec<Finding>,
}

impl Notes {
    /// Nothing noted yet.
    pub fn of(group: Group, check: &'static str) -> Notes {
        Notes { group, check, findings: Vec::new() }
    }

    fn push(&mut self, level: Level, what: impl Into<String>, mend: impl Into<String>) {
        let (what, mend) = (plain(&what.into()), plain(&mend.into()));
        self.findings.push(Finding { group: self.group, check: self.check, level, what, mend });
    }

    /// As it should be.
    pub fn ok(&mut self, what: impl Into<String>) {
        self.push(Level::Ok, what, "");
    }

    /// As it should be, with advice.
    pub fn advise(&mut self, what: impl Into<String>, mend: impl Into<String>) {
        self.push(Level::Ok, what, mend);
    }

    /// Should not stay so.
    pub fn warn(&mut self, what: impl Into<String>, mend: impl Into<String>) {
        self.push(Level::Warn, what, mend);
    }

    /// Must be mended.
    pub fn error(&mut self, what: impl Into<String>, mend: impl Into<String>) {
        self.push(Level::Error, what, mend);
    }

    /// Could not be checked; whether anything is wrong is unknown.
    pub fn unknown(&mut self, why: &str) {
        self.push(Level::Warn, format!("not checked: {why}"), "");
    }

    /// How many findings are not as they should be.
    pub fn problems(&self) -> usize {
        self.findings.iter().filter(|finding| finding.level != Level::Ok).count()
    }

    /// All that was noted.
    pub fn done(self) -> Vec<Finding> {
        self.findings
    }
}

/// A check that could not be made.
pub fn skipped(group: Group, check: &'static str, why: &str) -> Vec<Finding> {
    let mut notes = Notes::of(group, check);
    notes.unknown(why);
    notes.done()
}

/// The findings of `judge`, or that its fact is not known and why.
pub fn judged<T>(
    group: Group,
    check: &'static str,
    fact: Result<T, &str>,
    judge: impl FnOnce(T) -> Vec<Finding>,
) -> Vec<Finding> {
    match fact {
        Ok(fact) => judge(fact),
        Err(why) => skipped(group, check, why),
    }
}

/// What others wrote (names, messages of servers) must neither steer a terminal nor break a line.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut blank = false;
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' if blank => {}
            '\n' | '\r' | '\t' => plain.push(' '),
            c if c.is_control() => plain.push('\u{fffd}'),
            c => plain.push(c),
        }
        blank = plain.ends_with(' ');
    }
    plain
}

/// How many findings of each level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// As it should be.
    pub ok: usize,
    /// Should not stay so.
    pub warn: usize,
    /// Must be mended.
    pub error: usize,
}

impl Summary {
    /// Counts.
    pub fn of(findings: &[Finding]) -> Summary {
        let count = |level| findings.iter().filter(|finding| finding.level == level).count();
        Summary { ok: count(Level::Ok), warn: count(Level::Warn), error: count(Level::Error) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_does_not_steer_the_terminal() {
        let mut notes = Notes::of(Group::Rows, "rows");
        notes.warn("a\u{1b}[31m name\nof two lines", "");
        assert_eq!(notes.done()[0].what, "a\u{fffd}[31m name of two lines");
    }
}
