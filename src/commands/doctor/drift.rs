//! Whether what ldmsd publishes can be used: silence, reasons, schemas that changed, the registry.

use super::finding::{Finding, Group, Notes};
use super::rows::{RowFacts, TopicRows};
use super::words::{few, many, percent, span};
use schemas::DropReason;
use std::collections::BTreeMap;

/// Share of a topic's rows that may be dropped without a warning, in percent.
const FEW_PERCENT: usize = 1;

/// Rows by reason, topic by topic.
pub fn usable(facts: &RowFacts) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Rows, "rows_used");
    for rows in &facts.topics {
        judge_topic(rows, &mut notes);
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

fn judge_topic(rows: &TopicRows, notes: &mut Notes) {
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
        for (reason, count, example) in &rows.dropped {
            let share = percent(*count, sampled);
            let what = format!(
                "{topic}: {share} of {sampled} sampled rows are not used ({}): {} First: {example}",
                reason.name(),
                reason.meaning()
            );
            let many = count * 100 > sampled * FEW_PERCENT;
            match many && *count == sampled {
                true => notes.error(what, mend(*reason)),
                false if many => notes.warn(what, mend(*reason)),
                false => notes.advise(what, mend(*reason)),
            }
        }
    }
    for (id, (count, why)) in &rows.waiting {
        notes.error(
            format!("{topic}: {} wait for schema {id}: {why}", many(*count, "sampled Avro row")),
            "make the registry answer (schema_registry.url), or put the schema as <id>.avsc into schema_registry.cache_dir",
        );
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

/// Topics that went silent, and those that were replaced by one with another digest.
pub fn silent(facts: &RowFacts, now_s: f64, silent_after_s: f64) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Rows, "rows_arrive");
    let newest = facts.topics.iter().filter_map(|rows| rows.newest_s).fold(f64::NEG_INFINITY, f64::max);
    if !newest.is_finite() {
        notes.unknown("no message has a time");
        return notes.done();
    }
    let age = now_s - newest;
    if age > silent_after_s {
        notes.error(
            format!("no row has come from ldmsd for {}", span(age)),
            "look at the aggregators that publish: `systemctl status ldmsd`, and the log of store_kafka or store_avro_kafka",
        );
    } else {
        notes.ok(format!("rows arrive: the newest is {} old", span(age.max(0.0))));
    }
    let quiet = |rows: &&TopicRows| rows.newest_s.is_some_and(|s| newest - s > silent_after_s);
    let replaced = replacements(facts, silent_after_s);
    for (old, new, since) in &replaced {
        notes.warn(
            format!("{old} went silent {} before {new}: the metric list of the schema changed", span(*since)),
            format!("nothing, if rows of {new} are used; delete {old} once its rows are read"),
        );
    }
    let others =
        facts.topics.iter().filter(quiet).filter(|rows| replaced.iter().all(|(old, ..)| *old != rows.topic));
    // Rows of jobs come at events of jobs only.
    let (jobs, rest): (Vec<_>, Vec<_>) =
        others.partition(|rows| rows.topic.contains("slurm") || rows.topic.contains("job"));
    let named =
        |rows: &&TopicRows| format!("{} ({})", rows.topic, span(now_s - rows.newest_s.unwrap_or(now_s)));
    if !rest.is_empty() {
        notes.warn(
            format!("silent topics: {}", few(&rest.iter().map(named).collect::<Vec<_>>(), 5)),
            "look whether their samplers run: `ldms_ls -h <node> -x sock -p 411`; delete topics that are no longer used",
        );
    }
    if !jobs.is_empty() && age <= silent_after_s {
        notes.ok(format!(
            "rows of jobs come with jobs; last: {}",
            few(&jobs.iter().map(named).collect::<Vec<_>>(), 5)
        ));
    }
    notes.done()
}

/// Topics of one schema of which one went silent while another with another digest continues: old, new, seconds between.
fn replacements(facts: &RowFacts, silent_after_s: f64) -> Vec<(String, String, f64)> {
    let mut schemas: BTreeMap<&str, Vec<(&str, f64)>> = BTreeMap::new();
    for rows in &facts.topics {
        if let Some((schema, newest)) = without_digest(&rows.topic).zip(rows.newest_s) {
            schemas.entry(schema).or_default().push((&rows.topic, newest));
        }
    }
    let mut replaced = Vec::new();
    for topics in schemas.values() {
        let Some((new, newest)) = topics.iter().max_by(|a, b| a.1.total_cmp(&b.1)) else { continue };
        let old = topics.iter().filter(|(_, last)| newest - last > silent_after_s);
        replaced.extend(old.map(|(old, last)| (old.to_string(), new.to_string(), newest - last)));
    }
    replaced
}

/// The topic without the 7 hexadecimal digits of the metric list, if it ends in some.
fn without_digest(topic: &str) -> Option<&str> {
    let (schema, digest) = topic.rsplit_once('_')?;
    let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    (digest.len() == 7 && digest.bytes().all(hex)).then_some(schema)
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

/// Whether the registry answers; `answer` is the number of subjects, or why there is none.
pub fn registry(answer: Option<Result<usize, String>>, avro: bool) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Rows, "schema_registry");
    match answer {
        Some(Ok(subjects)) => notes.ok(format!("the schema registry answers: {}", many(subjects, "subject"))),
        Some(Err(why)) => notes.error(
            format!("the schema registry cannot be used: {why}"),
            "start it, or correct schema_registry.url, user and password_file; until then Avro rows of new schemas wait in Kafka",
        ),
        None if avro => {
            notes.error("rows come as Avro, and no schema registry is configured", "set schema_registry.url");
        }
        None => notes.ok("no schema registry is configured, and no row needs one"),
    }
    notes.done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::finding::Level;

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
        RowFacts { topics, stamps: Vec::new() }
    }

    #[test]
    fn an_unused_topic_is_named_beside_a_good_one() {
        let found = usable(&facts(vec![
            rows("ldms.aries_rtr", 100, &[], 0.0),
            rows("ldms.vmstat", 100, &[(DropReason::UnusedSchema, 100)], 0.0),
        ]));
        assert_eq!([found[0].level, found[1].level], [Level::Ok, Level::Warn]);
        assert!(found[1].what.contains("ldms.vmstat: none of 100"), "{found:?}");
    }

    #[test]
    fn rows_without_any_use_are_an_error() {
        let found = usable(&facts(vec![rows("ldms.x", 10, &[(DropReason::Unattributable, 10)], 0.0)]));
        assert!(found.iter().all(|finding| finding.level == Level::Error), "{found:?}");
        assert!(found[0].mend.contains("producer"));
    }

    #[test]
    fn stray_row_is_listed_without_a_warning() {
        let found = usable(&facts(vec![rows("ldms.x", 1_000, &[(DropReason::InvalidJson, 3)], 0.0)]));
        assert_eq!(found[0].level, Level::Ok);
        assert!(found[0].what.contains("0.3 %"), "{found:?}");
    }

    #[test]
    fn changed_metric_list_is_no_dead_sampler() {
        let topics = vec![
            rows("ldms.ibnet_0a1b2c3", 9, &[], 100.0),
            rows("ldms.ibnet_fffffff", 9, &[], 900.0),
            rows("ldms.lustre_client", 9, &[], 100.0),
        ];
        let found = silent(&facts(topics), 901.0, 60.0);
        let texts: Vec<&str> = found.iter().map(|finding| finding.what.as_str()).collect();
        assert_eq!(texts[0], "rows arrive: the newest is 1.0 s old");
        assert!(texts[1].starts_with("ldms.ibnet_0a1b2c3 went silent"), "{texts:?}");
        assert_eq!(texts[2], "silent topics: ldms.lustre_client (13 min)");
    }

    #[test]
    fn silence_of_all_is_an_error() {
        assert_eq!(silent(&facts(vec![rows("ldms.x", 9, &[], 100.0)]), 300.0, 60.0)[0].level, Level::Error);
    }

    #[test]
    fn a_digest_is_seven_hexadecimal_digits() {
        assert_eq!(without_digest("ldms.ibmad_0123abc"), Some("ldms.ibmad"));
        assert_eq!(without_digest("ldms.metric_set_rtr_1_2_c"), None);
    }
}
