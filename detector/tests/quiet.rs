//! How often a machine of 5,000 routers on which nothing contends is reported as contended.
//!
//! Two things could do it: noise on a link that continues as before, and ordinary traffic that comes and goes. The first
//! is a matter of the model of each link, which is played alone: no region is reported of links that no model flags. The second
//! goes all the way from counters to regions: `fabric/quiet.rs`.
//!
//! `cargo test --release -p detector quiet:: -- --ignored --nocapture` plays more than three days of such a machine,
//! link by link, and prints the bound.

use detector::fabric::LinkReport;
use detector::model::{Bank, ModelEvent, ModelKind, Params, Reading};

use samplers::aries::stall_ratio;

use schemas::{Metric, SeriesIndex, Time};

/// Links of 5,000 routers.
const LINKS: f64 = 200_000.0;
const DAY_S: f64 = 86_400.0;
/// Links that are played together, and for how many seconds.
const TOGETHER: usize = 1_000;
const STRETCH_S: usize = 20_000;
/// Seconds more that each stretch begins with, so that models warm up.
const WARM_S: usize = 120;
/// Spread of stalls from second to second, log-normal: that of the lab and of the simulated cluster.
const NOISE: f64 = 0.05;
/// Flits a second of a link that is just active, and of one that is used to seven tenths.
const FLITS: [f64; 2] = [2e4, 1.5e8];
/// Part of the seconds in which background traffic stalls, and how many stalls a flit it has then (SAND2016-9525, 3.3).
const BACKGROUND_STALLS: f64 = 0.1;
const BACKGROUND_RATIO: [f64; 2] = [0.01, 9.9];

/// Random numbers: 64 bits of xorshift, and a table of normal ones.
struct Noises {
    state: u64,
    factors: Vec<f64>,
}

impl Noises {
    fn new(seed: u64) -> Noises {
        let mut noises = Noises { state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1, factors: Vec::new() };
        (0..100).for_each(|_| {
            noises.next();
        });
        let normal = |n: &mut Noises| {
            (-2.0 * n.uniform().max(1e-300).ln()).sqrt() * (std::f64::consts::TAU * n.uniform()).cos()
        };
        noises.factors = (0..1 << 15).map(|_| (NOISE * normal(&mut noises)).exp()).collect();
        noises
    }

    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn log_between(&mut self, [low, high]: [f64; 2]) -> f64 {
        low * (high / low).powf(self.uniform())
    }

    fn factor(&mut self) -> f64 {
        let at = (self.next() >> 49) as usize;
        self.factors[at]
    }
}

/// A link whose traffic stays as it is.
struct Steady {
    flits: f64,
    ratio: f64,
    background: f64,
}

impl Steady {
    fn any(noises: &mut Noises) -> Steady {
        let flits = noises.log_between(FLITS);
        let ratio = stall_ratio(0.7 * flits / FLITS[1]);
        Steady { flits, ratio, background: noises.log_between([1e3, 1e4]) }
    }

    fn read(&self, noises: &mut Noises) -> f64 {
        let stalls = noises.uniform() < BACKGROUND_STALLS;
        let of_background = if stalls { noises.log_between(BACKGROUND_RATIO) } else { 0.0 };
        (self.flits * self.ratio * noises.factor() + self.background * of_background)
            / (self.flits + self.background)
    }

    fn report(&self, mean: f64) -> LinkReport {
        let load =
            (self.flits + self.background) * Metric::from_name("aries_stall_ratio").unwrap().unit_bytes();
        LinkReport {
            series: SeriesIndex(0),
            load_bytes_per_s: load as f32,
            mean_bytes_per_s: 0.0,
            value: mean as f32,
            baseline: f32::NAN,
            contended: true,
            active: true,
            since_ticks: 0,
            off_ms: 0,
        }
    }
}

/// Episodes of links with steady traffic, in one stretch, and how many of them the fabric would take for a part of a
/// region, if it knew of nothing that speaks against it.
fn false_episodes(seed: u64) -> [usize; 2] {
    let mut noises = Noises::new(seed);
    let metric = Metric::from_name("aries_stall_ratio").unwrap();
    let mut bank = Bank::new(ModelKind::Robust, Params::of(metric, ModelKind::Robust));
    let links: Vec<Steady> = (0..TOGETHER).map(|_| Steady::any(&mut noises)).collect();
    links.iter().for_each(|_| bank.add());
    let mut open: Vec<Option<bool>> = vec![None; TOGETHER];
    let mut began = [0; 2];
    for second in 0..WARM_S + STRETCH_S {
        let time = Time::from_seconds(1e9 + second as f64);
        for (at, link) in links.iter().enumerate() {
            let reading = Reading { time, value: link.read(&mut noises), span_ticks: 1, active: true };
            match bank.update(at, &reading) {
                ModelEvent::Warmed(_) => drop(bank.accept(at)),
                ModelEvent::Began => {
                    began[0] += 1;
                    open[at] = Some(false);
                }
                ModelEvent::Ended(_) => open[at] = None,
                _ => {}
            }
            if open[at] == Some(false) && link.report(bank.knowledge(at).mean).exceeds_background(metric) {
                began[1] += 1;
                open[at] = Some(true);
            }
        }
    }
    began
}

/// Upper end of the 95% interval of a Poisson mean of which `seen` were seen: the rule of three for none, and Wilson's and
/// Hilferty's formula above.
fn most(seen: usize) -> f64 {
    if seen == 0 {
        return 3.0;
    }
    let n = seen as f64 + 1.0;
    n * (1.0 - 1.0 / (9.0 * n) + 1.645 / (3.0 * n.sqrt())).powi(3)
}

/// Days of the machine that so many stretches are.
fn days(stretches: u64) -> f64 {
    stretches as f64 * (TOGETHER * STRETCH_S) as f64 / LINKS / DAY_S
}

/// Stretches with these seeds on all cores: episodes of links, and those that the fabric would take.
fn play(seeds: std::ops::Range<u64>) -> [usize; 2] {
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let of = |thread: u64| {
        let all = (seeds.start + thread..seeds.end).step_by(threads as usize).map(false_episodes);
        all.fold([0; 2], |sum, began| [sum[0] + began[0], sum[1] + began[1]])
    };
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|thread| scope.spawn(move || of(thread))).collect();
        let sums = all.into_iter().map(|thread| thread.join().unwrap());
        sums.fold([0; 2], |sum, began| [sum[0] + began[0], sum[1] + began[1]])
    })
}

fn print(stretches: u64, [episodes, taken]: [usize; 2]) {
    println!(
        "{:.4} days of 5,000 routers: {taken} links that a region could be made of, under {:.3} a day (95%); \
         {episodes} episodes of links with little more than background traffic",
        days(stretches),
        most(taken) / days(stretches)
    );
}

#[test]
fn noise_makes_no_region_in_some_minutes_of_the_machine() {
    const STRETCHES: u64 = 4;
    let began = play(0..STRETCHES);
    print(STRETCHES, began);
    assert_eq!(began[1], 0);
}

#[test]
#[ignore = "half an hour on two cores"]
fn noise_makes_less_than_one_region_a_day_of_the_machine() {
    const STRETCHES: u64 = 2_700;
    const ROUND: u64 = 180;
    let mut began = [0; 2];
    for first in (0..STRETCHES).step_by(ROUND as usize) {
        let more = play(first..first + ROUND);
        began = [began[0] + more[0], began[1] + more[1]];
        print(first + ROUND, began);
    }
    assert!(most(began[1]) < days(STRETCHES));
}
