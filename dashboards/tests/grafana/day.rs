//! A database with a simulated day, on plain PostgreSQL and with TimescaleDB.

use schemas::sql::POSTGRES_MIGRATIONS;
use std::path::Path;
use std::process::Command;
use std::str::FromStr;
use tokio_postgres::{Client, Config, NoTls};

/// The server's URL; `None` where there is none and the tests may be left out.
fn server() -> Option<String> {
    if let Ok(url) = std::env::var("TAILBACK_PG_URL") {
        return Some(url);
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/services/postgres");
    // The place that the detector's tests use: a server that a run left behind is found again.
    let folder = std::env::temp_dir().join("tailback-test-postgres");
    let output = Command::new(script).arg("start").arg(&folder).output().unwrap();
    if output.status.success() {
        return Some(String::from_utf8(output.stdout).unwrap().trim().to_string());
    }
    eprintln!("no PostgreSQL: {}", String::from_utf8_lossy(&output.stderr));
    assert!(
        std::env::var("TAILBACK_SKIP_SERVICES").is_ok(),
        "no PostgreSQL; TAILBACK_SKIP_SERVICES=1 leaves it out"
    );
    None
}

/// A connection.
pub async fn client(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// A database with the day.
pub struct Day {
    /// The owner's connection.
    pub owner: Client,
    /// Connected as Grafana is: with the rights of `tailback_reader` alone.
    pub reader: Client,
}

/// A server with the database that it is to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// PostgreSQL without extensions.
    Plain,
    Timescale,
}

/// Runs `test` on the day, in a database of its own that is dropped at the end.
pub fn on_the_day(kind: Kind, test: impl AsyncFn(&Day)) {
    let Some(server) = server() else {
        eprintln!("left out: no PostgreSQL");
        return;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let admin = client(&server).await;
        let found = "SELECT current_setting('shared_preload_libraries') ~ 'timescaledb'";
        let has: bool = admin.query_one(found, &[]).await.unwrap().get(0);
        if kind == Kind::Timescale && !has {
            eprintln!("left out: the server has no TimescaleDB");
            return;
        }
        let name = format!("tailback_day_{}_{kind:?}", std::process::id()).to_lowercase();
        // One at a time: the server allows no second user of a template.
        admin.batch_execute("SELECT pg_advisory_lock(1)").await.unwrap();
        admin.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE template0")).await.unwrap();
        admin.batch_execute("SELECT pg_advisory_unlock(1)").await.unwrap();
        let day = Day::fill(&server, &name, kind == Kind::Timescale).await;
        test(&day).await;
        drop(day);
        admin.batch_execute(&format!("DROP DATABASE {name} WITH (FORCE)")).await.unwrap();
        admin.batch_execute(&format!("DROP ROLE {name}")).await.unwrap();
    });
}

/// The same server, another database and login.
fn url_of(server: &str, user: &str, database: &str) -> String {
    let address = server.rsplit_once('@').map_or(server, |(_, rest)| rest).rsplit_once('/').unwrap().0;
    let password =
        Config::from_str(server).unwrap().get_password().map(|p| format!(":{}", String::from_utf8_lossy(p)));
    format!("postgresql://{user}{}@{address}/{database}", password.unwrap_or_default())
}

impl Day {
    async fn fill(server: &str, name: &str, timescale: bool) -> Day {
        let admin = Config::from_str(server).unwrap().get_user().unwrap().to_string();
        let owner = client(&url_of(server, &admin, name)).await;
        owner.batch_execute("SET client_min_messages = warning").await.unwrap();
        if timescale {
            owner.batch_execute("CREATE EXTENSION timescaledb").await.unwrap();
        }
        owner
            .batch_execute(include_str!("../../../detector/src/postgres/sql/schema_migrations.sql"))
            .await
            .unwrap();
        for migration in POSTGRES_MIGRATIONS.iter().filter(|m| timescale || !m.timescale) {
            owner
                .batch_execute(migration.sql)
                .await
                .unwrap_or_else(|why| panic!("{}: {why:?}", migration.name));
            let known = "INSERT INTO schema_migrations (version, name, checksum) VALUES (0, $1, 0)";
            owner.execute(known, &[&migration.name]).await.unwrap();
        }
        owner.batch_execute(include_str!("day.sql")).await.unwrap();
        // As `tailback run` does once a minute, until nothing is due.
        while owner.query_one("SELECT roll_up()", &[]).await.unwrap().get(0) {}
        let login = format!("CREATE ROLE {name} LOGIN IN ROLE tailback_reader");
        owner.batch_execute(&login).await.unwrap();
        let reader = client(&url_of(server, name, name)).await;
        Day { owner, reader }
    }
}
