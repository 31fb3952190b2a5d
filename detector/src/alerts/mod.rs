//! Notices on their way to receivers.

pub mod outbox;
