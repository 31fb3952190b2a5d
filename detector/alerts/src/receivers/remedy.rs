//! Why a receiver refuses, and what to do: by its status, or by what the connection reports.

use super::receiver::{Kind, Receiver};
use reqwest::StatusCode;
use std::error::Error;

/// What to do about a status; `said` is the beginning of the answer. `None` where the status has no remedy of its own.
pub fn of_status(receiver: &Receiver, status: StatusCode, said: &str) -> Option<String> {
    let text = match status {
        StatusCode::UNAUTHORIZED => match (&receiver.token, &receiver.password) {
            (Some(_), _) => {
                "correct token_file; where it wants a user and a password, set user and password_file instead"
            }
            (None, Some(_)) => "correct user and password_file",
            (None, None) => "set user and password_file, or token_file",
        },
        StatusCode::FORBIDDEN => match has_credentials(receiver) {
            true => "its account may not post there: grant it that, or correct url",
            false => {
                "it accepts no posts without an account: set user and password_file, token_file, or cert_file and key_file"
            }
        },
        StatusCode::NOT_FOUND if receiver.kind == Kind::Alertmanager => {
            "correct url: it is the Alertmanager's without /api/v2/alerts"
        }
        StatusCode::PROXY_AUTHENTICATION_REQUIRED => {
            "the proxy wants an account: let it accept this host without one"
        }
        StatusCode::BAD_REQUEST if said.contains("HTTP request to an HTTPS server") => {
            "begin url with https://"
        }
        _ => return None,
    };
    Some(text.to_string())
}

fn has_credentials(receiver: &Receiver) -> bool {
    receiver.token.is_some() || receiver.password.is_some() || !receiver.cert_file.as_os_str().is_empty()
}

/// Why there was no answer, in one sentence with the remedy. The innermost causes say most; the address is known.
pub fn of_error(receiver: &Receiver, error: &reqwest::Error) -> String {
    let why = no_answer(error);
    let remedy = if error.is_timeout() { None } else { remedy_of(receiver, &causes(error).join(": ")) };
    match remedy {
        Some(remedy) => format!("{why}; {remedy}"),
        None => why,
    }
}

/// Why there was no answer to a request, without its address.
pub fn no_answer(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "it does not answer in time".to_string();
    }
    let what = if error.is_connect() { "it cannot be connected to" } else { "the request broke off" };
    match reason(&causes(error)) {
        reason if reason.is_empty() => what.to_string(),
        reason => format!("{what}: {reason}"),
    }
}

fn causes(error: &reqwest::Error) -> Vec<String> {
    std::iter::successors(error.source(), |&error| error.source()).map(ToString::to_string).collect()
}

/// OpenSSL writes its reason in parentheses behind its error, and gives it as no cause of its own.
fn reason(causes: &[String]) -> String {
    let verified = causes.iter().find(|cause| cause.contains("certificate verify failed"));
    let in_parentheses = verified.and_then(|cause| cause.rsplit_once('(')?.1.strip_suffix(')'));
    match in_parentheses {
        Some(reason) => format!("its certificate is not accepted: {reason}"),
        None => causes.last().cloned().unwrap_or_default(),
    }
}

/// What remains of the connection where a receiver refuses a client without a certificate: in TLS 1.3 the request is
/// on its way by then, or not even sent, and the reset may arrive before the reason does.
const BROKEN_OFF: &[&str] =
    &["connection reset", "broken pipe", "connection closed before", "connection was not ready"];

/// What to do, by the words of OpenSSL and of the client.
fn remedy_of(receiver: &Receiver, chain: &str) -> Option<String> {
    let has = |word: &str| chain.to_lowercase().contains(word);
    let has_any = |words: &[&str]| words.iter().any(|word| has(word));
    let presents = !receiver.cert_file.as_os_str().is_empty();
    let text = if has("certificate verify failed") {
        if has_any(&["hostname mismatch", "ip address mismatch"]) {
            "name the host in url as its certificate does"
        } else if has_any(&["has expired", "not yet valid"]) {
            "renew its certificate, or correct a clock"
        } else {
            "set ca_file to the authority of its certificate"
        }
    } else if has_any(&["certificate required", "handshake failure", "bad certificate", "unknown ca"]) {
        match presents {
            true => "it refuses cert_file: take a certificate of an authority that it trusts",
            false => "it wants a client's certificate: set cert_file and key_file",
        }
    } else if has_any(&["wrong version number", "http request"]) {
        "it does not use TLS there: correct the port or the beginning of url"
    } else if !presents && receiver.url.starts_with("https:") && has_any(BROKEN_OFF) {
        "if it wants a client's certificate, set cert_file and key_file"
    } else {
        return remedy_of_proxy(receiver, &has);
    };
    Some(text.to_string())
}

fn remedy_of_proxy(receiver: &Receiver, has: &impl Fn(&str) -> bool) -> Option<String> {
    let proxy = Some(&receiver.proxy).filter(|proxy| !proxy.is_empty())?;
    if has("connection refused") {
        return Some(format!("start the proxy {proxy}"));
    }
    has("tunnel")
        .then(|| format!("let the proxy {proxy} connect to the host and port of url, and start the receiver"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receiver(more: &str) -> Receiver {
        let text = format!("name = \"a\"\nkind = \"alertmanager\"\nurl = \"https://127.0.0.1:1/\"\n{more}");
        let secret = schemas::secret::Redacted::new("0123456789abcdef".to_string());
        Receiver::parse("a.toml", &text, &[], &|_, _| Ok(secret.clone())).unwrap()
    }

    #[test]
    fn refused_credentials_are_named_with_their_keys() {
        let (none, token) = (receiver(""), receiver("token_file = \"t\""));
        let user = receiver("user = \"u\"\npassword_file = \"p\"");
        let remedy = |receiver: &Receiver, status: u16, said: &str| {
            of_status(receiver, StatusCode::from_u16(status).unwrap(), said)
        };
        for (receiver, status, part) in [
            (&none, 401, "set user and password_file, or token_file"),
            (&token, 401, "set user and password_file instead"),
            (&user, 401, "correct user and password_file"),
            (&user, 403, "grant it"),
            (&none, 403, "accepts no posts without an account"),
            (&none, 404, "without /api/v2/alerts"),
            (&none, 407, "the proxy wants an account"),
        ] {
            let text = remedy(receiver, status, "").unwrap();
            assert!(text.contains(part), "{status}: {text}");
        }
        assert_eq!(
            remedy(&none, 400, "Client sent an HTTP request to an HTTPS server."),
            Some("begin url with https://".into())
        );
        assert_eq!(remedy(&none, 400, "bad alert"), None);
        assert_eq!(remedy(&none, 500, ""), None);
    }

    #[test]
    fn a_reset_over_tls_without_a_certificate_names_its_keys() {
        let certified = Receiver { cert_file: "c.pem".into(), ..receiver("") };
        for reset in ["connection error: Connection reset by peer (os error 104)", "connection was not ready"]
        {
            let remedy = remedy_of(&receiver(""), reset).unwrap();
            assert!(remedy.contains("set cert_file and key_file"), "{remedy}");
            assert_eq!(remedy_of(&certified, reset), None);
        }
    }

    #[test]
    fn reason_of_a_refused_certificate_is_shown_alone() {
        let openssl = "error:0A000086:SSL routines:tls_post_process_server_certificate:certificate verify failed:../ssl/statem:1889:";
        let causes =
            ["client error".to_string(), format!("{openssl} (self-signed certificate)"), openssl.to_string()];
        assert_eq!(reason(&causes), "its certificate is not accepted: self-signed certificate");
        let remedy = remedy_of(&receiver(""), &causes.join(": ")).unwrap();
        assert!(remedy.contains("set ca_file"), "{remedy}");
    }
}
