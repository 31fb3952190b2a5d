//! Life of a link: up, degraded, down, recovering, flapping; and of two ends that several paths connect (Vishnu 2007;
//! GUIDE section 4).
//!
//! Failures are read from port state and from counters of errors and of downed links. Throughput is no evidence: a
//! link that carries something is up, one that carries nothing may be idle. A counter that fell was reset; that is
//! neither a failure nor a recovery.
//!
//! ```text
//! unknown ──► up ◄──► degraded          errors in several ticks of a row; none for a while
//!    └──────► down ◄── any              port down, or its counter rose
//!             down ──► recovering ──► up   up again; for a while
//!             down ──► flapping ──► up     down too often; up for a long while
//! ```

use schemas::SeriesIndex;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Ticks that a link must be up after a failure to have recovered.
const RECOVERED_TICKS: i64 = 5;
/// Failures within [`FLAPPING_TICKS`] that make a link flap.
const FLAPPING_DOWNS: usize = 3;
/// Ticks within which failures count together; a flapping link that is up for so long has recovered.
const FLAPPING_TICKS: i64 = 60;
/// Ticks with errors, one after the other, that make a link degraded.
const DEGRADED_TICKS: i64 = 3;
/// Ticks without errors after which it is no more.
const CLEAN_TICKS: i64 = 10;
/// Ticks between two events that belong to one incident.
const INCIDENT_TICKS: i64 = 2;

/// What is read of a port in one tick; `None` where it is not measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortReading {
    /// Whether the port is up now.
    pub port_up: Option<bool>,
    /// How often the link went down so far, cumulative.
    pub link_downed: Option<u64>,
    /// Symbol errors, discards and the like so far, cumulative.
    pub errors: Option<u64>,
    /// Whether it carried anything since the last reading.
    pub carries: bool,
}

/// How a link is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkState {
    /// No report yet that it works.
    #[default]
    Unknown,
    /// It works.
    Up,
    /// It works with errors.
    Degraded,
    /// It does not work.
    Down,
    /// It works again, not yet for long.
    Recovering,
    /// It fails again and again.
    Flapping,
}

/// What can become of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LifeEvent {
    /// It went down, be it for less than a tick.
    Down,
    /// It has been up for a while after a failure, or for a long while after flapping.
    Recovered,
    /// It works with errors.
    Degraded,
    /// The errors are over.
    Cleared,
    /// It failed so often that single failures are no longer reported.
    Flapping,
}

impl LifeEvent {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            LifeEvent::Down => "down",
            LifeEvent::Recovered => "recovered",
            LifeEvent::Degraded => "degraded",
            LifeEvent::Cleared => "cleared",
            LifeEvent::Flapping => "flapping",
        }
    }
}

/// Something that became of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkEvent {
    /// Which link.
    pub series: SeriesIndex,
    /// When.
    pub tick: i64,
    /// What.
    pub event: LifeEvent,
}

/// The life of one link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkLife {
    state: LinkState,
    /// Whether it works now, as far as is reported; of a flapping link too.
    works: bool,
    link_downed: Option<u64>,
    errors: Option<u64>,
    /// Since when it works without a break, and since when errors come in each tick.
    works_since: i64,
    errors_since: Option<i64>,
    clean_since: i64,
    /// Ticks of the latest failures.
    downs: VecDeque<i64>,
}

impl LinkLife {
    /// How it is.
    pub fn state(&self) -> LinkState {
        self.state
    }

    /// How it is as a path of its own between two ends.
    pub fn as_path(&self) -> PathState {
        match self.state {
            LinkState::Unknown => PathState::Unknown,
            LinkState::Up => PathState::Good,
            _ if self.works => PathState::Usable,
            _ => PathState::Failed,
        }
    }

    /// Takes what the counters were before the next reading, where they are measured: what they did while another
    /// one was read is unknown.
    pub fn count_from(&mut self, link_downed: Option<u64>, errors: Option<u64>) {
        self.link_downed = link_downed.or(self.link_downed);
        self.errors = errors.or(self.errors);
    }

    /// Whether it works and nothing that happened to it up to `tick` matters any more.
    pub fn is_over(&self, tick: i64) -> bool {
        let is_old = |last: &i64| tick - last >= FLAPPING_TICKS;
        self.state == LinkState::Up && self.errors_since.is_none() && self.downs.back().is_none_or(is_old)
    }

    /// Takes the reading of `tick`; what became of the link, if anything.
    pub fn read(&mut self, reading: &PortReading, tick: i64) -> Option<LifeEvent> {
        let failed = rose(&mut self.link_downed, reading.link_downed);
        let erred = rose(&mut self.errors, reading.errors);
        self.note_errors(erred, tick);
        // The port and its counter may report one failure in two ticks.
        let fails = !self.is_down() && (failed || reading.port_up == Some(false));
        let works = reading.port_up.unwrap_or(reading.carries || self.works && !failed);
        if works && (!self.works || failed) {
            self.works_since = tick;
        }
        self.works = works;
        if fails { self.fail(tick) } else { self.advance(tick) }
    }

    fn is_down(&self) -> bool {
        self.state == LinkState::Down || self.state == LinkState::Flapping && !self.works
    }

    fn note_errors(&mut self, erred: bool, tick: i64) {
        if erred {
            self.errors_since.get_or_insert(tick);
            self.clean_since = tick + 1;
        } else {
            self.errors_since = None;
        }
    }

    fn fail(&mut self, tick: i64) -> Option<LifeEvent> {
        self.downs.push_back(tick);
        while self.downs.front().is_some_and(|first| tick - first >= FLAPPING_TICKS) {
            self.downs.pop_front();
        }
        if self.state == LinkState::Flapping {
            return None;
        }
        let flaps = self.downs.len() >= FLAPPING_DOWNS;
        let (state, event) = if flaps {
            (LinkState::Flapping, LifeEvent::Flapping)
        } else {
            (LinkState::Down, LifeEvent::Down)
        };
        self.state = state;
        Some(event)
    }

    fn advance(&mut self, tick: i64) -> Option<LifeEvent> {
        let worked_ticks = if self.works { tick - self.works_since } else { -1 };
        let errs = self.errors_since.is_some_and(|since| tick - since + 1 >= DEGRADED_TICKS);
        let (state, event) = match self.state {
            LinkState::Unknown if self.works => (LinkState::Up, None),
            LinkState::Up if errs => (LinkState::Degraded, Some(LifeEvent::Degraded)),
            LinkState::Degraded if tick - self.clean_since >= CLEAN_TICKS => {
                (LinkState::Up, Some(LifeEvent::Cleared))
            }
            LinkState::Down if self.works => (LinkState::Recovering, None),
            LinkState::Recovering if worked_ticks >= RECOVERED_TICKS => {
                (LinkState::Up, Some(LifeEvent::Recovered))
            }
            LinkState::Flapping if worked_ticks >= FLAPPING_TICKS => {
                (LinkState::Up, Some(LifeEvent::Recovered))
            }
            state => (state, None),
        };
        self.state = state;
        event
    }
}

/// Takes a cumulative counter; whether it rose. One that fell was reset: counting restarts.
fn rose(known: &mut Option<u64>, now: Option<u64>) -> bool {
    let Some(now) = now else { return false };
    known.replace(now).is_some_and(|before| now > before)
}

/// How two ends are connected by all their paths together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PairState {
    /// All paths work.
    Up,
    /// Some path works, not all as they should.
    Degraded,
    /// No path is left.
    Partitioned,
    /// No path is known to work, nor all to fail.
    Unknown,
}

/// One of several paths between two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathState {
    /// It works as it should.
    Good,
    /// It works, with errors or not yet for long.
    Usable,
    /// It does not work.
    Failed,
    /// No report that it works.
    Unknown,
}

impl PairState {
    /// Of all paths; without any there is none that works.
    pub fn of(paths: impl IntoIterator<Item = PathState>) -> PairState {
        let (mut all, mut good, mut usable, mut unknown) = (0, 0, 0, 0);
        for path in paths {
            all += 1;
            good += usize::from(path == PathState::Good);
            usable += usize::from(matches!(path, PathState::Good | PathState::Usable));
            unknown += usize::from(path == PathState::Unknown);
        }
        match (usable, unknown) {
            (0, 0) => PairState::Partitioned,
            (0, _) => PairState::Unknown,
            _ if good == all => PairState::Up,
            _ => PairState::Degraded,
        }
    }

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            PairState::Up => "up",
            PairState::Degraded => "degraded",
            PairState::Partitioned => "partitioned",
            PairState::Unknown => "unknown",
        }
    }
}

/// Links to which something happened together: one event to report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incident {
    /// First and last tick.
    pub ticks: (i64, i64),
    /// Its events, by time.
    pub events: Vec<LinkEvent>,
}

/// Events of one sort that follow each other closely are one incident, however many links they are about.
pub fn incidents(events: &[LinkEvent]) -> Vec<Incident> {
    let mut events = events.to_vec();
    events.sort_by_key(|event| (event.tick, event.series));
    let mut found: Vec<Incident> = Vec::new();
    for event in events {
        let joins = |incident: &&mut Incident| {
            incident.events[0].event == event.event && event.tick - incident.ticks.1 <= INCIDENT_TICKS
        };
        match found.iter_mut().rev().find(joins) {
            Some(incident) => {
                incident.ticks.1 = event.tick;
                incident.events.push(event);
            }
            None => found.push(Incident { ticks: (event.tick, event.tick), events: vec![event] }),
        }
    }
    found
}

#[cfg(test)]
mod tests;
