use crate::JobBook;
use proptest::prelude::*;
use schemas::{Job, JobEvent, Name, Time};

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

/// An event of job 1234 on one node, in whole seconds.
fn said(node: &str, start: Option<i64>, end: Option<i64>) -> JobEvent {
    let time = |seconds: i64| Time(seconds * 1_000_000);
    JobEvent {
        time: time(start.or(end).unwrap_or_default()),
        nodes: vec![name(node)],
        job_id: name("1234"),
        label: String::new(),
        user: "ann".into(),
        name: "ior".into(),
        start: start.map(time),
        end: end.map(time),
        seen: false,
    }
}

/// Number, start, end (`~` before a presumed one) and nodes of each run.
fn runs(events: &[JobEvent]) -> Vec<String> {
    let mut book = JobBook::default();
    book.fold(events);
    book.jobs().map(|job| shown(&job)).collect()
}

fn shown(job: &Job) -> String {
    let end = job.end.map_or("…".to_string(), |end| format!("{}", end.seconds()));
    let presumed = if job.end_presumed { "~" } else { "" };
    let nodes: Vec<&str> = job.nodes.iter().map(Name::as_str).collect();
    format!("{} {}-{presumed}{end} {}", job.job_id, job.start.seconds(), nodes.join(","))
}

#[test]
fn a_requeued_job_is_two_runs_and_not_one_long_one() {
    let events =
        [said("a", Some(100), Some(160)), said("b", Some(400), None), said("b", Some(400), Some(450))];
    assert_eq!(runs(&events), ["1234 100-160 a", "1234.r1 400-450 b"]);
}

#[test]
fn nodes_that_differ_about_the_start_speak_of_one_run() {
    let events =
        [said("a", Some(100), Some(160)), said("b", Some(103), Some(161)), said("c", Some(190), None)];
    assert_eq!(runs(&events), ["1234 100-161 a,b", "1234.r1 190-… c"]);
    assert_eq!(runs(&[said("a", Some(100), None), said("b", Some(190), None)]), ["1234 100-… a,b"]);
    assert_eq!(runs(&[said("a", Some(100), Some(900)), said("b", Some(500), None)]), ["1234 100-900 a,b"]);
}

#[test]
fn a_start_that_the_scheduler_corrects_is_no_requeue() {
    let corrected = [said("a", Some(100), None), said("a", Some(400), Some(1_000))];
    assert_eq!(runs(&corrected), ["1234 400-1000 a"]);
    assert_eq!(runs(&[corrected[1].clone(), corrected[0].clone()]), ["1234 400-1000 a"]);
    let elsewhere = [said("a", Some(100), None), said("b", Some(400), Some(1_000))];
    assert_eq!(runs(&elsewhere), ["1234 100-~400 a", "1234.r1 400-1000 b"]);
    let again = [said("a", Some(100), None), said("a", Some(400), None), said("a", Some(400), Some(1_000))];
    assert_eq!(runs(&again), ["1234 100-~400 a", "1234.r1 400-1000 a"]);
}

#[test]
fn an_end_without_a_start_ends_the_run_that_began_last() {
    let events = [
        said("a", None, Some(90)),
        said("a", Some(100), None),
        said("a", None, Some(110)),
        said("a", Some(118), None),
        said("a", None, Some(130)),
    ];
    assert_eq!(runs(&events), ["1234 100-110 a", "1234.r1 118-130 a"]);
}

#[test]
fn run_without_reported_end_ends_when_the_next_begins() {
    let events = [said("a", Some(100), None), said("b", Some(400), None)];
    assert_eq!(runs(&events), ["1234 100-~400 a", "1234.r1 400-… b"]);
    let mut book = JobBook::default();
    book.fold(&events);
    let changed: Vec<String> = book.fold(&[said("a", Some(100), Some(170))]).iter().map(shown).collect();
    assert_eq!(changed, ["1234 100-170 a", "1234.r1 400-… b"], "the end that comes late counts");
    assert_eq!(book.get(&name("1234.r1")).map(|job| shown(&job)).as_deref(), Some("1234.r1 400-… b"));
    assert_eq!(book.get(&name("1234.r2")), None);
}

#[test]
fn a_lone_end_is_no_job() {
    assert_eq!(runs(&[said("a", None, Some(90))]), [""; 0]);
}

#[test]
fn the_first_owner_of_a_job_stays() {
    let of = |user: &str, start| JobEvent { user: user.into(), ..said("a", Some(start), None) };
    let owners = |events: &[JobEvent]| {
        let mut book = JobBook::default();
        events.iter().for_each(|event| drop(book.fold(std::slice::from_ref(event))));
        book.jobs().map(|job| job.user).collect::<Vec<_>>()
    };
    assert_eq!(owners(&[of("", 100), of("bea", 100), of("mallory_the_longer", 100)]), ["bea"]);
    assert_eq!(owners(&[of("bea", 100), of("mallory", 99)]), ["bea"], "not by an earlier start");
    assert_eq!(owners(&[of("bea", 100), of("mallory", 400)]), ["bea", "bea"], "nor by another run");
}

#[test]
fn jobs_over_long_ago_are_forgotten_with_or_without_an_end() {
    let numbered = |id: &str, start, end| JobEvent { job_id: name(id), ..said("a", Some(start), end) };
    let mut book = JobBook::default();
    book.fold(&[numbered("1", 100, Some(200)), numbered("2", 100, None), numbered("3", 100, Some(900))]);
    let known = |book: &JobBook| ["1", "2", "3"].map(|id| book.knows(&name(id)));
    book.forget_over(Time(300_000_000), 500.0);
    assert_eq!(known(&book), [false, true, true], "without an end it may run until 600 s");
    book.forget_over(Time(601_000_000), 500.0);
    assert_eq!(known(&book), [false, false, true]);
}

fn any_event() -> impl Strategy<Value = JobEvent> {
    let moment = || proptest::option::of(0_i64..2_000);
    ("[abc]", moment(), moment(), "(ann)?").prop_map(|(node, start, end, user)| {
        let end = end.filter(|end| start.is_none_or(|start| start <= *end));
        JobEvent { user, ..said(&node, start, end) }
    })
}

proptest! {
    #[test]
    fn order_and_repetition_of_events_make_no_difference(
        events in proptest::collection::vec(any_event(), 0..12),
        shuffled in any::<u64>(),
    ) {
        let mut order: Vec<usize> = (0..events.len()).chain(0..events.len() / 2).collect();
        order.sort_by_key(|at| (*at as u64 + 1).wrapping_mul(shuffled | 1).rotate_left(17));
        let shuffled: Vec<JobEvent> = order.iter().map(|at| events[*at].clone()).collect();
        let mut book = JobBook::default();
        shuffled.iter().for_each(|event| drop(book.fold(std::slice::from_ref(event))));
        let mut straight = JobBook::default();
        straight.fold(&events);
        prop_assert_eq!(book.jobs().collect::<Vec<_>>(), straight.jobs().collect::<Vec<_>>());
        prop_assert_eq!(book.fold(&events), []);
    }

    #[test]
    fn runs_follow_each_other(events in proptest::collection::vec(any_event(), 0..12)) {
        let mut book = JobBook::default();
        book.fold(&events);
        let runs: Vec<Job> = book.jobs().collect();
        for pair in runs.windows(2) {
            prop_assert!(pair[0].end.is_some_and(|end| end <= pair[1].start && end >= pair[0].start), "{pair:?}");
        }
    }
}
