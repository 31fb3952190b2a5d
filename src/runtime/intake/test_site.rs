//! The routes against librdkafka's mock cluster: no broker, no Java.

use axum::Router;
use configuration::RunConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::{ClientConfig, Message};
use std::time::{Duration, Instant};

/// Long enough for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The defaults with these brokers, and `more` at the end.
pub fn configured(brokers: &str, more: &str) -> RunConfig {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tailback.toml");
    std::fs::write(&file, format!("[kafka]\nbrokers = {brokers:?}\n{more}")).unwrap();
    RunConfig::load(Some(&file)).unwrap()
}

/// Serves routes on a port of its own; its address.
pub async fn serve(routes: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, routes).await });
    url
}

pub async fn post(url: &str, body: &str, token: &str) -> (u16, String) {
    let request = reqwest::Client::new().post(url).header("Content-Type", "application/json");
    let request = request.header("Authorization", format!("Bearer {token}")).body(body.to_string());
    let answer = request.send().await.unwrap();
    (answer.status().as_u16(), answer.text().await.unwrap())
}

/// The first messages of a topic: key and payload.
pub fn messages(brokers: &str, topic: &str, count: usize) -> Vec<(String, Vec<u8>)> {
    let reader: BaseConsumer = ClientConfig::new()
        .set("bootstrap.servers", brokers)
        .set("group.id", "reader")
        .set("auto.offset.reset", "earliest")
        .create()
        .unwrap();
    reader.subscribe(&[topic]).unwrap();
    let (mut read, begun) = (Vec::new(), Instant::now());
    while read.len() < count && begun.elapsed() < TIMEOUT {
        let Some(Ok(message)) = reader.poll(Duration::from_millis(100)) else { continue };
        let key = String::from_utf8(message.key().unwrap().to_vec()).unwrap();
        read.push((key, message.payload().unwrap().to_vec()));
    }
    read
}
