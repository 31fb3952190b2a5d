//! Who may use a route: holders of a token, users of this machine, or everyone who reaches the address.

use crate::connections::PeerUid;
use crate::login::{Login, Right, bearer, is_same};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use schemas::secret::Redacted;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Pause before the answer to a wrong token.
const PAUSE: Duration = Duration::from_secs(1);
/// Requests that pause at once; further ones are answered with 429 at once, so that they hold no connections.
static PAUSING: Semaphore = Semaphore::const_new(32);

/// Who may use a route.
#[derive(Clone)]
pub enum Access {
    /// Everyone who reaches the address: for reading on the loopback address.
    Open,
    /// Who sends this token.
    Token(Arc<str>),
    /// Who sends a token with this right, or the cookie of a session that was made with one.
    Login(Arc<Login>, Right),
    /// Processes of these users, over a Unix socket.
    Users(Arc<[u32]>),
    /// No request; the sentence names the remedy.
    Closed(&'static str),
}

/// A status and its reason.
type Refusal = (StatusCode, String);

impl Access {
    /// Access by `token`; open without one.
    pub fn by(token: Option<&Redacted>) -> Access {
        token.map_or(Access::Open, |token| Access::Token(token.reveal().into()))
    }

    /// The refusal of a request that carries `headers` and comes from `peer`.
    fn refusal(&self, headers: &HeaderMap, peer: Option<PeerUid>) -> Option<Refusal> {
        let unauthorised =
            || (StatusCode::UNAUTHORIZED, "a token is needed: Authorization: Bearer …\n".to_string());
        match self {
            Access::Open => None,
            Access::Token(token) => {
                let refused = !bearer(headers).is_some_and(|given| is_same(given, token));
                refused.then(unauthorised)
            }
            Access::Login(login, needed) => match login.right_of(headers) {
                None => Some(unauthorised()),
                Some(right) if right < *needed => {
                    Some((StatusCode::FORBIDDEN, "this token may read and not change state\n".to_string()))
                }
                Some(_) => None,
            },
            Access::Users(users) => {
                let refused = !peer.is_some_and(|PeerUid(uid)| users.contains(&uid));
                let user = peer.map_or("unknown".to_string(), |PeerUid(uid)| uid.to_string());
                refused.then(|| {
                    (StatusCode::FORBIDDEN, format!("user {user} may not post: see http.socket_users\n"))
                })
            }
            Access::Closed(remedy) => Some((StatusCode::FORBIDDEN, format!("{remedy}\n"))),
        }
    }
}

/// Passes on the requests that have access, with the [`crate::login::SessionEnd`] of those that have it by a session.
pub async fn authorised(State(access): State<Access>, mut request: Request, next: Next) -> Response {
    if let Access::Login(login, needed) = &access
        && let Some(end) = login.end_of(request.headers(), *needed)
    {
        request.extensions_mut().insert(end);
    }
    let peer = request.extensions().get::<PeerUid>().copied();
    match refused(&access, request.headers(), peer).await {
        Some(response) => response,
        None => next.run(request).await,
    }
}

/// The response to a request that has no access; `None` if it has.
pub(crate) async fn refused(access: &Access, headers: &HeaderMap, peer: Option<PeerUid>) -> Option<Response> {
    let refusal = access.refusal(headers, peer)?;
    let is_wrong_token = refusal.0 == StatusCode::UNAUTHORIZED && bearer(headers).is_some();
    Some(if is_wrong_token { slowed(refusal).await } else { refusal.into_response() })
}

/// The answer to a wrong token, late.
async fn slowed(refusal: Refusal) -> Response {
    let Ok(_pausing) = PAUSING.try_acquire() else {
        return (StatusCode::TOO_MANY_REQUESTS, "too many wrong tokens\n").into_response();
    };
    tokio::time::sleep(PAUSE).await;
    refusal.into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;
    use axum::http::header::AUTHORIZATION;

    #[test]
    fn each_access_refuses_all_others() {
        let status = |access: &Access, header: Option<&str>, uid: Option<u32>| {
            let header = header.map(|text| (AUTHORIZATION, HeaderValue::from_str(text).unwrap()));
            let refusal = access.refusal(&header.into_iter().collect(), uid.map(PeerUid));
            refusal.map_or(200, |(status, _)| status.as_u16())
        };
        let token = Access::by(Some(&Redacted::new("0123456789abcdef".into())));
        assert_eq!(status(&token, Some("Bearer 0123456789abcdef"), None), 200);
        for wrong in [None, Some("0123456789abcdef"), Some("Bearer 0123456789abcde"), Some("Bearer ")] {
            assert_eq!(status(&token, wrong, Some(0)), 401, "{wrong:?}");
        }
        let users = Access::Users([0, 990].into());
        assert_eq!([Some(990), Some(991), None].map(|uid| status(&users, None, uid)), [200, 403, 403]);
        let right = Some("Bearer 0123456789abcdef");
        for (given, needed, expected) in [
            (Right::Read, Right::Read, 200),
            (Right::Change, Right::Read, 200),
            (Right::Read, Right::Change, 403),
        ] {
            let login = Login::new(vec![(Redacted::new("0123456789abcdef".into()), given)]);
            let access = Access::Login(Arc::new(login), needed);
            assert_eq!([right, None].map(|header| status(&access, header, None)), [expected, 401]);
        }
        assert_eq!(status(&Access::Closed("closed"), Some("Bearer 0123456789abcdef"), Some(0)), 403);
        assert_eq!(status(&Access::Open, None, None), 200);
    }
}
