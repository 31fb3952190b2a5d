//! A receiver that fails in every way there is, and remembers what it took.

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

/// What it does with a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Mood {
    /// Takes it.
    Takes,
    /// Answers 500.
    Breaks,
    /// Never answers.
    Hangs,
    /// Takes it after a while.
    IsSlow(Duration),
    /// Sends it elsewhere.
    Redirects(String),
    /// Wants to be left alone for so many seconds.
    IsBusy(u32),
}

/// A request that it took.
#[derive(Clone, Debug)]
pub struct Taken {
    /// When, in seconds since the epoch.
    pub at_s: f64,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body.
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

/// The receiver.
#[derive(Clone)]
pub struct Receiver(Arc<Mutex<(Mood, Vec<Taken>, usize)>>);

/// Now, in seconds since the epoch.
pub fn now_s() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64()
}

impl Receiver {
    /// One that takes everything.
    pub fn new() -> Receiver {
        Receiver(Arc::new(Mutex::new((Mood::Takes, Vec::new(), 0))))
    }

    /// Serves on an address; dropping what comes back ends it, connections too.
    pub async fn listen(&self, address: &str) -> (SocketAddr, tokio::task::JoinHandle<()>) {
        let listener = tokio::net::TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().fallback(any(take)).with_state(self.clone());
        (address, tokio::spawn(async move { axum::serve(listener, router).await.unwrap() }))
    }

    /// From now on it does this.
    pub fn set(&self, mood: Mood) {
        self.0.lock().unwrap().0 = mood;
    }

    /// What it took.
    pub fn taken(&self) -> Vec<Taken> {
        self.0.lock().unwrap().1.clone()
    }

    /// Requests that it did not take.
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
