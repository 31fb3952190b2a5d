//! Converters, on the state of a roll-up as earlier versions might have written it.

use super::super::{Format, Rewrite, StateError};
use super::roll_up;
use crate::rolling::Rolling;
use crate::stage::Stage;
use detector::jobs::JobPart;
use schemas::{DropCounts, Name};
use std::collections::{BTreeMap, BTreeSet};

/// The fields before `messages`, but the first.
type Middle = (BTreeSet<Name>, DropCounts, Option<i64>);

/// Version 1 to 2: parts of jobs have the position of their message.
fn add_positions(state: &mut Rewrite<'_>) -> Result<(), postcard::Error> {
    state.each(|jobs| {
        jobs.keep::<Name>()?;
        jobs.each(|parts| {
            parts.keep::<i32>()?;
            parts.add(&7_i64)?;
            parts.keep::<JobPart>()
        })
    })
}

/// Version 2 to 3: messages are counted, in twos before.
fn count_messages(state: &mut Rewrite<'_>) -> Result<(), postcard::Error> {
    state.keep::<BTreeMap<Name, BTreeMap<i32, (i64, JobPart)>>>()?;
    state.keep::<Middle>()?;
    state.replace(|pairs: u64| 2 * pairs)
}

const FORMAT: Format = Format { oldest: 1, converters: &[add_positions, count_messages] };

/// Today's state as version 1 of [`FORMAT`].
fn version_1(today: &[u8]) -> Vec<u8> {
    let mut back = Rewrite::of(today);
    let without_position = |parts: &mut Rewrite<'_>| {
        parts.keep::<i32>()?;
        parts.take::<i64>()?;
        parts.keep::<JobPart>()
    };
    back.each(|jobs| {
        jobs.keep::<Name>()?;
        jobs.each(without_position)
    })
    .unwrap();
    back.keep::<Middle>().unwrap();
    back.replace(|messages: u64| messages / 2).unwrap();
    back.finish().unwrap()
}

#[test]
fn older_states_pass_all_converters_in_order() {
    let today = roll_up(Rolling::FORMAT.version());
    let expected = Rolling::read(&today).unwrap();
    assert!(!expected.job_results().is_empty());
    let old = version_1(&today);
    Rolling::read(&old).map(|_| ()).expect_err("the layout is another one");
    let read: Rolling = FORMAT.read(1, &old).unwrap();
    assert_eq!(read.job_results(), expected.job_results());
    let messages = |stage: &Rolling| stage.load().rows;
    assert_eq!(messages(&read), messages(&expected) / 2 * 2);
    let newest: Rolling = FORMAT.read(3, &today).unwrap();
    assert_eq!(messages(&newest), messages(&expected), "a state of the newest version is not converted");
}

#[test]
fn unknown_versions_and_damaged_states_are_refused() {
    let today = roll_up(Rolling::FORMAT.version());
    let refused = |found| FORMAT.read::<Rolling>(found, &today).map(|_| ()).unwrap_err();
    assert_eq!(refused(4), StateError::Newer { found: 4, known: 3 });
    assert_eq!(refused(0), StateError::Older { found: 0, oldest: 1 });
    let error = FORMAT.read::<Rolling>(1, &version_1(&today)[..100]).map(|_| ()).unwrap_err();
    assert!(matches!(error, StateError::Damaged { version: 1, .. }), "{error}");
    assert!(error.to_string().contains("--metrics"), "{error}");
}
