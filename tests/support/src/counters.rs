//! Messages of `tailback.counters`.

use schemas::wire::{Origin, Reached, write_counters, write_progress, write_source};
use schemas::{Metric, Name, Source, Time};

fn at(second: i64) -> Time {
    Time::from_seconds(1_000_000_000.0 + second as f64)
}

/// A row of one writer, and the word that the raw partition was read up to it.
pub fn messages_of(node: &str, second: i64) -> [Vec<u8>; 2] {
    let name = |text: &str| Name::parse(text).unwrap();
    let (metric, node) = (Metric::from_name("lustre_write_rate").unwrap(), name(node));
    let source = Source {
        schema: name("lustre_client"),
        producer: node.clone(),
        metrics: vec![metric],
        component: node,
        set: None,
        parts: vec![name("snx11168")],
        rank: 0,
        by_job: false,
    };
    let (mut described, mut row, mut progress) = (Vec::new(), Vec::new(), Vec::new());
    write_source(&mut described, &source);
    let origin = Origin { topic: "ldms.lustre_client", partition: 0, offset: second, arrived: at(second) };
    write_counters(&mut row, &origin, at(second), &described, &[second as u64 * 1_000_000]);
    let reached = [Reached { topic: "ldms.lustre_client".to_string(), partition: 0, time: at(second) }];
    write_progress(&mut progress, "a", at(second), &reached);
    [row, progress]
}
