//! From links to jobs: contended regions, possible relief, the jobs that cause them, and the jobs that wait.
//!
//! One stage sees all links of the machine. Its input is what detectors report of links, second by second
//! ([`LinkTick`]), and jobs; `Fabric::second` shows the steps of a second. Its output is a function of these, in
//! their order, and of the topology: no clock, no order of arrival within a second.
//!
//! | file | what it holds |
//! |---|---|
//! | `settings.rs` | what can be set, and the network |
//! | `second.rs` | what happens in a second: changes, regions, losses, reports |
//! | `tick.rs` | what a detector reports of its links, where it changed |
//! | `links.rs` | all links in columns |
//! | `regions.rs` | regions with an identity over time |
//! | `look.rs` | a look at one region: roots, kind, parties |
//! | `kind.rs` | `avoidable`, `capacity` or `endpoint` |
//! | `receivers.rs` | hosts that take no more, where what they receive is not measured |
//! | `filled.rs` | routers whose hosts take no more while no link to them stalls |
//! | `ways.rs` | which links the traffic between two nodes crosses |
//! | `sent.rs` | what nodes sent, at ticks of a grid |
//! | `falls.rs` | falls of what a job sends: a loss that is possible |
//! | `flows.rs` | what each job's traffic adds to a link |
//! | `cause.rs` | sources of the load, jobs that wait, and how much they lose |
//! | `shares.rs` | which jobs cause a job's loss to others |
//! | `narrowed.rs` | links that carry less than before |
//! | `live.rs` | an open region: its parties and their losses |
//! | `victims.rs` | what jobs lost in a region: their part of their losses, also after its end |
//! | `losses.rs` | what each job lost on links, second by second |
//! | `progress.rs` | what jobs' nodes send, sample by sample |
//! | `pace.rs` | what jobs lost, by what their nodes send |
//! | `names.rs` | what people call a region |
//! | `lifecycle.rs` | links that fail and recover |
//! | `ports.rs` | the few links to which something happened |
//! | `paths.rs` | ends that several paths connect |

mod cause;
mod falls;
mod filled;
mod flows;
mod kind;
pub mod lifecycle;
mod links;
mod live;
mod look;
mod losses;
mod names;
mod narrowed;
mod pace;
mod paths;
mod ports;
mod progress;
mod receivers;
pub mod regions;
mod second;
mod sent;
mod settings;
mod shares;
pub mod tick;
mod victims;
mod ways;

pub use losses::LinkLosses;
pub use settings::{FabricSettings, Network};
pub use tick::{LinkReport, LinkTick, LinkWatch};

use crate::jobs::JobPart;
use filled::Filled;
use lifecycle::{LifeEvent, LinkEvent};
use links::Links;
use live::Live;
use progress::Progress;
use regions::RegionBook;
use schemas::{Job, Name, Region, RegionId, SeriesIndex, SeriesInfo, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use victims::{Ended, JobLosses};

/// State of the stage. It can be written and read back at any point between two calls; then
/// [`Fabric::attach`] gives it its network again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fabric {
    settings: FabricSettings,
    links: Links,
    stalling: BTreeSet<u32>,
    jobs: BTreeMap<Name, Job>,
    book: RegionBook,
    live: BTreeMap<RegionId, Live>,
    /// Routers that pass on to their hosts as much as one takes, by number.
    filled: BTreeMap<u32, Filled>,
    losses: BTreeMap<Name, LinkLosses>,
    progress: BTreeMap<Name, Progress>,
    /// The latest tick in which progress was sampled.
    sampled_at: i64,
    /// Links that are down, since when.
    down: BTreeMap<u32, i64>,
    now: i64,
    /// The latest tick in which a link was reported.
    latest_tick: i64,
    changed: BTreeSet<RegionId>,
    ended: BTreeMap<RegionId, Ended>,
    #[serde(skip)]
    network: Option<Arc<Network>>,
}

impl Fabric {
    /// A stage that has seen nothing. Without a network there are regions of components, whose causes are unknown.
    pub fn new(settings: FabricSettings, network: Option<Arc<Network>>) -> Fabric {
        Fabric {
            settings,
            links: Links::default(),
            stalling: BTreeSet::new(),
            jobs: BTreeMap::new(),
            book: RegionBook::default(),
            live: BTreeMap::new(),
            filled: BTreeMap::new(),
            losses: BTreeMap::new(),
            progress: BTreeMap::new(),
            sampled_at: i64::MIN,
            down: BTreeMap::new(),
            now: i64::MIN,
            latest_tick: i64::MIN,
            changed: BTreeSet::new(),
            ended: BTreeMap::new(),
            network,
        }
    }

    /// Gives a stage that was read back its network, and its settings.
    pub fn attach(&mut self, settings: FabricSettings, network: Option<Arc<Network>>) {
        self.settings = settings;
        self.links.locate_all(network.as_ref().map(|network| &network.topology));
        self.network = network;
        self.losses.values_mut().for_each(LinkLosses::resend);
    }

    /// Adds a series; its number here.
    pub fn add_series(&mut self, info: SeriesInfo) -> SeriesIndex {
        let number = self.links.add(info, self.network.as_ref().map(|network| &network.topology));
        if let Some(former) = self.links.take_former() {
            self.forget_link(former);
        }
        SeriesIndex(number)
    }

    /// The series with a number is another one from here on, unless it has the same name.
    pub fn replace_series(&mut self, series: SeriesIndex, info: SeriesInfo) {
        if self.links.info.get(series.at()).is_none_or(|known| *known == info) {
            return;
        }
        self.forget_link(series.0);
        self.links.replace(series.0, info, self.network.as_ref().map(|network| &network.topology));
        if let Some(former) = self.links.take_former() {
            self.forget_link(former);
        }
    }

    /// Nothing is reported any more of the series with this number.
    fn forget_link(&mut self, number: u32) {
        self.stalling.remove(&number);
        self.down.remove(&number);
    }

    /// Entries of the books that grow with names.
    pub fn books(&self) -> Vec<(&'static str, usize)> {
        vec![
            ("link_slots", self.links.info.len()),
            ("link_jobs", self.jobs.len()),
            ("link_losses", self.losses.len()),
            ("link_progress", self.progress.len()),
            ("links_down", self.down.len()),
            ("open_regions", self.live.len()),
            ("ended_regions", self.ended.len()),
            ("filled_routers", self.filled.len()),
        ]
    }

    /// Numbers of regions from here on are greater than `begin`.
    pub fn number_from(&mut self, begin: u64) {
        self.book.number_from(begin);
    }

    /// The greatest number of a region so far.
    pub fn issued_numbers(&self) -> u64 {
        self.book.issued_numbers()
    }

    /// Series added so far.
    pub fn series_count(&self) -> usize {
        self.links.info.len()
    }

    /// Takes an update of a job.
    pub fn job(&mut self, job: Job) {
        if self.network.is_some() {
            self.losses.entry(job.job_id.clone()).or_default();
        }
        self.jobs.insert(job.job_id.clone(), job);
    }

    /// A link went down, or came up again, at `tick`. Error counters or port state report this, never a dip.
    pub fn link_state(&mut self, series: SeriesIndex, is_up: bool, tick: i64) {
        if is_up {
            self.down.remove(&series.0);
        } else {
            self.down.entry(series.0).or_insert(tick);
        }
    }

    /// Something became of a link, by its life ([`lifecycle`]).
    pub fn link_event(&mut self, event: &LinkEvent) {
        match event.event {
            LifeEvent::Down | LifeEvent::Flapping => self.link_state(event.series, false, event.tick),
            LifeEvent::Recovered => self.link_state(event.series, true, event.tick),
            LifeEvent::Degraded | LifeEvent::Cleared => {}
        }
    }

    /// The latest second taken.
    pub fn now(&self) -> i64 {
        self.now
    }

    /// The latest tick in which a link was reported.
    pub fn latest_tick(&self) -> i64 {
        self.latest_tick
    }

    /// Whether a region is open.
    pub fn is_open(&self) -> bool {
        !self.live.is_empty()
    }

    /// Takes the next second. Seconds before it without an update are taken too.
    pub fn tick(&mut self, tick: &LinkTick) {
        while !self.live.is_empty() && self.now + 1 < tick.tick {
            self.second(&LinkTick::empty(self.now + 1));
        }
        self.second(tick);
    }

    /// Reports open regions again.
    pub fn report_again(&mut self) {
        self.changed.extend(self.live.keys());
    }

    /// The stream ended: open regions are reported as they are.
    pub fn finish(&mut self) {
        self.report_again();
        if self.now > self.sampled_at {
            self.measure_progress(true);
        }
    }

    /// Regions that began, changed or ended since the last call, and those that ended earlier of which other losses of jobs
    /// are known since then, in the order of their numbers.
    pub fn take_regions(&mut self) -> Vec<Region> {
        let mut regions = Vec::new();
        for id in std::mem::take(&mut self.changed) {
            self.conclude(id);
            if let Some(live) = self.live.get_mut(&id).filter(|live| live.is_reported) {
                regions.push(live.region.clone());
                live.region.steps.clear();
                live.region.left.clear();
            } else if let Some(ended) = self.ended.get_mut(&id) {
                regions.push(ended.report());
            }
        }
        regions
    }

    /// Regions that began, changed or ended since [`Fabric::take_regions`] was called.
    pub fn changed_regions(&self) -> Vec<Region> {
        let region = |id: &RegionId| match self.live.get(id).filter(|live| live.is_reported) {
            Some(live) => {
                let mut live = live.clone();
                live.conclude(self.job_losses());
                Some(live.region)
            }
            None => self.ended.get(id).and_then(Ended::new_end).cloned(),
        };
        self.changed.iter().filter_map(region).collect()
    }

    /// Writes causes and victims into an open region.
    fn conclude(&mut self, id: RegionId) {
        let known = JobLosses { jobs: &self.jobs, losses: &self.losses, tick_s: self.settings.tick_s };
        if let Some(live) = self.live.get_mut(&id) {
            live.conclude(known);
        }
    }

    fn job_losses(&self) -> JobLosses<'_> {
        JobLosses { jobs: &self.jobs, losses: &self.losses, tick_s: self.settings.tick_s }
    }

    /// What jobs lost on links, of those jobs where that changed since the last call.
    pub fn take_parts(&mut self) -> Vec<(Name, JobPart)> {
        let (tick_s, latest_tick) = (self.settings.tick_s, self.latest_tick);
        let changed = self.losses.iter_mut().filter_map(|(job_id, losses)| {
            let job = self.jobs.get(job_id)?;
            Some((job_id.clone(), losses.take_part(job, latest_tick, tick_s)?))
        });
        changed.collect()
    }

    /// What a job lost on links so far.
    pub fn losses(&self, job_id: &Name) -> Option<&LinkLosses> {
        self.losses.get(job_id)
    }

    /// Time at the end of a tick.
    fn time(&self, tick: i64) -> Time {
        Time::from_seconds(tick as f64 * self.settings.tick_s)
    }
}
