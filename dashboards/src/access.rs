//! Who may use a route: holders of a token, users of this machine, or everyone who reaches the address.

use crate::connections::PeerUid;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use schemas::secret::Redacted;
use std::sync::Arc;

/// The answer of a route that changes state where neither a token nor a socket is configured for it.
const CLOSED: &str = "posting is closed: set http.jobs_token_file or http.token_file and send the token as \
    Authorization: Bearer ..., or set http.socket and post over that Unix socket\n";

/// Who may use a route.
#[derive(Clone)]
pub enum Access {
    /// Everyone who reaches the address: for reading on the loopback address.
    Open,
    /// Who sends this token.
    Token(Arc<str>),
    /// Processes of these users, over a Unix socket.
    Users(Arc<[u32]>),
    /// No request.
    Closed,
}

impl Access {
    /// Access by `token`; open without one.
    pub fn by(token: Option<&Redacted>) -> Access {
        token.map_or(Access::Open, |token| Access::Token(token.reveal().into()))
    }

    /// The refusal of a request that carries `header` and comes from `peer`.
    fn refusal(&self, header: Option<&str>, peer: Option<PeerUid>) -> Option<(StatusCode, String)> {
        let given = header.and_then(|value| value.strip_prefix("Bearer "));
        match self {
            Access::Open => None,
            Access::Token(token) => {
                let refused = !given.is_some_and(|given| same(given, token));
                let why = "a token is needed: Authorization: Bearer …\n";
                refused.then(|| (StatusCode::UNAUTHORIZED, why.to_string()))
            }
            Access::Users(users) => {
                let refused = !peer.is_some_and(|PeerUid(uid)| users.contains(&uid));
                let user = peer.map_or("unknown".to_string(), |PeerUid(uid)| uid.to_string());
                refused.then(|| {
                    (StatusCode::FORBIDDEN, format!("user {user} may not post: see http.socket_users\n"))
                })
            }
            Access::Closed => Some((StatusCode::FORBIDDEN, CLOSED.to_string())),
        }
    }
}

/// Passes on the requests that have access.
pub async fn authorised(State(access): State<Access>, request: Request, next: Next) -> Response {
    let header = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    match access.refusal(header, request.extensions().get::<PeerUid>().copied()) {
        Some(refusal) => refusal.into_response(),
        None => next.run(request).await,
    }
}

/// Compares in a time that does not depend on how much was right.
fn same(given: &str, token: &str) -> bool {
    let differing = given.bytes().zip(token.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
    given.len() == token.len() && differing == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_access_refuses_all_others() {
        let status = |access: &Access, header: Option<&str>, uid: Option<u32>| {
            access.refusal(header, uid.map(PeerUid)).map_or(200, |(status, _)| status.as_u16())
        };
        let token = Access::by(Some(&Redacted::new("0123456789abcdef".into())));
        assert_eq!(status(&token, Some("Bearer 0123456789abcdef"), None), 200);
        for wrong in [None, Some("0123456789abcdef"), Some("Bearer 0123456789abcde"), Some("Bearer ")] {
            assert_eq!(status(&token, wrong, Some(0)), 401, "{wrong:?}");
        }
        let users = Access::Users([0, 990].into());
        assert_eq!([Some(990), Some(991), None].map(|uid| status(&users, None, uid)), [200, 403, 403]);
        assert_eq!(status(&Access::Closed, Some("Bearer 0123456789abcdef"), Some(0)), 403);
        assert_eq!(status(&Access::Open, None, None), 200);
    }
}
