//! The backup of docs/operations.md, with the database's own programs: a restored dump continues from where it was, and one
//! without signals holds all the rest, on a server that knew nothing of Tailback.

use super::arrival::undisturbed;
use super::feed::Feed;
use super::rows::{self, Row};
use super::site::Site;
use super::tables::{Database, Tables};
use std::path::Path;
use std::process::Command;
use support::service::Service;
use support::stack::turn;

/// Runs a program to its end, which must be a good one; what it prints.
fn run(program: impl AsRef<Path>, arguments: &[&str]) -> String {
    let program = program.as_ref();
    let output = Command::new(program).args(arguments).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} {arguments:?}: {printed}", program.display());
    String::from_utf8(output.stdout).unwrap()
}

/// The dump of `dumped` in `file`, as a database of its own.
fn restore(server: &str, dumped: &Database, file: &str) -> Database {
    let restored = Database::create(server, "restored");
    let timescale = dumped.rows("SELECT count(*) FROM pg_extension WHERE extname = 'timescaledb'") == ["1"];
    if timescale {
        run("psql", &["-XqAt", &restored.url, "-c", "CREATE EXTENSION timescaledb"]);
        run("psql", &["-XqAt", &restored.url, "-c", "SELECT timescaledb_pre_restore()"]);
    }
    run("pg_restore", &["--exit-on-error", "--dbname", &restored.url, file]);
    if timescale {
        run("psql", &["-XqAt", &restored.url, "-c", "SELECT timescaledb_post_restore()"]);
    }
    restored
}

/// Roles, and everything but signals and their tiers, go to a new server.
fn moves_without_signals(folder: &Path, from: &Database, all: &Tables) {
    let [roles, small] =
        ["roles.sql", "small.pgdump"].map(|name| folder.join(name).to_str().unwrap().to_string());
    let tables = ["public.signal_*", "public.place_*", "_timescaledb_internal.*_hyper_*"];
    run("pg_dumpall", &["--roles-only", "--dbname", &from.url, "--file", &roles]);
    let exclude = tables.map(|tables| format!("--exclude-table-data={tables}"));
    run("pg_dump", &["--format=custom", "--file", &small, &exclude[0], &exclude[1], &exclude[2], &from.url]);

    let server = Service::start_in("postgres", &folder.join("other-postgres"), &[], &[]).unwrap();
    let server_url = server.address.trim_end_matches("/postgres");
    // It prints that its own role exists already.
    run("psql", &["-Xq", "--file", &roles, &server.address]);
    let restored = restore(server_url, from, &small);
    let is_kept = |row: &&String| {
        !["signals: ", "buckets: ", "minutes: ", "hours: ", "places: "].iter().any(|of| row.starts_with(of))
    };
    let kept = Tables { rows: all.rows.iter().filter(is_kept).cloned().collect(), drops: all.drops.clone() };
    assert!(kept.rows.len() < all.rows.len() && kept.of("episodes").count() > 0);
    restored.dump().rows_equal(&kept);
    for tier in ["signals_1min", "signals_1h"] {
        assert_eq!(restored.rows(&format!("SELECT count(*) FROM {tier}")), ["0"], "{tier}");
    }
}

#[test]
fn restored_dump_is_complete_and_continues() {
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
    let file = services.dir.join("dumped.pgdump").to_str().unwrap().to_string();
    run("pg_dump", &["--format=custom", "--file", &file, &site.database.url]);
    let restored = restore(&services.server, &site.database, &file);
    restored.dump().rows_equal(&dumped);
    drop(feed);
    site.database = restored;
    site.configure("");
    let process = site.start();
    Feed::to(&site).paced(after, 10.0, |_| {});
    let all = site.settles_as(undisturbed(services));
    all.drops_equal(undisturbed(services));
    process.finish();
    moves_without_signals(&services.dir, &site.database, &all);
}
