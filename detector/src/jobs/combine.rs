//! One result of the parts that several detectors know.

use super::cells::{self, Cell, Cells};
use super::part::{JobPart, MetricPart};
use schemas::{Cause, CauseKind, CauseShare, JobResult, Metric, Name};
use std::collections::{BTreeMap, BTreeSet};

/// Causes of a smaller share are not named.
const LEAST_SHARE: f64 = 0.005;

/// What the job lost by all `parts`, which are of the same job.
pub fn combine(job_id: &Name, parts: &[&JobPart]) -> JobResult {
    let losses = reduce(parts);
    let half_width_s = losses.variance_s2.sqrt();
    JobResult {
        job_id: job_id.clone(),
        contended_s: losses.contended_s,
        slowdown_s: losses.lost_s,
        slowdown_lo_s: (losses.certain_s - half_width_s).max(0.0),
        slowdown_hi_s: losses.most_s.max(losses.lost_s) + half_width_s,
        completeness: completeness(parts),
        causes: causes(&losses),
    }
}

#[derive(Default)]
struct Losses {
    contended_s: f64,
    lost_s: f64,
    /// Of `lost_s`, what was measured as progress lost. Stalls on links tell how much slower messages are,
    /// not how much of its time the job spends in messages, so they raise the upper end alone.
    certain_s: f64,
    /// What it would be if the job waited for the worst of its series on the network, not for their mean.
    most_s: f64,
    variance_s2: f64,
    causes: BTreeMap<(Cause, CauseKind, String), f64>,
}

/// All parts of one metric.
struct Merged<'a> {
    metric: Metric,
    used: f64,
    cells: Cells,
    /// Seconds lost in all, and in the moments in which this metric was the worst.
    total_s: f64,
    charged_s: f64,
    parts: Vec<&'a MetricPart>,
}

/// At each moment a metric's loss is the mean over its series, and the largest one counts.
fn reduce(parts: &[&JobPart]) -> Losses {
    let mut merged: Vec<Merged<'_>> = Metric::ALL.iter().filter_map(|m| merge(*m, parts)).collect();
    let moments: BTreeSet<i64> = merged.iter().flat_map(|m| m.cells.keys().copied()).collect();
    let mut losses = Losses::default();
    for moment in moments {
        let of = |m: &Merged<'_>| m.cells.get(&moment).map_or(0.0, |cell| cell.lost_s / m.used);
        let worst = (0..merged.len()).max_by(|a, b| of(&merged[*a]).total_cmp(&of(&merged[*b])));
        let Some(worst) = worst else { continue };
        let contended_s = merged.iter().filter_map(|m| m.cells.get(&moment)).map(|cell| cell.contended_s);
        losses.contended_s += contended_s.fold(0.0, f64::max);
        let cell = merged[worst].cells.get(&moment).copied().unwrap_or_default();
        let lost_s = of(&merged[worst]);
        merged[worst].charged_s += cell.lost_s;
        charge(&mut losses, merged[worst].metric, lost_s, &cell);
    }
    merged.iter().for_each(|m| explain(&mut losses, m));
    losses
}

fn charge(losses: &mut Losses, metric: Metric, lost_s: f64, cell: &Cell) {
    let measured = metric == Metric::LustreWriteRate;
    losses.lost_s += lost_s;
    losses.certain_s += if measured { lost_s } else { 0.0 };
    losses.most_s += if measured { lost_s } else { lost_s.max(cell.worst_s) };
}

/// Adds the variance and the causes of what a metric was charged.
fn explain(losses: &mut Losses, merged: &Merged<'_>) {
    if merged.total_s <= 0.0 {
        return;
    }
    let factor = merged.charged_s / merged.total_s / merged.used;
    for part in &merged.parts {
        losses.variance_s2 += part.variance_s2 * factor * factor;
        for cause in &part.causes {
            let key = (cause.cause, cause.kind, cause.series_or_job.clone());
            *losses.causes.entry(key).or_default() += cause.lost_s * factor;
        }
    }
}

fn merge<'a>(metric: Metric, parts: &[&'a JobPart]) -> Option<Merged<'a>> {
    let grain = parts.iter().map(|part| part.grain).max()?;
    let mut cells = Cells::new();
    let mut found: Vec<&MetricPart> = Vec::new();
    for part in parts {
        for of_metric in part.metrics.iter().filter(|m| m.metric == metric) {
            for (at, cell) in cells::coarsened(&of_metric.cells, grain - part.grain) {
                cells.entry(at).or_default().add(&cell);
            }
            found.push(of_metric);
        }
    }
    let used = found.iter().map(|m| m.used).sum::<u32>().max(1);
    let total_s = cells.values().map(|cell| cell.lost_s).sum();
    let merged = Merged { metric, used: f64::from(used), cells, total_s, charged_s: 0.0, parts: found };
    (!merged.parts.is_empty()).then_some(merged)
}

/// Ticks seen over ticks expected; a node that nobody has a series of counts as one that was never seen.
fn completeness(parts: &[&JobPart]) -> f64 {
    let nodes = parts.iter().map(|part| part.known_nodes.len()).max().unwrap_or(0);
    let known = |node: &usize| parts.iter().any(|part| part.known_nodes.get(*node) == Some(&true));
    let silent = nodes - (0..nodes).filter(known).count();
    let series: u32 = parts.iter().map(|part| part.series).sum();
    let seen: f64 = parts.iter().map(|part| part.completeness_sum).sum();
    seen / (f64::from(series) + silent as f64).max(1.0)
}

/// The causes by share, the largest first.
fn causes(losses: &Losses) -> Vec<CauseShare> {
    let total_s = losses.lost_s;
    if total_s <= 0.0 {
        return Vec::new();
    }
    let shares = losses.causes.iter().map(|((cause, kind, series_or_job), lost_s)| CauseShare {
        cause: *cause,
        kind: *kind,
        series_or_job: series_or_job.clone(),
        share: (lost_s / total_s).min(1.0),
    });
    let mut causes: Vec<CauseShare> = shares.filter(|cause| cause.share > LEAST_SHARE).collect();
    causes.sort_by(|a, b| b.share.total_cmp(&a.share));
    causes
}
