//! A detector with sources, fed row by row, and what of its results must be the same.

use detector::detector::Detector;
use detector::model::ModelKind;
use detector::settings::Settings;
use schemas::{
    CounterBatch, Episode, Metric, Name, ResultBatch, SeriesIndex, Signal, Source, SourceIndex, Sources, Time,
};

/// One GB, what the writers of these tests write each second.
pub const GB: u64 = 1_000_000_000;

/// A detector with sources, fed row by row.
pub struct Stream {
    pub sources: Sources,
    pub detector: Detector,
}

/// A row to feed: source, second, counters.
pub type Row = (SourceIndex, f64, Vec<u64>);

impl Stream {
    pub fn new() -> Stream {
        Stream { sources: Sources::default(), detector: Detector::new(Settings::of(ModelKind::Robust)) }
    }

    pub fn source(
        &mut self,
        metric: Metric,
        producer: &str,
        component: &str,
        parts: &[&str],
        rank: u8,
    ) -> SourceIndex {
        let name = |text: &str| Name::parse(text).unwrap();
        let parts = parts.iter().map(|p| name(p)).collect();
        let (producer, component) = (name(producer), name(component));
        let schema = name("test");
        self.sources.intern(Source {
            schema,
            producer,
            metrics: vec![metric],
            component,
            set: None,
            parts,
            rank,
            by_job: false,
        })
    }

    pub fn writer(&mut self, node: &str) -> SourceIndex {
        self.source(Metric::from_name("lustre_write_rate").unwrap(), node, node, &["snx11168"], 0)
    }

    pub fn feed(&mut self, rows: &[Row]) {
        for (source, second, counters) in rows {
            let mut batch = CounterBatch::default();
            batch.push(*source, Time::from_seconds(1_000_000_000.0 + second), counters);
            self.detector.rows(&self.sources, &batch);
        }
    }

    pub fn end(mut self) -> ResultBatch {
        self.detector.finish();
        self.detector.take()
    }
}

pub fn second(signal: &Signal) -> f64 {
    signal.time.seconds() - 1_000_000_000.0
}

/// Rows of a steady writer: one GB a second from second 0 to `seconds`.
pub fn steady(source: SourceIndex, seconds: u64) -> Vec<Row> {
    (0..=seconds).map(|t| (source, t as f64, vec![t * GB])).collect()
}

/// Deterministic shuffle: every row is delayed by up to `most_s` seconds of arrival.
pub fn delayed(rows: &[Row], most_s: f64, seed: u64) -> Vec<Row> {
    let mut state = seed;
    let mut keyed: Vec<(f64, Row)> = rows
        .iter()
        .map(|row| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let delay = (state >> 33) as f64 / (1u64 << 31) as f64 * most_s;
            (row.1 + delay, row.clone())
        })
        .collect();
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
    keyed.into_iter().map(|(_, row)| row).collect()
}

pub fn sorted(mut batch: ResultBatch) -> ResultBatch {
    batch.signals.sort_by_key(|s| (s.series, s.time));
    batch
}

/// The same but for the numbers of the series, which follow first sight. NaN equals itself here.
pub fn same(a: &ResultBatch, b: &ResultBatch) {
    let lines = |batch: &ResultBatch| {
        let name = |at: SeriesIndex| batch.series.iter().find(|s| s.0 == at).unwrap().1.name();
        let mut lines: Vec<String> =
            batch
                .signals
                .iter()
                .map(|s| format!("{} {:?}", name(s.series), Signal { series: SeriesIndex(0), ..*s }))
                .chain(batch.episodes.iter().map(|e| {
                    format!("{} {:?}", name(e.series), Episode { series: SeriesIndex(0), ..e.clone() })
                }))
                .collect();
        lines.sort();
        lines
    };
    let (a, b) = (lines(a), lines(b));
    assert_eq!(a.len(), b.len());
    let differs = a.iter().zip(&b).find(|(a, b)| a != b);
    assert!(differs.is_none(), "{differs:?}");
}
