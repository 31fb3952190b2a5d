//! Rows as our decoder reads them, and checks of their times.

use super::{ROWS, hardware, site};
use aggregator::{Decoded, Decoder};
use schemas::{Metric, Name};
use std::collections::{BTreeMap, BTreeSet};

/// Series and times of decoded rows.
#[derive(Default)]
pub struct Seen {
    /// Names of series.
    pub series: BTreeSet<String>,
    times: BTreeMap<(String, String), Vec<i64>>,
}

impl Seen {
    /// Notes a batch.
    pub fn take(&mut self, decoder: &Decoder, out: &Decoded) {
        for (source, time, counters) in out.counters.rows() {
            let source = decoder.sources().get(source).unwrap();
            if source.schema.as_str() == "lustre_client" {
                assert_eq!(counters.last(), Some(&hardware::WRITTEN_BYTES));
            }
            let key = (source.producer.to_string(), source.schema.to_string());
            self.times.entry(key).or_default().push(time.0);
            let name =
                |(metric, part): (Metric, &Name)| format!("{}/{}/{part}", metric.name(), source.component);
            self.series.extend(source.series().map(name));
        }
    }

    /// Whether all series of the site arrived, and enough rows of each.
    pub fn enough(&self, has: site::Has) -> bool {
        self.series == site::series(has) && self.times.values().all(|times| times.len() >= ROWS)
    }

    /// Samples are taken on the second, and none is skipped or comes twice. Medians, since a machine may be stopped in
    /// between.
    pub fn check(&mut self) {
        for ((producer, schema), times) in &mut self.times {
            let source = format!("{producer} {schema}");
            times.sort_unstable();
            let unique: BTreeSet<&i64> = times.iter().collect();
            assert_eq!(unique.len(), times.len(), "{source}: a sample came twice");
            let phase = median(times.iter().map(|time| time.rem_euclid(1_000_000)).collect());
            let gap = median(times.windows(2).map(|pair| pair[1] - pair[0]).collect());
            println!("{source}: {} rows, {phase} us after the second, {gap} us apart (medians)", times.len());
            assert!(
                phase < site::LEVEL1_OFFSET_US,
                "{source}: {phase} us after the second, level 1 would come first"
            );
            assert!((900_000..1_100_000).contains(&gap), "{source}: {gap} us apart");
        }
    }
}

fn median(mut values: Vec<i64>) -> i64 {
    values.sort_unstable();
    values[values.len() / 2]
}
