//! The four files of a replay: a fixed contract, which docs/lab.md describes.

use super::caused::{JobLine, caused};
use crate::files::{create, write};
use schemas::jsonl::{EpisodeLine, SignalLine, dropped_json};
use schemas::{DropCounts, Episode, EpisodeId, JobResult, Metric, Name, ResultBatch};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Files being written: signals as they come, the rest at the end, when it is final.
pub(super) struct Files {
    folder: PathBuf,
    signals: BufWriter<File>,
    /// Names and metrics of the series.
    series: Vec<(String, Metric)>,
    episodes: BTreeMap<EpisodeId, Episode>,
    jobs: BTreeMap<Name, JobResult>,
    drops: DropCounts,
}

impl Files {
    /// Opens the first file in an existing folder.
    ///
    /// # Errors
    /// A sentence naming the path.
    pub fn create(folder: &Path) -> anyhow::Result<Files> {
        Ok(Files {
            folder: folder.to_path_buf(),
            signals: create(&folder.join("signals.jsonl"))?,
            series: Vec::new(),
            episodes: BTreeMap::new(),
            jobs: BTreeMap::new(),
            drops: DropCounts::default(),
        })
    }

    /// Writes the signals of a batch and keeps the latest of everything else.
    ///
    /// # Errors
    /// The disk's.
    pub fn write(&mut self, batch: &ResultBatch) -> anyhow::Result<()> {
        self.series.extend(batch.series.iter().map(|(_, info)| (info.name(), info.metric)));
        for signal in &batch.signals {
            line(&mut self.signals, &SignalLine::new(signal, &self.series[signal.series.at()].0))?;
        }
        self.episodes.extend(batch.episodes.iter().map(|e| (e.id, e.clone())));
        self.jobs.extend(batch.job_results.iter().map(|j| (j.job_id.clone(), j.clone())));
        self.drops = batch.drops.clone();
        Ok(())
    }

    /// Writes what is final now. Episodes are in the order of their start.
    ///
    /// # Errors
    /// The disk's.
    pub fn finish(mut self) -> anyhow::Result<Summary> {
        self.signals.flush()?;
        let mut file = create(&self.folder.join("episodes.jsonl"))?;
        let mut episodes: Vec<&Episode> = self.episodes.values().collect();
        episodes.sort_by_key(|e| (e.start, e.id));
        for episode in &episodes {
            let (name, metric) = &self.series[episode.series.at()];
            line(&mut file, &EpisodeLine::new(episode, name, *metric))?;
        }
        file.flush()?;
        let mut file = create(&self.folder.join("jobs.jsonl"))?;
        let caused = caused(self.jobs.values());
        for result in self.jobs.values() {
            let caused = caused.get(result.job_id.as_str()).map_or(&[][..], Vec::as_slice);
            line(&mut file, &JobLine { result, caused })?;
        }
        file.flush()?;
        write(&self.folder.join("dropped.json"), &dropped_json(&self.drops))?;
        Ok(Summary {
            series: self.series.len(),
            episodes: episodes.len(),
            jobs: self.jobs.len(),
            drops: self.drops,
        })
    }
}

/// What a replay found, for a person.
pub(super) struct Summary {
    /// Series seen.
    pub series: usize,
    /// Episodes written.
    pub episodes: usize,
    /// Jobs written.
    pub jobs: usize,
    /// Rows and intervals that were not used.
    pub drops: DropCounts,
}

fn line(file: &mut BufWriter<File>, content: &impl Serialize) -> anyhow::Result<()> {
    serde_json::to_writer(&mut *file, content)?;
    Ok(file.write_all(b"\n")?)
}
