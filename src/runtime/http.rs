//! The health of the stages, and the threads that answer requests.

use anyhow::Context;
use schemas::HealthLimits;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The latest report of each stage.
#[derive(Clone, Debug)]
pub struct Health {
    reports: Arc<Mutex<BTreeMap<&'static str, Report>>>,
    /// A stage that did nothing for so long does not live: its loop turns several times a second.
    stalled: Duration,
}

#[derive(Clone, Debug)]
struct Report {
    alive: Instant,
    trouble: Option<String>,
}

impl Health {
    /// Without any stage yet.
    pub fn new(limits: &HealthLimits) -> Health {
        Health { reports: Arc::default(), stalled: Duration::from_secs_f64(limits.stalled_s) }
    }

    /// Reports that the stage works, or `trouble`: in one sentence why not.
    pub fn report(&self, stage: &'static str, trouble: Option<String>) {
        let report = Report { alive: Instant::now(), trouble };
        self.reports.lock().unwrap_or_else(PoisonError::into_inner).insert(stage, report);
    }

    /// Removes what waits no more: it sends no sign of life from here on.
    pub fn forget(&self, stage: &'static str) {
        self.reports.lock().unwrap_or_else(PoisonError::into_inner).remove(stage);
    }

    /// Sign of life of the stage; its trouble is unchanged.
    pub fn alive(&self, stage: &'static str) {
        let mut reports = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
        let report = reports.entry(stage).or_insert(Report { alive: Instant::now(), trouble: None });
        report.alive = Instant::now();
    }

    /// The health as text: with `ready` including troubles, else only whether every stage turns.
    ///
    /// # Errors
    /// What is wrong, a line each.
    pub fn text(&self, ready: bool) -> Result<String, String> {
        let reports = self.reports.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut troubles = Vec::new();
        for (stage, report) in &reports {
            if report.alive.elapsed() > self.stalled {
                troubles.push(format!("{stage}: silent for {} s", report.alive.elapsed().as_secs()));
            } else if let Some(trouble) = report.trouble.as_ref().filter(|_| ready) {
                troubles.push(format!("{stage}: {trouble}"));
            }
        }
        if troubles.is_empty() { Ok("ok\n".into()) } else { Err(troubles.join("\n") + "\n") }
    }
}

/// Threads that answer requests.
const THREADS: usize = 2;

/// The runtime of the HTTP server.
///
/// # Errors
/// Errors of the system's threads.
pub fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(THREADS).thread_name("http").max_blocking_threads(8).enable_all();
    runtime.build().context("the HTTP server's runtime cannot be started")
}

#[cfg(test)]
mod tests {
    use super::*;
    use configuration::RunConfig;

    #[test]
    fn wait_for_kafka_that_ended_is_no_trouble() {
        let health = Health::new(&RunConfig::load(None).unwrap().health);
        health.report("kafka", Some("no broker answers".to_string()));
        assert_eq!(health.text(true), Err("kafka: no broker answers\n".to_string()));
        assert!(health.text(false).is_ok());
        health.forget("kafka");
        health.alive("detector");
        assert_eq!(health.text(true), Ok("ok\n".to_string()));
        assert_eq!(health.reports.lock().unwrap().len(), 1, "it would be silent after a minute");
    }
}
