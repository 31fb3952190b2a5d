//! Why the server's store refuses, by what to do next.

use super::tls::TlsError;
use tokio_postgres::error::SqlState;

/// What failed, in one sentence; the kind determines what to do.
#[derive(Debug, thiserror::Error)]
pub enum PgError {
    /// The server or the way to it is gone or busy: the same call may succeed later, on a new connection.
    #[error("the database does not answer: {0}; trying again helps")]
    Retry(String),
    /// Another owner claimed the partition, or the server lost the last commits in a crash. The state in memory is invalid.
    /// Claim the partition again and continue from the position and the state that the claim returns.
    #[error("partition {partition} was taken over or set back; claim it again")]
    Fenced {
        /// The partition.
        partition: i32,
    },
    /// The server refuses a row for what it contains. A commit leaves such rows out.
    #[error("{0}")]
    Refused(String),
    /// Retrying does not help; the message contains the remedy.
    #[error("{0}")]
    Stop(String),
}

impl PgError {
    /// Whether the same call may succeed later without intervention.
    pub fn is_retryable(&self) -> bool {
        matches!(self, PgError::Retry(_))
    }

    /// What an error of the server or of the connection amounts to.
    pub(super) fn from_server(error: &tokio_postgres::Error) -> PgError {
        let Some(said) = error.as_db_error() else {
            return PgError::from_client(error);
        };
        let text = format!("PostgreSQL says {}: {}", said.code().code(), said.message());
        let code = said.code();
        if passes(code) {
            return PgError::Retry(text);
        }
        if is_of_data(code) {
            return PgError::Refused(
                said.detail().map_or(text.clone(), |detail| format!("{text}; {detail}")),
            );
        }
        let advice = if *code == SqlState::UNDEFINED_TABLE || *code == SqlState::UNDEFINED_COLUMN {
            "; the schema is another version's: run `tailback migrate`"
        } else if *code == SqlState::INSUFFICIENT_PRIVILEGE {
            "; grant the account the role `tailback_writer`, and run `tailback migrate` as the owner of the database"
        } else if code.code().starts_with("28") {
            "; check user and password in the configuration"
        } else {
            ""
        };
        PgError::Stop(text + advice)
    }

    /// Errors on this side: a closed or broken connection passes, anything else is a mistake.
    fn from_client(error: &tokio_postgres::Error) -> PgError {
        use std::error::Error;
        if let Some(refused) = TlsError::of(error) {
            return PgError::Stop(refused.to_string());
        }
        let cause = error.source().map(|c| format!(": {c}")).unwrap_or_default();
        let text = format!("{error}{cause}");
        let mut causes = std::iter::successors(error.source(), |&cause| cause.source());
        let io = causes.any(|cause| cause.is::<std::io::Error>());
        if error.is_closed() || io || is_connect(&text) { PgError::Retry(text) } else { PgError::Stop(text) }
    }
}

/// Whether the connection broke. A server that goes away within the TLS handshake leaves an end of file; one whose certificate
/// is refused, something else.
fn is_connect(text: &str) -> bool {
    let handshake_cut =
        text.starts_with("error performing TLS handshake") && text.ends_with("unexpected EOF");
    handshake_cut
        || ["error connecting to server", "error communicating", "timeout waiting for server"]
            .iter()
            .any(|known| text.starts_with(known))
}

/// Whether a state of SQL passes by itself: connections (08), resources and disk (53), an operator's stop (57),
/// locks (55P03), serialization and deadlock (40), a server that may only be read, as during a failover (25006).
fn passes(code: &SqlState) -> bool {
    let code = code.code();
    ["08", "53", "57P", "40", "58"].iter().any(|class| code.starts_with(class))
        || code == "55P03"
        || code == "57014"
        || code == "25006"
}

/// Whether a state of SQL is about what a row contains: values (22), constraints (23), rows that are alike (21), views with a
/// check (44), limits of the server such as an index row's length (54), a trigger that raises (P0001).
fn is_of_data(code: &SqlState) -> bool {
    let code = code.code();
    ["21", "22", "23", "44", "54"].iter().any(|class| code.starts_with(class)) || code == "P0001"
}

impl From<tokio_postgres::Error> for PgError {
    fn from(error: tokio_postgres::Error) -> PgError {
        PgError::from_server(&error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_errors_are_neither_retried_nor_final() {
        for (code, data, passing) in [
            ("23514", true, false),
            ("22003", true, false),
            ("54000", true, false),
            ("P0001", true, false),
            ("40001", false, true),
            ("40P01", false, true),
            ("08006", false, true),
            ("53100", false, true),
            ("42P01", false, false),
            ("28P01", false, false),
        ] {
            let code = SqlState::from_code(code);
            assert_eq!((is_of_data(&code), passes(&code)), (data, passing), "{}", code.code());
        }
    }
}
