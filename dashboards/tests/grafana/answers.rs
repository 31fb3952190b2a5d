//! Every query runs as Grafana's role, gives rows with the columns that its panel names, and is safe with any variable.

use crate::integration::grafana::day::{Day, Kind, on_the_day};
use crate::integration::grafana::macros::{Span, Values, expanded};
use crate::integration::grafana::source::{Board, Look, Panel, boards, query, rules};
use std::time::Instant;
use support::database::client;
use tokio_postgres::Client;
use tokio_postgres::types::Type;

/// The day of `day.sql`: 2026-10-15.
const DAY: Span = Span { from_s: 1_792_022_400, until_s: 1_792_108_800 };
/// The end of the month that `tests/load/dashboards` fills.
const MONTH_END_S: i64 = 1_793_404_800;

/// Values of the variables for the day.
fn chosen() -> Values {
    let one = |name: &str, value: &str| (name.to_string(), vec![value.to_string()]);
    let mut values = Values::from([
        one("metric", "aries_stall_ratio"),
        one("group", "c0-0..c1-0"),
        one("router", "c0-0c0s0"),
        one("region", "8"),
        one("job", "121"),
        one("series", "aries_stall_ratio/c0-0c0s0/r0c3"),
        one("search", "c0-0c0s1"),
    ]);
    values.insert("mount".to_string(), vec!["snx11137".to_string(), "scratch".to_string()]);
    values
}

/// Columns of an answer with their types, and its rows.
async fn answer(client: &Client, name: &str, span: Span, values: &Values) -> (Vec<(String, Type)>, usize) {
    let sql = expanded(&query(name), span, values);
    let prepared = client.prepare(&sql).await.unwrap_or_else(|why| panic!("{name}: {why:?}\n{sql}"));
    let columns = prepared.columns().iter().map(|c| (c.name().to_string(), c.type_().clone())).collect();
    let rows = client.query(&prepared, &[]).await.unwrap_or_else(|why| panic!("{name}: {why:?}\n{sql}"));
    (columns, rows.len())
}

fn queries_of(board: &Board) -> Vec<(&Panel, &str)> {
    let mut queries = Vec::new();
    for panel in &board.panels {
        queries.push((panel, panel.sql.as_str()));
        queries.extend(panel.also.as_ref().map(|sql| (panel, sql.as_str())));
    }
    queries
}

fn check_columns(panel: &Panel, name: &str, columns: &[(String, Type)]) {
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    if panel.look.is_over_time() {
        assert_eq!(columns[0], ("time".to_string(), Type::TIMESTAMPTZ), "{name}");
        let figures = if names[1] == "metric" {
            // Grafana names lines by this column if there is only one value.
            assert_eq!(names, ["time", "metric", "value"], "{name}");
            assert_eq!(columns[1].1, Type::TEXT, "{name}");
            &columns[2..]
        } else {
            assert!(names[1..].iter().all(|column| panel.columns.contains_key(*column)), "{name}: {names:?}");
            &columns[1..]
        };
        assert!(figures.iter().all(|(_, kind)| *kind == Type::FLOAT8), "{name}: {figures:?}");
    } else if panel.look == Look::Grid {
        assert!(columns[1..].iter().all(|(_, kind)| *kind == Type::FLOAT8), "{name}: {columns:?}");
    } else {
        let mut wanted: Vec<&str> = panel.columns.keys().map(String::as_str).collect();
        let mut there = names.clone();
        wanted.sort_unstable();
        there.sort_unstable();
        assert_eq!(there, wanted, "{name}");
    }
}

async fn check(day: &Day) {
    every_query_gives_rows_with_the_columns_of_its_panel(day).await;
    every_query_answers_whatever_the_span(day).await;
    the_grid_of_a_router_has_all_of_its_tiles(day).await;
    variables_resolve_and_hold_what_is_chosen(day).await;
    no_variable_breaks_out_of_its_quotes(day).await;
    // It expires tiers, so it runs last.
    a_span_reads_the_tier_that_fits_it_and_none_that_is_gone(day).await;
}

#[test]
fn panels_variables_and_tiers_answer_on_plain_postgresql() {
    on_the_day(Kind::Plain, check);
}

#[test]
fn panels_variables_and_tiers_answer_with_timescaledb() {
    on_the_day(Kind::Timescale, check);
}

async fn every_query_gives_rows_with_the_columns_of_its_panel(day: &Day) {
    for board in boards().values() {
        for (panel, name) in queries_of(board) {
            let (columns, rows) = answer(&day.reader, name, DAY, &chosen()).await;
            check_columns(panel, name, &columns);
            assert!(rows > 0, "{name} of {:?} gives no rows", panel.title);
            assert!(panel.look != Look::Figures || rows == 1, "{name} gives {rows} rows");
        }
    }
    let (columns, rows) = answer(&day.reader, "annotation_incidents", DAY, &Values::new()).await;
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["time", "timeend", "title", "text", "tags"]);
    assert!(rows > 0, "no annotations");
    for rule in rules().rules {
        let (columns, rows) = answer(&day.reader, &rule.sql, DAY, &Values::new()).await;
        assert_eq!((columns, rows), (vec![("value".to_string(), Type::FLOAT8)], 1), "{}", rule.sql);
    }
}

/// The last quarter of an hour of the day has no drops.
const EMPTY_AT_THE_END: &str = "itself_drops";

/// Short spans read other tiers and tables than a day. All end with the day, so that charts have points.
async fn every_query_answers_whatever_the_span(day: &Day) {
    let mut empty = Vec::new();
    for seconds in [60, 900, 3_600, 6 * 3_600, 7 * 86_400, 30 * 86_400] {
        let span = Span { from_s: DAY.until_s - seconds, ..DAY };
        for board in boards().values() {
            for (panel, name) in queries_of(board) {
                let (columns, rows) = answer(&day.reader, name, span, &chosen()).await;
                check_columns(panel, name, &columns);
                if rows == 0 && panel.look.is_over_time() && seconds >= 900 && name != EMPTY_AT_THE_END {
                    empty.push(format!("{name} over {seconds} s"));
                }
            }
        }
    }
    assert!(empty.is_empty(), "{empty:#?}");
}

/// Six rows by eight columns, each with a value: a query whose joins find no rows has the grid too.
async fn the_grid_of_a_router_has_all_of_its_tiles(day: &Day) {
    for board in boards().values() {
        for panel in board.panels.iter().filter(|panel| panel.look == Look::Grid) {
            let sql = expanded(&query(&panel.sql), DAY, &chosen());
            let rows = day.reader.query(&sql, &[]).await.unwrap();
            assert!(!rows.is_empty() && rows[0].len() > 1, "{} has no cells", panel.sql);
            let figures = |row: &tokio_postgres::Row| {
                (1..row.len()).filter(|at| row.get::<_, Option<f64>>(*at).is_some()).count()
            };
            let filled: usize = rows.iter().map(figures).sum();
            if panel.sql.starts_with("fabric_tiles") {
                assert_eq!((rows.len(), filled), (6, 48), "{}", panel.sql);
            }
            assert!(filled > 0, "{} has no figure", panel.sql);
        }
    }
}

async fn variables_resolve_and_hold_what_is_chosen(day: &Day) {
    for board in boards().values() {
        for variable in board.variables.iter().filter(|variable| !variable.text) {
            let name = variable.sql.as_deref().unwrap();
            let sql = expanded(&query(name), DAY, &chosen());
            let rows = day.reader.query(&sql, &[]).await.unwrap();
            let values: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
            for wanted in &chosen()[&variable.name] {
                assert!(values.contains(wanted), "{name}: {wanted} is not among {values:?}");
            }
        }
    }
}

async fn no_variable_breaks_out_of_its_quotes(day: &Day) {
    for hostile in ["", "x' OR '1'='1", "'; DROP TABLE jobs; --", "\\' OR 1=1 --", "%", "${job}"] {
        let values: Values = chosen().into_keys().map(|name| (name, vec![hostile.to_string()])).collect();
        for board in boards().values() {
            for (_, name) in queries_of(board) {
                answer(&day.reader, name, DAY, &values).await;
            }
        }
        let (_, rows) = answer(&day.reader, "job_run", DAY, &values).await;
        assert_eq!(rows, 0, "{hostile} is no job");
    }
}

/// Ticks that most rows of the tier stand for which a step of so many seconds reads.
async fn ticks_of(client: &Client, step_s: f64) -> i64 {
    let sql = "SELECT mode() WITHIN GROUP (ORDER BY ticks) FROM signals_over('2026-10-15 23:00', '2026-10-15 23:59:59', $1)";
    client.query_one(sql, &[&step_s]).await.unwrap().get::<_, Option<i64>>(0).unwrap_or(0)
}

async fn a_span_reads_the_tier_that_fits_it_and_none_that_is_gone(day: &Day) {
    for (step_s, ticks) in [
        (1.0, 1),
        (9.0, 1),
        (10.0, 10),
        (59.0, 10),
        (60.0, 60),
        (899.0, 60),
        (900.0, 3_600),
        (86_400.0, 3_600),
    ] {
        assert_eq!(ticks_of(&day.reader, step_s).await, ticks, "step of {step_s} s");
    }
    // Constant steps: the plan has no table of another tier.
    let sql = "EXPLAIN SELECT * FROM signals_over('2026-10-15', '2026-10-16', 3600)";
    let plan: Vec<String> = day.owner.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
    assert!(!plan.iter().any(|line| line.contains("signal_rows")), "{plan:#?}");
    // Expired ranges are read from the next tier.
    for (gone, ticks) in [("raw", 10), ("10s", 60), ("1min", 3_600)] {
        let forget = format!("UPDATE tier_retention SET kept_for = '1 minute' WHERE tier = '{gone}'");
        day.owner.batch_execute(&forget).await.unwrap();
        assert_eq!(ticks_of(&day.reader, 1.0).await, ticks, "without {gone}");
    }
}

/// Values of the variables for the month of `tests/load/dashboards`: the largest job, a usual group.
fn chosen_of_the_month() -> Values {
    let mut values = chosen();
    for (name, value) in [("region", "3000"), ("job", "big"), ("mount", "snx11137")] {
        values.insert(name.to_string(), vec![value.to_string()]);
    }
    values
}

#[test]
#[ignore = "needs the month that tests/load/dashboards fills"]
fn every_panel_answers_within_a_second_on_a_month() {
    let url = std::env::var("TAILBACK_MONTH_URL").expect("TAILBACK_MONTH_URL: see tests/load/dashboards");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let mut slow = Vec::new();
        println!("| dashboard | panel | 1 h | 6 h | 24 h | 7 d | 30 d |\n|---|---|---|---|---|---|---|");
        for board in boards().values() {
            let title = board.title.trim_start_matches("Tailback: ");
            let panels = queries_of(board).into_iter().map(|(panel, name)| (panel.title.clone(), name));
            let variables = board.variables.iter().filter_map(|variable| {
                variable.sql.as_deref().map(|name| (format!("(list of {})", variable.label), name))
            });
            for (what, name) in panels.chain(variables) {
                let mut line = format!("| {title} | {what} |");
                for hours in [1, 6, 24, 168, 720] {
                    let ms = milliseconds(&url, name, hours).await;
                    line += &format!(" {ms} |");
                    if ms >= 1_000 {
                        slow.push(format!("{name} over {hours} h: {ms} ms"));
                    }
                }
                println!("{line}");
            }
        }
        assert!(is_tried() || slow.is_empty(), "{slow:#?}");
    });
}

/// Whether the test runs on a database with few rows, without limits.
fn is_tried() -> bool {
    std::env::var_os("TAILBACK_TRIED").is_some()
}

/// Median of three, each with a connection of its own: planning and caches of the session count too.
async fn milliseconds(url: &str, name: &str, hours: i64) -> u128 {
    let span = Span { from_s: MONTH_END_S - 3_600 * hours, until_s: MONTH_END_S };
    let mut times = Vec::new();
    for _ in 0..if is_tried() { 1 } else { 3 } {
        let client = client(url).await;
        client.batch_execute("SET ROLE tailback_reader").await.unwrap();
        let sql = expanded(&query(name), span, &chosen_of_the_month());
        let began = Instant::now();
        client.query(&sql, &[]).await.unwrap_or_else(|why| panic!("{name}: {why:?}"));
        times.push(began.elapsed().as_millis());
    }
    times.sort_unstable();
    times[times.len() / 2]
}
