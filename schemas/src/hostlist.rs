//! Hostlists: many hosts in one word, as Slurm writes them: `nid[00001-00128,00200],login1`.
//!
//! Commas outside brackets separate words; a word is text with any number of brackets, `rack[1-2]node[01-16]`; a bracket
//! holds numbers and ranges, whose first number's width is the width of all of them. Words without brackets are
//! hosts as they stand. The box form of Slurm's three-dimensional machines (`bgq[000x133]`) is refused: it does not
//! show from a text alone in which base it counts.

mod fold;
pub mod folded;

pub use fold::fold;

use crate::{Name, NameError};

/// Hosts that one hostlist may have, by default: several times the largest machine.
pub const HOSTS_MAX: usize = 65_536;

/// Brackets in one word: more have no machine, and each multiplies.
const BRACKETS_MAX: usize = 8;

/// Why a text is no hostlist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostlistError {
    /// More hosts than allowed.
    #[error("the hostlist has more than {most} hosts")]
    TooMany {
        /// How many are allowed.
        most: usize,
    },
    /// A bracket that is not closed, not opened, or opened twice.
    #[error("the hostlist has an unbalanced bracket in {word:?}")]
    Unbalanced {
        /// The word, shortened.
        word: String,
    },
    /// Something in a bracket that is no number or range.
    #[error("{range:?} in the brackets of a hostlist is no number or range such as 00001-00128")]
    Range {
        /// What stands there, shortened.
        range: String,
    },
    /// More brackets in a word than any machine has.
    #[error("{word:?} of the hostlist has more than {BRACKETS_MAX} brackets")]
    Brackets {
        /// The word, shortened.
        word: String,
    },
    /// A host whose name may not stand in a path or a query, or an empty one.
    #[error("a host of the hostlist: {0}")]
    Host(#[from] NameError),
}

/// The hosts of `text` in its order, repeated ones as often as they stand there; none for an empty text.
///
/// # Errors
/// [`HostlistError`] names the error; a list of more than `most` hosts is refused before they are made.
pub fn expand(text: &str, most: usize) -> Result<Vec<Name>, HostlistError> {
    let mut hosts = Vec::new();
    for word in words(text)? {
        let pieces = pieces(word)?;
        let count = pieces.iter().try_fold(1_usize, |count, piece| count.checked_mul(piece.count()));
        if count.and_then(|count| count.checked_add(hosts.len())).is_none_or(|all| all > most) {
            return Err(HostlistError::TooMany { most });
        }
        push_all(&pieces, String::new(), &mut hosts)?;
    }
    Ok(hosts)
}

/// How large the hosts of a list are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Hosts.
    pub hosts: usize,
    /// Characters of all their names.
    pub bytes: usize,
}

/// The size of the hosts of `text`, which are not made: the time depends on the length of the text alone.
///
/// # Errors
/// Those of [`expand`].
pub fn measure(text: &str, most: usize) -> Result<Size, HostlistError> {
    let mut size = Size::default();
    for word in words(text)? {
        let pieces = pieces(word)?;
        let count = pieces.iter().try_fold(1_usize, |count, piece| count.checked_mul(piece.count()));
        let all = count.and_then(|count| Some((count, count.checked_add(size.hosts)?)));
        let Some((count, hosts)) = all.filter(|(_, all)| *all <= most) else {
            return Err(HostlistError::TooMany { most });
        };
        // Hosts of one word differ in their digits only: all are names if the first and the longest are.
        Name::parse(&pieces.iter().map(Piece::first).collect::<String>())?;
        Name::parse(&pieces.iter().map(Piece::longest).collect::<String>())?;
        let bytes = |piece: &Piece<'_>| piece.bytes().saturating_mul(count / piece.count().max(1));
        let added = pieces.iter().map(bytes).fold(0, usize::saturating_add);
        size = Size { hosts, bytes: size.bytes.saturating_add(added) };
    }
    Ok(size)
}

/// Text, or the ranges of a bracket.
enum Piece<'a> {
    Text(&'a str),
    Bracket(Vec<Range>),
}

/// Numbers from `first` to `last`, zeros before them up to `width` digits.
struct Range {
    first: u64,
    last: u64,
    width: usize,
}

impl Range {
    fn count(&self) -> usize {
        usize::try_from(self.last - self.first).map_or(usize::MAX, |steps| steps.saturating_add(1))
    }
}

/// Characters of a number of at least `width` digits.
fn digits(number: u64, width: usize) -> usize {
    width.max(number.checked_ilog10().map_or(1, |log| log as usize + 1))
}

impl Range {
    /// Characters of all numbers: those with equally many digits at a time.
    fn bytes(&self) -> usize {
        let (mut first, mut sum) = (self.first, 0_usize);
        loop {
            let length = digits(first, 1) as u32;
            let last = 10_u64.checked_pow(length).map_or(self.last, |next| self.last.min(next - 1));
            let count = usize::try_from(last - first).unwrap_or(usize::MAX).saturating_add(1);
            sum = sum.saturating_add(count.saturating_mul(digits(first, self.width)));
            if last == self.last {
                return sum;
            }
            first = last + 1;
        }
    }
}

impl Piece<'_> {
    /// Characters of all members.
    fn bytes(&self) -> usize {
        match self {
            Piece::Text(text) => text.len(),
            Piece::Bracket(ranges) => ranges.iter().map(Range::bytes).fold(0, usize::saturating_add),
        }
    }

    /// The first member.
    fn first(&self) -> String {
        match self {
            Piece::Text(text) => text.to_string(),
            Piece::Bracket(ranges) => ranges
                .first()
                .map_or(String::new(), |range| format!("{:0width$}", range.first, width = range.width)),
        }
    }

    /// The longest member.
    fn longest(&self) -> String {
        match self {
            Piece::Text(text) => text.to_string(),
            Piece::Bracket(ranges) => {
                let numbers =
                    ranges.iter().map(|range| format!("{:0width$}", range.last, width = range.width));
                numbers.max_by_key(String::len).unwrap_or_default()
            }
        }
    }

    fn count(&self) -> usize {
        match self {
            Piece::Text(_) => 1,
            Piece::Bracket(ranges) => {
                ranges.iter().fold(0, |count: usize, range| count.saturating_add(range.count()))
            }
        }
    }
}

/// Words between commas that stand outside brackets.
fn words(text: &str) -> Result<Vec<&str>, HostlistError> {
    let (mut words, mut begin, mut inside) = (Vec::new(), 0, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'[' if !inside => inside = true,
            b']' if inside => inside = false,
            b'[' | b']' => return Err(HostlistError::Unbalanced { word: shortened(&text[begin..]) }),
            b',' if !inside => {
                words.push(text[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    if inside {
        return Err(HostlistError::Unbalanced { word: shortened(&text[begin..]) });
    }
    words.push(text[begin..].trim());
    // Slurm passes over empty words, such as the one after a comma at the end.
    words.retain(|word| !word.is_empty());
    Ok(words)
}

/// A word, whose brackets are known to be balanced, in its pieces.
fn pieces(word: &str) -> Result<Vec<Piece<'_>>, HostlistError> {
    let (mut pieces, mut rest, mut brackets) = (Vec::new(), word, 0);
    while let Some((text, after)) = rest.split_once('[') {
        let Some((inner, tail)) = after.split_once(']') else { break };
        brackets += 1;
        if brackets > BRACKETS_MAX {
            return Err(HostlistError::Brackets { word: shortened(word) });
        }
        pieces.push(Piece::Text(text));
        pieces.push(Piece::Bracket(inner.split(',').map(range).collect::<Result<_, _>>()?));
        rest = tail;
    }
    pieces.push(Piece::Text(rest));
    Ok(pieces)
}

fn range(text: &str) -> Result<Range, HostlistError> {
    let bad = || HostlistError::Range { range: shortened(text) };
    let text_of = |number: &str| {
        let digits = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| number.parse::<u64>().ok()).flatten()
    };
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (text_of(from).ok_or_else(bad)?, text_of(to).ok_or_else(bad)?);
    if last < first || from.len() > crate::name::NAME_BYTES_MAX {
        return Err(bad());
    }
    Ok(Range { first, last, width: from.len() })
}

/// Adds every host that begins with `begin` and continues with `pieces`.
fn push_all(pieces: &[Piece<'_>], begin: String, hosts: &mut Vec<Name>) -> Result<(), HostlistError> {
    match pieces.split_first() {
        None => hosts.push(Name::parse(&begin)?),
        Some((Piece::Text(text), rest)) => push_all(rest, begin + text, hosts)?,
        Some((Piece::Bracket(ranges), rest)) => {
            for range in ranges {
                for number in range.first..=range.last {
                    push_all(rest, format!("{begin}{number:0width$}", width = range.width), hosts)?;
                }
            }
        }
    }
    Ok(())
}

/// Enough of a text to find it again.
fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names(text: &str) -> Vec<String> {
        expand(text, 1000).unwrap().iter().map(Name::to_string).collect()
    }

    #[test]
    fn ranges_keep_the_zeros_of_their_first_number() {
        assert_eq!(names("nid[00009-00011,200]"), ["nid00009", "nid00010", "nid00011", "nid200"]);
        assert_eq!(names("n[8-11]"), ["n8", "n9", "n10", "n11"]);
        assert_eq!(names("n[098-101]"), ["n098", "n099", "n100", "n101"]);
    }

    #[test]
    fn words_stand_side_by_side_and_brackets_multiply() {
        assert_eq!(names("a,b[1-2]-ib,c"), ["a", "b1-ib", "b2-ib", "c"]);
        assert_eq!(
            names("rack[1-2]node[01-02]"),
            ["rack1node01", "rack1node02", "rack2node01", "rack2node02"]
        );
    }

    #[test]
    fn an_empty_list_has_no_hosts() {
        assert_eq!(names(""), [""; 0]);
        assert_eq!(names(" a , "), ["a"]);
    }

    #[test]
    fn bad_lists_say_what_is_wrong() {
        let said = |text: &str| expand(text, 1000).unwrap_err().to_string();
        assert_eq!(said("n[1-3"), "the hostlist has an unbalanced bracket in \"n[1-3\"");
        assert_eq!(said("n]1"), "the hostlist has an unbalanced bracket in \"n]1\"");
        assert_eq!(said("n[[1]]"), "the hostlist has an unbalanced bracket in \"n[[1]]\"");
        let range = "is no number or range such as 00001-00128";
        assert_eq!(said("n[3-1]"), format!("\"3-1\" in the brackets of a hostlist {range}"));
        assert_eq!(said("n[]"), format!("\"\" in the brackets of a hostlist {range}"));
        assert_eq!(said("n[000x133]"), format!("\"000x133\" in the brackets of a hostlist {range}"));
        assert!(said("a/b").contains("\"a/b\""));
        assert!(said("n[1]n[1]n[1]n[1]n[1]n[1]n[1]n[1]n[1]").contains("more than 8 brackets"));
    }

    #[test]
    fn a_list_of_too_many_hosts_is_refused_before_it_is_made() {
        for text in ["n[1-1001]", "n[0-18446744073709551615]", "a[0-999999]b[0-999999]c[0-999999999999]"] {
            assert_eq!(expand(text, 1000), Err(HostlistError::TooMany { most: 1000 }), "{text}");
        }
        assert_eq!(expand("n[1-1000]", 1000).unwrap().len(), 1000);
    }

    #[test]
    fn large_lists_are_measured_without_being_made() {
        let text = "n[0-18446744073709551615]";
        let most = 1_usize << 50;
        assert_eq!(measure(text, most), Err(HostlistError::TooMany { most }));
        let size = measure("a[1-1000000000000]", most).unwrap();
        assert_eq!((size.hosts, size.bytes), (1_000_000_000_000, 12_888_888_888_902));
    }

    proptest! {
        #[test]
        fn a_list_measures_what_its_hosts_do(text in "(a|b1|/)?(\\[[0-9]{1,3}-[0-9]{1,3}(,[0-9]{1,2})?\\]c?){0,2}(,d)?") {
            let hosts = expand(&text, 5_000);
            let size = |hosts: &Vec<Name>| Size {
                hosts: hosts.len(),
                bytes: hosts.iter().map(|host| host.as_str().len()).sum(),
            };
            prop_assert_eq!(measure(&text, 5_000), hosts.as_ref().map(size).map_err(Clone::clone));
        }

        #[test]
        fn no_text_breaks_it_or_gives_more_than_allowed(text in "[a-z0-9,\\[\\]\\-]{0,40}|\\PC{0,40}") {
            if let Ok(hosts) = expand(&text, 100) {
                prop_assert!(hosts.len() <= 100);
            }
        }

        #[test]
        fn a_range_gives_every_number_once(first in 0_u64..5000, count in 1_usize..200) {
            let last = first + count as u64 - 1;
            let hosts = expand(&format!("n[{first:05}-{last:05}]"), 200).unwrap();
            let wanted: Vec<String> = (first..=last).map(|number| format!("n{number:05}")).collect();
            prop_assert_eq!(hosts.iter().map(Name::to_string).collect::<Vec<_>>(), wanted);
        }
    }
}
