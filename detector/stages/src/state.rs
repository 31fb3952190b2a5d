//! Versions of the stages' written states, and how older ones are read.
//!
//! A state is written in the layout of its [`Format`]'s newest version: the fields of the stage and of all that it contains,
//! in their order, as postcard. A change of that layout, or of what a field means, adds a converter to the format, which
//! makes a new version of it; the types that only older versions have stay in a file beside this one, named by their version
//! (`state/detector_1.rs`). `state/tests` compares the layout with that of the stored states of each version.

mod rewrite;
#[cfg(test)]
mod tests;

pub use rewrite::Rewrite;

use crate::stage::Stage;

/// Makes a state of the next version from one.
pub type Converter = fn(&mut Rewrite<'_>) -> Result<(), postcard::Error>;

/// The states of the detector.
pub const DETECTOR: Format = Format { oldest: 1, converters: &[] };

/// The states of the roll-up, with the fabric's and the alerts'.
pub const ROLL_UP: Format = Format { oldest: 1, converters: &[] };

/// The versions of one kind of state.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// The oldest version that can be read.
    pub oldest: u32,
    /// The n-th makes version `oldest + n + 1` of version `oldest + n`.
    pub converters: &'static [Converter],
}

/// Why a written state cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// From the future.
    #[error(
        "a newer Tailback wrote it: its version is {found}, this program knows versions up to {known}; run the program that \
         wrote it, or import a savepoint of this one's (`tailback state import`)"
    )]
    Newer {
        /// Its version.
        found: u32,
        /// The newest version known.
        known: u32,
    },
    /// Without converter.
    #[error(
        "its version is {found}, and this program converts versions from {oldest} on; first run a release that reads \
         version {found}, or reset all states with `tailback migrate --forget-positions`, which reads the topics from \
         their beginning"
    )]
    Older {
        /// Its version.
        found: u32,
        /// The oldest version that can be read.
        oldest: u32,
    },
    /// The bytes are damaged, or were written with another catalogue of metrics.
    #[error(
        "its bytes are no state of version {version} ({source}); give the metric files that it was written with (--metrics, \
         metrics.folder), or reset all states with `tailback migrate --forget-positions`"
    )]
    Damaged {
        /// The version that they were read as.
        version: u32,
        /// What is wrong.
        source: postcard::Error,
    },
}

impl Format {
    /// The newest version, in which states are written.
    pub const fn version(self) -> u32 {
        self.oldest + self.converters.len() as u32
    }

    /// Whether states of version `found` can be read.
    ///
    /// # Errors
    /// [`StateError::Newer`], [`StateError::Older`].
    pub fn check(self, found: u32) -> Result<(), StateError> {
        let (oldest, known) = (self.oldest, self.version());
        match found {
            found if found > known => Err(StateError::Newer { found, known }),
            found if found < oldest => Err(StateError::Older { found, oldest }),
            _ => Ok(()),
        }
    }

    /// A state of version `found` in the newest version.
    fn convert(self, found: u32, bytes: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        let mut converted: Option<Vec<u8>> = None;
        for (version, converter) in (self.oldest..).zip(self.converters).skip((found - self.oldest) as usize)
        {
            let mut rewrite = Rewrite::of(converted.as_deref().unwrap_or(bytes));
            let made = converter(&mut rewrite).and_then(|()| rewrite.finish());
            converted = Some(made.map_err(|source| StateError::Damaged { version, source })?);
        }
        Ok(converted)
    }

    /// Reads a state of version `found`.
    fn read<S: Stage>(self, found: u32, bytes: &[u8]) -> Result<S, StateError> {
        self.check(found)?;
        let converted = self.convert(found, bytes)?;
        S::read(converted.as_deref().unwrap_or(bytes))
            .map_err(|source| StateError::Damaged { version: self.version(), source })
    }
}

/// Reads a stage's state of version `found`, converted if that is an older one.
///
/// # Errors
/// A version that this program does not read, or bytes that are no state.
pub fn restore<S: Stage>(found: u32, bytes: &[u8]) -> Result<S, StateError> {
    S::FORMAT.read(found, bytes)
}

/// The format of a stage by its name; `None` for another name.
pub fn format_of(stage: &str) -> Option<Format> {
    use crate::{detecting::Detecting, rolling::Rolling};
    match stage {
        Detecting::STAGE => Some(Detecting::FORMAT),
        Rolling::STAGE => Some(Rolling::FORMAT),
        _ => None,
    }
}
