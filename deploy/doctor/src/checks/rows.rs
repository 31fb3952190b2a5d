//! Whether the rows that ldmsd publishes are used, and why not.

use crate::facts::rows::{Numbered, RowFacts, TopicRows};
use crate::finding::{Finding, Group, Notes};
use crate::words::{few, many, percent};
use schemas::DropReason;

/// Columns named in a sentence.
const COLUMNS_NAMED: usize = 4;

/// Rows by reason, topic by topic; a topic of which more than `dropped_share` is dropped is warned of.
pub fn used(facts: &RowFacts, dropped_share: f64) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Rows, "rows_used");
    for rows in &facts.topics {
        judge_topic(rows, dropped_share, &mut notes);
    }
    if facts.topics.is_empty() {
        notes.unknown("there are no rows");
    } else if facts.topics.iter().all(|rows| rows.used == 0) {
        notes.error(
            format!(
                "no row of {} can be used: there will be no results",
                many(facts.topics.len(), "raw topic")
            ),
            "let ldmsd publish Aries, InfiniBand or Lustre sets, or correct kafka.raw_topics",
        );
    }
    notes.done()
}

/// Columns that arrive and are not used, and what the metric that would take them needs besides.
pub fn partial(facts: &RowFacts) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Rows, "columns_unused");
    for (topic, partial) in
        facts.topics.iter().flat_map(|rows| rows.partial.iter().map(move |p| (&rows.topic, p)))
    {
        let (arrive, lack) = (few(&partial.arrive, COLUMNS_NAMED), few(&partial.lack, COLUMNS_NAMED));
        notes.advise(
            format!("{topic}: {} is not measured: {arrive} arrive, {lack} are missing", partial.metric),
            "add the missing columns to the sampler and its decomposition if the metric is wanted",
        );
    }
    if facts.topics.iter().all(|rows| rows.partial.is_empty()) {
        notes.ok("no metric lacks only some of its columns");
    }
    notes.done()
}

/// Whether nodes are named by rows, or by numbers.
pub fn names(facts: &RowFacts) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Rows, "node_names");
    match &facts.numbered {
        None => notes.ok("no sampled row names its node by `component_id` alone"),
        Some(Numbered { component_id, node, is_known: true }) => {
            notes.ok(format!("rows without a producer: component_id {component_id} is {node}, a known host"));
        }
        Some(Numbered { component_id, node, .. }) => notes.warn(
            format!("rows have no producer: component_id {component_id} is taken for {node}, which neither site.file nor site.topology names"),
            "add `producer` to the columns of the store's decomposition, or name the hosts in site.file or site.topology",
        ),
    }
    notes.done()
}

fn judge_topic(rows: &TopicRows, dropped_share: f64, notes: &mut Notes) {
    let (topic, sampled) = (&rows.topic, rows.sampled);
    let lost: usize = rows.dropped.iter().map(|(_, count, _)| count).sum();
    let waiting: usize = rows.waiting.values().map(|(count, _)| count).sum();
    let unused = |(reason, ..): &(DropReason, usize, String)| {
        matches!(reason, DropReason::UnusedSchema | DropReason::UnknownSchema)
    };
    if lost == 0 && waiting == 0 {
        notes.ok(format!("{topic}: all of {sampled} sampled rows are used"));
    } else if lost == sampled && rows.dropped.iter().all(unused) {
        notes.warn(
            format!("{topic}: none of {sampled} sampled rows has data on contention or jobs{}", first(rows)),
            "leave the topic out of kafka.raw_topics: reading it costs time and gives nothing",
        );
    } else {
        let few = dropped_share * sampled as f64;
        rows.dropped.iter().for_each(|dropped| judge_reason((topic, sampled, few), dropped, notes));
    }
    for (id, (count, why)) in &rows.waiting {
        notes.error(
            format!("{topic}: {} wait for schema {id}: {why}", many(*count, "sampled Avro row")),
            "make the registry answer (schema_registry.url), or put the schema as <id>.avsc into schema_registry.cache_dir",
        );
    }
}

fn judge_reason(
    (topic, sampled, few): (&str, usize, f64),
    (reason, count, example): &(DropReason, usize, String),
    notes: &mut Notes,
) {
    let share = percent(*count, sampled);
    let what = format!(
        "{topic}: {share} of {sampled} sampled rows are not used ({}): {} First: {example}",
        reason.name(),
        reason.meaning()
    );
    let many = *count as f64 > few;
    match many && *count == sampled {
        true => notes.error(what, mend(*reason)),
        false if many => notes.warn(what, mend(*reason)),
        false => notes.advise(what, mend(*reason)),
    }
}

fn first(rows: &TopicRows) -> String {
    rows.dropped.first().map_or(String::new(), |(_, _, example)| format!("; first: {example}"))
}

/// What an administrator of ldmsd does about a reason.
fn mend(reason: DropReason) -> &'static str {
    match reason {
        DropReason::InvalidJson => {
            "find the producer of the example: job names with quotes and nan values give no valid JSON; Avro mode avoids both"
        }
        DropReason::Unattributable => {
            "add `producer` and `instance` to the columns of the store's decomposition (as_is leaves them out)"
        }
        DropReason::MissingColumn | DropReason::MissingTimestamp => {
            "add the column to the decomposition in ldmsd's store configuration"
        }
        DropReason::BadTimestamp | DropReason::ClockJump => {
            "set the clock of the node in the example (chronyc tracking)"
        }
        DropReason::UnknownSchemaId => {
            "let ldmsd and Tailback use the same registry, or put the schema as <id>.avsc into schema_registry.cache_dir"
        }
        DropReason::AvroU32Zero => {
            "publish this schema as JSON: the Avro store writes every 32-bit column as 0"
        }
        DropReason::UnknownSchema | DropReason::UnusedSchema => "leave these rows out of the topic",
        DropReason::BadJob => "look at the Slurm sampler of the example: its rows lack job id, node or start",
        DropReason::BadName => "rename what the example shows: letters, digits and a few signs only",
        _ => "look at the row in the example, at the place that is given",
    }
}

/// Rows that the stages did not use so far, by reason.
pub fn dropped(counts: &[(String, i64)]) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Rows, "rows_dropped");
    let named: Vec<String> = counts.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
    match named.is_empty() {
        true => notes.ok("the stages have dropped nothing so far"),
        false => notes.ok(format!("dropped by the stages so far: {}", few(&named, 8))),
    }
    notes.done()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With a limit of 1%.
    fn used_of(facts: &RowFacts) -> Vec<Finding> {
        used(facts, 0.01)
    }
    use crate::finding::Level;
    use aggregator::partial::PartialMetric;

    fn rows(topic: &str, sampled: usize, dropped: &[(DropReason, usize)], newest_s: f64) -> TopicRows {
        let lost: usize = dropped.iter().map(|(_, count)| count).sum();
        let dropped = dropped.iter().map(|(r, n)| (*r, *n, "ldms.x/0:1: row …".to_string())).collect();
        TopicRows {
            topic: topic.into(),
            sampled,
            used: sampled - lost,
            dropped,
            newest_s: Some(newest_s),
            ..TopicRows::default()
        }
    }

    fn facts(topics: Vec<TopicRows>) -> RowFacts {
        RowFacts { topics, ..RowFacts::default() }
    }

    #[test]
    fn an_unused_topic_is_named_beside_a_good_one() {
        let found = used_of(&facts(vec![
            rows("ldms.aries_rtr", 100, &[], 0.0),
            rows("ldms.vmstat", 100, &[(DropReason::UnusedSchema, 100)], 0.0),
        ]));
        assert_eq!([found[0].level, found[1].level], [Level::Ok, Level::Warn]);
        assert!(found[1].what.contains("ldms.vmstat: none of 100"), "{found:?}");
    }

    #[test]
    fn unused_columns_are_named_with_the_missing_ones() {
        let partial = PartialMetric {
            metric: "roce_cnp_ratio",
            arrive: vec!["hw.rp_cnp_handled#mlx5_0.1".into()],
            lack: vec!["port_xmit_packets#{port}".into()],
        };
        let found = partial_of(vec![TopicRows { partial: vec![partial], ..rows("ldms.ib", 10, &[], 0.0) }]);
        let wanted = "ldms.ib: roce_cnp_ratio is not measured: hw.rp_cnp_handled#mlx5_0.1 arrive, port_xmit_packets#{port} are missing";
        assert_eq!((found[0].level, found[0].what.as_str()), (Level::Ok, wanted));
        assert_eq!(partial_of(vec![rows("ldms.ib", 10, &[], 0.0)])[0].level, Level::Ok);
    }

    fn partial_of(topics: Vec<TopicRows>) -> Vec<Finding> {
        partial(&facts(topics))
    }

    #[test]
    fn rows_without_any_use_are_an_error() {
        let found = used_of(&facts(vec![rows("ldms.x", 10, &[(DropReason::Unattributable, 10)], 0.0)]));
        assert!(found.iter().all(|finding| finding.level == Level::Error), "{found:?}");
        assert!(found[0].mend.contains("producer"));
    }

    #[test]
    fn stray_row_is_listed_without_a_warning() {
        let found = used_of(&facts(vec![rows("ldms.x", 1_000, &[(DropReason::InvalidJson, 3)], 0.0)]));
        assert_eq!(found[0].level, Level::Ok);
        assert!(found[0].what.contains("0.3 %"), "{found:?}");
    }
}
