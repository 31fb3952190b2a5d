//! Clocks of producers, compared.

use crate::facts::rows::Stamp;
use crate::finding::{Finding, Group, Notes};
use crate::words::{few, many, median, span};
use std::collections::BTreeMap;

/// Producers that are named; the rest is counted.
const NAMED: usize = 5;
/// Fewest rows from which a clock is judged.
const ROWS_LEAST: usize = 3;

/// Clocks of producers: what lies between a row's timestamp and Kafka's, against the others'.
pub fn skewed(stamps: &[Stamp], skew_warn_s: f64, now_s: f64) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Samplers, "clocks");
    let medians = median_delays(stamps);
    let all = median(&mut medians.iter().map(|(_, median)| *median).collect::<Vec<_>>());
    let Some(all) = all.filter(|_| medians.len() > 1) else {
        notes.unknown("it takes rows of two producers to compare their clocks");
        return notes.done();
    };
    // A clock that is ahead makes rows look as if they had hardly travelled.
    let mut off: Vec<(&str, f64)> = medians.iter().map(|(p, median)| (*p, all - median)).collect();
    off.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let far: Vec<String> = off
        .iter()
        .filter(|(_, ahead)| ahead.abs() > skew_warn_s)
        .map(|(p, ahead)| format!("{p} {} {}", span(*ahead), if *ahead > 0.0 { "ahead" } else { "behind" }))
        .collect();
    match far.is_empty() {
        true => {
            let worst = off.first().map_or(0.0, |(_, ahead)| ahead.abs());
            notes.ok(format!("the clocks of {} agree within {}", many(medians.len(), "producer"), span(worst)));
        }
        false => notes.warn(
            format!("clocks differ: {} of {}: {}", far.len(), many(medians.len(), "producer"), few(&far, NAMED)),
            "on these nodes: `chronyc tracking`, then `chronyc makestep`; rows behind the lateness are dropped",
        ),
    }
    notes.ok(format!("rows reach Kafka {} after they were sampled (median)", span(all)));
    future(stamps, now_s, skew_warn_s, &mut notes);
    notes.done()
}

/// The median time from sample to arrival of each producer with enough rows.
fn median_delays(stamps: &[Stamp]) -> Vec<(&str, f64)> {
    let mut delays: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for stamp in stamps {
        delays.entry(&stamp.producer).or_default().push(stamp.arrived_s - stamp.row_s);
    }
    let enough = delays.into_iter().filter(|(_, delays)| delays.len() >= ROWS_LEAST);
    enough.filter_map(|(p, mut delays)| Some((p, median(&mut delays)?))).collect()
}

fn future(stamps: &[Stamp], now_s: f64, skew_warn_s: f64, notes: &mut Notes) {
    let ahead = |stamp: &&Stamp| stamp.row_s - stamp.arrived_s.min(now_s);
    let early: Vec<&Stamp> = stamps.iter().filter(|stamp| ahead(stamp) > skew_warn_s).collect();
    let Some(worst) = early.iter().max_by(|a, b| ahead(a).total_cmp(&ahead(b))) else { return };
    notes.warn(
        format!(
            "{} of {} are from the future, the farthest {} ahead from {}",
            early.len(),
            many(stamps.len(), "sampled row"),
            span(ahead(worst)),
            worst.producer
        ),
        "set the clock of that node, or of this machine and the brokers if all are ahead (`chronyc tracking`)",
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamps(producer: &str, delays: [f64; 3]) -> Vec<Stamp> {
        let stamp = |(i, delay): (usize, &f64)| Stamp {
            producer: producer.into(),
            row_s: 100.0 + i as f64,
            arrived_s: 100.0 + i as f64 + delay,
        };
        delays.iter().enumerate().map(stamp).collect()
    }

    #[test]
    fn a_clock_is_judged_against_the_others() {
        let mut all = stamps("n1", [0.1, 0.12, 0.1]);
        all.extend(stamps("n2", [0.11, 0.1, 5.0]));
        all.extend(stamps("n3", [-1.9, -1.9, -1.8]));
        let found = skewed(&all, 0.5, 1_000.0);
        assert!(found[0].what.contains("1 of 3 producers: n3 2.0 s ahead"), "{found:?}");
        assert!(found[2].what.starts_with("3 of 9 sampled rows are from the future"), "{found:?}");
    }

    #[test]
    fn agreeing_clocks_are_reported_with_the_delay() {
        let mut all = stamps("n1", [0.1, 0.1, 0.1]);
        all.extend(stamps("n2", [0.15, 0.15, 0.15]));
        let found = skewed(&all, 0.5, 1_000.0);
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].what, "rows reach Kafka 125 ms after they were sampled (median)");
    }
}
