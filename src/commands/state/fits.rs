//! Whether the states of a savepoint fit this program, its configuration and the topics at the brokers.

use crate::runtime::topic_id::TopicId;
use crate::runtime::topics;
use anyhow::{Context, ensure};
use configuration::RunConfig;
use stages::state::format_of;
use store::savepoint::{Head, StateHead};

/// Refuses states that the stages could not continue.
///
/// # Errors
/// What does not fit, and what to do.
pub(super) fn check(head: &Head, states: &[StateHead], config: &RunConfig) -> anyhow::Result<()> {
    states.iter().try_for_each(version)?;
    let expected = super::head(head.generation, config);
    for (saved, configured) in head.inputs.iter().zip(&expected.inputs) {
        ensure!(
            saved == configured,
            "the {} of the savepoint reads {}, and that of this configuration {}: correct [kafka]",
            saved.stage,
            words(saved),
            words(configured)
        );
    }
    for input in &expected.inputs {
        let Some(topic) = &input.topic else { continue };
        let of_stage: Vec<&StateHead> = states.iter().filter(|state| state.stage == input.stage).collect();
        let (partitions, id) = topics::look_up(config, topic)?;
        partitions_equal(topic, partitions, of_stage.len())?;
        of_stage.iter().try_for_each(|state| identity(topic, &id, state))?;
    }
    Ok(())
}

fn words(input: &store::savepoint::Input) -> String {
    let topic = input.topic.as_deref().unwrap_or("raw topics");
    format!("{topic} in the group {}", input.group)
}

fn version(state: &StateHead) -> anyhow::Result<()> {
    let StateHead { stage, partition, .. } = state;
    let format = format_of(stage).with_context(|| format!("this program has no stage {stage}"))?;
    let checked = state.version.map_or(Ok(()), |version| format.check(version));
    checked.with_context(|| format!("the state of {stage}/{partition} cannot be read"))
}

fn partitions_equal(topic: &str, found: i32, saved: usize) -> anyhow::Result<()> {
    ensure!(
        found > 0,
        "the brokers have no topic {topic}: a savepoint continues in the topics that it was exported with; correct \
         kafka.brokers"
    );
    ensure!(
        usize::try_from(found) == Ok(saved),
        "the topic {topic} has {found} partitions, and the savepoint {saved}: it is of another topic, or was exported before \
         all partitions were claimed"
    );
    Ok(())
}

fn identity(topic: &str, found: &TopicId, state: &StateHead) -> anyhow::Result<()> {
    if let (TopicId::Known(found), Some(saved)) = (found, &state.topic_id) {
        ensure!(
            found == saved,
            "the topic {topic} is another one ({found}) than the savepoint's ({saved}): it was deleted and created again, or \
             kafka.brokers name another cluster; start without import, and the stages read it from its beginning"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(stage: &str, version: u32, topic_id: Option<&str>) -> StateHead {
        StateHead {
            stage: stage.to_string(),
            partition: 0,
            version: Some(version),
            position: 10,
            offset_base: 0,
            topic_id: topic_id.map(str::to_string),
            bytes: 0,
            sha256: String::new(),
        }
    }

    #[test]
    fn states_of_newer_versions_and_other_stages_are_refused() {
        version(&state("detector", 1, None)).unwrap();
        let newer = format!("{:#}", version(&state("rollup", 1_000, None)).unwrap_err());
        assert!(newer.contains("a newer Tailback") && newer.contains("rollup/0"), "{newer}");
        version(&state("oracle", 1, None)).unwrap_err();
    }

    #[test]
    fn other_topics_are_refused() {
        let known = TopicId::Known("a".to_string());
        identity("t", &known, &state("detector", 1, Some("a"))).unwrap();
        identity("t", &known, &state("detector", 1, None)).unwrap();
        identity("t", &TopicId::Unknown, &state("detector", 1, Some("a"))).unwrap();
        let error = identity("t", &known, &state("detector", 1, Some("b"))).unwrap_err().to_string();
        assert!(error.contains("deleted and created again"), "{error}");
        partitions_equal("t", 6, 6).unwrap();
        for partitions in [0, 5, 7] {
            partitions_equal("t", partitions, 6).unwrap_err();
        }
    }
}
