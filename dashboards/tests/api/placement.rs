//! `/api/v1/placement`: what contention nodes or an application meet.

use super::{answer, ask, get_as, sample};
use axum::http::StatusCode;
use serde_json::Value;

#[tokio::test]
async fn placement_has_span_and_contention_of_nodes() {
    let found = answer("/api/v1/placement?nodes=nid[00012,00012,00040]").await;
    assert_eq!(found["nodes"], 2);
    let row = |topic: &str, name: &str| {
        let rows = found["rows"].as_array().unwrap();
        rows.iter().find(|row| row["topic"] == topic && row["name"] == name).cloned().unwrap()
    };
    assert_eq!(
        (&row("span", "switches")["figure"], &row("span", "groups")["figure"]),
        (&1.0.into(), &1.0.into())
    );
    assert_eq!(row("span", "switches")["detail"], "1 nodes without a known switch");
    let mean = row("expected contention", "mean of its links");
    assert_eq!((&mean["figure"], &mean["unit"]), (&0.0.into(), &"share of time".into()));
    assert_eq!(mean["detail"], "1 of 3 links were measured");
    let region = row("open region", "router c0-0c0s0");
    assert_eq!((&region["figure"], &region["unit"]), (&1.0.into(), &"links of these nodes".into()));
    let elsewhere = answer("/api/v1/placement?nodes=nid09999").await;
    let mean = &elsewhere["rows"].as_array().unwrap()[2];
    assert_eq!(
        (&mean["name"], &mean["figure"], &mean["unit"]),
        (&"mean of its links".into(), &Value::Null, &Value::Null)
    );
}

#[tokio::test]
async fn placement_of_an_application_has_its_loss_with_both_ends() {
    let found = answer("/api/v1/placement?app=none&user=ann").await;
    assert_eq!((&found["nodes"], &found["rows"]), (&0.into(), &serde_json::json!([])));
    let application = &found["application"];
    assert_eq!((&application["app"], &application["user"]), (&"none".into(), &"ann".into()));
    let lost = serde_json::json!({"topic": "lost", "name": "median", "figure": null, "figure_lo": null, "figure_hi": null,
        "unit": null, "detail": "unknown: 0 of at least 3 runs were judged"});
    assert_eq!(application["rows"][2], lost);
    let both = answer("/api/v1/placement?app=none&nodes=nid00012").await;
    assert_eq!((&both["nodes"], &both["application"]["user"]), (&1.into(), &Value::Null));
    assert!(answer("/api/v1/placement?nodes=nid00012").await["application"].is_null());
}

#[tokio::test]
async fn placement_refuses_invalid_nodes_and_names() {
    let long = format!("?app={}", "a".repeat(129));
    for (query, said) in [
        ("", "give nodes, app or both"),
        ("?user=ann", "give nodes, app or both"),
        ("?user=ann&nodes=n1", "user needs app"),
        ("?app=", "app: a name has 1 to 128 bytes"),
        ("?app=a%0Ab", "app: a name has 1 to 128 bytes"),
        (&long, "app: a name has 1 to 128 bytes"),
        ("?app=a&user=", "user: a name has 1 to 128 bytes"),
        ("?nodes=", "nodes is an empty list"),
        ("?nodes=n[3-1]", "3-1"),
        ("?nodes=n[1-20001]", "more than 20000"),
        ("?nodes=a%2Fb", "a/b"),
        ("?nodes=n1&job=2", "job"),
    ] {
        let (status, json) = ask(&format!("/api/v1/placement{query}")).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{query}: {json}");
        assert!(json["error"].as_str().unwrap().contains(said), "{query}: {json}");
    }
    let folder = tempfile::tempdir().unwrap();
    let store = sample::store(folder.path());
    let foreign = get_as(&store, "/api/v1/placement?nodes=n1", "evil.example").await;
    assert_eq!(foreign.status(), StatusCode::FORBIDDEN);
    assert_eq!(ask("/api/v1/placement?nodes=n[1-20000]").await.0, StatusCode::OK);
}
