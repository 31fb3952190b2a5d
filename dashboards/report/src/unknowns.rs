//! What a report does not know, in sentences. An empty list never means that nothing happened.

use crate::PostMortem;
use crate::numbers::{counted, percent};

/// Unexplained shares below this are rounding.
const SHARE_MIN: f64 = 0.005;

/// One sentence for each thing that is not known.
pub(crate) fn sentences(facts: &PostMortem) -> Vec<String> {
    let (running, incomplete, unjudged) = (running(facts), incomplete(facts), unjudged(facts));
    let all =
        [running, incomplete, unjudged, without_readings(facts), fell_silent(facts), unexplained(facts)];
    all.into_iter().flatten().collect()
}

fn running(facts: &PostMortem) -> Option<String> {
    let sentence = "No end of the job is known: it still runs, or its end never arrived.";
    facts.job.end.is_none().then(|| sentence.to_string())
}

fn incomplete(facts: &PostMortem) -> Option<String> {
    let result = facts.seen().filter(|r| r.completeness < 1.0)?;
    let missing = percent(1.0 - result.completeness);
    Some(format!(
        "{missing} of the expected readings are missing; what was lost during them is in the upper end of the interval alone."
    ))
}

fn unjudged(facts: &PostMortem) -> Option<String> {
    let result = facts.seen()?;
    let words = result.not_judged(facts.run_s())?;
    Some(format!("The job was {words}; the upper end of the interval holds what it may have lost then."))
}

fn without_readings(facts: &PostMortem) -> Option<String> {
    let series = facts.series;
    if series.total == 0 {
        return Some("Nothing is known about which links and file systems the job used.".to_string());
    }
    let n = series.without_readings as usize;
    let of = counted(series.total as usize, "resource", "resources");
    (n > 0).then(|| format!("{n} of its {of} sent no reading since it began."))
}

fn fell_silent(facts: &PostMortem) -> Option<String> {
    let n = facts.series.fell_silent as usize;
    let of = counted(facts.series.total as usize, "resource", "resources");
    (n > 0).then(|| format!("{n} of its {of} fell silent before its end."))
}

fn unexplained(facts: &PostMortem) -> Option<String> {
    let lost = facts.seen()?.slowdown_s > 0.0;
    let share = facts.unexplained_share();
    let sentence = || format!("The cause of {} of the loss is unknown.", percent(share));
    (lost && share > SHARE_MIN).then(sentence)
}
