//! Topologies from files: what fabric tools print, what Cray's `rtr` prints, HPE's list of Slingshot cables, the plain
//! form, parameters of machines.
//!
//! Several files may describe one network, in any order: links, forwarding tables, names. The content decides the kind
//! of each file.
//!
//! | module | what it reads |
//! |---|---|
//! | `kind` | [`TopologyKind`]: what a text is |
//! | `ibnetdiscover` | `ibnetdiscover`, also as `ibsim` reads it |
//! | `lst` | `ibdiagnet.lst`, `opensm-subnet.lst` |
//! | `tables` | `ibdiagnet.fdbs`, `opensm.fdbs`; `ibroute`, `dump_lfts.sh`, `opensm-lfts.dump` |
//! | `names` | node name maps: `<guid> "<name>"` |
//! | `hosts` | `/etc/hosts`: names of nodes that have xnames |
//! | `interconnect` | `rtr --interconnect` of a Cray XC, and lists of nodes with their cnames |
//! | `point_to_point` | HPE's list of Slingshot cables, `Shasta_system_hsn_pt_pt.csv` |
//! | `point_line` | a line of it: cells, ends, groups |
//! | `fabric` | what InfiniBand's files contain together |
//! | `description` | hosts and devices by the descriptions of nodes |

mod description;
mod fabric;
mod hosts;
mod ibnetdiscover;
mod interconnect;
mod kind;
mod lst;
mod names;
mod point_line;
mod point_to_point;
mod tables;

pub use kind::TopologyKind;

use crate::{Draft, Faults, Machine, MachineError, PlainError, PlainTopology, Topology};
use fabric::Fabric;
use hosts::HostNames;
use interconnect::Nodes;
use std::io;
use std::path::{Path, PathBuf};

/// Longest topology file read, in bytes; a fabric of 50,000 ports needs a fiftieth of it.
pub const FILE_BYTES_MAX: u64 = 1 << 30;

/// A topology, and the faults of its files.
#[derive(Debug)]
pub struct TopologyReading {
    /// The network.
    pub topology: Topology,
    /// Contradictions and lines without sense.
    pub faults: Faults,
    /// What each file was.
    pub kinds: Vec<(String, TopologyKind)>,
}

/// Why no topology can be read.
#[derive(Debug, thiserror::Error)]
pub enum TopologyError {
    /// No file was given.
    #[error("no topology file is given")]
    NoFile,
    /// The file cannot be opened or read.
    #[error("{path}: {source}", path = path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is larger than [`FILE_BYTES_MAX`].
    #[error("{0}: more than {FILE_BYTES_MAX} bytes; no topology file is that long")]
    TooLong(String),
    /// Nothing that is known begins like this.
    #[error(
        "{0}: neither ibnetdiscover, ibdiagnet.lst, ibdiagnet.fdbs, LFT dump, node name map, hosts file, rtr --interconnect, list of cnames, point-to-point CSV, plain topology nor parameters of a machine"
    )]
    Unknown(String),
    /// TOML or JSON that does not fit.
    #[error("{file}: {message}")]
    Document {
        /// Which.
        file: String,
        /// Line, key and reason.
        message: String,
    },
    /// Parameters that no machine can have.
    #[error("{file}: {source}")]
    Machine {
        /// Which.
        file: String,
        /// Why not.
        source: MachineError,
    },
    /// A plain form of another version.
    #[error("{file}: {source}")]
    Plain {
        /// Which.
        file: String,
        /// Why not.
        source: PlainError,
    },
}

/// Reads the files at `paths` as one topology.
///
/// # Errors
/// [`TopologyError`] if a file cannot be read or is nothing known; contradictions are faults, not errors.
pub fn read(paths: &[PathBuf]) -> Result<TopologyReading, TopologyError> {
    let texts = paths.iter().map(|path| Ok((path.display().to_string(), text(path)?)));
    read_texts(&texts.collect::<Result<Vec<_>, TopologyError>>()?)
}

fn text(path: &Path) -> Result<String, TopologyError> {
    let failed = |source| TopologyError::Read { path: path.to_path_buf(), source };
    let size = std::fs::metadata(path).map_err(failed)?.len();
    if size > FILE_BYTES_MAX {
        return Err(TopologyError::TooLong(path.display().to_string()));
    }
    // Node descriptions are bytes that any administrator of a node may set.
    let bytes = std::fs::read(path).map_err(failed)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads files that were read already, each with its name, as one topology.
///
/// # Errors
/// As [`read`].
pub fn read_texts(files: &[(String, String)]) -> Result<TopologyReading, TopologyError> {
    let mut kinds = Vec::new();
    for (name, text) in files {
        let kind = TopologyKind::of(text).ok_or_else(|| TopologyError::Unknown(name.clone()))?;
        kinds.push((name.clone(), kind));
    }
    let (topology, faults) = match (files, kinds.as_slice()) {
        ([], _) => return Err(TopologyError::NoFile),
        ([(name, text)], [(_, TopologyKind::Machine)]) => (machine(name, text)?, Faults::default()),
        _ => combined(files, &kinds)?,
    };
    Ok(TopologyReading { topology, faults, kinds })
}

/// Names first, then links, then tables and names of known hosts: each needs those before it.
fn combined(
    files: &[(String, String)],
    kinds: &[(String, TopologyKind)],
) -> Result<(Topology, Faults), TopologyError> {
    let mut draft = Draft::default();
    let mut fabric = Fabric::default();
    let mut nodes = Nodes::default();
    let mut host_names = HostNames::default();
    for pass in 0..3 {
        for ((name, text), (_, kind)) in files.iter().zip(kinds).filter(|(_, (_, kind))| kind.pass() == pass)
        {
            match kind {
                TopologyKind::Names => names::read(&mut fabric, name, text),
                TopologyKind::Hosts => host_names.read(&mut draft, name, text),
                TopologyKind::Nodes => nodes.read(&mut draft, name, text),
                TopologyKind::Ibnetdiscover => ibnetdiscover::read(&mut fabric, name, text),
                TopologyKind::Lst => lst::read(&mut fabric, name, text),
                TopologyKind::Interconnect => interconnect::read(&mut draft, &nodes, name, text),
                TopologyKind::PointToPoint => point_to_point::read(&mut draft, name, text),
                TopologyKind::Fdbs | TopologyKind::Lfts => tables::read(&mut fabric, name, text),
                TopologyKind::Plain => plain(&mut draft, name, &document::<PlainTopology>(name, text)?)?,
                TopologyKind::Machine => plain(&mut draft, name, &PlainTopology::of(&machine(name, text)?))?,
            }
        }
    }
    fabric.fill(&mut draft);
    Ok(draft.finish())
}

fn plain(draft: &mut Draft, file: &str, document: &PlainTopology) -> Result<(), TopologyError> {
    draft.begin_file(file);
    document.add_to(draft).map_err(|source| TopologyError::Plain { file: file.to_string(), source })
}

fn machine(file: &str, text: &str) -> Result<Topology, TopologyError> {
    let machine: Machine = document(file, text)?;
    machine.build().map_err(|source| TopologyError::Machine { file: file.to_string(), source })
}

/// A JSON document if it begins like one, else TOML.
fn document<T: serde::de::DeserializeOwned>(file: &str, text: &str) -> Result<T, TopologyError> {
    let failed = |message: String| TopologyError::Document { file: file.to_string(), message };
    if text.trim_start().starts_with('{') {
        serde_json::from_str(text).map_err(|error| failed(error.to_string()))
    } else {
        toml::from_str(text).map_err(|error| failed(error.to_string().trim_end().to_string()))
    }
}
