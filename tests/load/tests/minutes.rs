//! What a row of the tier of a minute takes in columns is what `docs/benchmarks.md` says: its command, on a database of its own.
use schemas::sql::POSTGRES_MIGRATIONS;
use serde_json::Value;
use std::process::Command;
use support::database::server;
use support::paths::root;
use support::skip::skip;

/// What psql prints, of statements that are a transaction each.
fn psql(url: &str, statements: &[&str]) -> String {
    let mut psql = Command::new("psql");
    psql.args([url, "-XAtq", "-v", "ON_ERROR_STOP=1"]).env("PGOPTIONS", "-c client_min_messages=warning");
    let output = psql.args(statements.iter().flat_map(|sql| ["-c", sql])).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_string()
}

/// Makes what `tailback migrate` makes.
fn migrate(url: &str) {
    let of_migrations = root().join("detector/src/postgres/sql/schema_migrations.sql");
    let first = std::fs::read_to_string(of_migrations).unwrap();
    psql(url, &["CREATE EXTENSION timescaledb", &first]);
    for migration in POSTGRES_MIGRATIONS {
        let known = format!(
            "INSERT INTO schema_migrations (version, name, checksum) VALUES (0, '{}', 0)",
            migration.name
        );
        psql(url, &[migration.sql, &known]);
    }
}

/// What the README says of the tier, in GB a day, beside the command that gives it.
fn said_gb(command: &str) -> f64 {
    let readme = std::fs::read_to_string(root().join("docs/benchmarks.md")).unwrap();
    let line = readme.lines().find(|line| line.contains(&format!("`{command}`"))).unwrap();
    let figure = line.split('|').nth(2).unwrap().trim();
    figure.strip_suffix(" GB a day").unwrap().parse().unwrap()
}

#[test]
fn a_row_of_a_minute_takes_what_the_readme_of_operation_says() {
    let Some(server) = server() else { return };
    if psql(server, &["SELECT current_setting('shared_preload_libraries') ~ 'timescaledb'"]) != "t" {
        return skip("PostgreSQL has no TimescaleDB");
    }
    let command = "psql URL -XAtq -f tests/load/minutes.sql";
    let said = said_gb(command);
    let name = format!("tailback_minutes_{}", std::process::id());
    psql(server, &[&format!("CREATE DATABASE {name} TEMPLATE template0")]);
    let url = format!("{}/{name}", server.rsplit_once('/').unwrap().0);
    migrate(&url);
    let run = command.replace("URL", &format!("'{url}'"));
    let output = Command::new("bash").args(["-c", &run]).current_dir(root()).output().unwrap();
    psql(server, &[&format!("DROP DATABASE {name} WITH (FORCE)")]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["rows"], 200 * 1440, "{told}");
    let gigabytes = told["gb_a_day_of_a_trinity"].as_f64().unwrap();
    assert!((gigabytes / said - 1.0).abs() < 0.04, "docs/benchmarks.md says {said} GB a day: {told}");
}
