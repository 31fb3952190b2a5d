//! What a metric's file may hold.

use super::Direction;
use super::catalogue::OPTIONAL;
use super::file::{Measures, MetricFile, ReadingFile, SourceFile};
use super::pattern::{Pattern, PatternError};

/// Longest name of a metric.
const NAME_MAX: usize = 40;
/// Most counters of a metric.
const COUNTERS_MAX: usize = 64;

/// What is wrong with a file that is TOML and has all keys; the sentence begins with the key.
pub(super) fn check(file: &MetricFile) -> Result<(), String> {
    let is_letter = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    if file.name.is_empty() || file.name.len() > NAME_MAX || !file.name.bytes().all(is_letter) {
        let allowed = format!("1 to {NAME_MAX} small letters, digits, _");
        return Err(format!("name: must be {allowed}, not {:?}", file.name));
    }
    match (file.measures, file.measured_at) {
        (Measures::Link, None) => {
            return Err("measured_at: missing; a link's metric needs sender or receiver".to_string());
        }
        (Measures::Progress | Measures::Server | Measures::Application, Some(_)) => {
            return Err("measured_at: only a link has ends".to_string());
        }
        _ => {}
    }
    if file.names_links_of.is_some() && file.measures != Measures::Link {
        return Err("names_links_of: only a link's metric names links".to_string());
    }
    if file.resource.is_some() && file.measures != Measures::Progress {
        return Err("resource: only clients of a file system share one".to_string());
    }
    check_meaning(file)?;
    check_reading(&file.reading)?;
    if file.source.is_empty() {
        return Err("source: none; a metric needs at least one [[source]]".to_string());
    }
    file.source.iter().try_for_each(|source| {
        check_source(file, source).map_err(|what| format!("source {:?}: {what}", source.schema))
    })
}

/// The models expect that progress falls, and that pressure and waits rise.
fn check_meaning(file: &MetricFile) -> Result<(), String> {
    let progress = matches!(file.measures, Measures::Progress | Measures::Application);
    match file.direction {
        Direction::Rising if progress => return Err("direction: must be falling for progress".to_string()),
        Direction::Falling if !progress => {
            return Err("direction: must be rising for a link or a server".to_string());
        }
        _ => {}
    }
    if progress && file.sum_of_parts {
        return Err("sum_of_parts: only links of a component have a sum".to_string());
    }
    if progress && file.reading.passed.is_empty() {
        return Err("reading.passed: missing; progress is the rate of it".to_string());
    }
    if file.reading.passed.is_empty() && file.costs {
        return Err("costs: must be false without `passed`, which shows who uses the link".to_string());
    }
    if file.measures == Measures::Server && file.costs {
        return Err(
            "costs: must be false for a server, whose clients wait for many requests at once".to_string()
        );
    }
    if file.paces && (file.measures != Measures::Link || file.reading.passed.is_empty()) {
        return Err("paces: needs `measures = \"link\"` and `passed`, which is what a node sends".to_string());
    }
    if progress && !file.costs {
        return Err("costs: progress always does".to_string());
    }
    if progress && file.reading.least_change != 0.0 {
        return Err("reading.least_change: only for links; the models judge progress by its relative change"
            .to_string());
    }
    if progress && !file.reading.waited.is_empty() {
        return Err("reading.waited: progress is the rate of `passed`".to_string());
    }
    Ok(())
}

fn check_reading(reading: &ReadingFile) -> Result<(), String> {
    if reading.passed.is_empty() && reading.waited.is_empty() {
        return Err("reading.passed: needs at least one counter, or `waited` does".to_string());
    }
    let mut counters: Vec<&String> = reading.waited.iter().chain(&reading.passed).collect();
    counters.sort();
    if let Some(twice) = counters.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("reading: counter {:?} stands twice", twice[0]));
    }
    if let Some(unknown) = reading.may_lack.iter().find(|counter| !reading.passed.contains(counter)) {
        return Err(format!("reading.may_lack: {unknown:?} is not in `passed`"));
    }
    if !reading.passed.is_empty() && reading.passed.iter().all(|counter| reading.may_lack.contains(counter)) {
        return Err("reading.may_lack: one counter at least must be there".to_string());
    }
    if reading.gauge && (reading.waited.len() != 1 || !reading.passed.is_empty()) {
        return Err("reading.gauge: needs one name in `waited`, and no `passed`".to_string());
    }
    if reading.gauge && (!reading.wraps_at_bits.is_empty() || reading.saturates_at_bits.is_some()) {
        return Err("reading.gauge: only counters wrap or saturate".to_string());
    }
    if counters.len() > COUNTERS_MAX {
        return Err(format!("reading: {} counters; at most {COUNTERS_MAX} are allowed", counters.len()));
    }
    let is_ratio = !reading.waited.is_empty() && !reading.passed.is_empty();
    if is_ratio != reading.counts.is_some() {
        return Err("reading.counts: what passed and what waited, for a metric with both only".to_string());
    }
    check_numbers(reading)?;
    if !(1.0..=1000.0).contains(&reading.cost_range) {
        return Err(format!("reading.cost_range: must be from 1 to 1000, not {}", reading.cost_range));
    }
    if !reading.least_change.is_finite() || reading.least_change < 0.0 {
        return Err(format!("reading.least_change: must be 0 or above, not {}", reading.least_change));
    }
    let is_width = |bits: &u8| (8..=63).contains(bits);
    if let Some(bits) = reading.wraps_at_bits.iter().find(|bits| !is_width(bits)) {
        return Err(format!(
            "reading.wraps_at_bits: must be from 8 to 63, not {bits}; all counters wrap at 64"
        ));
    }
    if reading.saturates_at_bits.is_some_and(|bits| !is_width(&bits)) {
        return Err("reading.saturates_at_bits: must be from 8 to 63".to_string());
    }
    Ok(())
}

/// What has a meaning with `passed` only stays 0 without it.
fn check_numbers(reading: &ReadingFile) -> Result<(), String> {
    let has_passed = !reading.passed.is_empty();
    for (key, value, is_wanted) in [
        ("bytes_per_count", reading.bytes_per_count, has_passed),
        ("floor", reading.floor, true),
        ("active_per_s", reading.active_per_s, has_passed),
        ("most_per_s", reading.most_per_s, true),
    ] {
        if is_wanted && (!value.is_finite() || value <= 0.0) {
            return Err(format!("reading.{key}: must be above 0, not {value}"));
        }
        if !is_wanted && value != 0.0 {
            return Err(format!("reading.{key}: is for a metric with `passed` only"));
        }
    }
    Ok(())
}

fn check_source(file: &MetricFile, source: &SourceFile) -> Result<(), String> {
    crate::Name::parse(&source.schema).map_err(|error| format!("schema: {error}"))?;
    let counters = file.reading.waited.iter().chain(&file.reading.passed);
    for counter in counters.clone() {
        if !source.columns.contains_key(counter) && !file.reading.may_lack.contains(counter) {
            return Err(format!("columns.{counter}: missing; `reading` names that counter"));
        }
    }
    if let Some(unused) = source.columns.keys().find(|key| !counters.clone().any(|counter| counter == *key)) {
        return Err(format!("columns.{unused}: `reading` names no such counter"));
    }
    if let Some(unknown) = source.optional.keys().find(|key| !OPTIONAL.contains(&key.as_str())) {
        return Err(format!("optional.{unknown}: must be {}", OPTIONAL.join(" or ")));
    }
    let by_name = source.part.is_some();
    if by_name != source.part_columns.is_empty() || source.part_columns.len() > 2 {
        return Err("part: give either `part` or one or two `part_columns`".to_string());
    }
    if file.measures == Measures::Application && !source.by_job {
        return Err("by_job: must be true for what jobs report of themselves".to_string());
    }
    if source.by_job && (!matches!(file.measures, Measures::Progress | Measures::Application) || by_name) {
        return Err(
            "by_job: only progress whose file system `part_columns` name is counted by job".to_string()
        );
    }
    if source.by_job && !source.optional.is_empty() {
        return Err("optional: a row by job has no link".to_string());
    }
    if source.part.as_ref().is_some_and(|part| !part.contains('{')) && source.recognised_by.is_empty() {
        return Err("recognised_by: missing; neither `part` nor `part_columns` show the schema".to_string());
    }
    if source.component.is_some() && !by_name {
        return Err("component: a column only where `part` is in the counters' names".to_string());
    }
    for (key, patterns) in source.columns.iter().chain(&source.optional) {
        for pattern in patterns {
            check_pattern(source, pattern).map_err(|what| format!("column {pattern:?} of {key}: {what}"))?;
        }
    }
    Ok(())
}

fn check_pattern(source: &SourceFile, pattern: &str) -> Result<(), String> {
    let parsed = Pattern::parse(pattern).map_err(|error: PatternError| error.to_string())?;
    let Some(part) = &source.part else {
        return match parsed.names_a_part() {
            true => Err("names a part, but the source has no `part`".to_string()),
            false => Ok(()),
        };
    };
    let named: Vec<String> = parsed.placeholders().map(|name| format!("{{{name}}}")).collect();
    match named.iter().all(|name| part.contains(name.as_str())) && named.is_empty() != part.contains('{') {
        true => Ok(()),
        false => Err(format!("must hold the placeholders of part {part:?}")),
    }
}
