//! Clients and routers of one machine, fed row by row to a detector.

use detector::detector::Detector;
use detector::model::ModelKind;
use detector::settings::Settings;
use schemas::{CounterBatch, Episode, Metric, Name, ResultBatch, Source, SourceIndex, Sources, Time};

pub const GB: f64 = 1e9;

pub struct Machine {
    pub sources: Sources,
    pub detector: Detector,
}

pub fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

pub fn at(second: f64) -> Time {
    Time::from_seconds(1e9 + second)
}

impl Machine {
    pub fn new() -> Machine {
        Machine { sources: Sources::default(), detector: Detector::new(Settings::of(ModelKind::Robust)) }
    }

    pub fn source(&mut self, metric: Metric, producer: &str, component: &str, parts: &[&str]) -> SourceIndex {
        let parts = parts.iter().map(|p| name(p)).collect();
        let (schema, producer, component) = (name("test"), name(producer), name(component));
        self.sources.intern(Source {
            schema,
            producer,
            metrics: vec![metric],
            component,
            set: None,
            parts,
            rank: 0,
            by_job: false,
        })
    }

    pub fn row(&mut self, source: SourceIndex, time: Time, counters: &[u64]) {
        let mut batch = CounterBatch::default();
        batch.push(source, time, counters);
        self.detector.rows(&self.sources, &batch);
    }

    /// Clients that write `rates[client](second)` GB/s.
    pub fn write(&mut self, seconds: u32, rates: &[&dyn Fn(u32) -> f64]) {
        let clients: Vec<SourceIndex> = (0..rates.len())
            .map(|n| {
                self.source(
                    Metric::from_name("lustre_write_rate").unwrap(),
                    &format!("nid{n}"),
                    &format!("nid{n}"),
                    &["snx"],
                )
            })
            .collect();
        let mut written = vec![0.0; rates.len()];
        for second in 0..seconds {
            for (client, source) in clients.iter().enumerate() {
                self.row(*source, at(f64::from(second) + 0.002), &[written[client] as u64]);
                written[client] += rates[client](second) * GB;
            }
        }
    }

    pub fn end(mut self) -> ResultBatch {
        self.detector.finish();
        self.detector.take()
    }
}

pub fn of<'a>(batch: &'a ResultBatch, component: &str) -> Vec<&'a Episode> {
    let series: Vec<_> =
        batch.series.iter().filter(|(_, info)| info.component.as_str() == component).map(|s| s.0).collect();
    batch.episodes.iter().filter(|e| series.contains(&e.series)).collect()
}
