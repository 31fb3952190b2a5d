//! The lines of one tick.

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A port of an InfiniBand channel adapter.
    InfiniBand,
    /// A mounted Lustre file system.
    Lustre,
    /// The requests of the node to the metadata servers of a Lustre file system, one server a row.
    LustreMetadata,
    /// Those to its object servers, all in one row.
    LustreData,
    /// A Slingshot network interface.
    Slingshot,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 5] =
        [Kind::InfiniBand, Kind::Lustre, Kind::LustreMetadata, Kind::LustreData, Kind::Slingshot];

    /// The LDMS schema of its rows.
    pub fn schema(self) -> &'static str {
        match self {
            Kind::InfiniBand => "ib_sysfs",
            Kind::Lustre => "lustre_client",
            Kind::LustreMetadata => "lustre_mdc_ops_timing",
            Kind::LustreData => "lustre_osc",
            Kind::Slingshot => "slingshot_metrics",
        }
    }
}

/// The rows of one tick, a line of JSON each. Keeps its memory when cleared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TickRows {
    bytes: Vec<u8>,
    ends: Vec<(Kind, usize)>,
}

impl TickRows {
    /// Empties it.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Rows in it.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All lines, each ended by a newline.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The lines one by one, without their newlines.
    pub fn lines(&self) -> impl Iterator<Item = (Kind, &[u8])> {
        let mut start = 0;
        self.ends.iter().map(move |(kind, end)| {
            let line = &self.bytes[start..*end - 1];
            start = *end;
            (*kind, line)
        })
    }

    /// Adds a row that `write` writes, newline left out.
    pub(crate) fn push(&mut self, kind: Kind, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.bytes);
        self.bytes.push(b'\n');
        self.ends.push((kind, self.bytes.len()));
    }
}
