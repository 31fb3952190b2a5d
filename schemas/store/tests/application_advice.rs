//! What is known of an application before a job of it is placed: the same in both stores.

use super::answers::printed_rows;
use rusqlite::types::Value;
use schemas::{EpisodeId, ResultBatch, SeriesIndex};
use store::postgres::PgStore;
use store::read::placement::OF_APPLICATION;
use store::sqlite::{Retention, Store, open_reader};
use support::answers::{at, batch, commit_to_server, name};
use support::database::{Database, on_each_server};

/// Four runs of `cfd`, of which one was not judged; they lose to `writer`, which ran once and runs now.
fn rows() -> ResultBatch {
    let mut rows = batch("ann", "ben");
    for job in &mut rows.jobs {
        let app = if ["1235", "1240"].contains(&job.job_id.as_str()) { "writer" } else { "cfd" };
        job.app = Some(app.to_string());
    }
    for (id, lost_s, judged) in [("1196", 40.0, 1.0), ("1197", 0.0, 0.25)] {
        let mut job = rows.jobs[0].clone();
        job.job_id = name(id);
        rows.jobs.push(job);
        let mut result = rows.job_results[0].clone();
        result.job_id = name(id);
        (result.slowdown_s, result.slowdown_lo_s, result.slowdown_hi_s) =
            (lost_s, lost_s * 0.75, lost_s * 1.25);
        result.judged = judged;
        result.causes.clear();
        rows.job_results.push(result);
    }
    // A file system whose only client waits since the middle of the run.
    let mut waits = rows.episodes[0].clone();
    (waits.id, waits.series, waits.start, waits.end) = (EpisodeId(9), SeriesIndex(6), at(250.0), at(600.0));
    waits.open = true;
    rows.episodes.push(waits);
    rows.job_series.push((name("1234"), SeriesIndex(6)));
    // The name of the job is the application where the site reports none.
    rows.jobs[3].app = None;
    rows.jobs[3].name = "writer".to_string();
    rows
}

fn embedded(app: &str, user: Option<&str>) -> Vec<Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    Store::open(&path, Retention::default()).unwrap().commit(&rows(), &[]).unwrap();
    let reader = open_reader(&path).unwrap();
    let mut statement = reader.prepare(OF_APPLICATION.sqlite).unwrap();
    let cell = |value: Value| match value {
        Value::Null => String::new(),
        Value::Text(text) => text,
        Value::Real(figure) => rounded(figure),
        other => panic!("{other:?} is no cell of the answer"),
    };
    let row = |row: &rusqlite::Row<'_>| (0..7).map(|at| row.get(at).map(cell)).collect();
    let rows = statement.query_map((app, user), row).unwrap();
    rows.map(Result::unwrap).collect()
}

/// Both stores sum in their own order.
fn rounded(figure: f64) -> String {
    format!("{figure:.9}")
}

async fn served(database: &Database, app: &str, user: Option<&str>) -> Vec<Vec<String>> {
    let user = user.map_or("NULL".to_string(), |user| format!("'{user}'"));
    let rows = printed_rows(database, &format!("SELECT * FROM application_advice('{app}', {user})")).await;
    let cell = |(at, cell): (usize, String)| match cell.parse::<f64>() {
        Ok(figure) if (2..5).contains(&at) => rounded(figure),
        _ => cell,
    };
    rows.into_iter().skip(1).map(|row| row.into_iter().enumerate().map(cell).collect()).collect()
}

/// The rows of a topic as words.
fn of(rows: &[Vec<String>], topic: &str) -> Vec<String> {
    rows.iter().filter(|row| row[0] == topic).map(|row| row[1..].join("|")).collect()
}

#[test]
fn an_application_is_described_by_its_earlier_runs_and_the_present() {
    let rows = embedded("cfd", None);
    assert_eq!(
        of(&rows, "runs"),
        [
            "known|4.000000000|||runs|started from 2026-11-19 10:00:00 UTC to 2026-11-20 10:00:00 UTC",
            "judged|3.000000000|||runs|1 not judged, and not counted",
        ]
    );
    // 10 of 400 s, 40 of 400 s, 80 of 500 s.
    let lost = ["median|0.100000000|0.075000000|0.125000000|share of run time|of 3 runs"];
    assert_eq!(of(&rows, "lost"), lost);
    // 250 of the 350 s of an episode that lost 80 s, in the one run of 500 s that used it.
    let mount = "snx11137|0.114285714|0.085714286|0.142857143|share of run time|lustre_write_rate, in 1 runs";
    assert_eq!(of(&rows, "suffers on file system"), [mount]);
    // 60 of 1300 s.
    let links = "router c0-0c0s0|0.046153846|0.034615385|0.057692308|share of run time|in 1 runs";
    assert_eq!(of(&rows, "suffers on links"), [links]);
    // Half of the 80 s of job 1234.
    let loses = "writer|0.030769231|0.023076923|0.038461538|share of run time|in 1 runs";
    assert_eq!(of(&rows, "loses to"), [loses]);
    // Half of 5 s on four nodes, in four runs.
    let costs = "writer|0.000694444|0.000520833|0.000868056|node-hours a run|1 of its jobs";
    assert_eq!(of(&rows, "costs"), [costs]);
    let placement = "1 groups|1.250000000|0.937500000|1.562500000|times the fastest run time|cfd 4 nodes rendezvous, 1 runs";
    assert_eq!(of(&rows, "placement"), [placement]);
    assert_eq!(of(&rows, "runs now"), ["writer|1.000000000|||jobs|groups: c2-0..c3-0"]);
    assert_eq!(
        of(&rows, "contended now"),
        [
            "snx11137|1.000000000|||clients|file system, since 2026-11-20 10:04:10 UTC",
            "router c0-0c0s0|2.000000000|||links|links, since 2026-11-20 10:01:40 UTC",
        ]
    );
    assert_eq!(of(&rows, "avoid group"), ["c0-0..c1-0|2.000000000|||contended links|1 switches"]);
    assert_eq!(of(&rows, "avoid switch"), ["c0-0c0s0|2.000000000|||contended links|group c0-0..c1-0"]);
    assert_eq!(of(&rows, "advice").len(), 3, "{rows:?}");
    // Applications alone: neither jobs nor users.
    let private = ["1234", "1235", "1240", "ann", "ben"];
    let named = |row: &&Vec<String>| row.iter().any(|cell| private.contains(&cell.as_str()));
    assert_eq!(rows.iter().find(named), None);
}

#[test]
fn too_few_judged_runs_show_nothing() {
    for (app, user, known) in [("writer", None, "1"), ("cfd", Some("ben"), "0"), ("none", None, "0")] {
        let rows = embedded(app, user);
        assert_eq!(
            of(&rows, "lost"),
            [format!("median||||share of run time|unknown: {known} of at least 3 runs were judged")]
        );
        let known = ["runs", "lost", "avoid group", "avoid switch"];
        assert!(rows.iter().all(|row| known.contains(&row[0].as_str())), "{app}: {rows:?}");
    }
}

#[test]
fn both_stores_know_the_same_of_an_application() {
    on_each_server(|database: Database| async move {
        let mut store = PgStore::connect(&database.settings()).await.unwrap();
        commit_to_server(&mut store, &rows()).await;
        for (app, user) in
            [("cfd", None), ("cfd", Some("ann")), ("cfd", Some("ben")), ("writer", None), ("none", None)]
        {
            assert_eq!(served(&database, app, user).await, embedded(app, user), "{app} {user:?}");
        }
    });
}
