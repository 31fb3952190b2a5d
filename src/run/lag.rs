//! How far a stage is behind, and the line about catching up.
//!
//! The broker answers where a partition ends only when the fetch before has been answered, and it is asked for one
//! partition after the other: that takes seconds where there is much to fetch. A thread of its own waits for it.

use super::figures::StageFigures;
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Time between two looks.
const LOOK: Duration = Duration::from_secs(5);
/// Messages behind from which the line is written.
const WORTH_TELLING: i64 = 20_000;
/// Time for which brokers may take to answer about one partition.
const PATIENCE: Duration = Duration::from_millis(500);

/// Topic, partition, next offset.
type Position = (String, i32, i64);

/// Looks now and then.
#[derive(Debug)]
pub struct Lag {
    looked: Instant,
    asked: Option<Asked>,
    told: Option<Seen>,
}

/// A question on its way.
#[derive(Debug)]
struct Asked {
    at: Instant,
    newest_s: Option<f64>,
    /// Whether nobody wants to know any more.
    is_moot: Arc<AtomicBool>,
    /// Messages behind, if the brokers told of all partitions.
    answer: JoinHandle<Option<i64>>,
}

/// An answer.
#[derive(Clone, Copy, Debug)]
struct Seen {
    at: Instant,
    newest_s: Option<f64>,
    behind: i64,
}

impl Default for Lag {
    fn default() -> Lag {
        Lag { looked: Instant::now(), asked: None, told: None }
    }
}

impl Lag {
    /// Asks how many messages there are behind `positions`, if it is time, and tells what was answered to the question
    /// before: a figure, and a line while the stage catches up. `newest_s` is the time of the newest row that it has taken.
    pub fn look<C: ConsumerContext + 'static>(
        &mut self,
        stage: &str,
        consumer: &Arc<BaseConsumer<C>>,
        positions: impl Iterator<Item = Position>,
        newest_s: Option<f64>,
        figures: &StageFigures,
    ) {
        if let Some(Asked { at, newest_s, answer, .. }) =
            self.asked.take_if(|asked| asked.answer.is_finished())
            && let Ok(Some(behind)) = answer.join()
        {
            figures.lag(behind);
            self.tell(stage, Seen { at, newest_s, behind });
        }
        if self.asked.is_some() || self.looked.elapsed() < LOOK {
            return;
        }
        self.looked = Instant::now();
        let (consumer, positions) = (Arc::clone(consumer), positions.collect::<Vec<Position>>());
        let is_moot = Arc::new(AtomicBool::new(false));
        let ends_early = Arc::clone(&is_moot);
        let asking = thread::Builder::new().name("lag".to_string());
        let answer = asking.spawn(move || behind(&consumer, &positions, &ends_early));
        self.asked = answer.ok().map(|answer| Asked { at: self.looked, newest_s, is_moot, answer });
    }

    fn tell(&mut self, stage: &str, seen: Seen) {
        let Some(before) = self.told.replace(seen).filter(|_| seen.behind > WORTH_TELLING) else { return };
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

/// The consumer leaves its group when its last owner drops it: that must not be a thread that nobody waits for.
impl Drop for Lag {
    fn drop(&mut self) {
        if let Some(asked) = self.asked.take() {
            asked.is_moot.store(true, Ordering::Relaxed);
            drop(asked.answer.join());
        }
    }
}

fn behind<C: ConsumerContext>(
    consumer: &BaseConsumer<C>,
    positions: &[Position],
    is_moot: &AtomicBool,
) -> Option<i64> {
    let of_one = |(topic, partition, next): &Position| {
        if is_moot.load(Ordering::Relaxed) {
            return None;
        }
        let (low, high) = consumer.fetch_watermarks(topic, *partition, PATIENCE).ok()?;
        Some((high - (*next).max(low)).max(0))
    };
    positions.iter().map(of_one).sum()
}
