//! What is wrong with a topology: named, counted, and never a reason to stop.

use serde::Serialize;
use std::fmt;
use std::sync::Arc;

/// Faults kept with their words, of each kind; further ones are only counted.
pub const EXAMPLES_MAX: usize = 1000;

/// Longest text of a file that a fault repeats, in characters.
const VALUE_CHARS_MAX: usize = 120;

macro_rules! kinds {
    ($($variant:ident $name:literal $doc:literal,)*) => {
        /// A kind of fault.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(rename_all = "snake_case")]
        pub enum FaultKind { $(#[doc = $doc] $variant,)* }

        impl FaultKind {
            /// All kinds, in the order of their numbers.
            pub const ALL: &'static [FaultKind] = &[$(FaultKind::$variant,)*];

            /// The word in JSON and metrics.
            pub fn name(self) -> &'static str {
                match self { $(FaultKind::$variant => $name,)* }
            }

            /// What it means and what was done about it, for a person.
            pub fn meaning(self) -> &'static str {
                match self { $(FaultKind::$variant => $doc,)* }
            }
        }
    };
}

kinds! {
    BadLine "bad_line" "The line fits no form of its file; it is left out.",
    Truncated "truncated" "The file ends in the middle of a record.",
    OneEnd "one_end" "Only one end reports the link; it is taken as if both did.",
    TwoPeers "two_peers" "The port has two peers; the one that agrees is taken, else the first.",
    SelfLink "self_link" "A vertex is connected with itself; the link is left out.",
    LidTwice "lid_twice" "The LID is given twice; the first one counts.",
    UnknownLid "unknown_lid" "Tables forward to a LID that no port has.",
    UnknownSwitch "unknown_switch" "There is a forwarding table of a switch that is not in the topology; it is left out.",
    UnknownPort "unknown_port" "A forwarding table names a port that does not exist or leads nowhere.",
    Loop "loop" "Forwarding goes round in a circle.",
    Unreachable "unreachable" "Forwarding ends before the destination.",
    Unconnected "unconnected" "Nothing connects the vertex with the others.",
    WithinLevel "within_level" "A link of a fat tree connects switches of one level.",
    NoName "no_name" "It has no name; its GUID stands for the name.",
    NameTwice "name_twice" "Two have one name; the later one has its number added.",
    BadName "bad_name" "The name has characters that names may not have; they are replaced by `-`.",
    AsymmetricCapacity "asymmetric_capacity" "The two directions of a link differ in capacity.",
    UnknownRate "unknown_rate" "Width or speed of the link are not known words; its capacity is unknown.",
    BadNode "bad_node" "The name is no cname of an Aries part; the line is left out.",
    ClassConflict "class_conflict" "The colour or type of the link does not fit its ends; correct the line.",
    BadCable "bad_cable" "The line is skipped; correct it or generate the file again.",
    GroupConflict "group_conflict" "The switch has two groups; the first one is taken. Correct the line that is wrong.",
    NameConflict "name_conflict" "A hosts file names one host twice, or two hosts alike; the first line counts. Correct the line that is wrong.",
}

/// File and line of a fault.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Origin {
    /// Name of the file; `None` for what comes from no file.
    #[serde(serialize_with = "as_text")]
    pub file: Option<Arc<str>>,
    /// Line, from 1; 0 for the file as a whole.
    pub line: u32,
}

fn as_text<S: serde::Serializer>(file: &Option<Arc<str>>, to: S) -> Result<S::Ok, S::Error> {
    file.as_deref().serialize(to)
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), 0) => write!(f, "{file}: "),
            (Some(file), line) => write!(f, "{file}:{line}: "),
            (None, _) => Ok(()),
        }
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Fault {
    /// What.
    pub kind: FaultKind,
    /// Its file and line.
    pub origin: Origin,
    /// Its subject: printable, at most 120 characters of a file's text.
    pub value: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}: {} {}", self.origin, self.kind.name(), self.value, self.kind.meaning())
    }
}

/// All faults: how many of each kind, and the first [`EXAMPLES_MAX`] of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    counts: Vec<u64>,
    examples: Vec<Fault>,
}

impl Faults {
    /// Notes one more. `value` is cut and made printable.
    pub fn note(&mut self, kind: FaultKind, origin: Origin, value: &str) {
        self.counts.resize(FaultKind::ALL.len(), 0);
        self.counts[kind as usize] += 1;
        if self.counts[kind as usize] as usize <= EXAMPLES_MAX {
            let value = printable(value);
            self.examples.push(Fault { kind, origin, value });
        }
    }

    /// How many of `kind`.
    pub fn count(&self, kind: FaultKind) -> u64 {
        self.counts.get(kind as usize).copied().unwrap_or(0)
    }

    /// How many in all.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.total() == 0
    }

    /// The faults kept, in the order of their discovery.
    pub fn examples(&self) -> &[Fault] {
        &self.examples
    }

    /// Kinds that happened, with their counts.
    pub fn nonzero(&self) -> impl Iterator<Item = (FaultKind, u64)> {
        FaultKind::ALL.iter().map(|kind| (*kind, self.count(*kind))).filter(|(_, n)| *n > 0)
    }

    /// Adds those of `other`.
    pub fn add(&mut self, other: Faults) {
        self.counts.resize(FaultKind::ALL.len(), 0);
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        for fault in other.examples {
            let kept = self.examples.iter().filter(|mine| mine.kind == fault.kind).count();
            if kept < EXAMPLES_MAX {
                self.examples.push(fault);
            }
        }
    }
}

/// `text` on one line, without control characters, at most 120 characters of it.
fn printable(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let mut shown: String = text.chars().take(VALUE_CHARS_MAX).map(plain).collect();
    if text.chars().nth(VALUE_CHARS_MAX).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_counted_beyond_the_kept_ones() {
        let mut faults = Faults::default();
        for at in 0..EXAMPLES_MAX + 5 {
            faults.note(FaultKind::BadLine, Origin { file: Some("f".into()), line: at as u32 }, "x");
        }
        assert_eq!((faults.total(), faults.examples().len()), (EXAMPLES_MAX as u64 + 5, EXAMPLES_MAX));
        let mut sum = faults.clone();
        sum.add(faults);
        assert_eq!((sum.total(), sum.examples().len()), (2 * EXAMPLES_MAX as u64 + 10, EXAMPLES_MAX));
    }

    #[test]
    fn fault_prints_file_line_and_value_on_one_line() {
        let mut faults = Faults::default();
        let origin = Origin { file: Some("net.out".into()), line: 7 };
        faults.note(FaultKind::LidTwice, origin, "lid 4\nof\tnode01");
        let text = faults.examples()[0].to_string();
        assert!(text.starts_with("net.out:7: lid_twice: lid 4 of node01 The LID"), "{text}");
    }
}
