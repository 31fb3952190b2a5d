//! Causes of a fall, and their shares.

use super::machine::{Machine, of};
use schemas::{Cause, Episode};

/// Causes of an episode, with the job or series that is named.
fn causes(episode: &Episode) -> Vec<(Cause, String, f64)> {
    episode.causes.iter().map(|c| (c.cause, c.series_or_job.clone(), c.share)).collect()
}

#[test]
fn a_small_newcomer_is_not_blamed_for_a_slower_server() {
    for lead in [0, 2, 5] {
        let mut machine = Machine::new();
        let slow = |s: u32| if (150..300).contains(&s) { 0.35 } else { 1.0 };
        let newcomer = move |s: u32| if s >= 150 - lead { 0.06 } else { 0.0 };
        machine.write(400, &[&slow, &slow, &slow, &slow, &newcomer]);
        let batch = machine.end();
        for client in ["nid0", "nid1", "nid2", "nid3"] {
            let episodes = of(&batch, client);
            assert_eq!(episodes.len(), 1, "lead {lead}, {client}");
            let named: Vec<Cause> = causes(episodes[0]).iter().map(|c| c.0).collect();
            assert_eq!(named, [Cause::Server], "lead {lead}, {client}");
        }
    }
}

#[test]
fn the_newcomer_is_blamed_for_its_share_the_server_for_the_rest() {
    let mut machine = Machine::new();
    // The server loses 0.9 of 3 GB/s, and a newcomer takes 0.9 more.
    let victim = |s: u32| if (150..300).contains(&s) { 0.4 } else { 1.0 };
    let newcomer = |s: u32| if (150..300).contains(&s) { 0.9 } else { 0.0 };
    machine.write(400, &[&victim, &victim, &victim, &newcomer]);
    let batch = machine.end();
    let [episode] = of(&batch, "nid0")[..] else { panic!("one episode") };
    let found = causes(episode);
    let of_server: f64 = found.iter().filter(|c| c.0 == Cause::Server).map(|c| c.2).sum();
    let of_newcomer: f64 = found.iter().filter(|c| c.1.contains("nid3")).map(|c| c.2).sum();
    assert!((of_server - 0.5).abs() < 0.05 && (of_newcomer - 0.5).abs() < 0.05, "{found:?}");
}

#[test]
fn a_client_that_lowers_its_rate_accuses_no_other() {
    let mut machine = Machine::new();
    let own = |s: u32| if (150..300).contains(&s) { 0.25 } else { 1.0 };
    let other = |s: u32| if (150..300).contains(&s) { 1.25 } else { 1.0 };
    machine.write(290, &[&own, &other, &other, &other]);
    assert!(of(&machine.end(), "nid0").is_empty());
}
