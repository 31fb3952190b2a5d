//! A database with a simulated day, on plain PostgreSQL and with TimescaleDB.

use std::str::FromStr;
use store::migrations::POSTGRES_MIGRATIONS;
use support::database::{client, create_database, has_timescale, server, url_of};
use support::skip::skip;
use tokio_postgres::{Client, Config};

/// A database with the day.
pub struct Day {
    /// The owner's connection.
    pub owner: Client,
    /// A connection with the rights of Grafana: those of `tailback_reader` only.
    pub reader: Client,
}

/// A server and the name of its database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// PostgreSQL without extensions.
    Plain,
    Timescale,
}

/// Runs `test` on the day, in a database of its own that is dropped at the end.
pub fn on_the_day(kind: Kind, test: impl AsyncFn(&Day)) {
    let Some(server) = server() else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let admin = client(server).await;
        if kind == Kind::Timescale && !has_timescale(&admin).await {
            skip("PostgreSQL has no TimescaleDB");
            return;
        }
        let name = format!("tailback_day_{}_{kind:?}", std::process::id()).to_lowercase();
        create_database(&admin, &name).await;
        let day = Day::fill(server, &name, kind == Kind::Timescale).await;
        test(&day).await;
        drop(day);
        admin.batch_execute(&format!("DROP DATABASE {name} WITH (FORCE)")).await.unwrap();
        admin.batch_execute(&format!("DROP ROLE {name}")).await.unwrap();
    });
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
            .batch_execute(include_str!("../../../schemas/store/sql/postgres/schema_migrations.sql"))
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
