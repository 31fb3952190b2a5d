//! What a loss is made of, and the contended regions of it: lines that text and HTML have in common.

use crate::PostMortem;
use crate::labels::{cause_word, kind, printable};
use crate::numbers::{counted, offset, percent};
use crate::pace::{Pace, paces};
use schemas::{Cause, Interval, JobProgress, MeasuredLoss, Time};
use store::read::regions::JobRegion;

/// Regions shown; JSON has all of them.
const REGIONS: usize = 12;

/// One line a factor; empty where nothing is known of them.
pub(crate) fn factors(facts: &PostMortem) -> Vec<String> {
    let measured = facts.result.iter().flat_map(|result| &result.progress).map(progress);
    let measured = measured.chain(paces(facts).iter().map(pace).collect::<Vec<_>>());
    let Some(f) = &facts.factors else {
        return measured.collect();
    };
    let mut lines: Vec<String> = measured.collect();
    lines.extend([
        format!("configuration  {}", printable(&f.configuration)),
        format!("itself         {}", f.self_s),
        format!("other jobs     {}", f.other_s),
    ]);
    lines.extend(
        f.placement.map(|p| format!("placement      {} times the run time at the best known one", plain(p))),
    );
    let runs = counted(f.beta_runs as usize, "run", "runs");
    let measures = facts.result.iter().flat_map(|result| &result.progress).any(|p| p.loss.cost().is_some());
    lines.push(match f.beta_version {
        _ if measures => format!("a contended second costs {} s, by its own progress", plain(f.beta)),
        0 => format!("assumes {} s lost per contended second (uncalibrated)", plain(f.beta)),
        _ => format!("a contended second costs {} s, learned from {runs}", plain(f.beta)),
    });
    if !f.caveat.is_empty() {
        lines.push(printable(&f.caveat));
    }
    lines
}

/// What the job's own reports of one kind of progress show.
fn progress(of: &JobProgress) -> String {
    let pace = of.per_s.map_or(String::new(), |per_s| format!("{per_s:.3} a second without contention; "));
    let loss = match of.loss {
        MeasuredLoss::Measured { lost_s, .. } => {
            format!("lost {lost_s} by its own count, {:.1} s by counters", of.counters_s)
        }
        MeasuredLoss::NeverContended => "not contended while it reported".to_string(),
        MeasuredLoss::NeverClear => "contended all the time, nothing to compare with".to_string(),
        MeasuredLoss::CountsFiles => "counts its use of files, whose loss the counters have".to_string(),
        MeasuredLoss::StopsForFiles => {
            "stops while the job uses files, whose loss the counters have".to_string()
        }
        MeasuredLoss::TooFew => "too few reports, or too short a contention, to compare".to_string(),
    };
    format!("progress       {}: {pace}{loss}", printable(of.name.as_str()))
}

fn pace(of: &Pace) -> String {
    let [slowest, fastest] = of.usual;
    let runs = counted(of.runs, "earlier run", "earlier runs");
    let verdict = if of.is_slow() { "slower, not by the network or file system" } else { "as usual" };
    format!(
        "pace           {}: {:.2} times the usual one, {runs} [{slowest:.2}, {fastest:.2}]: {verdict}",
        printable(&of.name),
        of.ratio
    )
}

fn plain(of: Interval) -> String {
    format!("{:.2} [{:.2}, {:.2}]", of.value, of.lo, of.hi)
}

/// One line a region, and how many are not shown.
pub(crate) fn regions(facts: &PostMortem) -> Vec<String> {
    let regions = merged(&facts.regions);
    let shown = regions.iter().take(REGIONS);
    let mut lines: Vec<String> = shown.map(|(region, made)| line(facts, region, *made)).collect();
    if regions.len() > REGIONS {
        let more = regions.len() - REGIONS;
        lines.push(format!("and {}; --json lists them all", counted(more, "region more", "regions more")));
    }
    lines
}

/// Each region once, with the share of its load that the job makes where it waits there too.
pub(crate) fn merged(regions: &[JobRegion]) -> Vec<(&JobRegion, Option<f64>)> {
    let made = |id| regions.iter().find(|other| !other.waits && other.id == id).map(|other| other.share);
    let waits_in = |id| regions.iter().any(|other| other.waits && other.id == id);
    let once = regions.iter().filter(|region| region.waits || !waits_in(region.id));
    once.map(|region| (region, region.waits.then(|| made(region.id)).flatten())).collect()
}

/// That the job makes a part of the load of a region in which it waits.
pub(crate) fn makes_too(share: Option<f64>) -> String {
    share.map_or_else(String::new, |share| format!("; makes {} of its load", percent(share)))
}

fn line(facts: &PostMortem, of: &JobRegion, made: Option<f64>) -> String {
    let from = offset(Time::from_seconds(of.from).seconds_since(facts.job.start));
    let lasting = format!("{:.0} s{}", of.until - of.from, if of.open { "+" } else { "" });
    let what = match of.lost() {
        Some(lost) => format!("lost {lost}; {}{}", largest_cause(of), makes_too(made)),
        None => format!("makes {} of its load", percent(of.share)),
    };
    format!("{from}  {lasting}  {}  {what} ({})", printable(&of.name), kind(of.kind))
}

/// The largest cause, with how sure it is; `suspected` where the loss may be 0.
pub(crate) fn largest_cause(of: &JobRegion) -> String {
    let may_be_0 = of.lost().is_some_and(|lost| lost.lo <= 0.0) && of.cause != Cause::Unknown;
    let suspected = if may_be_0 { "suspected: " } else { "" };
    format!("{suspected}{}, confidence {}", cause_word(of.cause, &of.source), percent(of.confidence))
}
