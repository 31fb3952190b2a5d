//! Which signals are kept does not depend on how they are cut into batches.
use proptest::prelude::*;
use schemas::{Counts, Metric, Name, SeriesIndex, SeriesInfo, Signal, State, Time};
use std::collections::BTreeMap;
use store::storage_policy::{Bucket, StoragePolicy, StoredRows, StoredSignal, Thinner};
use store::tiers::{HOUR_US, MINUTE_US};

const START_US: i64 = 1_700_000_000_000_000;

fn signal(series: u32, second: i64, state: State, value: f64) -> Signal {
    let counted = Counts { passed_per_s: 1e6, waited_per_s: value as f32 * 1e6 };
    Signal {
        time: Time(START_US + second * 1_000_000),
        series: SeriesIndex(series),
        value,
        mean: value,
        baseline: 1.0,
        bound: 2.0,
        state,
        slowdown_s: 0.0,
        counts: if state == State::Unknown { Counts::NONE } else { counted },
    }
}

fn kept(policy: StoragePolicy, signals: &[Signal]) -> StoredRows {
    let (mut thinner, mut rows) = (Thinner::new(policy), StoredRows::default());
    thinner.pass(signals, &mut rows);
    thinner.close(Time(i64::MAX), &mut rows);
    rows
}

/// Rows in the order of their keys; those of one key stay in the order in which they were written.
fn sorted(mut rows: StoredRows) -> String {
    rows.signals.sort_by_key(|r: &StoredSignal| (r.signal.series, r.signal.time));
    for tier in [&mut rows.buckets, &mut rows.minutes, &mut rows.hours] {
        tier.sort_by_key(|b: &Bucket| (b.series, b.time));
    }
    // As text, in which NaN equals NaN.
    format!("{rows:?}")
}

#[test]
fn a_quiet_series_is_one_row_in_ten_seconds() {
    let signals: Vec<Signal> = (0..30).map(|s| signal(0, s, State::Clear, s as f64)).collect();
    let rows = kept(StoragePolicy::Changes, &signals);
    let got: Vec<(i64, u16, f64)> = rows
        .signals
        .iter()
        .map(|r| ((r.signal.time.0 - START_US) / 1_000_000, r.ticks, r.signal.value))
        .collect();
    assert_eq!(got, [(9, 10, 4.5), (19, 10, 14.5), (29, 10, 24.5)]);
    assert_eq!(rows.buckets.len(), 3);
    assert_eq!(
        (rows.buckets[1].value_min, rows.buckets[1].value_max, rows.buckets[1].ticks),
        (10.0, 19.0, 10)
    );
}

#[test]
fn counters_are_kept_of_written_ticks_and_as_means_of_minutes() {
    let state = |s: i64| if s < 5 { State::Contended } else { State::Clear };
    let signals: Vec<Signal> = (0..100).map(|s| signal(0, s, state(s), (s % 2) as f64)).collect();
    let rows = kept(StoragePolicy::Changes, &signals);
    // Contended ticks and the half minute after them are rows, the others ten at a time.
    let counted = |row: &&StoredSignal| row.signal.counts.passed_per_s == 1e6;
    assert_eq!(rows.signals.iter().filter(counted).count(), 34);
    assert!(rows.signals.iter().all(|row| counted(&row) == (row.ticks == 1)), "{rows:?}");
    let half = Counts { passed_per_s: 1e6, waited_per_s: 5e5 };
    assert_eq!(rows.minutes.iter().map(|minute| minute.counts).collect::<Vec<_>>(), [half; 2]);
    assert_eq!(rows.hours[0].counts, half);
}

#[test]
fn a_series_without_counters_has_none_in_any_tier() {
    let of_client = |s| Signal { counts: Counts::NONE, ..signal(0, s, State::Contended, 1e9) };
    let rows = kept(StoragePolicy::All, &(0..70).map(of_client).collect::<Vec<Signal>>());
    let mut counts: Vec<Counts> = rows.signals.iter().map(|row| row.signal.counts).collect();
    counts.extend(rows.minutes.iter().chain(&rows.hours).map(|row| row.counts));
    assert!(counts.iter().all(|c| c.passed_per_s.is_nan() && c.waited_per_s.is_nan()), "{counts:?}");
}

#[test]
fn what_is_open_of_a_series_takes_a_third_of_a_kilobyte() {
    let bytes = Thinner::bytes_per_series();
    eprintln!("{bytes} bytes a series");
    assert!(bytes <= 341, "{bytes}");
}

fn infos(count: usize) -> Vec<SeriesInfo> {
    let name = |text: String| Name::parse(&text).unwrap();
    let of = |at: usize| SeriesInfo {
        metric: Metric::from_name("lustre_write_rate").unwrap(),
        component: name(format!("nid{at:05}")),
        part: Some(name("snx11168".to_string())),
    };
    (0..count).map(of).collect()
}

fn numbered(infos: &[SeriesInfo]) -> Vec<(SeriesIndex, SeriesInfo)> {
    (0..).map(SeriesIndex).zip(infos.iter().cloned()).collect()
}

#[test]
fn what_all_write_every_ten_seconds_comes_at_different_seconds() {
    let (mut thinner, mut written) = (Thinner::new(StoragePolicy::Changes), Vec::new());
    thinner.know(&numbered(&infos(1_000)));
    for second in 0..40 {
        let of_all: Vec<Signal> = (0..1_000).map(|s| signal(s, second, State::Clear, 1.0)).collect();
        let mut rows = StoredRows::default();
        thinner.pass(&of_all, &mut rows);
        written.push((rows.signals.len(), rows.buckets.len()));
    }
    assert!(written[20..].iter().all(|(signals, buckets)| signals == buckets && (60..140).contains(buckets)));
    assert_eq!(written[20..30].iter().map(|(_, buckets)| buckets).sum::<usize>(), 1_000, "{written:?}");
    assert_eq!(written[..10].iter().map(|(_, buckets)| buckets).sum::<usize>(), 0, "{written:?}");
}

/// The second in which the ten seconds of a series begin.
fn phase(info: &SeriesInfo) -> i64 {
    let mut thinner = Thinner::new(StoragePolicy::Changes);
    thinner.know(&numbered(std::slice::from_ref(info)));
    let mut wrote = |second: i64| {
        let mut rows = StoredRows::default();
        thinner.pass(&[signal(0, second, State::Clear, 1.0)], &mut rows);
        !rows.buckets.is_empty()
    };
    (0..30).find(|second| wrote(*second)).unwrap() - 10
}

#[test]
fn when_a_series_writes_goes_by_its_name_and_not_by_its_number() {
    let infos = infos(30);
    let turned: Vec<SeriesInfo> = infos.iter().rev().cloned().collect();
    let [rows, of_turned] = [(&infos, false), (&turned, true)].map(|(infos, is_turned)| {
        let (mut thinner, mut rows) = (Thinner::new(StoragePolicy::Changes), StoredRows::default());
        thinner.know(&numbered(infos));
        for second in 0..25 {
            let number = |at: u32| if is_turned { 29 - at } else { at };
            let of_all: Vec<Signal> =
                (0..30).map(|at| signal(number(at), second, State::Clear, second as f64)).collect();
            thinner.pass(&of_all, &mut rows);
        }
        let by_name = |row: &StoredSignal| (infos[row.signal.series.at()].name(), row.signal.time, row.ticks);
        let mut reported: Vec<_> = rows.signals.iter().map(by_name).collect();
        reported.sort();
        reported
    });
    assert_eq!(rows, of_turned);
}

#[test]
fn ten_seconds_that_are_over_are_written_once() {
    let seventh = infos(100).into_iter().find(|info| phase(info) == 7).unwrap();
    let (mut thinner, mut rows) = (Thinner::new(StoragePolicy::Changes), StoredRows::default());
    thinner.know(&numbered(&[seventh]));
    let ticks: Vec<Signal> = (0..13).map(|s| signal(0, s, State::Clear, s as f64)).collect();
    thinner.pass(&ticks, &mut rows);
    assert_eq!((rows.signals.len(), rows.buckets.len()), (1, 0), "{rows:?}");
    thinner.close(Time(START_US + 12_000_000), &mut rows);
    assert_eq!((rows.signals.len(), rows.buckets.len()), (1, 1), "{rows:?}");
    thinner.pass(&[signal(0, 18, State::Clear, 18.0)], &mut rows);
    assert_eq!((rows.signals.len(), rows.buckets.len()), (2, 1), "{rows:?}");
    thinner.close(Time(i64::MAX), &mut rows);
    assert_eq!(rows.signals.iter().map(|row| row.ticks).collect::<Vec<_>>(), [7, 6, 1]);
    assert_eq!(rows.buckets.iter().map(|bucket| bucket.ticks).collect::<Vec<_>>(), [10, 4]);
}

#[test]
fn contention_and_thirty_seconds_after_it_are_kept_tick_by_tick() {
    let state = |s| if s == 12 { State::Contended } else { State::Clear };
    let signals: Vec<Signal> = (0..60).map(|s| signal(0, s, state(s), 1.0)).collect();
    let rows = kept(StoragePolicy::Changes, &signals);
    let got: Vec<(i64, u16)> =
        rows.signals.iter().map(|r| ((r.signal.time.0 - START_US) / 1_000_000, r.ticks)).collect();
    let each = (12..42).map(|s| (s, 1));
    let expected: Vec<(i64, u16)> =
        [(9, 10), (11, 2)].into_iter().chain(each).chain([(49, 8), (59, 10)]).collect();
    assert_eq!(got, expected);
    assert_eq!(rows.signals.iter().map(|r| u64::from(r.ticks)).sum::<u64>(), 60);
    assert_eq!(rows.buckets[1].contended_ticks, 1);
}

#[test]
fn all_keeps_every_signal_as_it_is() {
    let signals: Vec<Signal> = (0..30).map(|s| signal(0, s, State::Clear, s as f64)).collect();
    let rows = kept(StoragePolicy::All, &signals);
    assert!(rows.signals.iter().zip(&signals).all(|(row, signal)| row.signal == *signal && row.ticks == 1));
    assert_eq!((rows.signals.len(), rows.buckets.len()), (30, 3));
}

proptest! {
    #[test]
    fn batches_watermarks_and_restarts_change_no_row(
        ticks in prop::collection::vec((0_u32..4, 0_usize..5, 0.0..9.0_f64, 1_i64..50), 1..200),
        cuts in prop::collection::vec(any::<bool>(), 200),
        all in any::<bool>(),
    ) {
        let policy = if all { StoragePolicy::All } else { StoragePolicy::Changes };
        let mut second = 0;
        let signals: Vec<Signal> = ticks.iter().map(|(series, state, value, step)| {
            second += step;
            let value = if *value > 8.0 { f64::NAN } else { *value };
            signal(*series, second, State::ALL[*state], value)
        }).collect();
        let whole = kept(policy, &signals);

        let (mut thinner, mut rows) = (Thinner::new(policy), StoredRows::default());
        for (signal, cut) in signals.iter().zip(&cuts) {
            thinner.pass(std::slice::from_ref(signal), &mut rows);
            if *cut {
                // Time only moves forward here: what is before the newest signal cannot come any more.
                thinner.close(signal.time, &mut rows);
                // As a snapshot does.
                let bytes = postcard::to_stdvec(&thinner).unwrap();
                thinner = postcard::from_bytes(&bytes).unwrap();
            }
        }
        thinner.close(Time(i64::MAX), &mut rows);
        prop_assert_eq!(sorted(rows), sorted(whole));
    }
}

/// Expected row of a coarser tier by its definition: from the rows of the tier below that have data.
fn coarser(below: &[Bucket], length_us: i64) -> Vec<(Time, [f32; 5], u32, u32)> {
    let mut stretches: BTreeMap<i64, Vec<&Bucket>> = BTreeMap::new();
    for row in below {
        stretches.entry(row.time.0.div_euclid(length_us)).or_default().push(row);
    }
    let of = |rows: &[&Bucket], figure: fn(&Bucket) -> f32| -> Vec<f64> {
        let of_data = rows.iter().filter(|row| row.ticks > 0);
        of_data.map(|row| f64::from(figure(row))).filter(|figure| figure.is_finite()).collect()
    };
    let mean = |figures: &[f64]| (figures.iter().sum::<f64>() / figures.len() as f64) as f32;
    let row = |(number, rows): (i64, Vec<&Bucket>)| {
        let valued: Vec<&&Bucket> = rows.iter().filter(|row| row.value.is_finite()).collect();
        let ticks: u32 = valued.iter().map(|row| row.ticks).sum();
        let total: f64 = valued.iter().map(|row| f64::from(row.value) * f64::from(row.ticks)).sum();
        let value = if ticks == 0 { f32::NAN } else { (total / f64::from(ticks)) as f32 };
        let least = of(&rows, |row| row.value_min).into_iter().fold(f64::NAN, f64::min) as f32;
        let most = of(&rows, |row| row.value_max).into_iter().fold(f64::NAN, f64::max) as f32;
        let figures = [value, least, most, mean(&of(&rows, |r| r.mean)), mean(&of(&rows, |r| r.baseline))];
        let (all, contended) = rows.iter().fold((0, 0), |(a, c), r| (a + r.ticks, c + r.contended_ticks));
        (Time(number * length_us), figures, all, contended)
    };
    stretches.into_iter().map(row).collect()
}

#[test]
fn minutes_and_hours_are_what_the_ten_seconds_say() {
    let state = |s: i64| match s % 700 {
        0..90 => State::Contended,
        90..200 => State::Unknown,
        _ => State::Clear,
    };
    let value = |s: i64| if s % 37 == 0 { f64::NAN } else { (s % 101) as f64 };
    // With a silence of half an hour in it.
    let seconds = (0..4_000).chain(5_800..9_000);
    let signals: Vec<Signal> = seconds.map(|s| signal(0, s, state(s), value(s))).collect();
    let rows = kept(StoragePolicy::Changes, &signals);
    for (tier, below, length_us) in
        [(&rows.minutes, &rows.buckets, MINUTE_US), (&rows.hours, &rows.minutes, HOUR_US)]
    {
        let expected = coarser(below, length_us);
        assert_eq!(tier.len(), expected.len());
        for (row, (time, figures, ticks, contended)) in tier.iter().zip(expected) {
            assert_eq!((row.time, row.ticks, row.contended_ticks), (time, ticks, contended));
            let got = [row.value, row.value_min, row.value_max, row.mean, row.baseline];
            let same = |(a, b): (&f32, &f32)| (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-5 * b.abs();
            assert!(got.iter().zip(&figures).all(same), "{row:?} {figures:?}");
        }
    }
    let ticks = |tier: &[Bucket]| tier.iter().map(|row| row.ticks).sum::<u32>();
    assert_eq!(ticks(&rows.minutes), ticks(&rows.hours));
    assert!(rows.hours.len() >= 3 && rows.minutes.iter().any(|row| row.ticks == 0 && row.value.is_nan()));
}

#[test]
fn a_minute_is_written_by_the_next_ten_seconds_or_by_silence() {
    let (mut thinner, mut rows) = (Thinner::new(StoragePolicy::Changes), StoredRows::default());
    let ticks: Vec<Signal> = (40..119).map(|s| signal(0, s, State::Clear, s as f64)).collect();
    // A minute begins at second 40.
    thinner.pass(&ticks[..70], &mut rows);
    assert_eq!(rows.minutes.len(), 0, "{rows:?}");
    thinner.pass(&ticks[70..], &mut rows);
    thinner.pass(&[signal(0, 130, State::Clear, 1.0)], &mut rows);
    assert_eq!(rows.minutes.iter().map(|row| (row.time.0 - START_US) / 1_000_000).collect::<Vec<_>>(), [40]);
    thinner.close(Time(START_US + 159_000_000), &mut rows);
    assert_eq!(rows.minutes.len(), 1);
    thinner.close(Time(START_US + 160_000_000), &mut rows);
    assert_eq!(rows.minutes.iter().map(|row| row.ticks).collect::<Vec<_>>(), [60, 20]);
    assert_eq!(rows.hours.len(), 0);
}

/// All times after the year 6053 are one minute to the tiers, which is never over: a sampler's clock may have any time.
#[test]
fn times_beyond_all_minutes_stop_nothing() {
    let far = i64::from(i32::MAX) * MINUTE_US / 1_000_000;
    let at =
        |tick: i64| Signal { time: Time((far + tick * 10) * 1_000_000), ..signal(0, 0, State::Clear, 1.0) };
    let rows = kept(StoragePolicy::Changes, &(0..2_000).map(at).collect::<Vec<_>>());
    assert_eq!((rows.buckets.len(), rows.minutes.len()), (2_000, 0));
}

/// After a silence of more than a minute it becomes known of the ten seconds before that nothing is known of their rest.
#[test]
fn rows_of_a_silent_series_do_not_depend_on_when_was_looked() {
    let ticks: Vec<Signal> = (0..14).map(|s| signal(0, s, State::Clear, s as f64)).collect();
    let unknown = (14..95).map(|s| Signal { mean: f64::NAN, ..signal(0, s, State::Unknown, f64::NAN) });
    let later: Vec<Signal> = unknown.chain((95..120).map(|s| signal(0, s, State::Clear, s as f64))).collect();
    let [looked, not_looked] = [true, false].map(|looks| {
        let (mut thinner, mut rows) = (Thinner::new(StoragePolicy::Changes), StoredRows::default());
        thinner.pass(&ticks, &mut rows);
        if looks {
            thinner.close(Time(START_US + 30_000_000), &mut rows);
            thinner.close(Time(START_US + 40_000_000), &mut rows);
        }
        thinner.pass(&later, &mut rows);
        thinner.close(Time(i64::MAX), &mut rows);
        let second = rows.buckets.iter().filter(|bucket| bucket.time == Time(START_US + 10_000_000));
        assert_eq!(second.map(|bucket| (bucket.ticks, bucket.mean)).collect::<Vec<_>>(), [(4, 13.0)]);
        sorted(rows)
    });
    assert_eq!(looked, not_looked);
}
