//! An episode as committed, explained; the texts against golden files.

use super::*;
use crate::commands::report::tests::{at, batch, check, name};
use schemas::{Counts, LastSeen, SeriesIndex, Signal, Silence, SilenceEnd, State};
use store::sqlite::{Retention, Store};

fn signal(seconds: f64, mean: f64, state: State) -> Signal {
    Signal {
        time: at(seconds),
        series: SeriesIndex(1),
        value: mean * 1.25,
        mean,
        baseline: 0.31,
        bound: 0.62,
        state,
        slowdown_s: 0.0,
        counts: Counts::NONE,
    }
}

fn stored() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let mut batch = batch();
    batch.signals.extend([
        signal(297.0, 0.3, State::Clear),
        signal(300.0, 0.4, State::Clear),
        signal(302.0, 0.6, State::Clear),
        signal(303.0, 0.8, State::Contended),
        signal(304.0, 2.0, State::Contended),
    ]);
    let router = name("c0-0c1s8");
    let (producer, schema) = (name("nid00012"), name("aries_rtr"));
    batch.last_seen.push(LastSeen {
        producer: producer.clone(),
        schema: schema.clone(),
        component: router.clone(),
        part: None,
        last_time: at(470.0),
        rows: 400,
    });
    let end = SilenceEnd::At(at(330.0));
    batch.silences.push(Silence { producer, schema, component: router, part: None, since: at(320.0), end });
    Store::open(&path, Retention::default()).unwrap().commit(&batch, &[]).unwrap();
    (folder, path)
}

fn explained(episode: &str, store: &std::path::Path, json: bool) -> anyhow::Result<String> {
    let args = ExplainArgs { episode: episode.to_string(), store: store.to_path_buf(), config: None, json };
    let mut text = Vec::new();
    run(&args, &mut text)?;
    Ok(String::from_utf8(text)?)
}

#[test]
fn what_decided_and_what_is_missing() {
    let (_folder, path) = stored();
    check("explained.txt", &explained("2", &path, false).unwrap());
    check("explained.json", &explained("0:2", &path, true).unwrap());
    check("explained_without_samples.txt", &explained("1", &path, false).unwrap());
}

#[test]
fn an_episode_that_is_none_is_named() {
    let (_folder, path) = stored();
    let unknown = explained("99", &path, false).unwrap_err().to_string();
    assert!(unknown.ends_with("store.db: episode 99 is not known"), "{unknown}");
    for text in ["", "x", "1:", "1:2:3", "-"] {
        let wrong = explained(text, &path, false).unwrap_err().to_string();
        assert!(wrong.starts_with("an episode is a number, or partition:number"), "{text}: {wrong}");
    }
}

#[test]
fn an_episode_of_a_partition_is_found_by_both_of_its_names() {
    assert_eq!(number("3:12").unwrap(), (3, 12));
    assert_eq!(number("3000000000012").unwrap(), (3, 12));
    assert_eq!(number("12").unwrap(), (0, 12));
    for wrong in ["", "a", "3:", ":12", "9999999999999999999999"] {
        assert!(number(wrong).is_err(), "{wrong}");
    }
}
