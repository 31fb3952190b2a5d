//! Outages in the log: a line when connections break, one a minute while they stay broken, one when they work again.
//!
//! All clients of a process share an outage: a broker that stops makes each of them report errors several times a second.

use configuration::kafka::TokenError;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use std::collections::VecDeque;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time between two lines of what lasts.
const LINE_EVERY: Duration = Duration::from_secs(60);
/// Texts that are remembered to be logged once a minute.
const TEXTS_MAX: usize = 64;

/// Connections to the brokers. One broker of several may be away while others answer: its clients try again within a second.
pub static KAFKA: Outage = Outage::new("Kafka", Duration::from_secs(5));
/// Requests to the token endpoint of Kafka's brokers.
pub static TOKENS: Outage = Outage::new("token endpoint", Duration::ZERO);
/// Connections to the database.
pub static DATABASE: Outage = Outage::new("PostgreSQL", Duration::ZERO);

/// Connections to one peer.
#[derive(Debug)]
pub struct Outage {
    peer: &'static str,
    /// Time without a failure after which a success ends the outage.
    quiet: Duration,
    is_open: AtomicBool,
    open: Mutex<Option<Open>>,
    /// Reason of the latest failure.
    why: Mutex<String>,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    since: Instant,
    logged: Instant,
    failed: Instant,
    failures: u64,
}

/// A line to be written, with the seconds since the first failure and the number of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    Begins,
    Lasts(u64, u64),
    Ends(u64, u64),
}

impl Outage {
    const fn new(peer: &'static str, quiet: Duration) -> Outage {
        Outage {
            peer,
            quiet,
            is_open: AtomicBool::new(false),
            open: Mutex::new(None),
            why: Mutex::new(String::new()),
        }
    }

    /// Whether it lasts.
    pub fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Relaxed)
    }

    /// Notes a failure.
    pub fn failed(&self, why: &str) {
        why.clone_into(&mut self.why.lock().unwrap_or_else(PoisonError::into_inner));
        match self.on_failure(Instant::now()) {
            Some(Line::Begins) => tracing::warn!(error = why, "{}: connection failed; retrying", self.peer),
            Some(Line::Lasts(for_s, failures)) => self.log_lasting(for_s, failures, why),
            _ => tracing::debug!(error = why, "{}: connection failed again", self.peer),
        }
    }

    /// Notes that the peer answered.
    pub fn works(&self) {
        if self.is_open()
            && let Some(Line::Ends(for_s, failures)) = self.on_success(Instant::now())
        {
            tracing::info!(for_s, failures, "{}: connection works again", self.peer);
        }
    }

    /// Writes the line of a minute, also where nothing failed in it and nothing answered.
    pub fn look(&self) {
        if self.is_open()
            && let Some(Line::Lasts(for_s, failures)) = self.on_look(Instant::now())
        {
            self.log_lasting(for_s, failures, &self.why.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    fn log_lasting(&self, for_s: u64, failures: u64, why: &str) {
        tracing::warn!(for_s, failures, error = why, "{}: connection still fails; retrying", self.peer);
    }

    fn on_failure(&self, now: Instant) -> Option<Line> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(lasting) = open.as_mut() else {
            *open = Some(Open { since: now, logged: now, failed: now, failures: 1 });
            self.is_open.store(true, Ordering::Relaxed);
            return Some(Line::Begins);
        };
        lasting.failed = now;
        lasting.failures += 1;
        lasting.line(now)
    }

    fn on_success(&self, now: Instant) -> Option<Line> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let over = open.take_if(|open| now.duration_since(open.failed) >= self.quiet)?;
        self.is_open.store(false, Ordering::Relaxed);
        Some(Line::Ends(over.failed.duration_since(over.since).as_secs(), over.failures))
    }

    fn on_look(&self, now: Instant) -> Option<Line> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).as_mut()?.line(now)
    }
}

impl Open {
    fn line(&mut self, now: Instant) -> Option<Line> {
        let is_due = now.duration_since(self.logged) >= LINE_EVERY;
        is_due.then(|| {
            self.logged = now;
            Line::Lasts(now.duration_since(self.since).as_secs(), self.failures)
        })
    }
}

/// Texts of the last minute.
#[derive(Debug)]
struct Repeats(Mutex<VecDeque<(u64, Instant)>>);

static REPEATS: Repeats = Repeats(Mutex::new(VecDeque::new()));

impl Repeats {
    /// Whether the text is not one of the last minute.
    fn is_due(&self, text: &str, now: Instant) -> bool {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(text);
        let mut texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        texts.retain(|(_, at)| now.duration_since(*at) < LINE_EVERY);
        let is_due = texts.iter().all(|(known, _)| *known != hash);
        if is_due {
            texts.truncate(TEXTS_MAX - 1);
            texts.push_front((hash, now));
        }
        is_due
    }
}

/// Notes what became of a request for a token.
pub fn token_requested(outcome: Result<(), &TokenError>) {
    match outcome {
        Ok(()) => TOKENS.works(),
        Err(error) => TOKENS.failed(&error.to_string()),
    }
}

/// Logs an error that a client of Kafka reports: as an outage if a connection failed, else once a minute.
pub fn kafka_failed(error: &KafkaError, why: &str) {
    if TOKENS.is_open() && error.rdkafka_error_code() == Some(RDKafkaErrorCode::Authentication) {
        // Each client reports that its token could not be renewed: the outage has the reason.
    } else if is_connection(error) {
        KAFKA.failed(why);
    } else if REPEATS.is_due(why, Instant::now()) {
        match error.rdkafka_error_code() {
            // Topics of other programs appear when those first write.
            Some(RDKafkaErrorCode::UnknownTopicOrPartition | RDKafkaErrorCode::UnknownTopic) => {
                tracing::info!(%error, "Kafka: {why}");
            }
            _ => tracing::warn!(%error, "Kafka: {why}"),
        }
    }
}

/// Whether an error comes from the way to the brokers, or from a cluster that is not ready.
fn is_connection(error: &KafkaError) -> bool {
    use RDKafkaErrorCode as Code;
    let code = error.rdkafka_error_code();
    code.is_some_and(|code| {
        matches!(
            code,
            Code::AllBrokersDown
                | Code::Authentication
                | Code::BrokerTransportFailure
                | Code::BrokerNotAvailable
                | Code::Resolve
                | Code::NetworkException
                | Code::OperationTimedOut
                | Code::RequestTimedOut
                | Code::MessageTimedOut
                | Code::TimedOutQueue
                | Code::WaitingForCoordinator
                | Code::LeaderNotAvailable
                | Code::NotLeaderForPartition
                | Code::CoordinatorNotAvailable
                | Code::CoordinatorLoadInProgress
                | Code::NotCoordinator
                | Code::NotEnoughReplicas
                | Code::NotEnoughReplicasAfterAppend
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(outage: &Outage, events: &[(u64, char)]) -> Vec<(u64, Line)> {
        let begun = Instant::now();
        let line = |(second, event): &(u64, char)| {
            let now = begun + Duration::from_secs(*second);
            let line = match event {
                '-' => outage.on_failure(now),
                '+' => outage.on_success(now),
                _ => outage.on_look(now),
            };
            line.map(|line| (*second, line))
        };
        events.iter().filter_map(line).collect()
    }

    #[test]
    fn an_outage_has_a_first_line_one_a_minute_and_a_last_one() {
        let outage = Outage::new("test", Duration::from_secs(5));
        let mut events: Vec<(u64, char)> = (0..150).map(|second| (second, '-')).collect();
        events.extend((150..160).map(|second| (second, '+')));
        let want = [
            (0, Line::Begins),
            (60, Line::Lasts(60, 61)),
            (120, Line::Lasts(120, 121)),
            (154, Line::Ends(149, 150)),
        ];
        assert_eq!(lines(&outage, &events), want);
        assert_eq!(lines(&outage, &[(0, '+'), (70, '?'), (80, '-')]), [(80, Line::Begins)]);
    }

    #[test]
    fn one_broker_that_stays_away_beside_others_is_one_outage() {
        let outage = Outage::new("test", Duration::from_secs(5));
        let events: Vec<(u64, char)> = (0..59).flat_map(|second| [(second, '-'), (second, '+')]).collect();
        assert_eq!(lines(&outage, &events), [(0, Line::Begins)]);
    }

    #[test]
    fn silence_after_a_failure_is_logged_once_a_minute() {
        let outage = Outage::new("test", Duration::ZERO);
        let events: Vec<(u64, char)> =
            std::iter::once((0, '-')).chain((1..130).map(|second| (second, '?'))).collect();
        let want = [(0, Line::Begins), (60, Line::Lasts(60, 1)), (120, Line::Lasts(120, 1))];
        assert_eq!(lines(&outage, &events), want);
    }

    #[test]
    fn a_text_is_logged_once_a_minute() {
        let (repeats, begun) = (Repeats(Mutex::new(VecDeque::new())), Instant::now());
        let due = |text: &str, second: u64| repeats.is_due(text, begun + Duration::from_secs(second));
        let seen = [due("a", 0), due("a", 1), due("b", 2), due("a", 59), due("a", 60), due("a", 61)];
        assert_eq!(seen, [true, false, true, false, true, false]);
        assert!((0..200).all(|number| due(&number.to_string(), 62)));
        assert_eq!(repeats.0.lock().unwrap().len(), TEXTS_MAX);
    }
}
