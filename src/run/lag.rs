//! How far a stage is behind, and the line about catching up.

use super::figures::StageFigures;
use rdkafka::consumer::{BaseConsumer, Consumer};
use std::time::{Duration, Instant};

/// Time between two looks.
const LOOK: Duration = Duration::from_secs(5);
/// Messages behind from which the line is written.
const WORTH_TELLING: i64 = 20_000;
/// Time for which brokers may take to answer; meanwhile the stage waits.
const PATIENCE: Duration = Duration::from_millis(500);

/// Looks now and then.
#[derive(Debug)]
pub struct Lag {
    looked: Instant,
    behind: Option<i64>,
    event_s: Option<f64>,
}

impl Default for Lag {
    fn default() -> Lag {
        Lag { looked: Instant::now(), behind: None, event_s: None }
    }
}

impl Lag {
    /// Looks how many messages there are behind `positions` (topic, partition, next offset), if it is time, and writes
    /// a line while the stage catches up. `newest_s` is the time of the newest row that it has taken.
    pub fn look<C: rdkafka::consumer::ConsumerContext>(
        &mut self,
        stage: &str,
        consumer: &BaseConsumer<C>,
        positions: impl Iterator<Item = (String, i32, i64)>,
        newest_s: Option<f64>,
        figures: &StageFigures,
    ) {
        let passed_s = self.looked.elapsed().as_secs_f64();
        if self.looked.elapsed() < LOOK {
            return;
        }
        self.looked = Instant::now();
        let mut behind = 0;
        for (topic, partition, next) in positions {
            match consumer.fetch_watermarks(&topic, partition, PATIENCE) {
                Ok((low, high)) => behind += (high - next.max(low)).max(0),
                Err(_) => return,
            }
        }
        figures.lag(behind);
        let before = self.behind.replace(behind);
        let moved_s = newest_s.zip(self.event_s).map_or(0.0, |(now, then)| now - then);
        self.event_s = newest_s;
        if let Some(before) = before.filter(|_| behind > WORTH_TELLING) {
            let per_s = ((before - behind) as f64 / passed_s).max(0.0);
            let left = if per_s > 0.0 { format!("{:.0} s", behind as f64 / per_s) } else { "unknown".into() };
            let times_real = moved_s / passed_s;
            tracing::info!(
                stage,
                behind,
                left,
                "catching up: {behind} messages behind, {times_real:.1} times as fast as the samplers, {left} left"
            );
        }
    }
}
