//! Filters and order of the lists of jobs, episodes and incidents. Queries get values as parameters, and of the names of
//! columns only those of a fixed list.

use crate::answer::ApiError;
use schemas::{Cause, Name};

const USER_BYTES_MAX: usize = 128;
/// Filters that the three lists share; `None` lets every row pass.
#[derive(Debug, Default)]
pub struct Filters {
    /// User of a job.
    pub user: Option<String>,
    /// A node; of episodes and incidents also a switch.
    pub node: Option<Name>,
    /// One of the causes of the loss.
    pub cause: Option<&'static str>,
    /// A file system.
    pub mount: Option<Name>,
}

impl Filters {
    /// The filters of a request.
    ///
    /// # Errors
    /// Refuses unknown causes, and text that no name can be.
    pub fn checked(
        user: Option<&str>,
        node: Option<&str>,
        cause: Option<&str>,
        mount: Option<&str>,
    ) -> Result<Filters, ApiError> {
        let name = |what: &str, text: &str| {
            Name::parse(text)
                .map_err(|why| ApiError::BadRequest(format!("{what} {text:?} is not a name: {why}")))
        };
        Ok(Filters {
            user: user.map(checked_user).transpose()?,
            node: node.map(|text| name("node", text)).transpose()?,
            cause: cause.map(|text| checked_word("cause", text, &Cause::ALL.map(Cause::name))).transpose()?,
            mount: mount.map(|text| name("mount", text)).transpose()?,
        })
    }

    /// Whether every row passes.
    pub fn is_empty(&self) -> bool {
        self.user.is_none() && self.node.is_none() && self.cause.is_none() && self.mount.is_none()
    }

    /// User, node, cause and mount as parameters of a query.
    pub fn parameters(&self) -> [Option<&str>; 4] {
        let [node, mount] = [&self.node, &self.mount].map(|name| name.as_ref().map(Name::as_str));
        [self.user.as_deref(), node, self.cause, mount]
    }
}

/// The order of a list; rows without a value are last in both directions.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    /// The column; `None` for the usual order of the list.
    pub by: Option<&'static str>,
    /// 1 with the smallest first, -1 with the largest first.
    pub sign: f64,
}

impl Order {
    /// The usual order of the list.
    pub const USUAL: Order = Order { by: None, sign: -1.0 };

    /// The order of a request: `sort` is one of `columns`, `dir` is `asc` or `desc`, the default.
    ///
    /// # Errors
    /// Refuses other columns and directions, and a direction without a column.
    pub fn checked(
        sort: Option<&str>,
        dir: Option<&str>,
        columns: &[&'static str],
    ) -> Result<Order, ApiError> {
        let Some(sort) = sort else {
            return match dir {
                None => Ok(Order::USUAL),
                Some(_) => {
                    let columns = columns.join(", ");
                    Err(ApiError::BadRequest(format!("dir needs sort, which may be {columns}")))
                }
            };
        };
        let by = checked_word("sort", sort, columns)?;
        let rises = checked_word("dir", dir.unwrap_or("desc"), &["asc", "desc"])? == "asc";
        Ok(Order { by: Some(by), sign: if rises { 1.0 } else { -1.0 } })
    }
}

/// Whether a `state` of a request is the first of the two.
///
/// # Errors
/// Refuses other words.
pub fn checked_state(state: Option<&str>, words: [&'static str; 2]) -> Result<Option<bool>, ApiError> {
    state.map(|state| Ok(checked_word("state", state, &words)? == words[0])).transpose()
}

fn checked_word(what: &str, text: &str, allowed: &[&'static str]) -> Result<&'static str, ApiError> {
    let known = allowed.iter().copied().find(|word| *word == text);
    known.ok_or_else(|| {
        let shown: String = text.chars().take(40).collect();
        ApiError::BadRequest(format!("{what} {shown:?} is unknown; it may be {}", allowed.join(", ")))
    })
}

fn checked_user(text: &str) -> Result<String, ApiError> {
    let is_name = (1..=USER_BYTES_MAX).contains(&text.len()) && !text.chars().any(char::is_control);
    is_name.then(|| text.to_string()).ok_or_else(|| {
        ApiError::BadRequest(format!("user must have 1 to {USER_BYTES_MAX} bytes and no control characters"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_words_are_refused_with_those_allowed() {
        let columns = ["start", "lost"];
        for (why, wanted) in [
            (
                Order::checked(Some("x"), None, &columns).unwrap_err(),
                "sort \"x\" is unknown; it may be start, lost",
            ),
            (
                Order::checked(Some("lost"), Some("up"), &columns).unwrap_err(),
                "dir \"up\" is unknown; it may be asc, desc",
            ),
            (
                Order::checked(None, Some("asc"), &columns).unwrap_err(),
                "dir needs sort, which may be start, lost",
            ),
            (
                checked_state(Some("open"), ["running", "ended"]).unwrap_err(),
                "state \"open\" is unknown; it may be running, ended",
            ),
            (Filters::checked(Some(""), None, None, None).unwrap_err(), "user must have 1 to 128 bytes"),
            (Filters::checked(None, Some("a b"), None, None).unwrap_err(), "node \"a b\" is not a name"),
            (
                Filters::checked(None, None, Some("luck"), None).unwrap_err(),
                "it may be self, other_job, io_on_mpi,",
            ),
        ] {
            assert!(why.to_string().contains(wanted), "{why}");
        }
    }

    #[test]
    fn the_largest_are_first_unless_asked_otherwise() {
        let order = |dir| Order::checked(Some("lost"), dir, &["lost"]).unwrap().sign;
        assert_eq!([order(None), order(Some("desc")), order(Some("asc"))], [-1.0, -1.0, 1.0]);
    }
}
