//! The folder of a site's metrics. It is chosen before the keys are read, since each metric brings keys `[metric.<name>]`.

use super::problem::{Origin, Problem};
use schemas::metric::catalogue::{self, CatalogueError};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use toml::de::DeTable;

/// The key.
const KEY: &str = "metrics.folder";
/// Its environment variable.
const VARIABLE: &str = "TAILBACK_METRICS__FOLDER";

/// The folder of the command line, which goes before the configuration's.
static OF_COMMAND_LINE: OnceLock<PathBuf> = OnceLock::new();

/// Uses the folder that the command line names.
///
/// # Errors
/// What is wrong with the folder or a file of it.
pub fn use_folder(folder: &Path) -> Result<(), CatalogueError> {
    catalogue::use_folder(folder)?;
    OF_COMMAND_LINE.get_or_init(|| folder.to_path_buf());
    Ok(())
}

/// Uses the folder that a variable or the file names; what is wrong with it.
pub(super) fn choose(file: Option<&Path>, variables: &[(String, String)]) -> Option<Problem> {
    if OF_COMMAND_LINE.get().is_some() {
        return None;
    }
    let variable = variables.iter().find(|(name, _)| name == VARIABLE);
    let of_variable = variable.map(|(name, folder)| (Origin::Environment(name.clone()), folder.clone()));
    let (origin, folder) = of_variable.or_else(|| written(file?))?;
    if folder.is_empty() {
        return None;
    }
    let error = catalogue::use_folder(&origin.resolve(&folder)).err()?;
    Some(Problem { origin, key: KEY.to_string(), text: format!("{KEY}: {error}") })
}

/// The folder in a file, with its line. Whatever else is wrong there is named when the keys are read.
fn written(file: &Path) -> Option<(Origin, String)> {
    let text = std::fs::read_to_string(file).ok()?;
    let table = DeTable::parse(&text).ok()?;
    let folder = table.get_ref().get("metrics")?.get_ref().as_table()?.get("folder")?;
    let line = text[..folder.span().start].matches('\n').count() + 1;
    Some((Origin::File { file: file.to_path_buf(), line }, folder.get_ref().as_str()?.to_string()))
}
