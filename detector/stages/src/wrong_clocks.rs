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

/// Wrong clocks that were logged, each once a process.
#[derive(Debug, Default)]
pub struct Logged(BTreeSet<Name>);

impl Logged {
    /// What a stored state knows was logged when it was found.
    pub fn of(detector: &Detector) -> Logged {
        Logged(detector.wrong_clocks().map(|(producer, _)| producer.clone()).collect())
    }

    /// Logs those that were not logged before, in one line.
    pub fn log(&mut self, detector: &Detector) {
        if !self.0.is_empty() {
            let known: BTreeSet<&Name> = detector.wrong_clocks().map(|(producer, _)| producer).collect();
            self.0.retain(|producer| known.contains(producer));
        }
        let mut new: Vec<_> =
            detector.wrong_clocks().filter(|(producer, _)| self.0.insert((*producer).clone())).collect();
        new.sort_by(|a, b| b.1.ahead_s.total_cmp(&a.1.ahead_s));
        let Some((_, farthest)) = new.first() else { return };
        let named: Vec<&str> = new.iter().take(NAMED).map(|(producer, _)| producer.as_str()).collect();
        tracing::warn!(
            producers = named.join(","),
            more = new.len() - named.len(),
            ahead_s = farthest.ahead_s.round(),
            "clocks are ahead of the other producers': their rows move no other series; set them (`chronyc tracking`)"
        );
    }
}
