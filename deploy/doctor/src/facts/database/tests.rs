//! A real server in which one thing at a time is broken: doctor and the errors of connections name that thing's remedy.

use super::look;
use crate::finding::{Finding, Level};
use configuration::RunConfig;
use std::ffi::OsStr;
use std::path::Path;
use std::time::{Duration, Instant};
use store::postgres::{Cause, PgError, connect, migrate};
use support::database::{client, create_database, url_of};
use support::service::{Service, open_folder};
use support::tls::{certificates, put, rules};
use tokio_postgres::Client;

const RULES: &str = "hostssl all certified all trust clientcert=verify-full\n\
    host all secret all scram-sha-256\nhost all worker,stranger_to_tables,retired,absent all trust";

/// What is broken, and the one remedy.
#[derive(Default)]
struct Case {
    name: &'static str,
    /// Runs in the server, or in the database `site`, before and after.
    broken: &'static str,
    mended: &'static str,
    user: &'static str,
    /// Another database than `site`.
    database: &'static str,
    /// Replaces host and port.
    address: &'static str,
    query: &'static str,
    /// A file of the folder as `tls_ca_file`.
    authority: &'static str,
    /// What the remedy contains, and the cause of the connection's error; `None` where the connection works.
    remedy: &'static str,
    cause: Option<Cause>,
}

const WORKER: Case = Case {
    name: "",
    broken: "",
    mended: "",
    user: "worker",
    database: "site",
    address: "",
    query: "sslmode=require",
    authority: "",
    remedy: "",
    cause: None,
};

fn cases() -> Vec<Case> {
    let mut cases = of_addresses();
    cases.extend(of_tls());
    cases.extend(of_accounts());
    cases
}

fn of_addresses() -> Vec<Case> {
    vec![
        Case {
            name: "port",
            address: "127.0.0.1:9",
            remedy: "start the server",
            cause: Some(Cause::Unreachable),
            ..WORKER
        },
        Case {
            name: "host",
            address: "a..b:5432",
            remedy: "name service",
            cause: Some(Cause::UnknownHost),
            ..WORKER
        },
        Case {
            name: "database",
            database: "other",
            remedy: "CREATE DATABASE",
            cause: Some(Cause::Database),
            ..WORKER
        },
        Case { name: "empty database", database: "empty", remedy: "tailback migrate", ..WORKER },
        Case {
            name: "read-only account",
            broken: "ALTER ROLE worker SET default_transaction_read_only = on",
            mended: "ALTER ROLE worker RESET default_transaction_read_only",
            remedy: "default_transaction_read_only off",
            ..WORKER
        },
        Case {
            name: "two hosts, none to write",
            broken: "ALTER ROLE worker SET default_transaction_read_only = on",
            mended: "ALTER ROLE worker RESET default_transaction_read_only",
            query: "sslmode=require&target_session_attrs=primary",
            remedy: "let database.url name the primary",
            cause: Some(Cause::ReadOnly),
            ..WORKER
        },
    ]
}

fn of_tls() -> Vec<Case> {
    let on = "ALTER SYSTEM SET ssl = on";
    vec![
        Case {
            name: "no TLS",
            broken: "ALTER SYSTEM SET ssl = off",
            mended: on,
            remedy: "turn `ssl` on",
            cause: Some(Cause::NoTls),
            ..WORKER
        },
        Case {
            name: "authority",
            authority: "other.pem",
            remedy: "tls_ca_file",
            cause: Some(Cause::Certificate),
            ..WORKER
        },
        Case {
            name: "client certificate",
            user: "certified",
            remedy: "tls_cert_file",
            cause: Some(Cause::ClientCertificate),
            ..WORKER
        },
        Case {
            name: "no rule",
            user: "unruled",
            remedy: "pg_hba.conf",
            cause: Some(Cause::NotAdmitted),
            ..WORKER
        },
        Case {
            name: "no rule, TLS tried",
            user: "unruled",
            query: "sslmode=prefer",
            remedy: "pg_hba.conf",
            cause: Some(Cause::NotAdmitted),
            ..WORKER
        },
        Case {
            name: "no rule without TLS",
            user: "certified",
            query: "sslmode=disable",
            remedy: "set sslmode=require",
            cause: Some(Cause::NotEncrypted),
            ..WORKER
        },
        Case {
            name: "channel binding",
            query: "sslmode=require&channel_binding=require",
            remedy: "scram-sha-256",
            cause: Some(Cause::ChannelBinding),
            ..WORKER
        },
    ]
}

fn of_accounts() -> Vec<Case> {
    vec![
        Case {
            name: "account",
            user: "absent",
            remedy: "CREATE ROLE",
            cause: Some(Cause::Account),
            ..WORKER
        },
        Case { name: "no login", user: "retired", remedy: "LOGIN", cause: Some(Cause::Account), ..WORKER },
        Case {
            name: "no password",
            user: "secret",
            remedy: "password_file",
            cause: Some(Cause::Password),
            ..WORKER
        },
        Case {
            name: "wrong password",
            user: "secret:wrong",
            remedy: "password_file",
            cause: Some(Cause::Password),
            ..WORKER
        },
        Case {
            name: "no right to connect",
            broken: "REVOKE CONNECT ON DATABASE site FROM PUBLIC",
            mended: "GRANT CONNECT ON DATABASE site TO PUBLIC",
            remedy: "GRANT CONNECT",
            cause: Some(Cause::DatabaseRight),
            ..WORKER
        },
        Case {
            name: "limit of connections",
            broken: "ALTER ROLE worker CONNECTION LIMIT 0",
            mended: "ALTER ROLE worker CONNECTION LIMIT -1",
            remedy: "limit of the account",
            cause: Some(Cause::Full),
            ..WORKER
        },
        Case {
            name: "no grant",
            broken: "REVOKE tailback_writer FROM worker; GRANT tailback_reader TO worker",
            mended: "REVOKE tailback_reader FROM worker; GRANT tailback_writer TO worker",
            remedy: "GRANT tailback_writer TO \"worker\"",
            ..WORKER
        },
        Case {
            name: "a role is gone",
            broken: "ALTER ROLE tailback_user RENAME TO gone",
            mended: "ALTER ROLE gone RENAME TO tailback_user",
            remedy: "CREATE ROLE tailback_user NOLOGIN;",
            ..WORKER
        },
        Case {
            name: "an older schema",
            broken: "UPDATE schema_migrations SET name = '0000_x' WHERE name = '0001_schema'",
            mended: "UPDATE schema_migrations SET name = '0001_schema' WHERE name = '0000_x'",
            remedy: "follow the error",
            ..WORKER
        },
    ]
}

/// A server with TLS, with the tables in `site` and none in `empty`.
async fn site(folder: &Path, server: &Service) -> Client {
    certificates(folder);
    let admin = client(&server.address).await;
    create_database(&admin, "site").await;
    create_database(&admin, "empty").await;
    for (name, file) in [("server.crt", "server.pem"), ("server.key", "server.key"), ("root.crt", "ca.pem")] {
        put(&admin, name, &std::fs::read_to_string(folder.join(file)).unwrap()).await;
    }
    let owner = config(folder, &url_of(&server.address, "tailback", "site"), "").database.pg_settings();
    migrate(&owner).await.unwrap();
    for sql in [
        "CREATE ROLE worker LOGIN IN ROLE tailback_writer",
        "CREATE ROLE certified LOGIN",
        "CREATE ROLE secret LOGIN PASSWORD 'right'",
        "CREATE ROLE unruled LOGIN",
        "CREATE ROLE retired NOLOGIN",
        "ALTER SYSTEM SET ssl = on",
        "ALTER SYSTEM SET ssl_ca_file = 'root.crt'",
    ] {
        admin.batch_execute(sql).await.unwrap();
    }
    rules(&admin, RULES).await;
    admin.batch_execute("SELECT pg_reload_conf()").await.unwrap();
    client(&owner.url).await
}

fn config(folder: &Path, url: &str, more: &str) -> RunConfig {
    let file = folder.join("tailback.toml");
    std::fs::write(&file, format!("[database]\nurl = \"{url}\"\nconnect_timeout_s = 10\n{more}")).unwrap();
    RunConfig::load(Some(&file)).unwrap()
}

impl Case {
    fn config(&self, folder: &Path, server: &Service) -> RunConfig {
        let mut url = url_of(&server.address, self.user, self.database);
        if !self.address.is_empty() {
            let own = server.address.rsplit_once('@').unwrap().1.split('/').next().unwrap();
            url = url.replace(own, self.address);
        }
        let authority = match self.authority {
            "" => String::new(),
            file => format!("tls_ca_file = \"{}\"", folder.join(file).display()),
        };
        config(folder, &format!("{url}?{}", self.query), &authority)
    }

    /// The one error names the remedy; so does the error of the connection, if there is one.
    async fn check(&self, config: &RunConfig) {
        let found = errors(config).await;
        let [error] = found.as_slice() else { panic!("{}: {found:#?}", self.name) };
        assert!(error.mend.contains(self.remedy), "{}: {error:?}", self.name);
        let Some(cause) = self.cause else { return };
        let refused = connect(&config.database.pg_settings()).await.unwrap_err();
        let (PgError::Retry(why) | PgError::Stop(why)) = &refused else { panic!("{refused:?}") };
        assert_eq!((why.cause, cause.remedy()), (cause, error.mend.as_str()), "{}: {refused}", self.name);
        assert!(refused.to_string().ends_with(cause.remedy()), "{refused}");
    }
}

async fn errors(config: &RunConfig) -> Vec<Finding> {
    let found = look(config, Duration::from_secs(20)).await;
    let all = crate::of_database(config, &found);
    all.into_iter().filter(|finding| finding.level == Level::Error).collect()
}

/// Runs statements; what concerns the whole server takes effect within a moment.
async fn apply(admin: &Client, sql: &str, config: &RunConfig, is_broken: bool) {
    if sql.is_empty() {
        return;
    }
    admin.batch_execute(sql).await.unwrap();
    if sql.starts_with("ALTER SYSTEM") {
        admin.batch_execute("SELECT pg_reload_conf()").await.unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        while errors(config).await.is_empty() == is_broken {
            assert!(Instant::now() < deadline, "{sql} takes no effect");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

#[test]
fn one_broken_thing_gives_its_own_remedy() {
    let folder = open_folder();
    let Some(server) = Service::start_in("postgres", &folder.path().join("pg"), &[], &[]) else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let admin = site(folder.path(), &server).await;
        apply(&admin, "ALTER SYSTEM SET ssl = on", &WORKER.config(folder.path(), &server), false).await;
        for case in cases() {
            let config = case.config(folder.path(), &server);
            apply(&admin, case.broken, &config, true).await;
            case.check(&config).await;
            apply(&admin, case.mended, &config, false).await;
            let sound = errors(&WORKER.config(folder.path(), &server)).await;
            assert!(sound.is_empty(), "after {}: {sound:#?}", case.name);
        }
    });
}

#[test]
fn a_pooler_of_transactions_is_the_one_finding() {
    let folder = open_folder();
    let Some(server) = Service::start_in("postgres", &folder.path().join("pg"), &[], &[]) else { return };
    let more = [OsStr::new(&server.address), OsStr::new("transaction")];
    let Some(pooler) = Service::start_in("pgbouncer", &folder.path().join("pooler"), &more, &[]) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let found = errors(&config(folder.path(), &pooler.address, "")).await;
        let [error] = found.as_slice() else { panic!("{found:#?}") };
        assert!(error.what.contains("PgBouncer") && error.mend.contains("pool_mode = session"), "{error:?}");
    });
}
