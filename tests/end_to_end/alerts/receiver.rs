//! A receiver that fails in every way, and stores the requests that it accepted.

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use serde_json::Value;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How the receiver handles a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Mood {
    /// Accepts it.
    Takes,
    /// Answers 500.
    Breaks,
    /// Never answers.
    Hangs,
    /// Accepts it after a delay.
    IsSlow(Duration),
    /// Redirects it.
    Redirects(String),
    /// Answers 503 with `Retry-After` in seconds.
    IsBusy(u32),
}

/// An accepted request.
#[derive(Clone, Debug)]
pub struct Taken {
    /// Arrival, in seconds since the epoch.
    pub at_s: f64,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Taken {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// A header's text.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// The receiver: its mood, the accepted requests, the number of refused ones.
#[derive(Clone)]
pub struct Receiver(Arc<Mutex<(Mood, Vec<Taken>, usize)>>);

/// Now, in seconds since the epoch.
pub fn now_s() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64()
}

impl Receiver {
    /// A receiver that accepts everything.
    pub fn new() -> Receiver {
        Receiver(Arc::new(Mutex::new((Mood::Takes, Vec::new(), 0))))
    }

    /// Serves on an address. The server and its connections end with the returned task.
    pub async fn listen(&self, address: &str) -> (SocketAddr, tokio::task::JoinHandle<()>) {
        let listener = tokio::net::TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().fallback(any(take)).with_state(self.clone());
        (address, tokio::spawn(async move { axum::serve(listener, router).await.unwrap() }))
    }

    /// Changes how the next requests are handled.
    pub fn set(&self, mood: Mood) {
        self.0.lock().unwrap().0 = mood;
    }

    /// The accepted requests.
    pub fn taken(&self) -> Vec<Taken> {
        self.0.lock().unwrap().1.clone()
    }

    /// Number of refused requests.
    pub fn refused(&self) -> usize {
        self.0.lock().unwrap().2
    }

    fn keep(&self, headers: HeaderMap, body: Bytes) {
        self.0.lock().unwrap().1.push(Taken { at_s: now_s(), headers, body });
    }
}

async fn take(State(receiver): State<Receiver>, headers: HeaderMap, body: Bytes) -> Response {
    let mood = receiver.0.lock().unwrap().0.clone();
    match &mood {
        Mood::Takes => {}
        Mood::IsSlow(time) => tokio::time::sleep(*time).await,
        _ => receiver.0.lock().unwrap().2 += 1,
    }
    match mood {
        Mood::Takes | Mood::IsSlow(_) => {
            receiver.keep(headers, body);
            StatusCode::OK.into_response()
        }
        Mood::Breaks => (StatusCode::INTERNAL_SERVER_ERROR, "broken").into_response(),
        Mood::Hangs => std::future::pending().await,
        Mood::Redirects(to) => (StatusCode::TEMPORARY_REDIRECT, [("Location", to)]).into_response(),
        Mood::IsBusy(seconds) => {
            (StatusCode::SERVICE_UNAVAILABLE, [("Retry-After", seconds.to_string())]).into_response()
        }
    }
}
