//! Who may report the progress of a job.

use super::book::Book;
use super::gate::{Gate, Pass};
use super::refused;
use crate::answer::checked_job_id;
use crate::connections::PeerUid;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use schemas::Name;
use std::sync::Arc;

/// Who may report: who passes the gate.
pub struct Reporters {
    gate: Gate,
    /// Users of running jobs, where this process reads them.
    book: Option<Arc<Book>>,
}

impl Reporters {
    /// Those who pass `gate`. Without a `book` no user is known to own a job.
    pub fn new(gate: Gate, book: Option<Arc<Book>>) -> Reporters {
        Reporters { gate, book }
    }

    /// The job `id`, about which a request with `headers` from `peer` may report.
    ///
    /// # Errors
    /// The response to a request that may not.
    pub async fn admit(
        &self,
        headers: &HeaderMap,
        peer: Option<PeerUid>,
        id: &str,
    ) -> Result<Name, Response> {
        let job = checked_job_id(id).map_err(IntoResponse::into_response)?;
        let pass = self.gate.admit(headers, peer, job.as_str()).await?;
        if let Pass::User(uid) = pass {
            let book = self.book.as_ref().ok_or_else(|| unknown_user(uid))?;
            let answer = book.answer(job.as_str()).await.map_err(|error| refused(&error))?;
            self.gate.admit_user(&pass, &answer.user).await?;
        }
        Ok(job)
    }
}

fn unknown_user(uid: u32) -> Response {
    let text = format!(
        "user {uid} is not among http.socket_users, and this process does not know whose a job is: send the job's token, or report \
         where the stage detector or rollup runs too\n"
    );
    (StatusCode::FORBIDDEN, text).into_response()
}
