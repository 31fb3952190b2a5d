//! A webhook over TLS of a private authority that demands a certificate and a token, or a password; reached through a proxy.

use super::outbox::{Outbox, deliver, notice, receiver, until};
use super::secured::CERTIFICATES;
use crate::tls_server::{Request, acceptor, serve};
use alerts::receivers::probe;
use schemas::NoticeKind;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};
use support::service::Service;

const TOKEN: &str = "0123456789abcdef";

/// Certificates, and a webhook that keeps what it was sent with this `Authorization`.
struct Site {
    folder: tempfile::TempDir,
    address: SocketAddr,
    taken: Arc<Mutex<Vec<String>>>,
}

impl Site {
    fn new(authorization: &'static str) -> Site {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let made =
            Command::new("bash").args(["-c", CERTIFICATES]).current_dir(folder.path()).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        for (name, text) in [("token", TOKEN), ("other", "fedcba9876543210"), ("password", "whpw")] {
            std::fs::write(path(name), text).unwrap();
        }
        let taken = Arc::new(Mutex::new(Vec::new()));
        let keeping = Arc::clone(&taken);
        let answer = move |request: &Request| match request.header("authorization") == authorization {
            false => ("401 Unauthorized", String::new()),
            true => {
                keeping.lock().unwrap().push(request.body.clone());
                ("200 OK", "{}".to_string())
            }
        };
        let acceptor = acceptor(&path("server.pem"), &path("server.key"), Some(&path("authority.pem")));
        Site { address: serve(acceptor, answer), taken, folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A receiver with these keys; files are those of the folder.
    fn receiver(&self, more: &[(&str, &str)]) -> alerts::receivers::Receiver {
        let mut text =
            format!("kind = \"webhook\"\nurl = \"https://{}/hook\"\nbackoff_s = 0.1\n", self.address);
        for (key, value) in more {
            let file = self.path(value).display().to_string();
            text += &format!("{key} = {:?}\n", if key.ends_with("_file") { &file } else { *value });
        }
        receiver(&text)
    }

    async fn delivers(&self, more: &[(&str, &str)]) {
        let mut outbox = Outbox::new();
        let _way = deliver(&outbox.path, self.receiver(more));
        outbox.send(vec![notice("i", 1, NoticeKind::Firing)]);
        let is_there = || self.taken.lock().unwrap().iter().any(|body| body.contains("leaf i is contended"));
        until("the notice arrives", is_there).await;
    }
}

const TRUSTING: (&str, &str) = ("ca_file", "authority.pem");
const CLIENT: [(&str, &str); 2] = [("cert_file", "client.pem"), ("key_file", "client.rsa.key")];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn webhook_accepts_a_certificate_and_a_bearer_token() {
    let site = Site::new("Bearer 0123456789abcdef");
    let certified = [&[TRUSTING][..], &CLIENT].concat();
    site.delivers(&[&certified[..], &[("token_file", "token")]].concat()).await;
    for (more, remedy) in [
        (vec![("token_file", "token")], "set ca_file to the authority"),
        (vec![TRUSTING, ("token_file", "token")], "set cert_file and key_file"),
        ([&certified[..], &[("token_file", "other")]].concat(), "correct token_file"),
    ] {
        let refusal = probe(&site.receiver(&more)).await.unwrap_err();
        assert!(refusal.contains(remedy), "{more:?}: {refusal}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn webhook_behind_a_proxy_accepts_a_password() {
    // tailback:whpw
    let site = Site::new("Basic dGFpbGJhY2s6d2hwdw==");
    let dir = site.path("proxy");
    std::fs::create_dir(&dir).unwrap();
    let Some(proxy) = Service::start_in("tinyproxy", &dir, &[], &[]) else { return };
    let account = [("user", "tailback"), ("password_file", "password"), ("proxy", proxy.address.as_str())];
    site.delivers(&[&[TRUSTING][..], &CLIENT, &account].concat()).await;
    let log = std::fs::read_to_string(dir.join("log")).unwrap();
    assert!(log.contains(&format!("CONNECT {}", site.address)), "{log}");
}
