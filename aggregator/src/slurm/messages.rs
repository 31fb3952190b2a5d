//! What the decoder does with messages and rows about jobs.

use super::event;
use crate::decode::{Decoded, Decoder, Outcome, trimmed};
use crate::registry::Refusal;
use schemas::{JobEvent, Time};

impl Decoder {
    /// Decodes a message of a topic of jobs: Slurm's `jobcomp/kafka`, or what was posted; `arrived` is when Kafka got
    /// it. A job that never ran is passed over.
    pub fn job_message(&mut self, message: &[u8], arrived: Time, out: &mut Decoded) -> Outcome {
        let event = event(trimmed(message), arrived);
        let distinguished = event.and_then(|event| {
            event.map(|(event, cluster)| self.clusters.distinguished(event, &cluster)).transpose()
        });
        self.job_refusal = distinguished.as_ref().err().map_or(String::new(), Refusal::text);
        self.jobs(distinguished.map(|event| event.into_iter().collect()), out)
    }

    /// Why the latest message of a topic of jobs was refused; "" if it was not.
    pub fn job_refusal(&self) -> &str {
        &self.job_refusal
    }

    /// Takes the events of a row of a sampler of jobs.
    pub(crate) fn sampled_jobs(
        &mut self,
        events: Result<Vec<JobEvent>, Refusal<'_>>,
        out: &mut Decoded,
    ) -> Outcome {
        let outcome = self.jobs(events, out);
        out.has_sampled_jobs |= matches!(outcome, Outcome::Jobs(_));
        outcome
    }

    pub(crate) fn jobs(&mut self, events: Result<Vec<JobEvent>, Refusal<'_>>, out: &mut Decoded) -> Outcome {
        match events {
            Err(refused) => self.dropped(&refused),
            Ok(events) if events.is_empty() => Outcome::Skipped,
            Ok(events) => {
                let count = events.len();
                out.jobs.extend(events);
                Outcome::Jobs(count)
            }
        }
    }
}
