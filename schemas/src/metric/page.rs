//! `docs/metrics.md`, made from the files of the catalogue. `UPDATE_GOLDEN=1 cargo tests metric::page` writes it again.

use super::Direction;
use super::catalogue::{catalogue, ours};
use super::file::{LinkEnd, Measures, MetricFile, SourceFile};
use std::fmt::Write;
use std::path::Path;

const BEGIN: &str = "<!-- begin: generated from schemas/metrics -->\n";
const END: &str = "<!-- end: generated -->\n";

/// A section for each metric.
fn sections() -> String {
    let mut out = String::new();
    for file in catalogue().files() {
        let (_, text) = ours().into_iter().find(|(name, _)| *name == format!("{}.toml", file.name)).unwrap();
        let why: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("# ")).collect();
        let title = format!("{}, {}, in {}", file.subject, file.title, file.unit);
        write!(out, "\n## `{}`\n\n{title}. {}\n\n{}\n\n", file.name, why.join(" "), meaning(file)).unwrap();
        out += "| schema | part | columns |\n|---|---|---|\n";
        file.source.iter().for_each(|source| out += &row(source));
    }
    out + "\n"
}

/// The formula and what it means for a job.
fn meaning(file: &MetricFile) -> String {
    let sum = |counters: &[String]| counters.join(" + ");
    let (waited, passed) = (&file.reading.waited, &file.reading.passed);
    let reading = match (waited.is_empty(), passed.is_empty()) {
        (true, _) => format!("Growth of {} a second", sum(passed)),
        (_, true) if file.reading.gauge => format!("The value of {}", sum(waited)),
        (_, true) => format!("Growth of {} a second", sum(waited)),
        _ => format!("({}) / ({})", sum(waited), sum(passed)),
    };
    let idle = match passed.is_empty() {
        true if file.reading.gauge => "At 0 it is clear".to_string(),
        true => "Without any growth it is clear".to_string(),
        false => format!("Below {} counts a second it means nothing", file.reading.active_per_s),
    };
    let contended = match file.direction {
        Direction::Rising => "It rises",
        Direction::Falling => "It falls",
    };
    let of_what = match (file.measures, file.measured_at, file.costs) {
        (Measures::Progress, ..) => format!(
            "of what a job does; clients take {} from each other",
            file.resource.as_deref().unwrap_or("something")
        ),
        (Measures::Link, Some(LinkEnd::Sender), true) => {
            "of the pressure on the link that leaves the port; seconds lost and regions follow from it"
                .to_string()
        }
        (Measures::Link, _, true) => {
            "of the pressure on the link that arrives; seconds lost and regions follow from it".to_string()
        }
        (Measures::Application, ..) => "of what a job gets done by its own count".to_string(),
        (Measures::Server, ..) => {
            "of how long a client waits for a server; no seconds lost follow from it".to_string()
        }
        (Measures::Link, ..) => {
            "of the pressure on a link; no seconds lost and no regions follow from it".to_string()
        }
    };
    format!("{reading}. {contended} under contention and is a measure {of_what}. {idle}.",)
}

fn row(source: &SourceFile) -> String {
    let part = source.part.clone().unwrap_or_else(|| source.part_columns.join(", "));
    let part = if source.by_job { format!("{part}` by `job_id") } else { part };
    let columns: Vec<String> =
        source.columns.values().flatten().map(|column| format!("`{column}`")).collect();
    format!("| `{}` | `{part}` | {} |\n", source.schema, columns.join(", "))
}

#[test]
fn documented_metrics_are_those_of_the_files() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/metrics.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let made = format!("{before}{BEGIN}{}{END}{after}", sections());
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &made).unwrap();
    } else {
        assert!(page == made, "docs/metrics.md is stale: UPDATE_GOLDEN=1 writes it again");
    }
}
