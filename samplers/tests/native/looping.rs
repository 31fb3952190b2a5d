//! Ticks under an injected clock.

use crate::integration::native::support::{TestClock, sampler, shown, value};
use crate::integration::native::tree::{MOUNT, Tree};
use samplers::native::looping::{self, Note, Plan};
use samplers::native::{Event, Schedule, Selection, Sink, TickRows};
use schemas::Time;
use std::fs;
use std::time::Duration;

/// Keeps everything.
#[derive(Default)]
struct Kept {
    lines: Vec<String>,
    sizes: Vec<usize>,
    over_after: Option<usize>,
}

impl Sink for Kept {
    fn take(&mut self, rows: &TickRows) {
        self.sizes.push(rows.len());
        self.lines.extend(rows.lines().map(|(_, line)| String::from_utf8(line.to_vec()).unwrap()));
    }
    fn drain_events(&mut self, _: &mut Vec<Event>) {}
    fn dropped(&self) -> u64 {
        0
    }
    fn is_over(&self) -> bool {
        self.over_after.is_some_and(|ticks| self.sizes.len() >= ticks)
    }
    fn finish(&mut self, _: Duration) {}
}

fn plan(offset_ms: u64) -> Plan {
    let schedule = Schedule::new(Duration::from_secs(1), Duration::from_millis(offset_ms)).unwrap();
    Plan { schedule, rescan_us: 2_000_000, ticks: None }
}

/// Runs until the clock stops; rows, then events, then lateness of each tick.
fn run(tree: &Tree, plan: Plan, clock: &mut TestClock) -> (Kept, Vec<Event>, Vec<i64>) {
    let (mut kept, mut events, mut late) = (Kept::default(), Vec::new(), Vec::new());
    let mut note = |note: Note<'_>| match note {
        Note::Event(event) => events.push(event.clone()),
        Note::Tick { late_us, .. } => late.push(late_us),
    };
    looping::run(plan, &mut sampler(tree, Selection::Listed), clock, &mut kept, &mut note);
    (kept, events, late)
}

fn times(kept: &Kept) -> Vec<String> {
    kept.lines.iter().map(|line| line[13..30].to_string()).collect()
}

#[test]
fn every_whole_second_has_its_rows() {
    let tree = Tree::recorded();
    fs::remove_dir_all(tree.proc_llite()).unwrap();
    let mut clock = TestClock::at(Time(1_795_217_418_700_000), 3);
    clock.late_us = vec![0, 1_300, 42];
    let (kept, _, late) = run(&tree, plan(0), &mut clock);
    assert_eq!(times(&kept), ["1795217419.000000", "1795217420.001300", "1795217421.000042"]);
    assert_eq!(late, [0, 1_300, 42]);
    let (kept, ..) = run(&tree, plan(250), &mut TestClock::at(Time(1_795_217_418_700_000), 1));
    assert_eq!(times(&kept), ["1795217419.250000"]);
}

#[test]
fn suspended_machine_resumes_without_a_burst() {
    let tree = Tree::recorded();
    fs::remove_dir_all(tree.proc_llite()).unwrap();
    let mut clock = TestClock::at(Time(1_795_217_418_700_000), 4);
    clock.late_us = vec![0, 63_400_000];
    let (kept, events, _) = run(&tree, plan(0), &mut clock);
    assert_eq!(times(&kept), ["1795217419.000000", "1795217484.000000", "1795217485.000000"]);
    let missed: Vec<&Event> = events.iter().filter(|event| matches!(event, Event::Missed(_))).collect();
    assert_eq!(missed, [&Event::Missed(64)]);
}

#[test]
fn a_clock_that_is_set_back_is_followed() {
    let tree = Tree::recorded();
    fs::remove_dir_all(tree.proc_llite()).unwrap();
    let mut clock = TestClock::at(Time(1_795_217_418_700_000), 3);
    clock.late_us = vec![0, -3_600_500_000];
    let (kept, events, _) = run(&tree, plan(0), &mut clock);
    assert_eq!(times(&kept), ["1795217419.000000", "1795213820.000000"]);
    assert!(events.contains(&Event::ClockSetBack), "{:?}", shown(&events));
}

#[test]
fn devices_are_looked_for_between_ticks() {
    let tree = Tree::recorded();
    let llite = tree.proc_llite();
    let stats = llite.join(MOUNT).join("stats");
    let mut clock = TestClock::at(Time(1_795_217_418_700_000), 8);
    clock.between = Box::new(move |left| match left {
        6 => fs::write(&stats, "snapshot_time 1\nwrite_bytes 1 samples [bytes] 1 1 7\n").unwrap(),
        5 => fs::remove_dir_all(&llite).unwrap(),
        _ => {}
    });
    let (kept, events, _) = run(&tree, plan(0), &mut clock);
    // The open file of a removed mount still reads in a temporary folder; the next look notices.
    assert_eq!(kept.sizes.len(), 8);
    assert_eq!(kept.sizes[0], 2);
    assert_eq!(kept.sizes[5..], [1, 1, 1]);
    assert_eq!(value(&kept.lines[3], "write_bytes.sum"), 7);
    let lost = events.iter().filter(|event| matches!(event, Event::Lost(..))).count();
    assert_eq!(lost, 1, "{:?}", shown(&events));
}

#[test]
fn run_ends_after_its_ticks_or_when_the_reader_is_gone() {
    let tree = Tree::recorded();
    let mut clock = TestClock::at(Time(0), 100);
    let (kept, ..) = run(&tree, Plan { ticks: Some(3), ..plan(0) }, &mut clock);
    assert_eq!((kept.sizes.len(), clock.waits), (3, 97));
    let mut sink = Kept { over_after: Some(2), ..Kept::default() };
    let mut sampler = sampler(&tree, Selection::Listed);
    assert_eq!(looping::run(plan(0), &mut sampler, &mut clock, &mut sink, &mut |_| ()), 2);
}
