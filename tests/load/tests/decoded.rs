//! Tailback's decoder accepts the rows of `fill`: all series, no drops, the columns of recorded rows.
use aggregator::{Decoded, Decoder};
use load::feed::{Feed, Plan, SCHEMAS};
use load::site::Site;
use samplers::{Cluster, Rows, Schema};
use schemas::Time;
use std::collections::{BTreeMap, BTreeSet};

const START: i64 = 1_800_000_000;

fn plan(trinities: f64, redundancy: bool, seconds: u32) -> Plan {
    Plan { site: Site::of_trinities(trinities), redundancy, start: START, seconds, seed: 11 }
}

/// Series with their readings' counters by second, and job events.
#[derive(Default)]
struct Seen {
    rows: usize,
    series: BTreeMap<String, BTreeMap<i64, Vec<u64>>>,
    jobs: BTreeSet<String>,
}

fn decoded(plan: Plan) -> Seen {
    let mut feed = Feed::new(plan);
    let mut decoder = Decoder::default();
    let mut seen = Seen::default();
    for _ in 0..plan.seconds {
        let mut out = Decoded::default();
        feed.second(|row| {
            assert!(row.published_ms % 1_000 >= 100);
            decoder.json_line(Some(&format!("ldms.{}", row.schema.name())), row.json, &mut out);
            Ok::<(), ()>(())
        })
        .unwrap();
        for (source, time, counters) in out.counters.rows() {
            let source = decoder.sources().get(source).unwrap();
            seen.rows += 1;
            for (at, (metric, part)) in source.series().enumerate() {
                let counters = &counters[source.columns_of(at)];
                let name = format!("{}/{}/{part}", metric.name(), source.component);
                let readings = seen.series.entry(name).or_default();
                readings.insert(time.0.div_euclid(1_000_000), counters.to_vec());
            }
        }
        seen.jobs.extend(out.jobs.iter().map(|job| job.job_id.to_string()));
    }
    assert_eq!(decoder.drops().total(), 0, "{:?}", decoder.drops().nonzero().collect::<Vec<_>>());
    seen
}

#[test]
fn one_trinity_has_260_000_series_and_no_drops() {
    let seen = decoded(plan(1.0, false, 1));
    assert_eq!(seen.series.len(), 260_000);
    assert_eq!(seen.rows, 30_000);
}

#[test]
fn redundancy_doubles_the_rows_of_routers_and_no_series() {
    let (plain, doubled) = (decoded(plan(0.01, false, 2)), decoded(plan(0.01, true, 2)));
    assert_eq!((plain.rows, doubled.rows), (2 * 300, 2 * 400));
    let names = |seen: &Seen| seen.series.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&plain), names(&doubled));
}

#[test]
fn truth_is_in_the_decoded_counters() {
    let plan = plan(0.01, false, 60);
    let seen = decoded(plan);
    let feed = Feed::new(plan);
    assert!(!feed.model().spans().is_empty());
    for span in feed.model().spans() {
        let readings = &seen.series[&span.series];
        assert_eq!(readings.len(), 60);
        let value = |second: i64| {
            let (then, now) = (&readings[&(second - 1)], &readings[&second]);
            let grown: Vec<f64> = now.iter().zip(then).map(|(now, then)| (now - then) as f64).collect();
            match grown.as_slice() {
                [written] => *written,
                [stalls, flits @ ..] => stalls / flits.iter().sum::<f64>(),
                [] => f64::NAN,
            }
        };
        let mean = |seconds: std::ops::RangeInclusive<u32>| {
            let count = seconds.clone().count() as f64;
            seconds.map(|second| value(START + i64::from(second))).sum::<f64>() / count
        };
        let relative = mean(span.from + 1..=span.to) / mean(1..=span.from);
        assert!((relative / f64::from(span.factor) - 1.0).abs() < 0.15, "{span:?} {relative}");
    }
    let jobs: BTreeSet<String> = feed.jobs().list().iter().map(|job| job.job_id.clone()).collect();
    assert_eq!(seen.jobs, jobs);
}

/// Keys of a row of JSON in their order.
fn keys(row: &[u8]) -> Vec<String> {
    let text = std::str::from_utf8(row).unwrap();
    let between = text.trim_matches(['{', '}']).split(",\"");
    between.map(|part| part.trim_start_matches('"').split("\":").next().unwrap().to_string()).collect()
}

#[test]
fn rows_have_the_columns_of_the_simulated_cluster_which_has_those_of_recorded_rows() {
    let mut cluster = Cluster::new(samplers::scenario::demo(), Time(START * 1_000_000), 1).unwrap();
    let mut expected: BTreeMap<&str, BTreeSet<Vec<String>>> = BTreeMap::new();
    let mut rows = Rows::default();
    while expected.len() < Schema::ALL.len() && cluster.tick(&mut rows) {
        for (schema, line) in rows.lines() {
            expected.entry(schema.name()).or_default().insert(keys(line));
        }
    }
    let mut met = BTreeSet::new();
    Feed::new(plan(0.001, true, 1))
        .second(|row| {
            assert!(expected[row.schema.name()].contains(&keys(row.json)));
            met.insert(row.schema.name());
            Ok::<(), ()>(())
        })
        .unwrap();
    assert_eq!(met, SCHEMAS.map(Schema::name).into());
}
