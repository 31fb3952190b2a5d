//! Who may read or report something about a job: who may do so for all jobs, the job itself by its token, and over a Unix socket its user.

use crate::access::{Access, refused};
use crate::connections::PeerUid;
use crate::job_token::{JobKeys, TokenRefusal, is_job_token};
use crate::login::bearer;
use crate::unix_users;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use std::time::{SystemTime, UNIX_EPOCH};

/// Who is admitted.
pub struct Gate {
    /// Whose requests are admitted for all jobs.
    all: Access,
    keys: JobKeys,
}

/// What a request came with.
pub(super) enum Pass {
    /// It is admitted for all jobs.
    AllJobs,
    /// The job's token, and until when it is valid, in seconds since the epoch.
    Token(u64),
    /// It is admitted for its user's jobs.
    User(u32),
}

impl Pass {
    /// Until when the request is allowed, if that has an end.
    pub fn until_s(&self) -> Option<u64> {
        if let Pass::Token(until_s) = self { Some(*until_s) } else { None }
    }
}

impl Gate {
    /// `all` is admitted for all jobs, holders of tokens of `keys` for one job.
    pub fn new(all: Access, keys: JobKeys) -> Gate {
        Gate { all, keys }
    }

    /// How a request for `job` is allowed.
    ///
    /// # Errors
    /// The response to a request that is not: of another job's token 403, of an expired or unknown one 401.
    pub(super) async fn admit(
        &self,
        headers: &HeaderMap,
        peer: Option<PeerUid>,
        job: &str,
    ) -> Result<Pass, Response> {
        if let Some(token) = bearer(headers).filter(|token| is_job_token(token)) {
            let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
            return self.keys.check(token, job, now_s).map(Pass::Token).map_err(|error| refusal(&error));
        }
        match (refused(&self.all, headers, peer).await, &self.all, peer) {
            (None, ..) => Ok(Pass::AllJobs),
            (Some(_), Access::Users(_), Some(PeerUid(uid))) => Ok(Pass::User(uid)),
            (Some(response), ..) => Err(response),
        }
    }

    /// Whether a request that came with `pass` is admitted for a job of `user`.
    ///
    /// # Errors
    /// The response to one that may not.
    pub(super) async fn admit_user(&self, pass: &Pass, user: &str) -> Result<(), Response> {
        let Pass::User(uid) = pass else { return Ok(()) };
        let is_own = user == uid.to_string() || unix_users::name(*uid).await.as_deref() == Some(user);
        let text = format!("the job is not one of user {uid}: a user asks and reports for own jobs alone\n");
        if is_own { Ok(()) } else { Err((StatusCode::FORBIDDEN, text).into_response()) }
    }
}

/// A wrong token is answered at once: its code has 256 bits, and a pause would only hold connections of jobs.
fn refusal(error: &TokenRefusal) -> Response {
    let status = match error {
        TokenRefusal::Unknown | TokenRefusal::Expired(_) => StatusCode::UNAUTHORIZED,
        TokenRefusal::OtherJob(_) => StatusCode::FORBIDDEN,
    };
    (status, format!("{error}\n")).into_response()
}
