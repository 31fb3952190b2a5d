//! Answers from the database equal those from a store with the same rows.

use super::both::{Both, rows, rows_with_a_client_of_two_metrics};
use super::paths::PATHS;
use super::serving::{Page, Serving};
use schemas::ResultBatch;
use serde_json::{Value, json};
use support::database::{Database, on_each_server};

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
    pages_of(&rows(), database).await
}

async fn pages_of(rows: &ResultBatch, database: &Database) -> (Both, String, [Serving; 2], [Page; 2]) {
    // No more rights than Grafana's.
    let login = database.login("tailback_reader").await;
    let both = Both::with(rows, database, &database.url_of(&login)).await;
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
fn series_and_components_with_the_largest_loss_are_ranked_by_the_lower_end() {
    on_each_server(|database: Database| async move {
        let (_both, login, serving, pages) = pages(&database).await;
        for page in pages {
            let top = page.ask("now").1["top"].clone();
            let lower: Vec<(&str, f64)> = top.as_array().unwrap().iter().map(lower_end).collect();
            // The first alone is contended; an episode of a day before does not count. None has a live estimate.
            let wanted = [("c0-0c0s0/r0c0", 120.0), ("c0-0c0s0/r0c1", 15.0), ("c0-0c0s1/r0c0", 3.75)];
            assert_eq!(lower, wanted, "{top}");
            let series = page.ask("now?by=component&order=slowdown&limit=2").1["series"].clone();
            assert_eq!(series["component"], json!(["c0-0c0s0", "c0-0c0s1"]));
            assert_eq!(series["lost_lo_s"], json!([135.0, 3.75]));
        }
        drop(serving);
        database.drop_login(&login).await;
    });
}

/// Component and part of a series, and the lower end of its loss.
fn lower_end(series: &Value) -> (&str, f64) {
    let name = series["name"].as_str().unwrap();
    (name.split_once('/').unwrap().1, series["lost_lo_s"].as_f64().unwrap())
}

#[test]
fn incidents_hold_file_systems_by_the_lower_end() {
    on_each_server(|database: Database| async move {
        let (_both, login, serving, pages) = pages(&database).await;
        for page in pages {
            let body = page.ask("incidents").1;
            let facts = |incident: &Value| {
                [&incident["about"], &incident["lost_by"], &incident["open"], &incident["lost_lo_s"]]
                    .map(Value::to_string)
            };
            let rows: Vec<[String; 4]> = body["incidents"].as_array().unwrap().iter().map(facts).collect();
            let wanted = [
                ["\"storage\"", "\"worst_client\"", "true", "200.5"],
                ["\"region\"", "\"jobs\"", "true", "60.0"],
                // Job 1234 has four fifths of an episode that lost 60 s, 1235 all of one that lost 3.75 s.
                ["\"storage\"", "\"jobs\"", "false", "51.75"],
                ["\"region\"", "\"jobs\"", "false", "3.75"],
                ["\"storage\"", "\"worst_client\"", "false", "2.5"],
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
        let (_both, login, serving, pages) = pages_of(&rows_with_a_client_of_two_metrics(), &database).await;
        for (page, counts) in pages.into_iter().zip(["episodes", "signals"]) {
            let (status, history) = page.ask("history?hours=2");
            let column = |name: &str| -> Vec<f64> {
                history[name].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
            };
            let most = |name: &str| column(name).into_iter().fold(0.0, f64::max);
            assert_eq!((status, &history["counts"]), (200, &json!(counts)));
            assert!(most("links") > 0.0 && most("incidents") > 1.0, "{history}");
            // One client whose reads and writes are contended from the fourth minute on.
            let contended =
                column("time").into_iter().zip(column("clients")).filter(|(_, clients)| *clients > 0.0);
            let (times, clients): (Vec<f64>, Vec<f64>) = contended.unzip();
            assert_eq!(
                (times.first(), clients.iter().all(|n| *n == 1.0)),
                (Some(&1_795_169_040.0), true),
                "{history}"
            );
            assert!((1_795_169_100.0..1_795_169_160.0).contains(times.last().unwrap()), "{history}");
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
