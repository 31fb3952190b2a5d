//! Producers whose clocks are ahead of the others', for a person.

use detector::detector::Detector;
use schemas::Name;
use std::collections::BTreeSet;

/// Producers that are named, the farthest ahead first.
const NAMED: usize = 5;

/// Lines about the clocks that are wrong, and what to do.
pub fn lines(detector: &Detector) -> Vec<String> {
    let mut all: Vec<_> = detector.wrong_clocks().collect();
    all.sort_by(|a, b| b.1.ahead_s.total_cmp(&a.1.ahead_s));
    let mut lines = Vec::new();
    for (producer, clock) in all.iter().take(NAMED) {
        let (ahead_s, rows) = (clock.ahead_s, clock.rows);
        lines.push(format!(
            "clock of {producer}: {ahead_s:.0} s ahead of the others in {rows} rows; set it (`chronyc tracking`)"
        ));
    }
    if all.len() > NAMED {
        lines.push(format!("clocks of {} more producers are ahead", all.len() - NAMED));
    }
    lines
}

/// Logs each wrong clock once a process.
#[derive(Debug, Default)]
pub struct Logged(BTreeSet<Name>);

impl Logged {
    /// Logs those that were not logged before.
    pub fn log(&mut self, detector: &Detector) {
        for (producer, clock) in detector.wrong_clocks() {
            if self.0.insert(producer.clone()) {
                tracing::warn!(
                    %producer,
                    ahead_s = clock.ahead_s.round(),
                    "clock is ahead of the other producers': its rows move no other series; set it (`chronyc tracking`)"
                );
            }
        }
    }
}
