//! What the runner without Kafka makes of rows, restored in the middle and cut into other batches.

use super::*;
use aggregator::Outcome as Decoding;
use detector::model::ModelKind;
use samplers::{Cluster, Rows, scenario};
use schemas::Time;
use topology::Machine;
use topology::generate::Aries;

const SECONDS: usize = 240;

fn settings() -> InProcessSettings {
    let routers = Aries { populated: vec!["c0-0c0".to_string(), "c0-0c1".to_string()], ..Aries::new(1) };
    let topology = Machine::Aries(routers).build().unwrap();
    InProcessSettings {
        network: Some(Arc::new(Network::of(topology))),
        ..InProcessSettings::of(Settings::of(ModelKind::Robust))
    }
}

/// Rows of the demo, second by second.
fn seconds() -> Vec<Vec<(String, Vec<u8>)>> {
    let mut cluster = Cluster::new(scenario::demo(), Time::from_seconds(1_700_000_000.0), 1).unwrap();
    let mut rows = Rows::default();
    let mut second = || {
        cluster.tick(&mut rows);
        rows.lines().map(|(schema, line)| (schema.name().to_string(), line.to_vec())).collect()
    };
    (0..SECONDS).map(|_| second()).collect()
}

fn decode(stages: &mut InProcess, second: &[(String, Vec<u8>)], decoded: &mut Decoded) {
    for (schema, line) in second {
        let outcome = stages.decoder.json_line(Some(schema), line, decoded);
        assert!(!matches!(outcome, Decoding::Dropped(_)), "{outcome:?}");
    }
}

/// Latest results of jobs, and regions by number, of rows in batches of so many seconds; restored after `restart`.
fn results(
    rows: &[Vec<(String, Vec<u8>)>],
    seconds: usize,
    restart: Option<usize>,
) -> (Vec<JobResult>, String) {
    let mut stages = InProcess::new(&settings());
    let mut regions = BTreeMap::new();
    let mut keep = |batch: ResultBatch| {
        regions.extend(batch.regions.into_iter().map(|region| (region.id, (region.name, region.victims))));
    };
    for (at, batch) in rows.chunks(seconds).enumerate() {
        let mut decoded = Decoded::default();
        batch.iter().for_each(|second| decode(&mut stages, second, &mut decoded));
        stages.feed(&decoded);
        keep(stages.take());
        if restart == Some(at) {
            let [detector, roll_up] = stages.write().unwrap();
            let decoder = std::mem::take(&mut stages.decoder);
            let states = [(Detecting::FORMAT.version(), &*detector), (Rolling::FORMAT.version(), &*roll_up)];
            stages = InProcess::read(states, &settings()).unwrap();
            stages.decoder = decoder;
        }
    }
    keep(stages.finish());
    (stages.job_results(), format!("{regions:?}"))
}

#[test]
fn results_depend_neither_on_batches_nor_on_a_restart() {
    let rows = seconds();
    let whole = results(&rows, 1, None);
    assert!(whole.0.len() > 1 && whole.1 != "{}", "{whole:?}");
    assert_eq!(results(&rows, 1, Some(120)), whole, "restored");
    assert_eq!(results(&rows, 7, None), whole, "in batches of seven seconds");
}
