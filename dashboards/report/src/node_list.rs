//! Node lists as schedulers write them: `nid000[01-16,20]`.

use std::collections::BTreeMap;

/// `names` compressed: numbers at the end become ranges, everything else stays as it is.
pub(crate) fn compress<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut groups: BTreeMap<(&str, usize), Vec<&str>> = BTreeMap::new();
    for name in names {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = &name[stem.len()..];
        groups.entry((stem, digits.len())).or_default().push(digits);
    }
    let groups: Vec<String> = groups.into_iter().map(|((stem, _), digits)| group(stem, digits)).collect();
    groups.join(",")
}

/// One stem with numbers of one width, which therefore sort as text as they do as numbers.
fn group(stem: &str, mut digits: Vec<&str>) -> String {
    digits.sort_unstable();
    digits.dedup();
    let (Some(first), Some(last)) = (digits.first(), digits.last()) else {
        return stem.to_string();
    };
    if first == last {
        return format!("{stem}{first}");
    }
    // What the smallest and the largest begin with, all between them begin with.
    let same = first.bytes().zip(last.bytes()).take_while(|(a, b)| a == b).count();
    let ranges: Vec<String> =
        ranges(&digits).into_iter().map(|(from, to)| range(&from[same..], &to[same..])).collect();
    format!("{stem}{}[{}]", &first[..same], ranges.join(","))
}

fn range(from: &str, to: &str) -> String {
    if from == to { from.to_string() } else { format!("{from}-{to}") }
}

/// Stretches of consecutive numbers in a sorted list.
fn ranges<'a>(digits: &[&'a str]) -> Vec<(&'a str, &'a str)> {
    let mut ranges: Vec<(&str, &str)> = Vec::new();
    for number in digits {
        match ranges.last_mut() {
            Some((_, to)) if follows(to, number) => *to = number,
            _ => ranges.push((number, number)),
        }
    }
    ranges
}

/// Whether `next` is one more than `number`; numbers too long to count never follow each other.
fn follows(number: &str, next: &str) -> bool {
    let (number, next) = (number.parse::<u64>(), next.parse::<u64>());
    matches!((number, next), (Ok(a), Ok(b)) if a.checked_add(1) == Some(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_the_field() {
        for (names, want) in [
            ("", ""),
            ("login", "login"),
            ("nid00012", "nid00012"),
            ("nid00001 nid00002 nid00003", "nid0000[1-3]"),
            ("nid00016 nid00001 nid00002 nid00001", "nid000[01-02,16]"),
            ("nid00009 nid00010 gpu1 gpu2 login", "gpu[1-2],login,nid000[09-10]"),
            ("n9 n10 n11", "n9,n1[0-1]"),
            ("99999999999999999999998 99999999999999999999999", "9999999999999999999999[8,9]"),
        ] {
            assert_eq!(compress(names.split_whitespace()), want, "{names}");
        }
    }
}
