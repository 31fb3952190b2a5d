//! Adaptive routing: the longer way only where the shorter ones are busy.

/// The path that Fully Progressive Adaptive Routing takes among some with queues of these `scores`, occupancy over
/// length, 0 to 1, the shortest path first (Kang 2019, 3.1.2; there: minimal, via a spine, via a leaf).
///
/// A path is taken if its score is below `threshold` (0.5 in the paper) and those of all shorter ones are not. If all
/// are busy, the lowest score decides among the paths that are shorter than the longest (the paper: "the smallest
/// score shorter path will be chosen"; that a single path counts as a shorter one is ours), the first of equal ones.
///
/// The result is an index of `scores`, 0 if there are none.
pub fn fpar(scores: &[f64], threshold: f64) -> usize {
    let free = scores.iter().position(|score| *score < threshold);
    free.unwrap_or_else(|| {
        let shorter = &scores[..scores.len().saturating_sub(1).max(1).min(scores.len())];
        let lowest = shorter.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1));
        lowest.map_or(0, |(index, _)| index)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Check K9.
    #[test]
    fn the_longer_path_is_taken_only_if_all_shorter_ones_are_busy() {
        assert_eq!(fpar(&[0.4, 0.1, 0.1], 0.5), 0);
        assert_eq!(fpar(&[0.6, 0.3, 0.1], 0.5), 1);
        assert_eq!(fpar(&[0.6, 0.7, 0.2], 0.5), 2);
        assert_eq!(fpar(&[0.8, 0.7, 0.9], 0.5), 1, "all busy: the lowest of the shorter ones");
        assert_eq!(fpar(&[0.8, 0.7, 0.6], 0.5), 1, "the longest is none of the shorter ones");
        assert_eq!((fpar(&[0.9], 0.5), fpar(&[0.9, 0.6], 0.5), fpar(&[], 0.5)), (0, 0, 0));
    }
}
