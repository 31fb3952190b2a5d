//! A database whose administrator makes the roles: its owner may not.

use store::postgres::{Cause, PgError, PgSettings, PgStore, migrate};
use support::database::{client, create_database, url_of};
use support::service::Service;

#[test]
fn an_owner_without_createrole_migrates_with_given_roles() {
    let Some(server) = Service::start("postgres") else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let admin = client(&server.address).await;
        create_database(&admin, "site").await;
        for sql in
            ["CREATE ROLE keeper LOGIN", "ALTER DATABASE site OWNER TO keeper", "CREATE ROLE worker LOGIN"]
        {
            admin.batch_execute(sql).await.unwrap();
        }
        // With TimescaleDB, where the server has it.
        let of = |account: &str| PgSettings::at(&url_of(&server.address, account, "site"));

        let error = migrate(&of("keeper")).await.unwrap_err();
        assert!(matches!(&error, PgError::Stop(why) if why.cause == Cause::Roles), "{error}");
        let roles = ["tailback_writer", "tailback_reader", "tailback_user"];
        for role in roles {
            let line = format!("CREATE ROLE {role} NOLOGIN;");
            assert!(error.to_string().contains(&line), "{error}");
            admin.batch_execute(&line).await.unwrap();
        }
        assert!(!migrate(&of("keeper")).await.unwrap().is_empty());
        assert!(migrate(&of("keeper")).await.unwrap().is_empty(), "a second time there is nothing to do");

        // A writer without the role is named the grant; with it, it works.
        let error = PgStore::connect(&of("worker")).await.unwrap_err();
        assert!(matches!(&error, PgError::Stop(why) if why.cause == Cause::TableRight), "{error}");
        client(&of("keeper").url).await.batch_execute("SELECT 1").await.unwrap();
        admin.batch_execute("GRANT tailback_writer TO worker").await.unwrap();
        PgStore::connect(&of("worker")).await.unwrap().claim("detector", 0, "a", None).await.unwrap();
        // Not the owner: the tables are another account's.
        let error = migrate(&of("worker")).await.unwrap_err();
        assert!(
            matches!(&error, PgError::Stop(_)) && error.to_string().contains("tailback migrate"),
            "{error}"
        );
    });
}
