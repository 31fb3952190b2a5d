//! Signals and link updates, second by second, depend on the rows alone: not on the order in which they came within the
//! lateness, nor on which of them are missing.

use detector::detector::Detector;
use detector::fabric::LinkTick;
use detector::model::ModelKind;
use detector::settings::Settings;
use proptest::prelude::*;
use schemas::{CounterBatch, Metric, Name, Signal, Source, SourceIndex, Sources, Time};
use std::collections::BTreeMap;

/// Hosts; each reported by one to three samplers.
const HOSTS: usize = 6;
const SECONDS: u64 = 240;
/// Words that a port sends in a second at most; every second another number, so that each is reported.
const WORDS: u64 = 200_000_000;

/// Numbers that look random, the same for a seed.
struct Dice(u64);

impl Dice {
    /// Below `n`.
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed ^ (mixed >> 27)) % n
    }
}

/// A row: source, second, when it arrives, counters.
#[derive(Clone)]
struct Row {
    source: SourceIndex,
    second: f64,
    arrival: f64,
    counters: Vec<u64>,
}

fn sources() -> Sources {
    let mut sources = Sources::default();
    let name = |text: &str| Name::parse(text).unwrap();
    for host in 0..HOSTS {
        for sampler in 0..=host % 3 {
            sources.intern(Source {
                schema: name("test"),
                producer: name(&format!("sampler{host}x{sampler}")),
                metrics: vec![Metric::from_name("ib_wait_ratio").unwrap()],
                component: name(&format!("host{host}")),
                set: None,
                parts: vec![name("mlx5_0.1")],
                rank: sampler as u8,
                by_job: false,
            });
        }
    }
    sources
}

/// All rows but those that are lost, `lost` of them in a hundred.
fn rows(dice: &mut Dice, lost: u64) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut counters = [[0_u64; 2]; HOSTS];
    for second in 0..SECONDS {
        let mut source = 0;
        for (host, [waits, words]) in counters.iter_mut().enumerate() {
            *words += WORDS / 100 + dice.below(WORDS);
            *waits += dice.below(WORDS);
            for _ in 0..=host % 3 {
                if dice.below(100) >= lost {
                    // Samplers' clocks are some milliseconds apart.
                    let second = second as f64 + f64::from(source * 37 % 100) / 300.0;
                    let counters = vec![*waits, *words];
                    rows.push(Row { source: SourceIndex(source), second, arrival: second, counters });
                }
                source += 1;
            }
        }
    }
    rows
}

/// What is reported when the rows come in the order of their arrival, all that came being read at once.
fn reported(sources: &Sources, mut rows: Vec<Row>) -> BTreeMap<i64, Vec<String>> {
    rows.sort_by(|a, b| a.arrival.total_cmp(&b.arrival));
    let mut detector = Detector::new(Settings::of(ModelKind::Robust));
    detector.watch_links();
    let (mut ticks, mut read) = (Vec::new(), Time::MIN);
    for row in &rows {
        let time = Time::from_seconds(1_000_000_000.0 + row.second);
        let mut batch = CounterBatch::default();
        batch.push(row.source, time, &row.counters);
        detector.rows(sources, &batch);
        read = read.max(time);
        ticks.extend(detector.take_links(read));
    }
    detector.finish();
    ticks.extend(detector.take_links(read));
    let signals = detector.take().signals;
    by_second(&detector, ticks, &signals)
}

/// Link updates and signals, as text.
fn by_second(detector: &Detector, ticks: Vec<LinkTick>, signals: &[Signal]) -> BTreeMap<i64, Vec<String>> {
    let mut found: BTreeMap<i64, Vec<String>> = BTreeMap::new();
    for signal in signals {
        let (name, second) = (detector.series()[signal.series.at()].name(), signal.time.seconds());
        let line = format!("{name} {} {:?} {}", signal.value, signal.state, signal.slowdown_s);
        found.entry(second.floor() as i64).or_default().push(line);
    }
    for tick in ticks.into_iter().filter(|tick| !tick.reports.is_empty()) {
        let line = |report: &detector::fabric::LinkReport| {
            let name = detector.series()[report.series.at()].name();
            format!("{name} {} {} {}", report.load_bytes_per_s, report.value, report.contended)
        };
        found.entry(tick.tick).or_default().extend(tick.reports.iter().map(line));
    }
    found.values_mut().for_each(|lines| lines.sort());
    found
}

proptest! {
    #[test]
    fn signals_and_links_do_not_depend_on_order_of_arrival(seed: u64, lost in 0..40_u64) {
        let mut dice = Dice(seed);
        let sources = sources();
        let mut rows = rows(&mut dice, lost);
        let in_order = reported(&sources, rows.clone());
        for row in &mut rows {
            if dice.below(2) == 0 {
                row.arrival += dice.below(2500) as f64 / 1000.0;
            }
        }
        let disordered = reported(&sources, rows);
        for (tick, lines) in &in_order {
            prop_assert_eq!(disordered.get(tick), Some(lines), "tick {}", tick);
        }
        prop_assert_eq!(in_order.len(), disordered.len());
    }
}
