//! Whether rows arrive: silence, and schemas that changed.

use crate::facts::rows::{RowFacts, TopicRows};
use crate::finding::{Finding, Group, Notes};
use crate::words::{few, span};
use std::collections::BTreeMap;

/// Whether rows arrive, which topics went silent, and which were replaced by one with another digest.
pub fn check(facts: &RowFacts, now_s: f64, silent_after_s: f64) -> Vec<Finding> {
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
    let replaced = replacements(facts, silent_after_s);
    for (old, new, since) in &replaced {
        notes.warn(
            format!("{old} went silent {} before {new}: the metric list of the schema changed", span(*since)),
            format!("nothing, if rows of {new} are used; delete {old} once its rows are read"),
        );
    }
    let quiet = |rows: &&TopicRows| rows.newest_s.is_some_and(|s| newest - s > silent_after_s);
    let is_replaced = |rows: &TopicRows| replaced.iter().any(|(old, ..)| *old == rows.topic);
    let others = facts.topics.iter().filter(quiet).filter(|rows| !is_replaced(rows));
    silent(others, age <= silent_after_s, now_s, &mut notes);
    notes.done()
}

/// Topics that are silent; `arrive` is whether rows of others arrive.
fn silent<'a>(topics: impl Iterator<Item = &'a TopicRows>, arrive: bool, now_s: f64, notes: &mut Notes) {
    // Rows of jobs come at events of jobs only.
    let (jobs, rest): (Vec<_>, Vec<_>) =
        topics.partition(|rows| rows.topic.contains("slurm") || rows.topic.contains("job"));
    let named =
        |rows: &&TopicRows| format!("{} ({})", rows.topic, span(now_s - rows.newest_s.unwrap_or(now_s)));
    if !rest.is_empty() {
        notes.warn(
            format!("silent topics: {}", few(rest.iter().map(named), 5)),
            "look whether their samplers run: `ldms_ls -h <node> -x sock -p 411`; delete topics that are no longer used",
        );
    }
    if !jobs.is_empty() && arrive {
        notes.ok(format!("rows of jobs come with jobs; last: {}", few(jobs.iter().map(named), 5)));
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Level;

    fn rows(topic: &str, newest_s: f64) -> TopicRows {
        TopicRows { topic: topic.into(), newest_s: Some(newest_s), ..TopicRows::default() }
    }

    fn facts(topics: Vec<TopicRows>) -> RowFacts {
        RowFacts { topics, ..RowFacts::default() }
    }

    #[test]
    fn changed_metric_list_is_no_dead_sampler() {
        let topics = vec![
            rows("ldms.ibnet_0a1b2c3", 100.0),
            rows("ldms.ibnet_fffffff", 900.0),
            rows("ldms.lustre_client", 100.0),
        ];
        let found = check(&facts(topics), 901.0, 60.0);
        let texts: Vec<&str> = found.iter().map(|finding| finding.what.as_str()).collect();
        assert_eq!(texts[0], "rows arrive: the newest is 1.0 s old");
        assert!(texts[1].starts_with("ldms.ibnet_0a1b2c3 went silent"), "{texts:?}");
        assert_eq!(texts[2], "silent topics: ldms.lustre_client (13 min)");
    }

    #[test]
    fn silence_of_all_is_an_error() {
        assert_eq!(check(&facts(vec![rows("ldms.x", 100.0)]), 300.0, 60.0)[0].level, Level::Error);
    }

    #[test]
    fn a_digest_is_seven_hexadecimal_digits() {
        assert_eq!(without_digest("ldms.ibmad_0123abc"), Some("ldms.ibmad"));
        assert_eq!(without_digest("ldms.metric_set_rtr_1_2_c"), None);
    }
}
