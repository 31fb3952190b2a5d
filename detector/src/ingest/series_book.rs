//! Numbers of series. That of a forgotten series is given to a new one of the same metric, whose state takes its place.

use schemas::{Metric, Name, SeriesIndex, SeriesInfo, SeriesTable, growth};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// All series by number. A number that is free has the name of the series that had it last.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct SeriesBook {
    table: SeriesTable,
    /// Numbers to give again, by metric; the last is given first.
    free: BTreeMap<Metric, Vec<SeriesIndex>>,
    /// Series that were given a number so far.
    given: u64,
    /// Numbers that were given again since the last call of [`SeriesBook::take_renamed`].
    #[serde(skip)]
    renamed: Vec<SeriesIndex>,
}

impl SeriesBook {
    /// By number.
    pub(super) fn table(&self) -> &SeriesTable {
        &self.table
    }

    /// Series that have a number now.
    pub(super) fn used(&self) -> usize {
        self.table.len() - self.free.values().map(Vec::len).sum::<usize>()
    }

    /// Series that were given a number so far: it changes with every new series.
    pub(super) fn given(&self) -> u64 {
        self.given
    }

    /// The number of a new series.
    pub(super) fn give(&mut self, metric: Metric, component: Name, part: Option<Name>) -> SeriesIndex {
        self.given += 1;
        let info = SeriesInfo { metric, component, part };
        if let Some(series) = self.free.get_mut(&metric).and_then(Vec::pop) {
            self.table[series.at()] = info;
            self.renamed.push(series);
            return series;
        }
        growth::push(&mut self.table, info);
        SeriesIndex(self.table.len() as u32 - 1)
    }

    /// These may be given again.
    pub(super) fn free(&mut self, gone: &[SeriesIndex]) {
        for series in gone {
            self.free.entry(self.table[series.at()].metric).or_default().push(*series);
        }
    }

    /// Numbers that were given again since the last call.
    pub(super) fn take_renamed(&mut self) -> Vec<SeriesIndex> {
        std::mem::take(&mut self.renamed)
    }
}
