//! Queries that fail are in the log; what the client got wrong is not.

use super::ask_of;
use axum::http::StatusCode;
use std::io;
use std::sync::{Arc, Mutex};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn failed_query_is_logged_with_its_path() {
    let log = Log::default();
    let written = log.clone();
    let lines = tracing_subscriber::fmt().with_ansi(false).with_writer(move || written.clone()).finish();
    let _guard = tracing::subscriber::set_default(lines);
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store.db");
    let missing = ask_of(&store, "/api/v1/placement?nodes=nid00001").await.0;
    let mistyped = ask_of(&store, "/api/v1/placement?nodes=nid[1-").await.0;
    assert_eq!((missing, mistyped), (StatusCode::SERVICE_UNAVAILABLE, StatusCode::BAD_REQUEST));
    assert!(log.0.lock().unwrap().is_empty(), "no store yet, and the client's mistake");
    std::fs::write(&store, "this is no database, but long enough to be looked at ".repeat(100)).unwrap();
    let (status, answer) = ask_of(&store, "/api/v1/placement?nodes=nid00001").await;
    assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR, "{answer}");
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    for words in
        ["WARN", "query of the page or the API failed", "/api/v1/placement: ", "no store of Tailback"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
}
