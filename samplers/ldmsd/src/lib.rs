//! Configuration of a site's LDMS daemons (ldmsd 4.5), generated from its site file. The pieces are `samplers/ldms` and
//! `aggregator/ldms`.
//!
//! | module | what it holds |
//! |---|---|
//! | [`sampler_files`] | what runs on nodes |
//! | [`aggregator_files`] | aggregators that collect and store |
//! | [`decomposition`] | from sets to rows |
//! | [`guide`] | the README of the folder |
//! | [`fill`] | `@NAME@` in the pieces |
//! | [`folder`] | writing; files of other origin are left alone |

pub mod aggregator_files;
pub mod decomposition;
pub mod fill;
pub mod folder;
pub mod guide;
pub mod sampler_files;

use schemas::Site;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Files by their path below the folder.
pub type Files = BTreeMap<PathBuf, String>;

/// All files of a site.
///
/// # Errors
/// If a piece has a name that is never filled in, which a test excludes.
pub fn generate(site: &Site) -> anyhow::Result<Files> {
    let mut files = Files::new();
    sampler_files::write(site, &mut files)?;
    aggregator_files::write(site, &mut files)?;
    files.insert("README.md".into(), guide::text(site));
    Ok(files)
}

/// Generates all files of a site below `folder`; returns their number.
///
/// # Errors
/// See [`generate`] and [`folder::write`].
pub fn write(site: &Site, folder: &Path, force: bool) -> anyhow::Result<usize> {
    let files = generate(site)?;
    folder::write(folder, &files, force)?;
    Ok(files.len())
}
