//! Decoded rows: dense source numbers and columns of counters.
//!
//! A *source* is one set as one producer reports it. The decoder numbers sources when it first sees them;
//! from then on a row is a number, a time and counters, and no code compares strings.

use crate::job_words::JOB_WORDS;
use crate::{Metric, Name, Time, growth};
use serde::{Deserialize, Serialize, Serializer};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// Dense number of a [`Source`], from 0, in order of first sight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SourceIndex(pub u32);

impl SourceIndex {
    /// As an index into a column.
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

/// One set of one producer: what its rows report, and about which component.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Source {
    /// LDMS schema with its digest cut off: `aries_rtr`, `lustre_client`, `ibmad`.
    pub schema: Name,
    /// The node whose ldmsd reports: the `producer` column, or the node of its `component_id`.
    pub producer: Name,
    /// What is measured of each part, at least one: a row has the counters of all parts metric after metric.
    pub metrics: Vec<Metric>,
    /// The component: router (cname without `a0`), host, or client node.
    pub component: Name,
    /// Which set of several that report one part with counters of their own: the llite directory of a mount.
    pub set: Option<Name>,
    /// Its parts that this set reports (tiles, ports, mounts), in the order of the counters.
    pub parts: Vec<Name>,
    /// Preference among redundant sources of one part: the lowest reports, the others stand by.
    /// 0 for full-width counters, higher for schemas that saturate or round.
    pub rank: u8,
    /// Whether its rows are of a server, each about one job, whose name ends the row: see [`crate::job_words`].
    pub by_job: bool,
}

/// Stands in a row for a counter that its sampler does not measure, or could not read.
pub const NOT_MEASURED: u64 = u64::MAX;
/// Counters of its link's life that a row may hold for each part behind all others, in this order: how often the link
/// went down, and how often it recovered from errors. InfiniBand alone has them; both may be reset.
pub const LINK_COLUMNS: usize = 2;

impl Source {
    /// Counters in one row of this source with the words of its job, those of links left out.
    pub fn counters(&self) -> usize {
        let of_job = if self.by_job { JOB_WORDS } else { 0 };
        self.parts.len() * self.metrics.iter().map(|metric| metric.columns()).sum::<usize>() + of_job
    }

    /// Series that its rows report: of each metric all parts, in the order of the counters.
    pub fn series(&self) -> impl Iterator<Item = (Metric, &Name)> {
        self.metrics.iter().flat_map(|metric| self.parts.iter().map(move |part| (*metric, part)))
    }

    /// Where the counters of a series stand in a row, by its number in [`Source::series`].
    pub fn columns_of(&self, series: usize) -> Range<usize> {
        let (parts, mut begin, mut rest) = (self.parts.len(), 0, series);
        for metric in &self.metrics {
            let columns = metric.columns();
            if rest < parts {
                return begin + rest * columns..begin + (rest + 1) * columns;
            }
            (begin, rest) = (begin + parts * columns, rest - parts);
        }
        begin..begin
    }

    /// Whether its rows report one metric of this kind at least.
    pub fn reports(&self, is_of_kind: impl Fn(Metric) -> bool) -> bool {
        self.metrics.iter().any(|metric| is_of_kind(*metric))
    }

    /// Counters in a row with link failures: [`LINK_COLUMNS`] more for each part.
    pub fn counters_with_links(&self) -> usize {
        self.counters() + self.parts.len() * LINK_COLUMNS
    }

    /// The part that its rows are about, where that is one alone.
    pub fn only_part(&self) -> Option<&Name> {
        match self.parts.as_slice() {
            [part] => Some(part),
            _ => None,
        }
    }

    /// Whether both are known by the same producer, schema, component and part, whatever their sets.
    pub fn is_same_source(&self, other: &Source) -> bool {
        self.producer == other.producer
            && self.schema == other.schema
            && self.component == other.component
            && self.only_part() == other.only_part()
    }
}

/// All sources seen, by number and by description.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "Vec<Source>")]
pub struct Sources {
    sources: Vec<Arc<Source>>,
    index: HashMap<Arc<Source>, SourceIndex>,
    /// Their names, each once: sources of one component have most in common.
    names: HashSet<Name>,
}

impl Sources {
    /// The number of `source`, given to it now if it is new.
    pub fn intern(&mut self, source: Source) -> SourceIndex {
        if let Some(found) = self.index.get(&source) {
            return *found;
        }
        let number = SourceIndex(self.sources.len() as u32);
        let source = Arc::new(self.with_known_names(source));
        growth::push(&mut self.sources, Arc::clone(&source));
        self.index.insert(source, number);
        number
    }

    fn with_known_names(&mut self, mut source: Source) -> Source {
        let Source { schema, producer, component, set, parts, .. } = &mut source;
        for name in [schema, producer, component].into_iter().chain(set).chain(parts) {
            match self.names.get(name) {
                Some(known) => *name = known.clone(),
                None => _ = self.names.insert(name.clone()),
            }
        }
        source.parts.shrink_to_fit();
        source.metrics.shrink_to_fit();
        source
    }

    /// The description of a source; `None` for a number that was never given.
    pub fn get(&self, source: SourceIndex) -> Option<&Source> {
        self.shared(source).map(Arc::as_ref)
    }

    /// The same, for who keeps it.
    pub fn shared(&self, source: SourceIndex) -> Option<&Arc<Source>> {
        self.sources.get(source.at())
    }

    /// Keeps those of which `stays` is true, and returns the new number of each.
    pub fn retain(
        &mut self,
        mut stays: impl FnMut(SourceIndex, &Source) -> bool,
    ) -> Vec<Option<SourceIndex>> {
        let before = std::mem::take(self).sources.into_iter().enumerate();
        let number = |(at, source): (usize, Arc<Source>)| {
            stays(SourceIndex(at as u32), &source).then(|| self.intern(Arc::unwrap_or_clone(source)))
        };
        before.map(number).collect()
    }

    /// All of them, in the order of their numbers.
    pub fn as_slice(&self) -> &[Arc<Source>] {
        &self.sources
    }
}

impl From<Vec<Source>> for Sources {
    fn from(list: Vec<Source>) -> Sources {
        let mut sources = Sources::default();
        for source in list {
            sources.intern(source);
        }
        sources
    }
}

impl Serialize for Sources {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.sources.iter().map(Arc::as_ref))
    }
}

/// Rows in columns: row `i` is `sources[i]`, `times[i]` and the counters
/// `counters[starts[i]..starts[i + 1]]`, [`Source::counters`] or [`Source::counters_with_links`] of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CounterBatch {
    sources: Vec<SourceIndex>,
    times: Vec<Time>,
    ends: Vec<u32>,
    counters: Vec<u64>,
}

impl CounterBatch {
    /// Rows in the batch.
    pub fn len(&self) -> usize {
        self.sources.len()
    }

    /// Whether it holds no row.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Empties it and keeps its memory.
    pub fn clear(&mut self) {
        self.sources.clear();
        self.times.clear();
        self.ends.clear();
        self.counters.clear();
    }

    /// Adds a row.
    pub fn push(&mut self, source: SourceIndex, time: Time, counters: &[u64]) {
        self.counters.extend_from_slice(counters);
        self.seal(source, time);
    }

    /// Room for a row's counters, to be filled in place and then sealed with [`CounterBatch::seal`]
    /// or given up with [`CounterBatch::abandon`].
    pub fn open(&mut self, counters: usize) -> &mut [u64] {
        let start = self.sealed();
        // What was opened before and not sealed leaves nothing.
        self.counters.truncate(start);
        self.counters.resize(start + counters, 0);
        &mut self.counters[start..]
    }

    /// Counters that were opened and not sealed yet.
    pub fn opened(&self) -> &[u64] {
        &self.counters[self.sealed()..]
    }

    /// The same, to be changed.
    pub fn opened_mut(&mut self) -> &mut [u64] {
        let start = self.sealed();
        &mut self.counters[start..]
    }

    /// Ends the row whose counters were filled in last.
    pub fn seal(&mut self, source: SourceIndex, time: Time) {
        self.sources.push(source);
        self.times.push(time);
        self.ends.push(self.counters.len() as u32);
    }

    /// Forgets counters that were opened and not sealed.
    pub fn abandon(&mut self) {
        let start = self.sealed();
        self.counters.truncate(start);
    }

    /// The rows in order: source, time, counters.
    pub fn rows(&self) -> impl Iterator<Item = (SourceIndex, Time, &[u64])> {
        (0..self.len()).map(|i| {
            let start = if i == 0 { 0 } else { self.ends[i - 1] as usize };
            (self.sources[i], self.times[i], &self.counters[start..self.ends[i] as usize])
        })
    }

    fn sealed(&self) -> usize {
        self.ends.last().map_or(0, |end| *end as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_abandoned_row_leaves_no_trace() {
        let mut batch = CounterBatch::default();
        batch.push(SourceIndex(0), Time(1), &[1, 2]);
        batch.open(3)[0] = 9;
        batch.abandon();
        batch.open(1)[0] = 7;
        batch.seal(SourceIndex(1), Time(2));
        let rows: Vec<_> = batch.rows().collect();
        assert_eq!(rows, [(SourceIndex(0), Time(1), &[1, 2][..]), (SourceIndex(1), Time(2), &[7][..])]);
    }
}
