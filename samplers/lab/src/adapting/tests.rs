//! Jobs that ask beside the same that do not: run times are those of the simulator.

use super::asking::Answer;
use super::saved::Word;
use super::spec::{Adapts, PostponeSpec};
use super::*;
use crate::builtin;

/// The first held-out seeds of a case of a built-in experiment.
fn played(experiment: &str, case: &str, seeds: u32) -> Adapted {
    let (_, experiment) = builtin::named(experiment).unwrap();
    let case = experiment.cases.iter().find(|known| known.name == case).unwrap();
    let system = FileSystemSpec { seeds, ..case.file_system.unwrap() };
    let writers = experiment.writers_of(case).collect();
    Play { system: &system, writers, seconds: experiment.seconds, seed: None }.run(&|| {}).unwrap()
}

fn times(adapted: &Adapted) -> impl Iterator<Item = &JobTimes> {
    adapted.seeds.iter().flat_map(|seed| &seed.jobs)
}

/// Seconds of the first seed in which a job is contended in truth, without asking and with.
fn contended_s(adapted: &Adapted, job: usize) -> [u32; 2] {
    [0, 1].map(|way| {
        let activities = adapted.first[job][way].iter();
        activities.filter(|did| did.word == Word::Contended).map(|did| did.to_s - did.from_s).sum()
    })
}

#[test]
fn job_that_asks_saves_time() {
    let adapted = played("delayed-writes", "bursts", 3);
    let [silent_s, asking_s] = contended_s(&adapted, 0);
    assert!(asking_s < silent_s * 2 / 3, "{asking_s} of {silent_s}");
    for seed in &adapted.seeds {
        assert!(seed.jobs[0].silent_s - seed.jobs[0].asking_s > 30.0, "{seed:?}");
        assert!(seed.jobs[1].silent_s >= seed.jobs[1].asking_s, "the other job loses: {seed:?}");
    }
}

#[test]
fn asking_costs_nothing_when_clear() {
    let adapted = played("delayed-writes", "clear", 3);
    assert!(times(&adapted).all(|job| job.silent_s == job.asking_s && job.waited_s == 0.0), "{adapted:?}");
}

#[test]
fn two_jobs_take_turns() {
    let adapted = played("turns", "in step", 3);
    for job in 0..2 {
        let saved = adapted.jobs[job];
        assert!(saved.saved_s > 60.0 && saved.saved_least_s >= 0.0, "{saved:?}");
        let [silent_s, asking_s] = contended_s(&adapted, job);
        assert!(asking_s < silent_s / 2, "job {job}: {asking_s} of {silent_s}");
    }
}

#[test]
fn waiting_without_work_is_lost_time() {
    let adapted = played("delayed-writes", "nothing to compute", 2);
    for seed in &adapted.seeds {
        assert!(seed.jobs[0].waited_s > 0.0 && seed.jobs[1].waited_s == 0.0, "{seed:?}");
    }
}

#[test]
fn one_seed_gives_the_same_play_again() {
    assert_eq!(played("turns", "drawn lengths", 1), played("turns", "drawn lengths", 1));
}

fn spec(adapts: Adapts) -> PostponeSpec {
    PostponeSpec { adapts, retry_s: 20.0, buffer_bytes: 1e9, longest_s: 100.0, waits: false }
}

fn contended(made_s: f64, since_s: f64) -> Option<Answer> {
    Some(Answer { made_s, is_contended: true, since_s: Some(since_s) })
}

fn writing(from_s: f64, left_bytes: f64) -> Doing {
    Doing::Writing { from_s, left_bytes, can_compute: true }
}

#[test]
fn a_write_is_set_aside_where_the_answer_is_of_this_write_and_the_buffer_has_room() {
    let decide = |doing, answer| Behaviour::new(spec(Adapts::DelayIo), 1, 1).decide(doing, 30.0, answer);
    let aside = Step::SetAside { waits: false };
    assert_eq!(decide(writing(10.0, 1e9), contended(28.0, 12.0)), aside);
    assert_eq!(decide(writing(10.0, 2e9), contended(28.0, 12.0)), Step::Continue);
    assert_eq!(decide(writing(29.0, 1e9), contended(28.0, 12.0)), Step::Continue);
    assert_eq!(decide(writing(10.0, 1e9), None), Step::Continue);
    let last = Doing::Writing { from_s: 10.0, left_bytes: 1e9, can_compute: false };
    assert_eq!(decide(last, contended(28.0, 12.0)), Step::Continue);
}

#[test]
fn a_job_keeps_its_turn_when_the_other_came_later() {
    let decide = |since_s| {
        Behaviour::new(spec(Adapts::TakeTurns), 1, 1).decide(
            writing(10.0, 1e9),
            40.0,
            contended(38.0, since_s),
        )
    };
    assert_eq!(decide(11.0), Step::SetAside { waits: false });
    assert_eq!(decide(25.0), Step::Continue);
}

#[test]
fn postponing_ends_after_the_longest_time() {
    let mut behaviour = Behaviour::new(spec(Adapts::DelayIo), 1, 1);
    let mut asides = Vec::new();
    let (mut from_s, mut owes) = (0.0, false);
    for second in 1..200 {
        let now_s = f64::from(second);
        let doing = if owes { Doing::Computing { owes } } else { writing(from_s, 1e9) };
        match behaviour.decide(doing, now_s, contended(now_s - 2.0, from_s)) {
            Step::SetAside { .. } => {
                asides.push(now_s);
                owes = true;
            }
            Step::WriteAside => (from_s, owes) = (now_s, false),
            Step::Continue => {}
        }
    }
    assert!(asides.len() > 2 && asides.iter().all(|at_s| *at_s < 100.0), "{asides:?}");
    assert!(!owes && from_s <= 100.0, "{from_s}");
    behaviour.decide(Doing::Nothing, 200.0, None);
    assert_eq!(behaviour.late_s, 200.0);
}
