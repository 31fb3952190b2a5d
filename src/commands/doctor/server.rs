//! The database server, judged.

use super::database::{DatabaseFacts, Server};
use super::finding::{Finding, Group, Notes};
use super::words::{bytes, few, many, span};
use crate::config::RunConfig;
use store::postgres::{PolicyFacts, ServerFacts};

/// Oldest version that the migrations work on.
const VERSION_LEAST: i32 = 150_000;

/// The server as such: version, rights, safety, settings.
pub fn server(config: &RunConfig, server: &Server) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Database, "server");
    let major = server.version / 10_000;
    match server.version >= VERSION_LEAST {
        true => notes.ok(format!("PostgreSQL {major} answers; the database holds {}", bytes(server.bytes))),
        false => notes.error(format!("PostgreSQL {major} is too old"), "upgrade the server to 15 or newer"),
    }
    if server.standby {
        notes.error("the server is a standby: nothing can be written", "let database.url name the primary");
    }
    if !server.crash_safe {
        notes.error(
            "fsync or full_page_writes is off: a crash may destroy the database",
            "ALTER SYSTEM SET fsync = on; ALTER SYSTEM SET full_page_writes = on; SELECT pg_reload_conf();",
        );
    }
    if server.connections * 10 > server.connections_max * 9 {
        notes.warn(
            format!("{} of {} connections are in use", server.connections, server.connections_max),
            "raise max_connections, or end idle clients",
        );
    }
    if server.ahead_s.abs() > config.doctor.skew_warn_s.max(0.5) {
        let side = if server.ahead_s > 0.0 { "ahead of" } else { "behind" };
        notes.warn(
            format!("the server's clock is {} {side} this machine's", span(server.ahead_s)),
            "`chronyc tracking` on both machines",
        );
    }
    rights(server, &mut notes);
    settings(config, server, &mut notes);
    notes.done()
}

fn rights(server: &Server, notes: &mut Notes) {
    let missing: Vec<&str> = ["tailback_reader", "tailback_user", "tailback_writer"]
        .into_iter()
        .filter(|role| server.roles.iter().all(|there| there != role))
        .collect();
    if !missing.is_empty() {
        notes.error(
            format!("roles are missing: {}", few(&missing, 3)),
            "tailback migrate, as a user that may create roles",
        );
    } else if server.may_write {
        notes.ok(format!("the roles exist, and {} may write results", server.user));
    } else {
        notes.error(
            format!("{} may not write results", server.user),
            format!(
                "as the owner of the database: GRANT tailback_writer TO \"{}\";",
                server.user.replace('"', "\"\"")
            ),
        );
    }
}

fn settings(config: &RunConfig, server: &Server, notes: &mut Notes) {
    match config.database.synchronous_commit {
        true => notes.ok("each commit waits for the server's disk (database.synchronous_commit)"),
        false => notes.ok(
            "commits do not wait for the server's disk: a crash of it costs the last second of work, which is done again",
        ),
    }
    let (buffers, wal) = (server.shared_buffers, server.max_wal_size);
    let settings = format!("shared_buffers {}, max_wal_size {}", bytes(buffers), bytes(wal));
    match buffers < 256 << 20 || wal < 2 << 30 {
        true => notes.advise(
            format!("{settings}: less than a large machine needs"),
            "for more than a few thousand nodes: ALTER SYSTEM SET shared_buffers = '2GB' (needs a restart), max_wal_size = '8GB'",
        ),
        false => notes.ok(settings),
    }
}

/// Migrations, TimescaleDB, policies, sizes.
pub fn tiers(config: &RunConfig, facts: &DatabaseFacts) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Database, "tiers");
    let tiers = match &facts.tiers {
        Ok(tiers) => tiers,
        Err(why) => {
            notes.error(
                format!("the schema cannot be judged: {why}"),
                "follow the error, then run doctor again",
            );
            return notes.done();
        }
    };
    migrations(tiers, &mut notes);
    match &tiers.timescale_version {
        Some(version) => {
            notes.ok(format!("TimescaleDB {version}"));
            if tiers.schema_version.is_some() && tiers.pending.is_empty() {
                policies(config, tiers, &facts.failing, &mut notes);
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
    let wanted = wanted(config);
    let there = |(kind, table): &(&str, &str)| {
        let same = |policy: &PolicyFacts| policy.policy.ends_with(kind) && policy.table == *table;
        tiers.policies.iter().any(same)
    };
    let missing: Vec<String> = wanted
        .iter()
        .filter(|wanted| !there(wanted))
        .map(|(kind, table)| format!("{kind} of {table}"))
        .collect();
    if !missing.is_empty() {
        notes.warn(format!("policies are missing: {}", few(&missing, 4)), "tailback migrate");
    }
    let named =
        |policy: &&PolicyFacts| format!("{} of {} (job {})", policy.policy, policy.table, policy.job_id);
    let off: Vec<&PolicyFacts> = tiers.policies.iter().filter(|policy| !policy.scheduled).collect();
    if let Some(first) = off.first() {
        notes.warn(
            format!("policies are switched off: {}", few(&off.iter().map(named).collect::<Vec<_>>(), 4)),
            format!("SELECT alter_job({}, scheduled => true); for each", first.job_id),
        );
    }
    let failed: Vec<&PolicyFacts> =
        tiers.policies.iter().filter(|policy| failing.contains(&policy.job_id)).collect();
    if let Some(first) = failed.first() {
        let said = first.last_failure.as_deref().unwrap_or("nothing");
        notes.warn(
            format!(
                "the latest run failed of {}; the first error: {said}",
                few(&failed.iter().map(named).collect::<Vec<_>>(), 4)
            ),
            format!("CALL run_job({}); shows the error again, or passes", first.job_id),
        );
    }
    if missing.is_empty() && off.is_empty() && failed.is_empty() {
        notes.ok(format!("{} policies are present, and their latest runs passed", tiers.policies.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::finding::Level;

    fn config() -> RunConfig {
        RunConfig::load(None).unwrap()
    }

    fn good() -> Server {
        Server {
            version: 150_004,
            user: "tailback".into(),
            connections_max: 100,
            crash_safe: true,
            roles: ["tailback_reader", "tailback_user", "tailback_writer"].map(String::from).to_vec(),
            may_write: true,
            ..Server::default()
        }
    }

    fn facts(tiers: ServerFacts, failing: Vec<i32>) -> DatabaseFacts {
        let (positions, samplers) = (Ok(Vec::new()), Ok(Vec::new()));
        DatabaseFacts {
            unknown_nodes: Ok(Vec::new()),
            never_seen: Ok(Vec::new()),
            ports: Ok(Vec::new()),
            server: good(),
            tiers: Ok(tiers),
            failing,
            positions,
            samplers,
            dropped: Ok(Vec::new()),
            rejected: Ok(Vec::new()),
        }
    }

    fn worst(findings: &[Finding]) -> Level {
        findings.iter().map(|finding| finding.level).max().unwrap()
    }

    #[test]
    fn what_makes_the_server_useless_is_an_error() {
        assert_eq!(worst(&server(&config(), &good())), Level::Ok);
        let broken = [
            Server { version: 140_000, ..good() },
            Server { standby: true, ..good() },
            Server { crash_safe: false, ..good() },
            Server { may_write: false, ..good() },
            Server { roles: Vec::new(), ..good() },
        ];
        for server_facts in broken {
            assert_eq!(worst(&server(&config(), &server_facts)), Level::Error, "{server_facts:?}");
        }
    }

    #[test]
    fn plain_postgresql_is_reported_with_its_limits() {
        let plain = ServerFacts { schema_version: Some("0001_schema".into()), ..ServerFacts::default() };
        let found = tiers(&config(), &facts(plain, Vec::new()));
        assert_eq!([found[0].level, found[1].level], [Level::Ok, Level::Warn]);
        assert!(found[1].what.starts_with("plain PostgreSQL: no compression"));
    }

    #[test]
    fn a_database_that_was_not_migrated_says_what_to_type() {
        let found = tiers(
            &config(),
            &facts(ServerFacts { pending: vec!["0001_schema"], ..ServerFacts::default() }, vec![]),
        );
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
        let text = format!("{:?}", tiers(&config(), &facts(some, vec![1_000])));
        assert!(text.contains("policies are missing: compression of signal_buckets"), "{text}");
        assert!(text.contains("switched off: policy_compression of signal_rows (job 1000)"), "{text}");
        assert!(text.contains("out of disk") && text.contains("CALL run_job(1000)"), "{text}");
    }
}
