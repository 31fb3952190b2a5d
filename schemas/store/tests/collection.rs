//! Sources that report and data that is missing, as SQL returns it, on a real server.

use schemas::site::Expected;
use schemas::{LastSeen, Name, Silence, SilenceEnd, Time};
use store::postgres::{PartCommit, PgStore, put_expected};
use support::batches::Fixture;
use support::database::{Database, on_each_server, query};

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn at(second: f64) -> Time {
    Time::from_seconds(1_700_000_000.0 + second)
}

fn seen(producer: &str, schema: &str, component: &str) -> LastSeen {
    let last_time = at(100.0);
    let (producer, schema, component) = (name(producer), name(schema), name(component));
    LastSeen { producer, schema, component, part: None, last_time, rows: 100 }
}

fn silence(producer: &str, schema: &str, component: &str, since: f64, end: SilenceEnd) -> Silence {
    let (producer, schema, component) = (name(producer), name(schema), name(component));
    Silence { producer, schema, component, part: None, since: at(since), end }
}

fn expected(producer: &str, schema: &str, component: &str) -> Expected {
    let (producer, schema, component) = (name(producer), name(schema), name(component));
    Expected { producer, source_schema: schema.clone(), schema, component, copies: 1, event_driven: false }
}

/// A hundred seconds: two nodes report router `c1-0c0s0`, each silent for a while; `n3` stops for good.
fn fixture() -> Fixture {
    let mut fixture = Fixture::new(1, 1);
    fixture.results.last_seen = vec![
        seen("n1", "rtr", "c1-0c0s0"),
        seen("n2", "rtr", "c1-0c0s0"),
        seen("n1", "lustre_client", "n1"),
        seen("n3", "lustre_client", "n3"),
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

async fn commit(database: &Database, fixture: &Fixture) {
    let mut store = PgStore::connect(&database.settings()).await.unwrap();
    store.claim("detector", 0, "a", None).await.unwrap();
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
}

/// Two mounts of `n1`, of which the second was unmounted at second 20; `n2` with two mounts stops as a whole at 60.
fn mounts() -> Fixture {
    let mut fixture = Fixture::new(1, 1);
    let mounts = [("n1", "home", 1000), ("n1", "scratch", 20), ("n2", "home", 60), ("n2", "scratch", 60)];
    for (node, mount, rows) in mounts {
        let last_time = at(f64::from(rows).min(100.0));
        let part = Some(name(mount));
        fixture.results.last_seen.push(LastSeen {
            part: part.clone(),
            last_time,
            rows: rows as u64,
            ..seen(node, "lustre_client", node)
        });
        if rows < 100 {
            let open = silence(node, "lustre_client", node, f64::from(rows), SilenceEnd::Open);
            fixture.results.silences.push(Silence { part, ..open });
        }
    }
    fixture
}

#[test]
fn an_unmounted_file_system_is_absent_and_takes_nothing_from_its_node() {
    on_each_server(|database: Database| async move {
        commit(&database, &mounts()).await;
        let states = "SELECT concat_ws(' ', producer, part, state, rows) FROM sources
                      JOIN producers USING (producer, schema, component, part) ORDER BY 1";
        let wanted =
            ["n1 home reports 1000", "n1 scratch absent 20", "n2 home silent 60", "n2 scratch silent 60"];
        assert_eq!(query(&database, states).await, wanted);
        let settings = database.settings();
        put_expected(&settings, &["n1", "n2", "n3"].map(|node| expected(node, "lustre_client", node)))
            .await
            .unwrap();
        assert_eq!(query(&database, states).await, wanted, "a site file expects one part at least");
        assert_eq!(
            query(&database, "SELECT producer FROM sources WHERE state = 'never seen'").await,
            ["n3"],
            "a source that reports a part is seen"
        );
        let figures = "SELECT concat_ws(' ', name, sources, silent_now, round(completeness::numeric, 2)) \
                       FROM completeness(to_timestamp(1700000000), to_timestamp(1700000100)) \
                       WHERE kind = 'node' ORDER BY 1";
        assert_eq!(query(&database, figures).await, ["n1 1 0 1.00", "n2 1 1 0.60", "n3 1 1 0.00"]);
        database
            .execute("UPDATE producers SET last_time = last_time + interval '8 days' WHERE part = 'home'")
            .await;
        let gone =
            "SELECT concat_ws(' ', producer, part, state) FROM sources WHERE part = 'scratch' ORDER BY 1";
        assert_eq!(query(&database, gone).await, ["n1 scratch gone", "n2 scratch silent"]);
    });
}

#[test]
fn sampler_of_jobs_is_on_event_until_its_first_job() {
    on_each_server(|database: Database| async move {
        let mut fixture = fixture();
        fixture.results.event_sources = vec![seen("n1", "slurm_jobs", "n1"), seen("n3", "slurm_jobs", "n3")];
        commit(&database, &fixture).await;
        let jobs = |node: &str| Expected { event_driven: true, ..expected(node, "slurm_jobs", node) };
        put_expected(&database.settings(), &[jobs("n1"), jobs("n2")]).await.unwrap();
        let states = "SELECT concat_ws(' ', producer, state, event_driven) FROM sources
                      WHERE schema = 'slurm_jobs' ORDER BY 1";
        assert_eq!(query(&database, states).await, ["n1 reports t", "n2 on event t", "n3 reports t"]);
        let nodes = "SELECT concat_ws(' ', name, sources) \
                     FROM completeness(to_timestamp(1700000000), to_timestamp(1700000100)) \
                     WHERE (kind, name) = ('node', 'n3')";
        assert_eq!(query(&database, nodes).await, ["n3 1"], "events are no part of the completeness");
    });
}

#[test]
fn completeness_is_given_by_node_component_group_and_system() {
    on_each_server(|database: Database| async move {
        let settings = database.settings();
        commit(&database, &fixture()).await;
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
                "n9 lustre_client never seen t",
            ]
        );
        let missing = "SELECT completeness::text FROM completeness(to_timestamp(1700000000), to_timestamp(1700000100)) \
                       WHERE (kind, name) = ('node', 'n9')";
        assert_eq!(query(&database, missing).await, ["0"]);
    });
}
