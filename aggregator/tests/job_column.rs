//! Jobs that only the `job_id` of rows shows, beside jobs that others name.

use aggregator::{Decoded, Decoder, JobBook};
use schemas::{Job, Name, Time};

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn at(second: i64) -> Time {
    Time((1_795_217_000 + second) * 1_000_000)
}

/// What a book makes of rows of two nodes that carry these numbers second by second.
fn fold(book: &mut JobBook, carried: &[[&str; 2]]) {
    let (mut decoder, mut out) = (Decoder::default(), Decoded::default());
    for (second, numbers) in carried.iter().enumerate() {
        for (node, number) in numbers.iter().enumerate() {
            let line = format!(
                r#"{{"timestamp":{},"producer":"n{node}","job_id":{number},"fs_name":"a","write_bytes.sum":{second}}}"#,
                1_795_217_000 + second
            );
            decoder.json_line(None, line.as_bytes(), &mut out);
        }
    }
    book.fold(&out.jobs);
}

fn shown(book: &JobBook) -> Vec<String> {
    let second = |time: Time| time.0 / 1_000_000 - 1_795_217_000;
    let shown = |job: Job| {
        let nodes: Vec<&str> = job.nodes.iter().map(Name::as_str).collect();
        let end = job.end.map_or("…".to_string(), |end| second(end).to_string());
        format!("{} {} {}-{end} {:?}", job.job_id, nodes.join(","), second(job.start), job.user)
    };
    book.jobs().map(shown).collect()
}

fn seconds<'a>(parts: &[(usize, [&'a str; 2])]) -> Vec<[&'a str; 2]> {
    parts.iter().flat_map(|(count, numbers)| std::iter::repeat_n(*numbers, *count)).collect()
}

fn declared(job_id: &str, nodes: &[&str], start: i64, end: Option<i64>) -> Job {
    Job {
        job_id: name(job_id),
        label: String::new(),
        user: "ann".into(),
        name: "ior".into(),
        nodes: nodes.iter().map(|node| name(node)).collect(),
        start: at(start),
        end: end.map(at),
        end_presumed: false,
        app: None,
    }
}

#[test]
fn job_has_nodes_and_time_of_rows_with_its_number() {
    let mut book = JobBook::default();
    fold(&mut book, &seconds(&[(5, ["0", "0"]), (20, ["7", "7"]), (10, ["8", "0"])]));
    assert_eq!(shown(&book), ["7 n0,n1 5-24 \"\"", "8 n0 25-… \"\""]);
}

#[test]
fn numbers_may_be_texts_and_0_is_no_job() {
    let mut book = JobBook::default();
    fold(&mut book, &seconds(&[(5, ["\"0\"", "null"]), (20, ["\"12.pbs\"", "0"]), (5, ["\"\"", "0"])]));
    assert_eq!(shown(&book), ["12.pbs n0 5-24 \"\""]);
}

#[test]
fn a_job_file_goes_before_what_rows_carry() {
    let carried = seconds(&[(10, ["0", "0"]), (50, ["7", "7"]), (40, ["8", "0"])]);
    let mut book = JobBook::default();
    book.declare(declared("7", &["n0"], 9, Some(61)));
    fold(&mut book, &carried);
    assert_eq!(shown(&book), ["7 n0 9-61 \"ann\"", "8 n0 61-… \"\""], "the same number");

    let mut book = JobBook::default();
    book.declare(declared("array_3", &["n0", "n1"], 9, Some(61)));
    fold(&mut book, &carried);
    assert_eq!(shown(&book), ["8 n0 61-… \"\"", "array_3 n0,n1 9-61 \"ann\""], "the same nodes and time");

    let mut book = JobBook::default();
    book.declare(declared("other", &["n1"], 0, None));
    fold(&mut book, &carried);
    assert_eq!(
        shown(&book),
        ["7 n0 10-59 \"\"", "8 n0 60-… \"\"", "other n1 0-… \"ann\""],
        "one node of two"
    );
}

#[test]
fn a_scheduler_that_speaks_later_replaces_what_rows_carry() {
    let mut book = JobBook::default();
    fold(&mut book, &seconds(&[(50, ["7", "7"])]));
    let row = r#"{"timestamp":1795217040.5,"producer":"n0","job_id":9,"user":"ann","job_name":"ior","job_start":1795216990,"job_end":0}"#;
    let (mut decoder, mut out) = (Decoder::default(), Decoded::default());
    decoder.json_line(None, row.as_bytes(), &mut out);
    let changed: Vec<String> = book.fold(&out.jobs).iter().map(|job| job.job_id.to_string()).collect();
    assert_eq!(changed, ["7", "9"]);
    assert_eq!(shown(&book), ["7 n1 0-… \"\"", "9 n0 -10-… \"ann\""]);
    let same = row.replace("\"job_id\":9", "\"job_id\":7").replace("n0", "n1");
    out.clear();
    decoder.json_line(None, same.as_bytes(), &mut out);
    book.fold(&out.jobs);
    assert_eq!(shown(&book), ["7 n1 -10-… \"ann\"", "9 n0 -10-… \"ann\""]);
}

#[test]
fn events_of_several_readers_in_any_order_give_one_job() {
    let mut events = Vec::new();
    for shift in [0, 3] {
        let (mut decoder, mut out) = (Decoder::default(), Decoded::default());
        for second in (shift..400).step_by(7) {
            let number = if (20..300).contains(&second) { 7 } else { 0 };
            let line = format!(
                r#"{{"timestamp":{},"producer":"n0","job_id":{number},"fs_name":"a","write_bytes.sum":1}}"#,
                1_795_217_000 + second
            );
            decoder.json_line(None, line.as_bytes(), &mut out);
        }
        events.extend(out.jobs);
    }
    let mut straight = JobBook::default();
    straight.fold(&events);
    events.reverse();
    let mut backwards = JobBook::default();
    backwards.fold(&events);
    assert_eq!(shown(&straight), ["7 n0 21-297 \"\""], "from the first row to the last");
    assert_eq!(shown(&backwards), shown(&straight));
}
