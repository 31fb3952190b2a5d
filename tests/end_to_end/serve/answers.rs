//! Answers from the database equal those from a store with the same rows.

use super::both::Both;
use super::serving::{Page, Serving};
use serde_json::{Value, json};
use support::database::{Database, on_each_server};

/// Requests of the page, and requests that are refused.
const PATHS: &[&str] = &[
    "now",
    "now?by=component",
    "now?by=component&metric=aries_stall_ratio&order=slowdown",
    "now?state=contended",
    "now?state=unknown",
    "now?search=r0c&order=slowdown&limit=2&offset=1",
    "now?metric=lustre_write_rate&names=false",
    "now?limit=0",
    "now?at=1795169340",
    "now?at=1795169340&order=slowdown&limit=3&names=false",
    "now?at=1795169340&by=component&state=contended",
    "now?at=5&limit=2",
    "now?at=-1",
    "map",
    "map?vertex=c0-0c0s0",
    "map?vertex=c0-0c1s0&at=1795169340",
    "map?vertex=none",
    "map/now",
    "map/now?at=1795169340",
    "map/now?at=5",
    "map/now?at=x",
    "history?hours=2",
    "history?hours=0",
    "jobs/1198/footprint",
    "jobs/1234/footprint",
    "jobs/none/footprint",
    "episodes",
    "episodes?state=open",
    "episodes?state=ended&limit=2&offset=1",
    "episodes?series=aries_stall_ratio/c0-0c0s0/r0c0",
    "episodes?series=aries_stall_ratio/c0-0c0s0/r0c0&job=1198",
    "episodes?job=1234",
    "episodes?job=1240&state=open",
    "episodes?job=none",
    "episodes?from=1795168950&to=1795169000",
    "episodes?from=1795168930&to=1795168940&state=ended",
    "episodes?job=1234&from=1795169250",
    "episodes?series=aries_stall_ratio/c0-0c0s0/r0c0&to=1795100000",
    "episodes?from=-1",
    "jobs?from=1795168000&to=1795168820",
    "jobs?to=1795100000",
    "jobs?from=5&to=1",
    "episodes?user=ann",
    "episodes?user=ben&job=1235&sort=length&dir=asc",
    "episodes?node=c0-0c0s0&sort=lost&limit=2&offset=1",
    "episodes?node=nid00000",
    "episodes?node=nid00004",
    "episodes?cause=other_job&sort=series&dir=asc",
    "episodes?cause=unknown",
    "episodes?mount=snx11137&state=ended",
    "episodes?mount=r0c0",
    "episodes?sort=episode",
    "episodes?sort=start&dir=asc&from=1795168950",
    "episodes?sort=cause",
    "episodes?sort=completeness&state=open",
    "episodes?sort=peak",
    "jobs?user=ann",
    "jobs?user=ben&state=running",
    "jobs?node=nid00004",
    "jobs?cause=other_job&sort=lost&dir=asc",
    "jobs?cause=unknown",
    "jobs?mount=snx11137",
    "jobs?mount=r0c0",
    "jobs?sort=job",
    "jobs?sort=name&dir=asc",
    "jobs?sort=start&dir=asc&limit=2&offset=1",
    "jobs?sort=elapsed",
    "jobs?sort=lost_share&dir=asc",
    "jobs?sort=cause&dir=asc",
    "jobs?sort=completeness",
    "jobs?sort=judged&dir=asc",
    "jobs?sort=lost&dir=up",
    "jobs?cause=luck",
    "episodes/1",
    "episodes/2",
    "episodes/4",
    "episodes/5",
    "episodes/99",
    "episodes/3000000000012",
    "episodes/0:2",
    "episodes/3:12",
    "episodes/3:",
    "episodes/9000000000:1",
    "episodes/one",
    "series/aries_stall_ratio/c0-0c0s0/r0c0/points",
    "series/aries_stall_ratio/c0-0c0s0/r0c1/points?from=1795168980&to=1795169220",
    "series/lustre_write_rate/nid00004/snx11137/points",
    "series/lustre_write_rate/none/points",
    "series/aries_stall_ratio/c0-0c0s0/r0c0/counters",
    "series/aries_stall_ratio/c0-0c0s0/r0c1/counters?from=1795168980&to=1795169220",
    "series/lustre_write_rate/nid00004/snx11137/counters",
    "series/lustre_write_rate/none/counters",
    "series/a/b/points?from=5&to=1",
    "jobs",
    "jobs?search=CFD&state=ended&sort=lost&limit=2",
    "jobs?search=none",
    "jobs?state=running",
    "jobs/1198",
    "jobs/1234",
    "jobs/1235",
    "jobs/1240",
    "jobs/none",
    "jobs/1234/contention",
    "jobs/1240/contention",
    "jobs/none/contention",
    "jobs/x%20y/contention",
    "jobs/none/report",
    "jobs/1198/report?format=pdf",
    "jobs/1198/neighbours",
    "jobs/1234/neighbours",
    "jobs/none/neighbours",
    "jobs/1198/earlier",
    "jobs/1235/earlier",
    "jobs/none/earlier",
    "jobs/1198/caused",
    "jobs/1234/caused",
    "jobs/none/caused",
    "blame",
    "blame?from=1795168980&to=1795169220&limit=1",
    "blame?from=5&to=1",
    "blame?limit=0",
    "fabric",
    "fabric?group=c0-0..c1-0",
    "fabric?group=",
    "fabric?from=1795168980&to=1795169220",
    "fabric?to=1795100000",
    "fabric?from=5&to=1",
    "regions",
    "regions?limit=1",
    "regions?limit=0",
    "incidents",
    "incidents?state=open",
    "incidents?state=ended&limit=1&offset=1",
    "incidents?from=1795168930&to=1795168960",
    "incidents?from=5&to=1",
    "incidents?limit=0",
    "incidents?user=ann",
    "incidents?user=ben&state=open",
    "incidents?node=c0-0c0s0",
    "incidents?node=nid00000",
    "incidents?node=nid00004",
    "incidents?cause=other_job",
    "incidents?mount=snx11137&sort=start&dir=asc",
    "incidents?sort=name",
    "incidents?sort=length&limit=2&offset=1",
    "incidents?sort=size&dir=asc",
    "incidents?sort=kind&dir=asc",
    "incidents?sort=cause",
    "incidents?sort=source&dir=asc",
    "incidents?sort=lost",
    "incidents?sort=loss",
    "routers/c0-0c0s0",
    "routers/none",
    "routers/..",
    "regions/1",
    "regions/2",
    "regions/99",
    "regions/-1",
    "files",
    "files?mount=snx11137",
    "files?metric=lustre_write_rate",
    "files?metric=aries_stall_ratio",
    "files?mount=none",
    "files?from=1795168980&to=1795169340",
    "files?from=5&to=1",
    "placement?nodes=nid[00000-00003]",
    "placement?nodes=nid00000,nid00004",
    "placement?nodes=",
    "advice",
    "advice?nodes=nid[00000-00009]",
    "alerts",
    "alerts?all=true",
    "alerts?all=yes",
    "alerts/0123456789abcdef",
    "alerts/0123456789abcdee",
    "alerts/x",
    "paid",
    "health",
    "nothing",
];

/// Removes what must differ between store and database.
fn comparable(path: &str, mut answer: Value) -> Value {
    // Series are numbered from 0 in the store, from 1 in the database.
    if let Some(id) = answer.pointer_mut("/series/id") {
        *id = Value::Null;
    }
    for series in answer["top"].as_array_mut().into_iter().flatten() {
        series["id"] = Value::Null;
    }
    clear_values_of_silent_series(&mut answer);
    if path.ends_with("/contention") {
        forget_contention(&mut answer);
    }
    match path.split(['?', '/']).next() {
        Some("health") => {
            answer["store_bytes"] = json!(answer["store_bytes"].as_u64().is_some_and(|bytes| bytes > 0))
        }
        // Steps of 10 s over five minutes in the store, minutes over an hour in the database: see `files_show_steps`.
        Some("files") => answer["rates"] = Value::Null,
        // The store counts episodes as dated, the database the minutes that were contended: see `both_have_a_history`.
        Some("history") => {
            answer = json!({"clock": answer["clock"], "error": answer["error"]});
        }
        Some("placement") => keep_figures(&mut answer),
        // Advice of a database expires by the clock, of a file by the newest signal: its time may be simulated.
        Some("advice") => answer["now_s"] = json!(answer["now_s"].is_f64()),
        _ => {}
    }
    answer
}

/// A database's jobs are not judged by data as old as these; `asking.rs` compares what they wait for.
fn forget_contention(answer: &mut Value) {
    for word in ["state", "reason", "since_s", "until_s", "resources", "resources_total"] {
        answer[word] = Value::Null;
    }
}

/// The database keeps the latest value of a series for 20 s, the store without limit.
fn clear_values_of_silent_series(answer: &mut Value) {
    const WORDS: [&str; 6] = ["time", "value", "mean", "baseline", "bound", "slowdown_s"];
    let Some(unknown) =
        answer["states"].as_array().and_then(|states| states.iter().position(|s| s == "unknown"))
    else {
        return;
    };
    let states = answer["series"]["state"].as_array().cloned().unwrap_or_default();
    for (row, _) in states.iter().enumerate().filter(|(_, state)| **state == json!(unknown)) {
        for word in WORDS {
            answer["series"][word][row] = Value::Null;
        }
    }
}

/// Only the database reports running jobs near the nodes, and advice. The details of equal numbers have other texts.
fn keep_figures(answer: &mut Value) {
    let Some(rows) = answer["rows"].as_array_mut() else {
        return;
    };
    rows.retain(|row| row["topic"] != "running job" && row["topic"] != "advice");
    rows.iter_mut().for_each(|row| row["detail"] = Value::Null);
}

async fn pages(database: &Database) -> (Both, String, [Serving; 2], [Page; 2]) {
    // No more rights than Grafana's.
    let login = database.login("tailback_reader").await;
    let both = Both::filled(database, &database.url_of(&login)).await;
    let mut serving = [Serving::start("--store", &both.store), Serving::start("--config", &both.config)];
    let pages = serving.each_mut().map(Serving::page);
    (both, login, serving, pages)
}

#[test]
fn a_report_from_the_database_is_that_from_the_store() {
    on_each_server(|database: Database| async move {
        let (_both, login, serving, pages) = pages(&database).await;
        for path in ["jobs/1198/report?format=text", "jobs/1198/report"] {
            // The last lines have the time of writing.
            let [store, server] =
                pages.each_ref().map(|page| page.text(path).split("Tailback 0").next().map(str::to_string));
            assert!(store.as_ref().is_some_and(|text| text.len() > 200), "{store:?}");
            assert_eq!(store, server, "{path}");
        }
        drop(serving);
        database.drop_login(&login).await;
    });
}

#[test]
fn every_answer_from_the_database_is_that_from_the_store() {
    on_each_server(|database: Database| async move {
        let (_both, login, serving, [store, server]) = pages(&database).await;
        for path in PATHS {
            let [(status, wanted), (got_status, got)] = [&store, &server].map(|page| page.ask(path));
            assert_eq!(got_status, status, "{path}: {got}");
            let [got, wanted] = [got, wanted].map(|answer| comparable(path, answer));
            assert_eq!(got, wanted, "{path}");
        }
        drop(serving);
        database.drop_login(&login).await;
    });
}

#[test]
fn incidents_hold_file_systems_by_the_lower_end() {
    on_each_server(|database: Database| async move {
        let (_both, login, serving, pages) = pages(&database).await;
        for page in pages {
            let body = page.ask("incidents").1;
            let facts = |incident: &Value| {
                [&incident["about"], &incident["open"], &incident["lost_lo_s"]].map(Value::to_string)
            };
            let rows: Vec<[String; 3]> = body["incidents"].as_array().unwrap().iter().map(facts).collect();
            let wanted = [
                ["\"storage\"", "true", "200.5"],
                ["\"region\"", "true", "60.0"],
                // What its episodes lost, not what its last notice said.
                ["\"storage\"", "false", "120.0"],
                ["\"region\"", "false", "3.75"],
                ["\"storage\"", "false", "2.5"],
            ];
            assert_eq!(rows, wanted.map(|row| row.map(str::to_string)), "{body}");
            let within = page.ask("incidents?from=1795160050&to=1795160060").1;
            assert_eq!((&within["total"], &within["incidents"][0]["mount"]), (&json!(1), &json!("snx11137")));
        }
        drop(serving);
        database.drop_login(&login).await;
    });
}

#[test]
fn files_show_steps_of_ten_seconds_or_summed_minutes() {
    on_each_server(|database: Database| async move {
        let (_both, login, serving, pages) = pages(&database).await;
        let [store, server] = pages.map(|page| page.ask("files").1["rates"].clone());
        assert_eq!((&store["step_s"], &store["over_s"]), (&json!(10.0), &json!(300.0)));
        assert_eq!((&server["step_s"], &server["over_s"]), (&json!(60.0), &json!(3600.0)));
        // One signal a minute: each fills a step of ten seconds in the store, of a minute in the database.
        let steps = |rates: &Value| rates["time"].as_array().unwrap().len();
        assert_eq!((steps(&store), steps(&server)), (5, 9), "{store} {server}");
        assert_eq!(store["most"], server["most"]);
        drop(serving);
        database.drop_login(&login).await;
    });
}

#[test]
fn both_have_a_history() {
    on_each_server(|database: Database| async move {
        let (_both, login, serving, pages) = pages(&database).await;
        for page in pages {
            let (status, history) = page.ask("history?hours=2");
            let most = |name: &str| {
                let steps = history[name].as_array().unwrap().iter();
                steps.map(|count| count.as_i64().unwrap()).max()
            };
            assert_eq!(status, 200);
            assert!(most("links") > Some(0) && most("incidents") > Some(1), "{history}");
        }
        drop(serving);
        database.drop_login(&login).await;
    });
}

#[test]
fn only_the_database_keeps_the_history_of_health() {
    on_each_server(|database: Database| async move {
        let (_both, login, serving, [store, server]) = pages(&database).await;
        assert_eq!(store.ask("health/history").1["kept"], json!(false));
        let body = server.ask("health/history").1;
        let lines = body["lines"].as_array().unwrap();
        let named = |figure: &str| lines.iter().find(|line| line["figure"] == figure).unwrap();
        assert_eq!((&body["kept"], &named("lag_s")["label"]), (&json!(true), &json!("detector")));
        // Minutes of event time, in order.
        let minutes: Vec<f64> =
            named("lag_s")["time"].as_array().unwrap().iter().map(|time| time.as_f64().unwrap()).collect();
        assert!(minutes.iter().all(|minute| minute % 60.0 == 0.0) && minutes.is_sorted(), "{body}");
        assert_eq!(named("silent_sources")["value"].as_array().unwrap().len(), minutes.len());
        drop(serving);
        database.drop_login(&login).await;
    });
}

#[test]
fn long_range_is_read_from_a_coarser_tier_with_its_name() {
    on_each_server(|database: Database| async move {
        let (_both, login, serving, [_, server]) = pages(&database).await;
        let path = "series/aries_stall_ratio/c0-0c0s0/r0c0/points";
        for (back, tier, bound) in
            [(9_000, "ticks", json!(1.0)), (20_000, "10s", Value::Null), (100_000, "1min", Value::Null)]
        {
            let points =
                server.ask(&format!("{path}?from={}&to=1795169400", 1_795_169_400 - back)).1["points"]
                    .clone();
            assert_eq!(points["tier"], tier);
            assert_eq!(points["time"].as_array().unwrap().len(), 11, "{tier}: {points}");
            let last = |column: &str| points[column][10].clone();
            assert_eq!(
                (last("mean"), last("bound"), last("state")),
                (json!(4.0), bound, json!("contended")),
                "{tier}"
            );
            assert_eq!(
                (&points["state"][0], &points["time"][10]),
                (&json!("clear"), &json!(1_795_169_400.0))
            );
        }
        drop(serving);
        database.drop_login(&login).await;
    });
}

#[test]
fn silent_series_is_unknown_and_its_last_minute_is_shown() {
    on_each_server(|database: Database| async move {
        let (_both, login, serving, [_, server]) = pages(&database).await;
        let (status, answer) = server.ask("series/aries_stall_ratio/c2-0c0s0/r0c1/points");
        assert_eq!((status, &answer["series"]["state"]), (200, &json!("unknown")));
        assert_eq!(
            (&answer["series"]["mean"], &answer["series"]["time"]),
            (&Value::Null, &json!(1_795_169_400.0))
        );
        assert_eq!(answer["points"]["time"].as_array().unwrap().len(), 10, "{answer}");
        drop(serving);
        database.drop_login(&login).await;
    });
}

#[test]
fn episodes_of_every_partition_have_numbers_of_their_own() {
    on_each_server(|database: Database| async move {
        let (_both, login, serving, [_, server]) = pages(&database).await;
        let copied = "INSERT INTO episodes SELECT 3, 12, series_id, start_time, end_time, open, peak, 7, slowdown_s, slowdown_lo_s,
                      slowdown_hi_s, completeness, profile, causes FROM episodes WHERE id = 5";
        database.execute(copied).await;
        let open = server.ask("episodes?state=open").1;
        let ids: Vec<i64> =
            open["episodes"].as_array().unwrap().iter().map(|e| e["id"].as_i64().unwrap()).collect();
        assert_eq!(ids, [3_000_000_000_012, 5]);
        let one = server.ask("episodes/3000000000012").1;
        assert_eq!(
            (&one["episode"]["id"], &one["episode"]["baseline"]),
            (&json!(3_000_000_000_012_i64), &json!(7.0))
        );
        drop(serving);
        database.drop_login(&login).await;
    });
}
