//! Facts of Tailback's stages: their members, what they have read, what waits.

use super::kafka::{GroupFacts, KafkaFacts, PartitionFacts, Reader, STAGES, TopicFacts, own_topics};
use super::sample::arrivals;
use configuration::RunConfig;
use configuration::stage::Stage;
use std::collections::BTreeMap;
use std::time::Duration;
use store::read::doctor::Position;

/// A partition of a stage's input.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Input {
    /// Its topic.
    pub topic: String,
    /// Its number.
    pub partition: i32,
    /// First offset kept.
    pub low: i64,
    /// Offset after the newest message.
    pub high: i64,
    /// Next offset that the stage reads; `None` before the first commit.
    pub next: Option<i64>,
    /// Offset at which its snapshot was taken.
    pub snapshot: Option<i64>,
    /// When the next message arrived, in seconds since the epoch.
    pub next_arrived_s: Option<f64>,
    /// When the first message after the snapshot arrived.
    pub snapshot_arrived_s: Option<f64>,
}

impl Input {
    /// Topic and partition, as a person writes them.
    pub fn name(&self) -> String {
        format!("{}/{}", self.topic, self.partition)
    }

    /// Messages that the stage has to read.
    pub fn unread(&self) -> i64 {
        (self.high - self.next.unwrap_or(self.low).max(self.low)).max(0)
    }

    /// Next offset, or the first one before the first commit.
    fn next_or_low(&self) -> i64 {
        self.next.unwrap_or(self.low)
    }

    /// Messages whose age matters, as far as they are kept: topic, partition, offset.
    fn dated(&self) -> impl Iterator<Item = (String, i32, i64)> {
        let kept = |offset: &i64| (self.low..self.high).contains(offset);
        let offsets = std::iter::once(self.next_or_low()).chain(self.snapshot).filter(kept);
        offsets.map(|offset| (self.topic.clone(), self.partition, offset))
    }
}

/// A stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageFacts {
    /// Its name.
    pub name: &'static str,
    /// Its consumer group; `None` if the brokers do not return it.
    pub group: Option<GroupFacts>,
    /// Its input; empty where the topic does not exist.
    pub inputs: Vec<Input>,
    /// Partitions that were committed but are no part of the topic any more.
    pub lost: Vec<i32>,
    /// Time of its newest signal, in seconds since the epoch.
    pub event_s: Option<f64>,
    /// Seconds since its last commit.
    pub committed_ago_s: Option<f64>,
}

impl StageFacts {
    /// Messages that it has to read.
    pub fn unread(&self) -> i64 {
        self.inputs.iter().map(Input::unread).sum()
    }
}

/// Combines the facts of brokers and database by stage; reads single messages for their age.
pub fn gather(
    config: &RunConfig,
    kafka: &KafkaFacts,
    positions: &[Position],
    reader: &Reader,
    timeout: Duration,
) -> Vec<StageFacts> {
    let own = own_topics(config);
    let mut stages = Vec::from(STAGES.map(|stage| stage_facts(stage, kafka, &own, positions)));
    let dated: Vec<_> = stages.iter().flat_map(|stage| &stage.inputs).flat_map(Input::dated).collect();
    date_inputs(&mut stages, &arrivals(reader, &dated, timeout));
    stages
}

/// Messages that each stage has not read yet, whether it runs or not. A stage is missing where none of its topics can be seen.
pub fn unread(config: &RunConfig, kafka: &KafkaFacts, positions: &[Position]) -> Vec<(&'static str, i64)> {
    let own = own_topics(config);
    let stages = STAGES.map(|stage| stage_facts(stage, kafka, &own, positions));
    let seen = stages.iter().filter(|stage| !stage.inputs.is_empty());
    seen.map(|stage| (stage.name, stage.unread())).collect()
}

fn stage_facts(stage: Stage, kafka: &KafkaFacts, own: &[&str; 4], positions: &[Position]) -> StageFacts {
    let topics: Vec<&TopicFacts> = match stage {
        Stage::Aggregator => kafka.raw(own).collect(),
        Stage::Detector => kafka.topic(own[0]).into_iter().collect(),
        Stage::Rollup => kafka.topic(own[1]).into_iter().collect(),
    };
    let positions = || positions.iter().filter(|position| position.stage == stage.name());
    let partitions = topics.iter().flat_map(|topic| topic.partitions.iter().map(move |p| (*topic, p)));
    let input = |(topic, partition): (&TopicFacts, &PartitionFacts)| {
        let position = positions().find(|position| position.partition == partition.number);
        let next = match stage {
            Stage::Aggregator => kafka.committed(&topic.name, partition.number),
            Stage::Detector | Stage::Rollup => position.and_then(|position| position.next),
        };
        Input {
            topic: topic.name.clone(),
            partition: partition.number,
            low: partition.low,
            high: partition.high,
            next,
            snapshot: position.and_then(|position| position.snapshot),
            ..Input::default()
        }
    };
    let is_lost = |topic: &TopicFacts, number: &i32| topic.partition(*number).is_none();
    StageFacts {
        name: stage.name(),
        group: kafka.groups.get(stage.name()).cloned().flatten(),
        inputs: partitions.map(input).collect(),
        lost: match topics.as_slice() {
            [topic] => positions().map(|p| p.partition).filter(|number| is_lost(topic, number)).collect(),
            _ => Vec::new(),
        },
        event_s: positions().filter_map(|position| position.event_s).reduce(f64::max),
        committed_ago_s: positions().filter_map(|position| position.committed_ago_s).reduce(f64::min),
    }
}

/// Fills in when messages arrived.
fn date_inputs(stages: &mut [StageFacts], arrived: &BTreeMap<(String, i32, i64), f64>) {
    for input in stages.iter_mut().flat_map(|stage| &mut stage.inputs) {
        let at = |offset| arrived.get(&(input.topic.clone(), input.partition, offset)).copied();
        let next = at(input.next_or_low());
        let snapshot = input.snapshot.and_then(at);
        (input.next_arrived_s, input.snapshot_arrived_s) = (next, snapshot);
    }
}
