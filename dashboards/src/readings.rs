//! Readings of all series and jobs that events and answers share: in a large store each takes a part of a second.

use crate::answer::ApiError;
use crate::fabric::FabricNow;
use crate::map::MapCache;
use crate::now::{SeriesListed, SeriesLoss, series_loss_row};
use crate::reader::StoreReader;
use crate::totals::{Totals, read_totals};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use store::read::{self, Reader};

/// A reading that took less is not kept.
const QUICK: Duration = Duration::from_millis(100);
/// Others are kept so many times as long as they took.
const KEPT_FACTOR: u32 = 3;
/// Age up to which a kept reading answers while the next one is read.
const AGE_MAX: Duration = Duration::from_secs(10);

/// The series with the largest loss.
pub type Top = Vec<SeriesLoss>;

/// What requests share.
#[derive(Default)]
pub struct Readings {
    /// The topology and its states.
    pub(crate) map: MapCache,
    totals: Kept<Totals>,
    top: Kept<Top>,
    /// The series that `/api/v1/now` listed last.
    pub(crate) listed: Kept<SeriesListed>,
    /// What `/api/v1/fabric` showed last of the present.
    pub(crate) fabric: Kept<FabricNow>,
    /// Whether a task reads ahead.
    is_read_ahead: AtomicBool,
}

impl Readings {
    /// Counts and sums over all series and jobs.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn totals(&self, store: &Reader<'_>) -> Result<Totals, ApiError> {
        self.totals.read(|_| true, || read_totals(store, &self.map))
    }

    fn top(&self, store: &Reader<'_>) -> Result<Top, ApiError> {
        self.top.read(|_| true, || read_top(store))
    }

    /// The totals and the series with the largest loss; of a large store they may be ten seconds old.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn at_hand(&self, store: &Reader<'_>) -> Result<(Totals, Top), ApiError> {
        let totals = self.totals.at_hand_or(|_| true, || read_totals(store, &self.map))?;
        let top = self.top.at_hand_or(|_| true, || read_top(store))?;
        Ok((totals, top))
    }

    /// Whether the totals or the series with the largest loss are to be read again.
    pub fn are_due(&self) -> bool {
        self.totals.is_due(|_| true) || self.top.is_due(|_| true)
    }

    /// Reads them again if they are due.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn renew(&self, store: &Reader<'_>) -> Result<(), ApiError> {
        self.totals(store).and_then(|_| self.top(store)).map(drop)
    }

    /// Reads what is due over another connection, so that requests do not wait for it. One task at a time does so.
    pub fn read_ahead<F>(self: &Arc<Self>, reader: &Arc<StoreReader>, read: F)
    where
        F: FnOnce(&Readings, &Reader<'_>) -> Result<(), ApiError> + Send + 'static,
    {
        if self.is_read_ahead.swap(true, Ordering::AcqRel) {
            return;
        }
        let (readings, reader) = (Arc::clone(self), Arc::clone(reader));
        tokio::spawn(async move {
            let shared = Arc::clone(&readings);
            let read = reader.read(move |store| read(&shared, store));
            // A request that finds nothing at hand reads the store itself, and reports why it cannot.
            read.await.ok();
            readings.is_read_ahead.store(false, Ordering::Release);
        });
    }
}

fn read_top(store: &Reader<'_>) -> Result<Top, ApiError> {
    store.rows(read::series::WORST, &[], series_loss_row)
}

/// The latest reading of a kind, if it took long.
#[derive(Debug)]
pub(crate) struct Kept<T> {
    latest: Mutex<Option<Reading<T>>>,
    /// Held while the store is read: one request reads it for all that arrive meanwhile.
    reading: Mutex<()>,
}

#[derive(Debug)]
struct Reading<T> {
    read: Instant,
    took: Duration,
    content: T,
}

impl<T> Reading<T> {
    fn is_fresh(&self) -> bool {
        self.read.elapsed() < self.took * KEPT_FACTOR
    }
}

impl<T> Default for Kept<T> {
    fn default() -> Kept<T> {
        Kept { latest: Mutex::default(), reading: Mutex::default() }
    }
}

impl<T: Clone> Kept<T> {
    /// The kept reading if it is fresh and valid, else what `read` returns.
    ///
    /// # Errors
    /// What `read` returns.
    pub(crate) fn read<E>(
        &self,
        is_valid: impl Fn(&T) -> bool,
        read: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let _reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(latest) = &*self.latest()
            && latest.is_fresh()
            && is_valid(&latest.content)
        {
            return Ok(latest.content.clone());
        }
        let start = Instant::now();
        let content = read()?;
        let took = start.elapsed();
        let reading = Reading { read: Instant::now(), took, content: content.clone() };
        *self.latest() = Some(reading).filter(|reading| reading.took >= QUICK);
        Ok(content)
    }

    /// The kept reading if it is valid, unless it is too old, else what [`Kept::read`] returns.
    ///
    /// # Errors
    /// What `read` returns.
    pub(crate) fn at_hand_or<E>(
        &self,
        is_valid: impl Fn(&T) -> bool,
        read: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        self.at_hand(&is_valid).map_or_else(|| self.read(&is_valid, read), Ok)
    }

    /// The kept reading if it is valid, unless it is too old.
    fn at_hand(&self, is_valid: impl Fn(&T) -> bool) -> Option<T> {
        self.latest()
            .as_ref()
            .filter(|latest| latest.read.elapsed() < AGE_MAX && is_valid(&latest.content))
            .map(|latest| latest.content.clone())
    }

    /// Whether there is a valid kept reading that is not fresh.
    pub(crate) fn is_due(&self, is_valid: impl Fn(&T) -> bool) -> bool {
        self.latest().as_ref().is_some_and(|latest| !latest.is_fresh() && is_valid(&latest.content))
    }

    fn latest(&self) -> MutexGuard<'_, Option<Reading<T>>> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::{AGE_MAX, Kept, Reading};
    use std::convert::Infallible;
    use std::time::{Duration, Instant};

    const HOUR: Duration = Duration::from_secs(3600);

    /// A reading 1 that took so long and ended so long ago.
    fn kept(took: Duration, age: Duration) -> Kept<u32> {
        let kept = Kept::default();
        let read = Instant::now().checked_sub(age).unwrap_or_else(Instant::now);
        *kept.latest() = Some(Reading { read, took, content: 1 });
        kept
    }

    /// What a request gets that would read 2.
    fn asked(kept: &Kept<u32>, is_valid: bool) -> u32 {
        kept.read(|_| is_valid, || Ok::<u32, Infallible>(2)).unwrap_or_default()
    }

    /// The same for a request that takes what is at hand.
    fn at_hand(kept: &Kept<u32>, is_valid: bool) -> u32 {
        kept.at_hand_or(|_| is_valid, || Ok::<u32, Infallible>(2)).unwrap_or_default()
    }

    #[test]
    fn a_slow_reading_is_shared_for_a_while() {
        assert_eq!(asked(&kept(HOUR, Duration::ZERO), true), 1);
        assert_eq!(asked(&kept(Duration::ZERO, Duration::ZERO), true), 2);
    }

    #[test]
    fn a_reading_of_another_version_is_not_used() {
        assert_eq!(asked(&kept(HOUR, Duration::ZERO), false), 2);
    }

    #[test]
    fn a_reading_that_is_due_is_at_hand_until_it_is_too_old() {
        let [due, old] = [Duration::ZERO, AGE_MAX].map(|age| kept(Duration::ZERO, age));
        assert_eq!((due.is_due(|_| true), at_hand(&due, true)), (true, 1));
        assert_eq!((old.is_due(|_| true), at_hand(&old, true)), (true, 2));
        assert!(!kept(HOUR, Duration::ZERO).is_due(|_| true));
    }

    #[test]
    fn a_reading_for_another_request_is_neither_at_hand_nor_due() {
        let due = kept(Duration::ZERO, Duration::ZERO);
        assert_eq!((due.is_due(|_| false), at_hand(&due, false)), (false, 2));
    }
}
