//! States to a savepoint and back, and what is refused.

use super::*;
use store::postgres::{export_states, import_states, stored_states};
use store::savepoint::{FORMAT, Head, SavepointError, SavepointReader};

fn head(generation: i64) -> Head {
    Head {
        tailback_savepoint: FORMAT,
        written_by: "0.1.0".to_string(),
        time_s: 0.0,
        generation,
        inputs: Vec::new(),
    }
}

/// A database with states at offset 70 of which results up to 90 are written, and one without a state; their savepoint.
async fn exported(settings: &PgSettings) -> Vec<u8> {
    let mut store = PgStore::connect(settings).await.unwrap();
    let epoch = store.claim(STAGE, 0, "a", Some("topic")).await.unwrap().epoch;
    store.claim(STAGE, 1, "a", Some("topic")).await.unwrap();
    // Incompressible, so that it fills several chunks.
    let state: Vec<u8> = (0..20_000_000_u64).map(hashed).collect();
    let fixture = Fixture::new(10, 1);
    let part = PartCommit { snapshot: Some((3, &state)), ..commit(&fixture, epoch, None, 70) };
    store.commit(STAGE, &[part]).await.unwrap();
    let later = Fixture { results: ResultBatch::default(), stored: StoredRows::default(), ..fixture };
    store.commit(STAGE, &[commit(&later, epoch, Some(70), 90)]).await.unwrap();
    let (file, states) = export_states(settings, head, Vec::new()).await.unwrap();
    let found: Vec<_> = states.iter().map(|s| (s.partition, s.version, s.position)).collect();
    assert_eq!(found, [(0, Some(3), 70), (1, None, 0)]);
    file
}

fn hashed(i: u64) -> u8 {
    let mixed = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 56) as u8
}

async fn import(
    settings: &PgSettings,
    file: &[u8],
    replaces: bool,
) -> Result<Vec<Option<i64>>, SavepointError> {
    let mut savepoint = SavepointReader::new(file)?;
    let imported = import_states(settings, &mut savepoint, replaces).await?;
    Ok(imported.into_iter().map(|state| state.position).collect())
}

/// Deletes all states.
async fn empty(database: &Database) {
    database.execute("DELETE FROM stage_positions; DELETE FROM stage_snapshots").await;
}

fn sentence<T>(result: Result<T, SavepointError>) -> String {
    result.map(|_| ()).unwrap_err().to_string()
}

#[test]
fn emptied_database_continues_at_the_savepoint() {
    on_each_server(|database: Database| async move {
        let settings = database.settings();
        database.execute("UPDATE state_generation SET generation = 4").await;
        let file = exported(&settings).await;
        empty(&database).await;
        database.execute("UPDATE state_generation SET generation = 5").await;
        assert_eq!(import(&settings, &file, false).await.unwrap(), [Some(70), None]);
        let stored = stored_states(&settings).await.unwrap();
        assert_eq!((stored.len(), stored[0].bytes > 15_000_000), (2, true));
        let mut store = PgStore::connect(&settings).await.unwrap();
        let claim = store.claim(STAGE, 0, "b", Some("topic")).await.unwrap();
        assert!(claim.is_imported());
        assert_eq!((claim.position, claim.generation, claim.begin()), (Some(70), 4, 70));
        let snapshot = claim.snapshot.unwrap();
        assert_eq!((snapshot.position, snapshot.version), (70, 3));
        assert!(snapshot.content.iter().copied().eq((0..20_000_000).map(hashed)));
        let fresh = store.claim(STAGE, 1, "b", Some("topic")).await.unwrap();
        assert_eq!((fresh.position, fresh.snapshot, fresh.commits), (None, None, 0));
    });
}

#[test]
fn replaced_states_keep_the_results_that_are_written() {
    on_each_server(|database: Database| async move {
        let settings = database.settings();
        let file = exported(&settings).await;
        let refused = sentence(import(&settings, &file, false).await);
        assert!(refused.contains("--force"), "{refused}");
        assert_eq!(import(&settings, &file, true).await.unwrap(), [Some(90), None]);
        let mut store = PgStore::connect(&settings).await.unwrap();
        let claim = store.claim(STAGE, 0, "b", Some("topic")).await.unwrap();
        // The owner before was fenced, and the next one reads again from the state on.
        assert_eq!((claim.epoch, claim.position, claim.begin()), (3, Some(90), 70));
        assert!(!claim.is_imported());
    });
}

#[test]
fn working_process_and_other_topics_refuse_an_import() {
    on_each_server(|database: Database| async move {
        let settings = database.settings();
        let file = exported(&settings).await;
        let mut store = PgStore::connect(&settings).await.unwrap();
        store.claim(STAGE, 0, "working", Some("topic")).await.unwrap();
        let refused = sentence(import(&settings, &file, true).await);
        assert!(refused.contains("tailback run"), "{refused}");
        drop(store);
        // The server ends the session soon after.
        while sentence(import(&settings, &file, false).await).contains("tailback run") {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        database.execute("UPDATE stage_positions SET topic_id = 'other'").await;
        let refused = sentence(import(&settings, &file, true).await);
        assert!(refused.contains("topic other"), "{refused}");
        database.execute("UPDATE stage_positions SET topic_id = NULL, partition = partition + 5").await;
        let refused = sentence(import(&settings, &file, true).await);
        assert!(refused.contains("detector/5"), "{refused}");
    });
}

#[test]
fn damaged_savepoint_leaves_the_database_as_it_was() {
    on_each_server(|database: Database| async move {
        let settings = database.settings();
        let file = exported(&settings).await;
        empty(&database).await;
        let none = export_states(&settings, head, Vec::new()).await;
        assert_eq!(sentence(none), "the database holds no states");
        // The state itself is whole: only the last line is missing.
        let refused = sentence(import(&settings, &file[..file.len() - 10], false).await);
        assert!(refused.contains("truncated"), "{refused}");
        assert!(stored_states(&settings).await.unwrap().is_empty());
    });
}

#[test]
fn writer_may_export_and_import_and_reader_may_not() {
    on_each_server(|database: Database| async move {
        let file = exported(&database.settings()).await;
        empty(&database).await;
        let (writer, reader) =
            (database.login("tailback_writer").await, database.login("tailback_reader").await);
        let as_login = |login: &str| PgSettings { url: database.url_of(login), ..database.settings() };
        import(&as_login(&writer), &file, false).await.unwrap();
        export_states(&as_login(&writer), head, Vec::new()).await.unwrap();
        let refused = sentence(export_states(&as_login(&reader), head, Vec::new()).await);
        assert!(refused.contains("42501"), "{refused}");
        database.drop_login(&writer).await;
        database.drop_login(&reader).await;
    });
}
