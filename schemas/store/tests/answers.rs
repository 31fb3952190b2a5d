//! The answers that `docs/sql.md` promises: its examples against fixed rows, in both stores, and who may see
//! what. `UPDATE_GOLDEN=1 cargo test --release -p store answers:: -- --test-threads 1` writes the outputs in the page again.

use rusqlite::types::ValueRef;
use schemas::{RegionChange, RegionId, RegionStep, ResultBatch};
use std::path::{Path, PathBuf};
use store::postgres::{PgSettings, PgStore, housekeep, put_places};
use store::sqlite::{Retention, Store, open_reader};
use support::answers::{at, batch, commit_to_server, region};
use support::database::{Database, on_each_server, query, query_as};
use tokio_postgres::{NoTls, SimpleQueryMessage};
use topology::generate::FatTree;
use topology::{Machine, NodePlace, node_places};

fn readme() -> PathBuf {
    Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).join("../../docs/sql.md")
}

/// Runs every fenced statement whose opening line is `fence` and compares what it prints with the block that follows.
fn check_examples(fence: &str, mut run: impl FnMut(&str) -> String) {
    let text = std::fs::read_to_string(readme()).unwrap();
    let (mut checked, mut count) = (String::new(), 0);
    let mut rest = text.as_str();
    while let Some(start) = rest.find(&format!("\n{fence}\n")) {
        let (before, from) = rest.split_at(start + fence.len() + 2);
        let (statement, after) = from.split_once("\n```\n").unwrap();
        let opening = "```text\n";
        let output = after.strip_prefix(opening).unwrap();
        let closing = output.find("```\n").unwrap();
        checked += &format!("{before}{statement}\n```\n{opening}{}", run(statement));
        rest = &output[closing..];
        count += 1;
    }
    checked += rest;
    assert!(count > 0, "no example begins with {fence}");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(readme(), &checked).unwrap();
    }
    assert!(
        text == checked || std::env::var_os("UPDATE_GOLDEN").is_some(),
        "the page should read:\n{checked}"
    );
}

/// Rows as psql prints them, with nulls as nothing.
fn aligned(rows: &[Vec<String>]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        format!("{}\n", cells.join(" | ").trim_end())
    };
    let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
    let body: String = rows[1..].iter().map(line).collect();
    format!("{}{}\n{body}", line(&rows[0]), rule.join("-+-"))
}

async fn printed(database: &Database, sql: &str) -> String {
    aligned(&printed_rows(database, sql).await)
}

/// The names of the columns, and the rows as text; a null is empty.
pub async fn printed_rows(database: &Database, sql: &str) -> Vec<Vec<String>> {
    let (client, connection) = tokio_postgres::connect(&database.settings().url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute("SET TimeZone = 'UTC'").await.unwrap();
    let mut rows: Vec<Vec<String>> = Vec::new();
    for message in client.simple_query(sql).await.unwrap() {
        match message {
            SimpleQueryMessage::RowDescription(columns) => {
                rows.push(columns.iter().map(|c| c.name().to_string()).collect());
            }
            SimpleQueryMessage::Row(row) => {
                rows.push((0..row.len()).map(|i| row.get(i).unwrap_or_default().to_string()).collect());
            }
            _ => {}
        }
    }
    rows
}

async fn filled(database: &Database, ann: &str, ben: &str) {
    let mut store = PgStore::connect(&database.settings()).await.unwrap();
    commit_to_server(&mut store, &batch(ann, ben)).await;
}

#[test]
fn the_examples_of_the_readme_print_what_it_says() {
    on_each_server(|database: Database| async move {
        filled(&database, "ann", "ben").await;
        let runtime = tokio::runtime::Handle::current();
        let run = |sql: &str| tokio::task::block_in_place(|| runtime.block_on(printed(&database, sql)));
        check_examples("```sql", run);
    });
}

fn embedded() -> (tempfile::TempDir, rusqlite::Connection, Store) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let mut store = Store::open(&path, Retention::default()).unwrap();
    store.commit(&batch("ann", "ben"), &[]).unwrap();
    (folder, open_reader(&path).unwrap(), store)
}

fn printed_embedded(store: &rusqlite::Connection, sql: &str) -> String {
    let mut statement = store.prepare(sql).unwrap();
    let mut table: Vec<Vec<String>> = vec![statement.column_names().map(str::to_string).collect()];
    let columns = table[0].len();
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let cell = |column| match row.get_ref(column).unwrap() {
            ValueRef::Null => String::new(),
            ValueRef::Integer(figure) => figure.to_string(),
            ValueRef::Real(figure) => figure.to_string(),
            ValueRef::Text(text) | ValueRef::Blob(text) => String::from_utf8_lossy(text).into_owned(),
        };
        table.push((0..columns).map(cell).collect());
    }
    aligned(&table)
}

#[test]
fn the_embedded_examples_print_what_the_readme_shows() {
    let (_folder, reader, _store) = embedded();
    check_examples("```sqlite", |sql| printed_embedded(&reader, sql));
}

#[test]
fn the_queries_for_the_embedded_store_run() {
    let (_folder, reader, _store) = embedded();
    let folder = readme().with_file_name("../schemas/store/sql/read/sqlite");
    let links = std::fs::read_to_string(folder.join("worst_links.sql")).unwrap();
    let (from, to) = (at(0.0).seconds(), at(200.0).seconds());
    let worst: (String, f64) =
        reader.query_row(&links, (from, to, 5), |row| Ok((row.get(1)?, row.get(3)?))).unwrap();
    assert_eq!(worst, ("aries_stall_ratio/c0-0c0s0/r0c0".to_string(), 16.0));
    let advice = std::fs::read_to_string(folder.join("placement_advice.sql")).unwrap();
    let mut statement = reader.prepare(&advice).unwrap();
    let rows = statement.query_map([r#"["nid00000","nid00008"]"#], |row| {
        Ok((row.get::<_, String>(1)?, row.get::<_, Option<f64>>(2)?))
    });
    let figures: Vec<(String, Option<f64>)> = rows.unwrap().map(Result::unwrap).collect();
    assert!(figures.contains(&("switches".to_string(), Some(2.0))), "{figures:?}");
    assert!(figures.contains(&("router c0-0c0s0".to_string(), Some(2.0))), "{figures:?}");
}

#[test]
fn a_job_loses_in_its_run_what_the_profile_says_in_both_stores() {
    let sql = "SELECT CAST(round(sum(lost_s)) AS text) FROM job_episodes WHERE job_id = '1234'";
    let (_folder, reader, _store) = embedded();
    // Four fifths of the first episode, and all of the second.
    let lost: String = reader.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(lost.parse::<f64>().unwrap(), 84.0);
    on_each_server(|database: Database| async move {
        filled(&database, "ann", "ben").await;
        assert_eq!(query(&database, sql).await, ["84"]);
    });
}

/// The nodes of a fat tree of two pods, called as those of the fixed rows: two on each of four leaves.
fn places() -> Vec<NodePlace> {
    let tree = FatTree {
        ports: 4,
        pods: 2,
        leaves_per_pod: 2,
        nodes_per_leaf: 2,
        uplinks_per_leaf: 2,
        uplinks_per_spine: 2,
        rails: 1,
        lmc: 0,
        bytes_per_s: 1e10,
        node_prefix: "nid0".to_string(),
    };
    node_places(&Machine::FatTree(tree).build().unwrap())
}

#[test]
fn the_topology_says_where_nodes_stand_in_both_stores() {
    let listed = places();
    assert_eq!(listed.len(), 8, "{listed:?}");
    let [first, second, last] = [0, 1, 7].map(|at| listed[at].node.to_string());
    let stand = "SELECT count(*) || ' ' || count(DISTINCT switch) || ' ' || count(DISTINCT group_name) FROM node_switches";
    let (_folder, reader, mut store) = embedded();
    store.put_places(&listed[1..]).unwrap();
    store.put_places(&listed).unwrap();
    let found: String = reader.query_row(stand, [], |row| row.get(0)).unwrap();
    assert_eq!(found, "8 4 2");
    let mut statement = reader.prepare(store::migrations::SQLITE_PLACEMENT_ADVICE).unwrap();
    let asked = format!(r#"["{first}","{second}","{last}"]"#);
    let spans =
        statement.query_map([asked], |row| Ok((row.get::<_, String>(1)?, row.get::<_, Option<f64>>(2)?)));
    let spans: Vec<_> = spans.unwrap().map(Result::unwrap).take(2).collect();
    assert_eq!(spans, [("switches".to_string(), Some(2.0)), ("groups".to_string(), Some(2.0))]);
    on_each_server(|database: Database| {
        let (listed, asked) = (listed.clone(), format!("{{{first},{second},{last}}}"));
        async move {
            filled(&database, "ann", "ben").await;
            put_places(&database.settings(), &listed[1..]).await.unwrap();
            put_places(&database.settings(), &listed).await.unwrap();
            assert_eq!(query(&database, stand).await, ["8 4 2"]);
            let spans = format!(
                "SELECT concat_ws(' ', name, figure, detail) FROM placement_advice('{asked}') WHERE topic = 'span'"
            );
            assert_eq!(
                query(&database, &spans).await,
                ["switches 2 3 nodes", "groups 2 group 0: 2 nodes, group 1: 1 nodes"]
            );
        }
    });
}

/// The region reported again: one link left, one joined, and other jobs take part.
fn reported_again() -> ResultBatch {
    let mut later = region();
    later.series = vec![later.series[1].clone(), "aries_stall_ratio/c0-0c0s1/r0c0".to_string()];
    later.causes.truncate(1);
    later.victims.remove(0);
    later.peak = f64::NAN;
    later.open = false;
    later.steps = vec![RegionStep {
        time: at(600.0),
        change: RegionChange::Split,
        other: Some(RegionId(3)),
        links: 1,
        worst_series: "x'; --".to_string(),
        worst: f64::NAN,
    }];
    ResultBatch { regions: vec![region(), later], ..ResultBatch::default() }
}

const REGION_ROWS: &str = "SELECT
    (SELECT count(*) FROM regions WHERE NOT open AND peak IS NULL) || ' ' ||
    (SELECT count(*) FROM region_steps WHERE region_id = 1) || ' ' ||
    (SELECT count(*) FROM region_steps WHERE region_id = 1 AND other = 3 AND worst IS NULL) || ' ' ||
    (SELECT count(*) FROM region_series WHERE region_id = 1) || ' ' ||
    (SELECT series FROM region_series WHERE region_id = 1 AND position IS NULL) || ' ' ||
    (SELECT series FROM region_series WHERE region_id = 1 AND position = 1) || ' ' ||
    (SELECT count(*) FROM region_causes WHERE region_id = 1) || ' ' ||
    (SELECT min(job_id) FROM region_victims WHERE region_id = 1)";

const REGION_ROWS_WANTED: &str =
    "1 4 1 3 aries_stall_ratio/c0-0c0s0/r0c0 aries_stall_ratio/c0-0c0s1/r0c0 1 1240";

#[test]
fn a_region_reported_again_keeps_its_history_in_both_stores() {
    let (_folder, reader, mut store) = embedded();
    store.commit(&reported_again(), &[]).unwrap();
    let found: String = reader.query_row(REGION_ROWS, [], |row| row.get(0)).unwrap();
    assert_eq!(found, REGION_ROWS_WANTED);
    on_each_server(|database: Database| async move {
        filled(&database, "ann", "ben").await;
        database.execute("DELETE FROM stage_positions").await;
        let mut store = PgStore::connect(&database.settings()).await.unwrap();
        commit_to_server(&mut store, &reported_again()).await;
        assert_eq!(query(&database, REGION_ROWS).await, [REGION_ROWS_WANTED]);
    });
}

#[test]
fn regions_and_factors_expire_in_both_stores() {
    let left = "SELECT (SELECT count(*) FROM regions) || ' ' || (SELECT count(*) FROM region_steps WHERE region_id = 2)
        || ' ' || (SELECT count(*) FROM job_factors)";
    let (_folder, reader, mut store) = embedded();
    while store.expire(at(91.0 * 86_400.0)).unwrap() {}
    let found: String = reader.query_row(left, [], |row| row.get(0)).unwrap();
    assert_eq!(found, "1 0 0", "the open region stays");
    on_each_server(|database: Database| async move {
        filled(&database, "ann", "ben").await;
        let settings = PgSettings { episodes_days: Some(90.0), ..database.settings() };
        housekeep(&settings, at(91.0 * 86_400.0)).await.unwrap();
        assert_eq!(query(&database, left).await, ["1 0 0"]);
        assert_eq!(
            query(&database, "SELECT count(*)::text FROM region_victims WHERE region_id = 2").await,
            ["0"]
        );
    });
}

/// Every statement by which a user might see others' jobs, over everything that the schema has.
async fn everything_readable(database: &Database) -> Vec<String> {
    let relations = query(
        database,
        "SELECT format('SELECT t::text FROM %I t', c.relname) FROM pg_class c
         WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'v', 'm', 'p')
           AND c.relname NOT IN (SELECT viewname FROM pg_views WHERE schemaname <> 'public')",
    )
    .await;
    let causes = "SELECT series_or_job FROM job_causes".to_string();
    let calls = ["1234", "1235", "1240"].iter().flat_map(|job| {
        [
            format!("SELECT t::text FROM job_post_mortem('{job}') t"),
            format!("SELECT t::text FROM job_neighbours('{job}') t"),
            format!("SELECT t::text FROM compare_jobs('1234', '{job}') t"),
            format!("SELECT coalesce(job_named('{job}'), '') WHERE '{job}' <> '1234'"),
        ]
    });
    let network = [
        "region_history(1)",
        "region_history(2)",
        "worst_links('-infinity', 'infinity')",
        "placement_advice('{nid00004,nid00008}')",
        "application_advice('cfd')",
        "completeness('2026-11-20', '2026-11-21')",
    ]
    .map(|call| format!("SELECT t::text FROM {call} t"));
    relations.into_iter().chain([causes]).chain(calls).chain(network).collect()
}

#[test]
fn a_user_cannot_read_jobs_of_other_users() {
    on_each_server(|database: Database| async move {
        let ann = database.login("tailback_user").await;
        filled(&database, &ann, "ben").await;
        // Names by which others' rows are known again: users, jobs, and a region of theirs alone.
        let others = ["ben", "1235", "1240", "nid00008", "router c0-0c0s1"];
        let (mut refused, mut answered) = (0, 0);
        for sql in everything_readable(&database).await {
            // Where every node hangs is a fact of the machine, not of a job.
            if sql.contains("node_places") {
                continue;
            }
            match query_as(&database, &ann, &sql).await {
                Err(error) => {
                    refused += 1;
                    assert_eq!(error.code().unwrap().code(), "42501", "{sql}: {error:?}");
                }
                Ok(rows) => {
                    answered += 1;
                    // The own login has a process number in it, which may contain the number of a job.
                    let mut rows = rows.iter().map(|row| row.replace(&ann, ""));
                    let seen = rows.find(|row| others.iter().any(|other| row.contains(other)));
                    assert_eq!(seen, None, "{sql}");
                }
            }
        }
        // Far from all is refused, far from all is answered: the statements are real.
        assert!(refused > 10 && answered > 20, "{refused} refused, {answered} answered");
        // The answer contains the own job, and that its cause is another job.
        let own = "SELECT DISTINCT coalesce(who, '') FROM job_post_mortem('1234') WHERE fact IN ('cause', 'region') ORDER BY 1";
        assert_eq!(query_as(&database, &ann, own).await.unwrap(), ["1234", "another job"]);
        let regions = "SELECT region_id::text FROM regions";
        assert_eq!(query_as(&database, &ann, regions).await.unwrap(), ["1"]);
        let of_the_machine = [
            "worst_links('-infinity', 'infinity')",
            "placement_advice('{nid00004}')",
            "application_advice('cfd')",
        ];
        for call in of_the_machine {
            let sql = format!("SELECT t::text FROM {call} t");
            assert!(query_as(&database, &ann, &sql).await.is_err(), "{sql}");
        }
        database.drop_login(&ann).await;
    });
}

/// A function of the user's own, cheap and eager to be asked first, sees no row that the view keeps back; nor does a
/// schema of the user's own change what a function calls.
#[test]
fn a_user_cannot_look_behind_the_views() {
    on_each_server(|database: Database| async move {
        let ann = database.login("tailback_user").await;
        filled(&database, &ann, "ben").await;
        let attempt = "SET client_min_messages = notice;
            CREATE FUNCTION pg_temp.look(t text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS
                $$ BEGIN IF t ~ '1235|1240' THEN RAISE EXCEPTION 'saw %', t; END IF; RETURN true; END $$;
            CREATE FUNCTION pg_temp.tailback_sees_all() RETURNS boolean LANGUAGE sql AS 'SELECT true';
            CREATE FUNCTION pg_temp.pg_has_role(name, text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true';
            SET search_path = pg_temp, public, pg_catalog;";
        for view in
            ["job_causes_shown", "region_causes_shown", "job_episodes", "job_runs", "job_resources", "blame"]
        {
            let (client, connection) = tokio_postgres::connect(&database.url_of(&ann), NoTls).await.unwrap();
            tokio::spawn(connection);
            client.batch_execute(attempt).await.unwrap();
            let sql = format!("SELECT count(*) FROM public.{view} t WHERE pg_temp.look(t::text)");
            let counted = client.query_one(&sql, &[]).await;
            assert!(counted.is_ok(), "{view}: {counted:?}");
            client.batch_execute("DISCARD TEMP").await.unwrap();
        }
        database.drop_login(&ann).await;
    });
}

#[test]
fn readers_see_all_jobs() {
    on_each_server(|database: Database| async move {
        let grafana = database.login("tailback_reader").await;
        filled(&database, "ann", "ben").await;
        let causes = "SELECT string_agg(DISTINCT who, ' ' ORDER BY who) FROM job_post_mortem('1234') WHERE fact = 'cause'";
        assert_eq!(query_as(&database, &grafana, causes).await.unwrap(), ["1234 1235"]);
        let rows = "SELECT count(*)::text FROM worst_links('-infinity', 'infinity')";
        assert_eq!(query_as(&database, &grafana, rows).await.unwrap(), ["3"]);
        database.drop_login(&grafana).await;
    });
}
