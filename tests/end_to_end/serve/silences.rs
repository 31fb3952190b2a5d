//! Silences set and ended over HTTP, in a store and in a database.

use super::both::{Both, configure};
use super::serving::{Serving, TIMEOUT};
use reqwest::{Client, Method, StatusCode};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use store::sqlite::{Retention, Store};
use support::database::{Database, on_each_server};

const TOKEN: &str = "0123456789abcdef";

/// A server with a token for silences, and its address.
fn started(option: &str, file: &Path, token: Option<&Path>) -> (Serving, String) {
    let mut command = Command::new(crate::TAILBACK);
    command.args(["serve", "--listen", "127.0.0.1:0", option]).arg(file);
    if let Some(token) = token {
        command.arg("--silence-token-file").arg(token);
    }
    let mut serving = Serving::of(command);
    let line = serving.line();
    let address = line.split("http://").nth(1).and_then(|rest| rest.split('/').next()).unwrap();
    (serving, format!("http://{address}/api/v1"))
}

async fn send(
    client: &Client,
    method: Method,
    url: &str,
    headers: &[(&str, &str)],
    body: &Value,
) -> (StatusCode, String) {
    let mut request =
        client.request(method, url).header("Content-Type", "application/json").body(body.to_string());
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let answer = request.send().await.unwrap();
    (answer.status(), answer.text().await.unwrap())
}

fn wanted(label: &str) -> Value {
    json!({ "matchers": [label], "for": "2h", "author": "ann", "comment": "maintenance" })
}

#[test]
fn silences_are_set_and_ended_by_token_and_by_session() {
    on_each_server(|database: Database| async move {
        let both = Both::filled(&database, &database.settings().url).await;
        let token = both.folder.path().join("token");
        std::fs::write(&token, TOKEN).unwrap();
        for (option, file) in [("--store", &both.store), ("--config", &both.config)] {
            let (_serving, url) = started(option, file, Some(&token));
            set_and_end(&url).await;
            refusals(&url).await;
        }
    });
}

async fn set_and_end(url: &str) {
    let client = Client::new();
    let silences = format!("{url}/silences");
    let login = client.post(format!("{url}/session")).json(&json!({ "token": TOKEN })).send().await.unwrap();
    assert_eq!(login.status(), StatusCode::CREATED);
    let cookie = login.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_string();
    let bearer = format!("Bearer {TOKEN}");
    for header in [("Authorization", bearer.as_str()), ("Cookie", cookie.as_str())] {
        let (status, text) =
            send(&client, Method::POST, &silences, &[header], &wanted("subject=leaf-*")).await;
        assert_eq!(status, StatusCode::CREATED, "{text}");
        let silence: Value = serde_json::from_str(&text).unwrap();
        let id = silence["id"].as_str().unwrap().to_string();
        let listed = client.get(format!("{url}/alerts")).send().await.unwrap().text().await.unwrap();
        let listed: Value = serde_json::from_str(&listed).unwrap();
        assert!(listed["silences"].as_array().unwrap().contains(&silence), "{listed}");
        let one = format!("{silences}/{id}");
        assert_eq!(send(&client, Method::DELETE, &one, &[header], &Value::Null).await.0, StatusCode::OK);
        let (status, text) = send(&client, Method::DELETE, &one, &[header], &Value::Null).await;
        assert!(status == StatusCode::NOT_FOUND && text.contains(&id), "{status} {text}");
    }
}

async fn refusals(url: &str) {
    let (client, silences) = (Client::new(), format!("{url}/silences"));
    let bearer = format!("Bearer {TOKEN}");
    let right = ("Authorization", bearer.as_str());
    let wrong = ("Authorization", "Bearer 0123456789abcdeg");
    let long = json!({ "matchers": ["a=b"], "for": "1h", "comment": "x".repeat(70_000) });
    for (headers, body, status, part) in [
        (&[][..], wanted("a=b"), 401, "token is needed"),
        (&[wrong], wanted("a=b"), 401, "token is needed"),
        (&[("Cookie", "tailback_session=1")], wanted("a=b"), 401, "token is needed"),
        (&[right, ("Origin", "http://localhost:1")], wanted("a=b"), 403, "origin"),
        (&[right], wanted("nothing"), 400, "LABEL=TEXT"),
        (&[right], json!({ "matchers": ["a=b"], "for": "1h", "more": 1 }), 422, "more"),
        (&[right], long, 413, ""),
    ] {
        let (got, text) = send(&client, Method::POST, &silences, headers, &body).await;
        assert!(got == status && text.contains(part), "{headers:?}: {got} {text}");
    }
}

#[test]
fn without_a_token_or_a_writing_account_silencing_is_closed() {
    on_each_server(|database: Database| async move {
        let both = Both::filled(&database, &database.settings().url).await;
        let token = both.folder.path().join("token");
        std::fs::write(&token, TOKEN).unwrap();
        let bearer = format!("Bearer {TOKEN}");
        let headers = [("Authorization", bearer.as_str())];
        let (_serving, url) = started("--store", &both.store, None);
        let (client, silences) = (Client::new(), format!("{url}/silences"));
        let (status, text) = send(&client, Method::POST, &silences, &headers, &wanted("a=b")).await;
        assert!(status == StatusCode::FORBIDDEN && text.contains("--silence-token-file"), "{status} {text}");
        let (status, text) =
            send(&client, Method::POST, &format!("{url}/session"), &[], &json!({ "token": TOKEN })).await;
        assert!(status == StatusCode::FORBIDDEN && text.contains("--silence-token-file"), "{status} {text}");
        let login = database.login("tailback_reader").await;
        configure(&both.config, &database.url_of(&login));
        let (serving, url) = started("--config", &both.config, Some(&token));
        let silences = format!("{url}/silences");
        let (status, text) = send(&client, Method::POST, &silences, &headers, &wanted("a=b")).await;
        assert!(status == StatusCode::FORBIDDEN && text.contains("GRANT tailback_writer"), "{status} {text}");
        drop(serving);
        database.drop_login(&login).await;
    });
}

#[test]
fn a_token_for_reading_closes_the_data_and_not_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("tailback.db");
    Store::open(&store, Retention::default()).unwrap();
    let [reading, silencing] =
        [("reading", "a-token-to-read-with"), ("silencing", TOKEN)].map(|(name, token)| {
            let file = folder.path().join(name);
            std::fs::write(&file, token).unwrap();
            file
        });
    let mut command = Command::new(crate::TAILBACK);
    command.args(["serve", "--listen", "127.0.0.1:0", "--store"]).arg(&store);
    command.arg("--token-file").arg(&reading).arg("--silence-token-file").arg(&silencing);
    let (_serving, page) = Serving::of(command).page_of();
    assert_eq!(page.status("alerts", ""), 401);
    assert_eq!(page.status("alerts", "Authorization: Bearer a-token-to-read-with\r\n"), 200);
    assert_eq!(page.status("alerts", &format!("Authorization: Bearer {TOKEN}\r\n")), 200);
    assert_eq!(
        page.ask("session"),
        (200, json!({"needed": true, "can_change": true, "ends_in_s": null, "may_change": false}))
    );
    let url = page.url("silences");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for (token, status) in [("a-token-to-read-with", 403), (TOKEN, 201)] {
        let header = format!("Bearer {token}");
        let sent = async {
            send(&Client::new(), Method::POST, &url, &[("Authorization", &header)], &wanted("a=b")).await
        };
        assert_eq!(runtime.block_on(sent).0, status);
    }
}

#[test]
fn an_event_stream_ends_with_the_session_that_reads_it() {
    let folder = tempfile::tempdir().unwrap();
    let (store, token) = (folder.path().join("tailback.db"), folder.path().join("token"));
    Store::open(&store, Retention::default()).unwrap();
    std::fs::write(&token, TOKEN).unwrap();
    let mut command = Command::new(crate::TAILBACK);
    command.args(["serve", "--listen", "127.0.0.1:0", "--store"]).arg(&store).arg("--token-file").arg(&token);
    let (_serving, page) = Serving::of(command).page_of();
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let (client, session) = (Client::new(), page.url("session"));
        let login = client.post(&session).json(&json!({ "token": TOKEN })).send().await.unwrap();
        let cookie = login.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_string();
        let by_cookie = client.get(page.url("stream")).header("Cookie", &cookie).send().await.unwrap();
        let by_token = client.get(page.url("stream")).bearer_auth(TOKEN).send().await.unwrap();
        let (mut by_cookie, mut by_token) = (by_cookie, by_token);
        assert!(by_cookie.chunk().await.unwrap().is_some());
        client.delete(&session).header("Cookie", &cookie).send().await.unwrap();
        let ended = async { while by_cookie.chunk().await.unwrap().is_some() {} };
        tokio::time::timeout(TIMEOUT, ended).await.unwrap();
        // A stream that a token reads continues: two more beats arrive.
        let mut beats = 0;
        while beats < 2 {
            let chunk = by_token.chunk().await.unwrap().unwrap();
            beats += usize::from(String::from_utf8_lossy(&chunk).contains("beat"));
        }
    });
}
