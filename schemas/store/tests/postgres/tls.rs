//! libpq's modes of TLS, on a server with a certificate of its own authority, and on one that refuses TLS.

use std::path::Path;
use store::postgres::{PgError, PgSettings, connect};
use support::database::{client, create_database, url_of};
use support::service::{Service, open_folder};
use support::tls::{certificates, put, rules};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Whether the connection is encrypted.
async fn encrypted(url: &str, ca_file: Option<&Path>) -> Result<bool, String> {
    let settings = PgSettings { tls_ca_file: ca_file.map(Path::to_path_buf), ..PgSettings::at(url) };
    let client = connect(&settings).await.map_err(|error| {
        assert!(matches!(error, PgError::Stop(_)), "{error:?}");
        error.to_string()
    })?;
    let sql = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    Ok(client.query_one(sql, &[]).await.unwrap().get(0))
}

#[test]
fn every_sslmode_means_what_it_means_in_libpq() {
    let folder = open_folder();
    let Some(service) = Service::start_in("postgres", &folder.path().join("pg"), &[], &[]) else { return };
    certificates(folder.path());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let admin = client(&service.address).await;
        create_database(&admin, "site").await;
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        put(&admin, "server.crt", &read("server.pem")).await;
        put(&admin, "server.key", &read("server.key")).await;
        for sql in ["CREATE ROLE covered LOGIN", "CREATE ROLE plain LOGIN", "ALTER SYSTEM SET ssl = on"] {
            admin.batch_execute(sql).await.unwrap();
        }
        rules(&admin, "hostssl all covered all trust\nhostnossl all plain all trust").await;
        drop(admin);
        service.command("restart");

        let ca = folder.path().join("ca.pem");
        let other = folder.path().join("other.pem");
        let url = |user: &str, host: &str, mode: &str| {
            let url = url_of(&service.address, user, "site").replace("127.0.0.1", host);
            format!("{url}?sslmode={mode}")
        };
        let at = |mode: &str| url("tailback", "localhost", mode);
        assert_eq!(encrypted(&at("disable"), None).await, Ok(false));
        assert_eq!(encrypted(&at("allow"), None).await, Ok(false));
        // The signer of the certificate does not matter.
        assert_eq!(encrypted(&at("prefer"), None).await, Ok(true));
        assert_eq!(encrypted(&at("require"), None).await, Ok(true));
        assert_eq!(encrypted(&url("tailback", "127.0.0.1", "require"), None).await, Ok(true));
        // It does with an authority at hand, and its name with `verify-full`.
        for mode in ["prefer", "require", "verify-ca", "verify-full"] {
            assert_eq!(encrypted(&at(mode), Some(&ca)).await, Ok(true), "{mode}");
            let in_url = format!("{}&sslrootcert={}", at(mode), ca.display());
            assert_eq!(encrypted(&in_url, Some(&other)).await, Ok(true), "{mode}");
            let error = encrypted(&at(mode), Some(&other)).await.unwrap_err();
            assert!(error.contains("certificate") && error.contains("database.tls_ca_file"), "{error}");
        }
        assert_eq!(encrypted(&url("tailback", "127.0.0.1", "verify-ca"), Some(&ca)).await, Ok(true));
        encrypted(&url("tailback", "127.0.0.1", "verify-full"), Some(&ca)).await.unwrap_err();
        encrypted(&at("verify-ca"), None).await.unwrap_err();
        encrypted(&at("verify-full"), None).await.unwrap_err();
        // What the server's rules demand is found by `allow` and `prefer`.
        assert_eq!(encrypted(&url("covered", "localhost", "allow"), None).await, Ok(true));
        assert_eq!(encrypted(&url("plain", "localhost", "prefer"), None).await, Ok(false));
        encrypted(&url("plain", "localhost", "require"), None).await.unwrap_err();
        encrypted(&url("covered", "localhost", "disable"), None).await.unwrap_err();
    });
}

/// What a client sends to a server that refuses TLS and then demands `authentication` (a message's code and the rest).
async fn said(mode: &str, authentication: &[u8]) -> (String, Vec<u8>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let authentication = authentication.to_vec();
    let server = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut first = vec![0; 4_096];
        let mut length = socket.read(&mut first).await.unwrap();
        if first[4..8] == [0x04, 0xd2, 0x16, 0x2f] {
            socket.write_all(b"N").await.unwrap();
            length = socket.read(&mut first).await.unwrap();
        }
        if length == 0 {
            return Vec::new();
        }
        let mut message = vec![b'R'];
        message.extend((authentication.len() as u32 + 4).to_be_bytes());
        message.extend(authentication);
        // In two pieces, as a network may deliver it.
        socket.write_all(&message[..3]).await.unwrap();
        socket.flush().await.unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        socket.write_all(&message[3..]).await.unwrap();
        let length = socket.read(&mut first).await.unwrap_or(0);
        first.truncate(length);
        first
    });
    let settings = PgSettings::at(&format!("postgres://me:open-sesame@{address}/site?sslmode={mode}"));
    let error = connect(&settings).await.unwrap_err().to_string();
    (error, server.await.unwrap())
}

#[test]
fn a_refused_tls_never_brings_the_password_in_clear_text() {
    const CLEAR_TEXT: &[u8] = &[0, 0, 0, 3];
    let holds = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains("open-sesame");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        for mode in ["prefer", "allow"] {
            let (error, bytes) = said(mode, CLEAR_TEXT).await;
            assert!(bytes.is_empty(), "{mode}: {:?}", String::from_utf8_lossy(&bytes));
            assert!(error.contains("clear text") && error.contains("sslmode=disable"), "{error}");
            // Methods that do not show the password remain.
            let (_, bytes) = said(mode, &[&[0, 0, 0, 10], &b"SCRAM-SHA-256\0\0"[..]].concat()).await;
            assert!(bytes.starts_with(b"p") && !holds(&bytes));
            assert!(String::from_utf8_lossy(&bytes).contains("SCRAM-SHA-256"));
            let (_, bytes) = said(mode, &[0, 0, 0, 5, 1, 2, 3, 4]).await;
            assert!(String::from_utf8_lossy(&bytes).contains("md5") && !holds(&bytes));
        }
        // A client that wants no TLS gets none.
        assert!(holds(&said("disable", CLEAR_TEXT).await.1));
        for mode in ["require", "verify-ca", "verify-full"] {
            let (error, bytes) = said(mode, CLEAR_TEXT).await;
            assert!(bytes.is_empty() && error.contains("offers no TLS"), "{error}");
        }
    });
}
