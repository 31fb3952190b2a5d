//! Hosts to hostlists.

use crate::Name;
use std::borrow::Cow;

/// Fewest hosts that become a range.
const RANGE_MIN: usize = 3;

/// The hosts in their order, each run of counted-up names as one hostlist: `n1`, `n2`, `n3` as `n[1-3]`.
pub fn fold(hosts: &[Name]) -> Vec<Cow<'_, str>> {
    let mut folded = Vec::new();
    let mut rest = hosts;
    while let Some(first) = rest.first() {
        let count = run(rest);
        let (prefix, digits) = numbered(first.as_str()).unwrap_or((first.as_str(), ""));
        match count {
            RANGE_MIN.. => {
                let last = &rest[count - 1].as_str()[prefix.len()..];
                folded.push(format!("{prefix}[{digits}-{last}]").into());
            }
            _ => folded.extend(rest[..count].iter().map(|host| host.as_str().into())),
        }
        rest = &rest[count..];
    }
    folded
}

/// How many of the first hosts count up by one behind the same text.
fn run(hosts: &[Name]) -> usize {
    let Some((prefix, digits)) = hosts.first().and_then(|host| numbered(host.as_str())) else { return 1 };
    let Ok(first) = digits.parse::<u64>() else { return 1 };
    let follows = |(at, host): &(usize, &Name)| {
        let number = first.checked_add(*at as u64);
        let wanted = |number| format!("{number:0width$}", width = digits.len());
        host.as_str().strip_prefix(prefix).is_some_and(|found| number.is_some_and(|n| found == wanted(n)))
    };
    hosts.iter().enumerate().take_while(follows).count().max(1)
}

/// A name that ends in digits, in two.
fn numbered(name: &str) -> Option<(&str, &str)> {
    let text = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (text.len() < name.len()).then(|| name.split_at(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hostlist::expand;
    use proptest::prelude::*;

    #[test]
    fn counted_up_names_fold_into_ranges() {
        let hosts = expand("nid[00098-00101],n[9-11],a,b1,b2", 100).unwrap();
        assert_eq!(fold(&hosts), ["nid[00098-00101]", "n[9-11]", "a", "b1", "b2"]);
    }

    proptest! {
        #[test]
        fn folded_hosts_are_the_same_hosts(texts in prop::collection::vec("(a|n)?[0-9]{1,3}(-ib)?|[ab]", 0..40)) {
            let hosts: Vec<Name> = texts.iter().map(|text| Name::parse(text).unwrap()).collect();
            prop_assert_eq!(expand(&fold(&hosts).join(","), 100).unwrap(), hosts);
        }
    }
}
