use super::*;
use crate::runtime::intake::Intake;
use crate::runtime::intake::test_site::{configured, messages, post, serve};
use dashboards::access::Access;
use dashboards::contention::Gate;
use dashboards::job_token::JobKeys;
use rdkafka::mocking::MockCluster;
use schemas::secret::Redacted;
use serde_json::Value;

const TOPIC: &str = "ldms.tailback_progress";
const BODY: &str = r#"[{"name":"steps","count":12},{"name":"bytes","count":5,"rank":3}]"#;
const POST_TOKEN: &str = "a-token-to-post-with";

fn keys() -> JobKeys {
    JobKeys::of(Some(&Redacted::new("0123456789abcdef0123456789abcdef".into())))
}

fn token(job: &str) -> String {
    keys().issue(&Name::parse(job).unwrap(), 4_000_000_000).unwrap()
}

/// Serves the route; its address.
async fn served(brokers: &str, limits: &str) -> String {
    let intake = Intake::new(&configured(brokers, &format!("[limits]\n{limits}"))).unwrap();
    intake.open();
    let all = Access::by(Some(&Redacted::new(POST_TOKEN.into())));
    serve(intake.progress.router(Reporters::new(Gate::new(all, keys()), None))).await
}

fn url(base: &str, job: &str) -> String {
    format!("{base}/api/v1/jobs/{job}/progress")
}

fn cluster() -> MockCluster<'static, rdkafka::producer::DefaultProducerContext> {
    let cluster = MockCluster::new(1).unwrap();
    cluster.create_topic(TOPIC, 1, 1).unwrap();
    cluster
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_of_a_job_are_rows_in_the_topic() {
    let cluster = cluster();
    let brokers = cluster.bootstrap_servers();
    let base = served(&brokers, "").await;
    assert_eq!(post(&url(&base, "1240"), BODY, &token("1240")).await, (202, "2 taken\n".into()));
    assert_eq!(post(&url(&base, "7"), r#"{"name":"steps","count":1}"#, POST_TOKEN).await.0, 202);
    let rows: Vec<_> = messages(&brokers, TOPIC, 3)
        .into_iter()
        .map(|(key, payload)| (key, serde_json::from_slice::<Value>(&payload).unwrap()))
        .collect();
    let of =
        |key: &str| rows.iter().filter(|(found, _)| found == key).map(|(_, row)| row).collect::<Vec<_>>();
    assert_eq!((of("1240").len(), of("7").len()), (2, 1));
    assert_eq!((&of("1240")[1]["progress_rank"], &of("1240")[1]["progress_count"]), (&"3".into(), &5.into()));
    let age_s = clock::now().seconds() - of("7")[0]["timestamp"].as_f64().unwrap();
    assert!((0.0..60.0).contains(&age_s), "{age_s}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_reports_for_itself_alone() {
    let cluster = cluster();
    let base = served(&cluster.bootstrap_servers(), "").await;
    for (job, token, status, part) in [
        ("1241", token("1240"), 403, "token is of job 1240"),
        ("1240", format!("{}x", token("1240")), 401, "job_token_key_file"),
        ("1240", "another".to_string(), 401, "a token is needed"),
        ("a%20b", POST_TOKEN.to_string(), 400, "not a job id"),
    ] {
        let (found, said) = post(&url(&base, job), BODY, &token).await;
        assert!(found == status && said.contains(part), "{job}: {found} {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_bodies_are_refused_as_a_whole() {
    let cluster = cluster();
    let base = served(&cluster.bootstrap_servers(), "progress_bytes = 200\nprogress_reports = 2").await;
    let (url, token) = (url(&base, "1240"), token("1240"));
    for (body, status) in [
        (r#"[{"name":"steps","count":1},{"name":"Steps","count":1}]"#.to_string(), 400),
        (format!("[{}]", [r#"{"name":"a","count":1}"#; 3].join(",")), 400),
        (format!("{BODY}{}", " ".repeat(200)), 413),
        (BODY.to_string(), 202),
    ] {
        assert_eq!(post(&url, &body, &token).await.0, status, "{body}");
    }
    let plain = reqwest::Client::new().post(&url).bearer_auth(&token).body(BODY);
    assert_eq!(plain.send().await.unwrap().status().as_u16(), 415);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_reports_too_often_is_sent_away_for_a_while() {
    let cluster = cluster();
    let base = served(&cluster.bootstrap_servers(), "progress_per_s = 1").await;
    let body = format!("[{}]", [r#"{"name":"steps","count":1}"#; 100].join(","));
    assert_eq!(post(&url(&base, "1240"), &body, &token("1240")).await.0, 202);
    let request = reqwest::Client::new().post(url(&base, "1240")).bearer_auth(token("1240"));
    let answer = request.header("Content-Type", "application/json").body(BODY).send().await.unwrap();
    let after_s: u64 = answer.headers()[header::RETRY_AFTER].to_str().unwrap().parse().unwrap();
    assert!(answer.status() == 429 && (30..=99).contains(&after_s), "{after_s}");
    assert!(answer.text().await.unwrap().contains("limits.progress_per_s = 1"));
    assert_eq!(post(&url(&base, "7"), BODY, &token("7")).await.0, 202, "another job is not harmed");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_kafka_nothing_is_taken() {
    let base = served("127.0.0.1:1", "").await;
    let (status, said) = post(&url(&base, "1240"), BODY, &token("1240")).await;
    assert!(status == 503 && said.starts_with("Kafka did not accept what was posted: "), "{said}");
    let base = serve(without_kafka()).await;
    let (status, said) = post(&url(&base, "1240"), BODY, &token("1240")).await;
    assert!(status == 404 && said.contains("no Kafka"), "{said}");
}
