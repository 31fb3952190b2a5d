//! Host lists in the notation of Slurm and genders: `nid[00001-00128,00200]`, `rack[1-2]n[01-10]`, `login1,login2`.

use crate::Name;
use crate::hostlist::{self, HostlistError};

/// Most names that one list may stand for.
pub const HOSTS_MAX: usize = 200_000;
/// Most bytes of a host's name: what DNS allows for a label.
const HOST_BYTES_MAX: usize = 63;

/// Why a text is no host list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostListError {
    /// It is no hostlist, or stands for too many hosts.
    #[error("{list:?}: {error}")]
    Notation {
        /// The list.
        list: String,
        /// What is wrong with it.
        error: HostlistError,
    },
    /// A name that is none.
    #[error("{0:?} is no host name: up to {HOST_BYTES_MAX} letters, digits, dots, hyphens and underscores")]
    Name(String),
}

/// The names of a list, in its order; spaces around commas are allowed.
///
/// # Errors
/// [`HostListError`]; nothing is expanded beyond [`HOSTS_MAX`].
pub fn expand(list: &str) -> Result<Vec<Name>, HostListError> {
    let dense = list.split(',').map(str::trim).collect::<Vec<_>>().join(",");
    // Slurm passes over two commas in a row; in a file that a person writes something is missing there.
    if dense.split(',').any(str::is_empty) {
        return Err(HostListError::Name(list.to_string()));
    }
    let names = hostlist::expand(&dense, HOSTS_MAX).map_err(|error| match error {
        HostlistError::Host(_) => HostListError::Name(list.to_string()),
        error => HostListError::Notation { list: list.to_string(), error },
    })?;
    names.iter().map(|name| host_name(name.as_str())).collect()
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
    fn invalid_list_is_refused_with_its_part() {
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
            assert!(
                matches!(
                    expand(list),
                    Err(HostListError::Notation { error: HostlistError::TooMany { .. }, .. })
                ),
                "{list}"
            );
        }
        assert_eq!(expand("n[1-200000]").unwrap().len(), HOSTS_MAX);
    }
}
