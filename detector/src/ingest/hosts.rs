//! How rows spell hosts.

use super::Ingest;
use schemas::Name;

impl Ingest {
    /// How rows spell `host`: itself unless another name of the same first label is the only one.
    pub fn spelling_of<'a>(&'a self, host: &'a Name) -> &'a Name {
        match self.spellings.only(host) {
            None => host,
            Some(only) if only == host => host,
            Some(_) if self.routers.contains_key(host) || self.by_name.contains_key(host) => host,
            Some(only) => only,
        }
    }

    /// Whether rows have several hosts of this first label.
    pub fn is_ambiguous(&self, host: &Name) -> bool {
        self.spellings.is_ambiguous(host)
    }
}
