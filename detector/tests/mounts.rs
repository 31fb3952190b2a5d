//! One file system that a node has mounted more than once: mounts add, copies of their rows repeat, and a mount that is made
//! again continues.

use detector::detector::Detector;
use detector::model::ModelKind;
use detector::settings::Settings;
use schemas::{
    CounterBatch, DropReason, Metric, NOT_MEASURED, Name, ResultBatch, SeriesIndex, SeriesInfo, Signal,
    Source, SourceIndex, Sources, Time,
};

const METRICS: [&str; 2] = ["lustre_read_rate", "lustre_write_rate"];
/// Bytes.
const GB: u64 = 1_000_000_000;

/// Rows of sets of one file system on one node, `rate(set, second)` bytes read and as many written in that second, where it is
/// mounted.
fn mounts(
    sets: &[&str],
    seconds: u32,
    reversed: bool,
    rate: impl Fn(usize, u32) -> Option<u64>,
) -> ResultBatch {
    let (mut sources, mut detector) = (Sources::default(), Detector::new(Settings::of(ModelKind::Robust)));
    let name = |text: &str| Name::parse(text).unwrap();
    let source = |set: &&str| Source {
        schema: name("lustre_client"),
        producer: name("nid00007"),
        metrics: METRICS.map(|name| Metric::from_name(name).unwrap()).to_vec(),
        component: name("nid00007"),
        set: Some(name(set)),
        parts: vec![name("work")],
        rank: 0,
        by_job: false,
    };
    let of_sets: Vec<SourceIndex> = sets.iter().map(|set| sources.intern(source(set))).collect();
    let mut written = vec![0; sets.len()];
    for second in 0..seconds {
        let mut rows = Vec::new();
        for (at, source) in of_sets.iter().enumerate() {
            let Some(bytes) = rate(at, second) else { continue };
            written[at] += bytes;
            rows.push((*source, written[at]));
        }
        if reversed {
            rows.reverse();
        }
        // A redundant aggregator sends every row again.
        for (source, written) in rows.iter().chain(&rows) {
            let mut batch = CounterBatch::default();
            batch.push(*source, Time::from_seconds(1e9 + f64::from(second)), &[*written; 2]);
            detector.rows(&sources, &batch);
        }
    }
    detector.finish();
    detector.take()
}

/// Values of each series of writing in the order of their names, and how many there are; reading has the same.
fn rates(batch: &ResultBatch) -> Vec<(String, u64, usize)> {
    let [read, written] = METRICS.map(|metric| rates_by(batch, metric));
    assert_eq!(read, written);
    written
}

fn rates_by(batch: &ResultBatch, metric: &str) -> Vec<(String, u64, usize)> {
    let of = |(series, info): &(SeriesIndex, SeriesInfo)| {
        let signals: Vec<&Signal> = batch.signals.iter().filter(|s| s.series == *series).collect();
        let known: Vec<f64> = signals.iter().map(|s| s.value).filter(|value| !value.is_nan()).collect();
        let most = known.iter().copied().fold(0.0, f64::max);
        (info.part.as_ref().unwrap().to_string(), most as u64, known.len())
    };
    let by_metric = batch.series.iter().filter(|(_, info)| info.metric.name() == metric);
    let mut rates: Vec<_> = by_metric.map(of).collect();
    rates.sort();
    rates
}

#[test]
fn mounts_of_one_file_system_on_one_node_add() {
    let both = |at: usize, _| Some([GB / 2, 2 * GB][at]);
    let sets = ["work-ffff881122334000", "work-ffff889988776000"];
    let expected = [("work".to_string(), GB / 2, 59), ("work-ffff889988776000".to_string(), 2 * GB, 59)];
    for reversed in [false, true] {
        let batch = mounts(&sets, 60, reversed, both);
        assert_eq!(rates(&batch), expected, "reversed {reversed}");
        assert_eq!(batch.drops.get(DropReason::Duplicate), 120);
    }
    // The second one comes later, and is the first by name.
    let late = |at: usize, second: u32| if at == 1 && second < 30 { None } else { both(at, second) };
    let batch = mounts(&["work-ffff889988776000", "work-ffff881122334000"], 60, false, late);
    let expected = [("work".to_string(), GB / 2, 59), ("work-ffff881122334000".to_string(), 2 * GB, 29)];
    assert_eq!(rates(&batch), expected);
}

#[test]
fn a_mount_that_is_made_again_continues_its_series() {
    let sets = ["work-ffff881122334000", "work-ffff889988776000", "work-ffff885544332000"];
    // The first one is there all the time; the second goes, and returns under another address ten seconds later.
    let rate = |at: usize, second: u32| match at {
        0 => Some(GB / 2),
        1 => (second < 40).then_some(2 * GB),
        _ => (second >= 50).then_some(GB),
    };
    let expected = [("work".to_string(), GB / 2, 89), ("work-ffff889988776000".to_string(), 2 * GB, 78)];
    assert_eq!(rates(&mounts(&sets, 90, false, rate)), expected);
    // A single mount that goes and returns remains one series.
    let alone = |at: usize, second: u32| match at {
        0 => (second < 40).then_some(GB),
        _ => (second >= 41).then_some(2 * GB),
    };
    let batch = mounts(&sets[..2], 90, false, alone);
    assert_eq!(rates(&batch).len(), 1);
    assert_eq!(rates(&batch)[0].1, 2 * GB);
}

#[test]
fn what_is_not_measured_of_one_metric_costs_no_other() {
    let (mut sources, mut detector) = (Sources::default(), Detector::new(Settings::of(ModelKind::Robust)));
    let name = |text: &str| Name::parse(text).unwrap();
    let source = sources.intern(Source {
        schema: name("lustre_client"),
        producer: name("nid00007"),
        metrics: METRICS.map(|name| Metric::from_name(name).unwrap()).to_vec(),
        component: name("nid00007"),
        set: None,
        parts: vec![name("work")],
        rank: 0,
        by_job: false,
    });
    for second in 0..60_u32 {
        let moved = u64::from(second) * GB;
        let read = if (20..23).contains(&second) { NOT_MEASURED } else { moved };
        let mut batch = CounterBatch::default();
        batch.push(source, Time::from_seconds(1e9 + f64::from(second)), &[read, moved]);
        detector.rows(&sources, &batch);
    }
    detector.finish();
    let batch = detector.take();
    assert_eq!(rates_by(&batch, "lustre_write_rate"), [("work".to_string(), GB, 59)]);
    assert_eq!(rates_by(&batch, "lustre_read_rate"), [("work".to_string(), GB, 55)]);
    assert_eq!(batch.drops.total(), 0);
}
