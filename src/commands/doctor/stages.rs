//! Tailback's stages: their members, how far behind they are, whether they can continue where they stopped.

use super::database::Position;
use super::finding::{Finding, Group, Notes};
use super::kafka::{GroupFacts, KafkaFacts, Reader, STAGES, own_topics};
use super::sample::arrivals;
use super::words::{many, span};
use crate::config::RunConfig;
use crate::config::sections::Stage;
use std::collections::BTreeMap;
use std::time::Duration;

/// A partition of a stage's input.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Input {
    /// Topic and partition, as a person writes them.
    pub name: String,
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
    fn unread(&self) -> i64 {
        (self.high - self.next.unwrap_or(self.low).max(self.low)).max(0)
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

/// Combines the facts of brokers and database by stage; reads single messages for their age.
pub fn gather(
    config: &RunConfig,
    kafka: &KafkaFacts,
    positions: &[Position],
    reader: &Reader,
    timeout: Duration,
) -> Vec<StageFacts> {
    let own = own_topics(config);
    let mut offsets = Vec::new();
    let mut stages = Vec::new();
    for stage in STAGES {
        let topics: Vec<_> = match stage {
            Stage::Aggregator => kafka.raw(&own).collect(),
            Stage::Detector => kafka.topic(own[0]).into_iter().collect(),
            Stage::Rollup => kafka.topic(own[1]).into_iter().collect(),
        };
        let of_stage = || positions.iter().filter(|position| position.stage == stage.name());
        let mut facts = StageFacts { name: stage.name(), ..StageFacts::default() };
        facts.group = kafka.groups.get(stage.name()).cloned().flatten();
        for (topic, partition) in topics.iter().flat_map(|t| t.partitions.iter().map(move |p| (t, p))) {
            let position = of_stage().find(|position| position.partition == partition.number);
            let committed =
                kafka.committed.iter().find(|(t, p, _)| *t == topic.name && *p == partition.number);
            let next = match stage {
                Stage::Aggregator => committed.map(|(.., next)| *next),
                Stage::Detector | Stage::Rollup => position.and_then(|position| position.next),
            };
            let snapshot = position.and_then(|position| position.snapshot);
            let wanted = next.or(Some(partition.low)).into_iter().chain(snapshot);
            let kept = |offset: &i64| (partition.low..partition.high).contains(offset);
            offsets.extend(wanted.filter(kept).map(|offset| (topic.name.clone(), partition.number, offset)));
            let name = format!("{}/{}", topic.name, partition.number);
            facts.inputs.push(Input {
                name,
                low: partition.low,
                high: partition.high,
                next,
                snapshot,
                ..Input::default()
            });
        }
        if let [topic] = topics.as_slice() {
            facts.lost =
                of_stage().map(|p| p.partition).filter(|number| topic.partition(*number).is_none()).collect();
        }
        facts.event_s = of_stage().filter_map(|position| position.event_s).reduce(f64::max);
        facts.committed_ago_s = of_stage().filter_map(|position| position.committed_ago_s).reduce(f64::min);
        stages.push(facts);
    }
    date_inputs(&mut stages, &arrivals(reader, &offsets, timeout));
    stages
}

/// Fills in when messages arrived.
fn date_inputs(stages: &mut [StageFacts], arrived: &BTreeMap<(String, i32, i64), f64>) {
    for input in stages.iter_mut().flat_map(|stage| &mut stage.inputs) {
        let at = |offset: i64| {
            let (topic, partition) = input.name.rsplit_once('/')?;
            arrived.get(&(topic.to_string(), partition.parse().ok()?, offset)).copied()
        };
        (input.next_arrived_s, input.snapshot_arrived_s) =
            (at(input.next.unwrap_or(input.low)), input.snapshot.and_then(at));
    }
}

/// Whether it runs, and how far it is behind.
pub fn lag(stage: &StageFacts, now_s: f64, lag_warn_s: f64) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Stages, "lag");
    let name = stage.name;
    let unread: i64 = stage.inputs.iter().map(Input::unread).sum();
    let waiting = || stage.inputs.iter().filter(|input| input.unread() > 0);
    let oldest_s = waiting().filter_map(|input| input.next_arrived_s).map(|s| now_s - s).fold(0.0, f64::max);
    // Aggregators report their progress whether rows arrive or not, so a message may wait at any moment: the newest row's age
    // shows how far a stage is behind only where the messages' own age is not known.
    let is_dated = waiting().all(|input| input.next_arrived_s.is_some());
    let event_s = stage.event_s.filter(|_| !is_dated);
    let behind_s = event_s.map_or(oldest_s, |event_s| oldest_s.max(now_s - event_s));
    let last = stage.committed_ago_s.map_or(String::new(), |s| format!(", last commit {} ago", span(s)));
    let messages = many(unread as usize, "message");
    if let Some(group) = stage.group.as_ref().filter(|group| group.members.is_empty()) {
        let started = stage.inputs.iter().any(|input| input.next.is_some());
        let what = match started {
            true => format!(
                "{name}: does not run ({} members){last}; {messages} wait, the oldest for {}",
                0,
                span(oldest_s)
            ),
            false => format!("{name}: was never run; {messages} wait (group {})", group.state),
        };
        let mend = format!("start `tailback run` with {name:?} in run.stages");
        match unread > 0 {
            true => notes.error(what, mend),
            false => notes.warn(what, mend),
        }
        return notes.done();
    }
    let members = match &stage.group {
        Some(group) => many(group.members.len(), "member"),
        None => "members unknown".to_string(),
    };
    let what = format!("{name}: {members}, {messages} to read, {} behind{last}", span(behind_s));
    match behind_s > lag_warn_s {
        true => notes.warn(
            what,
            format!("start more processes with {name:?} in run.stages, and look for what is slow: CPU here, disk of the database"),
        ),
        false => notes.ok(what),
    }
    notes.done()
}

/// Whether what it has to read is still there.
pub fn positions(stage: &StageFacts, snapshot_interval_s: u64, now_s: f64) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Stages, "positions");
    let name = stage.name;
    let start_over = "stop all stages, delete the counters and partials topics, run `tailback migrate --forget-positions`, and start them \
                again";
    if !stage.lost.is_empty() {
        notes.error(
            format!("{name}: its topic has lost partitions {:?} and was created again", stage.lost),
            start_over,
        );
    }
    for input in &stage.inputs {
        let next = input.next.unwrap_or(input.low);
        if next > input.high {
            let what = format!(
                "{name}: stands at {next} in {}, which ends at {}: the topic was created again",
                input.name, input.high
            );
            notes.warn(what, "start `tailback run`: it reads the new topic from its first message");
        } else if next < input.low {
            notes.error(
                format!("{name}: {} of {} were deleted before they were read", many((input.low - next) as usize, "message"), input.name),
                "let the stage run, and raise retention.ms of the topic above the longest outage; these rows are lost",
            );
        } else if let Some(snapshot) = input.snapshot.filter(|snapshot| *snapshot < input.low) {
            notes.error(
                format!("{name}: a restart reads {} from {snapshot}, but the log begins at {}", input.name, input.low),
                "raise retention.ms of the topic, and let the stage run until it has written another snapshot",
            );
        }
    }
    let age = |input: &&Input| input.snapshot_arrived_s.map_or(0.0, |s| now_s - s);
    let oldest =
        stage.inputs.iter().filter(|input| input.snapshot.is_some()).max_by(|a, b| age(a).total_cmp(&age(b)));
    if let Some(oldest) = oldest.filter(|_| notes.problems() == 0) {
        let again = oldest.next.unwrap_or(0) - oldest.snapshot.unwrap_or(0);
        let what = format!(
            "{name}: the oldest snapshot is {} old; a restart reads {} of {} again",
            span(age(&oldest)),
            many(again.max(0) as usize, "message"),
            oldest.name
        );
        match age(&oldest) > 10.0 * snapshot_interval_s as f64 && again > 0 {
            true => notes.warn(what, "look at the stage's log for snapshots that could not be written"),
            false => notes.ok(what),
        }
    } else if notes.problems() == 0 && stage.inputs.iter().any(|input| input.next.is_some()) {
        notes.ok(format!("{name}: nothing that it has to read was deleted"));
    }
    notes.done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::finding::Level;

    fn stage(members: usize, inputs: Vec<Input>) -> StageFacts {
        let group = GroupFacts { state: "Stable".into(), members: vec!["here".into(); members] };
        StageFacts { name: "detector", group: Some(group), inputs, ..StageFacts::default() }
    }

    fn input(low: i64, next: i64, high: i64) -> Input {
        let next_arrived_s = Some(100.0);
        Input {
            name: "tailback.counters/0".into(),
            low,
            high,
            next: Some(next),
            next_arrived_s,
            ..Input::default()
        }
    }

    #[test]
    fn stopped_stage_is_an_error_when_messages_wait() {
        let found = lag(&stage(0, vec![input(0, 10, 30)]), 160.0, 30.0);
        assert_eq!(found[0].level, Level::Error);
        assert!(found[0].what.contains("20 messages wait, the oldest for 60 s"), "{found:?}");
        assert_eq!(lag(&stage(0, vec![input(0, 30, 30)]), 160.0, 30.0)[0].level, Level::Warn);
    }

    #[test]
    fn lag_is_in_seconds_and_only_with_messages_to_read() {
        assert_eq!(lag(&stage(1, vec![input(0, 10, 30)]), 160.0, 30.0)[0].level, Level::Warn);
        assert_eq!(lag(&stage(1, vec![input(0, 10, 30)]), 110.0, 30.0)[0].level, Level::Ok);
        let idle = StageFacts { event_s: Some(1.0), ..stage(1, vec![input(0, 30, 30)]) };
        assert_eq!(lag(&idle, 9_999.0, 30.0)[0].level, Level::Ok);
    }

    #[test]
    fn idle_stage_lags_by_waiting_messages() {
        let facts = StageFacts { event_s: Some(1.0), ..stage(1, vec![input(0, 10, 30), input(0, 30, 30)]) };
        let found = lag(&facts, 102.0, 30.0);
        assert_eq!(found[0].level, Level::Ok);
        assert!(found[0].what.contains("2.0 s behind"), "{found:?}");
        let undated = Input { next_arrived_s: None, ..input(0, 10, 30) };
        let facts = StageFacts { event_s: Some(1.0), ..stage(1, vec![input(0, 10, 30), undated]) };
        assert_eq!(lag(&facts, 102.0, 30.0)[0].level, Level::Warn, "how old one of them is is not known");
    }

    #[test]
    fn deleted_messages_are_an_error_recreated_topic_a_warning() {
        for (input, word, level) in [
            (input(50, 10, 90), "40 messages", Level::Error),
            (input(0, 10, 5), "created again", Level::Warn),
        ] {
            let found = positions(&stage(1, vec![input]), 60, 160.0);
            assert_eq!(found[0].level, level);
            assert!(found[0].what.contains(word), "{found:?}");
        }
        let old = Input { snapshot: Some(5), ..input(20, 30, 40) };
        assert!(positions(&stage(1, vec![old]), 60, 160.0)[0].what.contains("a restart reads"));
    }

    #[test]
    fn an_old_snapshot_makes_restarts_slow() {
        let old = Input { snapshot: Some(5), snapshot_arrived_s: Some(0.0), ..input(0, 30, 40) };
        let stage = stage(1, vec![old]);
        assert_eq!(positions(&stage, 60, 160.0)[0].level, Level::Ok);
        assert_eq!(positions(&stage, 60, 1_600.0)[0].level, Level::Warn);
    }
}
