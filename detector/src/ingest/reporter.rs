//! A source of a component, and a part that sources report.

use super::order::{Order, Row};
use schemas::{Metric, Name, SeriesIndex, Source, Time};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::Arc;

/// A source of this component.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Reporter {
    #[serde(with = "shared")]
    pub(super) source: Arc<Source>,
    /// Part of the component per series of the source.
    pub(super) parts: Vec<u16>,
    pub(super) order: Order,
    /// A row whose clock jumped ahead, until another confirms it.
    pub(super) doubted: Option<Row>,
    /// Rows in a row whose clock jumped ahead, while no other source was where the component was.
    pub(super) doubts: u8,
    /// Rows whose clock stepped back, until enough of them confirm it; and rows in a row that came behind.
    pub(super) back: Vec<Row>,
    pub(super) back_run: u32,
    /// Rows from the last one that every part of this source has used.
    pub(super) rows: VecDeque<Row>,
    pub(super) accepted: u64,
    pub(super) reported: u64,
    /// Looks for unseen sources before its latest row.
    pub(super) look: u32,
}

/// A source that a number stands for elsewhere: read back, it is a copy until its next row, see [`Component::slot_of`].
///
/// [`Component::slot_of`]: super::component::Component::slot_of
mod shared {
    use super::{Arc, Source};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(source: &Source, serializer: S) -> Result<S::Ok, S::Error> {
        source.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<Source>, D::Error> {
        Source::deserialize(deserializer).map(Arc::new)
    }
}

/// What one metric measures of a tile, port or mount.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Part {
    pub(super) metric: Metric,
    pub(super) name: Name,
    pub(super) series: SeriesIndex,
    /// Whether the component as a whole is made of it and others: not so a processor tile, which is no link.
    pub(super) is_of_whole: bool,
    /// Slot of the source that makes its readings; the one that will, and from which row on.
    pub(super) owner: Option<u16>,
    pub(super) next: Option<(u16, Time)>,
    /// End of its last reading; before that its first row.
    pub(super) last: Option<Time>,
    /// Rows of the owner up to here were used, or refused.
    pub(super) used: Option<Time>,
    /// A row of the owner that waits: it comes so long after the last reading that a standby goes first.
    pub(super) deferred: Option<Time>,
    /// Searches for a standby since its last reading.
    pub(super) tried: u32,
    /// Whether its next reading cannot be compared with the ones before: the clock stepped back.
    pub(super) is_other: bool,
}

/// The part of the component that a source's rows are about, where that is one alone.
pub(super) fn only_part<'a>(source: &Source, of_source: &[u16], parts: &'a [Part]) -> Option<&'a Name> {
    source
        .only_part()
        .and(of_source.first())
        .and_then(|at| parts.get(usize::from(*at)))
        .map(|part| &part.name)
}

impl Reporter {
    /// The part that its rows are about, where that is one alone.
    pub(super) fn only_part<'a>(&self, parts: &'a [Part]) -> Option<&'a Name> {
        only_part(&self.source, &self.parts, parts)
    }

    /// Whether both are known by the same producer, schema, component and part, whatever their sets.
    pub(super) fn reports_as(&self, other: &Reporter) -> bool {
        self.source.is_same_source(&other.source)
    }

    /// Whether the clock of all its rows is believed.
    pub(super) fn has_no_doubts(&self) -> bool {
        self.doubted.is_none() && self.doubts == 0 && self.back.is_empty() && self.back_run == 0
    }

    /// Number of a part of the component among the series of this source.
    pub(super) fn index_of(&self, part: usize) -> Option<usize> {
        match self.parts.get(part) {
            Some(same) if *same as usize == part => Some(part),
            _ => self.parts.iter().position(|p| *p as usize == part),
        }
    }

    /// What decides among redundant sources: the lowest reports.
    pub(super) fn rank(&self) -> impl Ord + use<> {
        let source = &self.source;
        (source.rank, source.producer.clone(), source.schema.clone(), source.set.clone())
    }
}

impl Part {
    /// The source that makes its readings when all is settled.
    pub(super) fn heir(&self) -> Option<u16> {
        self.next.map(|(slot, _)| slot).or(self.owner)
    }

    /// Up to when the owner makes its readings.
    pub(super) fn owned_until(&self) -> Time {
        self.next.map_or(Time(i64::MAX), |(_, from)| from)
    }
}
