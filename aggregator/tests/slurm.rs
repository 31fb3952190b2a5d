//! Messages of Slurm's plug-in jobcomp/kafka (tests/fixtures/slurm), and of posted events, to jobs.

use aggregator::{Decoded, Decoder, JobBook, Outcome};
use proptest::prelude::*;
use schemas::{DropReason, Job, Name, Time};
use std::path::Path;

const ARRIVED: Time = Time(1_795_300_000_000_000);

fn messages() -> Vec<String> {
    let root = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    let file = Path::new(&root).join("../tests/fixtures/slurm/jobcomp_kafka.jsonl");
    std::fs::read_to_string(file).unwrap().lines().map(str::to_string).collect()
}

fn decode(message: &str) -> (Outcome, Decoded) {
    let mut out = Decoded::default();
    let outcome = Decoder::default().job_message(message.as_bytes(), ARRIVED, &mut out);
    (outcome, out)
}

fn book(messages: &[String]) -> Vec<Job> {
    let mut book = JobBook::default();
    for message in messages {
        book.fold(&decode(message).1.jobs);
    }
    book.jobs().collect()
}

fn shown(job: &Job) -> String {
    let nodes: Vec<&str> = job.nodes.iter().map(Name::as_str).collect();
    let minutes = |time: Time| (time.0 / 1_000_000 - 1_795_239_000) as f64 / 60.0;
    let end = job.end.map_or("…".into(), |end| format!("{:.1}", minutes(end)));
    let label = if job.label.is_empty() { "-" } else { &job.label };
    format!("{} {label} {} {:.1}-{end} {}", job.job_id, job.name, minutes(job.start), nodes.join(","))
}

#[test]
fn jobs_of_jobcomp_kafka_are_what_sacct_would_show() {
    let found: Vec<String> = book(&messages()).iter().map(shown).collect();
    let wanted = [
        "1234 - a \"quoted\" name 0.0-1.7 nid00001,nid00002",
        "1241 1235_7 ior 0.0-0.5 nid00003",
        "1251 1250+1 ior 2.0-3.0 nid00004,nid00006",
        "1260 - ior 0.0-5.0 nid00007",
        "1260.r1 - ior 7.0-9.0 nid00008",
    ];
    assert_eq!(found, wanted);
    assert_eq!(book(&messages()[..1])[0].end, None, "it runs");
}

#[test]
fn jobs_of_pbs_and_flux_are_named_as_users_call_them() {
    let posted = |job_id: &str| format!(r#"{{"job_id":"{job_id}","nodes":"n1","start":1795239000}}"#);
    let found: Vec<String> =
        ["1234[5].pbs01", "1240.pbs01", "ƒ2yDR3kVs1y"].map(|id| shown(&book(&[posted(id)])[0])).into();
    assert_eq!(
        found,
        ["1234:5.pbs01 1234[5]  0.0-… n1", "1240.pbs01 1240  0.0-… n1", "f2yDR3kVs1y ƒ2yDR3kVs1y  0.0-… n1"]
    );
    assert_eq!(decode(&posted("1234[].pbs01")).0, Outcome::Dropped(DropReason::BadName));
}

#[test]
fn jobs_of_two_clusters_with_one_number_are_two_jobs() {
    let of = |cluster: &str, node: &str| {
        format!(r#"{{"job_id":"7","cluster":"{cluster}","nodes":"{node}","start":1795239000}}"#)
    };
    let jobs = |home: &str| {
        let (mut decoder, mut out) = (Decoder::default(), Decoded::default());
        decoder.set_home_cluster(home);
        let outcomes = [of("alpha", "a1"), of("beta", "b1")]
            .map(|message| decoder.job_message(message.as_bytes(), ARRIVED, &mut out));
        let mut book = JobBook::default();
        book.fold(&out.jobs);
        let names_key =
            decoder.job_refusal().contains("beta: alpha reports jobs, too; set kafka.home_cluster");
        assert_eq!(names_key, home.is_empty(), "{}", decoder.job_refusal());
        (outcomes[1], book.jobs().map(|job| shown(&job)).collect::<Vec<_>>())
    };
    assert_eq!(jobs("Alpha").1, ["7 -  0.0-… a1", "7@beta 7  0.0-… b1"]);
    assert_eq!(jobs(""), (Outcome::Dropped(DropReason::BadJob), vec!["7 -  0.0-… a1".to_string()]));
}

#[test]
fn messages_taken_again_and_backwards_make_no_difference() {
    let mut messages = messages();
    let straight = book(&messages);
    messages.reverse();
    messages.extend(messages.clone());
    assert_eq!(book(&messages), straight);
}

#[test]
fn a_job_that_never_ran_is_passed_over() {
    assert_eq!(decode(messages().last().unwrap()).0, Outcome::Skipped);
}

#[test]
fn posted_events_are_decoded_and_bad_messages_counted_by_reason() {
    let (outcome, out) = decode(r#"{"job_id":"7","label":"6_1","nodes":"n[1-3]","end":1795217419}"#);
    assert_eq!((outcome, out.jobs[0].nodes.len(), out.jobs[0].start), (Outcome::Jobs(1), 3, None));
    for (message, reason) in [
        ("", DropReason::InvalidJson),
        ("[]", DropReason::InvalidJson),
        (r#"{"jobid":0,"nodes":"a","@end":"2026-11-21T05:30:00"}"#, DropReason::BadJob),
        (r#"{"jobid":7,"nodes":"a"}"#, DropReason::BadJob),
        (r#"{"jobid":7,"nodes":"a[","@end":"2026-11-21T05:30:00"}"#, DropReason::BadName),
        (r#"{"jobid":7,"nodes":"n[0-99999999]","@end":"2026-11-21T05:30:00"}"#, DropReason::BadName),
        (r#"{"jobid":7,"nodes":"a","@end":"yesterday"}"#, DropReason::BadTimestamp),
        (r#"{"job_id":"a b","nodes":"a","end":1795217419}"#, DropReason::BadName),
        (r#"{"job_id":"7","nodes":"a","end":4102444800}"#, DropReason::BadJob),
        (r#"{"timestamp":1795217419.0,"producer":"nid00001"}"#, DropReason::BadJob),
    ] {
        assert_eq!(decode(message).0, Outcome::Dropped(reason), "{message}");
    }
}

proptest! {
    #[test]
    fn damaged_messages_never_panic(line in 0..7_usize, at in 0..900_usize, with in "\\PC{0,3}") {
        let mut message = messages()[line].clone();
        let at = (0..=at.min(message.len())).rev().find(|at| message.is_char_boundary(*at)).unwrap_or(0);
        let end = (at + 1..=message.len()).find(|end| message.is_char_boundary(*end)).unwrap_or(at);
        message.replace_range(at..end, &with);
        decode(&message);
    }
}
