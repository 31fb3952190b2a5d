//! `/api/v1/stream`: server-sent events, a small JSON at each tick, and a beat without one. One task queries the store for
//! all clients.

use crate::answer::ApiError;
use crate::login::SessionEnd;
use crate::progress::Progress;
use crate::router::PageState;
use axum::Extension;
use axum::extract::State;
use axum::response::sse::{Event, Sse};
use futures_util::Stream;
use futures_util::stream::unfold;
use serde::Serialize;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::read::{self, Reader};
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

/// Counts and sums over all series, jobs and episodes.
#[derive(Debug, Default, Serialize)]
pub struct Totals {
    /// Number of series by state; states without series have 0.
    pub states: BTreeMap<&'static str, i64>,
    /// Number of series.
    pub series: i64,
    /// Series with a signal within the last 5 s.
    pub series_heard: i64,
    /// Links.
    pub links: PlaceTotals,
    /// Clients of file systems, by node and mount.
    pub clients: PlaceTotals,
    /// Seconds lost, summed over all series.
    pub series_slowdown_s: f64,
    /// Seconds lost, summed over all jobs with a result.
    pub jobs_slowdown_s: f64,
    /// Sum of the lower ends of the jobs' 95% intervals.
    pub jobs_slowdown_lo_s: f64,
    /// Sum of the upper ends.
    pub jobs_slowdown_hi_s: f64,
    /// Number of open episodes.
    pub open_episodes: i64,
    /// Share of series with a signal within the last 5 s; absent without series.
    pub completeness: Option<f64>,
}

/// Links or clients. One with several metrics counts once; a router as a whole counts only without series of its links.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct PlaceTotals {
    /// All that are known.
    pub total: i64,
    /// Those with data.
    pub reporting: i64,
    /// Those of which at least one metric is contended.
    pub contended: i64,
}

/// Index of the first state in `totals.sql`, which has them in the order of [`schemas::State::ALL`].
const STATES_FROM: usize = 3;

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

/// Reads [`Totals`].
///
/// # Errors
/// When the store cannot be read.
pub fn read_totals(store: &Reader<'_>) -> Result<Totals, ApiError> {
    let jobs: [f64; 3] = store
        .one(read::jobs::SLOWDOWN, &[], |row| Ok::<_, ApiError>([row.get(0)?, row.get(1)?, row.get(2)?]))?;
    let [jobs_slowdown_s, jobs_slowdown_lo_s, jobs_slowdown_hi_s] = jobs;
    let open_episodes = store.one(read::episodes::OPEN_COUNT, &[], |row| row.get(0))?;
    let places: BTreeMap<String, PlaceTotals> = store
        .rows(read::series::PLACE_TOTALS, &[], |row| {
            let places = PlaceTotals { total: row.get(1)?, reporting: row.get(2)?, contended: row.get(3)? };
            Ok::<_, ApiError>((row.get(0)?, places))
        })?
        .into_iter()
        .collect();
    let [links, clients] = ["link", "progress"].map(|kind| places.get(kind).copied().unwrap_or_default());
    store.one(read::series::TOTALS, &[], |row| {
        let mut states = BTreeMap::new();
        for (place, state) in schemas::State::ALL.iter().enumerate() {
            states.insert(state.name(), row.get(STATES_FROM + place)?);
        }
        let (series, series_heard) = (row.get(0)?, row.get(1)?);
        Ok(Totals {
            states,
            series,
            series_heard,
            links,
            clients,
            series_slowdown_s: row.get(2)?,
            jobs_slowdown_s,
            jobs_slowdown_lo_s,
            jobs_slowdown_hi_s,
            open_episodes,
            completeness: (series > 0).then(|| series_heard as f64 / series as f64),
        })
    })
}

impl PageState {
    /// The current event.
    async fn event_text(&self) -> EventText {
        let progress = *self.ticks.borrow();
        let found = self.reader.read(|store| {
            let open = store.rows(read::episodes::OPEN, &[], |row| row.get(0))?;
            Ok((store.clock()?, Some(read_totals(store)?), open))
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
