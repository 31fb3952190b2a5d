//! The pace of a job beside that of earlier runs.

use super::facts::{contended, name};
use crate::breakdown::factors;
use schemas::{JobProgress, MeasuredLoss};

/// The line about the pace of a job that counts `per_s` steps a second after runs that counted `earlier`.
fn line(per_s: f64, earlier: &[f64]) -> Option<String> {
    let mut facts = contended();
    let loss = MeasuredLoss::NeverContended;
    let progress = JobProgress {
        name: name("steps"),
        covered_s: 400.0,
        contended_s: 0.0,
        per_s: Some(per_s),
        counters_s: 0.0,
        loss,
    };
    facts.result.as_mut().unwrap().progress = vec![progress];
    facts.earlier_paces = earlier.iter().map(|per_s| ("steps".to_string(), *per_s)).collect();
    facts.earlier_paces.push(("bytes".to_string(), 1e9));
    factors(&facts).into_iter().find(|line| line.starts_with("pace"))
}

#[test]
fn job_slower_than_each_earlier_run_is_slow_without_contention() {
    for (per_s, earlier, wanted) in [
        (
            4.0,
            &[5.0, 5.1, 4.9][..],
            Some(
                "0.80 times the usual one, 3 earlier runs [0.98, 1.02]: slower, not by the network or file system",
            ),
        ),
        (4.8, &[5.0, 5.1, 4.9], Some("0.96 times the usual one, 3 earlier runs [0.98, 1.02]: as usual")),
        (4.0, &[5.0, 3.9, 5.2, 5.1], Some("0.79 times the usual one, 4 earlier runs [0.77, 1.03]: as usual")),
        (4.0, &[5.0, 5.1], None),
    ] {
        let found = line(per_s, earlier);
        assert_eq!(found.as_deref(), wanted.map(|text| format!("pace           steps: {text}")).as_deref());
    }
}
