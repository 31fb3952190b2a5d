//! Where rows go.

use super::event::Event;
use super::tick_rows::TickRows;
use std::time::Duration;

/// Takes the rows of a tick without ever holding up the next one: what it cannot take it drops and counts.
pub trait Sink {
    /// Takes the rows of one tick.
    fn take(&mut self, rows: &TickRows);
    /// Moves what happened since the last call to `events`.
    fn drain_events(&mut self, events: &mut Vec<Event>);
    /// Rows that were dropped so far.
    fn dropped(&self) -> u64;
    /// Whether the sink can never take rows again: the reader of a pipe has closed it.
    fn is_over(&self) -> bool;
    /// Writes queued rows for at most `timeout`; rows that remain are counted as dropped.
    fn finish(&mut self, timeout: Duration);
}
