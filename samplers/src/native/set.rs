//! What one row is made of.

use super::counter_files::CounterFiles;
use super::discovery::Candidate;
use super::event::SetId;
use super::llite::LliteStats;
use super::node::Node;
use super::request_waits::RequestWaits;
use super::selection::Selection;
use super::tick_rows::Kind;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Why a set cannot be sampled, as part of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure(pub(crate) String);

impl Failure {
    pub(crate) fn of(path: &Path, error: &io::Error) -> Failure {
        Failure(format!("{}: {error}", path.display()))
    }
}

/// What reading the files of a set gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Every column.
    Whole,
    /// All but some columns, first of them that of this file.
    Partial(PathBuf),
    /// No row, because of this.
    Unusable(String),
}

#[derive(Debug)]
enum Files {
    Counters(CounterFiles),
    Llite(LliteStats),
    Waits(RequestWaits),
}

/// A set that is sampled.
#[derive(Debug)]
pub(crate) struct Set {
    pub(crate) kind: Kind,
    /// What stands between the timestamp and the counters.
    pub(crate) head: Vec<u8>,
    /// Whether the last reading lacked something, which was reported.
    pub(crate) bad: bool,
    files: Files,
}

impl Set {
    /// Opens the files of `candidate`, from the first path that can be read.
    pub(crate) fn open(candidate: &Candidate, node: &Node, selection: Selection) -> Result<Set, Failure> {
        let mut first = None;
        if let Kind::LustreMetadata | Kind::LustreData = candidate.id.kind {
            let files = Files::Waits(RequestWaits::open(&candidate.paths)?);
            return Ok(Set::of(candidate, node, files));
        }
        for path in &candidate.paths {
            match files(candidate, path, selection) {
                Ok(files) => return Ok(Set::of(candidate, node, files)),
                Err(failure) => first = first.or(Some(failure)),
            }
        }
        Err(first.unwrap_or_else(|| Failure("it has no files".to_string())))
    }

    fn of(candidate: &Candidate, node: &Node, files: Files) -> Set {
        Set { kind: candidate.id.kind, head: head(&candidate.id, node).into_bytes(), bad: false, files }
    }

    /// Whether the files that are open are those of `candidate` now.
    pub(crate) fn is_current(&self, candidate: &Candidate) -> bool {
        match &self.files {
            Files::Waits(waits) => waits.is_current(&candidate.paths),
            Files::Counters(files) => files.is_current(),
            Files::Llite(stats) => stats.is_current(),
        }
    }

    /// Whether opening again may find more.
    pub(crate) fn is_incomplete(&self) -> bool {
        matches!(&self.files, Files::Counters(files) if files.is_incomplete())
    }

    /// Appends the columns to `body`; `raw` is memory for contents of files.
    pub(crate) fn read(&mut self, raw: &mut Vec<u8>, body: &mut Vec<u8>) -> Result<Reading, Failure> {
        match &mut self.files {
            Files::Counters(files) => files.read(body),
            Files::Llite(stats) => stats.read(raw, body),
            Files::Waits(waits) => waits.read(raw, body),
        }
    }
}

fn files(candidate: &Candidate, path: &Path, selection: Selection) -> Result<Files, Failure> {
    let name = &candidate.id.name;
    Ok(match candidate.id.kind {
        Kind::InfiniBand => {
            let key = |column: &str| format!("{column}#{name}");
            Files::Counters(CounterFiles::open(path, &selection.of_port(path), key)?)
        }
        Kind::Slingshot => {
            let key = |column: &str| format!("nics.{column}");
            Files::Counters(CounterFiles::open(
                path,
                &selection.of_interface(path, candidate.retry_handler.as_deref()),
                key,
            )?)
        }
        Kind::Lustre | Kind::LustreMetadata | Kind::LustreData => Files::Llite(LliteStats::open(path)?),
    })
}

/// Everything before the counters but the timestamp. Names are [`schemas::Name`]s: nothing needs escaping.
fn head(id: &SetId, node: &Node) -> String {
    let (producer, name) = (&node.producer, &id.name);
    // `instance` and `timestamp` identify a sample: each port has its own.
    let (instance, columns) = match id.kind {
        Kind::InfiniBand => (format!("ib_sysfs/{name}"), String::new()),
        Kind::Lustre => {
            let fs_name = file_system(name.as_str());
            (name.to_string(), format!(",\"fs_name\":\"{fs_name}\",\"llite\":\"{name}\""))
        }
        Kind::LustreMetadata => {
            let fs_name = file_system(name.as_str());
            (format!("lustre_mdc/{name}"), format!(",\"fs_name\":\"{fs_name}\",\"mdc\":\"{name}\""))
        }
        Kind::LustreData => (format!("lustre_osc/{name}"), format!(",\"fs_name\":\"{name}\"")),
        Kind::Slingshot => (format!("slingshot_metrics/{name}"), format!(",\"nics.name\":\"{name}\"")),
    };
    format!(
        ",\"producer\":\"{producer}\",\"instance\":\"{producer}/{instance}\",\"component_id\":{},\
         \"job_id\":0,\"app_id\":0{columns}",
        node.component_id
    )
}

/// The file system of an llite directory: the kernel appends the address of the superblock.
fn file_system(llite: &str) -> &str {
    match llite.rsplit_once('-') {
        Some((name, _)) if !name.is_empty() => name,
        _ => llite,
    }
}

/// Whether `file` is what `path` leads to. A device that went and came has other files under the same names.
pub(crate) fn is_same_file(file: &File, path: &Path) -> bool {
    let identity = |of: std::fs::Metadata| (of.dev(), of.ino());
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(open), Ok(there)) => identity(open) == identity(there),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_file_system_is_named_without_the_superblock() {
        assert_eq!(super::file_system("snx11168-ffff88103d6bd000"), "snx11168");
        assert_eq!(super::file_system("home-01-ffff88103d6bd000"), "home-01");
        assert_eq!(super::file_system("plain"), "plain");
    }
}
