//! The number of an episode as people write it.

use crate::ReportError;
use store::read::episodes::EPISODES_OF_PARTITION;

/// The partition and the number within it: `3:12`, or as the page's addresses have both in one, 3000000000012.
pub(super) fn parse(text: &str) -> Result<(i32, i64), ReportError> {
    let parsed = match text.split_once(':') {
        Some((partition, id)) => partition.parse().ok().zip(id.parse().ok()),
        None => text.parse().ok().and_then(in_partition),
    };
    parsed.ok_or_else(|| ReportError::NotAnEpisode(text.to_string()))
}

fn in_partition(number: i64) -> Option<(i32, i64)> {
    Some((i32::try_from(number / EPISODES_OF_PARTITION).ok()?, number % EPISODES_OF_PARTITION))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_episode_of_a_partition_is_found_by_both_of_its_names() {
        assert_eq!(parse("3:12").unwrap(), (3, 12));
        assert_eq!(parse("3000000000012").unwrap(), (3, 12));
        assert_eq!(parse("12").unwrap(), (0, 12));
        for wrong in ["", "a", "3:", ":12", "9999999999999999999999"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
