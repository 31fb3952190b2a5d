//! The table of episodes: when each began, on what, and what it cost.

use crate::PostMortem;
use crate::labels::{metric, printable};
use crate::numbers::{change, offset, percent};
use crate::wrapping::shorten;
use store::read::episodes::ResourceEpisode;

/// Rows shown; a job on many links can have thousands of episodes.
const ROWS: usize = 20;

/// Narrowest column for the name of a resource.
const RESOURCE_MIN: usize = 16;

/// Column of the resource's name, the one that gives way when the page is narrow.
const RESOURCE: usize = 2;

/// Columns that a narrow page leaves out, the first first: a name begins with its metric, which says what it is.
const LEFT_OUT: [usize; 3] = [3, 6, 4];

type Cells = [String; 7];

/// The lines of the table: its head, one line an episode, and how many are not shown.
pub(crate) fn lines(facts: &PostMortem, width: usize) -> Vec<String> {
    let shown = facts.worst_episodes(ROWS);
    let head = ["from", "lasting", "resource", "what", "usual -> worst", "lost", "seen"];
    let mut rows: Vec<Cells> = vec![head.map(String::from)];
    rows.extend(shown.iter().map(|e| cells(facts, e)));
    let widths = widths(&rows, width);
    let mut lines: Vec<String> = rows.iter().map(|row| line(row, &widths)).collect();
    if widths.contains(&0) {
        lines.push("  a narrow page leaves columns out; --json has them".to_string());
    }
    lines.extend(left_out(facts, &shown));
    lines
}

fn cells(facts: &PostMortem, of: &ResourceEpisode) -> Cells {
    let e = &of.episode;
    let lasting = format!("{:.0} s{}", e.duration_s(), if e.open { "+" } else { "" });
    let values = change(of.metric, e.baseline, e.peak);
    let lost = format!("{:.1} s [{:.1}, {:.1}]", e.slowdown_s, e.slowdown_lo_s, e.slowdown_hi_s);
    [
        offset(e.start.seconds_since(facts.job.start)),
        lasting,
        printable(&of.resource),
        metric(of.metric).to_string(),
        values,
        lost,
        percent(e.completeness),
    ]
}

fn widths(rows: &[Cells], width: usize) -> [usize; 7] {
    let mut widths = [0; 7];
    for row in rows {
        for (at, cell) in row.iter().enumerate() {
            widths[at] = widths[at].max(cell.chars().count());
        }
    }
    let needed = |widths: &[usize; 7]| widths.iter().filter(|w| **w > 0).map(|w| w + 2).sum::<usize>();
    let shortest = RESOURCE_MIN.min(widths[RESOURCE]);
    for column in LEFT_OUT {
        if needed(&widths) - widths[RESOURCE] + shortest > width {
            widths[column] = 0;
        }
    }
    let left = widths[RESOURCE].saturating_sub(needed(&widths).saturating_sub(width));
    widths[RESOURCE] = left.max(shortest);
    widths
}

fn line(row: &Cells, widths: &[usize; 7]) -> String {
    let mut line = String::new();
    for (at, (cell, width)) in row.iter().zip(widths).enumerate().filter(|(_, (_, width))| **width > 0) {
        let cell = shorten(cell, *width);
        // Numbers stand right, words left.
        line += &match at {
            0 | 1 | 6 => format!("  {cell:>width$}"),
            _ => format!("  {cell:<width$}"),
        };
    }
    line.trim_end().to_string()
}

fn left_out(facts: &PostMortem, shown: &[&ResourceEpisode]) -> Option<String> {
    let count = facts.episodes.len() - shown.len();
    let sentence = || format!("  and {count} that cost less; --json lists them all");
    (count > 0).then(sentence)
}
