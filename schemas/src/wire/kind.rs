//! The first two bytes of a message of `tailback.counters` and `tailback.partials`: its kind and the version of its content.

use super::WireError;

/// Kind of a message. Its number is the first byte of the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `tailback.counters`: a row of counters.
    Counters = 1,
    /// `tailback.counters`: job events of rows of a raw partition.
    JobRows = 2,
    /// `tailback.counters`: dropped rows of a raw partition.
    Dropped = 3,
    /// `tailback.counters`: how far an aggregator has read.
    Progress = 4,
    /// `tailback.counters`: a message that an aggregator rejected.
    Rejected = 5,
    /// `tailback.partials`: results of one detector partition about one job.
    JobPart = 16,
    /// `tailback.partials`: seconds of links and their jobs.
    Links = 17,
    /// `tailback.partials`: updates for alerts.
    Alerts = 18,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 8] = [
        Kind::Counters,
        Kind::JobRows,
        Kind::Dropped,
        Kind::Progress,
        Kind::Rejected,
        Kind::JobPart,
        Kind::Links,
        Kind::Alerts,
    ];

    /// Version of the content that this Tailback writes, and the only one that it reads. Every change of the content
    /// increases it.
    pub const fn version(self) -> u8 {
        match self {
            Kind::Counters => 4,
            Kind::Dropped | Kind::Progress | Kind::JobPart | Kind::Links => 1,
            Kind::JobRows | Kind::Rejected | Kind::Alerts => 2,
        }
    }

    /// The first two bytes of a message.
    pub const fn header(self) -> [u8; 2] {
        [self as u8, self.version()]
    }

    /// Kind and content of a message.
    ///
    /// # Errors
    /// [`WireError`] if the kind or its version is unknown, or the message is shorter than its header.
    #[inline]
    pub fn split(message: &[u8]) -> Result<(Kind, &[u8]), WireError> {
        let (&[number, version], content) =
            message.split_first_chunk::<2>().ok_or(WireError::Damaged("it ends early"))?;
        let mut kinds = Kind::ALL.into_iter();
        let kind = kinds.find(|kind| *kind as u8 == number).ok_or(WireError::UnknownKind(number))?;
        match version == kind.version() {
            true => Ok((kind, content)),
            false => Err(WireError::UnknownVersion { kind: number, version }),
        }
    }

    /// The error of a topic that has no messages of this kind.
    pub const fn misplaced(self) -> WireError {
        WireError::UnknownKind(self as u8)
    }
}
