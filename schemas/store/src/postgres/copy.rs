//! Signals and buckets in COPY's binary format, filled by hand: no allocation and no formatting per row.

use super::PgError;
use super::dividing::Put;
use super::rows::Of;
use super::series_ids::id;
use crate::storage_policy::{Bucket, StoredRows, StoredSignal};
use bytes::{Bytes, BytesMut};
use futures::SinkExt;
use schemas::{Counts, Time};
use std::pin::Pin;
use tokio_postgres::{CopyInSink, Transaction};

/// Size of the pieces that are sent, in bytes: large enough that a piece's cost does not count, small enough that
/// the server parses one while the next is filled.
const PIECE_BYTES: usize = 128 << 10;

/// What begins a binary COPY: signature, no flags, no extension.
const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

/// What ends it.
const TRAILER: &[u8] = &[0xff, 0xff];

/// Longest row, in bytes: the number of columns, twelve lengths and their values.
const ROW_BYTES: usize = 112;

/// Microseconds from the Unix epoch to PostgreSQL's, 2000-01-01.
const EPOCH_US: i64 = 946_684_800_000_000;

/// Earliest and latest time that a timestamp of the server holds, in microseconds of its own epoch.
const TIMES_US: std::ops::RangeInclusive<i64> = -211_813_488_000_000_000..=9_223_371_331_199_999_999;

/// A time as the server holds it, in microseconds of its own epoch; the nearest that it holds.
pub(super) fn server_us(time: Time) -> i64 {
    time.0.saturating_sub(EPOCH_US).clamp(*TIMES_US.start(), *TIMES_US.end())
}

/// A tier.
pub(super) struct Tier {
    /// Its table.
    pub(super) table: &'static str,
    /// The COPY into it.
    pub(super) copy: &'static str,
    /// Its rows of a commit.
    pub(super) rows: fn(&StoredRows) -> &[Bucket],
    /// Whether its ticks are integers, not small ones.
    pub(super) wide: bool,
    /// Writes some of its rows with a COPY of their own.
    pub(super) put: Put<Bucket>,
}

/// Ten seconds, minutes, hours.
pub(super) const TIERS: [Tier; 3] = [TEN_SECONDS, MINUTES, HOURS];

const TEN_SECONDS: Tier = Tier {
    table: "signal_buckets",
    copy: include_str!("../../sql/postgres/copy_buckets.sql"),
    rows: |stored| &stored.buckets,
    wide: false,
    put: |to, of, rows| Box::pin(put_buckets(to, of, rows, &TEN_SECONDS)),
};

const MINUTES: Tier = Tier {
    table: "signal_minutes",
    copy: include_str!("../../sql/postgres/copy_minutes.sql"),
    rows: |stored| &stored.minutes,
    wide: true,
    put: |to, of, rows| Box::pin(put_buckets(to, of, rows, &MINUTES)),
};

const HOURS: Tier = Tier {
    table: "signal_hours",
    copy: include_str!("../../sql/postgres/copy_hours.sql"),
    rows: |stored| &stored.hours,
    wide: true,
    put: |to, of, rows| Box::pin(put_buckets(to, of, rows, &HOURS)),
};

/// The buffer of the piece being filled.
#[derive(Debug, Default)]
pub(super) struct CopyBuffer(BytesMut);

/// Writes signals with a COPY of their own.
pub(super) async fn put_signals(
    to: &Transaction<'_>,
    of: Of<'_>,
    rows: &[StoredSignal],
) -> Result<(), PgError> {
    let mut buffer = CopyBuffer::default();
    let mut copying =
        Copying::begin(to, include_str!("../../sql/postgres/copy_signals.sql"), &mut buffer).await?;
    copying.signals(rows, of.ids).await?;
    copying.end().await.map(drop)
}

/// Writes rows of `tier` with a COPY of their own.
async fn put_buckets(to: &Transaction<'_>, of: Of<'_>, rows: &[Bucket], tier: &Tier) -> Result<(), PgError> {
    let mut buffer = CopyBuffer::default();
    let mut copying = Copying::begin(to, tier.copy, &mut buffer).await?;
    copying.buckets(rows, of.ids, tier.wide).await?;
    copying.end().await.map(drop)
}

/// A COPY under way.
pub(super) struct Copying<'a> {
    sink: Pin<Box<CopyInSink<Bytes>>>,
    buffer: &'a mut BytesMut,
    sent: u64,
}

impl<'a> Copying<'a> {
    /// Begins the COPY of `statement`.
    pub(super) async fn begin(
        to: &Transaction<'_>,
        statement: &str,
        buffer: &'a mut CopyBuffer,
    ) -> Result<Copying<'a>, PgError> {
        let sink = Box::pin(to.copy_in(statement).await?);
        buffer.0.clear();
        buffer.0.reserve(PIECE_BYTES);
        buffer.0.extend_from_slice(HEADER);
        Ok(Copying { sink, buffer: &mut buffer.0, sent: 0 })
    }

    /// Adds signals; `ids` are the partition's numbers in the database.
    pub(super) async fn signals(&mut self, rows: &[StoredSignal], ids: &[i32]) -> Result<(), PgError> {
        for stored in rows {
            let (signal, id) = (&stored.signal, id(ids, stored.signal.series)?);
            let mut row = Row::new(11);
            row.time(signal.time);
            row.f64(signal.slowdown_s);
            row.i32(id);
            row.f32(signal.value);
            row.f32(signal.mean);
            row.f32(signal.baseline);
            row.f32(signal.bound);
            row.i16(signal.state as i16);
            row.ticks(stored.ticks);
            row.counts(signal.counts);
            self.add(&row).await?;
        }
        Ok(())
    }

    /// Adds rows of a tier; `wide` are those of a minute and an hour, whose ticks are integers and which hold the counters'
    /// sums. `ids` are the partition's numbers in the database.
    pub(super) async fn buckets(&mut self, rows: &[Bucket], ids: &[i32], wide: bool) -> Result<(), PgError> {
        for bucket in rows {
            let mut row = Row::new(if wide { 12 } else { 10 });
            row.time(bucket.time);
            row.f64(bucket.slowdown_s);
            row.i32(id(ids, bucket.series)?);
            row.f32(f64::from(bucket.value));
            row.f32(f64::from(bucket.value_min));
            row.f32(f64::from(bucket.value_max));
            row.f32(f64::from(bucket.mean));
            row.f32(f64::from(bucket.baseline));
            for ticks in [bucket.ticks, bucket.contended_ticks] {
                if wide {
                    row.i32(i32::try_from(ticks).unwrap_or(i32::MAX));
                } else {
                    row.ticks(u16::try_from(ticks).unwrap_or(u16::MAX));
                }
            }
            if wide {
                row.counts(bucket.counts);
            }
            self.add(&row).await?;
        }
        Ok(())
    }

    async fn add(&mut self, row: &Row) -> Result<(), PgError> {
        self.buffer.extend_from_slice(&row.bytes[..row.len]);
        if self.buffer.len() + ROW_BYTES > PIECE_BYTES {
            self.send().await?;
        }
        Ok(())
    }

    async fn send(&mut self) -> Result<(), PgError> {
        self.sent += self.buffer.len() as u64;
        let piece = self.buffer.split().freeze();
        self.sink.send(piece).await?;
        self.buffer.reserve(PIECE_BYTES);
        Ok(())
    }

    /// Ends the COPY; returns the bytes sent.
    pub(super) async fn end(mut self) -> Result<u64, PgError> {
        self.buffer.extend_from_slice(TRAILER);
        self.send().await?;
        self.sink.as_mut().finish().await?;
        Ok(self.sent)
    }
}

/// One row being filled.
struct Row {
    bytes: [u8; ROW_BYTES],
    len: usize,
}

impl Row {
    fn new(columns: i16) -> Row {
        let mut row = Row { bytes: [0; ROW_BYTES], len: 0 };
        row.raw(columns.to_be_bytes());
        row
    }

    #[inline]
    fn raw<const N: usize>(&mut self, bytes: [u8; N]) {
        self.bytes[self.len..self.len + N].copy_from_slice(&bytes);
        self.len += N;
    }

    #[inline]
    fn time(&mut self, time: Time) {
        self.raw(8_i32.to_be_bytes());
        self.raw(server_us(time).to_be_bytes());
    }

    #[inline]
    fn f64(&mut self, value: f64) {
        self.raw(8_i32.to_be_bytes());
        self.raw(value.to_be_bytes());
    }

    /// A figure in single precision: seven digits, more than a counter's rate has. NULL where it does not exist.
    #[inline]
    fn f32(&mut self, value: f64) {
        if value.is_finite() {
            self.raw(4_i32.to_be_bytes());
            self.raw((value as f32).to_be_bytes());
        } else {
            self.raw((-1_i32).to_be_bytes());
        }
    }

    #[inline]
    fn i32(&mut self, value: i32) {
        self.raw(4_i32.to_be_bytes());
        self.raw(value.to_be_bytes());
    }

    #[inline]
    fn i16(&mut self, value: i16) {
        self.raw(2_i32.to_be_bytes());
        self.raw(value.to_be_bytes());
    }

    #[inline]
    fn counts(&mut self, counts: Counts) {
        self.f32(f64::from(counts.passed_per_s));
        self.f32(f64::from(counts.waited_per_s));
    }

    #[inline]
    fn ticks(&mut self, ticks: u16) {
        self.i16(i16::try_from(ticks).unwrap_or(i16::MAX));
    }
}
