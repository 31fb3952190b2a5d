//! `/api/v1/history`: contended links, contended clients and incidents of the latest hours, by steps. The page rewinds along it.

use crate::answer::{Answer, ApiError, Checked};
use crate::router::PageState;
use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use store::read::{self, Reader};

const HOURS_STANDARD: f64 = 24.0;
const HOURS_MAX: f64 = 168.0;
/// Steps of a range, about.
const STEPS: f64 = 288.0;
/// Lengths of a step, in seconds.
const STEP_LENGTHS: [f64; 8] = [10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1_200.0, 3_600.0];

/// Query parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistoryQuery {
    /// Length of the range before the newest signal.
    hours: Option<f64>,
}

/// The response. The range begins where signals are stored, at the earliest `hours` before the newest.
#[derive(Debug, Default, Serialize)]
pub struct History {
    clock: Option<f64>,
    counts: Counted,
    /// Length of a step, in seconds.
    step_s: f64,
    /// Start of each step.
    time: Vec<f64>,
    /// Most contended series of links at once in the step.
    links: Vec<i64>,
    /// Most contended clients of file systems at once, by the metric that has most.
    clients: Vec<i64>,
    /// Most incidents open at once.
    incidents: Vec<i64>,
}

/// What links and clients are counted by.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "snake_case")]
enum Counted {
    /// Episodes, from their dated start, which is earlier than the live judgement.
    #[default]
    Episodes,
    /// Signals, as they were judged live and as the map shows them.
    Signals,
}

/// A stretch of time and what it counts for.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    from: f64,
    until: f64,
    count: i64,
}

/// Steps of equal length.
#[derive(Clone, Copy, Debug)]
struct Steps {
    from: f64,
    step_s: f64,
    count: usize,
}

/// Answers `/api/v1/history`.
///
/// # Errors
/// 400 for bad parameters, 503 before there is a store.
pub async fn history(
    State(state): State<PageState>,
    Checked(query): Checked<HistoryQuery>,
) -> Answer<History> {
    let hours = query.hours.unwrap_or(HOURS_STANDARD);
    if !(0.1..=HOURS_MAX).contains(&hours) {
        return Err(ApiError::BadRequest(format!("hours is {hours}; it may be 0.1 to {HOURS_MAX}")));
    }
    state.reader.read(move |store| read_history(store, hours)).await.map(Json)
}

fn read_history(store: &Reader<'_>, hours: f64) -> Result<History, ApiError> {
    let clock = store.clock()?;
    let Some(now) = clock else { return Ok(History::default()) };
    let earliest = (now - 3600.0 * hours).max(0.0);
    let from: Option<f64> = store.one(read::history::FROM, &[&earliest], |row| row.get(0))?;
    let steps = Steps::between(from.unwrap_or(now).clamp(earliest, now), now);
    let mut by_metric: BTreeMap<(bool, String), Vec<Stretch>> = BTreeMap::new();
    store.rows(read::history::CONTENDED, &[&steps.from], |row| {
        let stretch = Stretch { from: row.get(0)?, until: row.get(1)?, count: row.get(4)? };
        by_metric.entry((row.get(3)?, row.get(2)?)).or_default().push(stretch);
        Ok::<_, ApiError>(())
    })?;
    let incidents = store.rows(read::history::INCIDENTS, &[&steps.from], |row| {
        Ok::<_, ApiError>(Stretch { from: row.get(0)?, until: row.get(1)?, count: 1 })
    })?;
    let mut history = History {
        clock,
        counts: match store {
            Reader::Sqlite(_) => Counted::Episodes,
            Reader::Postgres(_) => Counted::Signals,
        },
        step_s: steps.step_s,
        time: (0..steps.count).map(|step| steps.from + step as f64 * steps.step_s).collect(),
        links: vec![0; steps.count],
        clients: vec![0; steps.count],
        incidents: steps.most_at_once(&incidents),
    };
    for ((is_link, _), stretches) in &by_metric {
        let most = steps.most_at_once(stretches);
        // A client is measured by several metrics, a link by one.
        let (sums, add): (_, fn(i64, i64) -> i64) = match is_link {
            true => (&mut history.links, |a, b| a + b),
            false => (&mut history.clients, i64::max),
        };
        sums.iter_mut().zip(most).for_each(|(sum, most)| *sum = add(*sum, most));
    }
    Ok(history)
}

impl Steps {
    fn between(from: f64, until: f64) -> Steps {
        let wanted = (until - from) / STEPS;
        let step_s = STEP_LENGTHS.into_iter().find(|step| *step >= wanted).unwrap_or(STEP_LENGTHS[7]);
        let from = (from / step_s).floor() * step_s;
        Steps { from, step_s, count: ((until - from) / step_s).floor() as usize + 1 }
    }

    /// The largest sum of stretches that hold at one time, for each step. A stretch ends before its last moment.
    fn most_at_once(self, stretches: &[Stretch]) -> Vec<i64> {
        let ends = |s: &Stretch| [(s.from, s.count), (s.until, -s.count)];
        let mut changes: Vec<(f64, i64)> = stretches.iter().flat_map(ends).collect();
        // At one time what ends goes before what begins.
        changes.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut changes = changes.into_iter().peekable();
        let mut current = 0;
        let most = |step: usize| {
            let (from, until) =
                (self.from + step as f64 * self.step_s, self.from + (step + 1) as f64 * self.step_s);
            let mut most = None;
            while let Some((time, change)) = changes.next_if(|(time, _)| *time < until) {
                // What held at the start of the step counts, not what ended before.
                if time > from && most.is_none() {
                    most = Some(current);
                }
                current += change;
                most = most.map(|most: i64| most.max(current));
            }
            most.unwrap_or(current)
        };
        (0..self.count).map(most).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_stretches_count_in_their_step_and_long_ones_in_all() {
        let steps = Steps { from: 100.0, step_s: 10.0, count: 4 };
        let stretch = |from, until| Stretch { from, until, count: 1 };
        assert_eq!(steps.most_at_once(&[stretch(112.0, 113.0), stretch(113.0, 114.0)]), [0, 1, 0, 0]);
        assert_eq!(steps.most_at_once(&[stretch(50.0, 120.0), stretch(105.0, 9e15)]), [2, 2, 1, 1]);
        assert_eq!(steps.most_at_once(&[stretch(50.0, 100.0), stretch(90.0, 100.0)]), [0, 0, 0, 0]);
        assert_eq!(steps.most_at_once(&[Stretch { from: 100.0, until: 110.0, count: 7 }]), [7, 0, 0, 0]);
    }

    #[test]
    fn a_day_has_steps_of_five_minutes() {
        let day = Steps::between(1_000_100.0, 1_086_500.0);
        assert_eq!((day.step_s, day.from, day.count), (300.0, 999_900.0, 289));
        assert_eq!(Steps::between(1_000.0, 1_000.0).count, 1);
    }
}
