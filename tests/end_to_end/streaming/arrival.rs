//! How rows arrive changes nothing within the lateness; beyond it they are counted.

use super::rows::{self, Dice, Row, in_order_of_arrival, scatter};
use super::site::Site;
use super::tables::Tables;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use support::stack::{Services, turn};

/// The tables of the undisturbed run, made once. A run that fails costs its own test: the next one makes them under
/// another name.
pub fn undisturbed(services: &'static Services) -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    static RUNS: AtomicU32 = AtomicU32::new(0);
    TABLES.get_or_init(|| {
        let name = format!("undisturbed{}", RUNS.fetch_add(1, Ordering::Relaxed));
        let tables = Site::tables_of(services, &name, &rows::undisturbed());
        let count = |table: &str| tables.of(table).count();
        for table in [
            "signals",
            "episodes",
            "jobs",
            "job_nodes",
            "job_results",
            "job_causes",
            "job_progress",
            "job_series",
            "producers",
            "silences",
            "regions",
            "region_steps",
            "region_causes",
            "region_victims",
        ] {
            eprintln!("undisturbed: {} {table}", count(table));
        }
        eprintln!("undisturbed: not used {:?}", tables.drops);
        assert!(count("signals") > 10_000 && count("jobs") == 4 && count("job_results") == 4);
        assert!(
            tables.of("episodes").any(|row| row.starts_with("lustre_write_rate/")),
            "no episode of a client"
        );
        assert!(
            tables.of("episodes").any(|row| row.starts_with("aries_stall_ratio/")),
            "no episode of a tile"
        );
        assert!(tables.of("job_causes").any(|row| row.contains("other_job")));
        // All sources are silent since the end of the rows.
        assert_eq!(count("silences"), count("producers"));
        tables
    })
}

/// Delays a part of the rows, in percent, by `from_ms` to `to_ms`.
fn delay(rows: &mut [Row], dice: &mut Dice, percent: u64, from_ms: u64, to_ms: u64) {
    for row in rows {
        if dice.percent(percent) {
            row.arrival_us += (from_ms + dice.below(to_ms - from_ms)) as i64 * 1000;
        }
    }
}

#[test]
fn tables_equal_for_shuffled_doubled_and_delayed_rows() {
    let Some((services, _turn)) = turn() else { return };
    let mut dice = Dice::new("shuffled");
    let mut rows = rows::undisturbed();
    let doubled: Vec<Row> = rows.iter().filter(|_| dice.percent(20)).cloned().collect();
    let more = doubled.len() as u64;
    rows.extend(doubled);
    scatter(&mut rows, &mut dice);
    delay(&mut rows, &mut dice, 50, 0, 2500);
    let tables = Site::same_tables(services, "shuffled", &in_order_of_arrival(rows), undisturbed(services));
    eprintln!("doubled {more} rows; not used: {:?}", tables.drops);
    assert!(!tables.drops.contains_key("late"), "{:?}", tables.drops);
}

#[test]
fn missing_rows_leave_the_other_results() {
    let Some((services, _turn)) = turn() else { return };
    let mut dice = Dice::new("dropped");
    let mut rows = rows::undisturbed();
    rows.retain(|_| !dice.percent(5));
    let survivors = Site::tables_of(services, "survivors", &rows);
    scatter(&mut rows, &mut dice);
    delay(&mut rows, &mut dice, 50, 0, 2500);
    let shuffled = Site::same_tables(services, "survivors_shuffled", &in_order_of_arrival(rows), &survivors);
    shuffled.drops_equal(&survivors);
}

/// Whether each of its rows is accounted for.
fn is_of_a_component(row: &Row) -> bool {
    !["slurm_jobs", rows::OF_SERVERS, rows::OF_JOBS].contains(&row.schema)
}

#[test]
fn rows_later_than_the_lateness_are_counted_and_change_nothing() {
    let Some((services, _turn)) = turn() else { return };
    let mut dice = Dice::new("late");
    let (mut late, intime): (Vec<Row>, Vec<Row>) =
        rows::undisturbed().into_iter().partition(|row| is_of_a_component(row) && dice.percent(2));
    // The last seconds have nothing behind them that would make a row late.
    let end_us = intime.iter().map(|row| row.time_us).max().unwrap() - 20_000_000;
    late.retain(|row| row.time_us < end_us);
    let without = Site::tables_of(services, "without_late", &intime);
    // A row is late once another of its component is more than three seconds ahead. Partitions that hold few rows are
    // merged by the time of what they hold, which may be some seconds behind; here it must be late for sure.
    delay(&mut late, &mut dice, 100, 12_000, 15_000);
    let count = late.len() as u64;
    let all = in_order_of_arrival(intime.into_iter().chain(late).collect());
    let tables = Site::same_tables(services, "late", &all, &without);
    assert_eq!(tables.drops.get("late"), Some(&count), "{:?}", tables.drops);
}

#[test]
fn clocks_300_ms_apart_lose_no_rows_in_any_order() {
    let Some((services, _turn)) = turn() else { return };
    let mut rows = rows::skewed();
    let first = Site::tables_of(services, "skewed", &rows);
    assert!(first.drops.is_empty(), "{:?}", first.drops);
    assert!(first.of("job_causes").any(|row| row.contains("other_job")));
    let mut dice = Dice::new("skewed");
    scatter(&mut rows, &mut dice);
    delay(&mut rows, &mut dice, 50, 0, 2200);
    let shuffled = Site::same_tables(services, "skewed_shuffled", &in_order_of_arrival(rows), &first);
    shuffled.drops_equal(&first);
}
