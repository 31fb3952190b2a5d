//! The site file that `[site]` names.

use super::merge::Layers;
use super::problem::Problem;
use schemas::site::{Expected, Site};
use std::path::Path;

/// Largest site file, in bytes: hosts stand in it as ranges.
const BYTES_MAX: u64 = 16 << 20;

/// Expected sources; none without a site file. Its errors are noted.
pub(super) fn expected(layers: &mut Layers, warnings: &mut Vec<Problem>, file: &Path) -> Vec<Expected> {
    if file.as_os_str().is_empty() {
        return Vec::new();
    }
    match read(file) {
        Ok(site) => {
            let origin = layers.origin("site.file");
            warnings.extend(site.warnings.iter().map(|warning| Problem {
                origin: origin.clone(),
                key: "site.file".to_string(),
                text: format!("{}: {warning}", file.display()),
            }));
            site.expected()
        }
        Err(texts) => {
            for text in texts {
                layers.problem_of("site.file", format!("{}: {text}", file.display()));
            }
            Vec::new()
        }
    }
}

fn read(file: &Path) -> Result<Site, Vec<String>> {
    let refuse = |error: &dyn std::fmt::Display| vec![format!("the site file cannot be read: {error}")];
    let bytes = std::fs::metadata(file).map_err(|error| refuse(&error))?.len();
    if bytes > BYTES_MAX {
        return Err(vec![format!("the site file has {bytes} bytes, more than {BYTES_MAX}")]);
    }
    let text = std::fs::read_to_string(file).map_err(|error| refuse(&error))?;
    Site::parse(&text).map_err(|error| error.0.iter().map(ToString::to_string).collect())
}
