//! What is forgotten, and what it changes.

use super::super::{Detecting, DetectingSettings};
use crate::stage::{Extent, Stage};
use crate::state;
use detector::model::ModelKind;
use detector::settings::Settings;
use schemas::{DropReason, SeriesInfo, State};
use std::collections::BTreeMap;
use store::storage_policy::StoragePolicy;
use support::counters::messages_of;

/// Sources are looked at every ten seconds.
const FORGET_AFTER_S: f64 = 320.0;

/// A partition, and what a writer keeps of it.
struct Partition {
    stage: Detecting,
    settings: DetectingSettings,
    table: Vec<SeriesInfo>,
    /// Signals by host: time, value, state.
    signals: BTreeMap<String, Vec<(i64, String, State)>>,
    /// Ticks of stored rows by host.
    stored: BTreeMap<String, usize>,
    restarts_every: Option<usize>,
    messages: usize,
}

impl Partition {
    fn new(restarts_every: Option<usize>) -> Partition {
        Partition::storing(StoragePolicy::All, restarts_every)
    }

    fn storing(policy: StoragePolicy, restarts_every: Option<usize>) -> Partition {
        let mut settings = Settings::of(ModelKind::Robust);
        settings.forget_after_s = Some(FORGET_AFTER_S);
        let settings = DetectingSettings {
            settings,
            waiting_rows_max: 1_000,
            storage: Some(policy),
            links: false,
            alerts: false,
        };
        let stage = Detecting::fresh(0, &settings);
        let (table, signals, stored) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        Partition { stage, settings, table, signals, stored, restarts_every, messages: 0 }
    }

    /// Rows of hosts, one a second each.
    fn rows(&mut self, hosts: &[&str], seconds: std::ops::Range<i64>) {
        for second in seconds {
            for host in hosts {
                let [row, progress] = messages_of(host, second);
                self.message(&row);
                self.message(&progress);
            }
        }
    }

    fn message(&mut self, message: &[u8]) {
        self.stage.message(message).unwrap();
        self.messages += 1;
        if self.stage.must_be_taken() || self.messages.is_multiple_of(50) {
            self.drain();
        }
        if self.restarts_every.is_some_and(|every| self.messages.is_multiple_of(every)) {
            self.drain();
            let state = self.stage.write().unwrap();
            self.stage = state::restore(Detecting::FORMAT.version(), &state).unwrap();
            self.stage.attach(&self.settings);
            self.stage.resend_series();
        }
    }

    fn drain(&mut self) {
        let outcome = self.stage.drain(self.messages as i64, Extent::Final);
        for (series, info) in outcome.results.series {
            match self.table.get_mut(series.at()) {
                Some(known) => *known = info,
                None => self.table.push(info),
            }
        }
        let host = |at: usize| self.table[at].component.to_string();
        for row in &outcome.stored.signals {
            let signal = &row.signal;
            let of_host = self.signals.entry(host(signal.series.at())).or_default();
            of_host.push((signal.time.0, format!("{:.3}", signal.value), signal.state));
            *self.stored.entry(host(row.signal.series.at())).or_default() += usize::from(row.ticks);
        }
    }

    fn book(&self, name: &str) -> usize {
        self.stage.books().into_iter().find(|(book, _)| *book == name).unwrap().1
    }

    fn states(&self, host: &str) -> Vec<State> {
        self.signals[host].iter().map(|(_, _, state)| *state).collect()
    }
}

/// Host `a` reports for a minute, `b` all the time, `c` once `a` is forgotten, and then `a` again.
fn play(partition: &mut Partition) {
    partition.rows(&["a", "b"], 0..60);
    partition.rows(&["b"], 60..500);
    partition.rows(&["b", "c"], 500..560);
    partition.rows(&["a", "b", "c"], 560..620);
    partition.drain();
}

#[test]
fn new_series_takes_the_number_of_a_forgotten_one() {
    let mut partition = Partition::new(None);
    partition.rows(&["a", "b"], 0..60);
    partition.rows(&["b"], 60..88);
    assert_eq!((partition.book("series"), partition.book("described_sources")), (2, 2));
    partition.rows(&["b"], 88..500);
    assert_eq!((partition.book("series"), partition.book("described_sources")), (1, 1));
    assert_eq!(partition.book("components"), 1);
    partition.rows(&["b", "c"], 500..560);
    partition.drain();
    let hosts: Vec<&str> = partition.table.iter().map(|info| info.component.as_str()).collect();
    assert_eq!(hosts, ["c", "b"]);
    assert_eq!((partition.book("series"), partition.book("series_slots")), (2, 2));
}

#[test]
fn returning_series_warms_up_and_others_do_not_change() {
    let [partition, thinned] = [StoragePolicy::All, StoragePolicy::Changes].map(|policy| {
        let mut partition = Partition::storing(policy, None);
        play(&mut partition);
        let mut alone = Partition::storing(policy, None);
        alone.rows(&["b"], 0..620);
        alone.drain();
        assert_eq!(partition.signals["b"], alone.signals["b"]);
        assert_eq!(partition.stored["b"], alone.stored["b"]);
        partition
    });
    for (host, begin) in [("a", 0), ("c", 0), ("a", 59)] {
        let states = &partition.states(host)[begin..];
        assert!(
            states.len() > 40 && states[..5].iter().all(|state| *state != State::Clear),
            "{host}: {states:?}"
        );
        assert!(states.contains(&State::Clear), "{host}: {states:?}");
    }
    let written: usize = partition.signals["a"].len();
    assert!(thinned.stored["a"].abs_diff(written) <= 10, "{:?}", thinned.stored);
}

#[test]
fn restarts_at_any_message_change_nothing() {
    let mut undisturbed = Partition::new(None);
    play(&mut undisturbed);
    for every in [7, 101, 450] {
        let mut restarted = Partition::new(Some(every));
        play(&mut restarted);
        assert_eq!(restarted.signals, undisturbed.signals, "restarts every {every} messages");
        assert_eq!(restarted.table, undisturbed.table);
    }
}

#[test]
fn full_partition_drops_rows_of_further_sources_until_one_is_forgotten() {
    let mut partition = Partition::new(None);
    partition.settings.settings.series_max = 2;
    assert!(partition.stage.reload(&partition.settings));
    partition.rows(&["a", "b", "c"], 0..60);
    partition.drain();
    assert_eq!((partition.book("series"), partition.signals.contains_key("c")), (2, false));
    let drops = partition.stage.drain(0, Extent::Final).results.drops;
    assert!(drops.get(DropReason::BufferFull) > 50, "{drops:?}");
    partition.rows(&["b"], 60..500);
    partition.rows(&["b", "c"], 500..560);
    partition.drain();
    assert!(partition.states("c").contains(&State::Clear));
}
