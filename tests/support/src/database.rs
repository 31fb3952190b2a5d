//! A new database for each test, on a server that is started once.

use crate::service::script;
use crate::skip::{servers_allowed, skip_part};
use std::str::FromStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use store::postgres::{PgRetention, PgSettings, migrate};
use tokio::task::JoinHandle;
use tokio_postgres::{Client, Config, NoTls};

/// The URL of the server that all test runs share; `None` where the running test is skipped.
pub fn server() -> Option<&'static str> {
    static SERVER: OnceLock<String> = OnceLock::new();
    if let Ok(url) = std::env::var("TAILBACK_PG_URL") {
        return Some(SERVER.get_or_init(|| url));
    }
    // A server from an earlier run is used again; `stop` of the script ends it.
    let folder = std::env::temp_dir().join("tailback-test-postgres");
    servers_allowed().then(|| SERVER.get_or_init(|| script("postgres", "start", &folder)).as_str())
}

/// A connection.
pub async fn client(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// Whether the server loads TimescaleDB.
pub async fn has_timescale(admin: &Client) -> bool {
    let loaded = "SELECT current_setting('shared_preload_libraries') ~ 'timescaledb'";
    admin.query_one(loaded, &[]).await.unwrap().get(0)
}

/// Makes an empty database.
pub async fn create_database(admin: &Client, name: &str) {
    // From the empty template, one at a time: the server allows no second user of a template.
    admin.batch_execute("SELECT pg_advisory_lock(1)").await.unwrap();
    admin.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE template0")).await.unwrap();
    admin.batch_execute("SELECT pg_advisory_unlock(1)").await.unwrap();
}

/// The URL of another login and database on a server.
pub fn url_of(server: &str, user: &str, database: &str) -> String {
    let (head, _) = server.rsplit_once('/').unwrap();
    let (_, address) = head.rsplit_once('@').unwrap();
    let config = Config::from_str(server).unwrap();
    let password =
        config.get_password().map(|p| format!(":{}", String::from_utf8_lossy(p))).unwrap_or_default();
    format!("postgresql://{user}{password}@{address}/{database}")
}

/// A database that is dropped at the end.
#[derive(Clone)]
pub struct Database {
    name: String,
    /// Whether it uses TimescaleDB.
    pub timescale: bool,
}

/// Runs `test` in a fresh database on plain PostgreSQL, and in another with TimescaleDB if the server has it.
pub fn on_each_server<F: Future<Output = ()>>(test: impl Fn(Database) -> F) {
    on_each(true, test);
}

/// The same in empty databases, without Tailback's tables.
pub fn on_each_empty_server<F: Future<Output = ()>>(test: impl Fn(Database) -> F) {
    on_each(false, test);
}

fn on_each<F: Future<Output = ()>>(migrated: bool, test: impl Fn(Database) -> F) {
    let Some(server) = server() else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let admin = client(server).await;
        let timescale = has_timescale(&admin).await;
        if !timescale {
            skip_part("PostgreSQL has no TimescaleDB: ran on plain PostgreSQL alone");
        }
        for timescale in if timescale { vec![false, true] } else { vec![false] } {
            let database = Database::create(&admin, timescale).await;
            if migrated {
                let applied = migrate(&database.settings()).await.unwrap();
                assert_eq!(applied.iter().any(|a| a.name == "0002_columnstore"), timescale);
                if timescale {
                    // A policy that runs between two commits of a test would hide what the second brings until it runs again.
                    database.execute("SELECT _timescaledb_functions.stop_background_workers()").await;
                }
            }
            test(database.clone()).await;
            admin.batch_execute(&format!("DROP DATABASE {} WITH (FORCE)", database.name)).await.unwrap();
        }
    });
}

impl Database {
    async fn create(admin: &Client, timescale: bool) -> Database {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("tailback_test_{}_{number}", std::process::id());
        create_database(admin, &name).await;
        Database { name, timescale }
    }

    /// The settings of a store in this database.
    pub fn settings(&self) -> PgSettings {
        let config = Config::from_str(server().unwrap()).unwrap();
        let user = config.get_user().unwrap().to_string();
        // The fixtures are years old: the policies would drop them.
        let retention =
            PgRetention { raw_days: None, ten_seconds_days: None, minutes_days: None, hours_days: None };
        PgSettings {
            timescale: self.timescale,
            retention,
            merge_after_hours: None,
            ..PgSettings::at(&self.url_of(&user))
        }
    }

    /// The URL for another login.
    pub fn url_of(&self, user: &str) -> String {
        url_of(server().unwrap(), user, &self.name)
    }

    /// Runs statements as the owner.
    pub async fn execute(&self, sql: &str) {
        client(&self.settings().url).await.batch_execute(sql).await.unwrap();
    }

    /// A transaction of the owner that has run `sql`; it keeps its locks until `COMMIT`.
    pub async fn begin(&self, sql: &str) -> Client {
        let client = client(&self.settings().url).await;
        client.batch_execute(&format!("BEGIN; {sql}")).await.unwrap();
        client
    }

    /// Waits until a connection of a store waits for a lock.
    pub async fn until_a_writer_waits(&self) {
        let waiting = "SELECT pid::text FROM pg_stat_activity WHERE datname = current_database()
                       AND application_name = 'tailback' AND wait_event_type = 'Lock'";
        let deadline = Instant::now() + Duration::from_secs(240);
        while query(self, waiting).await.is_empty() {
            assert!(Instant::now() < deadline, "no writer waits for a lock");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Kills every connection of a store after some milliseconds.
    pub fn kill_writers_after(&self, milliseconds: u64) -> JoinHandle<()> {
        let (url, name) = (server().unwrap(), self.name.clone());
        tokio::spawn(async move {
            let admin = client(url).await;
            tokio::time::sleep(Duration::from_millis(milliseconds)).await;
            let sql = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                       WHERE datname = $1 AND application_name = 'tailback'";
            admin.query_one(sql, &[&name]).await.unwrap();
        })
    }

    /// Creates a login with a group role.
    pub async fn login(&self, group: &str) -> String {
        let login = format!("{}_{group}", self.name);
        self.execute(&format!("CREATE ROLE {login} LOGIN PASSWORD 'x' IN ROLE {group}")).await;
        login
    }

    /// Removes a login.
    pub async fn drop_login(&self, login: &str) {
        self.execute(&format!("DROP ROLE {login}")).await;
    }
}

/// The first column of an answer, as the owner.
pub async fn query(database: &Database, sql: &str) -> Vec<String> {
    let rows = client(&database.settings().url).await.query(sql, &[]).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

/// The first column of an answer, as another login.
pub async fn query_as(
    database: &Database,
    login: &str,
    sql: &str,
) -> Result<Vec<String>, tokio_postgres::Error> {
    let rows = client(&database.url_of(login)).await.query(sql, &[]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}
