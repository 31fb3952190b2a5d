//! `/api/v1/metrics`: the catalogue of metrics.

use crate::answer::{Answer, ApiError};
use crate::router::PageState;
use axum::Json;
use axum::extract::State;
use serde::Serialize;
use store::read;

/// A metric.
#[derive(Debug, Serialize)]
pub struct CatalogueMetric {
    metric: String,
    subject: String,
    title: String,
    unit: String,
    /// `link` or `progress`.
    measures: String,
    /// Whether the store has series of it.
    has_series: bool,
}

/// The response.
#[derive(Debug, Serialize)]
pub struct Catalogue {
    metrics: Vec<CatalogueMetric>,
}

/// Answers `/api/v1/metrics`.
///
/// # Errors
/// 503 before there is a store.
pub async fn metrics(State(state): State<PageState>) -> Answer<Catalogue> {
    let read = state.reader.read(|store| {
        store.rows(read::series::METRICS, &[], |row| {
            Ok::<_, ApiError>(CatalogueMetric {
                metric: row.get(0)?,
                subject: row.get(1)?,
                title: row.get(2)?,
                unit: row.get(3)?,
                measures: row.get(4)?,
                has_series: row.get(5)?,
            })
        })
    });
    Ok(Json(Catalogue { metrics: read.await? }))
}
