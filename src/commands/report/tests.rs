//! What is printed where; the reports themselves have their tests in the crate `report`.

use super::*;
use schemas::{Job, Name, ResultBatch, Time};
use store::sqlite::{Retention, Store};

fn job(id: &str) -> Job {
    Job {
        job_id: Name::parse(id).unwrap(),
        user: "alice".to_string(),
        name: "ior".to_string(),
        nodes: vec![Name::parse("nid00001").unwrap()],
        start: Time::from_seconds(1_795_217_419.0),
        end: None,
        end_presumed: false,
        label: String::new(),
        app: None,
    }
}

/// A store with two jobs, and a request for the report of one.
fn stored() -> (tempfile::TempDir, ReportArgs) {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store.db");
    let batch = ResultBatch { jobs: vec![job("4711"), job("4650")], ..ResultBatch::default() };
    Store::open(&store, Retention::default()).unwrap().commit(&batch, &[]).unwrap();
    let args = ReportArgs {
        job: Some("4711".to_string()),
        store,
        config: None,
        compare: Vec::new(),
        json: false,
        html: None,
        mail: false,
        comment: false,
        page: Some("https://tailback.example".to_string()),
    };
    (folder, args)
}

fn printed(args: &ReportArgs) -> String {
    let mut text = Vec::new();
    run(args, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn the_page_goes_to_the_writer_that_is_given() {
    let (folder, mut args) = stored();
    assert!(printed(&args).starts_with("Job 4711: no data was received; whether it met contention is unknown.\n\n  job    4711 ior of alice\n"));
    args.json = true;
    assert!(printed(&args).contains("\"job_id\": \"4711\""));
    args.compare = vec!["4650".to_string()];
    assert!(printed(&args).contains("\"jobs\": [\n    \"4711\",\n    \"4650\"\n  ]"));
    args.json = false;
    assert!(printed(&args).contains("job 4711"));
    args.html = Some(folder.path().join("page.html"));
    assert_eq!(printed(&args), "");
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.contains("<h2>Compared with job 4650</h2>"), "{page}");
}

#[test]
fn two_jobs_are_compared_and_no_other_number() {
    let (_folder, mut args) = stored();
    args.compare = vec!["4711".to_string(), "4650".to_string()];
    assert!(run(&args, &mut Vec::new()).unwrap_err().to_string().starts_with("two jobs are compared"));
    args.job = None;
    assert!(printed(&args).contains("job 4650"));
    args.compare.truncate(1);
    assert!(run(&args, &mut Vec::new()).unwrap_err().to_string().starts_with("two jobs are compared"));
}

#[test]
fn mail_and_comment_are_one_summary() {
    let (_folder, mut args) = stored();
    args.mail = true;
    assert!(printed(&args).starts_with("Subject: Job 4711: no data; contention unknown\n"));
    assert!(printed(&args).contains("https://tailback.example/#/job/4711\nTailback "), "{}", printed(&args));
    (args.mail, args.comment) = (false, true);
    assert_eq!(printed(&args), "no data; contention unknown\n");
}

#[test]
fn address_of_the_page_is_that_of_a_web_page() {
    assert!(page_address("https://tb.example/a").is_ok());
    for text in ["", "https://", "tb.example", "javascript:alert(1)", "http://a b", "http://a\n"] {
        assert!(page_address(text).is_err(), "{text}");
    }
}
