//! Logins by the client's certificate, and by a password with channel binding, at a real server.

use std::path::{Path, PathBuf};
use std::process::Command;
use store::postgres::{Cause, PgError, PgSettings, connect};
use support::database::{client, create_database, url_of};
use support::service::{Service, open_folder};
use support::tls::{certificates, put, rules};

/// A server with TLS, and an account for each way to log in.
struct Site {
    folder: tempfile::TempDir,
    service: Service,
}

const RULES: &str = "hostssl all certified all trust clientcert=verify-full\n\
    hostssl all bound all scram-sha-256\nhost all md5er all md5";

impl Site {
    async fn start() -> Option<Site> {
        let folder = open_folder();
        let service = Service::start_in("postgres", &folder.path().join("pg"), &[], &[])?;
        certificates(folder.path());
        let site = Site { folder, service };
        let admin = client(&site.service.address).await;
        create_database(&admin, "site").await;
        for (name, file) in
            [("server.crt", "server.pem"), ("server.key", "server.key"), ("root.crt", "ca.pem")]
        {
            put(&admin, name, &std::fs::read_to_string(site.path(file)).unwrap()).await;
        }
        for sql in [
            "CREATE ROLE certified LOGIN",
            "CREATE ROLE bound LOGIN PASSWORD 'x y'",
            "SET password_encryption = 'md5'; CREATE ROLE md5er LOGIN PASSWORD 'x y'",
            "ALTER SYSTEM SET ssl = on",
            "ALTER SYSTEM SET ssl_ca_file = 'root.crt'",
        ] {
            admin.batch_execute(sql).await.unwrap();
        }
        rules(&admin, RULES).await;
        drop(admin);
        site.service.command("restart");
        Some(site)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A client's certificate for an account, signed by one of the authorities.
    fn certificate(&self, account: &str, authority: &str) -> (PathBuf, PathBuf) {
        let name = format!("{account}-{authority}");
        self.openssl(&format!(
            "req -newkey rsa:2048 -nodes -subj /CN={account} -keyout {name}.key -out {name}.csr"
        ));
        self.openssl(&format!(
            "x509 -req -days 3650 -in {name}.csr -CA {authority}.pem -CAkey {authority}.key -set_serial 7 -out {name}.pem"
        ));
        (self.path(&format!("{name}.pem")), self.path(&format!("{name}.key")))
    }

    fn openssl(&self, arguments: &str) {
        let mut command = Command::new("openssl");
        let output = command.args(arguments.split(' ')).current_dir(self.folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn settings(&self, account: &str, query: &str) -> PgSettings {
        let url = url_of(&self.service.address, account, "site").replace("127.0.0.1", "localhost");
        PgSettings::at(&format!("{url}?{query}"))
    }
}

fn with((certificate, key): &(PathBuf, PathBuf), settings: PgSettings) -> PgSettings {
    let (tls_cert_file, tls_key_file) = (Some(certificate.clone()), Some(key.clone()));
    PgSettings { tls_cert_file, tls_key_file, ..settings }
}

async fn account(settings: &PgSettings) -> Result<String, PgError> {
    let client = connect(settings).await?;
    Ok(client.query_one("SELECT session_user::text", &[]).await.unwrap().get(0))
}

async fn cause(settings: &PgSettings) -> (Cause, String) {
    // On a busy machine the reason may be lost with the connection, which is worth another try.
    for _ in 0..20 {
        match account(settings).await.unwrap_err() {
            PgError::Stop(why) => return (why.cause, why.to_string()),
            PgError::Retry(_) => {}
            other => panic!("{other}"),
        }
    }
    panic!("the server never gives its reason");
}

fn run<F: Future<Output = ()>>(test: F) {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(test);
}

#[test]
fn a_client_certificate_is_the_login() {
    run(async {
        let Some(site) = Site::start().await else { return };
        let own = site.certificate("certified", "ca");
        let plain = site.settings("certified", "sslmode=require");
        assert_eq!(account(&with(&own, plain.clone())).await.unwrap(), "certified");
        let full = site.settings("certified", "sslmode=verify-full");
        let full = PgSettings { tls_ca_file: Some(site.path("ca.pem")), ..full };
        assert_eq!(account(&with(&own, full)).await.unwrap(), "certified");
        // The URL's files take precedence.
        let query = format!("sslmode=prefer&sslcert={}&sslkey={}", own.0.display(), own.1.display());
        let in_url =
            with(&(PathBuf::from("/none"), PathBuf::from("/none")), site.settings("certified", &query));
        assert_eq!(account(&in_url).await.unwrap(), "certified");

        // A key as older tools write it.
        site.openssl(&format!("rsa -traditional -in {} -out old.key", own.1.display()));
        let old = (own.0.clone(), site.path("old.key"));
        assert_eq!(account(&with(&old, plain.clone())).await.unwrap(), "certified");

        let (missing, text) = cause(&plain).await;
        assert_eq!(missing, Cause::ClientCertificate, "{text}");
        assert!(text.contains("database.tls_cert_file") && text.contains("sslcert"), "{text}");
        for other in [site.certificate("certified", "other"), site.certificate("mallory", "ca")] {
            let (refused, text) = cause(&with(&other, plain.clone())).await;
            assert_eq!(refused, Cause::RefusedClientCertificate, "{text}");
        }
        files_that_are_no_key_are_named(&site, &own, plain).await;
    });
}

async fn files_that_are_no_key_are_named(site: &Site, own: &(PathBuf, PathBuf), plain: PgSettings) {
    site.openssl(&format!("pkcs8 -topk8 -passout pass:x -in {} -out locked.key", own.1.display()));
    let trials: [(&Path, &str); 4] = [
        (&site.path("locked.key"), "openssl pkcs8 -topk8 -nocrypt"),
        (&site.path("ca.pem"), "no private key"),
        (&site.path("server.key"), "no certificate (PEM) and its key"),
        (&site.path("absent.key"), "No such file"),
    ];
    for (key, words) in trials {
        let (found, text) = cause(&with(&(own.0.clone(), key.to_path_buf()), plain.clone())).await;
        assert_eq!(found, Cause::Setting, "{text}");
        assert!(text.contains(words) && text.contains(&key.display().to_string()), "{text}");
    }
}

#[test]
fn channel_binding_is_used_and_can_be_demanded() {
    run(async {
        let Some(site) = Site::start().await else { return };
        let password = site.path("password");
        std::fs::write(&password, "x y\n").unwrap();
        let with = |account: &str, query: &str| PgSettings {
            password_file: Some(password.clone()),
            ..site.settings(account, query)
        };
        let tls = "sslmode=require&channel_binding=";
        for binding in ["require", "prefer", "disable"] {
            assert_eq!(account(&with("bound", &format!("{tls}{binding}"))).await.unwrap(), "bound");
        }
        // Without TLS, or with another method, there is none.
        for (account, query) in
            [("md5er", "sslmode=disable&channel_binding=require"), ("md5er", &format!("{tls}require"))]
        {
            let (found, text) = cause(&with(account, query)).await;
            assert_eq!(found, Cause::ChannelBinding, "{text}");
            assert!(text.contains("scram-sha-256 and TLS"), "{text}");
        }
        assert_eq!(account(&with("md5er", "sslmode=require")).await.unwrap(), "md5er");
    });
}
