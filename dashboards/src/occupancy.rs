//! Idle connections of a server, and since when they are idle.

use axum::body::{Body, Bytes, HttpBody};
use http_body::{Frame, SizeHint};
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Duration of a request after which another connection may take its slot.
const BUSY_MAX: Duration = Duration::from_secs(30);

/// The open connections of one server.
#[derive(Debug, Default)]
pub(crate) struct Occupancy(Mutex<Slots>);

#[derive(Debug, Default)]
struct Slots {
    next: u64,
    open: BTreeMap<u64, Arc<Slot>>,
}

/// One connection as the server sees it.
#[derive(Debug)]
pub(crate) struct Slot {
    state: Mutex<State>,
    had_request: AtomicBool,
    replaced: Notify,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Idle(Instant),
    Busy(Instant),
}

/// A connection's slot, free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Connection {
    id: u64,
    slot: Arc<Slot>,
    occupancy: Arc<Occupancy>,
}

/// A request under way; its connection is idle again when this is dropped.
#[derive(Debug)]
pub(crate) struct Busy(Arc<Slot>);

impl Occupancy {
    /// Takes a slot.
    pub(crate) fn open(self: &Arc<Self>) -> Connection {
        let slot = Arc::new(Slot {
            state: Mutex::new(State::Idle(Instant::now())),
            had_request: AtomicBool::new(false),
            replaced: Notify::new(),
        });
        let mut slots = self.slots();
        slots.next += 1;
        let id = slots.next;
        slots.open.insert(id, Arc::clone(&slot));
        Connection { id, slot, occupancy: Arc::clone(self) }
    }

    /// Whether `most` connections are open and none of them can be closed for another one. Otherwise there is a slot: at
    /// the limit the connection that has been idle longest is closed, then the one whose request has lasted longest.
    pub(crate) fn is_full(&self, most: usize) -> bool {
        let mut slots = self.slots();
        if slots.open.len() < most {
            return false;
        }
        let now = Instant::now();
        let rank = |slot: &Slot| match slot.state() {
            State::Idle(since) => Some((0, since)),
            State::Busy(since) => (now.duration_since(since) > BUSY_MAX).then_some((1, since)),
        };
        let ranked = slots.open.iter().filter_map(|(id, slot)| Some((rank(slot)?, *id)));
        let Some((_, id)) = ranked.min() else { return true };
        if let Some(slot) = slots.open.remove(&id) {
            slot.replaced.notify_one();
        }
        false
    }

    fn slots(&self) -> std::sync::MutexGuard<'_, Slots> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    fn state(&self) -> State {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, state: State) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }

    /// Marks the connection as busy with a request.
    pub(crate) fn busy(self: &Arc<Self>) -> Busy {
        self.set(State::Busy(Instant::now()));
        self.had_request.store(true, Ordering::Relaxed);
        Busy(Arc::clone(self))
    }

    /// Whether a request arrived so far.
    pub(crate) fn had_request(&self) -> bool {
        self.had_request.load(Ordering::Relaxed)
    }
}

impl Connection {
    /// The connection's state.
    pub(crate) fn slot(&self) -> Arc<Slot> {
        Arc::clone(&self.slot)
    }

    /// Number of open connections of the server.
    pub(crate) fn open(&self) -> usize {
        self.occupancy.slots().open.len()
    }

    /// Ends when another connection takes the slot.
    pub(crate) async fn replaced(&self) {
        self.slot.replaced.notified().await;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.occupancy.slots().open.remove(&self.id);
    }
}

impl Busy {
    /// `body`; the request stays under way until all of it is sent.
    pub(crate) fn until_sent(self, body: Body) -> Body {
        Body::new(Sent { body, _busy: self })
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.set(State::Idle(Instant::now()));
    }
}

struct Sent {
    body: Body,
    _busy: Busy,
}

impl HttpBody for Sent {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connection_idle_longest_makes_room_and_busy_ones_stay() {
        let occupancy = Arc::new(Occupancy::default());
        let (first, second) = (occupancy.open(), occupancy.open());
        let busy = first.slot().busy();
        assert!(!occupancy.is_full(3), "there is a free slot");
        assert!(!occupancy.is_full(2), "the second is idle");
        assert!(!occupancy.slots().open.contains_key(&second.id));
        let third = occupancy.open();
        let busy_too = third.slot().busy();
        assert!(occupancy.is_full(2), "all are busy");
        drop((busy, busy_too));
        assert!(!occupancy.is_full(2), "both wait for another request");
        assert!(!occupancy.slots().open.contains_key(&first.id), "the first waits longer");
        drop((first, second));
        assert_eq!(occupancy.slots().open.len(), 1);
    }
}
