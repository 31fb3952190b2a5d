//! Reading an episode's facts from the server. It takes the rights of a reader: episodes name others' jobs.

use super::super::load::word;
use super::facts::{AROUND_S, Explained, ExplainedRegion, Gainer, MissingData, Sample};
use anyhow::{Result, anyhow};
use schemas::Metric;
use store::postgres::{PgSettings, connect};
use tokio_postgres::{Client, Row};

/// The facts of an episode of a partition.
pub(super) fn load(settings: &PgSettings, partition: i32, id: i64) -> Result<Explained> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let client = connect(settings).await?;
        // One transaction: all answers are of the same commit, although the writers continue.
        client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
        facts(&client, partition, id).await
    })
}

async fn facts(from: &Client, partition: i32, id: i64) -> Result<Explained> {
    let row = from.query_opt(include_str!("server/episode.sql"), &[&partition, &id]).await?;
    let row = row.ok_or_else(|| anyhow!("episode {partition}:{id} is not known"))?;
    let figure = |at: usize| Some(row.get::<_, f64>(at)).filter(|figure| figure.is_finite());
    let (component, series_id): (String, i32) = (row.get(2), row.get(3));
    let (start, end): (f64, f64) = (row.get(4), row.get(5));
    let series: String = row.get(0);
    Ok(Explained {
        episode: format!("{partition}:{id}"),
        metric: Metric::from_name(row.get(1)),
        start,
        end,
        open: row.get(6),
        peak: figure(7),
        baseline: figure(8),
        slowdown_s: row.get(9),
        slowdown_lo_s: row.get(10),
        slowdown_hi_s: row.get(11),
        completeness: row.get(12),
        causes: serde_json::from_str(row.get(13))?,
        samples: samples(from, series_id, start).await?,
        region: region(from, &series, start, end).await?,
        silences: silences(from, &component, &series, (start, end)).await?,
        series,
    })
}

async fn samples(from: &Client, series_id: i32, onset: f64) -> Result<Vec<Sample>> {
    let (first, last) = (onset - AROUND_S, onset + AROUND_S);
    let rows = from.query(include_str!("server/samples.sql"), &[&series_id, &first, &last]).await?;
    let sample = |row: &Row| Sample {
        time: row.get(0),
        value: row.get(1),
        mean: row.get(2),
        baseline: row.get(3),
        bound: row.get(4),
        state: row.get(5),
        ticks: row.get(6),
    };
    Ok(rows.iter().map(sample).collect())
}

async fn region(from: &Client, series: &str, start: f64, end: f64) -> Result<Option<ExplainedRegion>> {
    let row = from.query_opt(include_str!("server/region.sql"), &[&series, &start, &end]).await?;
    let Some(row) = row else {
        return Ok(None);
    };
    let id: i64 = row.get(0);
    let gainers = from.query(include_str!("server/gainers.sql"), &[&id]).await?;
    let gainer = |row: &Row| {
        Ok(Gainer {
            cause: word(row.get(0))?,
            series_or_job: row.get(1),
            share: row.get(2),
            confidence: row.get(3),
            evidence: serde_json::from_str(row.get(4))?,
        })
    };
    Ok(Some(ExplainedRegion {
        id,
        name: row.get(1),
        links_most: row.get(2),
        cause: word(row.get(3))?,
        kind: word(row.get(4))?,
        confidence: row.get(5),
        gainers: gainers.iter().map(gainer).collect::<Result<_>>()?,
    }))
}

async fn silences(
    from: &Client,
    component: &str,
    series: &str,
    (start, end): (f64, f64),
) -> Result<Vec<MissingData>> {
    let rows = from.query(include_str!("server/silences.sql"), &[&component, &start, &end, &series]).await?;
    let missing = |row: &Row| MissingData {
        producer: row.get(0),
        schema: row.get(1),
        from: row.get(2),
        until: row.get(3),
    };
    Ok(rows.iter().map(missing).collect())
}
