//! `fill`: minutes of one Trinity into the raw topics of a Kafka broker; statistics and truth to standard output.

use anyhow::{Context, Result, bail};
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use load::feed::{Plan, Row, SCHEMAS};
use load::{Broker, Feed, Site};
use serde_json::{Value, json};
use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Delay from a tick to the store: rows of a paced run leave so much later.
const STORE_DELAY_S: f64 = 0.1;

/// Fills the raw topics of a Kafka broker with rows of one Trinity and prints figures and truth as JSON.
#[derive(Debug, Parser)]
struct Arguments {
    /// Addresses of brokers: host:port, comma between.
    #[arg(long)]
    brokers: String,
    /// Minutes of rows, at one row a second and set.
    #[arg(long)]
    minutes: f64,
    /// Size of the machine; 1 is 5,000 routers and 20,000 clients.
    #[arg(long, default_value_t = 1.0)]
    trinities: f64,
    /// Four nodes report each router instead of two, so that each tile comes twice.
    #[arg(long)]
    redundancy: bool,
    /// Partitions of topics that are not there yet.
    #[arg(long, default_value_t = 12)]
    partitions: u32,
    /// Time of the first rows: seconds since the epoch, `now`, or `now-backdated`, which ends the rows now.
    /// Default: `now` with --paced, else `now-backdated`.
    #[arg(long)]
    start: Option<String>,
    /// Send so many seconds of rows a second, 1 for real time, instead of all as fast as possible.
    #[arg(long)]
    paced: Option<f64>,
    /// Of the random numbers: the same seed and start give the same rows.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Arguments {
    fn plan(&self) -> Result<Plan> {
        let within = |value: f64, low: f64, high: f64| value.is_finite() && low <= value && value <= high;
        if !within(self.minutes, 0.05, 10_080.0) {
            bail!("--minutes {}: from 0.05 to 10080", self.minutes);
        }
        if !within(self.trinities, 0.0002, 20.0) {
            bail!("--trinities {}: from 0.0002 to 20", self.trinities);
        }
        if self.paced.is_some_and(|paced| !within(paced, 0.001, 1_000.0)) {
            bail!("--paced: from 0.001 to 1000");
        }
        let seconds = (self.minutes * 60.0).round() as u32;
        Ok(Plan {
            site: Site::of_trinities(self.trinities),
            redundancy: self.redundancy,
            start: self.first_second(seconds)?,
            seconds,
            seed: self.seed,
        })
    }

    fn first_second(&self, seconds: u32) -> Result<i64> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).context("the clock is before 1970")?;
        let now = now.as_secs() as i64;
        let otherwise = if self.paced.is_some() { "now" } else { "now-backdated" };
        match self.start.as_deref().unwrap_or(otherwise) {
            // Long enough ahead to build the machine first.
            "now" => Ok(now + 8),
            "now-backdated" => Ok(now - i64::from(seconds)),
            epoch => {
                epoch.parse().ok().filter(|second| (0..=253_402_300_799).contains(second)).with_context(
                    || format!("--start {epoch}: seconds since the epoch, now or now-backdated"),
                )
            }
        }
    }
}

/// Rows and bytes of each schema, in the order of [`SCHEMAS`].
#[derive(Debug, Default)]
struct Counts {
    rows: [u64; SCHEMAS.len()],
    bytes: [u64; SCHEMAS.len()],
}

impl Counts {
    fn add(&mut self, row: Row<'_>) {
        let at = SCHEMAS.iter().position(|schema| *schema == row.schema).unwrap_or_default();
        self.rows[at] += 1;
        self.bytes[at] += row.json.len() as u64;
    }
}

/// Schedule of the rows of a paced run.
struct Pace {
    /// When second 0 was due or is, by the clock.
    begun_s: f64,
    seconds_a_second: f64,
    /// Most seconds by which rows left late; a measured latency includes them.
    behind_s: f64,
}

impl Pace {
    /// Second 0 is due at `start`; where the rows are not of now, it is at once.
    fn new(start: i64, seconds_a_second: f64) -> Pace {
        /// Longer than it takes to build the machine.
        const OF_NOW_S: f64 = 60.0;
        let (start_s, now_s) = (start as f64 + STORE_DELAY_S, clock_s());
        let begun_s = if (start_s - now_s).abs() < OF_NOW_S { start_s } else { now_s };
        Pace { begun_s, seconds_a_second, behind_s: 0.0 }
    }

    fn wait(&mut self, second: u32) {
        let ahead_s = self.begun_s + f64::from(second) / self.seconds_a_second - clock_s();
        self.behind_s = self.behind_s.max(-ahead_s);
        std::thread::sleep(Duration::from_secs_f64(ahead_s.max(0.0)));
    }
}

/// Seconds since the epoch.
fn clock_s() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |now| now.as_secs_f64())
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("fill: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    let plan = arguments.plan()?;
    let mut broker =
        Broker::open(&arguments.brokers, arguments.partitions, arguments.paced.is_some(), plan.seed)?;
    let mut feed = Feed::new(plan);
    let mut pace = arguments.paced.map(|speed| Pace::new(plan.start, speed));
    let bar = bar(plan.seconds);
    let mut counts = Counts::default();
    let begun = Instant::now();
    for second in 0..plan.seconds {
        if let Some(pace) = &mut pace {
            pace.wait(second);
        }
        feed.second(|row| {
            counts.add(row);
            broker.send(row)
        })?;
        broker.check()?;
        bar.inc(1);
    }
    let sent = broker.finish()?;
    bar.finish_and_clear();
    let mut figures = figures(&plan, &counts, begun.elapsed().as_secs_f64(), sent);
    figures["behind_s"] = pace.map_or(Value::Null, |pace| json!(pace.behind_s));
    let all = json!({ "figures": figures, "contended": contended(&feed, &plan), "jobs": feed.jobs().list() });
    let mut out = std::io::stdout().lock();
    writeln!(out, "{all}").context("cannot write to standard output")
}

fn bar(seconds: u32) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos} of {len} s of rows, {eta} left");
    let bar = ProgressBar::new(u64::from(seconds));
    style.map_or(bar.clone(), |style| bar.with_style(style))
}

fn figures(plan: &Plan, counts: &Counts, took_s: f64, sent_bytes: u64) -> Value {
    let rows: u64 = counts.rows.iter().sum();
    let bytes: u64 = counts.bytes.iter().sum();
    let schemas: serde_json::Map<String, Value> = SCHEMAS
        .iter()
        .zip(counts.rows.iter().zip(&counts.bytes))
        .map(|(schema, (rows, bytes))| {
            let each = *bytes as f64 / (*rows).max(1) as f64;
            (
                schema.name().to_string(),
                json!({ "rows": rows, "json_bytes": bytes, "bytes_per_row": each.round() }),
            )
        })
        .collect();
    json!({
        "routers": plan.site.routers,
        "clients": plan.site.nodes(),
        "series": plan.site.series(),
        "redundancy": plan.redundancy,
        "seed": plan.seed,
        "start": plan.start,
        "seconds": plan.seconds,
        "rows": rows,
        "rows_per_tick": rows as f64 / f64::from(plan.seconds),
        "json_bytes": bytes,
        "sent_bytes": sent_bytes,
        "took_s": took_s,
        "rows_per_s": rows as f64 / took_s,
        "json_mb_per_s": bytes as f64 / took_s / 1e6,
        "real_time_factor": f64::from(plan.seconds) / took_s,
        "schemas": schemas,
    })
}

fn contended(feed: &Feed, plan: &Plan) -> Vec<Value> {
    let spans = feed.model().spans().iter();
    spans
        .map(|span| {
            let at = |second: u32| plan.start + i64::from(second);
            json!({ "series": span.series, "start": at(span.from), "end": at(span.to), "factor": span.factor })
        })
        .collect()
}
