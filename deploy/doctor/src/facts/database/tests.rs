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
struct Case {
    name: &'static str,
    /// Run in the database `site`, before and after.
    broken: &'static str,
    mended: &'static str,
    user: &'static str,
    database: &'static str,
    /// Replaces host and port.
    address: &'static str,
    query: &'static str,
    /// A file of the folder as `tls_ca_file`.
    authority: &'static str,
    /// What the remedy contains.
    remedy: &'static str,
    /// The cause of the connection's error; `None` where the connection works.
    cause: Option<Cause>,
}

/// Nothing is broken: an account that may write.
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

fn case(name: &'static str, remedy: &'static str, cause: impl Into<Option<Cause>>) -> Case {
    Case { name, remedy, cause: cause.into(), ..WORKER }
}

impl Case {
    fn user(self, user: &'static str) -> Case {
        Case { user, ..self }
    }

    fn query(self, query: &'static str) -> Case {
        Case { query, ..self }
    }

    fn sql(self, broken: &'static str, mended: &'static str) -> Case {
        Case { broken, mended, ..self }
    }
}

fn cases() -> Vec<Case> {
    let mut cases = of_addresses();
    cases.extend(of_tls());
    cases.extend(of_accounts());
    cases.extend(of_rights());
    cases
}

fn of_addresses() -> Vec<Case> {
    let (on, off) = (
        "ALTER ROLE worker SET default_transaction_read_only = on",
        "ALTER ROLE worker RESET default_transaction_read_only",
    );
    vec![
        Case { address: "127.0.0.1:9", ..case("port", "start the server", Cause::Unreachable) },
        Case { address: "a..b:5432", ..case("host", "name service", Cause::UnknownHost) },
        Case { database: "other", ..case("database", "CREATE DATABASE", Cause::Database) },
        Case { database: "empty", ..case("empty database", "tailback migrate", None) },
        case("read-only account", "default_transaction_read_only off", None).sql(on, off),
        case("no host to write", "let database.url name the primary", Cause::ReadOnly)
            .query("sslmode=require&target_session_attrs=primary")
            .sql(on, off),
    ]
}

fn of_tls() -> Vec<Case> {
    let rule = |name| case(name, "pg_hba.conf", Cause::NotAdmitted).user("unruled");
    vec![
        case("no TLS", "turn `ssl` on", Cause::NoTls)
            .sql("ALTER SYSTEM SET ssl = off", "ALTER SYSTEM SET ssl = on"),
        Case { authority: "other.pem", ..case("authority", "tls_ca_file", Cause::Certificate) },
        case("no certificate", "tls_cert_file", Cause::ClientCertificate).user("certified"),
        rule("no rule"),
        rule("no rule, TLS tried").query("sslmode=prefer"),
        case("no rule without TLS", "set sslmode=require", Cause::NotEncrypted)
            .user("certified")
            .query("sslmode=disable"),
        case("channel binding", "scram-sha-256", Cause::ChannelBinding)
            .query("sslmode=require&channel_binding=require"),
    ]
}

fn of_accounts() -> Vec<Case> {
    vec![
        case("account", "CREATE ROLE", Cause::Account).user("absent"),
        case("no login", "LOGIN", Cause::Account).user("retired"),
        case("no password", "password_file", Cause::Password).user("secret"),
        case("wrong password", "password_file", Cause::Password).user("secret:wrong"),
        case("limit of connections", "limit of the account", Cause::Full)
            .sql("ALTER ROLE worker CONNECTION LIMIT 0", "ALTER ROLE worker CONNECTION LIMIT -1"),
    ]
}

fn of_rights() -> Vec<Case> {
    vec![
        case("no right to connect", "GRANT CONNECT", Cause::DatabaseRight)
            .sql("REVOKE CONNECT ON DATABASE site FROM PUBLIC", "GRANT CONNECT ON DATABASE site TO PUBLIC"),
        case("no grant", "GRANT tailback_writer TO \"worker\"", None).sql(
            "REVOKE tailback_writer FROM worker; GRANT tailback_reader TO worker",
            "REVOKE tailback_reader FROM worker; GRANT tailback_writer TO worker",
        ),
        case("a role is gone", "CREATE ROLE tailback_user NOLOGIN;", None)
            .sql("ALTER ROLE tailback_user RENAME TO gone", "ALTER ROLE gone RENAME TO tailback_user"),
        case("another schema", "follow the error", None).sql(
            "UPDATE schema_migrations SET name = '0000_x' WHERE name = '0001_schema'",
            "UPDATE schema_migrations SET name = '0001_schema' WHERE name = '0000_x'",
        ),
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
