//! Jobs that ask whether they are contended, or report their progress: a store with them, and clients.

use anyhow::{Context, Result, ensure};
use dashboards::job_token::JobKeys;
use schemas::secret::Redacted;
use schemas::{
    Episode, EpisodeId, Job, JobResult, LossPoint, Metric, Name, ResultBatch, SeriesIndex, SeriesInfo,
    Signal, State, Time,
};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::sqlite::{Retention, Store};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{interval_at, sleep};

/// Time of the newest data.
const NOW_S: f64 = 1_800_000_000.0;
/// Time before the measurement, in which clients connect and the server reads its store.
const WARM_UP_S: u32 = 3;
/// Seconds between the reports of a job.
const REPORT_EVERY_S: u32 = 10;
/// Clock ticks of the kernel a second.
const TICKS_PER_S: f64 = 100.0;

/// What is asked, how often and where.
pub struct Load {
    /// Address of the server.
    pub address: String,
    /// Its process.
    pub pid: u32,
    /// Number of jobs.
    pub jobs: u32,
    /// Seconds that are measured.
    pub seconds: u32,
    /// A connection for each request, as `tailback ask` makes it.
    pub reconnect: bool,
    /// A request only where the last answer may not be used any more, as the clients of applications do it.
    pub paced: bool,
    /// Reports of progress instead, once in ten seconds each.
    pub report: bool,
    /// Keys of job tokens.
    pub keys: Option<String>,
}

impl Load {
    /// Time before the measurement: reports begin spread over the time between them.
    fn warm_up_s(&self) -> u32 {
        WARM_UP_S + if self.report { REPORT_EVERY_S } else { 0 }
    }
}

fn name(text: &str) -> Result<Name> {
    Ok(Name::parse(text)?)
}

/// Writes a store with `jobs` running jobs of `series` clients of a file system each; every tenth is contended on all of them.
///
/// # Errors
/// A file that cannot be written.
pub fn fill(store: &Path, jobs: u32, series: u32) -> Result<()> {
    let metric = Metric::from_name("lustre_write_rate").context("the catalogue has no lustre_write_rate")?;
    let now = Time::from_seconds(NOW_S);
    let mut batch = ResultBatch::default();
    for number in 0..jobs {
        let (job_id, is_contended) = (name(&number.to_string())?, number % 10 == 0);
        batch.jobs.push(Job {
            job_id: job_id.clone(),
            label: String::new(),
            user: format!("user{}", number % 100),
            name: "app".to_string(),
            nodes: Vec::new(),
            start: Time::from_seconds(NOW_S - 3_600.0),
            end: None,
            end_presumed: false,
            app: None,
        });
        for client in 0..series {
            let index = SeriesIndex(number * series + client);
            let component = name(&format!("nid{:06}", index.0))?;
            batch.series.push((index, SeriesInfo { metric, component, part: Some(name("scratch")?) }));
            batch.job_series.push((job_id.clone(), index));
            batch.signals.push(signal(index, now, is_contended));
            if is_contended {
                batch.episodes.push(episode(index));
            }
        }
        batch.job_results.push(result(job_id, if is_contended { 12.0 } else { 0.0 }));
    }
    Store::open(store, Retention::default())?.commit(&batch, &[])?;
    Ok(())
}

fn signal(series: SeriesIndex, time: Time, is_contended: bool) -> Signal {
    let state = if is_contended { State::Contended } else { State::Clear };
    Signal {
        time,
        series,
        value: 1e8,
        mean: 1e8,
        baseline: 1e9,
        bound: 8e8,
        state,
        slowdown_s: 0.0,
        counts: schemas::Counts::NONE,
    }
}

fn episode(series: SeriesIndex) -> Episode {
    Episode {
        id: EpisodeId(u64::from(series.0) + 1),
        series,
        start: Time::from_seconds(NOW_S - 60.0),
        end: Time::from_seconds(NOW_S),
        open: true,
        peak: 1e8,
        baseline: 1e9,
        slowdown_s: 12.0,
        slowdown_lo_s: 10.0,
        slowdown_hi_s: 14.0,
        completeness: 1.0,
        profile: vec![LossPoint { time: Time::from_seconds(NOW_S), slowdown_s: 12.0 }],
        causes: Vec::new(),
    }
}

fn result(job_id: Name, lost_s: f64) -> JobResult {
    JobResult {
        job_id,
        contended_s: lost_s,
        slowdown_s: lost_s,
        slowdown_lo_s: lost_s * 0.8,
        slowdown_hi_s: lost_s * 1.2,
        completeness: 1.0,
        judged: 1.0,
        causes: Vec::new(),
        progress: Vec::new(),
    }
}

/// Asks about each job once a second, evenly spread over the second.
///
/// # Errors
/// A server that does not answer one of the requests, or whose process is not there.
pub async fn measure(load: Load) -> Result<Value> {
    let load = Arc::new(load);
    let keys = JobKeys::of(load.keys.clone().map(Redacted::new).as_ref());
    let start = Instant::now() + Duration::from_secs(1);
    let mut clients = Vec::new();
    for number in 0..load.jobs {
        let token = keys.issue(&name(&number.to_string())?, 4_000_000_000);
        let phase = Duration::from_secs(1) * number / load.jobs;
        clients.push(tokio::spawn(client(Arc::clone(&load), number, token, start + phase)));
    }
    let from = start + Duration::from_secs(u64::from(load.warm_up_s()));
    sleep(from.saturating_duration_since(Instant::now())).await;
    let before_s = processor_s(load.pid)?;
    sleep(Duration::from_secs(u64::from(load.seconds))).await;
    let (used_s, memory_mb) = (processor_s(load.pid)? - before_s, memory_mb(load.pid)?);
    let (mut latencies, mut connections) = (Vec::new(), 0);
    for client in clients {
        let asked = client.await??;
        latencies.extend(asked.took_s);
        connections += asked.connections;
    }
    latencies.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| latencies[((latencies.len() - 1) as f64 * share) as usize];
    Ok(json!({
        "jobs": load.jobs, "requests": latencies.len(), "connections": connections, "seconds": load.seconds,
        "reconnect": load.reconnect, "paced": load.paced, "report": load.report,
        "tokens": load.keys.is_some(),
        "server_cores": used_s / f64::from(load.seconds), "server_mb": memory_mb,
        "p50_ms": at(0.5) * 1e3, "p99_ms": at(0.99) * 1e3, "longest_ms": at(1.0) * 1e3,
    }))
}

/// What a client did after the warm-up.
#[derive(Default)]
struct Asked {
    took_s: Vec<f64>,
    /// Connections that it made.
    connections: u32,
}

/// Asks once a second, or reports.
async fn client(load: Arc<Load>, number: u32, token: Option<String>, start: Instant) -> Result<Asked> {
    let authorization = token.map_or(String::new(), |token| format!("Authorization: Bearer {token}\r\n"));
    let connection = if load.reconnect { "close" } else { "keep-alive" };
    let head = format!("Host: {}\r\nConnection: {connection}\r\n{authorization}", load.address);
    let mut ticks = interval_at(start.into(), Duration::from_secs(1));
    let (mut kept, mut asked) = (None, Asked::default());
    let mut next = if load.report { number % REPORT_EVERY_S } else { 0 };
    for second in 0..load.warm_up_s() + load.seconds {
        ticks.tick().await;
        if second < next {
            continue;
        }
        let request = if load.report { report(number, &head, second) } else { question(number, &head) };
        let begun = Instant::now();
        let mut answered = match kept.take() {
            Some(stream) => exchange(stream, &request).await?,
            None => None,
        };
        let is_new = answered.is_none();
        if is_new {
            // The first request, or the server has closed the kept connection.
            answered = exchange(TcpStream::connect(&load.address).await?, &request).await?;
        }
        let (text, stream) =
            answered.with_context(|| format!("the server closed the connection of job {number}"))?;
        kept = text.contains("\r\nconnection: keep-alive\r\n").then_some(stream);
        let again_s = if load.report { reported(&text, number)? } else { answer(&text, number)? };
        next = match second {
            _ if !load.paced && !load.report => 0,
            // The first answers of all jobs come at once: the next requests are spread evenly over the time of an answer.
            0 if load.paced => 1 + number % again_s,
            _ => second + again_s,
        };
        if second >= load.warm_up_s() {
            asked.took_s.push(begun.elapsed().as_secs_f64());
            asked.connections += u32::from(is_new);
        }
    }
    Ok(asked)
}

fn question(number: u32, head: &str) -> String {
    format!("GET /api/v1/jobs/{number}/contention HTTP/1.0\r\n{head}\r\n")
}

fn report(number: u32, head: &str, count: u32) -> String {
    let body = json!([{ "name": "steps", "count": count, "rank": 0 }]).to_string();
    let length = body.len();
    format!(
        "POST /api/v1/jobs/{number}/progress HTTP/1.0\r\n{head}Content-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    )
}

/// Sends a request and reads the whole answer; `None` if the server closed the connection before.
async fn exchange(mut stream: TcpStream, request: &str) -> Result<Option<(String, TcpStream)>> {
    if stream.write_all(request.as_bytes()).await.is_err() {
        return Ok(None);
    }
    let (mut text, mut part) = (String::new(), [0; 8_192]);
    // A question is answered by one JSON object, a report by one line.
    while !text.trim_end().ends_with('}') && !text.ends_with(" taken\n") {
        let read = match stream.read(&mut part).await {
            Ok(0) | Err(_) if text.is_empty() => return Ok(None),
            read => read?,
        };
        ensure!(read > 0, "the server closed a connection after {text:?}");
        text += std::str::from_utf8(&part[..read])?;
    }
    Ok(Some((text, stream)))
}

/// Checks that an answer is that of the job; for how many seconds it may be used.
fn answer(text: &str, number: u32) -> Result<u32> {
    let state = if number.is_multiple_of(10) { "contended" } else { "clear" };
    let is_right = text.contains(&format!("\"job_id\":\"{number}\""))
        && text.contains(&format!("\"state\":\"{state}\""));
    ensure!(is_right, "job {number} was answered {text}");
    let again_s = text.split_once("\"ask_again_s\":").and_then(|(_, rest)| rest.split(',').next());
    Ok(again_s.context("the answer has no ask_again_s")?.parse::<u32>()?.max(1))
}

/// Checks that a report was taken; seconds until the next one.
fn reported(text: &str, number: u32) -> Result<u32> {
    ensure!(text.contains(" 202 "), "the report of job {number} was answered {text}");
    Ok(REPORT_EVERY_S)
}

/// Memory of a process now, in MB.
fn memory_mb(pid: u32) -> Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))
        .context("the server's process is not there")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    let kib = line.split_whitespace().next().and_then(|number| number.parse::<f64>().ok());
    Ok(kib.context("its memory is not known")? * 1_024.0 / 1e6)
}

/// Processor time that a process used so far, of the kernel's too.
fn processor_s(pid: u32) -> Result<f64> {
    let stat =
        std::fs::read_to_string(format!("/proc/{pid}/stat")).context("the server's process is not there")?;
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    let ticks =
        [11, 12].map(|at| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or_default());
    Ok(ticks.iter().sum::<f64>() / TICKS_PER_S)
}
