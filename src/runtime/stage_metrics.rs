//! What is measured while the pipeline runs, in Prometheus' conventions.

use super::clock;
use super::partition_state::PartitionState;
use aggregator::Outcome;
use metrics::{
    Counter, Gauge, Histogram, counter, describe_counter, describe_gauge, describe_histogram, gauge,
    histogram,
};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};
use schemas::{DropReason, HealthLimits};
use stages::stage::{Counts, Load, Stage};
use std::collections::BTreeMap;
use store::storage_policy::Passed;

/// Bounds of the histogram from sample to commit, in seconds; close to each other around the two seconds that it is to take.
const LATENCY_S: [f64; 26] = [
    0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.1, 1.3, 1.5, 1.7, 1.9, 2.1, 2.3, 2.6, 3.0, 3.5, 4.0, 5.0, 6.0, 8.0, 10.0,
    15.0, 30.0, 60.0, 300.0, 3600.0,
];
/// Bounds of the histogram of commits, in seconds.
const COMMIT_S: [f64; 14] = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0, 5.0, 10.0, 60.0];

/// Installs the recorder; what comes back writes the text of `/metrics`.
///
/// # Errors
/// A recorder that is installed already.
pub fn install() -> Result<PrometheusHandle, BuildError> {
    let builder = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Full("tailback_sample_to_commit_seconds".into()), &LATENCY_S)?
        .set_buckets_for_metric(Matcher::Full("tailback_commit_seconds".into()), &COMMIT_S)?;
    let handle = builder.install_recorder()?;
    describe();
    alerts::receivers::describe();
    Ok(handle)
}

fn describe() {
    describe_counter!("tailback_raw_rows_total", "LDMS rows read, by outcome");
    describe_counter!("tailback_rows_total", "Rows of counters that reached the models, by stage");
    describe_counter!("tailback_dropped_rows_total", "Rows and intervals not used, by reason");
    describe_counter!(
        "tailback_rejected_messages_total",
        "Messages and rows passed over: undecodable, too large for Kafka, refused by PostgreSQL; by topic or table, and reason"
    );
    describe_counter!(
        "tailback_raw_topics_created_again_total",
        "Partitions of raw topics that were found deleted and created again"
    );
    describe_counter!("tailback_commits_total", "Transactions, by outcome");
    describe_counter!(
        "tailback_signals_total",
        "Signals found, whether or not the storage policy keeps them"
    );
    describe_counter!("tailback_stored_signals_total", "Signals written as rows");
    describe_gauge!("tailback_consumer_lag_messages", "Messages not read yet, by stage");
    describe_gauge!("tailback_health_limit", "Limits of the section [health], by name");
    describe_gauge!("tailback_ticks_behind_seconds", "Age of the newest row that a stage has taken");
    describe_gauge!("tailback_waiting_rows", "Rows that wait for slower raw partitions");
    describe_gauge!("tailback_result_bytes", "Results that wait for the database");
    describe_gauge!("tailback_state_bytes", "Size of the newest written state, by stage and partition");
    describe_gauge!("tailback_partitions", "Partitions held, by stage");
    describe_gauge!("tailback_silent_sources", "Sources of rows that are silent, by stage");
    describe_counter!(
        "tailback_forced_link_seconds_total",
        "Seconds of links processed before every detector partition had reported them, by stage"
    );
    describe_gauge!("tailback_series", "Series known, by stage");
    describe_histogram!("tailback_sample_to_commit_seconds", "From the sampler's timestamp to the commit");
    describe_histogram!("tailback_commit_seconds", "Length of a transaction");
}

/// The limits of Tailback's own condition, so that rules of Prometheus name none.
pub fn limits(limits: &HealthLimits) {
    for limit in limits.all() {
        gauge!("tailback_health_limit", "name" => limit.name).set(limit.above);
    }
}

/// Figures of one stage.
#[derive(Clone)]
pub struct StageMetrics {
    stage: &'static str,
    used: Counter,
    jobs: Counter,
    skipped: Counter,
    read: Counter,
    rows: Counter,
    signals: Counter,
    stored: Counter,
    behind: Gauge,
    waiting: Gauge,
    result_bytes: Gauge,
    partitions: Gauge,
    series: Gauge,
    silent: Gauge,
    forced: Counter,
    to_commit: Histogram,
    commit: Histogram,
}

impl StageMetrics {
    /// Figures of `stage`.
    pub fn of(stage: &'static str) -> StageMetrics {
        StageMetrics {
            stage,
            used: counter!("tailback_raw_rows_total", "outcome" => "used"),
            jobs: counter!("tailback_raw_rows_total", "outcome" => "jobs"),
            skipped: counter!("tailback_raw_rows_total", "outcome" => "empty"),
            read: counter!("tailback_raw_rows_read_total"),
            rows: counter!("tailback_rows_total", "stage" => stage),
            signals: counter!("tailback_signals_total"),
            stored: counter!("tailback_stored_signals_total"),
            behind: gauge!("tailback_ticks_behind_seconds", "stage" => stage),
            waiting: gauge!("tailback_waiting_rows", "stage" => stage),
            result_bytes: gauge!("tailback_result_bytes", "stage" => stage),
            partitions: gauge!("tailback_partitions", "stage" => stage),
            series: gauge!("tailback_series", "stage" => stage),
            silent: gauge!("tailback_silent_sources", "stage" => stage),
            forced: counter!("tailback_forced_link_seconds_total", "stage" => stage),
            to_commit: histogram!("tailback_sample_to_commit_seconds"),
            commit: histogram!("tailback_commit_seconds", "stage" => stage),
        }
    }

    /// A raw row and its outcome.
    pub fn row(&self, outcome: Outcome) {
        match outcome {
            Outcome::Row => self.used.increment(1),
            Outcome::Rows(rows, reason) => {
                self.used.increment(rows as u64);
                reason.into_iter().for_each(dropped);
            }
            Outcome::Jobs(_) => self.jobs.increment(1),
            Outcome::Skipped => self.skipped.increment(1),
            Outcome::Dropped(reason) => dropped(reason),
            Outcome::NeedsSchema(_) => {}
        }
    }

    /// Raw rows read since the last call.
    pub fn rows_read(&self, rows: usize) {
        self.read.increment(rows as u64);
    }

    /// The state of the partitions that a stage holds.
    pub fn held<S: Stage>(&self, held: &BTreeMap<i32, PartitionState<S>>) {
        let (mut all, mut counts) = (Load::default(), Counts::default());
        for (load, of_one) in held.values().map(|held| (held.stage.load(), held.stage.counts())) {
            all.rows += load.rows;
            all.waiting += load.waiting;
            all.result_bytes += load.result_bytes;
            all.newest_s = all.newest_s.into_iter().chain(load.newest_s).reduce(f64::max);
            counts.series += of_one.series;
            counts.silent += of_one.silent;
            counts.forced_seconds += of_one.forced_seconds;
        }
        self.rows.absolute(all.rows);
        self.waiting.set(all.waiting as f64);
        self.result_bytes.set(all.result_bytes as f64);
        self.series.set(counts.series as f64);
        self.silent.set(counts.silent as f64);
        self.forced.absolute(counts.forced_seconds);
        self.partitions.set(held.len() as f64);
        if let Some(newest_s) = all.newest_s {
            self.behind.set(clock::now().seconds() - newest_s);
        }
    }

    /// A transaction that was written, with the signals in it.
    pub fn committed<'a>(&self, seconds: f64, stored: u64, signals: impl Iterator<Item = &'a Passed>) {
        let now_s = clock::now().seconds();
        self.commit.record(seconds);
        self.stored.increment(stored);
        counter!("tailback_commits_total", "stage" => self.stage, "outcome" => "written").increment(1);
        for of_part in signals {
            self.signals.increment(of_part.count);
            of_part.sampled.iter().for_each(|time| self.to_commit.record(now_s - time.seconds()));
        }
    }

    /// A transaction that failed and is tried again.
    pub fn commit_failed(&self) {
        counter!("tailback_commits_total", "stage" => self.stage, "outcome" => "retried").increment(1);
    }

    /// The size of a state that was written.
    pub fn state(&self, partition: i32, bytes: usize) {
        let (stage, partition) = (self.stage, partition.to_string());
        gauge!("tailback_state_bytes", "stage" => stage, "partition" => partition).set(bytes as f64);
    }

    /// Drops of a partition, since the state began.
    pub fn drops(&self, partition: i32, drops: &schemas::DropCounts) {
        for (reason, count) in drops.nonzero() {
            let partition = partition.to_string();
            let labels = [("reason", reason.name().to_string()), ("partition", partition)];
            counter!("tailback_dropped_rows_total", &labels).absolute(count);
        }
    }

    /// Messages of a partition that were not read yet.
    pub fn lag(&self, messages: i64) {
        gauge!("tailback_consumer_lag_messages", "stage" => self.stage).set(messages as f64);
    }
}

fn dropped(reason: DropReason) {
    counter!("tailback_raw_rows_total", "outcome" => "dropped", "reason" => reason.name()).increment(1);
}

#[cfg(test)]
mod tests {
    use configuration::RunConfig;

    const RULES: &str = include_str!("../../deploy/prometheus/tailback.rules.yaml");

    /// Words of the rules between `begin` and any sign that no name has.
    fn words(begin: &str) -> impl Iterator<Item = &'static str> {
        RULES
            .split(begin)
            .skip(1)
            .filter_map(|rest| rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).next())
    }

    #[test]
    fn rules_of_prometheus_name_metrics_and_limits_that_exist() {
        let described = concat!(
            include_str!("stage_metrics.rs"),
            include_str!("../../detector/alerts/src/receivers/notice_metrics.rs")
        );
        let metrics: Vec<&str> = words("tailback_").collect();
        assert!(metrics.len() >= 10, "{metrics:?}");
        for metric in metrics {
            assert!(described.contains(&format!("\"tailback_{metric}\"")), "tailback_{metric}");
        }
        let limits = RunConfig::load(None).unwrap().health.all();
        for name in words("tailback_health_limit{name=\"") {
            assert!(limits.iter().any(|limit| limit.name == name), "{name}");
        }
    }
}
