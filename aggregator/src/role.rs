//! What a column of a row is for.

use crate::number::{counter, gauge};
use schemas::DropReason;

/// What to do with the value of one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Skip,
    Time,
    /// Microseconds to add to a time that is given in milliseconds.
    TimeUsec,
    Producer,
    ComponentId,
    /// The job that the row's node works for.
    JobId,
    /// A name in the source's description: 0 is the component or the first column of the part, 1 the part's second one.
    Text(u8),
    /// Goes to this slot among the counters of the row.
    Counter(u32),
    /// The same, of a value that is no counter.
    Gauge(u32),
    /// A counter, but what is none is not measured: the row is good without it.
    LinkCounter(u32),
}

impl Role {
    /// The value of a counter or gauge that `bytes` write.
    ///
    /// # Errors
    /// Why they are none.
    pub(crate) fn value_in(self, bytes: &[u8]) -> Result<u64, DropReason> {
        if let Role::Gauge(_) = self { gauge(bytes) } else { counter(bytes) }
    }
}
