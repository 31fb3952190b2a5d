//! Results of a partition, to commit.

use schemas::{Counts, Metric, Name, ResultBatch, SeriesIndex, SeriesInfo, Signal, State, Time};
use store::storage_policy::{StoragePolicy, StoredRows, Thinner};

/// Results of a partition.
pub struct Fixture {
    /// Its series.
    pub table: Vec<SeriesInfo>,
    /// Results of the partition.
    pub results: ResultBatch,
    /// Rows to store.
    pub stored: StoredRows,
}

impl Fixture {
    /// `ticks` seconds of `series` series, each a row; the first is clear, all others contended.
    pub fn new(series: u32, ticks: i64) -> Fixture {
        let info = |i: u32| SeriesInfo {
            metric: Metric::from_name("aries_stall_ratio").unwrap(),
            component: Name::parse(&format!("c0-0c0s{i}")).unwrap(),
            part: Some(Name::parse("r0c0").unwrap()),
        };
        let signal = |i: u32, tick: i64| Signal {
            time: Time(1_700_000_000_000_000 + tick * 1_000_000 + i64::from(i)),
            series: SeriesIndex(i),
            value: f64::from(i),
            mean: f64::NAN,
            baseline: 1.0,
            bound: 2.0,
            state: if i == 0 { State::Clear } else { State::Contended },
            slowdown_s: 0.0,
            counts: Counts { passed_per_s: 1e6 + tick as f32, waited_per_s: i as f32 * 1e6 },
        };
        let signals = (0..ticks).flat_map(|tick| (0..series).map(move |i| signal(i, tick))).collect();
        let mut fixture = Fixture {
            table: (0..series).map(info).collect(),
            results: ResultBatch { signals, ..ResultBatch::default() },
            stored: StoredRows::default(),
        };
        Thinner::new(StoragePolicy::All).pass(&fixture.results.signals, &mut fixture.stored);
        fixture
    }

    /// Keeps the changes alone, with all buckets.
    pub fn thin(&mut self) {
        self.stored.clear();
        let mut thinner = Thinner::new(StoragePolicy::Changes);
        thinner.pass(&self.results.signals, &mut self.stored);
        thinner.close(Time(i64::MAX), &mut self.stored);
    }
}
