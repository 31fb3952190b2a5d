//! A row of the minute tier takes as much disk as `docs/benchmarks.md` gives: runs its command on a new database.
use serde_json::Value;
use std::io::Write;
use std::process::{Command, Stdio};
use store::migrations::POSTGRES_MIGRATIONS;
use support::database::server;
use support::paths::root;
use support::skip::skip;

/// Output of psql; each statement is a transaction.
fn psql(url: &str, statements: &[&str]) -> String {
    let mut psql = Command::new("psql");
    psql.args([url, "-XAtq", "-v", "ON_ERROR_STOP=1"]).env("PGOPTIONS", "-c client_min_messages=warning");
    let output = psql.args(statements.iter().flat_map(|sql| ["-c", sql])).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_string()
}

/// Applies statements as one transaction; they are too long for an argument.
fn apply(url: &str, statements: &str) {
    let mut psql = Command::new("psql");
    psql.args([url, "-XAtq", "-v", "ON_ERROR_STOP=1", "-o", "/dev/null", "-1", "-f", "-"]);
    psql.env("PGOPTIONS", "-c client_min_messages=warning").stdin(Stdio::piped());
    let mut running = psql.spawn().unwrap();
    running.stdin.take().unwrap().write_all(statements.as_bytes()).unwrap();
    assert!(running.wait().unwrap().success());
}

/// Creates the same tables as `tailback migrate`.
fn migrate(url: &str) {
    let of_migrations = root().join("schemas/store/sql/postgres/schema_migrations.sql");
    let first = std::fs::read_to_string(of_migrations).unwrap();
    psql(url, &["CREATE EXTENSION timescaledb", &first]);
    for migration in POSTGRES_MIGRATIONS {
        let known = format!(
            "INSERT INTO schema_migrations (version, name, checksum) VALUES (0, '{}', 0)",
            migration.name
        );
        apply(url, migration.sql);
        psql(url, &[&known]);
    }
}

/// Size of the tier in docs/benchmarks.md, in GB a day, beside its command.
fn documented_gb(command: &str) -> f64 {
    let readme = std::fs::read_to_string(root().join("docs/benchmarks.md")).unwrap();
    let line = readme.lines().find(|line| line.contains(&format!("`{command}`"))).unwrap();
    let figure = line.split('|').nth(2).unwrap().trim();
    figure.strip_suffix(" GB a day").unwrap().parse().unwrap()
}

#[test]
fn row_of_the_minute_tier_takes_the_documented_space() {
    let Some(server) = server() else { return };
    if psql(server, &["SELECT current_setting('shared_preload_libraries') ~ 'timescaledb'"]) != "t" {
        return skip("PostgreSQL has no TimescaleDB");
    }
    let command = "psql URL -XAtq -f tests/load/minutes.sql";
    let documented = documented_gb(command);
    let name = format!("tailback_minutes_{}", std::process::id());
    psql(server, &[&format!("CREATE DATABASE {name} TEMPLATE template0")]);
    let url = format!("{}/{name}", server.rsplit_once('/').unwrap().0);
    migrate(&url);
    let run = command.replace("URL", &format!("'{url}'"));
    let output = Command::new("bash").args(["-c", &run]).current_dir(root()).output().unwrap();
    psql(server, &[&format!("DROP DATABASE {name} WITH (FORCE)")]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["rows"], 200 * 1440, "{found}");
    let gigabytes = found["gb_a_day_of_a_trinity"].as_f64().unwrap();
    assert!((gigabytes / documented - 1.0).abs() < 0.04, "documented: {documented} GB a day: {found}");
}
