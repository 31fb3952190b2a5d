//! `/api/v1/stream`: server-sent events, a small JSON at each tick, and a beat without one. One task queries the store for
//! all clients.

use crate::answer::ApiError;
use crate::login::SessionEnd;
use crate::progress::Progress;
use crate::router::PageState;
use crate::totals::Totals;
use axum::Extension;
use axum::extract::State;
use axum::response::sse::{Event, Sse};
use futures_util::Stream;
use futures_util::stream::unfold;
use serde::Serialize;
use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::read;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Interval, MissedTickBehavior, interval, timeout};

/// Minimum pause between events.
const EVENT_SPACING: Duration = Duration::from_millis(250);
/// Maximum pause between events, so that a database that returns is noticed soon.
const PAUSE_MAX: Duration = Duration::from_secs(10);
/// Interval of queries without ticks.
const TICK_TIMEOUT: Duration = Duration::from_secs(1);
/// Pause of a client before it reconnects.
const RECONNECT: Duration = Duration::from_secs(1);
/// Interval of beats. A page reports a server without events for 5 s as hung: two beats may be late or lost.
const BEAT: Duration = Duration::from_secs(2);

/// One event. `totals` is absent while there is no store.
#[derive(Debug, Serialize)]
struct Tick<'a> {
    run_note: Option<&'a str>,
    progress: Progress,
    clock: Option<f64>,
    totals: Option<Totals>,
    /// Ids of the open episodes, the first 1,000.
    open_episodes: Vec<i64>,
    /// Why the store cannot be read; absent before any data.
    #[serde(skip_serializing_if = "Option::is_none")]
    trouble: Option<String>,
}

/// The text of an event, shared by all clients.
pub type EventText = Arc<str>;

impl PageState {
    /// The current event.
    async fn event_text(&self) -> EventText {
        let progress = *self.ticks.borrow();
        let readings = Arc::clone(&self.readings);
        let found = self.reader.read(move |store| {
            let open = store.rows(read::episodes::OPEN, &[], |row| row.get(0))?;
            Ok((store.clock()?, Some(readings.totals(store)?), open))
        });
        let found = found.await;
        let trouble = match &found {
            Ok(_) | Err(ApiError::Waiting(_)) => None,
            Err(error) => Some(error.to_string()),
        };
        let (clock, totals, open_episodes) = found.unwrap_or_default();
        let run_note = self.run_note.as_deref();
        let tick = Tick { run_note, progress, clock, totals, open_episodes, trouble };
        serde_json::to_string(&tick).unwrap_or_default().into()
    }
}

/// Turns ticks into events until the run drops its end of `ticks` or the server ends. Without clients the store is not
/// queried.
pub async fn publish_events(state: PageState) {
    let mut ticks = state.ticks.clone();
    while tick_or_pause(&mut ticks).await {
        if state.events.receiver_count() == 0 {
            continue;
        }
        let start = Instant::now();
        let text = state.event_text().await;
        let took = start.elapsed();
        state.events.send_if_modified(|sent| {
            let changed = *sent != text;
            *sent = text;
            changed
        });
        // A slow store is queried less often.
        tokio::time::sleep((took * 3).clamp(EVENT_SPACING, PAUSE_MAX)).await;
    }
}

/// Waits for a tick, for a second at most: a store that another process writes grows without ticks. False
/// when the run has ended.
async fn tick_or_pause(ticks: &mut watch::Receiver<Progress>) -> bool {
    !matches!(timeout(TICK_TIMEOUT, ticks.changed()).await, Ok(Err(_)))
}

/// Answers `/api/v1/stream`. A beat is sent at once and every two seconds, while the store does not respond too; the first
/// tick follows as soon as the store is read. The stream ends with the session by which it is read.
pub async fn stream(
    State(state): State<PageState>,
    session: Option<Extension<SessionEnd>>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let events = state.events.subscribe();
    let first = tokio::spawn({
        let state = state.clone();
        async move { state.event_text().await }
    });
    let mut beats = interval(BEAT);
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let feed = Feed {
        first: Some(first),
        events,
        beats,
        session: session.map(|Extension(end)| end),
        stopping: state.stopping.clone(),
        state: Some(state),
    };
    Sse::new(unfold(feed, Feed::next))
}

struct Feed {
    /// Absent once it was sent.
    first: Option<JoinHandle<EventText>>,
    events: watch::Receiver<EventText>,
    beats: Interval,
    /// Absent where no session is needed.
    session: Option<SessionEnd>,
    stopping: watch::Receiver<bool>,
    /// Absent after the last event.
    state: Option<PageState>,
}

/// What a client waits for.
enum Next {
    First(EventText),
    Tick,
    Beat,
    Stop,
}

impl Feed {
    /// The next event; the stream ends when the server stops, so that the shutdown does not wait for clients.
    /// The last event has the final progress of the run.
    async fn next(mut self) -> Option<(Result<Event, Infallible>, Feed)> {
        // Without a state the last event was sent.
        self.state.as_ref()?;
        let tick = |text: EventText| Event::default().event("tick").retry(RECONNECT).data(&*text);
        let event = match self.wait().await? {
            Next::First(text) => tick(text),
            Next::Tick => tick(self.events.borrow_and_update().clone()),
            Next::Beat => Event::default().event("beat").data("{}"),
            Next::Stop => tick(self.state.take()?.event_text().await),
        };
        Some((Ok(event), self))
    }

    /// Waits for an event; `None` when there are no more events.
    async fn wait(&mut self) -> Option<Next> {
        // The first tick is older than those of `events`.
        let first = self.first.is_some();
        tokio::select! {
            // An error is a server that has ended.
            _ = self.stopping.wait_for(|stop| *stop) => Some(Next::Stop),
            () = session_end(&mut self.session) => None,
            text = first_tick(&mut self.first) => Some(Next::First(text)),
            event = self.events.changed(), if !first => event.ok().map(|()| Next::Tick),
            _ = self.beats.tick() => Some(Next::Beat),
        }
    }
}

/// Waits for the end of the session; without end where none is needed.
async fn session_end(session: &mut Option<SessionEnd>) {
    match session {
        Some(end) => end.wait().await,
        None => pending().await,
    }
}

/// Waits for the first tick; without end once it was sent.
async fn first_tick(first: &mut Option<JoinHandle<EventText>>) -> EventText {
    let Some(reading) = first else { return pending().await };
    let text = reading.await.unwrap_or_default();
    *first = None;
    text
}
