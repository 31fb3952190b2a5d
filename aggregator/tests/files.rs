//! Files: their kinds, the order of their rows, and the errors for files that cannot be read.
use aggregator::jobs::read_job_file;
use aggregator::source::LINE_BYTES_MAX;
use aggregator::{Decoded, Decoder, InputError, JobBook, Replay, RowOrder};
use schemas::{DropReason, JobEvent, Name, Time};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub fn folder(files: &[(&str, &[u8])]) -> (TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let write = |(name, content): &(&str, &[u8])| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    };
    let paths = files.iter().map(write).collect();
    (folder, paths)
}

/// Times in milliseconds after the first second, and the components, in the order of the replay.
fn replay(paths: &[PathBuf]) -> (Vec<(i64, String)>, Decoder) {
    rows_of(Replay::open(paths).unwrap())
}

fn arrived(paths: &[PathBuf]) -> (Vec<(i64, String)>, Decoder) {
    rows_of(Replay::open_in(paths, RowOrder::Arrival, &std::env::temp_dir()).unwrap())
}

fn rows_of(mut replay: Replay) -> (Vec<(i64, String)>, Decoder) {
    let mut decoder = Decoder::default();
    let mut out = Decoded::default();
    let mut rows = Vec::new();
    while replay.next_batch(&mut decoder, &mut out).unwrap() {
        rows.extend(out.counters.rows().map(|(source, time, _)| {
            let component = decoder.sources().get(source).unwrap().component.to_string();
            (time.0 / 1_000 - 1_795_217_000_000, component)
        }));
    }
    (rows, decoder)
}

fn row(ms: u32, node: &str) -> String {
    format!("{{\"timestamp\":1795217000.{ms:03}000,{node},\"fs_name\":\"a\",\"write_bytes.sum\":1}}\n")
}

#[test]
fn files_are_merged_by_time_or_arrival() {
    let one: String = [5, 3, 9, 7].map(|ms| row(ms, "\"producer\":\"a\"")).concat();
    let two: String = [1, 4, 6, 8].map(|ms| row(ms, "\"producer\":\"b\"")).concat();
    let two = two.replace("{", "{ \"x\": 0, ").replace("\"timestamp\":", "\"timestamp\" : ");
    let (_folder, mut paths) = folder(&[("one.jsonl", one.as_bytes()), ("two", two.as_bytes())]);
    let times = |rows: &[(i64, String)]| rows.iter().map(|(ms, _)| *ms).collect::<Vec<_>>();
    let (rows, in_arrival) = (replay(&paths).0, arrived(&paths).0);
    assert_eq!(times(&rows), [1, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(times(&in_arrival), [1, 4, 5, 3, 6, 8, 9, 7]);
    paths.reverse();
    assert_eq!((replay(&paths).0, arrived(&paths).0), (rows, in_arrival));
}

#[test]
fn node_names_do_not_depend_on_the_order_of_files() {
    let number: String = [1, 3].map(|ms| row(ms, "\"component_id\":7")).concat();
    let both: String = [2, 4].map(|ms| row(ms, "\"producer\":\"n0007\",\"component_id\":7")).concat();
    let (_folder, mut paths) = folder(&[("a", number.as_bytes()), ("b", both.as_bytes())]);
    for _ in 0..2 {
        let (rows, decoder) = replay(&paths);
        assert!(rows.iter().all(|(_, node)| node == "n0007"), "{rows:?}");
        assert_eq!(decoder.naming_conflict(), None);
        paths.reverse();
    }
}

#[test]
fn producer_that_contradicts_the_naming_is_reported() {
    let mut decoder = Decoder::default();
    let line = row(1, "\"producer\":\"n0007\",\"component_id\":7");
    decoder.json_line(None, line.as_bytes(), &mut Decoded::default());
    let conflict = decoder.naming_conflict().unwrap();
    assert_eq!(conflict.producer.as_str(), "n0007");
    assert_eq!(conflict.assumed.as_ref().unwrap().as_str(), "nid00007");
}

#[test]
fn a_header_in_mid_file_holds_for_the_rows_behind_it_only() {
    let csv = "#Time,Time_usec,producer,fs_name,write_bytes.sum\n1795217000.003000,3000,n,a,1\n1795217000.001000,1000,n,a,1\n\
               #Time,Time_usec,fs_name,producer,write_bytes.sum\n1795217000.002000,2000,a,m,1\n";
    let (_folder, paths) = folder(&[("lustre_client", csv.as_bytes())]);
    let (rows, decoder) = replay(&paths);
    let rows: Vec<(i64, &str)> = rows.iter().map(|(ms, node)| (*ms, node.as_str())).collect();
    assert_eq!(rows, [(1, "n"), (2, "m"), (3, "n")]);
    assert_eq!(decoder.drops().total(), 0);
}

#[test]
fn headers_are_found_beside_the_file_also_after_a_roll_over() {
    let header = b"#Time,Time_usec,producer,fs_name,write_bytes.sum\n";
    let line = b"1795217000.001000,1000,n,a,1\n";
    let (_folder, paths) = folder(&[
        ("x.HEADER", header),
        ("x.HEADER-1795217419", header),
        ("x.KIND", b"#!ldms-kinds!timestamp,u64\n"),
        ("kinds", b"#!ldms-kinds!timestamp,u64\n"),
        ("x", line),
        ("x-1795217419", line),
        ("y", line),
        ("z.meta.jsonl", b"{\"partition\": 2}\n"),
    ]);
    let (rows, decoder) = replay(&paths);
    assert_eq!(rows.len(), 2);
    assert_eq!(decoder.drops().get(DropReason::CsvWithoutHeader), 1);
    let example = decoder.examples().get(DropReason::CsvWithoutHeader).unwrap();
    assert!(example.ends_with("y:1: line 1795217000.001000,1000,n,a,1"), "{example}");
    assert_eq!(Replay::open(&paths).unwrap().skipped().len(), 5);
}

#[test]
fn cut_lines_are_counted_and_last_line_needs_no_newline() {
    let whole = row(1, "\"component_id\":1");
    let cut = format!("{whole}{}", &whole[..50]);
    let unterminated = format!("x\n{whole}\r\n\n{}", whole.trim_end());
    let csv = "#Time,Time_usec,producer,fs_name,write_bytes.sum\n1795217000.003000,3000,n,a,12";
    let (_folder, paths) = folder(&[
        ("cut", cut.as_bytes()),
        ("unterminated", unterminated.as_bytes()),
        ("csv", csv.as_bytes()),
        ("empty", b""),
        ("blank", b"\n\n"),
    ]);
    let (rows, decoder) = replay(&paths);
    assert_eq!(rows.len(), 3);
    assert_eq!(decoder.drops().get(DropReason::InvalidJson), 2);
    assert_eq!(decoder.drops().get(DropReason::InvalidCsv), 1);
}

#[test]
fn a_line_without_end_is_dropped_in_bounded_memory() {
    let mut long = b"{\"timestamp\":1795217000.0,\"x\":\"".to_vec();
    long.resize(3 * LINE_BYTES_MAX, b'x');
    long.push(b'\n');
    long.extend_from_slice(row(2, "\"component_id\":1").as_bytes());
    let (_folder, paths) = folder(&[("long", &long)]);
    let (rows, decoder) = replay(&paths);
    assert_eq!(rows.len(), 1);
    assert_eq!(decoder.drops().get(DropReason::InvalidJson), 1);
}

#[test]
fn what_is_no_input_is_named() {
    let (folder, paths) = folder(&[
        ("program", b"\x7fELF\x02\x01\x01\0\0\0"),
        ("archive.gz", b"\x1f\x8b\x08\0"),
        ("letter", b"Dear operator,\nhello\n"),
    ]);
    let message = |path: &Path| Replay::open(&[path]).unwrap_err().to_string();
    assert!(
        message(&paths[0]).ends_with("program: is neither JSON-lines nor a CSV file of LDMS, but binary")
    );
    assert!(message(&paths[1]).ends_with("archive.gz: is compressed; decompress it first"));
    assert!(
        message(&paths[2]).contains("letter:1: is neither") && message(&paths[2]).contains("Dear operator,")
    );
    let missing = folder.path().join("missing");
    assert!(matches!(Replay::open(&[&missing]), Err(InputError::Open { path, .. }) if path == missing));
    let error = Replay::open(&[folder.path()]).unwrap_err().to_string();
    assert!(error.contains("none of the 3 files") && error.contains("archive.gz: is compressed"), "{error}");
}

#[test]
fn a_folder_is_read_with_the_folders_in_it() {
    let job = "{\"job_id\":6,\"user\":\"ann\",\"name\":\"ior\",\"nodes\":[\"a\"],\"start\":1,\"end\":2}\n";
    let (folder, _) = folder(&[
        ("b.jsonl", row(2, "\"producer\":\"b\"").as_bytes()),
        ("letter.txt", b"Dear operator,\n"),
        ("jobs.jsonl", job.as_bytes()),
        ("settings.json", b"{\n \"answer\": 42\n}\n"),
        (".hidden", row(9, "\"producer\":\"c\"").as_bytes()),
    ]);
    let deeper = folder.path().join("day/two");
    std::fs::create_dir_all(&deeper).unwrap();
    std::fs::write(deeper.join("a.jsonl"), row(1, "\"producer\":\"a\"") + &row(3, "\"producer\":\"a\""))
        .unwrap();
    std::os::unix::fs::symlink(folder.path(), deeper.join("back")).unwrap();
    let replay = Replay::open(&[folder.path()]).unwrap();
    let skipped: Vec<(String, String)> = replay.skipped().iter().map(name_and_note).collect();
    let (rows, _) = rows_of(replay);
    assert_eq!(rows, [(1, "a".to_string()), (2, "b".to_string()), (3, "a".to_string())]);
    let noted = |name: &str| skipped.iter().find(|(file, _)| file == name).map(|(_, note)| note.as_str());
    assert_eq!(noted("jobs.jsonl"), Some("a job file: name it with --jobs"));
    assert_eq!(noted("settings.json"), Some("no row has columns that Tailback knows"));
    assert!(noted("letter.txt").unwrap().contains("is neither JSON-lines nor a CSV file"), "{skipped:?}");
    assert_eq!(skipped.len(), 3);
}

fn name_and_note(file: &aggregator::SkippedFile) -> (String, String) {
    (file.path.file_name().unwrap().to_string_lossy().into_owned(), file.note.to_string())
}

#[test]
fn dump_by_partition_is_read_in_order_of_time() {
    let nodes = ["\"producer\":\"a\"", "\"producer\":\"b\""];
    let mut dump = String::new();
    for partition in 0..3 {
        dump.extend((0..900).filter(|ms| ms % 3 == partition).flat_map(|ms| nodes.map(|node| row(ms, node))));
    }
    let (_folder, paths) = folder(&[("dump", dump.as_bytes())]);
    let times = |rows: Vec<(i64, String)>| rows.into_iter().map(|(ms, _)| ms).collect::<Vec<_>>();
    let found = times(replay(&paths).0);
    assert_eq!(found.len(), 1_800);
    assert!(found.is_sorted());
    assert!(!times(arrived(&paths).0).is_sorted());
}

#[test]
fn many_rows_come_in_batches_with_progress() {
    let many: String = (0..5_000).map(|i| row(i % 1_000, "\"component_id\":1")).collect();
    let (_folder, paths) = folder(&[("many", many.as_bytes())]);
    let mut replay = Replay::open(&paths).unwrap();
    let mut decoder = Decoder::default();
    let mut out = Decoded::default();
    let (mut batches, mut rows) = (0, 0);
    while replay.next_batch(&mut decoder, &mut out).unwrap() {
        batches += 1;
        rows += out.counters.len();
        assert!(out.counters.len() <= 1_000);
    }
    assert_eq!((batches, rows), (5, 5_000));
    assert_eq!(replay.bytes_read(), replay.total_bytes());
    assert!(out.is_empty());
}

fn event(node: &str, name: &str, start: i64, end: Option<i64>) -> JobEvent {
    JobEvent {
        time: Time(start),
        nodes: vec![Name::parse(node).unwrap()],
        job_id: Name::parse("6").unwrap(),
        label: String::new(),
        user: String::new(),
        name: name.to_string(),
        start: Some(Time(start)),
        end: end.map(Time),
        seen: false,
    }
}

#[test]
fn the_order_of_job_events_makes_no_difference() {
    let events = [
        event("b", "", 12, None),
        event("a", "ior", 10, None),
        event("a", "ior", 10, Some(20)),
        event("b", "iob", 11, Some(21)),
    ];
    let mut expected = None;
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1], [1, 3, 0, 2]] {
        let mut book = JobBook::default();
        for at in order {
            book.fold(&events[at..=at]);
        }
        assert_eq!(book.fold(&events), []);
        let job = book.get(&events[0].job_id).unwrap();
        assert_eq!(
            (job.nodes.len(), job.start, job.end, job.name.as_str()),
            (2, Time(10), Some(Time(21)), "iob")
        );
        assert_eq!(expected.get_or_insert_with(|| job.clone()), &job);
    }
}

#[test]
fn book_returns_what_changed_and_stays_bounded() {
    let mut book = JobBook::new(1);
    assert_eq!(book.fold(&[event("a", "x", 10, None)]).len(), 1);
    assert_eq!(book.fold(&[event("a", "x", 10, None)]).len(), 0);
    let mut other = event("a", "y", 10, None);
    other.job_id = Name::parse("7").unwrap();
    assert_eq!(book.fold(&[other.clone()]).len(), 0);
    assert_eq!(book.refused(), 1);
    assert_eq!(book.fold(&[event("b", "x", 10, Some(20))]).len(), 1);
    assert_eq!(book.fold(&[other.clone()]).len(), 1, "the job that has ended makes room");
    assert_eq!(book.jobs().map(|job| job.job_id).collect::<Vec<_>>(), [other.job_id]);
}

#[test]
fn job_files_are_read_and_their_errors_have_file_line_and_field() {
    let good = "{\"job_id\":6,\"user\":\"alice\",\"name\":\"ior\",\"nodes\":[\"nid00001\"],\"start\":1.5,\"end\":null}\n\n";
    let bad = format!("{good}{{\"job_id\":7,\"nodes\":[\"a/b\"],\"start\":1}}\n");
    let (_folder, paths) = folder(&[("good", good.as_bytes()), ("bad", bad.as_bytes())]);
    let jobs = read_job_file(&paths[0]).unwrap();
    assert_eq!(jobs.len(), 1);
    let mut book = JobBook::default();
    book.fold(&[event("z", "from rows", 10, None)]);
    book.declare(jobs[0].clone());
    assert_eq!(book.jobs().collect::<Vec<_>>(), jobs);
    let error = read_job_file(&paths[1]).unwrap_err().to_string();
    assert!(error.contains("bad:3: ") && error.contains("a/b"), "{error}");
}

#[test]
fn jobs_of_one_number_in_a_file_are_runs_or_of_several_clusters() {
    let line = |cluster: &str, start: i64, end: i64| {
        format!(r#"{{"job_id":7,"cluster":"{cluster}","nodes":["a"],"start":{start},"end":{end}}}"#) + "\n"
    };
    let begins = r#"{"job_id":7,"cluster":"alpha","nodes":["a"],"start":10}"#.to_string() + "\n";
    let good = begins + &line("alpha", 50, 60) + &line("beta", 10, 20) + &line("alpha", 10, 20);
    let overlaps = line("", 10, 20) + &line("", 5, 11);
    let (_folder, paths) = folder(&[("good", good.as_bytes()), ("overlaps", overlaps.as_bytes())]);
    let jobs = read_job_file(&paths[0]).unwrap();
    let found: Vec<String> = jobs
        .iter()
        .map(|job| format!("{} {} {}", job.job_id, job.label, job.end.unwrap().seconds()))
        .collect();
    assert_eq!(found, ["7  20", "7.r1  60", "7@beta 7 20"]);
    let error = read_job_file(&paths[1]).unwrap_err().to_string();
    assert!(error.contains("overlaps:2: job 7 overlaps that of line 1"), "{error}");
}
