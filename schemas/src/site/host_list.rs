//! Host lists in the notation of Slurm and genders: `nid[00001-00128,00200]`, `rack[1-2]n[01-10]`, `login1,login2`.

use crate::Name;

/// Most names that one list may stand for.
pub const HOSTS_MAX: usize = 200_000;
/// Most bytes of a host's name: what DNS allows for a label.
const HOST_BYTES_MAX: usize = 63;

/// Why a text is no host list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostListError {
    /// A bracket that is not closed, or that holds none.
    #[error("{0:?} has a bracket that is not closed or that is empty")]
    Bracket(String),
    /// Something in brackets that is neither a number nor `from-to`.
    #[error("{range:?} in {list:?} is no number and no range such as 00001-00128")]
    Range {
        /// The list.
        list: String,
        /// What stands in the brackets.
        range: String,
    },
    /// More than [`HOSTS_MAX`] names.
    #[error("{0:?} stands for more than {HOSTS_MAX} hosts")]
    TooMany(String),
    /// A name that is none.
    #[error("{0:?} is no host name: up to {HOST_BYTES_MAX} letters, digits, dots, hyphens and underscores")]
    Name(String),
}

/// The names of a list, in its order.
///
/// # Errors
/// [`HostListError`]; nothing is expanded beyond [`HOSTS_MAX`].
pub fn expand(list: &str) -> Result<Vec<Name>, HostListError> {
    let mut names = Vec::new();
    for item in items(list)? {
        let mut texts = vec![String::new()];
        for piece in pieces(item)? {
            texts = joined(texts, &piece).ok_or_else(|| HostListError::TooMany(list.to_string()))?;
        }
        if names.len() + texts.len() > HOSTS_MAX {
            return Err(HostListError::TooMany(list.to_string()));
        }
        for text in texts {
            names.push(host_name(&text)?);
        }
    }
    Ok(names)
}

/// A host's name: it goes into files of ldmsd and into systemd's, so it is stricter than a [`Name`].
///
/// # Errors
/// [`HostListError::Name`].
pub fn host_name(text: &str) -> Result<Name, HostListError> {
    let plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
    let begins = text.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric());
    let name = Name::parse(text).ok().filter(|_| plain && begins && text.len() <= HOST_BYTES_MAX);
    name.ok_or_else(|| HostListError::Name(text.to_string()))
}

/// The parts between commas that stand outside brackets.
fn items(list: &str) -> Result<Vec<&str>, HostListError> {
    let (mut items, mut begin, mut inside) = (Vec::new(), 0, false);
    for (at, byte) in list.bytes().enumerate() {
        match (byte, inside) {
            (b'[', false) => inside = true,
            (b']', true) => inside = false,
            (b'[', true) | (b']', false) => return Err(HostListError::Bracket(list.to_string())),
            (b',', false) => {
                items.push(list[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    if inside {
        return Err(HostListError::Bracket(list.to_string()));
    }
    items.push(list[begin..].trim());
    Ok(items)
}

/// A piece of a name: fixed, or one of several.
enum Piece<'a> {
    Fixed(&'a str),
    Ranges(Vec<(u64, u64, usize)>),
}

fn pieces(item: &str) -> Result<Vec<Piece<'_>>, HostListError> {
    let (mut pieces, mut rest) = (Vec::new(), item);
    while let Some((before, after)) = rest.split_once('[') {
        let (inside, behind) =
            after.split_once(']').ok_or_else(|| HostListError::Bracket(item.to_string()))?;
        if inside.is_empty() {
            return Err(HostListError::Bracket(item.to_string()));
        }
        let ranges = inside.split(',').map(|range| {
            parse_range(range)
                .ok_or_else(|| HostListError::Range { list: item.to_string(), range: range.to_string() })
        });
        pieces.extend([Piece::Fixed(before), Piece::Ranges(ranges.collect::<Result<_, _>>()?)]);
        rest = behind;
    }
    pieces.push(Piece::Fixed(rest));
    Ok(pieces)
}

/// From, to and digits of `00001-00128` or `7`.
pub(super) fn parse_range(range: &str) -> Option<(u64, u64, usize)> {
    let (from, to) = range.split_once('-').unwrap_or((range, range));
    let digits = |text: &str| (1..=18).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(from) || !digits(to) {
        return None;
    }
    let (first, last) = (from.parse().ok()?, to.parse().ok()?);
    (first <= last).then_some((first, last, from.len()))
}

/// Every text followed by everything the piece may be; `None` if that is too much.
fn joined(texts: Vec<String>, piece: &Piece<'_>) -> Option<Vec<String>> {
    let ranges = match piece {
        Piece::Fixed(fixed) => return Some(texts.into_iter().map(|text| text + fixed).collect()),
        Piece::Ranges(ranges) => ranges,
    };
    let mut count = 0u64;
    for (first, last, _) in ranges {
        count = count.checked_add(last - first)?.checked_add(1)?;
    }
    if count.checked_mul(texts.len() as u64)? > HOSTS_MAX as u64 {
        return None;
    }
    let mut out = Vec::new();
    for text in &texts {
        for (first, last, width) in ranges {
            out.extend((*first..=*last).map(|number| format!("{text}{number:0width$}")));
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(list: &str) -> Vec<String> {
        expand(list).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn brackets_keep_the_width_and_the_order() {
        assert_eq!(expanded("nid[00009-00011,3]"), ["nid00009", "nid00010", "nid00011", "nid3"]);
        assert_eq!(expanded("r[1-2]n[08,10]-ib"), ["r1n08-ib", "r1n10-ib", "r2n08-ib", "r2n10-ib"]);
        assert_eq!(expanded("login1, login2"), ["login1", "login2"]);
        assert_eq!(expanded("n[9-10]"), ["n9", "n10"]);
    }

    #[test]
    fn what_is_no_list_is_told() {
        for (list, part) in [
            ("nid[1-2", "bracket"),
            ("nid1-2]", "bracket"),
            ("nid[[1]]", "bracket"),
            ("nid[]", "bracket"),
            ("nid[a-b]", "\"a-b\""),
            ("nid[5-1]", "\"5-1\""),
            ("nid[1-]", "\"1-\""),
            ("", "host name"),
            ("a,,b", "host name"),
            ("$(reboot)", "host name"),
            ("-x", "host name"),
            ("a b", "host name"),
        ] {
            let error = expand(list).unwrap_err().to_string();
            assert!(error.contains(part), "{list}: {error}");
        }
    }

    #[test]
    fn a_list_that_would_fill_the_memory_is_refused_before_it_does() {
        for list in [
            "n[0-999999999999999999]",
            "a[1-1000]b[1-1000]c[1-1000]",
            "n[1-200001]",
            "n[1-150000],m[1-60000]",
        ] {
            assert!(matches!(expand(list), Err(HostListError::TooMany(_))), "{list}");
        }
        assert_eq!(expand("n[1-200000]").unwrap().len(), HOSTS_MAX);
    }
}
