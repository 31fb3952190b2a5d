//! `kill -9` at any moment: after it, the state and the tables are of one commit.

use super::*;
use crate::sqlite::open_reader;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Where the child writes; the test that is the child does nothing without it.
const STORE: &str = "TAILBACK_TEST_KILL_STORE";

const ROUNDS: u32 = 10;

/// Series in a batch: enough that many kills land within a transaction.
const SERIES: u32 = 2_000;

fn counter(store: &Store) -> u32 {
    let content = store.load_state("counter").unwrap().map(|(_, content)| content);
    content.map_or(0, |c| u32::from_le_bytes(c.try_into().unwrap()))
}

/// The child: commits batches, each with its number as the state, until it is killed.
#[test]
fn child_that_commits_until_it_is_killed() {
    let Some(path) = std::env::var_os(STORE).map(PathBuf::from) else {
        return;
    };
    let mut store = Store::open(&path, Retention::default()).unwrap();
    loop {
        let done = counter(&store);
        let mut batch = tick(SERIES, done);
        batch.episodes = vec![episode(u64::from(done) + 1, f64::from(done), f64::from(done + 1))];
        let state = StateBlob { name: "counter", version: 1, content: &(done + 1).to_le_bytes() };
        store.commit(&batch, &[state]).unwrap();
        store.expire(at(f64::from(done))).unwrap();
    }
}

fn spawn_child(path: &Path) -> Child {
    let (_crate, module) = module_path!().split_once("::").unwrap();
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("{module}::child_that_commits_until_it_is_killed")])
        .env(STORE, path)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// Splitmix64: delays that a printed seed repeats.
fn next_random(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (*seed ^ (*seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB)
}

/// What every state of the file must fulfil; the number of batches in it.
fn check(path: &Path) -> u32 {
    let done = counter(&Store::open(path, Retention::default()).unwrap());
    let reader = open_reader(path).unwrap();
    let integrity: String = reader.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(integrity, "ok");
    let (batches, rows) = (f64::from(done), f64::from(done) * f64::from(SERIES));
    assert_eq!(number(&reader, "SELECT count(*) FROM signals"), rows);
    assert_eq!(number(&reader, "SELECT count(*) FROM episodes"), batches);
    done
}

#[test]
fn after_kill_9_state_and_tables_are_of_one_commit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let mut seed = now.as_nanos() as u64;
    eprintln!("seed {seed}");
    let mut done = 0;
    for round in 0..ROUNDS {
        let mut child = spawn_child(&path);
        std::thread::sleep(Duration::from_micros(next_random(&mut seed) % 400_000));
        child.kill().unwrap();
        assert!(!child.wait().unwrap().success(), "round {round}: the child ended by itself");
        let now_done = check(&path);
        assert!(now_done >= done, "round {round}: {now_done} batches after {done}");
        done = now_done;
    }
    assert!(done > 0, "no child lived long enough to commit");
}
