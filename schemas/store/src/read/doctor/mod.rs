//! The server as `tailback doctor` looks at it. Only the server has these tables.
//!
//! | file | what it holds |
//! |---|---|
//! | `server.rs` | [`Server`]: version, settings, rights; background jobs that failed |
//! | `stages.rs` | positions of the stages, messages that they rejected, rows that they dropped |
//! | `sources.rs` | samplers, nodes and expected sources without rows, ports |

mod server;
mod sources;
mod stages;

pub use server::{Server, failed_jobs, server};
pub use sources::{Sampler, never_seen, ports, samplers, unknown_nodes};
pub use stages::{Position, Rejected, conditions, dropped, positions, rejected};

use std::time::Duration;
use tokio_postgres::{Client, Error};

/// Makes the session read-only; `timeout` bounds each query.
///
/// # Errors
/// When the server does not answer.
pub async fn begin(client: &Client, timeout: Duration) -> Result<(), Error> {
    let timeout_ms = timeout.as_millis();
    let session =
        format!(include_str!("../../../sql/read/postgres/doctor_session.sql"), timeout_ms = timeout_ms);
    client.batch_execute(&session).await
}
