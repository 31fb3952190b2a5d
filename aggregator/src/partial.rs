//! Metrics that a row has some counters of, but not all: for a person who wonders why a column is not used.

use crate::avro::known::Known;
use crate::avro::{AvroSchemas, schema_number};
use crate::json;
use crate::names::plain;
use schemas::Metric;
use schemas::metric::catalogue::catalogue;
use schemas::metric::file::{MetricFile, SourceFile};
use schemas::metric::pattern::Pattern;
use std::collections::BTreeMap;

/// A metric without all of its counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartialMetric {
    /// Its name.
    pub metric: &'static str,
    /// Columns of it that the row has.
    pub arrive: Vec<String>,
    /// Columns that the row would need besides, as the metric's file writes them.
    pub lack: Vec<String>,
}

/// Those of one message of a topic: JSON, or Avro of a known schema. Of several schemas the one that lacks the least counts. A metric
/// all of whose columns another metric uses is left out: traffic is counted for many.
pub fn partial_metrics(message: &[u8], schemas: &AvroSchemas) -> Vec<PartialMetric> {
    let columns = columns(message, schemas);
    let mut found: BTreeMap<Metric, PartialMetric> = BTreeMap::new();
    for (metric, file, source) in catalogue().sources() {
        let Some(partial) = of_source(file, source, &columns) else { continue };
        match found.get(&metric) {
            Some(other) if other.lack.len() <= partial.lack.len() => {}
            _ => _ = found.insert(metric, partial),
        }
    }
    let (whole, partial): (Vec<_>, Vec<_>) = found.into_values().partition(|found| found.lack.is_empty());
    let is_used = |column: &String| whole.iter().any(|metric| metric.arrive.contains(column));
    partial.into_iter().filter(|metric| !metric.arrive.iter().all(is_used)).collect()
}

fn columns(message: &[u8], schemas: &AvroSchemas) -> Vec<String> {
    if let Some(number) = schema_number(message) {
        let Some(Known::Usable(plan)) = schemas.get(number) else { return Vec::new() };
        return plan.names().map(ToString::to_string).collect();
    }
    let text = String::from_utf8_lossy(message);
    let fields = json::fields(text.trim());
    fields.map_or(Vec::new(), |fields| fields.0.iter().map(|(name, _)| plain(name).into_owned()).collect())
}

/// What the row has of a source, if it may be of its schema and has a counter.
fn of_source(file: &'static MetricFile, source: &SourceFile, columns: &[String]) -> Option<PartialMetric> {
    let has = |wanted: &String| columns.iter().find(|column| is_called(column, wanted));
    let is_of_schema = source.part_columns.iter().all(|column| has(column).is_some())
        && !source.not_with.iter().any(|column| has(column).is_some());
    let is_shown_by_signs = source.part.as_ref().is_some_and(|part| !part.contains('{'));
    if !is_of_schema
        || (is_shown_by_signs && !source.recognised_by.iter().all(|column| has(column).is_some()))
    {
        return None;
    }
    let mut partial = PartialMetric { metric: &file.name, arrive: Vec::new(), lack: Vec::new() };
    for counter in file.reading.waited.iter().chain(&file.reading.passed) {
        let patterns = source.columns.get(counter).map_or(&[][..], Vec::as_slice);
        match patterns.iter().find_map(has) {
            Some(column) => partial.arrive.push(column.clone()),
            None if file.reading.may_lack.contains(counter) => {}
            None => partial.lack.extend(patterns.first().cloned()),
        }
    }
    (!partial.arrive.is_empty()).then_some(partial)
}

/// Whether a column has the name, or the pattern, that a metric's file gives.
fn is_called(column: &str, wanted: &str) -> bool {
    let same =
        |a: u8, b: u8| a.eq_ignore_ascii_case(&b) || (matches!(a, b'.' | b'_') && matches!(b, b'.' | b'_'));
    let is_name = column.len() == wanted.len() && column.bytes().zip(wanted.bytes()).all(|(a, b)| same(a, b));
    is_name
        || Pattern::parse(wanted)
            .is_ok_and(|pattern| pattern.names_a_part() && pattern.values(column).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(row: &str) -> Vec<(&'static str, Vec<String>)> {
        let found = partial_metrics(row.as_bytes(), &AvroSchemas::default());
        found.into_iter().map(|partial| (partial.metric, partial.lack)).collect()
    }

    #[test]
    fn metric_that_lacks_a_column_is_found() {
        let row = r#"{"timestamp":1,"producer":"n","port_xmit_wait#mlx5_0.1":1,"port_xmit_data#mlx5_0.1":1,
            "hw.rp_cnp_handled#mlx5_0.1":1}"#;
        assert_eq!(of(row), [("roce_cnp_ratio", vec!["port_xmit_packets#{port}".to_string()])]);
        let whole = row.replace("\"producer\"", "\"port_xmit_packets#mlx5_0.1\":1,\"producer\"");
        assert_eq!(of(&whole), []);
    }

    #[test]
    fn column_of_no_metric_shows_what_would_use_it() {
        // The default of slingshot_metrics with bytes, and nothing that shows waits.
        let row = r#"{"timestamp":1,"producer":"n","nics.name":"cxi0","nics.hni_sts_tx_ok_octets":1}"#;
        let found: Vec<&str> = of(row).into_iter().map(|(metric, _)| metric).collect();
        assert_eq!(found, ["slingshot_flow_stall_ratio", "slingshot_tx_pause_ratio"]);
    }

    #[test]
    fn row_of_another_schema_lacks_nothing() {
        for row in [
            r#"{"timestamp":1,"producer":"n","MemTotal":1}"#,
            r#"{"timestamp":1,"producer":"n","fs_name":"a","llite":"a-1","ost":"a-OST1","write_bytes.sum":1}"#,
            r#"{"timestamp":1,"producer":"n","open":1}"#,
            "[]",
            "no row",
        ] {
            assert_eq!(of(row), [], "{row}");
        }
    }
}
