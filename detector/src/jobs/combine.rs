//! One result of the parts that several detectors know.

use super::cells::{self, Cell};
use super::measured::{self, Contention};
use super::moment::{self, Charge};
use super::pace::Pace;
use super::part::{JobPart, MetricPart};
use super::shares::{CauseSums, shares};
use super::stretches::{self, Alike, Stretches};
use schemas::{Cause, JobProgress, JobResult, Metric, Name};
use std::collections::BTreeMap;
use std::ops::Range;

/// What the job lost by all `parts`, which are of the same job.
pub fn combine(job_id: &Name, parts: &[&JobPart]) -> JobResult {
    let nodes = Nodes::of(parts);
    let mut merged: Vec<Merged<'_>> = Metric::all().filter_map(|m| merge(m, parts, &nodes)).collect();
    let (losses, contention) = reduce(&mut merged, parts);
    let run_s = run_s(parts);
    let unseen = if 2 * nodes.silent > nodes.all || parts.is_empty() { run_s } else { 0.0 };
    let unexplained_s: f64 = merged.iter().map(Merged::unexplained_s).sum();
    let most_s = (losses.most_s.max(losses.lost_s) + unexplained_s).max(unseen);
    let half_width_s = losses.variance_s2.sqrt();
    let mut result = JobResult {
        job_id: job_id.clone(),
        contended_s: losses.contended_s,
        slowdown_s: losses.lost_s,
        slowdown_lo_s: least_s(&losses, &merged),
        // A job loses no more than it runs.
        slowdown_hi_s: (most_s + half_width_s).min(run_s.max(losses.lost_s + half_width_s)),
        completeness: share(parts, &nodes, |part| part.completeness_sum),
        judged: share(parts, &nodes, |part| part.judged_sum),
        causes: shares(losses.causes, losses.lost_s),
        progress: progress(parts, &contention),
    };
    // Of a job most of whose nodes were not seen it is not known when it was contended.
    if unseen == 0.0 {
        measured::replace(&mut result, run_s);
    }
    result
}

/// What the job's own reports show. A name is in one part; where a partition moved, in the part with most of it.
fn progress(parts: &[&JobPart], contention: &Contention) -> Vec<JobProgress> {
    let mut paces: BTreeMap<&Name, &Pace> = BTreeMap::new();
    for (name, pace) in parts.iter().flat_map(|part| &part.progress) {
        let known = paces.entry(name).or_insert(pace);
        if pace.covered_s() > known.covered_s() {
            *known = pace;
        }
    }
    paces.into_iter().map(|(name, pace)| measured::measure(name, pace, contention)).collect()
}

/// Nodes of a job, and those of them that no part has a series of.
struct Nodes {
    all: usize,
    silent: usize,
}

impl Nodes {
    fn of(parts: &[&JobPart]) -> Nodes {
        let all = parts.iter().map(|part| part.known_nodes.len()).max().unwrap_or(0);
        let known = |node: &usize| parts.iter().any(|part| part.known_nodes.get(*node) == Some(&true));
        Nodes { all, silent: all - (0..all).filter(known).count() }
    }
}

#[derive(Default)]
struct Losses {
    contended_s: f64,
    lost_s: f64,
    /// What is lost however the job waits, by the metric with the largest certain loss in each cell. Stalls on links show how
    /// much slower messages are, not which of them the job waits for, nor how much of its time it spends in messages.
    certain_s: f64,
    /// What it would be if the job waited for the worst of its series on the network, not for their mean, and if what was
    /// not judged lost as much as what is comparable, or all of its time.
    most_s: f64,
    variance_s2: f64,
    certain_variance_s2: f64,
    causes: CauseSums,
}

/// All parts of one metric.
pub(super) struct Merged<'a> {
    pub(super) metric: Metric,
    pub(super) used: f64,
    /// Series of which it is not known whether the job used them, and nodes without any.
    pub(super) unknown: f64,
    pub(super) silent: f64,
    /// Its cells.
    cells: Alike,
    /// The cell that is looked at, where it has that one.
    pub(super) cell: Option<Cell>,
    pub(super) cell_s: f64,
    /// Seconds lost in all, and what was charged to this metric of them, as a point and for sure.
    total_s: f64,
    charged_s: f64,
    certain_s: f64,
    parts: Vec<&'a MetricPart>,
    pub(super) least_share: f64,
    /// The part of its loss of which others were seen to take something, or a shared resource to saturate, 0 to 1.
    confirmed_share: f64,
    /// Whether the fabric stage, which sees all links, reported it.
    pub(super) of_links: bool,
    /// Whether it names the causes of the loss.
    pub(super) names: bool,
    /// Whether a node of its own was slower than the others: the job may wait for that one.
    pub(super) waits_for_a_node: bool,
}

impl Merged<'_> {
    /// Whether it measures what the job got done, and names who took the rest.
    pub(super) fn measures(&self) -> bool {
        self.metric.is_progress() && self.names
    }

    /// Whether it is not known of most of its series whether they were contended in the cell that is looked at.
    fn is_unjudged(&self) -> bool {
        let unjudged_s = self.cell.map_or(0.0, |cell| cell.unjudged_us as f64 / 1e6);
        2.0 * unjudged_s > self.cell_s * (self.used + self.unknown)
    }

    fn unexplained_s(&self) -> f64 {
        self.parts.iter().map(|part| part.unexplained_s).sum::<f64>() / self.used
    }

    /// Whether it shows that the job's messages wait, and for whom is not known.
    pub(super) fn only_explains(&self) -> bool {
        !self.metric.is_progress() && !self.names
    }
}

/// In each cell a metric's loss is the mean over its series, and the largest one counts.
fn reduce(merged: &mut [Merged<'_>], parts: &[&JobPart]) -> (Losses, Contention) {
    let mut losses = Losses::default();
    let mut contention = Contention::of(parts);
    let mut charges: Vec<Charge> = Vec::with_capacity(merged.len());
    let mut stretches = Stretches::of(merged.iter_mut().map(|m| std::mem::take(&mut m.cells)));
    let mut cells = Vec::with_capacity(merged.len());
    while let Some(numbers) = stretches.next(&mut cells) {
        let count = (numbers.end - numbers.start) as f64;
        merged.iter_mut().zip(&cells).for_each(|(of_metric, cell)| of_metric.cell = *cell);
        let contended_s = cells.iter().flatten().map(|cell| cell.contended_s).fold(0.0, f64::max);
        losses.contended_s += contended_s * count;
        contention.add(numbers, contended_s, merged.iter().any(Merged::is_unjudged));
        moment::charge(merged, &mut charges);
        for (of_metric, charge) in merged.iter_mut().zip(&charges) {
            let (lost_s, certain_s) = (charge.lost_s * count, charge.certain_s * count);
            losses.lost_s += lost_s;
            losses.certain_s += certain_s * of_metric.least_share * of_metric.confirmed_share;
            of_metric.charged_s += lost_s;
            of_metric.certain_s += certain_s;
        }
        losses.most_s += charges.iter().map(|charge| charge.most_s).fold(0.0, f64::max) * count;
    }
    merged.iter().for_each(|m| explain(&mut losses, m));
    (contention.contended_s, contention.lost_s) = (losses.contended_s, losses.lost_s);
    (losses, contention)
}

/// The lower bound: the largest of that of all metrics together and those of single metrics. No metric lowers it.
fn least_s(losses: &Losses, merged: &[Merged<'_>]) -> f64 {
    let alone = |m: &Merged<'_>| {
        let variance_s2: f64 = m.parts.iter().map(|part| part.variance_s2).sum();
        (m.total_s * m.confirmed_share * m.least_share - variance_s2.sqrt()) / m.used
    };
    let together = losses.certain_s - losses.certain_variance_s2.sqrt();
    let is_measured = merged.iter().any(|m| m.measures() && m.total_s > 0.0);
    let counted = merged.iter().filter(|m| !(is_measured && m.only_explains()));
    counted.map(alone).fold(together, f64::max).max(0.0)
}

/// Adds the variance and the causes of what a metric was charged.
fn explain(losses: &mut Losses, merged: &Merged<'_>) {
    if merged.total_s <= 0.0 {
        return;
    }
    let factor = merged.charged_s / merged.total_s;
    let certain = merged.certain_s / merged.total_s;
    for part in &merged.parts {
        losses.variance_s2 += part.variance_s2 * factor * factor;
        losses.certain_variance_s2 += part.variance_s2 * certain * certain;
        for cause in &part.causes {
            let key = (cause.cause, cause.kind, cause.series_or_job.clone());
            *losses.causes.entry(key).or_default() += cause.lost_s * factor;
        }
    }
}

fn merge<'a>(metric: Metric, parts: &[&'a JobPart], nodes: &Nodes) -> Option<Merged<'a>> {
    let grain = parts.iter().map(|part| part.grain).max()?;
    let of_links = !metric.is_progress() && parts.iter().any(|part| part.of_links);
    let counted = parts.iter().filter(|part| part.of_links || !of_links);
    let of_metric = |part: &&'a JobPart| {
        let (grain, of_it) = (part.grain, part.metrics.iter().filter(move |m| m.metric == metric));
        of_it.map(move |m| (m, grain))
    };
    let (found, grains): (Vec<&MetricPart>, Vec<u32>) = counted.flat_map(of_metric).unzip();
    if found.is_empty() {
        return None;
    }
    let cells =
        stretches::sums(found.iter().zip(grains).map(|(part, of_part)| (&part.cells, grain - of_part)));
    let used = found.iter().map(|m| m.used).sum::<u32>().max(1);
    let named = |part: &&MetricPart| {
        part.causes.iter().any(|cause| !matches!(cause.cause, Cause::Unknown | Cause::Node))
    };
    let of_a_node = |part: &&MetricPart| part.causes.iter().any(|cause| cause.cause == Cause::Node);
    let lost_s = |(numbers, cell): &(Range<i64>, Cell)| cell.lost_s * (numbers.end - numbers.start) as f64;
    let total_s: f64 = cells.iter().map(lost_s).sum();
    let suspected_s: f64 = found.iter().map(|part| part.suspected_s).sum();
    Some(Merged {
        metric,
        used: f64::from(used),
        unknown: f64::from(found.iter().map(|m| m.unknown).sum::<u32>()),
        silent: if of_links { 0.0 } else { nodes.silent as f64 },
        cell_s: cells::width_s(grain),
        total_s,
        confirmed_share: if total_s > 0.0 { (1.0 - suspected_s / total_s).max(0.0) } else { 1.0 },
        cells,
        cell: None,
        charged_s: 0.0,
        certain_s: 0.0,
        least_share: found.iter().map(|part| part.least_share).fold(1.0, f64::min),
        of_links,
        names: found.iter().any(named),
        waits_for_a_node: found.iter().any(of_a_node),
        parts: found,
    })
}

/// Seconds from the job's start until it is judged.
fn run_s(parts: &[&JobPart]) -> f64 {
    let start = parts.iter().map(|part| part.start).min();
    let until = parts.iter().map(|part| part.until).max();
    start.zip(until).map_or(0.0, |(start, until)| until.seconds_since(start).max(0.0))
}

/// Mean over the job's series of a share that parts have the sums of; a node without a series counts as one with nothing.
fn share(parts: &[&JobPart], nodes: &Nodes, sum: impl Fn(&JobPart) -> f64) -> f64 {
    let series: u32 = parts.iter().map(|part| part.series).sum();
    parts.iter().map(|part| sum(part)).sum::<f64>() / (f64::from(series) + nodes.silent as f64).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::{CauseLoss, Cell};
    use schemas::{CauseKind, Time};

    /// Ten seconds of which each costs `lost_s`.
    fn part(lost_s: f64, of_links: bool) -> JobPart {
        let cell =
            Cell { lost_s, worst_s: lost_s, contended_s: 1.0, contended_us: 1_000_000, unjudged_us: 0 };
        let metric = MetricPart {
            metric: Metric::from_name("ib_wait_ratio").unwrap(),
            used: 1,
            unknown: 0,
            cells: (0..10).map(|second| (second, cell)).collect(),
            suspected_s: 0.0,
            unexplained_s: 0.0,
            variance_s2: 0.0,
            least_share: if of_links { 0.6 } else { 0.0 },
            causes: Vec::new(),
        };
        JobPart {
            start: Time(0),
            until: Time::from_seconds(10.0),
            series: u32::from(!of_links),
            completeness_sum: f64::from(u8::from(!of_links)),
            judged_sum: f64::from(u8::from(!of_links)),
            known_nodes: vec![true],
            grain: 0,
            metrics: vec![metric],
            of_links,
            progress: Vec::new(),
            active: Vec::new(),
        }
    }

    #[test]
    fn the_fabric_part_replaces_others_and_bounds_the_least_loss() {
        let job_id = Name::parse("1").unwrap();
        let found = combine(&job_id, &[&part(0.1, false), &part(0.4, true)]);
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(near(found.slowdown_s, 4.0) && near(found.slowdown_hi_s, 4.0), "{found:?}");
        assert!(near(found.slowdown_lo_s, 2.4) && near(found.completeness, 1.0), "{found:?}");
    }

    #[test]
    fn without_the_fabric_stage_stalls_are_no_certain_loss() {
        let found = combine(&Name::parse("1").unwrap(), &[&part(0.1, false)]);
        assert!((found.slowdown_s - 1.0).abs() < 1e-9 && found.slowdown_lo_s == 0.0, "{found:?}");
    }

    /// Ten seconds of the job's own writing, of which each costs `lost_s`, taken by job 2.
    fn of_writing(lost_s: f64) -> JobPart {
        let mut found = part(lost_s, false);
        let metric = &mut found.metrics[0];
        (metric.metric, metric.least_share) = (Metric::from_name("lustre_write_rate").unwrap(), 1.0);
        metric.causes = vec![CauseLoss {
            cause: Cause::OtherJob,
            kind: CauseKind::Capacity,
            series_or_job: "2".to_string(),
            lost_s: 10.0 * lost_s,
        }];
        found
    }

    #[test]
    fn another_metric_lowers_no_lower_end_and_hides_no_culprit() {
        let job_id = Name::parse("1").unwrap();
        let alone = combine(&job_id, &[&of_writing(0.3)]);
        for stalled in [0.05, 0.3, 0.9] {
            let both = combine(&job_id, &[&of_writing(0.3), &part(stalled, false)]);
            let named = both.causes.iter().find(|cause| cause.series_or_job == "2").unwrap();
            assert!(both.slowdown_lo_s >= alone.slowdown_lo_s - 1e-9, "{stalled}: {both:?}");
            assert!(both.slowdown_s >= alone.slowdown_s - 1e-9, "{stalled}: {both:?}");
            assert!((named.share * both.slowdown_s - 3.0).abs() < 1e-9, "{stalled}: {both:?}");
        }
    }

    #[test]
    fn own_count_replaces_no_loss_of_a_job_that_was_hardly_seen() {
        let mut of_job = of_writing(0.3);
        let mut pace = Pace::default();
        let at = |second: u32| Time::from_seconds(f64::from(second));
        (0..60).for_each(|second| pace.add(at(second), at(second + 1), 1.0));
        of_job.until = at(60);
        of_job.progress = vec![(Name::parse("steps").unwrap(), pace)];
        let seen = combine(&Name::parse("1").unwrap(), &[&of_job]);
        assert!(seen.slowdown_s < 1e-9 && seen.slowdown_hi_s < 1e-6, "{seen:?}");
        of_job.known_nodes = vec![true, false, false];
        let hardly = combine(&Name::parse("1").unwrap(), &[&of_job]);
        assert!(hardly.slowdown_s > 0.9 && hardly.slowdown_hi_s > 59.0, "{hardly:?}");
    }

    #[test]
    fn waits_without_a_culprit_explain_a_measured_loss() {
        let both = combine(&Name::parse("1").unwrap(), &[&of_writing(0.3), &part(0.9, true)]);
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(near(both.slowdown_s, 3.0) && near(both.slowdown_lo_s, 3.0), "{both:?}");
        assert!(near(both.slowdown_hi_s, 9.0) && near(both.causes[0].share, 1.0), "{both:?}");
    }

    #[test]
    fn metrics_that_both_name_a_culprit_share_what_both_reach() {
        let mut on_links = part(0.4, true);
        let mut cause = of_writing(0.4).metrics[0].causes[0].clone();
        cause.series_or_job = "3".to_string();
        on_links.metrics[0].causes = vec![cause];
        let both = combine(&Name::parse("1").unwrap(), &[&of_writing(0.2), &on_links]);
        let share = |who: &str| both.causes.iter().find(|c| c.series_or_job == who).map_or(0.0, |c| c.share);
        assert!((share("2") - 0.25).abs() < 1e-9 && (share("3") - 0.75).abs() < 1e-9, "{both:?}");
    }

    #[test]
    fn what_was_not_judged_lost_what_the_worst_of_the_others_did() {
        let mut three_of_four = of_writing(0.3);
        three_of_four.metrics[0].used = 4;
        let known = std::mem::take(&mut three_of_four.metrics[0].cells);
        let unjudged = |cell: &Cell| Cell { lost_s: 0.5, unjudged_us: 1_000_000, ..*cell };
        three_of_four.metrics[0].cells = known.iter().map(|(at, cell)| (at, unjudged(cell))).collect();
        let found = combine(&Name::parse("1").unwrap(), &[&three_of_four]);
        assert!((found.slowdown_s - 1.25).abs() < 1e-9, "{found:?}");
        assert!((found.slowdown_hi_s - 2.0).abs() < 1e-9, "{found:?}");
    }
}
