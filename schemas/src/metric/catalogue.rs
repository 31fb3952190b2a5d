//! The catalogue of metrics: the files of `schemas/metrics`, and those of a site. It is read once, before the first row; all
//! later questions are answered by numbers.

use super::ReadingPlan;
use super::check::check;
use super::file::{MetricFile, ReadingFile, SourceFile};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Most metrics of a catalogue.
const METRICS_MAX: usize = 64;
/// Longest file, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// Counters of the life of a link, in the order of [`crate::LINK_COLUMNS`].
pub const OPTIONAL: [&str; crate::LINK_COLUMNS] = ["link_downed", "link_error_recovery"];

/// Ours, by file name.
const BUILT_IN: [(&str, &str); 25] = [
    ("aries_nic_stall_ratio.toml", include_str!("../../metrics/aries_nic_stall_ratio.toml")),
    ("aries_stall_ratio.toml", include_str!("../../metrics/aries_stall_ratio.toml")),
    ("ib_becn_ratio.toml", include_str!("../../metrics/ib_becn_ratio.toml")),
    ("ib_congested_ratio.toml", include_str!("../../metrics/ib_congested_ratio.toml")),
    ("ib_fecn_ratio.toml", include_str!("../../metrics/ib_fecn_ratio.toml")),
    ("ib_wait_ratio.toml", include_str!("../../metrics/ib_wait_ratio.toml")),
    ("job_progress_rate.toml", include_str!("../../metrics/job_progress_rate.toml")),
    ("lustre_data_wait.toml", include_str!("../../metrics/lustre_data_wait.toml")),
    ("lustre_mdt_load.toml", include_str!("../../metrics/lustre_mdt_load.toml")),
    ("lustre_metadata_rate.toml", include_str!("../../metrics/lustre_metadata_rate.toml")),
    ("lustre_metadata_wait.toml", include_str!("../../metrics/lustre_metadata_wait.toml")),
    ("lustre_ost_load.toml", include_str!("../../metrics/lustre_ost_load.toml")),
    ("lustre_read_rate.toml", include_str!("../../metrics/lustre_read_rate.toml")),
    ("lustre_write_rate.toml", include_str!("../../metrics/lustre_write_rate.toml")),
    ("roce_cnp_ratio.toml", include_str!("../../metrics/roce_cnp_ratio.toml")),
    ("roce_ecn_ratio.toml", include_str!("../../metrics/roce_ecn_ratio.toml")),
    ("roce_retransmit_ratio.toml", include_str!("../../metrics/roce_retransmit_ratio.toml")),
    ("slingshot_blocked_percent.toml", include_str!("../../metrics/slingshot_blocked_percent.toml")),
    ("slingshot_congestion_rate.toml", include_str!("../../metrics/slingshot_congestion_rate.toml")),
    ("slingshot_flow_stall_ratio.toml", include_str!("../../metrics/slingshot_flow_stall_ratio.toml")),
    ("slingshot_nack_rate.toml", include_str!("../../metrics/slingshot_nack_rate.toml")),
    (
        "slingshot_port_rx_pause_percent.toml",
        include_str!("../../metrics/slingshot_port_rx_pause_percent.toml"),
    ),
    (
        "slingshot_port_tx_pause_percent.toml",
        include_str!("../../metrics/slingshot_port_tx_pause_percent.toml"),
    ),
    ("slingshot_rx_pause_ratio.toml", include_str!("../../metrics/slingshot_rx_pause_ratio.toml")),
    ("slingshot_tx_pause_ratio.toml", include_str!("../../metrics/slingshot_tx_pause_ratio.toml")),
];

static CATALOGUE: OnceLock<Catalogue> = OnceLock::new();

/// All metrics.
#[derive(Clone, Debug, PartialEq)]
pub struct Catalogue {
    pub(super) metrics: Vec<Facts>,
}

/// One metric.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Facts {
    pub file: MetricFile,
    pub reading: ReadingPlan,
    /// The first of the metrics that a row may report together with this one, and of those that take from each other.
    pub group: u8,
    pub resource: u8,
}

/// What is wrong with a catalogue; the sentence names file and key.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// The folder or a file of it cannot be read.
    #[error("{}: {source}; give a folder of metric files that this user may read", path.display())]
    Unreadable {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The folder has no metric.
    #[error("{}: no file ends with .toml; give the folder of the metric files", .0.display())]
    Empty(PathBuf),
    /// The text is no metric.
    #[error("{file}: {what}")]
    Invalid {
        /// Which file.
        file: String,
        /// Line or key, and what is wrong with it.
        what: String,
    },
    /// Two files of a folder have the same name of a metric.
    #[error("{file}: name: {name:?} is the metric of {other} too; rename one")]
    Twice {
        /// Which file.
        file: String,
        /// The metric.
        name: String,
        /// The other file.
        other: String,
    },
    /// Another catalogue is in use already.
    #[error("the catalogue of metrics was chosen already; give one folder")]
    Chosen,
}

/// The catalogue in use: what [`use_folder`] chose, or ours.
pub fn catalogue() -> &'static Catalogue {
    CATALOGUE.get_or_init(built_in)
}

/// Uses the files of `folder`, or that one file, besides ours; a file with a known metric replaces ours. Comes before everything
/// that names a metric.
///
/// # Errors
/// What is wrong with the folder or a file of it, or that another catalogue is in use.
pub fn use_folder(folder: &Path) -> Result<(), CatalogueError> {
    let wanted = Catalogue::with_folder(folder)?;
    match CATALOGUE.get_or_init(|| wanted.clone()) == &wanted {
        true => Ok(()),
        false => Err(CatalogueError::Chosen),
    }
}

/// The name of the metric of one file.
///
/// # Errors
/// What is wrong with the file.
pub fn name_of(file: &Path) -> Result<String, CatalogueError> {
    read(&file.display().to_string(), &text(file)?).map(|facts| facts.file.name)
}

/// Ours alone. Files that are compiled in were checked by the tests.
fn built_in() -> Catalogue {
    let metrics = BUILT_IN.iter().filter_map(|(file, text)| read(file, text).ok());
    Catalogue::of(metrics.collect())
}

impl Catalogue {
    /// Ours and those of `folder`.
    ///
    /// # Errors
    /// What is wrong with the folder or a file of it.
    pub fn with_folder(folder: &Path) -> Result<Catalogue, CatalogueError> {
        let mut found: BTreeMap<String, Facts> = BTreeMap::new();
        let mut files: BTreeMap<String, String> = BTreeMap::new();
        for path in paths(folder)? {
            let file = path.display().to_string();
            let facts = read(&file, &text(&path)?)?;
            let name = facts.file.name.clone();
            if let Some(other) = files.insert(name.clone(), file.clone()) {
                return Err(CatalogueError::Twice { file, name, other });
            }
            found.insert(name, facts);
        }
        for facts in built_in().metrics {
            found.entry(facts.file.name.clone()).or_insert(facts);
        }
        if found.len() > METRICS_MAX {
            let what = format!("{} metrics; at most {METRICS_MAX} are allowed", found.len());
            return Err(CatalogueError::Invalid { file: folder.display().to_string(), what });
        }
        let catalogue = Catalogue::of(found.into_values().collect());
        catalogue.check_resources().map_err(|(at, what)| {
            let name = &catalogue.metrics[at].file.name;
            let file = files.get(name).unwrap_or(name).clone();
            CatalogueError::Invalid { file, what }
        })?;
        Ok(catalogue)
    }

    fn of(mut metrics: Vec<Facts>) -> Catalogue {
        for at in 0..metrics.len() {
            let (before, rest) = metrics.split_at_mut(at);
            let Some(own) = rest.first_mut() else { continue };
            let first = |is_one: &dyn Fn(&Facts) -> bool| before.iter().position(is_one).unwrap_or(at) as u8;
            let is_same = |a: &SourceFile| own.file.source.iter().any(|b| a.schema == b.schema);
            let together = first(&|other| other.file.source.iter().any(is_same));
            let shares = own.file.resource.is_some();
            own.resource = first(&|other| shares && other.file.resource == own.file.resource);
            own.group = before.get(usize::from(together)).map_or(together, |other| other.group);
        }
        Catalogue { metrics }
    }

    /// Amounts of one resource are added up: they need one unit.
    fn check_resources(&self) -> Result<(), (usize, String)> {
        for (at, facts) in self.metrics.iter().enumerate() {
            let first = &self.metrics[usize::from(facts.resource)].file;
            if first.unit != facts.file.unit {
                let what = format!("resource: {} has it too, in {:?}; use one unit", first.name, first.unit);
                return Err((at, what));
            }
        }
        Ok(())
    }

    /// The metrics that an LDMS schema has counters for.
    pub fn of_schema(&self, schema: &str) -> Vec<super::Metric> {
        let found = self.sources().filter(|(_, _, source)| source.schema == schema);
        found.map(|(metric, ..)| metric).collect()
    }

    /// The files of all metrics, by name.
    pub fn files(&self) -> impl Iterator<Item = &MetricFile> {
        self.metrics.iter().map(|facts| &facts.file)
    }

    /// The sources of all metrics, each with the number of its metric, in the order in which rows are recognised.
    pub fn sources(&self) -> impl Iterator<Item = (super::Metric, &MetricFile, &SourceFile)> {
        let numbered = self.metrics.iter().zip(0..).map(|(facts, at)| (super::Metric(at), &facts.file));
        numbered.flat_map(|(metric, file)| file.source.iter().map(move |source| (metric, file, source)))
    }
}

/// The metric files of a folder, by name, or the one file.
fn paths(folder: &Path) -> Result<Vec<PathBuf>, CatalogueError> {
    if folder.is_file() {
        return Ok(vec![folder.to_path_buf()]);
    }
    let unreadable = |source| CatalogueError::Unreadable { path: folder.to_path_buf(), source };
    let entries = std::fs::read_dir(folder).map_err(unreadable)?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            paths.push(path);
        }
    }
    paths.sort();
    if paths.is_empty() { Err(CatalogueError::Empty(folder.to_path_buf())) } else { Ok(paths) }
}

fn text(path: &Path) -> Result<String, CatalogueError> {
    let unreadable = |source| CatalogueError::Unreadable { path: path.to_path_buf(), source };
    let length = std::fs::metadata(path).map_err(unreadable)?.len();
    if length > FILE_BYTES_MAX {
        let what = format!("{length} bytes; a metric file has at most {FILE_BYTES_MAX}");
        return Err(CatalogueError::Invalid { file: path.display().to_string(), what });
    }
    std::fs::read_to_string(path).map_err(unreadable)
}

/// One file.
fn read(file: &str, text: &str) -> Result<Facts, CatalogueError> {
    let invalid = |what: String| CatalogueError::Invalid { file: file.to_string(), what };
    let read: MetricFile = toml::from_str(text).map_err(|error| {
        let line = error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        let line = line.map_or(String::new(), |line| format!("line {line}: "));
        invalid(format!("{line}{}", error.message()))
    })?;
    check(&read).map_err(invalid)?;
    Ok(Facts { reading: plan(&read.reading), file: read, group: 0, resource: 0 })
}

fn plan(reading: &ReadingFile) -> ReadingPlan {
    ReadingPlan {
        waited: reading.waited.len(),
        passed: reading.passed.len(),
        bytes_per_count: reading.bytes_per_count,
        active_per_s: reading.active_per_s,
        most_per_s: reading.most_per_s,
        may_lack: may_lack(reading),
        wraps_at: reading.wraps_at_bits.iter().fold(0, |widths, bits| widths | 1 << bits),
        gauge: reading.gauge,
        saturated: reading.saturates_at_bits.map(|bits| u64::MAX >> (64 - u32::from(bits))),
    }
}

/// A bit for each counter that a source may lack, by its place among all of them.
fn may_lack(reading: &ReadingFile) -> u64 {
    let counters = reading.waited.iter().chain(&reading.passed);
    let bits = counters.zip(0..64).filter(|(counter, _)| reading.may_lack.contains(counter));
    bits.fold(0, |mask, (_, at)| mask | 1 << at)
}

#[cfg(test)]
pub(super) fn read_alone(file: &str, text: &str) -> Result<(), CatalogueError> {
    read(file, text).map(drop)
}

#[cfg(test)]
pub(super) fn ours() -> [(&'static str, &'static str); BUILT_IN.len()] {
    BUILT_IN
}
