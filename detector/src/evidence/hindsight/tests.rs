use super::*;

const FIRST: i64 = 1_000;

fn job(number: &str) -> Mover {
    let metric = Metric::from_name("lustre_write_rate").unwrap();
    (Taker::Job(Name::parse(number).unwrap()), metric)
}

/// What jobs 1 and 2 move, in stretches of so many blocks; one client each.
fn review(stretches: &[(i64, f64, f64)], earlier: Option<f64>) -> Review {
    let mut traffic = Traffic::default();
    let mut block = FIRST;
    for (blocks, one, two) in stretches {
        for _ in 0..*blocks {
            // A little noise that is the same each time.
            let noise = 1.0 + 0.01 * (block % 3 - 1) as f64;
            let rates = [("1", *one), ("2", *two)];
            let rates = rates.map(|(id, rate)| (job(id), [rate * noise, SPAN_TICKS]));
            traffic.note(block, &rates.into_iter().collect());
            block += 1;
        }
    }
    let known = |id: &Name, _| {
        let level = |rate| Level { rate, error: 0.1, reference: Vec::new(), others: 0.0 };
        let earlier = earlier.filter(|_| id.as_str() == "1").map(level);
        Known { start: FIRST, earlier, least_effect: 0.05 }
    };
    traffic.review(block + AWAITED, &Losses::default(), known)
}

fn lost_blocks(review: &Review, number: &str) -> f64 {
    review.jobs[&job(number)].lost.iter().map(|block| block.lost * block.active).sum()
}

#[test]
fn job_that_rises_when_another_leaves_lost_before() {
    let review = review(&[(10, 50.0, 50.0), (5, 100.0, 0.0)], None);
    let lost = lost_blocks(&review, "1");
    assert!((lost - 5.0).abs() < 0.3, "{lost} of 5 blocks");
    let seen = &review.jobs[&job("1")];
    assert!(seen.is_quiet && seen.lost.iter().all(|block| *block.takers == [(job("2").0, 1.0)]), "{seen:?}");
    assert!(!review.jobs[&job("2")].is_quiet, "it moved nothing without job 1");
}

#[test]
fn job_that_rises_of_its_own_lost_nothing() {
    let review = review(&[(10, 50.0, 50.0), (5, 100.0, 50.0), (10, 50.0, 50.0)], None);
    assert_eq!((lost_blocks(&review, "1"), lost_blocks(&review, "2")), (0.0, 0.0));
}

#[test]
fn small_loss_shows_in_many_blocks_only() {
    let few = review(&[(SMALL_BLOCKS as i64 - 1, 92.0, 50.0), (5, 100.0, 0.0)], None);
    assert_eq!(lost_blocks(&few, "1"), 0.0);
    let unsure = few.jobs[&job("1")].unsure;
    assert!((unsure - 0.64).abs() < 0.1, "{unsure} of 0.64 blocks");
    let many = lost_blocks(&review(&[(20, 92.0, 50.0), (5, 100.0, 0.0)], None), "1");
    assert!((many - 1.6).abs() < 0.1, "{many} of 1.6 blocks");
}

#[test]
fn earlier_run_shows_what_a_job_lost_that_never_ran_quiet() {
    let levels = &[(10, 50.0, 50.0)];
    assert_eq!(lost_blocks(&review(levels, None), "1"), 0.0);
    let review = review(levels, Some(100.0));
    let lost = lost_blocks(&review, "1");
    assert!((lost - 5.0).abs() < 0.3, "{lost} of 5 blocks");
    let seen = &review.jobs[&job("1")];
    assert!(seen.is_of_earlier_run() && !seen.is_quiet && seen.contended.len() > 5, "{seen:?}");
    assert_eq!(*seen.lost[0].takers, [(job("2").0, 1.0)]);
}

#[test]
fn job_whose_blocks_alternate_is_not_judged_by_their_mean() {
    let stretches: Vec<(i64, f64, f64)> = [(1, 100.0, 0.0), (1, 30.0, 400.0)].repeat(6);
    let seen = review(&stretches, None).jobs[&job("1")].clone();
    assert!(seen.lost.is_empty() && !seen.is_quiet, "{seen:?}");
}

#[test]
fn nothing_is_known_of_a_job_that_just_began() {
    assert!(review(&[(LEAST_BLOCKS as i64 - 1, 50.0, 50.0)], None).jobs.is_empty());
}

/// Job 1 while its servers are slow for blocks 10 to 30 and it lacks the part `lack`.
fn beside_slow_servers(lack: f64, known: bool) -> Hindsight {
    around_slow_servers(0, |is_slow, _| if is_slow { 1.0 - lack } else { 1.0 }, known)
}

/// Job 1, which starts with block `start` and moves the `part` of its level, while servers are slow for blocks 10 to 30.
fn around_slow_servers(start: i64, part: impl Fn(bool, i64) -> f64, known: bool) -> Hindsight {
    let mut traffic = Traffic::default();
    for at in 0..40 {
        let is_slow = (10..30).contains(&at);
        let noise = 1.0 + 0.02 * (at % 3 - 1) as f64;
        let one = if at < start { 0.0 } else { 100.0 * noise * part(is_slow, at) };
        let two = if is_slow { 40.0 } else { 100.0 };
        let rates = [("1", one), ("2", two)].map(|(id, rate)| (job(id), [rate, SPAN_TICKS]));
        traffic.note(FIRST + at, &rates.into_iter().collect());
    }
    let slow: BTreeSet<i64> = (FIRST + 10..FIRST + 30).filter(|_| known).collect();
    let all = slow.iter().map(|block| (*block, None)).collect();
    let losses = Losses { all, of_several: BTreeSet::new(), to_servers: slow };
    let known = |id: &Name, _| {
        let start = if id.as_str() == "1" { start } else { 0 };
        Known { start: FIRST + start, earlier: None, least_effect: 0.05 }
    };
    traffic.review(FIRST + 40 + AWAITED, &losses, known).jobs[&job("1")].clone()
}

#[test]
fn small_fall_beside_slow_servers_is_a_loss_to_them() {
    let seen = beside_slow_servers(0.08, true);
    let lost: f64 = seen.lost.iter().map(|block| block.lost * block.active).sum();
    assert!((lost - 1.6).abs() < 0.2 && seen.lost.iter().all(|block| block.by_server), "{seen:?}");
}

#[test]
fn fall_too_small_to_report_widens_the_upper_end() {
    let seen = beside_slow_servers(0.04, true);
    let most = seen.unseen.map_or(0.0, |unseen| unseen.lost);
    assert!(seen.lost.is_empty() && (0.8..1.6).contains(&most), "{seen:?}");
    let undecided = beside_slow_servers(0.08, false);
    let most = undecided.unseen.map_or(0.0, |unseen| unseen.lost);
    assert!(undecided.lost.is_empty() && (1.6..2.6).contains(&most), "{undecided:?}");
}

#[test]
fn job_that_starts_beside_slow_servers_lost_until_they_are_well() {
    let seen = around_slow_servers(12, |is_slow, _| if is_slow { 0.4 } else { 1.0 }, true);
    let lost: f64 = seen.lost.iter().map(|block| block.lost * block.active).sum();
    assert!((lost - 10.8).abs() < 0.6 && seen.lost.iter().all(|block| block.by_server), "{seen:?}");
    assert!(seen.unknown.is_empty() && seen.unsure < 1.0, "{seen:?}");
}

#[test]
fn phase_of_a_job_beside_slow_servers_is_no_loss_to_them() {
    for ended in [25, 35] {
        let seen = around_slow_servers(12, |_, at| if at < ended { 0.4 } else { 1.0 }, true);
        assert!(seen.lost.is_empty() && !seen.unknown.is_empty() && !seen.is_quiet, "{seen:?}");
    }
}

#[test]
fn level_beside_slow_servers_is_no_quiet_one() {
    let seen = around_slow_servers(12, |is_slow, _| if is_slow { 0.4 } else { 0.0 }, true);
    assert!(!seen.is_quiet && seen.lost.is_empty(), "{seen:?}");
}
