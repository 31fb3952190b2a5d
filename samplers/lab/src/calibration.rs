//! Calibration: how often intervals that are said to hold the truth in 50%, 80% and 95% of cases do hold it.
//!
//! Tailback states one interval, of 95%. Narrower ones are derived from it: each half, from the estimate to an end, is
//! scaled by the ratio of the normal quantiles. An interval that reaches 0 bounds a loss that nothing confirms. Its halves
//! are no scale of an error, so these are counted apart, at 95% alone.

use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Said share, and the standard normal quantile of its upper end.
pub const LEVELS: [(f64, f64); 3] = [(0.50, 0.674), (0.80, 1.282), (0.95, 1.960)];
/// Seconds between samples on either side of an edge: an interval this close to the truth holds it.
pub const EDGE_S: f64 = 0.5;
/// The file of `tailback lab truth --out`.
const FILE: &str = "calibration.jsonl";

/// How many intervals held the truth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calibration {
    /// Intervals with a lower end above 0.
    pub intervals: u32,
    /// Those of them that hold the truth, in the order of [`LEVELS`].
    pub held: [u32; 3],
    /// Intervals that reach 0.
    pub reaching_zero: u32,
    /// Those of them that hold the truth at 95%.
    pub reaching_zero_held: u32,
}

impl Calibration {
    /// Counts an interval; `found_s` is estimate, lower and upper end, in seconds.
    pub fn add(&mut self, truth_s: f64, found_s: [f64; 3]) {
        let held = LEVELS.map(|(said, _)| u32::from(holds(said, truth_s, found_s)));
        if found_s[1] > 0.0 {
            self.intervals += 1;
            self.held = std::array::from_fn(|at| self.held[at] + held[at]);
        } else {
            self.reaching_zero += 1;
            self.reaching_zero_held += held[LEVELS.len() - 1];
        }
    }

    /// Of several.
    pub fn sum<'a>(all: impl IntoIterator<Item = &'a Calibration>) -> Calibration {
        all.into_iter().fold(Calibration::default(), |sum, of| Calibration {
            intervals: sum.intervals + of.intervals,
            held: std::array::from_fn(|at| sum.held[at] + of.held[at]),
            reaching_zero: sum.reaching_zero + of.reaching_zero,
            reaching_zero_held: sum.reaching_zero_held + of.reaching_zero_held,
        })
    }

    /// Share that held at a level, with the ends of its own 95% interval; `None` without intervals.
    pub fn share(&self, level: usize) -> Option<[f64; 3]> {
        proportion(self.held[level], self.intervals)
    }

    /// The same of the intervals that reach 0, at 95%.
    pub fn share_reaching_zero(&self) -> Option<[f64; 3]> {
        proportion(self.reaching_zero_held, self.reaching_zero)
    }
}

/// Whether the interval of a said share holds the truth, to half a second.
fn holds(said: f64, truth_s: f64, [estimate_s, lo_s, hi_s]: [f64; 3]) -> bool {
    let quantile = |wanted: f64| LEVELS.iter().find(|(said, _)| *said == wanted).map_or(1.0, |(_, z)| *z);
    let scale = quantile(said) / quantile(0.95);
    let (below_s, above_s) = (scale * (estimate_s - lo_s), scale * (hi_s - estimate_s));
    (estimate_s - below_s - EDGE_S..=estimate_s + above_s + EDGE_S).contains(&truth_s)
}

/// A proportion and its 95% interval (Wilson 1927): share, lower and upper end.
fn proportion(part: u32, all: u32) -> Option<[f64; 3]> {
    const Z: f64 = 1.960;
    let (part, all) = (f64::from(part), f64::from(all));
    let share = (all > 0.0).then_some(part / all)?;
    let widened = 1.0 + Z * Z / all;
    let centre = (share + Z * Z / (2.0 * all)) / widened;
    let half = Z / widened * (share * (1.0 - share) / all + Z * Z / (4.0 * all * all)).sqrt();
    Some([share, (centre - half).max(0.0), (centre + half).min(1.0)])
}

/// A line of the table: a kind of scenario, or all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Kind of scenario.
    pub kind: String,
    /// Its counts.
    pub calibration: Calibration,
}

impl Line {
    /// The sum of lines.
    pub fn all(lines: &[Line]) -> Line {
        Line {
            kind: "all".to_string(),
            calibration: Calibration::sum(lines.iter().map(|of| &of.calibration)),
        }
    }
}

/// Writes lines into a folder, where `tailback lab report` finds them.
///
/// # Errors
/// A disk that refuses, naming the file.
pub fn write(folder: &Path, lines: &[Line]) -> anyhow::Result<()> {
    let path = folder.join(FILE);
    let lines: Vec<String> = lines.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
    std::fs::write(&path, lines.join("\n") + "\n")
        .with_context(|| format!("{} cannot be written", path.display()))
}

/// Lines of a folder; none without the file.
///
/// # Errors
/// A file that cannot be read or is none of these, naming it.
pub fn read(folder: &Path) -> anyhow::Result<Vec<Line>> {
    let path = folder.join(FILE);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let line = |line: &str| {
        serde_json::from_str(line)
            .with_context(|| format!("{} is not of `tailback lab truth --out`", path.display()))
    };
    text.lines().map(line).collect()
}

/// Heads of the columns of [`cells`].
pub const HEADS: [&str; 7] =
    ["kind", "intervals", "50% hold", "80% hold", "95% hold", "intervals from 0", "95% of these hold"];

/// The cells of a line.
pub fn cells(line: &Line) -> [String; 7] {
    let shown = |share: Option<[f64; 3]>| {
        share.map_or(String::new(), |[share, lo, hi]| {
            format!("{:.0}% [{:.0}, {:.0}]", 100.0 * share, 100.0 * lo, 100.0 * hi)
        })
    };
    let of = &line.calibration;
    [
        line.kind.clone(),
        of.intervals.to_string(),
        shown(of.share(0)),
        shown(of.share(1)),
        shown(of.share(2)),
        of.reaching_zero.to_string(),
        shown(of.share_reaching_zero()),
    ]
}

/// A line for each kind with a victim, and the sum.
pub fn markdown(lines: &[Line]) -> String {
    let row = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = row(&HEADS.map(str::to_string)) + &format!("|{}\n", "---|".repeat(HEADS.len()));
    for line in lines.iter().filter(|line| line.has_any()).chain([&Line::all(lines)]) {
        text += &row(&cells(line));
    }
    text
}

impl Line {
    /// Whether any interval was counted.
    pub fn has_any(&self) -> bool {
        self.calibration.intervals + self.calibration.reaching_zero > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_scale_by_themselves_and_intervals_from_zero_count_apart() {
        let mut of = Calibration::default();
        // Below 100 s the half is 10 s, above 40 s: of 50% [96.6, 113.8], of 80% [93.5, 126.2], with half a second to spare.
        for truth_s in [96.2, 114.2, 125.0, 139.9, 145.0] {
            of.add(truth_s, [100.0, 90.0, 140.0]);
        }
        of.add(30.0, [0.0, 0.0, 40.0]);
        of.add(50.0, [20.0, 0.0, 40.0]);
        assert_eq!((of.intervals, of.held), (5, [2, 3, 4]));
        assert_eq!((of.reaching_zero, of.reaching_zero_held), (2, 1));
    }

    #[test]
    fn proportion_has_the_interval_of_wilson() {
        // 8 of 10: 0.490 to 0.943 (Newcombe 1998 gives the method's values).
        let [share, lo, hi] = proportion(8, 10).unwrap();
        assert_eq!((share, (1_000.0 * lo).round(), (1_000.0 * hi).round()), (0.8, 490.0, 943.0));
        assert_eq!(proportion(0, 0), None);
    }
}
