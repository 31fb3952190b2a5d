//! Outages in the log: a line when something breaks, one a minute while it stays broken, one when it works again.
//!
//! All that share a peer share an outage: a server that stops makes each of its clients report errors several times a second.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time between two lines of what lasts.
pub const LINE_EVERY: Duration = Duration::from_secs(60);

/// Connections to the database server.
pub static DATABASE: Outage = Outage::new("PostgreSQL: connection").quiet_for(Duration::from_secs(2));

/// Something that fails, again and again, until it works.
#[derive(Debug)]
pub struct Outage {
    what: &'static str,
    /// What the program or the reader does about it.
    remedy: &'static str,
    /// What its last line states.
    over: &'static str,
    /// Whether a person must act.
    is_error: bool,
    receiver: Option<String>,
    /// Time without a failure after which a success ends the outage.
    quiet: Duration,
    is_open: AtomicBool,
    open: Mutex<Option<Open>>,
}

#[derive(Clone, Debug)]
struct Open {
    since: Instant,
    logged: Instant,
    failed: Instant,
    failures: u64,
    /// Whether something worked after the latest failure.
    worked: bool,
    /// Reason of the latest failure.
    why: String,
}

/// A line to be written, with the seconds since the first failure, the number of failures and the latest reason.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Line {
    Begins,
    Lasts(u64, u64, String),
    Ends(u64, u64),
}

impl Outage {
    /// `what` failed, still fails, works again: the begin of each line.
    pub const fn new(what: &'static str) -> Outage {
        Outage {
            what,
            remedy: "retrying",
            over: "works again",
            is_error: false,
            receiver: None,
            quiet: Duration::ZERO,
            is_open: AtomicBool::new(false),
            open: Mutex::new(None),
        }
    }

    /// A success ends it after so long without a failure only: where some calls fail and others work.
    #[must_use]
    pub const fn quiet_for(mut self, quiet: Duration) -> Outage {
        self.quiet = quiet;
        self
    }

    /// Its lines are errors, which name what a person has to do; the last one states what is over.
    #[must_use]
    pub const fn as_error(mut self, remedy: &'static str, over: &'static str) -> Outage {
        (self.is_error, self.remedy, self.over) = (true, remedy, over);
        self
    }

    /// That of one receiver of notices, which its lines name.
    #[must_use]
    pub fn of_receiver(mut self, name: &str) -> Outage {
        self.receiver = Some(name.to_string());
        self
    }

    /// Whether it lasts.
    pub fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Relaxed)
    }

    /// Notes a failure.
    pub fn failed(&self, why: &str) {
        let receiver = self.receiver.as_deref();
        match self.on_failure(why, Instant::now()) {
            Some(Line::Begins) => self.log("failed", None, why),
            Some(Line::Lasts(for_s, failures, _)) => self.log("still fails", Some((for_s, failures)), why),
            _ => tracing::debug!(receiver, error = why, "{} failed again", self.what),
        }
    }

    /// Notes a success.
    pub fn works(&self) {
        if self.is_open() {
            self.note(self.on_success(Instant::now()));
        }
    }

    /// Writes the line of a minute, also where nothing failed in it, or that of the end.
    pub fn look(&self) {
        if self.is_open() {
            self.note(self.on_look(Instant::now()));
        }
    }

    /// Writes the line of the end, where something worked after the last failure.
    pub fn settle(&self) {
        let worked = |open: &Option<Open>| open.as_ref().is_some_and(|open| open.worked);
        if self.is_open() && worked(&self.open.lock().unwrap_or_else(PoisonError::into_inner)) {
            self.works();
        }
    }

    fn note(&self, line: Option<Line>) {
        match line {
            Some(Line::Ends(for_s, failures)) => {
                let receiver = self.receiver.as_deref();
                tracing::info!(receiver, for_s, failures, "{} {}", self.what, self.over);
            }
            Some(Line::Lasts(for_s, failures, why)) => self.log("still fails", Some((for_s, failures)), &why),
            Some(Line::Begins) | None => {}
        }
    }

    fn log(&self, how: &str, lasted: Option<(u64, u64)>, error: &str) {
        let (receiver, for_s, failures) =
            (self.receiver.as_deref(), lasted.map(|(for_s, _)| for_s), lasted.map(|(_, count)| count));
        let (what, remedy) = (self.what, self.remedy);
        match self.is_error {
            true => tracing::error!(receiver, for_s, failures, error, "{what} {how}; {remedy}"),
            false => tracing::warn!(receiver, for_s, failures, error, "{what} {how}; {remedy}"),
        }
    }

    fn on_failure(&self, why: &str, now: Instant) -> Option<Line> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(lasting) = open.as_mut() else {
            let why = why.to_string();
            *open = Some(Open { since: now, logged: now, failed: now, failures: 1, worked: false, why });
            self.is_open.store(true, Ordering::Relaxed);
            return Some(Line::Begins);
        };
        (lasting.failed, lasting.worked) = (now, false);
        lasting.failures += 1;
        why.clone_into(&mut lasting.why);
        lasting.line(now)
    }

    fn on_success(&self, now: Instant) -> Option<Line> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.as_mut()?.worked = true;
        let over = open.take_if(|open| now.duration_since(open.failed) >= self.quiet)?;
        self.is_open.store(false, Ordering::Relaxed);
        Some(Line::Ends(over.failed.duration_since(over.since).as_secs(), over.failures))
    }

    fn on_look(&self, now: Instant) -> Option<Line> {
        let worked = self.open.lock().unwrap_or_else(PoisonError::into_inner).as_ref()?.worked;
        if worked {
            return self.on_success(now);
        }
        self.open.lock().unwrap_or_else(PoisonError::into_inner).as_mut()?.line(now)
    }
}

impl Open {
    fn line(&mut self, now: Instant) -> Option<Line> {
        let is_due = now.duration_since(self.logged) >= LINE_EVERY;
        is_due.then(|| {
            self.logged = now;
            Line::Lasts(now.duration_since(self.since).as_secs(), self.failures, self.why.clone())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lasts(for_s: u64, failures: u64) -> Line {
        Line::Lasts(for_s, failures, "away".to_string())
    }

    fn lines(outage: &Outage, events: &[(u64, char)]) -> Vec<(u64, Line)> {
        let begun = Instant::now();
        let line = |(second, event): &(u64, char)| {
            let now = begun + Duration::from_secs(*second);
            let line = match event {
                '-' => outage.on_failure("away", now),
                '+' => outage.on_success(now),
                _ => outage.on_look(now),
            };
            line.map(|line| (*second, line))
        };
        events.iter().filter_map(line).collect()
    }

    #[test]
    fn an_outage_has_a_first_line_one_a_minute_and_a_last_one() {
        let outage = Outage::new("test").quiet_for(Duration::from_secs(5));
        let mut events: Vec<(u64, char)> = (0..150).map(|second| (second, '-')).collect();
        events.extend((150..160).map(|second| (second, '+')));
        let want =
            [(0, Line::Begins), (60, lasts(60, 61)), (120, lasts(120, 121)), (154, Line::Ends(149, 150))];
        assert_eq!(lines(&outage, &events), want);
        assert_eq!(lines(&outage, &[(0, '+'), (70, '?'), (80, '-')]), [(80, Line::Begins)]);
    }

    #[test]
    fn one_broker_that_stays_away_beside_others_is_one_outage() {
        let outage = Outage::new("test").quiet_for(Duration::from_secs(5));
        let events: Vec<(u64, char)> = (0..59).flat_map(|second| [(second, '-'), (second, '+')]).collect();
        assert_eq!(lines(&outage, &events), [(0, Line::Begins)]);
    }

    #[test]
    fn silence_after_a_failure_is_logged_once_a_minute() {
        let outage = Outage::new("test");
        let events: Vec<(u64, char)> =
            std::iter::once((0, '-')).chain((1..130).map(|second| (second, '?'))).collect();
        let want = [(0, Line::Begins), (60, lasts(60, 1)), (120, lasts(120, 1))];
        assert_eq!(lines(&outage, &events), want);
    }

    #[test]
    fn silence_after_a_success_ends_the_outage() {
        let outage = Outage::new("test").quiet_for(Duration::from_secs(60));
        let mut events = vec![(0, '-'), (3, '+')];
        events.extend((4..130).map(|second| (second, '?')));
        assert_eq!(lines(&outage, &events), [(0, Line::Begins), (60, Line::Ends(0, 1))]);
    }
}
