//! Pages against golden files, and the way from the store to the page.
//! `UPDATE_GOLDEN=1 cargo test` writes the golden files again.

mod network;

use super::*;
use network::{factors, region, regions};
use schemas::{
    Cause, CauseKind, CauseShare, Counts, Episode, EpisodeId, Evidence, Interval, Job, JobFactors, JobResult,
    LossPoint, Metric, Name, Region, RegionCause, RegionId, RegionVictim, ResultBatch, SeriesIndex,
    SeriesInfo, Signal, State, Time,
};
use std::path::Path;
use store::read::episodes::ResourceEpisode;
use store::read::jobs::SeriesCount;
use store::sqlite::{Retention, Store};

const START_S: f64 = 1_795_217_419.0;

pub(super) fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

pub(super) fn at(seconds: f64) -> Time {
    Time::from_seconds(START_S + seconds)
}

fn cause(cause: Cause, kind: CauseKind, who: &str, share: f64) -> CauseShare {
    CauseShare { cause, kind, series_or_job: who.to_string(), share }
}

fn job() -> Job {
    Job {
        job_id: name("4711"),
        user: "alice".to_string(),
        name: "ior".to_string(),
        nodes: (1..=16).map(|n| name(&format!("nid{n:05}"))).collect(),
        start: at(0.0),
        end: Some(at(473.0)),
        end_presumed: false,
        label: String::new(),
        app: None,
    }
}

fn result() -> JobResult {
    let link = "aries_stall_ratio/c0-0c1s8/r0c3";
    JobResult {
        job_id: name("4711"),
        contended_s: 277.0,
        slowdown_s: 213.0,
        slowdown_lo_s: 207.1,
        slowdown_hi_s: 219.4,
        completeness: 0.98,
        judged: 0.98,
        causes: vec![
            cause(Cause::OtherJob, CauseKind::Capacity, "4698", 0.62),
            cause(Cause::IoOnMpi, CauseKind::Avoidable, link, 0.2),
            cause(Cause::Unknown, CauseKind::Unknown, "", 0.1),
        ],
    }
}

/// An episode that loses little, then much, then little of its time.
fn episode(id: u64, from: f64, to: f64, lost: f64) -> Episode {
    let span = to - from;
    let point = |part: f64, share: f64| LossPoint { time: at(from + span * part), slowdown_s: lost * share };
    Episode {
        id: EpisodeId(id),
        series: SeriesIndex(id as u32 - 1),
        start: at(from),
        end: at(to),
        open: false,
        peak: 0.213e9,
        baseline: 1.5e9,
        slowdown_s: lost,
        slowdown_lo_s: lost * 0.96,
        slowdown_hi_s: lost * 1.05,
        completeness: 1.0,
        profile: vec![point(0.25, 0.1), point(0.75, 0.9), point(1.0, 1.0)],
        causes: vec![cause(Cause::OtherJob, CauseKind::Capacity, "4698", 0.8)],
    }
}

fn episodes() -> Vec<ResourceEpisode> {
    let write = ResourceEpisode {
        resource: "lustre_write_rate/nid00012/snx11137".to_string(),
        metric: Some(Metric::LustreWriteRate),
        episode: episode(1, 40.0, 240.0, 165.0),
    };
    let mut stalls = ResourceEpisode {
        resource: "aries_stall_ratio/c0-0c1s8/r0c3".to_string(),
        metric: Some(Metric::AriesStallRatio),
        episode: episode(2, 300.0, 377.0, 48.0),
    };
    (stalls.episode.baseline, stalls.episode.peak, stalls.episode.completeness) = (0.31, 6.4, 0.95);
    vec![write, stalls]
}

fn contended() -> PostMortem {
    PostMortem {
        job: job(),
        until: at(473.0),
        result: Some(result()),
        episodes: episodes(),
        series: SeriesCount { total: 64, without_readings: 2, fell_silent: 0 },
        factors: Some(factors()),
        regions: regions(),
    }
}

fn quiet() -> PostMortem {
    PostMortem {
        result: Some(JobResult {
            contended_s: 0.0,
            slowdown_s: 0.0,
            slowdown_lo_s: 0.0,
            slowdown_hi_s: 0.0,
            completeness: 1.0,
            judged: 1.0,
            causes: Vec::new(),
            ..result()
        }),
        episodes: Vec::new(),
        series: SeriesCount { total: 64, ..SeriesCount::default() },
        factors: None,
        regions: Vec::new(),
        ..contended()
    }
}

fn without_data() -> PostMortem {
    PostMortem {
        result: Some(JobResult {
            completeness: 0.0,
            judged: 0.0,
            slowdown_s: 0.0,
            causes: Vec::new(),
            ..result()
        }),
        series: SeriesCount::default(),
        ..quiet()
    }
}

fn running_with_many_episodes() -> PostMortem {
    let one = episodes().remove(0);
    let many = (0..25).map(|n| {
        let mut next = one.clone();
        next.episode = episode(n + 1, 15.0 * n as f64, 15.0 * n as f64 + 10.0, 4.0 + (n * 7 % 5) as f64);
        next.episode.open = n == 24;
        next
    });
    let mut facts = PostMortem { episodes: many.collect(), ..contended() };
    facts.job.end = None;
    facts.job.user = "eve\x1b[2J".to_string();
    facts.until = at(372.0);
    facts
}

pub(super) fn check(golden: &str, text: &str) {
    let path =
        Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("src/report/golden").join(golden);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let want = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, want, "\n{}:\n{text}", path.display());
}

#[test]
fn pages() {
    check("contended.txt", &render(&contended(), 140, false));
    check("narrow.txt", &render(&contended(), 80, false));
    check("colour.txt", &render(&contended(), 140, true));
    check("quiet.txt", &render(&quiet(), 140, false));
    check("without_data.txt", &render(&without_data(), 140, false));
    check("running.txt", &render(&running_with_many_episodes(), 140, false));
}

#[test]
fn the_json_object() {
    let text = serde_json::to_string_pretty(&PostMortemJson::from(&contended())).unwrap();
    check("contended.json", &(text + "\n"));
}

#[test]
fn no_data_is_never_called_healthy() {
    let mut facts = without_data();
    for result in [facts.result.clone(), None] {
        facts.result = result;
        let page = render(&facts, 140, false);
        assert!(page.contains("no data of this job"), "{page}");
        assert!(!page.contains("no loss found"), "{page}");
        let json = serde_json::to_value(PostMortemJson::from(&facts)).unwrap();
        assert!(json["result"].is_null());
    }
}

/// The facts of [`contended`] as the detector would commit them.
pub(super) fn batch() -> ResultBatch {
    let series =
        |metric, component, part| SeriesInfo { metric, component: name(component), part: Some(name(part)) };
    let write = series(Metric::LustreWriteRate, "nid00012", "snx11137");
    let stalls = series(Metric::AriesStallRatio, "c0-0c1s8", "r0c3");
    let signal = |series, seconds| Signal {
        time: at(seconds),
        series: SeriesIndex(series),
        value: 1.0,
        mean: 1.0,
        baseline: 1.0,
        bound: 1.0,
        state: State::Clear,
        slowdown_s: 0.0,
        counts: Counts::NONE,
    };
    ResultBatch {
        series: vec![(SeriesIndex(0), write), (SeriesIndex(1), stalls)],
        signals: vec![signal(0, 473.0), signal(1, 200.0)],
        episodes: episodes().into_iter().map(|e| e.episode).collect(),
        jobs: vec![job()],
        job_results: vec![result()],
        job_series: vec![(name("4711"), SeriesIndex(0)), (name("4711"), SeriesIndex(1))],
        factors: vec![factors()],
        regions: vec![region(7, "4698", Some("4711")), region(8, "4711", None)],
        ..ResultBatch::default()
    }
}

fn stored() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let mut store = Store::open(&path, Retention::default()).unwrap();
    store.commit(&batch(), &[]).unwrap();
    (folder, path)
}

#[test]
fn what_was_committed_is_what_is_reported() {
    let (_folder, path) = stored();
    let mut want = contended();
    want.series = SeriesCount { total: 2, without_readings: 0, fell_silent: 1 };
    assert_eq!(Source::Store(&path).load("4711").unwrap(), want);
}

fn args(job: &str, store: PathBuf) -> ReportArgs {
    ReportArgs {
        job: Some(job.to_string()),
        store,
        config: None,
        compare: Vec::new(),
        json: false,
        html: None,
    }
}

#[test]
fn the_page_of_html_escapes_every_name_and_loads_nothing() {
    let mut facts = contended();
    facts.job.name = "<script>alert(1)</script>".to_string();
    facts.job.user = "\"onload='x'&".to_string();
    facts.episodes[0].resource = "</text><script>x</script>".to_string();
    let page = html::page(&facts, None);
    assert!(!page.contains("<script") && !page.contains("onload='"), "{page}");
    for from_elsewhere in ["http://", "https://", "src=", "url(", "@import", "<link"] {
        assert!(!page.contains(from_elsewhere), "{from_elsewhere}");
    }
    check("contended.html", &html::page(&contended(), None));
    check("without_data.html", &html::page(&without_data(), None));
}

#[test]
fn two_runs_side_by_side() {
    let (folder, path) = stored();
    let mut store = Store::open(&path, Retention::default()).unwrap();
    let mut earlier =
        ResultBatch { jobs: vec![job()], job_results: vec![result()], ..ResultBatch::default() };
    (earlier.jobs[0].job_id, earlier.jobs[0].start) = (name("4650"), at(73.0));
    (earlier.job_results[0].job_id, earlier.job_results[0].slowdown_s) = (name("4650"), 13.0);
    earlier.factors =
        vec![JobFactors { job_id: name("4650"), configuration: "ior 8 nodes".to_string(), ..factors() }];
    store.commit(&earlier, &[]).unwrap();
    let mut asked = args("4711", path);
    asked.compare = vec!["4650".to_string()];
    let mut text = Vec::new();
    run(&asked, &mut text).unwrap();
    check("compared.txt", &String::from_utf8(text).unwrap());
    (asked.job, asked.json) = (None, true);
    asked.compare = vec!["4711".to_string(), "4650".to_string()];
    let mut object = Vec::new();
    run(&asked, &mut object).unwrap();
    let object: serde_json::Value = serde_json::from_slice(&object).unwrap();
    assert_eq!((&object["jobs"][1], &object["items"][3]["difference"]), (&"4650".into(), &200.0.into()));
    assert!(object["items"][0]["note"].as_str().unwrap().starts_with("configurations differ"));
    (asked.json, asked.html) = (false, Some(folder.path().join("page.html")));
    run(&asked, &mut Vec::new()).unwrap();
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.contains("<h2>Compared with job 4650</h2>"), "{page}");
    asked.compare.truncate(1);
    assert!(run(&asked, &mut Vec::new()).unwrap_err().to_string().starts_with("two jobs are compared"));
    asked.compare = vec!["4711".to_string(), "9".to_string()];
    assert!(run(&asked, &mut Vec::new()).unwrap_err().to_string().contains("job 9 is not known"));
}

#[test]
fn an_unknown_job_is_named_with_its_nearest() {
    let (_folder, path) = stored();
    let args = args("4117", path);
    let error = run(&args, &mut Vec::new()).unwrap_err().to_string();
    assert!(error.ends_with("store.db: job 4117 is not known; the nearest known ids are 4711"), "{error}");
}

#[test]
fn a_store_that_is_not_there_is_named() {
    let args = args("4711", "no/such/store.db".into());
    let error = run(&args, &mut Vec::new()).unwrap_err().to_string();
    assert!(error.starts_with("no/such/store.db: the store cannot be opened"), "{error}");
}

#[test]
fn the_page_goes_to_the_writer_that_is_given() {
    let (_folder, path) = stored();
    let mut args = args("4711", path);
    let mut page = Vec::new();
    run(&args, &mut page).unwrap();
    assert!(page.starts_with(b"Job 4711  ior  of alice\n"));
    args.json = true;
    let mut object = Vec::new();
    run(&args, &mut object).unwrap();
    let object: serde_json::Value = serde_json::from_slice(&object).unwrap();
    assert_eq!(object["result"]["slowdown_s"], 213.0);
}
