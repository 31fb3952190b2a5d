//! What a job loses in one time cell, by several metrics.
//!
//! The job waits for its slowest resource, so the largest loss counts, once. What it is made of is shared out so that a
//! further metric hides no culprit: metrics that reach a level of loss share it equally (the Shapley value of the largest),
//! and a metric that names no culprit gets only what lies above all that do.

use super::combine::Merged;

/// What is charged to one metric in a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Charge {
    /// Its part of the largest loss, in seconds.
    pub(super) lost_s: f64,
    /// Its loss in seconds where it is the metric with the largest certain loss; else 0.
    pub(super) certain_s: f64,
    /// The most that the job may have lost by it, in seconds.
    pub(super) most_s: f64,
}

/// Charges the cell that is looked at to the metrics, one charge each.
pub(super) fn charge(merged: &[Merged<'_>], charges: &mut Vec<Charge>) {
    let alone = |m: &Merged<'_>| m.cell.as_ref().map_or(0.0, |cell| cell.lost_s / m.used);
    // What the job got done is measured: waits of links that name no culprit of their own are why, and add nothing.
    let measured_s = merged.iter().filter(|m| m.measures()).map(alone).fold(0.0, f64::max);
    let lost = |m: &Merged<'_>| match measured_s > 0.0 && m.only_explains() {
        true => alone(m).min(measured_s),
        false => alone(m),
    };
    charges.clear();
    charges.extend(merged.iter().map(|m| Charge { most_s: most_s(m), ..Charge::default() }));
    let named = share_out(merged, lost, true, 0.0, charges);
    share_out(merged, lost, false, named, charges);
    let sure = |at: &usize| lost(&merged[*at]) * merged[*at].least_share;
    if let Some(surest) = (0..merged.len()).max_by(|a, b| sure(a).total_cmp(&sure(b))) {
        charges[surest].certain_s = lost(&merged[surest]);
    }
}

/// Shares what lies above `floor` among the metrics that name a culprit, or those that do not; the level reached.
fn share_out(
    merged: &[Merged<'_>],
    lost: impl Fn(&Merged<'_>) -> f64,
    names: bool,
    floor: f64,
    charges: &mut [Charge],
) -> f64 {
    let mut of_these: Vec<usize> =
        (0..merged.len()).filter(|at| merged[*at].names == names && lost(&merged[*at]) > floor).collect();
    of_these.sort_by(|a, b| lost(&merged[*a]).total_cmp(&lost(&merged[*b])));
    let mut level = floor;
    for (lower, at) in of_these.iter().enumerate() {
        let reached = lost(&merged[*at]);
        let each = (reached - level) / (of_these.len() - lower) as f64;
        of_these[lower..].iter().for_each(|at| charges[*at].lost_s += each);
        level = reached;
    }
    level
}

/// The most that the job may have lost by a metric. Series that were not judged lost what the worst of the others did, as
/// long as these are half of all; else they may have lost all of the time. Where most of a job's writers were slowed, the
/// others may have lost as much on average: too little to see in their noise.
fn most_s(merged: &Merged<'_>) -> f64 {
    let Some(cell) = &merged.cell else { return 0.0 };
    let lost_s = cell.lost_s / merged.used;
    let measured = (merged.metric.is_progress() && !merged.waits_for_a_node) || merged.of_links;
    let seen_s = if measured { lost_s } else { lost_s.max(cell.worst_s) };
    let all = merged.used + merged.unknown + merged.silent;
    let unjudged = (cell.unjudged_us as f64 / 1e6 / merged.cell_s + merged.silent).min(all);
    let slowed = cell.contended_us as f64 / 1e6 / merged.cell_s;
    let most_slowed = 2.0 * slowed >= merged.used && slowed < merged.used;
    let unseen_s = match merged.metric.is_progress() && most_slowed {
        true => (merged.used - slowed) * cell.lost_s / slowed,
        false => 0.0,
    };
    let each_s = if 2.0 * unjudged <= all { cell.worst_s.min(merged.cell_s) } else { merged.cell_s };
    seen_s.max((cell.lost_s + unseen_s + unjudged * each_s) / all)
}
