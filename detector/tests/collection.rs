//! Who reports and what is missing, as SQL tells it, on a real server.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[allow(dead_code, reason = "shared with other tests")]
mod postgres_support;

use detector::postgres::{PartCommit, PgStore, put_expected};
use postgres_support::{Database, Fixture, on_each_server, query};
use schemas::site::Expected;
use schemas::{Heard, Name, Silence, SilenceEnd, Time};

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn at(second: f64) -> Time {
    Time::from_seconds(1_700_000_000.0 + second)
}

fn heard(producer: &str, schema: &str, component: &str) -> Heard {
    let last_time = at(100.0);
    Heard { producer: name(producer), schema: name(schema), component: name(component), last_time, rows: 100 }
}

fn silence(producer: &str, schema: &str, component: &str, since: f64, end: SilenceEnd) -> Silence {
    let (producer, schema, component) = (name(producer), name(schema), name(component));
    Silence { producer, schema, component, since: at(since), end }
}

fn expected(producer: &str, schema: &str, component: &str) -> Expected {
    let (producer, schema, component) = (name(producer), name(schema), name(component));
    Expected { producer, source_schema: schema.clone(), schema, component, copies: 1, event_driven: false }
}

/// A hundred seconds: two nodes report router `c1-0c0s0`, each silent for a while; `n3` stops for good.
fn fixture() -> Fixture {
    let mut fixture = Fixture::new(1, 1);
    fixture.results.heard = vec![
        heard("n1", "rtr", "c1-0c0s0"),
        heard("n2", "rtr", "c1-0c0s0"),
        heard("n1", "lustre_client", "n1"),
        heard("n3", "lustre_client", "n3"),
    ];
    fixture.results.silences = vec![
        silence("n1", "rtr", "c1-0c0s0", 10.0, SilenceEnd::Open),
        silence("n1", "rtr", "c1-0c0s0", 10.0, SilenceEnd::At(at(40.0))),
        silence("n2", "rtr", "c1-0c0s0", 30.0, SilenceEnd::At(at(60.0))),
        silence("n3", "lustre_client", "n3", 75.0, SilenceEnd::Open),
        silence("n1", "lustre_client", "n1", 50.0, SilenceEnd::Open),
        silence("n1", "lustre_client", "n1", 50.0, SilenceEnd::Revoked),
    ];
    fixture
}

#[test]
fn completeness_is_told_by_node_component_group_and_system() {
    on_each_server(|database: Database| async move {
        let settings = database.settings();
        let mut store = PgStore::connect(&settings).await.unwrap();
        store.claim("detector", 0, "a").await.unwrap();
        let fixture = fixture();
        let part = PartCommit {
            partition: 0,
            epoch: 1,
            from_position: None,
            to_position: 1,
            results: &fixture.results,
            stored: &fixture.stored,
            table: &fixture.table,
            snapshot: None,
        };
        store.commit("detector", &[part]).await.unwrap();
        let figures = "SELECT concat_ws(' ', kind, name, sources, silent_now, round(completeness::numeric, 2)) \
                       FROM completeness(to_timestamp(1700000000), to_timestamp(1700000100)) ORDER BY 1";
        assert_eq!(
            query(&database, figures).await,
            [
                // Both reporters were silent from 30 to 40.
                "component c1-0c0s0 2 0 0.90",
                "component n1 1 0 1.00",
                "component n3 1 1 0.75",
                "group c0-0..c1-0 2 0 0.90",
                "node n1 2 0 0.85",
                "node n2 1 0 0.70",
                "node n3 1 1 0.75",
                "system  4 1 0.88",
            ]
        );
        let all = [expected("n1", "lustre_client", "n1"), expected("n9", "lustre_client", "n9")];
        put_expected(&settings, &all).await.unwrap();
        let states = "SELECT concat_ws(' ', producer, schema, state, in_site_file) FROM sources ORDER BY 1";
        assert_eq!(
            query(&database, states).await,
            [
                "n1 lustre_client reports t",
                "n1 rtr reports f",
                "n2 rtr reports f",
                "n3 lustre_client silent f",
                "n9 lustre_client never heard t",
            ]
        );
        let missing = "SELECT completeness::text FROM completeness(to_timestamp(1700000000), to_timestamp(1700000100)) \
                       WHERE (kind, name) = ('node', 'n9')";
        assert_eq!(query(&database, missing).await, ["0"]);
    });
}
