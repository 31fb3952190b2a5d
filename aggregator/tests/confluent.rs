//! The registry's client against a server with scripted answers.
use aggregator::{RegistryClient, RegistryError};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

/// Serves one connection after the other with these answers; gives its address and the requests.
fn server(answers: Vec<String>) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (send, requests) = channel();
    std::thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            send.send(request(&stream)).unwrap();
            // A client may have enough before the end.
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    (url, requests)
}

fn request(stream: &TcpStream) -> String {
    let lines = BufReader::new(stream).lines().map(Result::unwrap);
    lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

fn answer(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n{body}", body.len())
}

async fn asked(answers: Vec<String>) -> Result<String, RegistryError> {
    let (url, _requests) = server(answers);
    RegistryClient::new(&url, None).unwrap().schema(9).await
}

#[tokio::test]
async fn a_schema_is_asked_for_by_number_with_the_password_of_a_file() {
    let (url, requests) = server(vec![answer("200 OK", "", r#"{"schema":"{\"type\":\"long\"}"}"#)]);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "secret\n").unwrap();
    let client = RegistryClient::new(&format!("{url}/apis/ccompat/v7/"), Some(("me", file.path()))).unwrap();
    assert_eq!(client.schema(9).await.unwrap(), r#"{"type":"long"}"#);
    let request = requests.recv().unwrap();
    assert!(request.starts_with("GET /apis/ccompat/v7/schemas/ids/9 HTTP/1.1"), "{request}");
    assert!(request.contains("Basic bWU6c2VjcmV0"), "{request}");
    assert!(!format!("{client:?}").contains("secret"));
}

#[tokio::test]
async fn answer_decides_between_retry_drop_and_stop() {
    for (status, body) in [
        ("500 Internal Server Error", ""),
        ("503 Service Unavailable", ""),
        ("429 Too Many Requests", ""),
        ("200 OK", "<html>"),
    ] {
        let error = asked(vec![answer(status, "", body)]).await;
        assert!(matches!(error, Err(RegistryError::Retry { id: 9, .. })), "{status}: {error:?}");
    }
    let long = format!("{{\"schema\":\"{}\"}}", "x".repeat(3 << 20));
    for (status, body) in [("404 Not Found", ""), ("200 OK", "{}"), ("200 OK", &long)] {
        let error = asked(vec![answer(status, "", body)]).await;
        assert!(matches!(error, Err(RegistryError::Drop { id: 9, .. })), "{status}: {error:?}");
    }
    for status in ["401 Unauthorized", "403 Forbidden"] {
        let error = asked(vec![answer(status, "", "")]).await;
        assert!(matches!(error, Err(RegistryError::Stop { .. })), "{status}: {error:?}");
    }
}

#[tokio::test]
async fn a_registry_that_is_away_or_breaks_off_is_asked_again() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let error = RegistryClient::new(&url, None).unwrap().schema(9).await;
    assert!(matches!(error, Err(RegistryError::Retry { .. })), "{error:?}");
    let cut = answer("200 OK", "", r#"{"schema":"{}"}"#).replace("content-length: 15", "content-length: 99");
    assert!(matches!(asked(vec![cut]).await, Err(RegistryError::Retry { .. })));
}

#[tokio::test]
async fn redirects_stay_on_the_host() {
    let home = vec![
        answer("302 Found", "location: /schemas/ids/10\r\n", ""),
        answer("200 OK", "", r#"{"schema":"{}"}"#),
    ];
    assert_eq!(asked(home).await.unwrap(), "{}");
    let (elsewhere, requests) = server(vec![answer("200 OK", "", r#"{"schema":"{}"}"#)]);
    let away = answer("302 Found", &format!("location: {elsewhere}/schemas/ids/9\r\n"), "");
    assert!(matches!(asked(vec![away]).await, Err(RegistryError::Stop { .. })));
    assert!(requests.try_recv().is_err());
}

#[test]
fn unusable_address_or_password_is_refused() {
    for url in ["", "registry:8081", "ftp://registry", "http://me:secret@registry"] {
        let error = RegistryClient::new(url, None).unwrap_err();
        assert!(matches!(error, RegistryError::Config(_)), "{url}");
        assert!(!error.to_string().contains("secret"));
    }
    let file = tempfile::NamedTempFile::new().unwrap();
    let error = RegistryClient::new("http://registry", Some(("me", file.path()))).unwrap_err();
    assert!(error.to_string().contains("is empty"), "{error}");
}
