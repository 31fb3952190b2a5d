//! A labelled case of the lab through detector and fabric.

use detector::detector::Detector;
use detector::fabric::{Fabric, FabricSettings, Network};
use detector::jobs::JobPart;
use detector::model::ModelKind;
use detector::settings::Settings;
use samplers::lab::scenarios::{DURATION_S, Labelled};
use samplers::lab::{Change, Lab, LabTruth, Setup};
use schemas::{CounterBatch, JobResult, Name, Region, RegionId, SeriesIndex};
use std::collections::BTreeMap;
use std::sync::Arc;
use topology::{PlainTopology, Topology};

/// What the stages report of a case, and its truth.
pub struct Played {
    /// Regions as last reported.
    pub regions: Vec<Region>,
    /// Seconds lost on links by job, to itself and to others.
    pub lost: BTreeMap<u64, [f64; 2]>,
    /// The results of jobs as last reported.
    pub results: BTreeMap<u64, JobResult>,
    /// What really happened.
    pub truth: LabTruth,
    /// The network as the fabric knew it.
    pub network: Arc<Network>,
}

/// Plays `case`; with `tables`, the fabric knows the forwarding tables.
pub fn play(case: &Labelled, tables: bool) -> Played {
    play_altered(&case.setup, tables, CounterBatch::clone)
}

/// Plays `setup` with the rows of each second as `alter` makes them of those of the lab.
pub fn play_altered(setup: &Setup, tables: bool, alter: impl FnMut(&CounterBatch) -> CounterBatch) -> Played {
    play_for(DURATION_S, setup, tables, alter)
}

/// The same for so many seconds.
pub fn play_for(
    seconds: u32,
    setup: &Setup,
    tables: bool,
    alter: impl FnMut(&CounterBatch) -> CounterBatch,
) -> Played {
    play_with(FabricSettings::default(), seconds, setup, tables, alter)
}

/// The same for a site with these settings.
pub fn play_with(
    settings: FabricSettings,
    seconds: u32,
    setup: &Setup,
    tables: bool,
    mut alter: impl FnMut(&CounterBatch) -> CounterBatch,
) -> Played {
    let topology = if tables { Topology::clone(&setup.topology) } else { without_tables(&setup.topology) };
    let network = Arc::new(Network::of(topology));
    let mut detector = Detector::new(Settings::of(ModelKind::Robust));
    detector.watch_links();
    let mut fabric = Fabric::new(settings, Some(Arc::clone(&network)));
    let mut lab = Lab::new(setup.clone()).unwrap();
    let mut reports = Reports::default();
    for second in 0..seconds {
        let tick = lab.step();
        for job in tick.jobs {
            detector.job(job.clone());
            fabric.job(job.clone());
        }
        detector.rows(tick.sources, &alter(tick.counters));
        let tick_number = (tick.time.seconds()).round() as i64;
        look(&mut detector, &mut fabric);
        // The lab's switches report their ports at once.
        for event in setup.events.iter().filter(|event| event.at_s == second) {
            tell_state(&mut fabric, &detector, &network, event.change, tick_number);
        }
        reports.take(&mut detector, &mut fabric);
    }
    detector.finish();
    look(&mut detector, &mut fabric);
    fabric.finish();
    reports.take(&mut detector, &mut fabric);
    let truth = lab.truth();
    let lost = truth.jobs.iter().map(|job| {
        let name = Name::parse(&job.job_id.to_string()).unwrap();
        (job.job_id, fabric.losses(&name).map_or([0.0; 2], |losses| [losses.own_s, losses.others_s]))
    });
    let (lost, regions) = (lost.collect(), reports.regions.into_values().collect());
    Played { lost, regions, results: reports.results, truth, network }
}

fn look(detector: &mut Detector, fabric: &mut Fabric) {
    for info in &detector.series()[fabric.series_count()..] {
        fabric.add_series(info.clone());
    }
    let Some(newest) = detector.newest() else { return };
    for tick in detector.take_links(newest) {
        fabric.tick(&tick);
    }
}

/// What was reported so far.
#[derive(Default)]
struct Reports {
    regions: BTreeMap<RegionId, Region>,
    results: BTreeMap<u64, JobResult>,
    on_links: BTreeMap<Name, JobPart>,
}

impl Reports {
    fn take(&mut self, detector: &mut Detector, fabric: &mut Fabric) {
        self.on_links.extend(fabric.take_parts());
        for result in detector.take_with(&self.on_links).job_results {
            self.results.insert(result.job_id.as_str().parse().unwrap(), result);
        }
        for mut region in fabric.take_regions() {
            self.keeps_its_word(&region);
            let mut steps = self.regions.remove(&region.id).map_or(Vec::new(), |known| known.steps);
            steps.append(&mut region.steps);
            region.steps = steps;
            self.regions.insert(region.id, region);
        }
    }

    /// A region keeps the name of its first report, and its confidence is that of its first source.
    fn keeps_its_word(&self, region: &Region) {
        if let Some(known) = self.regions.get(&region.id) {
            assert_eq!(region.name, known.name, "region {}", region.id.0);
        }
        assert!(!region.name.is_empty(), "region {}", region.id.0);
        if let Some(first) = region.causes.first().filter(|first| first.cause == region.cause) {
            assert!((first.confidence - region.confidence).abs() < 1e-12, "{region:?}");
        }
    }
}

fn tell_state(fabric: &mut Fabric, detector: &Detector, network: &Network, change: Change, tick: i64) {
    let (link, is_up) = match change {
        Change::Down(link) => (link, false),
        Change::Up(link) => (link, true),
        _ => return,
    };
    for link in [link, network.topology.reverse(link)] {
        let name = network.topology.series_name(link).unwrap();
        let at = detector.series().iter().position(|info| info.name() == name).unwrap();
        fabric.link_state(SeriesIndex(at as u32), is_up, tick);
    }
}

fn without_tables(topology: &Topology) -> Topology {
    let mut plain = PlainTopology::of(topology);
    plain.tables.clear();
    plain.build().unwrap().0
}
