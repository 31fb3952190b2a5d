//! A metric tried on recorded rows: which series they have, and what is read of them.

use aggregator::{Decoded, Replay, unused};
use detector::model::ModelKind;
use detector::settings::Settings;
use schemas::{DropCounts, Metric, ResultBatch, Signal, State};
use stages::in_process::{InProcess, InProcessSettings};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What was found.
#[derive(Debug)]
pub struct Trial {
    /// The metric's series, by name.
    pub series: Vec<SeriesTrial>,
    /// Rows that were not used, by reason.
    pub drops: DropCounts,
    /// Why no row was used, if none was.
    pub seen: String,
}

/// What was read of one series.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesTrial {
    /// Its name.
    pub name: String,
    /// Readings, and those of them with activity: the others mean nothing.
    pub readings: u64,
    /// See `readings`.
    pub active: u64,
    /// The least and the most of the active ones, in the metric's unit.
    pub least: f64,
    /// See `least`.
    pub most: f64,
    sum: f64,
}

impl SeriesTrial {
    /// The mean of the active readings; 0 without any.
    pub fn mean(&self) -> f64 {
        if self.active > 0 { self.sum / self.active as f64 } else { 0.0 }
    }

    fn new(name: String) -> SeriesTrial {
        SeriesTrial { name, readings: 0, active: 0, least: f64::INFINITY, most: 0.0, sum: 0.0 }
    }

    fn take(&mut self, signal: &Signal) {
        self.readings += 1;
        if signal.state != State::Idle {
            self.active += 1;
            (self.least, self.most) = (self.least.min(signal.value), self.most.max(signal.value));
            self.sum += signal.value;
        }
    }
}

/// Reads `rows` with the catalogue in use, and keeps what is of `metric`.
///
/// # Errors
/// Rows that cannot be read.
pub fn run(metric: Metric, rows: &[PathBuf]) -> anyhow::Result<Trial> {
    let mut stages = InProcess::new(&InProcessSettings::of(Settings::of(ModelKind::Robust)));
    let mut rows = Replay::open(rows)?;
    let (mut decoded, mut found) = (Decoded::default(), BTreeMap::new());
    while rows.next_batch(&mut stages.decoder, &mut decoded)? {
        stages.feed(&decoded);
        let batch = stages.take();
        note(metric, &stages, &batch, &mut found);
    }
    let batch = stages.finish();
    note(metric, &stages, &batch, &mut found);
    let seen = unused::why_nothing(&stages.decoder, &batch.drops);
    Ok(Trial { series: found.into_values().collect(), drops: batch.drops, seen })
}

fn note(metric: Metric, stages: &InProcess, batch: &ResultBatch, found: &mut BTreeMap<String, SeriesTrial>) {
    let table = stages.detector().series();
    for signal in batch.signals.iter().filter(|signal| signal.state != State::Unknown) {
        let Some(info) = table.get(signal.series.at()).filter(|info| info.metric == metric) else { continue };
        let name = info.name();
        found.entry(name).or_insert_with_key(|name| SeriesTrial::new(name.clone())).take(signal);
    }
}
