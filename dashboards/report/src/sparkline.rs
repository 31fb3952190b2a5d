//! Loss over time in one line of blocks, with its time axis.

use crate::numbers::offset;

/// From no loss to all of the time lost.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// One block for each share; the lowest means that no loss was found, and any loss at all is higher.
pub(crate) fn sparkline(shares: &[f64]) -> String {
    let top = BLOCKS.len() - 1;
    let block = |share: &f64| BLOCKS[((share * top as f64).ceil() as usize).min(top)];
    shares.iter().map(block).collect()
}

/// Times since the start below the line: at its left, middle and right.
pub(crate) fn axis(run_s: f64, columns: usize) -> String {
    let (left, middle, right) = (offset(0.0), offset(run_s / 2.0), offset(run_s));
    let gap = |taken: usize, until: usize| " ".repeat(until.saturating_sub(taken).max(1));
    let mut line = left;
    line += &gap(line.len(), columns / 2 - middle.len() / 2);
    line += &middle;
    line += &gap(line.len(), columns.saturating_sub(right.len()));
    line + &right
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_and_the_smallest_loss() {
        assert_eq!(sparkline(&[0.0, 1e-9, 0.5, 0.99, 1.0, 7.0]), "▁▂▅███");
    }

    #[test]
    fn the_axis_is_as_wide_as_the_line() {
        let line = axis(473.0, 60);
        assert_eq!(line.len(), 60);
        assert!(line.starts_with("+0:00 ") && line.ends_with(" +7:53"), "{line}");
    }
}
