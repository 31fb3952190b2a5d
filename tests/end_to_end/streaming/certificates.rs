//! A broker that demands certificates of its clients (mTLS): the same tables with the right one, and the remedy in log and
//! doctor with another one or none.

use super::arrival::undisturbed;
use super::feed::Feed;
use super::rows;
use super::secure::{doctor, lead};
use super::site::Site;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::stack::turn;

/// A certificate of the user tailback, signed by the authority in `$1`; and one that another authority signed. The keys
/// have the form of older tools (PKCS#1).
const CERTIFICATES: &str = r#"
set -e
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=stranger -keyout stranger.key -out stranger.pem
signed() {
    openssl genrsa -traditional -out "$1.key" 2048
    openssl req -new -subj /CN=tailback -key "$1.key" -out "$1.csr"
    openssl x509 -req -days 2 -in "$1.csr" -CA "$2.pem" -CAkey "$2.key" -set_serial 7 -out "$1.pem"
}
signed own "$1/ca"
signed other stranger
"#;

/// A folder with the certificates `own` and `other`.
fn certificates(site: &Site) -> PathBuf {
    let folder = site.services.dir.join(format!("{}-certificates", site.name));
    std::fs::create_dir(&folder).unwrap();
    let made = Command::new("bash")
        .args(["-c", CERTIFICATES, "-"])
        .arg(site.services.dir.join("kafka/tls"))
        .current_dir(&folder)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    folder
}

/// Leads the site to the broker's listener for certificates.
fn present(site: &Site, certificate: Option<&Path>) {
    let authority = site.services.dir.join("kafka/tls/ca.pem");
    let mut properties = format!("\"security.protocol\" = \"SSL\"\n\"ssl.ca.location\" = {authority:?}\n");
    if let Some(file) = certificate {
        let (certificate, key) = (file.with_extension("pem"), file.with_extension("key"));
        properties +=
            &format!("\"ssl.certificate.location\" = {certificate:?}\n\"ssl.key.location\" = {key:?}\n");
    }
    lead(site, "mtls", "", &properties);
}

#[test]
fn rows_through_a_client_certificate_give_the_same_tables() {
    let Some((services, _turn)) = turn() else { return };
    let site = Site::new(services, "certified");
    let folder = certificates(&site);
    present(&site, Some(&folder.join("own")));
    Feed::to(&site).all(&rows::undisturbed());
    let process = site.start();
    site.settles_as(undisturbed(services)).drops_equal(undisturbed(services));
    let found = doctor(&site);
    assert!(found.iter().all(|[level, ..]| level == "ok"), "{found:?}");
    process.finish();
}

/// What a broker's refusal of the certificate looks like in log and doctor.
fn refused(site: &Site, remedy: &str) {
    let mut process = site.start();
    process.wait_for("Kafka: connection failed; retrying");
    process.wait_for(remedy);
    let log = process.log();
    assert!(!log.contains("topic created") && !log.contains("assigned"), "{log}");
    process.kill();
    let found = doctor(site);
    eprintln!("{found:?}\n{log}");
    assert!(found.iter().any(|[level, _, mend]| level == "error" && mend.contains(remedy)), "{found:?}");
}

#[test]
fn missing_client_certificate_is_reported_with_its_keys() {
    let Some((services, _turn)) = turn() else { return };
    let site = Site::new(services, "uncertified");
    present(&site, None);
    refused(&site, "ssl.certificate.location and ssl.key.location");
}

#[test]
fn client_certificate_of_another_authority_is_reported() {
    let Some((services, _turn)) = turn() else { return };
    let site = Site::new(services, "miscertified");
    let folder = certificates(&site);
    present(&site, Some(&folder.join("other")));
    refused(&site, "ssl.certificate.location and ssl.key.location");
}
