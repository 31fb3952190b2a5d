//! The decoder and the detector, as a stage has them: some rows at a time, and the results once a second.

use crate::text::Lines;
use aggregator::{Decoded, Decoder};
use detector::detector::Detector;
use detector::model::ModelKind;
use detector::settings::Settings;
use std::hint::black_box;

/// Rows that the detector gets at a time, at least.
const ROWS_AT_ONCE: usize = 256;
/// Seconds between two reports of a source's latest row, as the stage has it.
const SEEN_S: usize = 10;

pub struct Pipeline {
    schema: &'static str,
    decoder: Decoder,
    out: Decoded,
    detector: Detector,
    signals: usize,
}

impl Pipeline {
    pub fn new(schema: &'static str) -> Pipeline {
        Pipeline {
            schema,
            decoder: Decoder::default(),
            out: Decoded::default(),
            detector: Detector::new(Settings::of(ModelKind::Robust)),
            signals: 0,
        }
    }

    /// From lines to counters.
    pub fn decode(&mut self, lines: &Lines) {
        for line in lines.iter() {
            self.decoder.json_line(Some(self.schema), line, &mut self.out);
            if self.out.len() >= ROWS_AT_ONCE {
                black_box(&self.out);
                self.out.clear();
            }
        }
    }

    /// From the lines of a second to signals and episodes.
    pub fn judge(&mut self, lines: &Lines) {
        for line in lines.iter() {
            self.decoder.json_line(Some(self.schema), line, &mut self.out);
            if self.out.len() >= ROWS_AT_ONCE {
                self.detect();
            }
        }
        self.detect();
        if let Some(newest) = self.detector.newest() {
            self.detector.look_for_silence(newest);
        }
        let sources = self.decoder.sources().as_slice().len();
        let results = self.detector.take_apart(sources.div_ceil(SEEN_S));
        self.signals = results.signals.len();
        black_box(results);
    }

    fn detect(&mut self) {
        self.detector.rows(self.decoder.sources(), &self.out.counters);
        self.out.clear();
    }

    /// Stops where rows were dropped, or a series had no signal: the measurement would be of something else.
    pub fn check(&self) {
        assert_eq!((self.decoder.drops().total(), self.detector.drops().total()), (0, 0));
        assert_eq!(self.signals, self.detector.series().len());
    }
}
