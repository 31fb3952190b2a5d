//! The plain form, as text.

use aggregator::topology::TopologyReading;
use anyhow::Context;
use schemas::topology::PlainTopology;
use std::io::Write;

pub(super) fn export(reading: &TopologyReading, json: bool, out: &mut impl Write) -> anyhow::Result<()> {
    let plain = PlainTopology::of(&reading.topology);
    if json {
        serde_json::to_writer_pretty(&mut *out, &plain)?;
        return Ok(writeln!(out)?);
    }
    let text = toml::to_string(&plain).context("the topology cannot be written as TOML")?;
    Ok(out.write_all(text.as_bytes())?)
}
