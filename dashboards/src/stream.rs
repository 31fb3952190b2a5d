//! `/api/v1/stream`: server-sent events, a small JSON at each tick. One task asks the store for all clients.

use crate::answer::ApiError;
use crate::health::{completeness, read_series_seen};
use crate::progress::Progress;
use crate::reader::Store;
use crate::router::PageState;
use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::Stream;
use futures_util::stream::unfold;
use serde::Serialize;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// At most four events per second.
const EVENT_SPACING: Duration = Duration::from_millis(250);
/// How soon a page that lost the connection tries again.
const RECONNECT: Duration = Duration::from_secs(1);

/// Counts and sums over everything.
#[derive(Debug, Default, Serialize)]
pub struct Totals {
    /// Series by state; every state is there, with 0 where there is none.
    pub states: BTreeMap<&'static str, i64>,
    /// Seconds lost, summed over all series.
    pub series_slowdown_s: f64,
    /// Seconds lost, summed over all jobs with a result.
    pub jobs_slowdown_s: f64,
    /// Episodes that go on.
    pub open_episodes: i64,
    /// Share of series with a signal within the last 5 s.
    pub completeness: Option<f64>,
}

/// One event. `totals` is absent while there is no store to ask.
#[derive(Debug, Serialize)]
struct Tick<'a> {
    run_note: Option<&'a str>,
    progress: Progress,
    clock: Option<f64>,
    totals: Option<Totals>,
    /// Ids of the open episodes, the first 1,000.
    open_episodes: Vec<i64>,
}

/// An event's text; the same allocation goes to every client.
pub type EventText = Arc<str>;

/// Reads [`Totals`].
///
/// # Errors
/// When the store cannot be read.
pub fn read_totals(store: &Store<'_>) -> Result<Totals, ApiError> {
    let counted = store.rows(include_str!("../sql/state_counts.sql"), [], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?, row.get::<_, f64>(2)?))
    })?;
    let count_of = |name: &str| counted.iter().filter(|c| c.0 == name).map(|c| c.1).sum();
    let (series, heard) = read_series_seen(store)?;
    Ok(Totals {
        states: schemas::State::ALL.iter().map(|s| (s.name(), count_of(s.name()))).collect(),
        series_slowdown_s: counted.iter().map(|c| c.2).sum(),
        jobs_slowdown_s: store.one(include_str!("../sql/jobs_slowdown.sql"), [], |row| row.get(0))?,
        open_episodes: store.one(include_str!("../sql/open_episode_count.sql"), [], |row| row.get(0))?,
        completeness: completeness(series, heard),
    })
}

impl PageState {
    /// What the stream says now.
    async fn event_text(&self) -> EventText {
        let progress = *self.ticks.borrow();
        let asked = self.reader.read(|store| {
            let open = store.rows(include_str!("../sql/open_episodes.sql"), [], |row| row.get(0))?;
            Ok((store.clock()?, Some(read_totals(store)?), open))
        });
        let (clock, totals, open_episodes) = asked.await.unwrap_or_default();
        let run_note = self.run_note.as_deref();
        let tick = Tick { run_note, progress, clock, totals, open_episodes };
        serde_json::to_string(&tick).unwrap_or_default().into()
    }
}

/// Turns ticks into events until the run drops its end of `ticks` or all pages are gone with the server.
/// Without clients the store is left alone.
pub async fn publish_events(state: PageState) {
    let mut ticks = state.ticks.clone();
    while ticks.changed().await.is_ok() {
        if state.events.receiver_count() == 0 {
            continue;
        }
        state.events.send_replace(state.event_text().await);
        tokio::time::sleep(EVENT_SPACING).await;
    }
}

/// Answers `/api/v1/stream`. The first event comes at once.
pub async fn stream(State(state): State<PageState>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let events = state.events.subscribe();
    let first = state.event_text().await;
    let feed = Feed { first: Some(first), events, stopping: state.stopping.clone() };
    Sse::new(unfold(feed, Feed::next)).keep_alive(KeepAlive::default())
}

struct Feed {
    first: Option<EventText>,
    events: watch::Receiver<EventText>,
    stopping: watch::Receiver<bool>,
}

impl Feed {
    /// The next event; the stream ends when the server stops, so that shutting down waits for nobody.
    async fn next(mut self) -> Option<(Result<Event, Infallible>, Feed)> {
        let text = match self.first.take() {
            Some(text) => text,
            None => tokio::select! {
                _ = self.stopping.wait_for(|stop| *stop) => return None,
                changed = self.events.changed() => {
                    changed.ok()?;
                    self.events.borrow_and_update().clone()
                }
            },
        };
        let event = Event::default().event("tick").retry(RECONNECT).data(&*text);
        Some((Ok(event), self))
    }
}
