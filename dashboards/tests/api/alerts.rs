//! Alerts, and why an episode counts as contended.

use super::{answer, ask_of, sample};
use serde_json::Value;

#[tokio::test]
async fn alerts_are_listed_with_silences_and_deliveries() {
    let folder = tempfile::tempdir().unwrap();
    let store = sample::store(folder.path());
    let rows = r#"
        INSERT INTO alert_incidents VALUES
            ('0123456789abcdef', 'region', 'warning', 'a', 'firing', 1800000500, 1800000560, NULL, 1800000900, 1, 'avoid', 'a sentence', '{}'),
            ('0123456789abcdee', 'region', 'warning', 'b', 'resolved', 1800000100, 1800000160, 1800000300, 0, 2, 'avoid', 'over', '{}');
        INSERT INTO alert_outbox (key, receiver, incident, sequence, kind, notice) VALUES
            ('0123456789abcdef.1', 'operators', '0123456789abcdef', 1, 'firing', '{}');
        INSERT INTO alert_silences VALUES ('s1', '{"subject":"a"}', 0, 4e9, 'ann', ''), ('s2', '{"subject":"a"}', 0, 1, 'ann', '');
    "#;
    rusqlite::Connection::open(&store).unwrap().execute_batch(rows).unwrap();
    let incidents = |answer: &Value| -> Vec<String> {
        let alerts = answer["alerts"].as_array().unwrap();
        alerts.iter().map(|alert| alert["incident"].as_str().unwrap().to_string()).collect()
    };
    let firing = ask_of(&store, "/api/v1/alerts").await.1;
    assert_eq!(incidents(&firing), ["0123456789abcdef"]);
    assert_eq!(
        (firing["silences"][0]["id"].as_str(), firing["silences"].as_array().unwrap().len()),
        (Some("s1"), 1)
    );
    let all = ask_of(&store, "/api/v1/alerts?all=true").await.1;
    assert_eq!(incidents(&all), ["0123456789abcdef", "0123456789abcdee"]);
    let one = ask_of(&store, "/api/v1/alerts/0123456789abcdef").await.1;
    assert_eq!((&one["alert"]["notice"], &one["deliveries"][0]["state"]), (&Value::Null, &"waiting".into()));
    for (path, status) in [("alerts/0123456789abcd00", 404), ("alerts/..%2f", 400), ("alerts?all=1", 400)] {
        assert_eq!(ask_of(&store, &format!("/api/v1/{path}")).await.0.as_u16(), status, "{path}");
    }
}

#[tokio::test]
async fn episode_has_the_sentences_of_its_explanation() {
    let episode = answer("/api/v1/episodes/1").await;
    for words in ["why", "unknown"] {
        let sentences = episode[words].as_array().unwrap();
        assert!(!sentences.is_empty() && sentences.iter().all(Value::is_string), "{words}: {episode}");
    }
}
