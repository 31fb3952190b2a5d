//! Migrations, TimescaleDB, policies and tables, judged.

use crate::facts::database::Refusal;
use crate::finding::{Finding, Group, Notes};
use crate::words::{bytes, few, many};
use configuration::RunConfig;
use store::postgres::{PolicyFacts, ServerFacts};

/// Migrations, TimescaleDB, policies, sizes. The latest run of the jobs `failing` failed.
pub fn check(config: &RunConfig, tiers: &ServerFacts, failing: &[i32]) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Database, "tiers");
    migrations(tiers, &mut notes);
    match &tiers.timescale_version {
        Some(version) => {
            notes.ok(format!("TimescaleDB {version}"));
            if tiers.schema_version.is_some() && tiers.pending.is_empty() {
                policies(config, tiers, failing, &mut notes);
            }
        }
        None if tiers.pending.iter().any(|name| is_timescale(name)) => {
            notes.warn("TimescaleDB is loaded by the server, but not used yet", "tailback migrate");
        }
        None => notes.warn(
            "plain PostgreSQL: no compression and no continuous aggregates, and old rows are deleted one by one",
            "install the extension (shared_preload_libraries = 'timescaledb'), restart the server, and run `tailback migrate`",
        ),
    }
    for table in &tiers.tables {
        let ratio =
            table.compression_ratio.map_or(String::new(), |ratio| format!(", compressed {ratio:.1} times"));
        notes.ok(format!("{}: {}{ratio}", table.table, bytes(table.bytes)));
    }
    notes.done()
}

/// What it means that the schema cannot be read.
pub fn unreadable(refusal: &Refusal) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Database, "tiers");
    let mend = if refusal.mend.is_empty() { "follow the error, then run doctor again" } else { refusal.mend };
    notes.error(format!("the schema cannot be judged: {}", refusal.why), mend);
    notes.done()
}

fn migrations(tiers: &ServerFacts, notes: &mut Notes) {
    let missing = || format!("{}: {}", many(tiers.pending.len(), "migration"), few(&tiers.pending, 3));
    match (&tiers.schema_version, tiers.pending.as_slice()) {
        (None, _) => notes.error("the database has no tables of Tailback yet", "tailback migrate"),
        (Some(version), []) => notes.ok(format!("the schema is up to date ({version})")),
        // Without those of TimescaleDB the stages run.
        (Some(_), pending) if pending.iter().all(|name| is_timescale(name)) => {
            notes.warn(format!("not applied: {}", missing()), "tailback migrate");
        }
        (Some(_), _) => notes.error(format!("not applied: {}", missing()), "tailback migrate"),
    }
}

fn is_timescale(name: &str) -> bool {
    store::migrations::POSTGRES_MIGRATIONS
        .iter()
        .any(|migration| migration.name == name && migration.timescale)
}

/// The policies that the configuration requires: what each does, and to which table.
fn wanted(config: &RunConfig) -> Vec<(&'static str, &'static str)> {
    let days = &config.database;
    let mut wanted = vec![
        ("compression", "signal_rows"),
        ("compression", "signal_buckets"),
        ("compression", "signal_minutes"),
        ("compression", "signal_hours"),
        ("compression", "place_buckets"),
        ("continuous_aggregate", "places_10s"),
        ("continuous_aggregate", "places_1min"),
        ("continuous_aggregate", "places_1h"),
        ("compression", "places_10s"),
        ("compression", "places_1min"),
        ("compression", "places_1h"),
    ];
    let kept = [
        (days.raw_days, "signal_rows"),
        (days.ten_second_days, "signal_buckets"),
        (days.minute_days, "signal_minutes"),
        (days.raw_days, "place_buckets"),
        (days.ten_second_days, "places_10s"),
        (days.minute_days, "places_1min"),
    ];
    wanted.extend(kept.into_iter().filter(|(days, _)| *days > 0).map(|(_, table)| ("retention", table)));
    wanted
}

fn policies(config: &RunConfig, tiers: &ServerFacts, failing: &[i32], notes: &mut Notes) {
    let missing = missing(config, tiers);
    if !missing.is_empty() {
        notes.warn(format!("policies are missing: {}", few(&missing, 4)), "tailback migrate");
    }
    let named =
        |policy: &&PolicyFacts| format!("{} of {} (job {})", policy.policy, policy.table, policy.job_id);
    let off: Vec<&PolicyFacts> = tiers.policies.iter().filter(|policy| !policy.scheduled).collect();
    if let Some(first) = off.first() {
        notes.warn(
            format!("policies are switched off: {}", few(off.iter().map(named), 4)),
            format!("SELECT alter_job({}, scheduled => true); for each", first.job_id),
        );
    }
    let failed: Vec<&PolicyFacts> =
        tiers.policies.iter().filter(|policy| failing.contains(&policy.job_id)).collect();
    if let Some(first) = failed.first() {
        let said = first.last_failure.as_deref().unwrap_or("nothing");
        notes.warn(
            format!("the latest run failed of {}; the first error: {said}", few(failed.iter().map(named), 4)),
            format!("CALL run_job({}); shows the error again, or passes", first.job_id),
        );
    }
    if missing.is_empty() && off.is_empty() && failed.is_empty() {
        notes.ok(format!("{} policies are present, and their latest runs passed", tiers.policies.len()));
    }
}

/// Policies that the configuration wants, and that are not there.
fn missing(config: &RunConfig, tiers: &ServerFacts) -> Vec<String> {
    let there = |(kind, table): &(&str, &str)| {
        let same = |policy: &PolicyFacts| policy.policy.ends_with(kind) && policy.table == *table;
        tiers.policies.iter().any(same)
    };
    let missing = wanted(config).into_iter().filter(|wanted| !there(wanted));
    missing.map(|(kind, table)| format!("{kind} of {table}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Level;

    fn config() -> RunConfig {
        RunConfig::load(None).unwrap()
    }

    #[test]
    fn plain_postgresql_is_reported_with_its_limits() {
        let plain = ServerFacts { schema_version: Some("0001_schema".into()), ..ServerFacts::default() };
        let found = check(&config(), &plain, &[]);
        assert_eq!([found[0].level, found[1].level], [Level::Ok, Level::Warn]);
        assert!(found[1].what.starts_with("plain PostgreSQL: no compression"));
    }

    #[test]
    fn a_database_that_was_not_migrated_says_what_to_type() {
        let new = ServerFacts { pending: vec!["0001_schema"], ..ServerFacts::default() };
        let found = check(&config(), &new, &[]);
        assert_eq!((found[0].level, found[0].mend.as_str()), (Level::Error, "tailback migrate"));
    }

    #[test]
    fn policies_that_are_missing_off_or_failing_are_named() {
        let policy = PolicyFacts {
            job_id: 1_000,
            policy: "policy_compression".into(),
            table: "signal_rows".into(),
            failures: 2,
            last_failure: Some("out of disk".into()),
            scheduled: false,
        };
        let some = ServerFacts {
            timescale_version: Some("2.22.1".into()),
            schema_version: Some("0004_places".into()),
            policies: vec![policy],
            ..ServerFacts::default()
        };
        let text = format!("{:?}", check(&config(), &some, &[1_000]));
        assert!(text.contains("policies are missing: compression of signal_buckets"), "{text}");
        assert!(text.contains("switched off: policy_compression of signal_rows (job 1000)"), "{text}");
        assert!(text.contains("out of disk") && text.contains("CALL run_job(1000)"), "{text}");
    }
}
