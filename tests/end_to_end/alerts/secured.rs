//! A real Alertmanager that wants a password or a certificate, and a real proxy; what people read where one refuses.

use super::outbox::{Outbox, deliver, notice, receiver, until};
use alerts::receivers::{Receiver, probe};
use schemas::NoticeKind;
use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use store::outbox::OutboxStore;
use support::service::Service;

/// Account of the Alertmanager, and bcrypt's hash of its password.
const USER: &str = "tailback";
const PASSWORD: &str = "ampw";
const HASH: &str = "$2b$04$gtpsew53PpW3nstGmZLg6.Gsy4aHtFvmLt7urrHNSqlYApoN6XwjC";

/// Authority, certificates of a server and a client, another authority's client; keys in both forms.
pub const CERTIFICATES: &str = r#"
new() { openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=$1" -keyout $1.key -out $1.pem "${@:2}"; }
signed() {
    openssl req -newkey rsa:2048 -nodes -subj "/CN=$1" -keyout $1.key -out $1.csr
    openssl x509 -req -days 2 -in $1.csr -CA $2.pem -CAkey $2.key -set_serial $RANDOM -out $1.pem -extfile <(echo "$3")
}
set -e
new authority; new stranger
signed server authority subjectAltName=IP:127.0.0.1
signed client authority extendedKeyUsage=clientAuth
signed outsider stranger extendedKeyUsage=clientAuth
openssl rsa -traditional -in client.key -out client.rsa.key
"#;

struct Site {
    folder: tempfile::TempDir,
    alertmanager: Service,
}

impl Site {
    /// An Alertmanager with this file for TLS and passwords; `None` where there is none.
    fn new(web: impl Fn(&Path) -> String) -> Option<Site> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let made = Command::new("bash").args(["-c", CERTIFICATES]).current_dir(path).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        std::fs::write(path.join("password"), PASSWORD).unwrap();
        std::fs::write(path.join("wrong"), "not-it").unwrap();
        std::fs::write(path.join("token"), "0123456789abcdef").unwrap();
        std::fs::write(path.join("web.yml"), web(path)).unwrap();
        let (dir, file) = (path.join("alertmanager"), path.join("web.yml"));
        let alertmanager = Service::start_in("alertmanager", &dir, &[OsStr::new(""), file.as_os_str()], &[])?;
        Some(Site { folder, alertmanager })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Lines of a receiver's file, names of files being those of the site's folder.
    fn text(&self, more: &[(&str, &str)]) -> String {
        let mut text =
            format!("kind = \"alertmanager\"\nurl = {:?}\nbackoff_s = 0.1\n", self.alertmanager.address);
        for (key, value) in more {
            let value = if key.ends_with("_file") {
                self.path(value).display().to_string()
            } else {
                value.to_string()
            };
            text += &format!("{key} = {value:?}\n");
        }
        text
    }

    fn receiver(&self, more: &[(&str, &str)]) -> Receiver {
        receiver(&self.text(more))
    }

    async fn refusal(&self, more: &[(&str, &str)]) -> String {
        probe(&self.receiver(more)).await.unwrap_err()
    }

    /// Delivers a notice.
    async fn delivers(&self, more: &[(&str, &str)]) {
        let mut outbox = Outbox::new();
        let _way = deliver(&outbox.path, self.receiver(more));
        outbox.send(vec![notice("i", 1, NoticeKind::Firing)]);
        let mut notices = OutboxStore::file(&outbox.path).unwrap();
        for _ in 0..600 {
            let delivery = notices.deliveries("i").await.unwrap().remove(0);
            if delivery.delivered_s.is_some() {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        panic!("not delivered: {:?}", notices.deliveries("i").await.unwrap());
    }

    /// Findings of `tailback doctor` about a receiver, without brokers and database.
    fn doctor(&self, more: &[(&str, &str)]) -> Vec<Value> {
        std::fs::write(self.path("r.toml"), format!("name = \"r\"\n{}", self.text(more))).unwrap();
        let config = format!(
            "[kafka]\nbrokers = [\"127.0.0.1:1\"]\n[database]\nurl = \"postgres://a@127.0.0.1:1/a?sslmode=disable\"\n\
             connect_timeout_s = 1\n[doctor]\ntimeout_s = 2.0\n[alerts]\nreceivers = [{:?}]\n",
            self.path("r.toml").display().to_string()
        );
        std::fs::write(self.path("tailback.toml"), config).unwrap();
        let mut command = Command::new(crate::TAILBACK);
        let output =
            command.args(["doctor", "--json", "--config"]).arg(self.path("tailback.toml")).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let findings = report["findings"].as_array().unwrap().iter();
        findings.filter(|finding| finding["check"] == "receivers").cloned().collect()
    }
}

const WITH_PASSWORD: [(&str, &str); 2] = [("user", USER), ("password_file", "password")];

fn passwords(_: &Path) -> String {
    format!("basic_auth_users:\n  {USER}: \"{HASH}\"\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn alertmanager_accepts_a_user_and_a_password() {
    let Some(site) = Site::new(passwords) else { return };
    site.delivers(&WITH_PASSWORD).await;
    assert_eq!(probe(&site.receiver(&WITH_PASSWORD)).await, Ok(()));
    for (more, remedy) in [
        (&[][..], "set user and password_file, or token_file"),
        (&[("token_file", "token")], "set user and password_file instead"),
        (&[("user", USER), ("password_file", "wrong")], "correct user and password_file"),
    ] {
        let refusal = site.refusal(more).await;
        assert!(refusal.contains("401 Unauthorized") && refusal.contains(remedy), "{refusal}");
    }
    let found = site.doctor(&[("token_file", "token")]);
    assert!(found[0]["level"] == "error" && found[0]["what"].to_string().contains("401"), "{found:?}");
    assert!(found[0]["mend"].to_string().contains("set user and password_file instead"), "{found:?}");
    assert_eq!(site.doctor(&WITH_PASSWORD)[0]["level"], "ok");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn alerts_list_shows_why_a_notice_waits() {
    let Some(site) = Site::new(passwords) else { return };
    let mut outbox = Outbox::new();
    let _way = deliver(&outbox.path, site.receiver(&[("token_file", "token")]));
    outbox.send(vec![notice("i", 1, NoticeKind::Firing)]);
    let list = || {
        let mut command = Command::new(crate::TAILBACK);
        let output = command.args(["alerts", "list", "--store"]).arg(&outbox.path).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    until("the refusal is listed", || list().contains("1 waiting, 0 dead of i: it answers 401")).await;
    assert!(list().contains("set user and password_file instead"), "{}", list());
}

fn certificates(path: &Path) -> String {
    let file = |name: &str| path.join(name).display().to_string();
    let (cert, key, authority) = (file("server.pem"), file("server.key"), file("authority.pem"));
    format!(
        "tls_server_config:\n  cert_file: {cert}\n  key_file: {key}\n  client_ca_file: {authority}\n  \
         client_auth_type: RequireAndVerifyClientCert\n{}",
        passwords(path)
    )
}

const TRUSTING: (&str, &str) = ("ca_file", "authority.pem");
const CLIENT: [(&str, &str); 2] = [("cert_file", "client.pem"), ("key_file", "client.key")];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn alertmanager_accepts_a_client_certificate() {
    let Some(site) = Site::new(certificates) else { return };
    let all = [&[TRUSTING][..], &CLIENT, &WITH_PASSWORD].concat();
    site.delivers(&all).await;
    let old_key = [&[TRUSTING, CLIENT[0], ("key_file", "client.rsa.key")][..], &WITH_PASSWORD].concat();
    assert_eq!(probe(&site.receiver(&old_key)).await, Ok(()));
    let outsider = [("cert_file", "outsider.pem"), ("key_file", "outsider.key")];
    for (more, remedy) in [
        (vec![], "set ca_file to the authority"),
        (vec![TRUSTING], "set cert_file and key_file"),
        ([&[TRUSTING][..], &outsider].concat(), "it refuses cert_file"),
        ([&[TRUSTING][..], &CLIENT].concat(), "set user and password_file, or token_file"),
    ] {
        let refusal = site.refusal(&more).await;
        eprintln!("{refusal}");
        assert!(refusal.contains(remedy), "{more:?}: {refusal}");
    }
    let localhost = site.text(&all).replace("127.0.0.1", "localhost");
    let refusal = probe(&receiver(&localhost)).await.unwrap_err();
    assert!(refusal.contains("name the host in url as its certificate does"), "{refusal}");
    let plain = site.text(&[]).replace("https:", "http:");
    let refusal = probe(&receiver(&plain)).await.unwrap_err();
    assert!(refusal.contains("begin url with https://"), "{refusal}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn notices_pass_a_proxy_and_its_refusal_is_named() {
    let Some(site) = Site::new(certificates) else { return };
    let dir = site.path("proxy");
    let Some(proxy) = Service::start_in("tinyproxy", &dir, &[], &[]) else { return };
    let all = [&[TRUSTING, ("proxy", &proxy.address)][..], &CLIENT, &WITH_PASSWORD].concat();
    site.delivers(&all).await;
    let log = std::fs::read_to_string(dir.join("log")).unwrap();
    assert!(log.contains("CONNECT 127.0.0.1:"), "{log}");
    proxy.command("stop");
    let refusal = site.refusal(&all).await;
    assert!(refusal.contains("start the proxy"), "{refusal}");
    let Some(strict) = Service::start_in("tinyproxy", &dir, &[OsStr::new("1")], &[]) else { return };
    let refused = [&[TRUSTING, ("proxy", &strict.address)][..], &CLIENT, &WITH_PASSWORD].concat();
    let refusal = site.refusal(&refused).await;
    eprintln!("{refusal}");
    let remedy = format!("let the proxy {} connect to the host and port of url", strict.address);
    assert!(refusal.contains(&remedy), "{refusal}");
}
