//! Databases that are down, restarted, of another version, or unreadable; and one with new commits.

use super::both::{Both, configure};
use super::serving::{Page, Serving, TIMEOUT};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use store::postgres::{PgSettings, migrate};
use support::database::{Database, on_each_server, query};
use support::documents;
use support::service::Service;

/// The error message with which `serve` ends.
fn refused(config: &Path) -> String {
    let mut serving = Serving::start("--config", config);
    let line = serving.line();
    assert!(!serving.ended(), "{line}");
    line
}

#[test]
fn account_without_read_rights_gets_the_role_it_needs() {
    on_each_server(|database: Database| async move {
        let login = database.login("tailback_user").await;
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("tailback.toml");
        configure(&config, &database.url_of(&login));
        let line = refused(&config);
        assert!(
            line.contains("may not read the database") && line.contains("GRANT tailback_reader"),
            "{line}"
        );
        database.drop_login(&login).await;
    });
}

#[test]
fn a_database_of_an_older_version_is_refused_with_what_to_do() {
    on_each_server(|database: Database| async move {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("tailback.toml");
        configure(&config, &database.settings().url);
        database.execute("DELETE FROM schema_migrations WHERE name = '0001_schema'").await;
        let line = refused(&config);
        assert!(line.contains("lacks the migration 0001_schema; run `tailback migrate`"), "{line}");
        database.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public").await;
        let line = refused(&config);
        assert!(line.contains("none of Tailback's tables; run `tailback migrate`"), "{line}");
    });
}

#[test]
fn a_store_and_a_configuration_are_not_shown_at_once() {
    let mut command = Command::new(crate::TAILBACK);
    let done = command.args(["serve", "--store", "a.db", "--config", "b.toml"]).output().unwrap();
    assert!(!done.status.success() && String::from_utf8_lossy(&done.stderr).contains("cannot be used with"));
}

#[test]
fn the_writers_account_serves_in_a_session_that_only_reads() {
    on_each_server(|database: Database| async move {
        let both = Both::filled(&database, &database.settings().url).await;
        let (_serving, page) = Serving::start("--config", &both.config).page_of();
        assert_eq!(page.ask("now").0, 200);
        let settings = "SELECT string_agg(DISTINCT application_name, ',') FROM pg_stat_activity
                        WHERE datname = current_database() AND application_name LIKE 'tailback%'";
        assert!(query(&database, settings).await[0].contains("tailback page"));
    });
}

/// Connections keep prepared statements, and PostgreSQL keeps their plans: no plan may contain the current time.
#[test]
fn current_state_follows_the_clock_after_many_requests() {
    on_each_server(|database: Database| async move {
        let both = Both::filled(&database, &database.settings().url).await;
        let (_serving, page) = Serving::start("--config", &both.config).page_of();
        let unknown = || page.ask("now").1["totals"]["states"]["unknown"].as_u64().unwrap();
        let before: Vec<u64> = (0..8).map(|_| unknown()).collect();
        assert!(before.iter().all(|unknown| *unknown < 7), "{before:?}");
        database.execute("UPDATE stage_positions SET event_time = event_time + interval '1 hour'").await;
        // A reading that took long answers for seconds.
        let deadline = Instant::now() + Duration::from_secs(30);
        while unknown() != 7 {
            assert!(Instant::now() < deadline, "the seven series are not silent");
            std::thread::sleep(Duration::from_millis(50));
        }
        assert_eq!((0..8).map(|_| unknown()).collect::<Vec<u64>>(), [7; 8], "all seven series are silent");
    });
}

#[test]
fn the_command_of_the_readme_serves_the_database() {
    on_each_server(|database: Database| async move {
        let both = Both::filled(&database, &database.settings().url).await;
        let command = documents::block("docs/install.md", "tailback serve --config");
        let anywhere = format!("exec {} --listen 127.0.0.1:0", command.trim());
        let (_serving, page) = Serving::of(documents::typed(both.folder.path(), &anywhere)).page_of();
        assert_eq!(page.ask("now").1["total"], 7);
    });
}

/// Reads events until one contains `wanted`.
fn event(events: &mut impl BufRead, wanted: &str) {
    let deadline = Instant::now() + TIMEOUT;
    let mut line = String::new();
    while !line.contains(wanted) {
        line.clear();
        events.read_line(&mut line).unwrap();
        assert!(Instant::now() < deadline, "no event contains {wanted}: {line}");
    }
}

#[test]
fn commit_becomes_an_event_without_notice_of_ticks() {
    on_each_server(|database: Database| async move {
        let both = Both::filled(&database, &database.settings().url).await;
        let (_serving, page) = Serving::start("--config", &both.config).page_of();
        let mut events = BufReader::new(page.stream("stream"));
        event(&mut events, "\"clock\":1795169400.0");
        database.execute("UPDATE stage_positions SET event_time = event_time + interval '1 second'").await;
        event(&mut events, "\"clock\":1795169401.0");
    });
}

#[test]
fn a_database_that_is_away_is_waited_for_and_found_again_after_a_restart() {
    let Some(own) = Service::start("postgres") else { return };
    let url = own.address.clone();
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(migrate(&PgSettings::at(&url))).unwrap();
    own.command("stop");
    let config = folder.path().join("tailback.toml");
    configure(&config, &url);
    let mut serving = Serving::start("--config", &config);
    let line = serving.line();
    assert!(line.contains("the database does not answer yet: "), "{line}");
    let page: Page = serving.page();
    for _ in 0..2 {
        let (status, away) = page.ask("now");
        assert_eq!(status, 503, "{away}");
        assert!(away["error"].as_str().unwrap().starts_with("the database does not answer: "), "{away}");
        assert!(!away.to_string().contains(&url), "{away}");
        own.command("start");
        page.until("now", 200);
        // The pooled connection ends with the server; the next request opens another.
        own.command("restart");
        assert_eq!(page.ask("now").0, 200);
        own.command("stop");
    }
}
