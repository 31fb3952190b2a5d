//! One result of the parts that several detectors know.

use super::cells::{self, Cell, Cells};
use super::part::{JobPart, MetricPart};
use super::shares::{CauseSums, shares};
use schemas::{JobResult, Metric, Name};
use std::collections::BTreeSet;

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
        causes: shares(losses.causes, losses.lost_s),
    }
}

#[derive(Default)]
struct Losses {
    contended_s: f64,
    lost_s: f64,
    /// Of `lost_s`, what is lost however the job waits. Stalls on links tell how much slower messages are, not which
    /// of them the job waits for, nor how much of its time it spends in messages.
    certain_s: f64,
    /// What it would be if the job waited for the worst of its series on the network, not for their mean.
    most_s: f64,
    variance_s2: f64,
    causes: CauseSums,
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
    least_share: f64,
    /// Whether a stage that sees all links told it.
    of_links: bool,
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
        charge(&mut losses, &merged[worst], lost_s, &cell);
    }
    merged.iter().for_each(|m| explain(&mut losses, m));
    losses
}

fn charge(losses: &mut Losses, merged: &Merged<'_>, lost_s: f64, cell: &Cell) {
    let measured = merged.metric == Metric::LustreWriteRate || merged.of_links;
    losses.lost_s += lost_s;
    losses.certain_s += lost_s * merged.least_share;
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
    let of_links = metric != Metric::LustreWriteRate && parts.iter().any(|part| part.of_links);
    for part in parts.iter().filter(|part| part.of_links || !of_links) {
        for of_metric in part.metrics.iter().filter(|m| m.metric == metric) {
            for (at, cell) in cells::coarsened(&of_metric.cells, grain - part.grain) {
                cells.entry(at).or_default().add(&cell);
            }
            found.push(of_metric);
        }
    }
    let used = found.iter().map(|m| m.used).sum::<u32>().max(1);
    let total_s = cells.values().map(|cell| cell.lost_s).sum();
    let least_share = found.iter().map(|part| part.least_share).fold(1.0, f64::min);
    let used = f64::from(used);
    let merged = Merged { metric, used, cells, total_s, charged_s: 0.0, parts: found, least_share, of_links };
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

#[cfg(test)]
mod tests {
    use super::*;
    use schemas::Time;

    /// Ten seconds of which each costs `lost_s`.
    fn part(lost_s: f64, of_links: bool) -> JobPart {
        let cell = Cell { lost_s, worst_s: lost_s, contended_s: 1.0 };
        let metric = MetricPart {
            metric: Metric::IbWaitRatio,
            used: 1,
            cells: (0..10).map(|second| (second, cell)).collect(),
            variance_s2: 0.0,
            least_share: if of_links { 0.6 } else { 0.0 },
            causes: Vec::new(),
        };
        JobPart {
            start: Time(0),
            until: Time::from_seconds(10.0),
            series: u32::from(!of_links),
            completeness_sum: f64::from(u8::from(!of_links)),
            known_nodes: vec![true],
            grain: 0,
            metrics: vec![metric],
            of_links,
        }
    }

    #[test]
    fn who_sees_all_links_has_the_word_and_the_mean_of_the_flows_is_the_least() {
        let job_id = Name::parse("1").unwrap();
        let found = combine(&job_id, &[&part(0.1, false), &part(0.4, true)]);
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(near(found.slowdown_s, 4.0) && near(found.slowdown_hi_s, 4.0), "{found:?}");
        assert!(near(found.slowdown_lo_s, 2.4) && near(found.completeness, 1.0), "{found:?}");
    }

    #[test]
    fn without_anybody_who_sees_all_links_their_stalls_are_no_progress_lost_for_sure() {
        let found = combine(&Name::parse("1").unwrap(), &[&part(0.1, false)]);
        assert!((found.slowdown_s - 1.0).abs() < 1e-9 && found.slowdown_lo_s == 0.0, "{found:?}");
    }
}
