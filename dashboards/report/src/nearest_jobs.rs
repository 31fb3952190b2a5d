//! Known jobs with a similar number.

use crate::labels::printable;

/// Known jobs named in the answer.
const SHOWN: usize = 3;

/// The sentence for a job that is not in the store; `known` are those that are, newest first.
pub(crate) fn unknown_job(id: &str, known: &[String]) -> String {
    let id = printable(id);
    if known.is_empty() {
        return format!("job {id} is not known, nor is any other job yet");
    }
    let mut ranked: Vec<&String> = known.iter().collect();
    // Stable: among equally near ones the newest come first.
    ranked.sort_by_cached_key(|other| distance(&id, other));
    let nearest: Vec<&str> = ranked.iter().take(SHOWN).map(|s| s.as_str()).collect();
    format!("job {id} is not known; the nearest known ids are {}", nearest.join(", "))
}

/// Characters to insert, delete or replace to get from one word to the other (Levenshtein).
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_come_first_and_the_newest_among_equals() {
        let known = ["90", "4712", "4710", "12"].map(String::from);
        let sentence = unknown_job("4711", &known);
        assert_eq!(sentence, "job 4711 is not known; the nearest known ids are 4712, 4710, 12");
    }

    #[test]
    fn distances() {
        for (a, b, want) in [("", "", 0), ("abc", "", 3), ("kitten", "sitting", 3), ("12", "21", 2)] {
            assert_eq!((distance(a, b), distance(b, a)), (want, want), "{a} {b}");
        }
    }
}
