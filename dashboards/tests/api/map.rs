//! The map, its states now and in the past, footprints of jobs, and the history that the page rewinds along.

use crate::integration::api::sample::NOW;
use crate::integration::api::{answer, ask_of, sample};
use rusqlite::Connection;
use serde_json::{Value, json};

const PAST: f64 = NOW - 300.0;

async fn map_after(statements: &str, path: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let store = sample::store(folder.path());
    Connection::open(&store).unwrap().execute_batch(statements).unwrap();
    ask_of(&store, path).await.1
}

async fn status(path: &str) -> u16 {
    let folder = tempfile::tempdir().unwrap();
    ask_of(&sample::store(folder.path()), path).await.0.as_u16()
}

#[tokio::test]
async fn links_of_two_vertices_are_one_edge_of_the_map() {
    let map = answer("/api/v1/map").await;
    assert_eq!(map["vertices"]["name"], json!(["c0-0c0s0", "c0-0c0s1", "c0-0c1s0", "nid00012"]));
    assert_eq!((&map["switches"], &map["links"]), (&json!(3), &json!(3)));
    assert_eq!(map["vertices"]["on"], json!([null, null, null, 0]));
    assert_eq!(map["vertices"]["group"], json!([0, null, null, null]));
    assert_eq!((&map["edges"]["a"], &map["edges"]["b"]), (&json!([0, 0]), &json!([1, 2])));
    assert_eq!((&map["classes"], &map["edges"]["class"]), (&json!(["black", "green"]), &json!([1, 0])));
    assert_eq!(map["edges"]["links"], json!([1, 2]));
}

#[tokio::test]
async fn vertices_and_edges_have_their_worst_state() {
    let now = answer("/api/v1/map/now").await;
    // Clear and idle tiles; a router that is silent; one without series; a node with a contended client.
    assert_eq!((&now["vertices"], &now["edges"]), (&json!("1442"), &json!("41")), "{now}");
    assert_eq!(now["links"], json!({"total": 3, "reporting": 2, "contended": 0}));
    assert_eq!(now["clients"], json!({"total": 1, "reporting": 1, "contended": 1}));
    assert_eq!((&now["kept"], &now["at"]), (&json!(true), &json!(NOW)));
    let contended = "UPDATE series_latest SET state = 'contended' WHERE series_id = 2";
    let now = map_after(contended, "/api/v1/map/now").await;
    assert_eq!((&now["vertices"], &now["edges"]), (&json!("2442"), &json!("42")));
}

#[tokio::test]
async fn states_of_the_past_are_those_of_the_stored_signals() {
    let past = answer(&format!("/api/v1/map/now?at={PAST}")).await;
    assert_eq!((&past["vertices"], &past["kept"]), (&json!("4441"), &json!(true)));
    let unknown = answer("/api/v1/map/now?at=5").await;
    assert_eq!((&unknown["vertices"], &unknown["kept"]), (&json!("4444"), &json!(false)));
    let now = answer(&format!("/api/v1/now?at={PAST}")).await;
    assert_eq!((&now["totals"], &now["top"]), (&Value::Null, &json!([])));
    assert_eq!((&now["series"]["state"], &now["series"]["value"][0]), (&json!([1, 4, 4, 4]), &json!(1e9)));
    let components = answer(&format!("/api/v1/now?by=component&at={PAST}")).await;
    assert_eq!(components["series"]["component"], json!(["c0-0c0s0", "c0-0c0s1", "nid00012"]));
    assert_eq!(status("/api/v1/map/now?at=-1").await, 400);
    assert_eq!(status("/api/v1/now?at=-1").await, 400);
}

#[tokio::test]
async fn a_vertex_has_its_single_links() {
    let signal =
        format!("INSERT INTO signals VALUES (1, {NOW}, 0.3, 0.3, 0.3, 0.4, 'contended', 0.0, NULL, NULL)");
    let links = map_after(&signal, "/api/v1/map?vertex=c0-0c1s0").await["links"].clone();
    let states: Vec<_> = links.as_array().unwrap().iter().map(|l| [&l["series"], &l["state"]]).collect();
    let [first, second] = ["aries_stall_ratio/c0-0c0s0/r0c0", "aries_stall_ratio/c0-0c0s0/r0c1"];
    assert_eq!(states, [[&json!(first), &json!("contended")], [&json!(second), &json!("unknown")]]);
    assert_eq!((&links[0]["from"], &links[0]["to"]), (&json!("c0-0c1s0"), &json!("c0-0c0s0")));
    assert_eq!(status("/api/v1/map?vertex=none").await, 404);
}

#[tokio::test]
async fn without_a_topology_the_map_is_empty() {
    let folder = tempfile::tempdir().unwrap();
    let store = sample::store(folder.path());
    Connection::open(&store).unwrap().execute_batch("DELETE FROM link_places").unwrap();
    let map = ask_of(&store, "/api/v1/map").await.1;
    assert_eq!((&map["links"], &map["vertices"]["name"]), (&json!(0), &json!([])));
    let now = ask_of(&store, "/api/v1/map/now").await.1;
    assert_eq!((&now["version"], &now["links"]["total"]), (&map["version"], &json!(3)));
}

#[tokio::test]
async fn a_footprint_has_nodes_links_and_rivals() {
    let region = "INSERT INTO region_series VALUES (2, 'aries_stall_ratio/c0-0c0s0/r0c1', 0)";
    let footprint = map_after(region, "/api/v1/jobs/4710/footprint").await;
    assert_eq!((&footprint["nodes"], &footprint["switches"]), (&json!(["nid00012"]), &json!(["c0-0c0s0"])));
    assert_eq!(footprint["links"], json!({"from": ["c0-0c1s0"], "to": ["c0-0c0s0"]}));
    let rival = &footprint["rivals"][0];
    assert_eq!((&rival["job_id"], &rival["role"]), (&json!("4711"), &json!("source")));
    assert_eq!((&rival["nodes"], &rival["switches"]), (&json!(["nid00040"]), &json!([])));
    let other = answer("/api/v1/jobs/4711/footprint").await;
    assert_eq!(other["rivals"][0]["role"], "affected");
    assert_eq!(status("/api/v1/jobs/none/footprint").await, 404);
}

#[tokio::test]
async fn history_counts_what_was_contended_at_once() {
    let history = answer("/api/v1/history").await;
    assert_eq!((&history["clock"], &history["step_s"]), (&json!(NOW), &json!(10.0)));
    let column = |name: &str| -> Vec<f64> {
        history[name].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
    };
    assert_eq!((column("time").len(), column("time")[0]), (61, NOW - 600.0));
    let at = |time: f64| ((time - NOW + 600.0) / 10.0) as usize;
    let clients = column("clients");
    assert_eq!(
        [90.0, 100.0, 190.0, 200.0, 600.0].map(|t| clients[at(NOW - 600.0 + t)]),
        [0.0, 1.0, 1.0, 0.0, 1.0]
    );
    assert!(column("links").iter().all(|links| *links == 0.0));
    assert_eq!(
        [490.0, 500.0, 530.0, 550.0].map(|t| column("incidents")[at(NOW - 600.0 + t)]),
        [0.0, 1.0, 2.0, 1.0]
    );
    assert_eq!(status("/api/v1/history?hours=0").await, 400);
}

#[tokio::test]
async fn the_fabric_and_files_take_a_span_of_time() {
    let fabric = answer(&format!("/api/v1/fabric?from={}&to={}", NOW - 85.0, NOW - 70.0)).await;
    let ids: Vec<_> = fabric["regions"].as_array().unwrap().iter().map(|region| &region["id"]).collect();
    assert_eq!((ids, &fabric["worst_over_s"]), (vec![&json!(1), &json!(2)], &json!(15.0)));
    let early = answer(&format!("/api/v1/fabric?from={}&to={}", NOW - 300.0, NOW - 200.0)).await;
    assert_eq!(early["regions"], json!([]));
    let files = answer(&format!("/api/v1/files?from={}&to={PAST}", NOW - 500.0)).await;
    assert_eq!((&files["rates"]["over_s"], &files["rates"]["time"][0]), (&json!(200.0), &json!(NOW - 500.0)));
    assert_eq!(files["rates"]["time"].as_array().unwrap().len(), 20);
    assert_eq!((&files["mounts"][0]["rate"], &files["mounts"][0]["contended"]), (&json!(1e9), &json!(0)));
    assert_eq!(status("/api/v1/files?from=5&to=1").await, 400);
}
