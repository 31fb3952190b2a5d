//! The sampling loop: tick after tick, until a stop is requested.

use super::clock::{Clock, Wake};
use super::event::Event;
use super::sampler::Sampler;
use super::schedule::Schedule;
use super::sink::Sink;
use super::statistics::TickStatistics;
use super::tick_rows::TickRows;
use schemas::Time;

/// When to sample, when to rescan, when to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// When to sample.
    pub schedule: Schedule,
    /// Microseconds between two looks for devices and mounts.
    pub rescan_us: i64,
    /// Ends after so many ticks; `None` never ends.
    pub ticks: Option<u64>,
}

/// Samples by `plan` until the clock stops, the sink is over or all ticks are done. `note` gets every event
/// when it happens, and every tick its lateness and length in microseconds.
pub fn run(
    plan: Plan,
    sampler: &mut Sampler,
    clock: &mut dyn Clock,
    sink: &mut dyn Sink,
    note: &mut dyn FnMut(Note<'_>),
) -> u64 {
    let mut rows = TickRows::default();
    let mut events = Vec::new();
    sampler.rescan(&mut events);
    let mut last_scan = clock.now();
    let mut last_due: Option<Time> = None;
    let mut ticks = 0;
    loop {
        sink.drain_events(&mut events);
        events.drain(..).for_each(|event| note(Note::Event(&event)));
        if sink.is_over() || plan.ticks.is_some_and(|most| ticks >= most) {
            return ticks;
        }
        let Some(due) = wait(plan.schedule, clock, &mut events) else { return ticks };
        // Where the clock was set back there is nothing to have missed.
        let missed = last_due.map_or(0, |last| plan.schedule.between(last, due));
        if missed > 0 {
            events.push(Event::Missed(missed));
        }
        last_due = Some(due);
        let begun = clock.now();
        sampler.sample(clock, &mut rows, &mut events);
        let ended = clock.now();
        sink.take(&rows);
        note(Note::Tick { late_us: begun - due, took_us: ended - begun });
        ticks += 1;
        // After the sample, so that the next one is not late for it.
        if (ended - last_scan).abs() >= plan.rescan_us {
            sampler.rescan(&mut events);
            last_scan = ended;
        }
    }
}

/// Samples once, now; whether there was anything to sample. `note` gets every event.
pub fn once(
    sampler: &mut Sampler,
    clock: &dyn Clock,
    sink: &mut dyn Sink,
    note: &mut dyn FnMut(&Event),
) -> bool {
    let (mut rows, mut events) = (TickRows::default(), Vec::new());
    sampler.rescan(&mut events);
    sampler.sample(clock, &mut rows, &mut events);
    events.iter().for_each(note);
    sink.take(&rows);
    !rows.is_empty()
}

/// What happens in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note<'a> {
    /// Something a person should know.
    Event(&'a Event),
    /// A tick is over.
    Tick {
        /// From its instant to its begin.
        late_us: i64,
        /// From its begin to its end.
        took_us: i64,
    },
}

impl TickStatistics {
    /// Adds a tick; ignores other notes.
    pub fn record(&mut self, note: Note<'_>) {
        if let Note::Tick { late_us, took_us } = note {
            self.note(late_us, took_us);
        }
    }
}

/// Waits for the next instant; `None` when a stop was requested. An instant that was slept through by a whole
/// interval is left for the next one: no burst.
fn wait(schedule: Schedule, clock: &mut dyn Clock, events: &mut Vec<Event>) -> Option<Time> {
    loop {
        let due = schedule.next_after(clock.now());
        match clock.wait_until(due) {
            Wake::Due if schedule.is_missed(due, clock.now()) => {}
            Wake::Due => return Some(due),
            Wake::SetBack => events.push(Event::ClockSetBack),
            Wake::Stopped => return None,
        }
    }
}
