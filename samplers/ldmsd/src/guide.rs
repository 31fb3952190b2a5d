//! The README of a generated folder: what goes where, how daemons are started, known limits.

use crate::decomposition;
use schemas::Site;
use schemas::site::Format;
use std::fmt::Write;

/// What no configuration of ldmsd can avoid.
const LIMITS: &str = include_str!("limits.md");

/// The text.
pub fn text(site: &Site) -> String {
    let dir = &site.ldmsd.conf_dir;
    let mut text = format!(
        "# ldmsd of {}\n\nWritten by `tailback ldms-config`; run it again rather than edit these files.\n\n\
         | copy | to | start |\n|---|---|---|\n\
         | `samplers/` | `{dir}/` of every host | the first line of `hosts/<host>.conf` |\n",
        site.name
    );
    for aggregator in &site.aggregators {
        let name = &aggregator.name;
        // A String takes every write.
        let _ = writeln!(text, "| `aggregators/` | `{dir}/` of {name} | `ldmsd -F -c {dir}/{name}.conf` |");
    }
    let _ = writeln!(
        text,
        "\nUnder systemd: `<role>.service` and `<aggregator>.service` beside them; `%l` there is the host's short name.\n"
    );
    let _ = writeln!(text, "{}", schedule(site));
    let schemas: Vec<String> =
        decomposition::matches(site).into_iter().map(|(schema, _)| format!("`{schema}`")).collect();
    let target = match site.format {
        Format::Csv => format!("files below `{}/{}/`", site.csv_dir, site.name),
        Format::Json | Format::Avro => format!("topics `{}`", site.topic),
    };
    let _ = writeln!(text, "Rows: {} in {target}.\n", schemas.join(", "));
    if !site.warnings.is_empty() {
        text += "## To be mended\n";
        for warning in &site.warnings {
            let _ = writeln!(text, "* {warning}");
        }
        text += "\n";
    }
    text + LIMITS
}

fn schedule(site: &Site) -> String {
    let s = &site.schedule;
    format!(
        "Samples are taken every {} ms, {} ms after the full interval; level 1 collects {} ms after it, level 2 {} ms. \
         Clocks must agree within some milliseconds (chrony, PTP).\n",
        s.interval_ms, s.sample_offset_ms, s.level1_offset_ms, s.level2_offset_ms
    )
}
