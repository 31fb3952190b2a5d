//! The detector stage without Kafka: rows and job events that are in the order of time already, so that no inbox is needed.

use super::Detecting;
use super::ordered::Downstream;
use detector::detector::Detector;
use detector::inbox::Outlet;
use schemas::{CounterBatch, Job, JobEvent, Sources, Time};

impl Detecting {
    /// Takes a job of a job file, which is valid from the beginning: rows about it change nothing.
    pub(crate) fn declare(&mut self, job: Job) {
        self.messages += 1;
        self.ordered.declare(job);
    }

    /// Takes rows and job events. As in an inbox, job events go before the rows of their second and after those of the
    /// seconds before.
    pub(crate) fn in_order(&mut self, sources: &Sources, rows: &CounterBatch, events: &[JobEvent]) {
        self.messages += 1;
        let mut down = Downstream { ordered: &mut self.ordered, sources };
        if events.is_empty() {
            return down.rows(rows);
        }
        let mut rest = rows.rows().peekable();
        for of_second in events.chunk_by(|a, b| second_of(a.time) == second_of(b.time)) {
            let second = second_of(of_second[0].time);
            let mut before = CounterBatch::default();
            while let Some((source, time, counters)) = rest.next_if(|row| second_of(row.1) < second) {
                before.push(source, time, counters);
            }
            down.rows(&before);
            down.jobs(of_second);
        }
        let mut after = CounterBatch::default();
        rest.for_each(|(source, time, counters)| after.push(source, time, counters));
        down.rows(&after);
    }

    /// Every row up to the newest one was taken.
    pub(crate) fn read_all(&mut self) {
        let Some(newest) = self.ordered.detector.newest() else { return };
        if self.ordered.read_up_to(newest) {
            self.forget_sent_parts();
        }
    }

    /// The stream ended: rows that wait are used, and what is open closes at its last reading.
    pub(crate) fn finish(&mut self) {
        self.messages += 1;
        self.ordered.detector.finish();
        self.read_all();
        self.ordered.links.finish();
    }

    /// Grows with every call that gives the stage something.
    pub(crate) fn position(&self) -> i64 {
        self.messages.cast_signed()
    }

    /// Series, the newest row, clocks that are wrong.
    pub(crate) fn detector(&self) -> &Detector {
        &self.ordered.detector
    }
}

fn second_of(time: Time) -> i64 {
    time.0.div_euclid(1_000_000)
}
