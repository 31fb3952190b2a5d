//! Sums of places, a row for each place and ten seconds of the commit.

use super::PgError;
use super::copy::server_us;
use super::dividing::Dividing;
use super::rows::Of;
use crate::place_sums::{Place, PlaceSums, Sum};
use bytes::{BufMut, BytesMut};
use schemas::Time;
use std::error::Error;
use std::pin::pin;
use tokio_postgres::Transaction;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{IsNull, ToSql, Type, accepts, to_sql_checked};

/// Columns of `sql/copy_place_buckets.sql`.
const COLUMNS: [Type; 10] = [
    Type::TIMESTAMPTZ,
    Type::FLOAT8,
    Type::INT8,
    Type::INT8,
    Type::INT4,
    Type::INT4,
    Type::FLOAT4,
    Type::TEXT,
    Type::TEXT,
    Type::TEXT,
];

/// A row: start of the ten seconds, place, sums.
type Row<'a> = (Time, &'a Place, &'a Sum);

/// Writes the sums of a commit; `of` is the first of its partitions.
pub(super) async fn put(to: &mut Dividing<'_>, of: Of<'_>, sums: &PlaceSums) -> Result<(), PgError> {
    if sums.rows().next().is_none() {
        return Ok(());
    }
    if !to.divides() {
        return copy(&to.to, sums.rows()).await;
    }
    let rows: Vec<Row<'_>> = sums.rows().collect();
    to.put("place_buckets", of, &rows, |to, _, rows| Box::pin(copy(to, rows.iter().copied()))).await
}

async fn copy(to: &Transaction<'_>, rows: impl Iterator<Item = Row<'_>>) -> Result<(), PgError> {
    let sink = to.copy_in(include_str!("../../sql/postgres/copy_place_buckets.sql")).await?;
    let mut writer = pin!(BinaryCopyInWriter::new(sink, &COLUMNS));
    for (time, place, sum) in rows {
        let value_sum = Some(sum.value_sum).filter(|sum| sum.is_finite());
        let value_max = Some(sum.value_max).filter(|max| max.is_finite());
        let small = |count: u32| i32::try_from(count).unwrap_or(i32::MAX);
        let large = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let (kind, name, metric) = (place.kind.name(), &*place.name, place.metric);
        writer
            .as_mut()
            .write(&[
                &CommitSchedule(time),
                &value_sum,
                &large(sum.ticks),
                &large(sum.contended_ticks),
                &small(sum.series),
                &small(sum.contended_series),
                &value_max,
                &kind,
                &name,
                &metric,
            ])
            .await?;
    }
    writer.as_mut().finish().await?;
    Ok(())
}

/// A time as a `timestamptz`.
#[derive(Debug)]
struct CommitSchedule(Time);

impl ToSql for CommitSchedule {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.put_i64(server_us(self.0));
        Ok(IsNull::No)
    }

    accepts!(TIMESTAMPTZ);
    to_sql_checked!();
}
