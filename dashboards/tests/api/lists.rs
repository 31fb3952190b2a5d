//! Filters and orders of the lists of jobs, episodes and incidents.

use super::{answer, ask};
use axum::http::StatusCode;
use serde_json::Value;

/// The list at `path`: its total, and what each row has under `id`.
async fn rows(path: &str, list: &str, id: &str) -> (i64, Vec<String>) {
    let json = answer(&format!("/api/v1/{path}")).await;
    let text = |row: &Value| row[id].as_str().map_or_else(|| row[id].to_string(), str::to_string);
    (json["total"].as_i64().unwrap(), json[list].as_array().unwrap().iter().map(text).collect())
}

async fn check(list: &str, id: &str, cases: &[(&str, &[&str])]) {
    for (query, wanted) in cases {
        let (total, found) = rows(&format!("{list}?{query}"), list, id).await;
        assert_eq!(found, *wanted, "{list}?{query}");
        assert_eq!(total, wanted.len() as i64, "{list}?{query}");
    }
}

#[tokio::test]
async fn jobs_are_filtered_by_user_node_state_cause_and_mount() {
    check(
        "jobs",
        "job_id",
        &[
            ("user=amelie", &["4710"]),
            ("user=amel", &[]),
            ("user=x%27%20OR%201%3D1%20--", &[]),
            ("node=nid00040", &["4711"]),
            ("node=nid0004", &[]),
            ("state=running", &["4711", "4710"]),
            ("state=ended", &[]),
            ("cause=other_job", &["4710"]),
            ("cause=server", &[]),
            // Without a loss there is no cause, not even an unknown one.
            ("cause=unknown", &[]),
            ("mount=snx11137", &["4711", "4710"]),
            // A tile is no file system.
            ("mount=r0c0", &[]),
            ("mount=snx11137&user=bo&node=nid00040", &["4711"]),
        ],
    )
    .await;
}

#[tokio::test]
async fn episodes_are_filtered_by_user_node_state_cause_and_mount() {
    check(
        "episodes",
        "id",
        &[
            ("user=amelie", &["2", "1"]),
            // His job began after the first had ended.
            ("user=bo", &["2"]),
            ("user=amelie&job=4711", &[]),
            ("node=nid00012", &["2", "1"]),
            ("node=nid00040", &[]),
            ("state=open&node=nid00012", &["2"]),
            ("cause=other_job", &["1"]),
            ("cause=unknown", &["2"]),
            ("mount=snx11137&state=ended", &["1"]),
            ("mount=none", &[]),
        ],
    )
    .await;
}

#[tokio::test]
async fn incidents_are_filtered_by_user_node_state_cause_and_mount() {
    check(
        "incidents",
        "id",
        &[
            ("", &["1", "2"]),
            // He caused the first; her job was affected by the second.
            ("user=bo", &["1"]),
            ("user=amelie", &["2"]),
            ("node=c0-0c0s0", &["1"]),
            // A node of that switch.
            ("node=nid00012", &["1"]),
            ("node=nid00040", &[]),
            ("state=ended", &["2"]),
            ("cause=unknown", &["2"]),
            ("mount=snx11137", &[]),
        ],
    )
    .await;
}

#[tokio::test]
async fn lists_are_sorted_by_a_column_with_unknown_values_last() {
    check(
        "jobs",
        "job_id",
        &[
            ("sort=job&dir=asc", &["4710", "4711"]),
            ("sort=start", &["4711", "4710"]),
            ("sort=elapsed&dir=asc", &["4711", "4710"]),
            ("sort=lost", &["4710", "4711"]),
            ("sort=lost&dir=asc", &["4710", "4711"]),
            ("sort=lost_share&dir=asc", &["4710", "4711"]),
            ("sort=name&dir=asc", &["4711", "4710"]),
            ("sort=cause&dir=asc", &["4710", "4711"]),
        ],
    )
    .await;
    check(
        "episodes",
        "id",
        &[
            ("sort=lost", &["1", "2"]),
            ("sort=length&dir=asc", &["2", "1"]),
            ("sort=episode&dir=asc", &["1", "2"]),
            ("sort=cause", &["1", "2"]),
        ],
    )
    .await;
    check(
        "incidents",
        "id",
        &[
            ("sort=lost", &["2", "1"]),
            ("sort=start", &["2", "1"]),
            ("sort=name&dir=asc", &["2", "1"]),
            ("sort=source", &["1", "2"]),
        ],
    )
    .await;
}

#[tokio::test]
async fn pages_of_a_sorted_list_follow_each_other() {
    for (list, id, sort, wanted) in
        [("jobs", "job_id", "lost", ["4710", "4711"]), ("episodes", "id", "lost", ["1", "2"])]
    {
        for (offset, row) in wanted.iter().enumerate() {
            let (total, found) = rows(&format!("{list}?sort={sort}&limit=1&offset={offset}"), list, id).await;
            assert_eq!((total, found), (2, vec![row.to_string()]), "{list} {offset}");
        }
    }
}

#[tokio::test]
async fn unknown_filters_and_orders_are_refused_with_those_allowed() {
    for (query, said) in [
        ("jobs?state=open", "it may be running, ended"),
        ("jobs?sort=start_time%3B--", "it may be job, name, start,"),
        ("jobs?sort=lost&dir=down", "it may be asc, desc"),
        ("jobs?dir=asc", "dir needs sort"),
        ("jobs?running=true", "unknown field `running`"),
        ("jobs?user=", "user must have 1 to 128 bytes"),
        ("episodes?cause=luck", "it may be self, other_job,"),
        ("episodes?node=a%2Fb", "node \"a/b\" is not a name"),
        ("episodes?sort=peak", "it may be episode, series, start,"),
        ("incidents?mount=a%20b", "mount \"a b\" is not a name"),
        ("incidents?sort=id", "it may be name, start, length,"),
    ] {
        let (status, json) = ask(&format!("/api/v1/{query}")).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{query}: {json}");
        assert!(json["error"].as_str().unwrap().contains(said), "{query}: {json}");
    }
}
