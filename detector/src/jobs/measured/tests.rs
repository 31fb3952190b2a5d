use super::*;
use samplers::rng::Rng;
use std::iter::once;

/// An application that counts steps, and what slows it. All of it is known.
struct Application {
    run_s: usize,
    /// Steps a second when nothing slows it, and the part of a step's time by which steps differ.
    steps_per_s: f64,
    noise: f64,
    /// Correlation of the noise of one second with that of the next.
    correlation: f64,
    /// Contended stretches, and the part of a second that is lost in them.
    contended: Vec<Range<usize>>,
    lost: f64,
    /// Stretches in which it writes and makes no steps; in contention they last longer.
    writes: Vec<Range<usize>>,
    /// Seconds between two reports.
    report_s: usize,
}

impl Application {
    /// A run whose contention is `count` stretches of `length` seconds, anywhere.
    fn drawn(rng: &mut Rng, run_s: usize, count: usize, length: usize) -> Application {
        let contended = (0..count).map(|at| {
            let slot = run_s / count;
            let start = at * slot + (rng.uniform() * (slot - length) as f64) as usize;
            start..start + length
        });
        let (noise, correlation) = (0.1, 0.8);
        let contended = contended.collect();
        Application {
            run_s,
            steps_per_s: 5.0,
            noise,
            correlation,
            contended,
            lost: 0.3,
            writes: Vec::new(),
            report_s: 1,
        }
    }

    fn is_in(stretches: &[Range<usize>], second: usize) -> bool {
        stretches.iter().any(|stretch| stretch.contains(&second))
    }

    /// What it reports, what Tailback knows of its contention, and the seconds that it lost.
    fn run(&self, rng: &mut Rng) -> (Pace, Contention, f64) {
        let (mut pace, mut noise, mut open, mut lost_s) = (Pace::default(), 0.0, 0.0, 0.0);
        let mut contention = Contention::default();
        for second in 0..self.run_s {
            noise = self.correlation * noise
                + self.noise * (1.0 - self.correlation.powi(2)).sqrt() * rng.normal();
            let is_contended = Self::is_in(&self.contended, second);
            let is_writing = Self::is_in(&self.writes, second);
            let lost = if is_contended { self.lost } else { 0.0 };
            if is_contended {
                contention.contended.push((second as i64..second as i64 + 1, 1.0));
                contention.contended_s += 1.0;
            }
            lost_s += if is_writing { 0.0 } else { lost };
            open += if is_writing { 0.0 } else { self.steps_per_s * (1.0 + noise).max(0.0) * (1.0 - lost) };
            if (second + 1) % self.report_s == 0 {
                let [from, to] =
                    [second + 1 - self.report_s, second + 1].map(|at| Time::from_seconds(at as f64));
                pace.add(from, to, open);
                open = 0.0;
            }
        }
        let at = |second: usize| Time::from_seconds(second as f64);
        contention.active = self.writes.iter().map(|stretch| (at(stretch.start), at(stretch.end))).collect();
        contention.lost_s = 2.0 * lost_s;
        (pace, contention, lost_s)
    }
}

fn measured(pace: &Pace, contention: &Contention) -> Option<(Interval, Option<Interval>)> {
    match measure(&Name::parse("steps").unwrap(), pace, contention).loss {
        MeasuredLoss::Measured { lost_s, cost } => Some((lost_s, cost)),
        _ => None,
    }
}

/// The part of `runs` whose interval holds the truth, the mean error and the mean width, both over the truth.
fn score(runs: u64, draw: impl Fn(&mut Rng) -> Application) -> [f64; 3] {
    let (mut held, mut error, mut width) = (0.0, 0.0, 0.0);
    for seed in 0..runs {
        let mut rng = Rng::new(seed, 0x9A5E);
        let (pace, contention, lost_s) = draw(&mut rng).run(&mut rng);
        let (found, _) = measured(&pace, &contention).unwrap_or_else(|| panic!("seed {seed}: not measured"));
        held += f64::from(u8::from(found.lo <= lost_s && lost_s <= found.hi));
        error += (found.value - lost_s).abs() / lost_s;
        width += (found.hi - found.lo) / lost_s;
    }
    [held, error, width].map(|sum| sum / runs as f64)
}

#[test]
fn loss_of_a_noisy_application_is_measured_and_its_interval_holds() {
    for (name, run_s, report_s, widest) in
        [("short", 600, 1, 1.3), ("hours", 14_400, 1, 1.0), ("long steps", 3_600, 20, 1.0)]
    {
        let [held, error, width] =
            score(100, |rng| Application { report_s, ..Application::drawn(rng, run_s, 6, run_s / 20) });
        assert!(held >= 0.93, "{name}: holds in {held} of the runs");
        assert!(error < 0.15 && width < widest, "{name}: {error} {width}");
    }
}

#[test]
fn contention_that_costs_nothing_is_measured_as_nothing() {
    let mut held = 0;
    for seed in 0..100 {
        let mut rng = Rng::new(seed, 0x0A5E);
        let application = Application { lost: 0.0, ..Application::drawn(&mut rng, 3_600, 6, 180) };
        let (pace, mut contention, _) = application.run(&mut rng);
        contention.lost_s = 300.0;
        let (found, cost) = measured(&pace, &contention).unwrap();
        held += u32::from(found.lo == 0.0);
        assert!(found.hi < 0.2 * contention.contended_s, "seed {seed}: {found:?}");
        assert!(cost.unwrap().hi < 1.0, "seed {seed}: {cost:?}");
    }
    assert!(held >= 95, "{held}");
}

/// Writes of 30 s each 200 s, in which no step ends: how much longer they take in contention these steps do not show.
#[test]
fn a_count_that_stops_for_writes_is_not_compared() {
    let writes: Vec<Range<usize>> = (0..36).map(|at| at * 200 + 100..at * 200 + 130).collect();
    let draw = |every: usize, rng: &mut Rng| {
        let contended = writes.iter().step_by(every).map(|stretch| stretch.start..stretch.end).collect();
        Application { contended, lost: 0.0, writes: writes.clone(), ..Application::drawn(rng, 7_200, 1, 1) }
    };
    let found = |every: usize, seed: u64| {
        let mut rng = Rng::new(seed, 0x3A5E);
        let (pace, contention, _) = draw(every, &mut rng).run(&mut rng);
        measure(&Name::parse("steps").unwrap(), &pace, &contention).loss
    };
    (0..50).for_each(|seed| assert_eq!(found(3, seed), MeasuredLoss::StopsForFiles, "seed {seed}"));
    assert_eq!(found(1, 0), MeasuredLoss::NeverClear);
}

/// Writes stop the count, and contention comes between them: it is compared with the time between, and the interval holds the loss.
#[test]
fn contention_between_writes_is_measured() {
    let mut held = 0;
    for seed in 0..50 {
        let mut rng = Rng::new(seed, 0xBA5E);
        let writes: Vec<Range<usize>> = (0..36).map(|at| at * 200 + 100..at * 200 + 130).collect();
        let contended = (0..12).map(|at| at * 600 + 10..at * 600 + 90).collect();
        let application = Application { contended, writes, ..Application::drawn(&mut rng, 7_200, 1, 1) };
        let (pace, contention, lost_s) = application.run(&mut rng);
        let (found, _) = measured(&pace, &contention).unwrap();
        held += u32::from(found.lo <= lost_s && lost_s <= found.hi);
        assert!(found.hi < 2.0 * lost_s, "seed {seed}: {found:?} of {lost_s}");
    }
    assert!(held >= 45, "{held}");
}

/// Writes with pauses under a minute, in which the job computes: 30 s of writing take twice as long while others write. A contended second
/// is one in which it writes, but the steps are missing in the seconds between.
#[test]
fn loss_in_writes_is_measured_over_the_pauses_between_them() {
    for seed in 0..20 {
        let mut rng = Rng::new(seed, 0x9A5F);
        let (mut pace, mut contention, mut lost_s) = (Pace::default(), Contention::default(), 0.0);
        let (mut second, mut left) = (0, 0.0);
        while second < 7_200 {
            let is_slow = (2_000..4_500).contains(&second);
            left = if left <= -40.0 { 30.0 } else { left };
            let is_writing = left > 0.0;
            let [from, to] = [second, second + 1].map(|at| Time::from_seconds(f64::from(at)));
            if is_writing && is_slow {
                contention.contended.push((i64::from(second)..i64::from(second) + 1, 1.0));
                contention.contended_s += 1.0;
                lost_s += 0.5;
            }
            pace.add(from, to, if is_writing { 0.0 } else { 5.0 * (1.0 + 0.1 * rng.normal()) });
            left -= if is_writing && is_slow { 0.5 } else { 1.0 };
            second += 1;
        }
        // Coverage joins stretches of activity over pauses of a minute.
        contention.active = vec![(Time::from_seconds(0.0), Time::from_seconds(7_200.0))];
        contention.lost_s = lost_s;
        let (found, _) = measured(&pace, &contention).unwrap();
        assert!(found.lo <= lost_s && lost_s <= found.hi, "seed {seed}: {found:?} of {lost_s}");
        assert!((found.value - lost_s).abs() < 0.1 * lost_s, "seed {seed}: {found:?} of {lost_s}");
    }
}

/// A job that counts the bytes of its checkpoints: 30 s of writing each 200 s, of which every third lasts twice as long in contention.
/// Between them it counts nothing, so the pace of the whole run is no pace to compare with.
#[test]
fn a_count_of_what_is_written_is_not_compared() {
    for seed in 0..50 {
        let mut rng = Rng::new(seed, 0x8A5E);
        let mut pace = Pace::default();
        let mut contention = Contention::default();
        for second in 0..7_200_usize {
            let (round, within) = (second / 200, second % 200);
            let is_slow = round % 3 == 0;
            let is_writing = (100..if is_slow { 160 } else { 130 }).contains(&within);
            let [from, to] = [second, second + 1].map(|at| Time::from_seconds(at as f64));
            if is_writing && is_slow {
                contention.contended.push((second as i64..second as i64 + 1, 1.0));
                contention.contended_s += 1.0;
            }
            if is_writing {
                contention.active.push((from, to));
            }
            let share = if is_slow { 0.5 } else { 1.0 };
            let written = if is_writing { share * 100.0 * (1.0 + 0.1 * rng.normal()) } else { 0.0 };
            pace.add(from, to, written);
        }
        contention.lost_s = 0.5 * contention.contended_s;
        contention.active = apart(contention.active);
        let found = measure(&Name::parse("bytes").unwrap(), &pace, &contention).loss;
        assert_eq!(found, MeasuredLoss::CountsFiles, "seed {seed}");
    }
}

#[test]
fn without_contention_or_without_anything_else_nothing_is_compared() {
    let mut rng = Rng::new(1, 0x5A5E);
    let name = Name::parse("steps").unwrap();
    let (pace, contention, _) =
        Application { contended: Vec::new(), ..Application::drawn(&mut rng, 600, 1, 1) }.run(&mut rng);
    let found = measure(&name, &pace, &contention);
    assert_eq!((found.loss, found.contended_s), (MeasuredLoss::NeverContended, 0.0));
    assert!(found.per_s.is_some_and(|per_s| (per_s - 5.0).abs() < 0.5), "{found:?}");
    let always = Application { contended: once(0..600).collect(), ..Application::drawn(&mut rng, 600, 1, 1) };
    let (pace, contention, _) = always.run(&mut rng);
    assert_eq!(measure(&name, &pace, &contention).loss, MeasuredLoss::NeverClear);
    let short =
        Application { contended: once(300..302).collect(), ..Application::drawn(&mut rng, 600, 1, 1) };
    let (pace, contention, _) = short.run(&mut rng);
    assert_eq!(measure(&name, &pace, &contention).loss, MeasuredLoss::TooFew);
}

#[test]
fn cost_is_the_measured_loss_over_that_of_the_counters() {
    let mut rng = Rng::new(7, 0x6A5E);
    let (pace, contention, lost_s) = Application::drawn(&mut rng, 7_200, 8, 300).run(&mut rng);
    let (found, cost) = measured(&pace, &contention).unwrap();
    let cost = cost.unwrap();
    assert!((cost.value - found.value / contention.lost_s).abs() < 1e-9);
    assert!(cost.lo <= 0.5 && 0.5 <= cost.hi, "{cost:?} of {lost_s}");
}

#[test]
fn time_that_was_not_judged_is_left_out() {
    let mut rng = Rng::new(3, 0x7A5E);
    let (pace, mut contention, _) = Application::drawn(&mut rng, 600, 6, 30).run(&mut rng);
    let all = measure(&Name::parse("steps").unwrap(), &pace, &contention).covered_s;
    contention.unjudged = once(0..60).collect();
    let judged = measure(&Name::parse("steps").unwrap(), &pace, &contention).covered_s;
    assert!((all - judged - 60.0).abs() <= 4.0, "{all} {judged}");
}

#[test]
fn own_count_replaces_counters_where_it_is_narrower_or_disagrees() {
    let interval = |value: f64, half: f64| Interval { value, lo: value - half, hi: value + half };
    let result = |lost_s: Interval, covered_s: f64| {
        let loss = MeasuredLoss::Measured { lost_s, cost: None };
        let name = Name::parse("steps").unwrap();
        let progress =
            JobProgress { name, covered_s, contended_s: 300.0, per_s: Some(1.0), counters_s: 100.0, loss };
        let mut result = JobResult {
            job_id: Name::parse("1").unwrap(),
            contended_s: 300.0,
            slowdown_s: 100.0,
            slowdown_lo_s: 90.0,
            slowdown_hi_s: 120.0,
            completeness: 1.0,
            judged: 1.0,
            causes: Vec::new(),
            progress: vec![progress],
        };
        replace(&mut result, 1_000.0);
        [result.slowdown_lo_s, result.slowdown_s, result.slowdown_hi_s]
    };
    assert_eq!(result(interval(60.0, 5.0), 1_000.0), [55.0, 60.0, 65.0]);
    assert_eq!(result(interval(60.0, 25.0), 1_000.0), [35.0, 60.0, 85.0]);
    assert_eq!(result(interval(80.0, 40.0), 1_000.0), [90.0, 100.0, 120.0]);
    // Half of the run is without reports: what the counters leave open of it stays.
    assert_eq!(result(interval(60.0, 5.0), 500.0), [55.0, 60.0, 75.0]);
}
