//! Samplers that went silent, and clocks that differ.

use super::finding::{Finding, Group, Notes};
use super::rows::Stamp;
use super::words::{few, many, median, span};
use std::collections::BTreeMap;

/// Producers that are named; the rest is counted.
const NAMED: usize = 5;
/// Silence after which a producer counts as taken out of service.
const GONE_S: f64 = 7.0 * 86_400.0;
/// Fewest rows from which a clock is judged.
const ROWS_LEAST: usize = 3;

/// A sampler: what a producer reports of one schema, and when its last row came.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampler {
    /// The node.
    pub producer: String,
    /// The schema.
    pub schema: String,
    /// Timestamp of its newest row, in seconds since the epoch.
    pub last_s: f64,
}

/// Samplers that became silent while others report.
pub fn silent(samplers: &[Sampler], silent_after_s: f64) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Samplers, "samplers_silent");
    let newest = samplers.iter().map(|sampler| sampler.last_s).fold(f64::NEG_INFINITY, f64::max);
    let age = |sampler: &&Sampler| newest - sampler.last_s;
    let (gone, served): (Vec<_>, Vec<_>) = samplers.iter().partition(|sampler| age(sampler) > GONE_S);
    let mut quiet: Vec<&Sampler> = served.iter().copied().filter(|s| age(s) > silent_after_s).collect();
    quiet.sort_by(|a, b| a.last_s.total_cmp(&b.last_s).then_with(|| a.producer.cmp(&b.producer)));
    let spoke = |producer: &str| served.iter().any(|s| s.producer == producer && age(s) <= silent_after_s);
    let named: Vec<String> = quiet
        .iter()
        .take(NAMED + 1)
        .map(|s| {
            let rest = if spoke(&s.producer) { ", the node's other samplers report" } else { "" };
            format!("{} {} (for {}{rest})", s.producer, s.schema, span(age(s)))
        })
        .collect();
    if samplers.is_empty() {
        notes.unknown("no sampler has reported yet; is `tailback run` running?");
    } else if quiet.is_empty() {
        notes.ok(format!("all {} report", many(served.len(), "sampler")));
    } else {
        let listed = few(&named[..named.len().min(NAMED)], NAMED);
        let more = quiet.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let what = format!("{} of {} are silent: {listed}{more}", quiet.len(), many(served.len(), "sampler"));
        let mend = "on the node: `systemctl status ldmsd`, then start the sampler again (an Aries sampler stops for good \
                    after one read error); the series are unknown until then";
        match quiet.len() * 2 > served.len() {
            true => notes.error(what, mend),
            false => notes.warn(what, mend),
        }
    }
    if !gone.is_empty() {
        let names: Vec<&str> = gone.iter().map(|sampler| sampler.producer.as_str()).collect();
        notes.advise(
            format!(
                "{} without rows for more than a week: {}",
                many(gone.len(), "sampler"),
                few(&names, NAMED)
            ),
            "nothing, if the nodes were taken out of service",
        );
    }
    notes.done()
}

/// Nodes of jobs of which no row ever came, with how many jobs ran there.
pub fn unsampled_nodes(nodes: &[(String, i64)]) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Samplers, "jobs_nodes");
    let named: Vec<String> = nodes
        .iter()
        .take(NAMED)
        .map(|(node, jobs)| format!("{node} ({})", many(*jobs as usize, "job")))
        .collect();
    if nodes.is_empty() {
        notes.ok("every node of the latest day's jobs is sampled");
    } else {
        let more = nodes.len() - named.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        notes.warn(
            format!(
                "no row ever came of {} on which jobs run: {}{more}",
                many(nodes.len(), "node"),
                few(&named, NAMED)
            ),
            "start samplers there, or let ldmsd's producer names be those of the scheduler; until then what these jobs \
             lose there is unknown, and their completeness says so",
        );
    }
    notes.done()
}

/// Sources of the site file of which no row ever came, as producer and schema; `expected` are all that it names.
pub fn never_seen(sources: &[(String, String)], expected: usize) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Samplers, "samplers_expected");
    let named: Vec<String> =
        sources.iter().take(NAMED).map(|(producer, schema)| format!("{producer} {schema}")).collect();
    if expected == 0 {
        notes.unknown("no site file lists the expected samplers; name it as [site] file, so that a sampler that never reports is found");
    } else if sources.is_empty() {
        notes.ok(format!("each of {} has reported", many(expected, "expected sampler")));
    } else {
        let more = sources.len() - named.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        notes.error(
            format!(
                "{} of {} never reported: {}{more}",
                sources.len(),
                many(expected, "expected sampler"),
                few(&named, NAMED)
            ),
            "on the node: `systemctl status ldmsd`; is it in an aggregator's list (`tailback ldms-config`), and has the \
             broker a topic of that schema?",
        );
    }
    notes.done()
}

/// Clocks of producers: what lies between a row's timestamp and Kafka's, against the others'.
pub fn skewed(stamps: &[Stamp], skew_warn_s: f64, now_s: f64) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Samplers, "clocks");
    let mut delays: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for stamp in stamps {
        delays.entry(&stamp.producer).or_default().push(stamp.arrived_s - stamp.row_s);
    }
    let enough = delays.into_iter().filter(|(_, delays)| delays.len() >= ROWS_LEAST);
    let medians: Vec<(&str, f64)> =
        enough.filter_map(|(p, mut delays)| Some((p, median(&mut delays)?))).collect();
    let all = median(&mut medians.iter().map(|(_, median)| *median).collect::<Vec<_>>());
    let Some(all) = all.filter(|_| medians.len() > 1) else {
        notes.unknown("it takes rows of two producers to compare their clocks");
        return notes.done();
    };
    // A clock that is ahead makes rows look as if they had hardly travelled.
    let mut off: Vec<(&str, f64)> = medians.iter().map(|(p, median)| (*p, all - median)).collect();
    off.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let far: Vec<String> = off
        .iter()
        .filter(|(_, ahead)| ahead.abs() > skew_warn_s)
        .map(|(p, ahead)| format!("{p} {} {}", span(*ahead), if *ahead > 0.0 { "ahead" } else { "behind" }))
        .collect();
    match far.is_empty() {
        true => {
            let worst = off.first().map_or(0.0, |(_, ahead)| ahead.abs());
            notes.ok(format!("the clocks of {} agree within {}", many(medians.len(), "producer"), span(worst)));
        }
        false => notes.warn(
            format!("clocks differ: {} of {}: {}", far.len(), many(medians.len(), "producer"), few(&far, NAMED)),
            "on these nodes: `chronyc tracking`, then `chronyc makestep`; rows behind the lateness are dropped",
        ),
    }
    notes.ok(format!("rows reach Kafka {} after they were sampled (median)", span(all)));
    future(stamps, now_s, skew_warn_s, &mut notes);
    notes.done()
}

fn future(stamps: &[Stamp], now_s: f64, skew_warn_s: f64, notes: &mut Notes) {
    let ahead = |stamp: &&Stamp| stamp.row_s - stamp.arrived_s.min(now_s);
    let early: Vec<&Stamp> = stamps.iter().filter(|stamp| ahead(stamp) > skew_warn_s).collect();
    let Some(worst) = early.iter().max_by(|a, b| ahead(a).total_cmp(&ahead(b))) else { return };
    notes.warn(
        format!(
            "{} of {} are from the future, the farthest {} ahead from {}",
            early.len(),
            many(stamps.len(), "sampled row"),
            span(ahead(worst)),
            worst.producer
        ),
        "set the clock of that node, or of this machine and the brokers if all are ahead (`chronyc tracking`)",
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::finding::Level;

    fn sampler(producer: &str, schema: &str, last_s: f64) -> Sampler {
        Sampler { producer: producer.into(), schema: schema.into(), last_s }
    }

    fn stamps(producer: &str, delays: [f64; 3]) -> Vec<Stamp> {
        let stamp = |(i, delay): (usize, &f64)| Stamp {
            producer: producer.into(),
            row_s: 100.0 + i as f64,
            arrived_s: 100.0 + i as f64 + delay,
        };
        delays.iter().enumerate().map(stamp).collect()
    }

    #[test]
    fn silent_sampler_differs_from_silent_node() {
        let samplers = [
            sampler("n1", "aries_rtr", 100.0),
            sampler("n1", "lustre_client", 1_000.0),
            sampler("n2", "lustre_client", 500.0),
            sampler("n3", "lustre_client", 990.0),
            sampler("n4", "lustre_client", 990.0),
        ];
        let found = silent(&samplers, 60.0);
        assert_eq!(found[0].level, Level::Warn);
        assert_eq!(
            found[0].what,
            "2 of 5 samplers are silent: n1 aries_rtr (for 15 min, the node's other samplers report), \
             n2 lustre_client (for 8 min)"
        );
    }

    #[test]
    fn many_silent_samplers_are_counted_and_an_error() {
        let mut samplers: Vec<Sampler> = (0..9).map(|i| sampler(&format!("n{i}"), "x", 0.0)).collect();
        samplers.push(sampler("n9", "x", 100.0));
        let found = silent(&samplers, 60.0);
        assert_eq!(found[0].level, Level::Error);
        assert!(found[0].what.ends_with("n4 x (for 100 s) and 4 more"), "{found:?}");
    }

    #[test]
    fn job_nodes_without_samplers_are_named_and_counted() {
        let nodes: Vec<(String, i64)> = (1..=7).map(|i| (format!("n{i}"), i)).collect();
        let found = unsampled_nodes(&nodes);
        assert_eq!(found[0].level, Level::Warn);
        let named = "n1 (1 job), n2 (2 jobs), n3 (3 jobs), n4 (4 jobs), n5 (5 jobs) and 2 more";
        assert_eq!(found[0].what, format!("no row ever came of 7 nodes on which jobs run: {named}"));
        assert_eq!(unsampled_nodes(&[])[0].level, Level::Ok);
    }

    #[test]
    fn expected_samplers_that_never_reported_are_named_and_counted() {
        let source = |n: usize| (format!("n{n}"), "lustre_client".to_string());
        let found = never_seen(&(1..=6).map(source).collect::<Vec<_>>(), 100);
        assert_eq!(found[0].level, Level::Error);
        assert!(found[0].what.starts_with("6 of 100 expected samplers never reported: n1 lustre_client"));
        assert!(found[0].what.ends_with("and 1 more"), "{found:?}");
        assert_eq!(never_seen(&[], 100)[0].level, Level::Ok);
    }

    #[test]
    fn nodes_out_of_service_are_no_warning() {
        let found = silent(&[sampler("n1", "x", 0.0), sampler("n2", "x", 1e6)], 60.0);
        assert_eq!([found[0].level, found[1].level], [Level::Ok; 2]);
    }

    #[test]
    fn a_clock_is_judged_against_the_others() {
        let mut all = stamps("n1", [0.1, 0.12, 0.1]);
        all.extend(stamps("n2", [0.11, 0.1, 5.0]));
        all.extend(stamps("n3", [-1.9, -1.9, -1.8]));
        let found = skewed(&all, 0.5, 1_000.0);
        assert!(found[0].what.contains("1 of 3 producers: n3 2.0 s ahead"), "{found:?}");
        assert!(found[2].what.starts_with("3 of 9 sampled rows are from the future"), "{found:?}");
    }

    #[test]
    fn agreeing_clocks_are_reported_with_the_delay() {
        let mut all = stamps("n1", [0.1, 0.1, 0.1]);
        all.extend(stamps("n2", [0.15, 0.15, 0.15]));
        let found = skewed(&all, 0.5, 1_000.0);
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].what, "rows reach Kafka 125 ms after they were sampled (median)");
    }
}
