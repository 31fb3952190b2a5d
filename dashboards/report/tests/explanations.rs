//! Explanations read from a store, against golden files.

use super::check;
use super::facts::{at, name, stamp};
use super::store_file::{batch, stored};
use crate::Source;
use schemas::{Counts, LastSeen, SeriesIndex, Signal, Silence, SilenceEnd, State};

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

/// The job's store with samples around an onset, and a source that was silent.
fn with_samples() -> (tempfile::TempDir, Source) {
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
    let (folder, path) = stored(&batch);
    (folder, Source::Store(path))
}

#[test]
fn what_decided_and_what_is_missing() {
    let (_folder, source) = with_samples();
    let explanation = |episode| source.explanation(episode).unwrap();
    check("explained.txt", &explanation("2").text(100));
    check("explained.json", &explanation("0:2").json().unwrap());
    check("explained_without_samples.txt", &explanation("1").text(100));
}

#[test]
fn one_source_has_one_confidence_in_report_and_explanation() {
    let (_folder, source) = with_samples();
    let (job, explanation) = (source.post_mortem("4711").unwrap(), source.explanation("2").unwrap());
    let want = "job 4698 (capacity: saturated, confidence 90%)";
    for text in [job.text(100, false, &stamp()), explanation.text(100)] {
        assert!(text.contains(want), "{text}");
        let shown: Vec<&str> =
            text.match_indices("confidence ").map(|(at, word)| &text[at + word.len()..][..3]).collect();
        assert!(shown.len() >= 2 && shown.iter().all(|number| *number == "90%"), "{shown:?}");
    }
    let region =
        serde_json::from_str::<serde_json::Value>(&explanation.json().unwrap()).unwrap()["region"].clone();
    assert_eq!(region["confidence"], region["gainers"][0]["confidence"]);
}

#[test]
fn decision_of_the_longer_window_has_no_bound() {
    let mut batch = batch();
    batch.signals.extend([
        signal(303.0, 0.35, State::Clear),
        Signal { bound: f64::NAN, ..signal(304.0, 0.4, State::Contended) },
    ]);
    let (_folder, path) = stored(&batch);
    let text = Source::Store(path).explanation("2").unwrap().text(100);
    assert!(text.contains("the longer window") && !text.contains("bound of"), "{text}");
}

#[test]
fn an_episode_that_is_none_is_named() {
    let (_folder, source) = with_samples();
    let unknown = source.explanation("99").unwrap_err().to_string();
    assert!(unknown.ends_with("store.db: episode 99 is not known"), "{unknown}");
    for text in ["", "x", "1:", "1:2:3", "-"] {
        let wrong = source.explanation(text).unwrap_err().to_string();
        assert!(wrong.starts_with("an episode is a number, or partition:number"), "{text}: {wrong}");
    }
}
