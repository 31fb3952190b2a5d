//! Scores as a table in Markdown, goals in brackets.

use super::goals::{Goal, Kind, Resource};
use super::score::KindScore;
use crate::calibration::Line;

/// A column: its head, its value, its goal, and whether more is better.
struct Column {
    head: &'static str,
    value: fn(&KindScore) -> Option<f64>,
    goal: fn(&Goal) -> Option<f64>,
    more_is_better: bool,
    is_share: bool,
}

const fn share(
    head: &'static str,
    value: fn(&KindScore) -> Option<f64>,
    goal: fn(&Goal) -> Option<f64>,
) -> Column {
    Column { head, value, goal, more_is_better: false, is_share: true }
}

/// Of kinds on file systems.
const FILE_SYSTEMS: [Column; 9] = [
    share("error", |of| of.error, |goal| goal.error),
    Column { more_is_better: true, ..share("interval holds", |of| of.coverage, |goal| goal.coverage) },
    share("width", |of| of.width, |_| None),
    share("missed", |of| of.missed, |goal| goal.missed),
    share("charged for nothing", |of| of.charged, |goal| goal.charged),
    share("innocents blamed", |of| Some(of.innocents), |goal| goal.innocents),
    Column { more_is_better: true, ..share("culprit", |of| of.culprit, |goal| goal.culprit) },
    Column { is_share: false, ..share("false s/h", |of| of.false_s_per_hour, |goal| goal.false_s_per_hour) },
    Column { is_share: false, ..share("onset (s)", |of| of.onset_s, |goal| goal.onset_s) },
];

/// Of kinds on networks.
const NETWORKS: [Column; 12] = [
    share("error", |of| of.error, |goal| goal.error),
    Column { more_is_better: true, ..share("interval holds", |of| of.coverage, |goal| goal.coverage) },
    share("width", |of| of.width, |goal| goal.width),
    share("misses on one side", |of| Some(of.one_side), |goal| goal.one_side),
    share("missed", |of| of.missed, |goal| goal.missed),
    share("charged for nothing", |of| of.charged, |goal| goal.charged),
    share("innocents blamed", |of| Some(of.innocents), |goal| goal.innocents),
    Column { more_is_better: true, ..share("culprit", |of| of.culprit, |goal| goal.culprit) },
    Column { more_is_better: true, ..share("cause and kind", |of| of.verdict, |goal| goal.verdict) },
    share("false regions", |of| Some(of.false_regions), |goal| goal.false_regions),
    Column { is_share: false, ..share("onset (s)", |of| of.onset_s, |goal| goal.onset_s) },
    share("never reported", |of| of.never, |goal| goal.never),
];

fn columns(on: Resource) -> &'static [Column] {
    match on {
        Resource::FileSystem => &FILE_SYSTEMS,
        Resource::Network => &NETWORKS,
    }
}

/// A table for each resource of these kinds, with a line for each kind.
pub fn markdown(kinds: &[Kind], scores: &[KindScore]) -> String {
    let of = |on: Resource| {
        let lines: Vec<_> = kinds.iter().zip(scores).filter(|(kind, _)| kind.on == on).collect();
        (!lines.is_empty()).then(|| lines_of(columns(on), &lines))
    };
    [Resource::FileSystem, Resource::Network].into_iter().filter_map(of).collect::<Vec<_>>().join("\n")
}

fn lines_of(columns: &[Column], lines: &[(&Kind, &KindScore)]) -> String {
    let heads: Vec<&str> = columns.iter().map(|column| column.head).collect();
    let mut text = format!("| kind | cases | victims | {} | |\n", heads.join(" | "));
    text += &format!("|---|---|---|{}---|\n", "---|".repeat(columns.len()));
    for (kind, score) in lines {
        let cells: Vec<String> = columns.iter().map(|column| column.cell(&kind.goal, score)).collect();
        let mark = match kind.remark() {
            _ if meets(kind, score) => "ok".to_string(),
            remark if remark.is_empty() => "**missed**".to_string(),
            remark => format!("**missed** {remark}"),
        };
        text += &format!(
            "| {} | {} | {} | {} | {mark} |\n",
            kind.about,
            score.cases,
            score.victims,
            cells.join(" | ")
        );
    }
    text
}

/// The calibration of each kind.
pub fn calibration(kinds: &[Kind], scores: &[KindScore]) -> Vec<Line> {
    let line = |(kind, score): (&Kind, &KindScore)| Line {
        kind: kind.about.clone(),
        calibration: score.calibration,
    };
    kinds.iter().zip(scores).map(line).collect()
}

/// Whether all goals of a kind are met.
pub fn meets(kind: &Kind, score: &KindScore) -> bool {
    columns(kind.on).iter().all(|column| column.meets(&kind.goal, score))
}

impl Column {
    fn meets(&self, goal: &Goal, score: &KindScore) -> bool {
        match ((self.value)(score), (self.goal)(goal)) {
            (Some(value), Some(goal)) if self.more_is_better => value >= goal,
            (Some(value), Some(goal)) => value <= goal,
            (None, Some(_)) => false,
            (_, None) => true,
        }
    }

    fn cell(&self, goal: &Goal, score: &KindScore) -> String {
        let sign = if self.more_is_better { "≥" } else { "≤" };
        match ((self.value)(score), (self.goal)(goal)) {
            (Some(value), Some(goal)) => format!("{} ({sign} {})", self.shown(value), self.shown(goal)),
            (Some(value), None) => self.shown(value),
            (None, _) => String::new(),
        }
    }

    fn shown(&self, value: f64) -> String {
        match self.is_share {
            _ if value.is_infinite() => "never".to_string(),
            true => format!("{:.0}%", 100.0 * value),
            false => format!("{value:.1}"),
        }
    }
}
