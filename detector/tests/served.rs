//! Jobs that only servers show: they take what clients lose, and are named.

use super::machine::{GB, Machine, at, name, of};
use schemas::{Cause, DropReason, Episode, Job, Metric, Name, Source, SourceIndex, job_words};

/// A source of one OST.
fn ost(machine: &mut Machine, number: u32) -> SourceIndex {
    machine.sources.intern(Source {
        schema: name("lustre_ost_job_stats"),
        producer: name("oss1"),
        metrics: vec![Metric::from_name("lustre_write_rate").unwrap()],
        component: name("oss1"),
        set: Some(name(&format!("snx-OST{number:04}"))),
        parts: vec![name("snx")],
        rank: 0,
        by_job: true,
    })
}

/// Seconds in which the other job writes.
fn is_contended(second: u32) -> bool {
    (150..300).contains(&second)
}

/// Four clients of job 10 of which each writes 1 GB/s, and 0.4 GB/s in contention; two OSTs count for `jobs` what `rate` gives in
/// GB/s of each.
fn played(clients: usize, jobs: &[&str], rate: impl Fn(&str, u32) -> f64) -> Machine {
    played_beside(clients, jobs, rate, 0.0)
}

/// The same beside a client of no job that writes as those of job 10 do, but whose clock is so many seconds ahead; 0 for none.
fn played_beside(clients: usize, jobs: &[&str], rate: impl Fn(&str, u32) -> f64, ahead_s: f64) -> Machine {
    let mut machine = Machine::new();
    let nodes: Vec<String> = (0..clients).map(|n| format!("nid{n}")).collect();
    machine.detector.job(victim(nodes.iter().map(|node| name(node)).collect()));
    let written = Metric::from_name("lustre_write_rate").unwrap();
    let sources: Vec<SourceIndex> =
        nodes.iter().map(|node| machine.source(written, node, node, &["snx"])).collect();
    let ahead = machine.source(written, "ahead", "ahead", &["snx"]);
    let osts = [1, 2].map(|number| ost(&mut machine, number));
    let mut of_client = 0.0;
    let mut of_jobs = vec![0.0; jobs.len()];
    for second in 0..400_u32 {
        let time = f64::from(second);
        for source in &sources {
            machine.row(*source, at(time + 0.002), &[of_client as u64]);
        }
        if ahead_s > 0.0 {
            machine.row(ahead, at(time + ahead_s), &[of_client as u64]);
        }
        of_client += GB * if is_contended(second) { 0.4 } else { 1.0 };
        for (job, counted) in jobs.iter().zip(&mut of_jobs) {
            if rate(job, second) == 0.0 && *counted == 0.0 {
                continue;
            }
            for ost in osts {
                let mut row = vec![(*counted / 2.0) as u64];
                row.extend(job_words::pack(&name(job)).unwrap());
                machine.row(ost, at(time + 0.01), &row);
            }
        }
        for (job, counted) in jobs.iter().zip(&mut of_jobs) {
            *counted += rate(job, second) * GB;
        }
    }
    machine
}

fn victim(nodes: Vec<Name>) -> Job {
    let (label, user, app) = (String::new(), String::new(), None);
    let (job_id, start, end_presumed) = (name("10"), at(0.0), false);
    Job { job_id, label, user, name: String::new(), nodes, start, end: None, end_presumed, app }
}

/// Cause and named job or series of the only episode of a client, with its share.
fn causes(machine: Machine, client: &str) -> Vec<(Cause, String, f64)> {
    let batch = machine.end();
    let [episode] = of(&batch, client)[..] else { panic!("{:?}", of(&batch, client)) };
    let causes = |episode: &Episode| {
        let all = episode.causes.iter().map(|c| (c.cause, c.series_or_job.clone(), c.share));
        all.collect()
    };
    causes(episode)
}

#[test]
fn job_that_only_servers_show_is_the_culprit() {
    let own = |second| if is_contended(second) { 1.6 } else { 4.0 };
    let rate = |job: &str, second| match job {
        "10" => own(second),
        _ if is_contended(second) => 2.4,
        _ => 0.0,
    };
    let found = causes(played(4, &["10", "77"], rate), "nid0");
    let [(cause, job, share)] = &found[..] else { panic!("{found:?}") };
    assert_eq!((*cause, job.as_str()), (Cause::OtherJob, "77"));
    assert!((0.9..=1.0).contains(share), "{found:?}");
}

#[test]
fn clock_of_a_client_that_is_ahead_makes_no_row_of_a_server_late() {
    let rate = |job: &str, second| match job {
        "10" if is_contended(second) => 1.6,
        "10" => 4.0,
        _ if is_contended(second) => 2.4,
        _ => 0.0,
    };
    for ahead_s in [30.0, 86_400.0] {
        let batch = played_beside(4, &["10", "77"], rate, ahead_s).end();
        assert_eq!(batch.drops.get(DropReason::Late), 0, "{ahead_s} s ahead: {:?}", batch.drops);
        let [episode] = of(&batch, "nid0")[..] else { panic!("{ahead_s} s ahead") };
        assert_eq!(episode.causes[0].series_or_job, "77", "{ahead_s} s ahead: {:?}", episode.causes);
    }
}

#[test]
fn single_client_has_servers_as_witnesses() {
    let rate = |job: &str, second| match job {
        "10" if is_contended(second) => 0.4,
        "10" => 1.0,
        _ if is_contended(second) => 0.6,
        _ => 0.0,
    };
    let found = causes(played(1, &["10", "77"], rate), "nid0");
    assert_eq!((found[0].0, found[0].1.as_str()), (Cause::OtherJob, "77"), "{found:?}");
}

/// Jobs and series that episodes name beside the server.
fn blamed(machine: Machine) -> Vec<String> {
    let batch = machine.end();
    let causes = batch.episodes.iter().flat_map(|episode| &episode.causes);
    causes.filter(|cause| cause.cause != Cause::Server).map(|cause| cause.series_or_job.clone()).collect()
}

#[test]
fn names_that_are_not_the_schedulers_blame_no_job() {
    let rate = |_: &str, second| if is_contended(second) { 1.6 } else { 4.0 };
    assert_eq!(blamed(played(4, &["ior.1000"], rate)), [""; 0]);
}

#[test]
fn own_job_as_servers_count_it_is_no_other_job() {
    let rate = |_: &str, second| if is_contended(second) { 1.6 } else { 4.0 };
    assert_eq!(blamed(played(4, &["10"], rate)), [""; 0]);
}
