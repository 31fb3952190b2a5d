//! Messages between stages and to other programs, decoded; and their bytes in Kafka.

use crate::alert_updates;
use crate::job_parts::PartMessage;
use crate::links::{self, LinkMessage};
use crate::stage::BadMessage;
use crate::verdict::Verdict;
use alerts::Updates;
use anyhow::Context;
use schemas::wire::Kind;

/// A message of a stage.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// For the roll-up stage.
    Partial(Partial),
    /// For other programs.
    Verdict(Verdict),
}

/// A message of `tailback.partials`.
#[derive(Clone, Debug, PartialEq)]
pub enum Partial {
    /// What is known of a job.
    JobPart(PartMessage),
    /// Seconds of links, and their jobs.
    Links(LinkMessage),
    /// Updates for alerts.
    Alerts(Updates),
}

impl From<PartMessage> for Content {
    fn from(part: PartMessage) -> Content {
        Content::Partial(Partial::JobPart(part))
    }
}

impl From<LinkMessage> for Content {
    fn from(links: LinkMessage) -> Content {
        Content::Partial(Partial::Links(links))
    }
}

impl From<Updates> for Content {
    fn from(updates: Updates) -> Content {
        Content::Partial(Partial::Alerts(updates))
    }
}

impl From<Verdict> for Content {
    fn from(verdict: Verdict) -> Content {
        Content::Verdict(verdict)
    }
}

impl Content {
    /// As messages for Kafka: of links and alerts as many as it takes for none to be longer than `bytes_max`.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn encoded(self, bytes_max: usize) -> anyhow::Result<Vec<Outgoing>> {
        let key = self.key();
        let (to, payloads) = match self {
            Content::Partial(partial) => (OutTopic::Partials, partial.payloads(bytes_max)?),
            Content::Verdict(verdict) => (OutTopic::Verdicts, vec![verdict.payload()?]),
        };
        let outgoing = |payload| Outgoing { to, key: key.clone(), payload };
        Ok(payloads.into_iter().map(outgoing).collect())
    }

    /// Messages of one key keep their order. Links and alerts of all partitions go to one partition.
    fn key(&self) -> String {
        match self {
            Content::Partial(Partial::JobPart(message)) => message.job_id.to_string(),
            Content::Partial(Partial::Links(_) | Partial::Alerts(_)) => links::KEY.to_string(),
            Content::Verdict(verdict) => verdict.key(),
        }
    }
}

impl Partial {
    /// Reads a message of `tailback.partials`.
    ///
    /// # Errors
    /// A message of another topic or version, or a damaged one.
    pub fn read(payload: &[u8]) -> Result<Partial, BadMessage> {
        let (kind, body) = Kind::split(payload)?;
        let damaged = |about: &str| BadMessage(format!("the message {about} is damaged"));
        match kind {
            Kind::Links => LinkMessage::read(body).map(Partial::Links).ok_or_else(|| damaged("of links")),
            Kind::Alerts => {
                alert_updates::read(body).map(Partial::Alerts).ok_or_else(|| damaged("for alerts"))
            }
            Kind::JobPart => PartMessage::read(body).map(Partial::JobPart).ok_or_else(|| damaged("of a job")),
            Kind::Counters | Kind::JobRows | Kind::Dropped | Kind::Progress | Kind::Rejected => {
                Err(kind.misplaced().into())
            }
        }
    }

    fn payloads(self, bytes_max: usize) -> anyhow::Result<Vec<Vec<u8>>> {
        match self {
            Partial::JobPart(message) => {
                let payload = message.payload();
                Ok(vec![payload.with_context(|| format!("part of job {}", message.job_id))?])
            }
            Partial::Links(message) => message.payloads(bytes_max).context("changes of links"),
            Partial::Alerts(updates) => {
                alert_updates::payloads(updates, bytes_max).context("input of alerts")
            }
        }
    }
}

/// A message for Kafka.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Where to.
    pub to: OutTopic,
    /// Key; messages of one key keep their order.
    pub key: String,
    /// Content.
    pub payload: Vec<u8>,
}

/// Topics that stages write to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OutTopic {
    /// `tailback.partials`: what detectors know of jobs and links, for the roll-up stage.
    Partials,
    /// `tailback.verdicts`: episodes and results of jobs, for other programs.
    Verdicts,
}
