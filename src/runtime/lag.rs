//! How far a stage is behind, and the line about catching up.

use super::background_query::{BackgroundQuery, QueryResult};
use super::kafka;
use super::outage;
use super::stage_metrics::StageMetrics;
use rdkafka::Offset;
use rdkafka::consumer::{BaseConsumer, ConsumerContext};
use schemas::HealthLimits;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time between two looks.
const LOOK: Duration = Duration::from_secs(5);
/// Time for which brokers may take to answer.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(1);

/// Topic, partition, next offset.
type Position = (String, i32, i64);

/// Looks now and then.
#[derive(Debug)]
pub struct Lag {
    looked: Instant,
    newest_s: Option<f64>,
    /// Messages behind, if the brokers know the offsets of all partitions.
    query: BackgroundQuery<Option<i64>>,
    logged: Option<Seen>,
    /// Messages behind above which the line is written.
    backlog: i64,
}

/// A result.
#[derive(Clone, Copy, Debug)]
struct Seen {
    at: Instant,
    newest_s: Option<f64>,
    behind: i64,
}

impl Lag {
    /// Nothing seen yet.
    pub fn new(limits: &HealthLimits) -> Lag {
        let (query, backlog) = (BackgroundQuery::new("lag"), i64::from(limits.backlog_messages));
        Lag { looked: Instant::now(), newest_s: None, query, logged: None, backlog }
    }

    /// Queries how many messages there are behind `positions`, if it is time, and reports the previous result: a gauge, and
    /// a log line while the stage catches up. `newest_s` is the time of the newest row that it has taken.
    pub fn look<C: ConsumerContext + 'static>(
        &mut self,
        stage: &str,
        consumer: &Arc<BaseConsumer<C>>,
        positions: impl Iterator<Item = Position>,
        newest_s: Option<f64>,
        metrics: &StageMetrics,
    ) {
        if let Some(QueryResult { started: at, value: Some(behind), .. }) = self.query.result() {
            outage::KAFKA.works();
            metrics.lag(behind);
            self.log(stage, Seen { at, newest_s: self.newest_s, behind });
        }
        if self.query.is_running() || self.looked.elapsed() < LOOK {
            return;
        }
        (self.looked, self.newest_s) = (Instant::now(), newest_s);
        let (consumer, positions) = (Arc::clone(consumer), positions.collect::<Vec<Position>>());
        if positions.is_empty() {
            // Other members hold all partitions: there is nothing to query.
            metrics.lag(0);
            return;
        }
        self.query.start(move |is_cancelled| behind(&consumer, &positions, is_cancelled));
    }

    fn log(&mut self, stage: &str, seen: Seen) {
        let Some(before) = self.logged.replace(seen).filter(|_| seen.behind > self.backlog) else { return };
        let passed_s = (seen.at - before.at).as_secs_f64();
        let per_s = ((before.behind - seen.behind) as f64 / passed_s).max(0.0);
        let left =
            if per_s > 0.0 { format!("{:.0} s", seen.behind as f64 / per_s) } else { "unknown".into() };
        let moved_s = seen.newest_s.zip(before.newest_s).map_or(0.0, |(now, then)| now - then);
        let (behind, times_real) = (seen.behind, moved_s / passed_s);
        tracing::info!(
            stage,
            behind,
            left,
            "catching up: {behind} messages behind, {times_real:.1} times as fast as the samplers, {left} left"
        );
    }
}

fn behind<C: ConsumerContext>(
    consumer: &BaseConsumer<C>,
    positions: &[Position],
    is_cancelled: &AtomicBool,
) -> Option<i64> {
    let partitions = || positions.iter().map(|(topic, partition, _)| (topic.as_str(), *partition));
    let highs = kafka::offsets(consumer, partitions(), Offset::End, REQUEST_TIMEOUT).ok()?;
    if is_cancelled.load(Ordering::Relaxed) {
        return None;
    }
    let lows = kafka::offsets(consumer, partitions(), Offset::Beginning, REQUEST_TIMEOUT).ok()?;
    let of_one = |((position, low), high): ((&Position, Option<i64>), Option<i64>)| {
        Some((high? - position.2.max(low?)).max(0))
    };
    positions.iter().zip(lows).zip(highs).map(of_one).sum()
}
