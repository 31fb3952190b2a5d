//! The plain form, as text.

use super::AnswerError;
use crate::PlainTopology;
use crate::readers::TopologyReading;
use std::io::Write;

/// Writes `reading` in the plain form.
///
/// # Errors
/// If `out` fails.
pub fn plain_form(reading: &TopologyReading, json: bool, out: &mut impl Write) -> Result<(), AnswerError> {
    let plain = PlainTopology::of(&reading.topology);
    if json {
        serde_json::to_writer_pretty(&mut *out, &plain)?;
        return Ok(writeln!(out)?);
    }
    let text = toml::to_string(&plain).map_err(AnswerError::Toml)?;
    Ok(out.write_all(text.as_bytes())?)
}
