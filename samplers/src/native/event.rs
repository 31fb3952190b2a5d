//! What a person should know of the sampler's life: one sentence for what happened, not for every tick it lasts.

use super::tick_rows::Kind;
use schemas::Name;
use std::fmt;
use std::path::PathBuf;

/// Which set of rows: a port, a mount or an interface.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SetId {
    /// What it is.
    pub kind: Kind,
    /// Port `mlx5_0.1`, llite directory `snx11168-ffff88103d6bd000`, or interface `cxi0`.
    pub name: Name,
}

impl fmt::Display for SetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::InfiniBand => "InfiniBand port",
            Kind::Lustre => "Lustre mount",
            Kind::LustreMetadata => "connection to Lustre's metadata server",
            Kind::LustreData => "connections to Lustre's object servers of",
            Kind::Slingshot => "Slingshot interface",
        };
        write!(f, "{kind} {}", self.name)
    }
}

/// Something happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A set is sampled from now on.
    Found(SetId),
    /// A set is no longer sampled, and why.
    Lost(SetId, String),
    /// A set is there and cannot be sampled, and why.
    Refused(SetId, String),
    /// A file of a set holds what is no number: the file, and what it holds.
    BadContent(SetId, String),
    /// A folder cannot be read, and why.
    Unreadable(PathBuf, String),
    /// A device or mount has a name that no row may carry.
    BadName(PathBuf),
    /// The process did not run at so many instants.
    Missed(u64),
    /// The system's clock was set back.
    ClockSetBack,
    /// The output works from now on.
    OutputReady(String),
    /// The output fails, and why; rows wait in a bounded buffer.
    OutputFails(String, String),
    /// The buffer is full: rows are dropped until it is not.
    BufferFull,
    /// The buffer takes rows again; so many were dropped.
    BufferFree(u64),
}

impl Event {
    /// Whether something is not as it should be.
    pub fn is_warning(&self) -> bool {
        !matches!(self, Event::Found(_) | Event::OutputReady(_))
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Found(set) => write!(f, "{set} is sampled"),
            Event::Lost(set, reason) => {
                write!(f, "{set} is gone: {reason}; it is sampled again when it returns")
            }
            Event::Refused(set, reason) => {
                write!(f, "{set} cannot be sampled: {reason}; the others are sampled")
            }
            Event::BadContent(set, what) => write!(f, "{set}: {what}; its rows go without it"),
            Event::Unreadable(path, reason) => write!(f, "{} cannot be read: {reason}", path.display()),
            Event::BadName(path) => {
                write!(f, "{:?} is left out: names have letters, digits and . _ - : @ + # only", path)
            }
            Event::Missed(ticks) => {
                write!(f, "{ticks} ticks were missed (machine suspended or overloaded); sampling continues")
            }
            Event::ClockSetBack => {
                write!(f, "the system's clock was set back; sampling continues by the new time")
            }
            Event::OutputReady(target) => write!(f, "rows go to {target}"),
            Event::OutputFails(target, reason) => {
                write!(f, "{target} does not take rows: {reason}; they wait, and it is tried again")
            }
            Event::BufferFull => {
                write!(f, "the buffer of rows is full: new rows are dropped until it empties")
            }
            Event::BufferFree(dropped) => write!(f, "the buffer takes rows again; {dropped} were dropped"),
        }
    }
}
