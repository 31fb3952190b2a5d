//! What the job cost others.

use crate::PostMortem;
use schemas::Interval;

/// Victims shown; JSON has all of them.
const VICTIMS: usize = 10;

/// One line a victim, the largest lower end first, and the sum of all; empty where it cost none.
pub(crate) fn lines(facts: &PostMortem) -> Vec<String> {
    let all = &facts.caused;
    let mut lines: Vec<String> =
        all.iter().take(VICTIMS).map(|of| format!("job {}  lost {} to it", of.job_id, of.lost_s)).collect();
    if all.len() > 1 {
        let sum: Interval = all.iter().map(|of| of.lost_s).sum();
        lines.push(format!("all {}  lost {sum}; the ends are sums of the ends", all.len()));
    }
    lines
}
