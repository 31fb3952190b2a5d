//! Heartbeats: an alert that fires while the monitor works. When it expires at the receiver, the monitor is dead.
//!
//! The monitor works if every partition of the detector committed lately, and the roll-up, where it has rules.

use super::deliver::{Clock, DeliverError};
use super::http::Refusal;
use super::receiver::{Kind, Receiver};
use super::{alertmanager, client, notice_metrics, webhook};
use reqwest::Client;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use store::outage::Outage;
use store::outbox::{OutboxError, OutboxStore, StageCommit};

/// Name of the alert in Alertmanager.
const ALERT: &str = "tailback_heartbeat";
/// Version of the JSON that receivers of the kind heartbeat get.
const VERSION: u32 = 1;
/// Longest time between two looks while there is no heartbeat, in seconds.
const RETRY_S: f64 = 5.0;

/// When the monitor works.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Working {
    /// Partitions of the detector.
    pub partitions: usize,
    /// Seconds within which each must have committed.
    pub within_s: f64,
    /// Whether the roll-up must have committed too: it looks at the rules.
    pub has_rules: bool,
}

impl Working {
    /// Why it does not work; `None` if it does.
    pub fn trouble(&self, commits: &[StageCommit]) -> Option<String> {
        let of = |stage: &'static str| commits.iter().filter(move |commit| commit.stage == stage);
        let is_late = |commit: &&StageCommit| commit.age_s.is_none_or(|age_s| age_s > self.within_s);
        if let Some(late) = of("detector").find(is_late) {
            return Some(format!("detector/{} committed nothing for {}", late.partition, span(late.age_s)));
        }
        let known = of("detector").count();
        if known < self.partitions {
            return Some(format!("{known} of {} partitions of the detector are read", self.partitions));
        }
        let latest = of("rollup").filter_map(|commit| commit.age_s).min_by(f64::total_cmp);
        let is_late = latest.is_none_or(|age_s| age_s > self.within_s);
        (self.has_rules && is_late).then(|| format!("the roll-up committed nothing for {}", span(latest)))
    }
}

fn span(age_s: Option<f64>) -> String {
    age_s.map_or("its whole life".to_string(), |age_s| format!("{age_s:.0} s"))
}

/// How heartbeats are sent.
pub struct Heartbeats<'a> {
    /// To whom; receivers that get none are passed over.
    pub receivers: &'a [Receiver],
    /// Whether Alertmanagers get them.
    pub to_alertmanagers: bool,
    /// Name of this installation, a label.
    pub group: &'a str,
    /// When the monitor works.
    pub working: Working,
    /// The clock.
    pub clock: Clock,
}

/// Heartbeats of one receiver.
struct Heartbeat {
    receiver: Receiver,
    client: Client,
    outbox: OutboxStore,
    group: String,
    working: Working,
    clock: Clock,
    /// When the first of this process was sent.
    since_s: Option<f64>,
    outage: Outage,
}

/// Starts a task for each receiver of heartbeats; they end with `stop`.
///
/// # Errors
/// A certificate that cannot be read, a database that cannot be opened.
pub fn beat_all<F: Future<Output = ()> + Send + 'static>(
    heartbeats: &Heartbeats<'_>,
    outbox: impl Fn() -> Result<OutboxStore, OutboxError>,
    stop: impl Fn() -> F,
) -> Result<(), DeliverError> {
    for receiver in heartbeats.receivers {
        let wanted = match receiver.kind {
            Kind::Alertmanager => heartbeats.to_alertmanagers,
            Kind::Heartbeat => true,
            Kind::Webhook | Kind::Slurm => false,
        };
        if !wanted {
            continue;
        }
        let heartbeat = Heartbeat {
            client: client::client(receiver)?,
            receiver: receiver.clone(),
            outbox: outbox()?,
            group: heartbeats.group.to_string(),
            working: heartbeats.working,
            clock: Arc::clone(&heartbeats.clock),
            since_s: None,
            outage: Outage::new("sending of heartbeats").of_receiver(&receiver.name),
        };
        tokio::spawn(heartbeat.run(stop()));
    }
    Ok(())
}

impl Heartbeat {
    async fn run(mut self, stop: impl Future<Output = ()>) {
        tokio::pin!(stop);
        loop {
            let outcome = self.turn().await;
            let wait_s = match outcome {
                Ok(()) => {
                    self.outage.works();
                    self.receiver.resend_s
                }
                Err(error) => {
                    self.outage.failed(&error);
                    self.receiver.resend_s.min(RETRY_S)
                }
            };
            tokio::select! {
                () = tokio::time::sleep(Duration::from_secs_f64(wait_s)) => {}
                () = &mut stop => return,
            }
        }
    }

    /// Sends a heartbeat if the monitor works.
    async fn turn(&mut self) -> Result<(), String> {
        let commits = self.outbox.stage_commits().await.map_err(|error| error.to_string())?;
        if let Some(trouble) = self.working.trouble(&commits) {
            return Err(trouble);
        }
        let now_s = (self.clock)();
        let since_s = *self.since_s.get_or_insert(now_s);
        let sent = match self.receiver.kind {
            Kind::Alertmanager => {
                let alert = self.alert(since_s, now_s);
                alertmanager::post(&self.client, &self.receiver, &alert, now_s).await
            }
            _ => self.post(now_s).await,
        };
        let outcome = if sent.is_ok() { "heartbeat" } else { "heartbeat_failed" };
        notice_metrics::tried(&self.receiver.name, outcome);
        sent.map_err(|refusal| refusal.why)
    }

    fn alert(&self, since_s: f64, now_s: f64) -> Value {
        let expires_s = alertmanager::expires_s(&self.receiver, now_s);
        json!({
            "labels": { "alertname": ALERT, "severity": "none", "about": "monitor", "group": self.group },
            "annotations": {
                "summary": "Tailback works",
                "description": "It fires while every partition of the detector commits. Route it to a receiver that reports its absence.",
            },
            "startsAt": alertmanager::rfc3339(since_s.min(now_s)),
            "endsAt": alertmanager::rfc3339(expires_s),
            "generatorURL": "",
        })
    }

    async fn post(&mut self, now_s: f64) -> Result<(), Refusal> {
        let expires_s = alertmanager::expires_s(&self.receiver, now_s);
        let body = json!({
            "version": VERSION, "kind": "heartbeat", "group": self.group, "time_s": now_s, "expires_s": expires_s,
        });
        let key = format!("heartbeat.{}.{now_s:.0}", self.group);
        webhook::post(&self.client, &self.receiver, (&key, VERSION), body.to_string().into_bytes(), now_s)
            .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(stage: &str, partition: i64, age_s: Option<f64>) -> StageCommit {
        StageCommit { stage: stage.to_string(), partition, age_s }
    }

    #[test]
    fn every_partition_of_the_detector_must_commit() {
        let working = Working { partitions: 2, within_s: 30.0, has_rules: true };
        let rollup = || [commit("rollup", 0, Some(500.0)), commit("rollup", 1, Some(1.0))];
        let trouble = |second: StageCommit| {
            let mut commits = vec![commit("detector", 0, Some(1.0)), second];
            commits.extend(rollup());
            working.trouble(&commits)
        };
        assert_eq!(trouble(commit("detector", 1, Some(29.0))), None);
        let late = trouble(commit("detector", 1, Some(31.0))).unwrap();
        assert!(late.contains("detector/1 committed nothing for 31 s"), "{late}");
        assert!(trouble(commit("detector", 1, None)).is_some());
        let few = trouble(commit("aggregator", 1, Some(1.0))).unwrap();
        assert!(few.contains("1 of 2 partitions"), "{few}");
    }

    #[test]
    fn rollup_must_commit_where_it_has_rules() {
        let commits = [commit("detector", 0, Some(1.0)), commit("rollup", 0, Some(45.0))];
        let working = |has_rules| Working { partitions: 1, within_s: 30.0, has_rules };
        assert!(working(true).trouble(&commits).unwrap().contains("roll-up"));
        assert_eq!(working(false).trouble(&commits), None);
    }
}
