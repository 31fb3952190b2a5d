//! The route against librdkafka's mock cluster: no broker, no Java.

use super::*;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::mocking::MockCluster;
use rdkafka::{ClientConfig, Message};
use schemas::secret::Redacted;

const EVENT: &str = r#"{"job_id":7,"user":"ann","name":"ior","nodes":"n[1-2]","start":1795217419}"#;

fn configured(brokers: &str) -> RunConfig {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tailback.toml");
    std::fs::write(&file, format!("[kafka]\nbrokers = {brokers:?}\n")).unwrap();
    RunConfig::load(Some(&file)).unwrap()
}

/// Serves the route on a port of its own; its URL.
async fn serve(intake: Intake, token: Option<&str>) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/api/v1/jobs", listener.local_addr().unwrap());
    let access = Access::by(token.map(|token| Redacted::new(token.into())).as_ref());
    tokio::spawn(async move { axum::serve(listener, intake.router(access)).await });
    url
}

async fn post(url: &str, body: &str, token: &str) -> (u16, String) {
    let request = reqwest::Client::new().post(url).header("Content-Type", "application/json");
    let request = request.header("Authorization", format!("Bearer {token}")).body(body.to_string());
    let answer = request.send().await.unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn accepted_events_are_in_the_topic_and_bad_input_is_refused() {
    let cluster = MockCluster::new(1).unwrap();
    cluster.create_topic("tailback.jobs", 1, 1).unwrap();
    let brokers = cluster.bootstrap_servers();
    let intake = Intake::new(&configured(&brokers)).unwrap();
    let url = serve(intake.clone(), Some("a-token-of-jobs")).await;
    assert_eq!(post(&url, EVENT, "a-token-of-jobs").await.0, 503, "the topic is not known to be there");
    intake.open();
    assert_eq!(post(&url, EVENT, "another-token-12").await.0, 401);
    let two = format!("{EVENT}\n{}", EVENT.replace("start", "end"));
    assert_eq!(post(&url, &two, "a-token-of-jobs").await, (202, "2 taken\n".into()));
    let bad = format!("[{EVENT},{}]", EVENT.replace("n[1-2]", "n[1-"));
    let (status, said) = post(&url, &bad, "a-token-of-jobs").await;
    assert_eq!(
        (status, said.as_str()),
        (400, "event 2: nodes: the hostlist has an unbalanced bracket in \"n[1-\"\n")
    );
    let large = EVENT.replace("n[1-2]", &"n".repeat(intake.bytes_max));
    assert_eq!(post(&url, &large, "a-token-of-jobs").await.0, 413);
    let plain = reqwest::Client::new().post(&url).bearer_auth("a-token-of-jobs").body(EVENT);
    assert_eq!(plain.send().await.unwrap().status().as_u16(), 415);

    let reader: BaseConsumer = ClientConfig::new()
        .set("bootstrap.servers", &brokers)
        .set("group.id", "reader")
        .set("auto.offset.reset", "earliest")
        .create()
        .unwrap();
    reader.subscribe(&["tailback.jobs"]).unwrap();
    let mut read = Vec::new();
    let begun = std::time::Instant::now();
    while read.len() < 2 && begun.elapsed() < Duration::from_secs(30) {
        let Some(Ok(message)) = reader.poll(Duration::from_millis(100)) else { continue };
        assert_eq!(message.key(), Some("7".as_bytes()));
        read.push(serde_json::from_slice::<PostedJob>(message.payload().unwrap()).unwrap());
    }
    assert_eq!(read, read_body(&two, 10).unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_broker_nothing_is_taken() {
    let intake = Intake::new(&configured("127.0.0.1:1")).unwrap();
    intake.open();
    let url = serve(intake, None).await;
    let (status, said) = post(&url, EVENT, "").await;
    assert_eq!(status, 503);
    assert!(said.starts_with("Kafka did not accept the events: "), "{said}");
}
