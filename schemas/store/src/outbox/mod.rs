//! Notices on their way: in the transaction of the results into a table, from there to receivers, at least once.
//!
//! A notice waits, is leased by a process that tries to deliver it, and is delivered, waits for the next try, or is dead
//! after too many. A process that lost its lease cannot change the notice. Of one incident and one receiver only the
//! earliest waiting notice is leased, so that their order is kept. A batch puts its notices itself: `postgres/notices.rs`,
//! `sqlite/notices.rs`.
//!
//! | file | what it holds |
//! |---|---|
//! | `outbox_store.rs` | the connection to either database; the statements are `sql/*.sql`, the same for both |
//! | `delivery.rs` | leases and outcomes |
//! | `look.rs` | what people and schedulers ask |
//! | `marks.rs` | what was set in Slurm and has to be taken back |

mod delivery;
mod look;
mod marks;
mod outbox_store;
#[cfg(test)]
mod tests;

pub use delivery::{Around, Leased, PutBack};
pub use look::{Count, Delivery, StageCommit, Undelivered};
pub use marks::Mark;
pub use outbox_store::{OutboxError, OutboxStore};
