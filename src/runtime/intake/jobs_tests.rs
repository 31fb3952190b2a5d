use super::*;
use crate::runtime::intake::Intake;
use crate::runtime::intake::test_site::{configured, messages, post, serve};
use rdkafka::mocking::MockCluster;
use schemas::secret::Redacted;

const EVENT: &str = r#"{"job_id":7,"user":"ann","name":"ior","nodes":"n[1-2]","start":1795217419}"#;
const TOKEN: &str = "a-token-of-jobs";

/// Serves the route; its URL.
async fn served(intake: &Intake, token: Option<&str>) -> String {
    let access = Access::by(token.map(|token| Redacted::new(token.into())).as_ref());
    serve(intake.jobs.clone().router(access)).await + "/api/v1/jobs"
}

#[tokio::test(flavor = "multi_thread")]
async fn accepted_events_are_in_the_topic_and_bad_input_is_refused() {
    let cluster = MockCluster::new(1).unwrap();
    cluster.create_topic("tailback.jobs", 1, 1).unwrap();
    let brokers = cluster.bootstrap_servers();
    let intake = Intake::new(&configured(&brokers, "")).unwrap();
    let url = served(&intake, Some(TOKEN)).await;
    assert_eq!(post(&url, EVENT, TOKEN).await.0, 503, "the topic is not known to be there");
    intake.open();
    assert_eq!(post(&url, EVENT, "another-token-12").await.0, 401);
    let two = format!("{EVENT}\n{}", EVENT.replace("start", "end"));
    assert_eq!(post(&url, &two, TOKEN).await, (202, "2 taken\n".into()));
    let bad = format!("[{EVENT},{}]", EVENT.replace("n[1-2]", "n[1-"));
    let (status, said) = post(&url, &bad, TOKEN).await;
    assert_eq!(
        (status, said.as_str()),
        (400, "event 2: nodes: the hostlist has an unbalanced bracket in \"n[1-\"\n")
    );
    let large = EVENT.replace("n[1-2]", &"n".repeat(intake.jobs.bytes_max));
    assert_eq!(post(&url, &large, TOKEN).await.0, 413);
    let plain = reqwest::Client::new().post(&url).bearer_auth(TOKEN).body(EVENT);
    assert_eq!(plain.send().await.unwrap().status().as_u16(), 415);

    let mut read = Vec::new();
    for (key, payload) in messages(&brokers, "tailback.jobs", 2) {
        assert_eq!(key, "7");
        read.push(serde_json::from_slice::<PostedJob>(&payload).unwrap());
    }
    assert_eq!(read, read_body(&two, 10).unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_broker_nothing_is_taken() {
    let intake = Intake::new(&configured("127.0.0.1:1", "")).unwrap();
    intake.open();
    let url = served(&intake, None).await;
    let (status, said) = post(&url, EVENT, "").await;
    assert_eq!(status, 503);
    assert!(said.starts_with("Kafka did not accept what was posted: "), "{said}");
}
