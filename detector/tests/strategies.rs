//! Both ways from many series to one answer (SAND2016-9525, 5.4), and why both are there.
//!
//! * Reduce, then model: the geometric mean over a router's links is a series of its own. Noise of single links averages
//!   out, so it sees a rise that all of them share and none of them shows. One link among many hardly moves it.
//! * Model, then reduce: each link has its own baseline, and a job's loss is made of what its series lost. It sees one
//!   stalled link, and nothing that is smaller than a link's own noise.
//!
//! Aries routers have both; an InfiniBand port and a mount of a Lustre client stand for themselves: their means over a
//! switch or a job would fall with every silent port, and with every node that does not write.

use detector::detector::Detector;
use detector::model::ModelKind;
use detector::settings::Settings;
use schemas::{CounterBatch, Metric, Name, SeriesInfo, Source, Sources, Time};
use std::collections::BTreeSet;

/// Green links of a router.
const LINKS: usize = 15;
const FLITS_PER_S: f64 = 2e8;
const RATIO: f64 = 0.5;
const ONSET_S: u32 = 300;

/// Names of the series, links or routers as a whole, that were called contended. `ratio` is what a link shows in a second
/// beside its noise of `sd`.
fn contended(sd: f64, ratio: impl Fn(usize, u32) -> f64) -> BTreeSet<String> {
    let name = |text: &str| Name::parse(text).unwrap();
    let mut sources = Sources::default();
    let source = sources.intern(Source {
        schema: name("aries"),
        producer: name("nid00001"),
        metrics: vec![Metric::from_name("aries_stall_ratio").unwrap()],
        component: name("c0-0c0s0"),
        set: None,
        parts: (0..LINKS).map(|at| name(&format!("r{}c{}", at / 8, at % 8))).collect(),
        rank: 0,
        by_job: false,
    });
    let mut detector = Detector::new(Settings::of(ModelKind::Robust));
    let mut counters = vec![0_u64; LINKS * Metric::from_name("aries_stall_ratio").unwrap().columns()];
    let (mut state, mut found) = (20_261_121_u64, BTreeSet::new());
    for second in 0..ONSET_S + 120 {
        for (link, columns) in
            counters.chunks_exact_mut(Metric::from_name("aries_stall_ratio").unwrap().columns()).enumerate()
        {
            let noise = (sd * normal(&mut state)).exp();
            columns[0] += (FLITS_PER_S * ratio(link, second) * noise) as u64;
            columns[1] += FLITS_PER_S as u64;
        }
        let mut batch = CounterBatch::default();
        batch.push(source, Time::from_seconds(1_000_000_000.0 + f64::from(second)), &counters);
        detector.rows(&sources, &batch);
        let episodes = detector.take().episodes;
        let series = |at: schemas::SeriesIndex| SeriesInfo::name(&detector.series()[at.at()]);
        found.extend(episodes.iter().map(|episode| series(episode.series)));
    }
    found
}

/// Nearly normal, by the sum of twelve.
fn normal(state: &mut u64) -> f64 {
    let mut uniform = || {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 40) as f64 / f64::from(1 << 24)
    };
    (0..12).map(|_| uniform()).sum::<f64>() - 6.0
}

#[test]
fn one_stalled_link_is_not_seen_in_the_mean_of_its_router() {
    let found =
        contended(0.05, |link, second| if link == 3 && second >= ONSET_S { 5.0 * RATIO } else { RATIO });
    assert_eq!(found, BTreeSet::from(["aries_stall_ratio/c0-0c0s0/r0c3".to_string()]));
}

#[test]
fn a_small_rise_of_all_links_is_seen_only_in_their_mean() {
    let found = contended(0.5, |_, second| if second >= ONSET_S { 1.3 * RATIO } else { RATIO });
    assert_eq!(found, BTreeSet::from(["aries_stall_ratio/c0-0c0s0".to_string()]));
}

#[test]
fn neither_sees_anything_where_nothing_is() {
    assert_eq!(contended(0.5, |_, _| RATIO), BTreeSet::new());
}
