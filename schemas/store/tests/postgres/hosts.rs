//! Several hosts in the URL, of which the first may only be read.

use store::postgres::{Cause, PgError, PgSettings, connect, connect_to_read, migrate};
use support::database::{client, server};
use support::service::Service;

/// Port of the server that answers.
async fn port(connected: Result<tokio_postgres::Client, PgError>) -> u16 {
    let row = connected.unwrap().query_one("SELECT current_setting('port')", &[]).await.unwrap();
    row.get::<_, String>(0).parse().unwrap()
}

#[test]
fn of_several_hosts_a_writer_takes_the_primary() {
    let Some(primary) = server() else { return };
    let Some(standby) = Service::start("postgres") else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let admin = client(&standby.address).await;
        admin.batch_execute("ALTER SYSTEM SET default_transaction_read_only = on").await.unwrap();
        admin.batch_execute("SELECT pg_reload_conf()").await.unwrap();
        let of = |url: &str| url.rsplit_once('@').unwrap().1.split('/').next().unwrap().to_string();
        let (first, second) = (of(&standby.address), of(primary));
        let number = |address: &str| address.rsplit_once(':').unwrap().1.parse::<u16>().unwrap();
        let user = primary.split("://").nth(1).unwrap().split('@').next().unwrap();
        let at = |hosts: &str, query: &str| {
            PgSettings::at(&format!("postgresql://{user}@{hosts}/postgres?sslmode=disable{query}"))
        };
        let both = format!("{first},{second}");
        // The setting takes effect within a moment.
        while !admin
            .query_one("SHOW default_transaction_read_only", &[])
            .await
            .unwrap()
            .get::<_, String>(0)
            .eq("on")
        {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        assert_eq!(port(connect(&at(&both, "")).await).await, number(&second));
        let primary = at(&both, "&target_session_attrs=primary");
        assert_eq!(port(connect(&primary).await).await, number(&second));
        assert_eq!(port(connect(&at(&both, "&target_session_attrs=any")).await).await, number(&first));
        assert_eq!(port(connect_to_read(&at(&both, "")).await).await, number(&first));
        let read_only = at(&format!("{second},{first}"), "&target_session_attrs=read-only");
        assert_eq!(port(connect_to_read(&read_only).await).await, number(&first));
        // None may be written: that may pass, as after a failover, and the remedy is named.
        let none = format!("{first},{first}");
        for error in [connect(&at(&none, "")).await.err(), migrate(&at(&first, "")).await.err()] {
            let error = error.unwrap();
            assert!(matches!(&error, PgError::Retry(why) if why.cause == Cause::ReadOnly), "{error}");
            assert!(error.to_string().contains("target_session_attrs=read-write"), "{error}");
        }
        let error = connect(&at(&both, "&target_session_attrs=standby")).await.unwrap_err().to_string();
        assert!(error.contains("standby") && error.contains("read-only"), "{error}");
    });
}
