//! `tailback state`: the states go to another database, which then holds what an undisturbed run's would from there on.

use super::arrival::undisturbed;
use super::feed::Feed;
use super::process::Program;
use super::rows::{self, Row};
use super::site::{PARTITIONS, Site};
use super::tables::{Database, Tables};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;
use support::stack::turn;

/// `tailback state` with the site's configuration.
fn state(site: &Site, arguments: &[&str]) -> Output {
    let mut command = Command::new(crate::TAILBACK);
    command.arg("state").args(arguments).arg("--config").arg(&site.config).env_remove("RUST_LOG");
    command.output().unwrap()
}

/// What it prints; it must succeed.
fn printed(site: &Site, arguments: &[&str]) -> String {
    let Output { status, stdout, stderr } = state(site, arguments);
    assert!(status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap()
}

/// The one sentence with which it refuses.
fn refused(site: &Site, arguments: &[&str]) -> String {
    let Output { status, stderr, .. } = state(site, arguments);
    let stderr = String::from_utf8(stderr).unwrap();
    assert!(!status.success() && stderr.trim().lines().count() == 1, "{arguments:?}: {stderr}");
    stderr
}

fn file(site: &Site, name: &str) -> PathBuf {
    site.services.dir.join(format!("{}.{name}", site.name))
}

/// The rows before and after the middle.
fn halves(rows: &[Row]) -> (&[Row], &[Row]) {
    let middle = rows.iter().position(|row| row.arrival_us - rows[0].arrival_us > 40_000_000).unwrap();
    rows.split_at(middle)
}

/// A new database with all migrations instead of the one so far, which comes back.
fn changes_database(site: &mut Site, name: &str) -> Database {
    let new = Database::create(&site.services.server, name);
    let old = std::mem::replace(&mut site.database, new);
    site.configure("");
    let migrated = Program::new("migrate", &site.config).output();
    assert!(migrated.status.success(), "{}", String::from_utf8_lossy(&migrated.stderr));
    old
}

/// Sums of places by ten seconds are cut where the savepoint was taken.
fn is_sum(row: &str) -> bool {
    row.starts_with("places: ")
}

/// Sums of places by their keys: what was added up, without the maximum.
fn sums(tables: &[&Tables]) -> BTreeMap<String, [i64; 2]> {
    let mut sums: BTreeMap<String, [i64; 2]> = BTreeMap::new();
    for row in tables.iter().flat_map(|tables| tables.of("places")) {
        let cells: Vec<&str> = row.split(" | ").collect();
        let of = sums.entry(cells[..4].join(" | ")).or_default();
        for (sum, cell) in of.iter_mut().zip(&cells[6..8]) {
            *sum += cell.parse::<i64>().unwrap();
        }
    }
    sums
}

/// Whether `new` holds nothing that the undisturbed run does not, and with `old` all that it does. What is in both databases
/// (`overlap`) adds to sums twice.
fn continues(old: &Tables, new: &Tables, undisturbed: &Tables, overlap: bool) -> Result<(), String> {
    let known: BTreeSet<&String> = undisturbed.rows.iter().filter(|row| !is_sum(row)).collect();
    let ours: BTreeSet<&String> = new.rows.iter().filter(|row| !is_sum(row)).collect();
    let before: BTreeSet<&String> = old.rows.iter().collect();
    let more: Vec<_> = ours.difference(&known).collect();
    let missing: Vec<_> = known.difference(&ours).filter(|row| !before.contains(*row)).collect();
    if !(more.is_empty() && missing.is_empty()) {
        let shown = |rows: &[&&String]| rows.iter().take(8).map(|row| format!("{row}\n")).collect::<String>();
        let (more_shown, missing_shown) = (shown(&more), shown(&missing));
        return Err(format!("{} more:\n{more_shown}{} missing:\n{missing_shown}", more.len(), missing.len()));
    }
    if !overlap && sums(&[old, new]) != sums(&[undisturbed]) {
        return Err("sums of places differ".to_string());
    }
    Ok(())
}

/// Waits until the new database continues the old one; panics with the difference when it does not.
fn wait_until_continued(site: &Site, old: &Tables, undisturbed: &Tables, overlap: bool) -> Tables {
    site.wait_until_read();
    let mut found = site.database.dump();
    for _ in 0..240 {
        if continues(old, &found, undisturbed, overlap).is_ok() {
            break;
        }
        std::thread::sleep(Duration::from_millis(500));
        found = site.database.dump();
    }
    continues(old, &found, undisturbed, overlap).unwrap();
    found
}

#[test]
fn stopped_run_continues_in_another_database() {
    let Some((services, _turn)) = turn() else { return };
    let rows = rows::undisturbed();
    let (before, after) = halves(&rows);
    let mut site = Site::new(services, "exported");
    Feed::to(&site).all(before);
    let process = site.start();
    site.settled_for_now();
    process.finish();
    let savepoint = file(&site, "savepoint");
    let name = savepoint.to_str().unwrap();
    printed(&site, &["export", name]);
    assert_eq!(fs::metadata(&savepoint).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(refused(&site, &["export", name]).contains("exists already"));
    let old = changes_database(&mut site, "imported").dump();
    printed(&site, &["import", name]);
    assert_eq!(states(&site, None), states(&site, Some(name)));
    let process = site.start();
    Feed::to(&site).paced(after, 10.0, |_| {});
    let new = wait_until_continued(&site, &old, undisturbed(services), false);
    new.drops_equal(undisturbed(services));
    process.finish();
}

/// Stage, partition and offset of the states in a file or the database.
fn states(site: &Site, file: Option<&str>) -> Vec<(String, i64, i64)> {
    let arguments: Vec<&str> = ["show", "--json"].into_iter().chain(file).collect();
    let found: Value = serde_json::from_str(&printed(site, &arguments)).unwrap();
    let states = found["states"].as_array().unwrap().iter();
    let of = |state: &Value| {
        let number = |key: &str| state[key].as_i64().unwrap();
        (state["stage"].as_str().unwrap().to_string(), number("partition"), number("position"))
    };
    let states: Vec<_> = states.map(of).collect();
    assert_eq!(states.len() as i32, 2 * PARTITIONS);
    states
}

#[test]
fn running_exports_and_another_database_catches_up() {
    let Some((services, _turn)) = turn() else { return };
    let rows = rows::undisturbed();
    let (before, after) = halves(&rows);
    let mut site = Site::new(services, "running");
    let savepoint = file(&site, "savepoint");
    let name = savepoint.to_str().unwrap().to_string();
    let process = site.start();
    let mut old = None;
    let feed = Feed::to(&site);
    feed.paced(before, 10.0, |second| {
        if second == 30 {
            printed(&site, &["export", &name]);
            old = Some(site.database.dump());
        }
    });
    let refused = refused(&site, &["import", &name, "--force"]);
    assert!(refused.contains("stop all detectors"), "{refused}");
    process.kill();
    drop(feed);
    changes_database(&mut site, "caught_up");
    printed(&site, &["import", &name]);
    let process = site.start();
    Feed::to(&site).paced(after, 10.0, |_| {});
    let old = old.unwrap();
    wait_until_continued(&site, &old, undisturbed(services), true).drops_equal(undisturbed(services));
    process.finish();
}

/// The older program's savepoint over what a newer one did since: nothing is written twice.
#[test]
fn earlier_savepoint_in_the_same_database_changes_no_row() {
    let Some((services, _turn)) = turn() else { return };
    let rows = rows::undisturbed();
    let (before, after) = halves(&rows);
    let site = Site::new(services, "gone_back");
    let savepoint = file(&site, "savepoint");
    let name = savepoint.to_str().unwrap();
    let mut process = Some(site.start());
    Feed::to(&site).paced(before, 10.0, |second| {
        if second == 20 {
            process.take().unwrap().finish();
            printed(&site, &["export", name]);
            process = Some(site.start());
        }
    });
    site.wait_until_read();
    process.unwrap().finish();
    // As a newer program would leave them.
    site.database.rows("UPDATE stage_snapshots SET version = 4000");
    let mut process = site.start();
    let ended = process.ended_within(Duration::from_secs(120));
    let log = process.log();
    assert_eq!(ended.and_then(|status| status.code()), Some(1), "{log}");
    assert!(log.contains("a newer Tailback wrote it: its version is 4000"), "{log}");
    assert!(refused(&site, &["import", name]).contains("--force"));
    let printed = printed(&site, &["import", name, "--force"]);
    assert!(printed.contains("not written again"), "{printed}");
    let process = site.start();
    Feed::to(&site).paced(after, 10.0, |_| {});
    site.settles_as(undisturbed(services)).drops_equal(undisturbed(services));
    process.finish();
}

#[test]
fn savepoints_that_do_not_fit_are_refused() {
    let Some((services, _turn)) = turn() else { return };
    let rows = rows::undisturbed();
    let mut site = Site::new(services, "unfit");
    let savepoint = file(&site, "savepoint");
    let name = savepoint.to_str().unwrap();
    assert!(refused(&site, &["export", name]).contains("no states"));
    assert!(!savepoint.exists());
    Feed::to(&site).all(&rows[..2_000]);
    let process = site.start();
    site.wait_until_read();
    process.finish();
    printed(&site, &["export", name]);
    changes_database(&mut site, "unfit_target");
    refuses_damaged(&site, &savepoint);
    site.configure("[run]\ninstance = \"other\"\n");
    let other_group =
        fs::read_to_string(&site.config).unwrap().replace("group = \"unfit\"", "group = \"else\"");
    fs::write(&site.config, other_group).unwrap();
    assert!(refused(&site, &["import", name]).contains("else.aggregator"));
    site.configure("");
    site.delete_own_topics().wait_until_gone();
    assert!(refused(&site, &["import", name]).contains("no topic unfit.counters"));
    for topic in ["counters", "partials", "verdicts"] {
        site.create_topic_for_messages_of(&format!("unfit.{topic}"), 1_000_000);
    }
    let other = refused(&site, &["import", name]);
    assert!(other.contains("deleted and created again"), "{other}");
    assert_eq!(site.database.rows("SELECT count(*) FROM stage_positions"), ["0"]);
}

fn refuses_damaged(site: &Site, savepoint: &Path) {
    let whole = fs::read(savepoint).unwrap();
    let damaged = file(site, "damaged");
    let name = damaged.to_str().unwrap();
    fs::write(&damaged, &whole[..whole.len() / 2]).unwrap();
    assert!(refused(site, &["import", name]).contains("truncated"));
    let mut altered = whole.clone();
    altered[whole.len() / 2] ^= 1;
    fs::write(&damaged, altered).unwrap();
    assert!(refused(site, &["import", name]).contains("altered"));
    fs::write(&damaged, b"PK\x03\x04").unwrap();
    assert!(refused(site, &["show", name]).contains("no savepoint"));
}
