//! Whether the stages run, and how far they are behind.

use crate::facts::kafka::GroupFacts;
use crate::facts::stages::{Input, StageFacts};
use crate::finding::{Finding, Group, Notes};
use crate::words::{many, span};
use schemas::HealthLimits;

/// Whether it runs, and how far it is behind.
pub fn check(stage: &StageFacts, now_s: f64, limits: &HealthLimits) -> Vec<Finding> {
    let mut notes = Notes::of(Group::Stages, "lag");
    match stage.group.as_ref().filter(|group| group.members.is_empty()) {
        Some(group) => stopped(stage, group, now_s, &mut notes),
        None => running(stage, now_s, limits, &mut notes),
    }
    notes.done()
}

fn stopped(stage: &StageFacts, group: &GroupFacts, now_s: f64, notes: &mut Notes) {
    let (name, last, unread) = (stage.name, last_commit(stage), stage.unread());
    let messages = many(unread as usize, "message");
    let what = match stage.inputs.iter().any(|input| input.next.is_some()) {
        true => {
            let oldest = span(oldest_s(stage, now_s));
            format!("{name}: does not run (0 members){last}; {messages} wait, the oldest for {oldest}")
        }
        false => format!("{name}: was never run; {messages} wait (group {})", group.state),
    };
    let mend = format!("start `tailback run` with {name:?} in run.stages");
    match unread > 0 {
        true => notes.error(what, mend),
        false => notes.warn(what, mend),
    }
}

fn running(stage: &StageFacts, now_s: f64, limits: &HealthLimits, notes: &mut Notes) {
    let (name, last, behind_s) = (stage.name, last_commit(stage), behind_s(stage, now_s));
    let messages = many(stage.unread() as usize, "message");
    let members = match &stage.group {
        Some(group) => many(group.members.len(), "member"),
        None => "members unknown".to_string(),
    };
    let what = format!("{name}: {members}, {messages} to read, {} behind{last}", span(behind_s));
    let is_behind = behind_s > limits.lag_s || stage.unread() > i64::from(limits.backlog_messages);
    match is_behind {
        true => notes.warn(
            what,
            format!("start more processes with {name:?} in run.stages, and look for what is slow: CPU here, disk of the database"),
        ),
        false => notes.ok(what),
    }
}

fn last_commit(stage: &StageFacts) -> String {
    stage.committed_ago_s.map_or_else(String::new, |s| format!(", last commit {} ago", span(s)))
}

fn waiting(stage: &StageFacts) -> impl Iterator<Item = &Input> {
    stage.inputs.iter().filter(|input| input.unread() > 0)
}

/// Age of the oldest message that waits, in seconds.
fn oldest_s(stage: &StageFacts, now_s: f64) -> f64 {
    waiting(stage).filter_map(|input| input.next_arrived_s).map(|s| now_s - s).fold(0.0, f64::max)
}

/// Aggregators report their progress whether rows arrive or not, so a message may wait at any moment: the newest row's age
/// shows how far a stage is behind only where the messages' own age is not known.
fn behind_s(stage: &StageFacts, now_s: f64) -> f64 {
    let oldest_s = oldest_s(stage, now_s);
    let is_dated = waiting(stage).all(|input| input.next_arrived_s.is_some());
    let event_s = stage.event_s.filter(|_| !is_dated);
    event_s.map_or(oldest_s, |event_s| oldest_s.max(now_s - event_s))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::example_stage::{input, stage};
    use crate::finding::Level;
    use configuration::RunConfig;

    fn limits() -> HealthLimits {
        RunConfig::load(None).unwrap().health
    }

    #[test]
    fn stopped_stage_is_an_error_when_messages_wait() {
        let found = check(&stage(0, vec![input(0, 10, 30)]), 160.0, &limits());
        assert_eq!(found[0].level, Level::Error);
        assert!(found[0].what.contains("20 messages wait, the oldest for 60 s"), "{found:?}");
        assert_eq!(check(&stage(0, vec![input(0, 30, 30)]), 160.0, &limits())[0].level, Level::Warn);
    }

    #[test]
    fn lag_is_in_seconds_and_only_with_messages_to_read() {
        assert_eq!(check(&stage(1, vec![input(0, 10, 30)]), 160.0, &limits())[0].level, Level::Warn);
        assert_eq!(check(&stage(1, vec![input(0, 10, 30)]), 110.0, &limits())[0].level, Level::Ok);
        let idle = StageFacts { event_s: Some(1.0), ..stage(1, vec![input(0, 30, 30)]) };
        assert_eq!(check(&idle, 9_999.0, &limits())[0].level, Level::Ok);
    }

    #[test]
    fn backlog_above_its_limit_is_a_warning_however_young() {
        let unread = |count: i64| stage(1, vec![input(0, 10, 10 + count)]);
        assert_eq!(check(&unread(20_000), 101.0, &limits())[0].level, Level::Ok);
        assert_eq!(check(&unread(20_001), 101.0, &limits())[0].level, Level::Warn);
    }

    #[test]
    fn idle_stage_lags_by_waiting_messages() {
        let facts = StageFacts { event_s: Some(1.0), ..stage(1, vec![input(0, 10, 30), input(0, 30, 30)]) };
        let found = check(&facts, 102.0, &limits());
        assert_eq!(found[0].level, Level::Ok);
        assert!(found[0].what.contains("2.0 s behind"), "{found:?}");
        let undated = Input { next_arrived_s: None, ..input(0, 10, 30) };
        let facts = StageFacts { event_s: Some(1.0), ..stage(1, vec![input(0, 10, 30), undated]) };
        assert_eq!(
            check(&facts, 102.0, &limits())[0].level,
            Level::Warn,
            "how old one of them is is not known"
        );
    }
}
