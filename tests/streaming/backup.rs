//! The backup of deploy/README.md, with the database's own programs: a restored dump goes on from where it was.

use super::arrival::undisturbed;
use super::feed::Feed;
use super::rows::{self, Row};
use super::services::turn;
use super::site::Site;
use super::tables::Database;
use std::path::Path;
use std::process::Command;

/// Runs a program to its end, which must be a good one.
fn run(program: &str, arguments: &[&str]) {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The dump of `dumped` in `file`, as a database of its own.
fn restore(server: &str, dumped: &Database, file: &Path) -> Database {
    let restored = Database::create(server, "restored");
    let timescale = dumped.rows("SELECT count(*) FROM pg_extension WHERE extname = 'timescaledb'") == ["1"];
    if timescale {
        run("psql", &["-XqAt", &restored.url, "-c", "CREATE EXTENSION timescaledb"]);
        run("psql", &["-XqAt", &restored.url, "-c", "SELECT timescaledb_pre_restore()"]);
    }
    run("pg_restore", &["--exit-on-error", "--dbname", &restored.url, file.to_str().unwrap()]);
    if timescale {
        run("psql", &["-XqAt", &restored.url, "-c", "SELECT timescaledb_post_restore()"]);
    }
    restored
}

#[test]
fn a_restored_dump_holds_everything_and_goes_on_from_where_it_was() {
    let Some((services, _turn)) = turn() else { return };
    let rows = rows::undisturbed();
    let middle = rows.iter().position(|row| row.arrival_us - rows[0].arrival_us > 40_000_000).unwrap();
    let (before, after): (&[Row], &[Row]) = rows.split_at(middle);
    let mut site = Site::new(services, "dumped");
    let feed = Feed::to(&site);
    feed.all(before);
    let process = site.start();
    site.settled_for_now();
    process.finish();
    let dumped = site.database.dump();
    let file = services.dir.join("dumped.pgdump");
    run("pg_dump", &["--format=custom", "--file", file.to_str().unwrap(), &site.database.url]);
    let restored = restore(&services.server, &site.database, &file);
    restored.dump().rows_equal(&dumped);
    drop(feed);
    site.database = restored;
    site.configure("");
    let process = site.start();
    Feed::to(&site).paced(after, 10.0, |_| {});
    site.settles_as(undisturbed(services)).drops_equal(undisturbed(services));
    process.finish();
}
