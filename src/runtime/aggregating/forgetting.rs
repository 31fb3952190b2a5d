//! The end of sources that report no more: from time to time all are numbered again, as their rows come.

use super::Aggregating;
use crate::runtime::clock::now;
use std::time::{Duration, Instant};

/// Time between two numberings.
const NUMBERED_AFTER: Duration = Duration::from_secs(86_400);
/// The same while there are so many sources that the rows of further ones would be dropped.
const FULL_NUMBERED_AFTER: Duration = Duration::from_secs(600);

/// When sources were numbered last.
#[derive(Debug)]
pub(super) struct Numbered(Instant);

impl Numbered {
    /// At the start.
    pub(super) fn new() -> Numbered {
        Numbered(Instant::now())
    }
}

impl Aggregating<'_> {
    /// Forgets sources where that is due, between two rows.
    pub(super) fn forget_sources(&mut self) {
        let is_full = self.decoder.is_full();
        let after = if is_full { FULL_NUMBERED_AFTER } else { NUMBERED_AFTER };
        if self.numbered.0.elapsed() < after {
            return;
        }
        let sources = self.decoder.sources().as_slice().len();
        if is_full {
            tracing::warn!(sources, "limit of sources reached: those that report no more are forgotten");
        }
        self.decoder.forget_sources(now().plus_seconds(-NUMBERED_AFTER.as_secs_f64()));
        self.out.forget_sources();
        self.numbered = Numbered::new();
    }
}
