//! Samplers that went silent, never reported, or are missing.

use crate::finding::{Finding, Group, Notes};
use crate::words::{few, many, span};
use store::read::doctor::Sampler;

/// Producers that are named; the rest is counted.
const NAMED: usize = 5;
/// Silence after which a producer counts as taken out of service.
const GONE_S: f64 = 7.0 * 86_400.0;
/// What to do about a silent sampler.
const START_SAMPLER: &str = "on the node: `systemctl status ldmsd`, then start the sampler again (an Aries sampler stops for \
    good after one read error); the series are unknown until then";

/// Samplers that became silent while others report.
pub fn silent(samplers: &[Sampler], silent_after_s: f64) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Samplers, "samplers_silent");
    let newest = samplers.iter().map(|sampler| sampler.last_s).fold(f64::NEG_INFINITY, f64::max);
    let age = |sampler: &Sampler| newest - sampler.last_s;
    let (gone, served): (Vec<&Sampler>, Vec<&Sampler>) = samplers.iter().partition(|s| age(s) > GONE_S);
    let mut quiet: Vec<&Sampler> = served.iter().copied().filter(|s| age(s) > silent_after_s).collect();
    quiet.sort_by(|a, b| a.last_s.total_cmp(&b.last_s).then_with(|| a.producer.cmp(&b.producer)));
    let spoke = |producer: &str| served.iter().any(|s| s.producer == producer && age(s) <= silent_after_s);
    let named = |s: &&Sampler| {
        let rest = if spoke(&s.producer) { ", the node's other samplers report" } else { "" };
        format!("{} {} (for {}{rest})", s.producer, s.schema, span(age(s)))
    };
    if samplers.is_empty() {
        notes.unknown("no sampler has reported yet; is `tailback run` running?");
    } else if quiet.is_empty() {
        notes.ok(format!("all {} report", many(served.len(), "sampler")));
    } else {
        let (count, all) = (quiet.len(), many(served.len(), "sampler"));
        let what = format!("{count} of {all} are silent: {}", few(quiet.iter().map(named), NAMED));
        match count * 2 > served.len() {
            true => notes.error(what, START_SAMPLER),
            false => notes.warn(what, START_SAMPLER),
        }
    }
    out_of_service(&gone, &mut notes);
    notes.done()
}

fn out_of_service(gone: &[&Sampler], notes: &mut Notes) {
    if gone.is_empty() {
        return;
    }
    let (count, names) = (many(gone.len(), "sampler"), gone.iter().map(|sampler| &sampler.producer));
    notes.advise(
        format!("{count} without rows for more than a week: {}", few(names, NAMED)),
        "nothing, if the nodes were taken out of service",
    );
}

/// Nodes of jobs of which no row ever came, with how many jobs ran there.
pub fn unsampled_nodes(nodes: &[(String, i64)]) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Samplers, "jobs_nodes");
    let named = |(node, jobs): &(String, i64)| format!("{node} ({})", many(*jobs as usize, "job"));
    if nodes.is_empty() {
        notes.ok("every node of the latest day's jobs is sampled");
    } else {
        let (count, names) = (many(nodes.len(), "node"), few(nodes.iter().map(named), NAMED));
        notes.warn(
            format!("no row ever came of {count} on which jobs run: {names}"),
            "start samplers there, or let ldmsd's producer names be those of the scheduler; until then what these jobs \
             lose there is unknown, and their completeness says so",
        );
    }
    notes.done()
}

/// Sources of the site file of which no row ever came, as producer and schema; `expected` are all that it names.
pub fn never_seen(sources: &[(String, String)], expected: usize) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Samplers, "samplers_expected");
    if expected == 0 {
        notes.unknown("no site file lists the expected samplers; name it as [site] file, so that a sampler that never reports is found");
    } else if sources.is_empty() {
        notes.ok(format!("each of {} has reported", many(expected, "expected sampler")));
    } else {
        let names = sources.iter().map(|(producer, schema)| format!("{producer} {schema}"));
        let (count, all) = (sources.len(), many(expected, "expected sampler"));
        notes.error(
            format!("{count} of {all} never reported: {}", few(names, NAMED)),
            "on the node: `systemctl status ldmsd`; is it in an aggregator's list (`tailback ldms-config`), and has the \
             broker a topic of that schema?",
        );
    }
    notes.done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Level;

    fn sampler(producer: &str, schema: &str, last_s: f64) -> Sampler {
        Sampler { producer: producer.into(), schema: schema.into(), last_s }
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
}
