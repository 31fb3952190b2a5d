//! A look at the regions: members each second; roots, kind and parties when a region is new, changed, or was not looked
//! at for a while.

use super::cause::{self, BEFORE_TICKS, Scene};
use super::flows::{self, JobTraffic, Servers};
use super::kind::{self, Finding, Judged};
use super::links::{is_host_link, out_of};
use super::names;
use super::narrowed::Seen;
use super::tick::tick_of;
use super::ways::{Targets, Ways};
use super::{Fabric, Live, Network};
use schemas::{Job, Name, REGION_SERIES_MAX, RegionId};
use std::collections::BTreeSet;
use topology::{LinkIndex, Topology, VertexIndex, VertexKind};

/// Ticks after which a region is looked at again.
const AGAIN_TICKS: i64 = 10;
/// Until it is reported, a region is named by its links while they are at least one part of so many of the most that it had.
const MAIN_PART: u32 = 2;
/// Relative change of its links after which it is looked at at once.
const CHANGED: f64 = 0.25;
/// Most members of a region for which the jobs on them are searched.
const TARGETS_MAX: usize = 64;
/// Other links that help to distinguish jobs of unknown traffic.
const HELPERS_MAX: usize = 256;
/// Bytes a second into a host without jobs that make it an I/O server.
const SERVED_LEAST: f64 = 1e6;
/// Seconds after its end in which a job's nodes may still be seen sending.
const ENDED_S: f64 = 3.0;
/// Ticks around its onset in which a parallel link that went down made a region.
const FAILED_TICKS: std::ops::RangeInclusive<i64> = -5..=30;

impl Fabric {
    /// Writes into each region what its links do now.
    pub(super) fn note_members(&mut self) {
        let now = self.time(self.now);
        let (links, stalling) = (&self.links, &self.stalling);
        for (id, members) in self.book.open() {
            let Some(live) = self.live.get_mut(&id) else { continue };
            let ratio = |series: u32| links.value[series as usize];
            let mut stalls: Vec<u32> = members.iter().copied().filter(|s| stalling.contains(s)).collect();
            stalls.sort_by(|a, b| ratio(*b).total_cmp(&ratio(*a)).then(a.cmp(b)));
            let region = &mut live.region;
            region.links = stalls.len() as u32;
            region.links_most = region.links_most.max(region.links);
            let Some(worst) = stalls.first() else { continue };
            (region.end, region.peak) = (now, region.peak.max(f64::from(ratio(*worst))));
            region.name_series(
                stalls.iter().take(REGION_SERIES_MAX).map(|s| links.info[*s as usize].name()).collect(),
            );
            for step in region.steps.iter_mut().filter(|step| step.worst_series.is_empty()) {
                step.links = region.links;
                step.worst = f64::from(ratio(*worst));
                step.worst_series.clone_from(&region.series[0]);
            }
        }
    }

    /// Looks at the regions where that is due.
    pub(super) fn look(&mut self) {
        let Some(network) = self.network.clone() else { return };
        let due: Vec<RegionId> =
            self.live.iter().filter(|(_, live)| self.is_due(live)).map(|(id, _)| *id).collect();
        if due.is_empty() {
            return;
        }
        let mut ways = Ways::at(&network.topology, self.time(self.now));
        let servers = self.servers(&network);
        let Some(unattributed) = self.unattributed(&network) else { return };
        for id in due {
            self.look_at(id, &network, &mut ways, &servers, &unattributed);
        }
    }

    fn is_due(&self, live: &Live) -> bool {
        let links = f64::from(live.region.links);
        let Some((tick, then)) = live.judged else { return links > 0.0 };
        let changed = (links - f64::from(then)).abs() > CHANGED * f64::from(then);
        links > 0.0 && (self.now - tick >= AGAIN_TICKS || changed)
    }

    fn look_at(
        &mut self,
        id: RegionId,
        network: &Network,
        ways: &mut Ways<'_>,
        servers: &Servers,
        unattributed: &Job,
    ) {
        let topology = &network.topology;
        let Some(members) = self.book.open().find(|(of, _)| *of == id).map(|(_, members)| members) else {
            return;
        };
        let stalls: BTreeSet<u32> = members.iter().copied().filter(|s| self.stalling.contains(s)).collect();
        let roots = kind::roots(topology, &self.links, &stalls);
        let Some(live) = self.live.get(&id) else { return };
        let onset = live.onset;
        let series = self.members_to_look_at(&roots, &stalls);
        let (targets, behind) = self.targets(network, &series, roots.len());
        let jobs: Vec<&Job> = self.jobs_since(onset).collect();
        let fallen = |job: &&Job| if behind.is_empty() { 0.0 } else { self.fallen(Some(id), job, onset) };
        let fallen = jobs.iter().map(fallen).collect();
        let mut traffic_at = |tick: i64| self.traffic(tick, (&jobs, unattributed), servers, ways, &targets);
        let (now, before) = (traffic_at(self.now), traffic_at(onset - BEFORE_TICKS));
        let scene = Scene {
            topology,
            links: &self.links,
            targets: &targets,
            series: &series,
            roots: roots.len(),
            behind: &behind,
            fallen,
            now: &now,
            before: &before,
            jobs: &jobs,
            onset,
            tick_s: self.settings.tick_s,
            ways_known: ways.are_known(),
        };
        let parties = cause::parties(&scene);
        let finding = self.finding(network, cause::wanted_times(&scene, &parties), &roots);
        let name = names::of(topology, &network.parallel, &self.links, &roots);
        let down = self.failed(network, &roots, onset);
        let seen = Seen { topology, links: &self.links, stalls: &stalls, before: onset - BEFORE_TICKS };
        let waits_for = seen.waits_for(&live.waits_for);
        let completeness = self.measured(network, &roots);
        let Some(live) = self.live.get_mut(&id) else { return };
        let weight = f64::from(live.region.links).max(1.0);
        live.judge(parties, finding, self.now, weight);
        live.down = down.or(live.down);
        live.waits_for = waits_for;
        live.region.completeness = completeness;
        // A name that was reported stays.
        let is_main_part = MAIN_PART * live.region.links >= live.region.links_most;
        if live.region.name.is_empty() || (!live.is_reported && is_main_part) {
            live.region.name = name;
        }
        self.changed.insert(id);
    }

    /// The kind of a region with these roots, whose jobs would send so many times as much if they did not wait.
    fn finding(&self, network: &Network, wanted_times: f64, roots: &[u32]) -> Finding {
        let judged = Judged {
            topology: &network.topology,
            parallel: &network.parallel,
            links: &self.links,
            down: &self.down,
            wanted_times,
        };
        kind::judge(&judged, roots)
    }

    /// What each of `jobs`, and at the end the nodes without a job, add to `targets` at the end of `tick`.
    fn traffic(
        &self,
        tick: i64,
        (jobs, unattributed): (&[&Job], &Job),
        servers: &Servers,
        ways: &mut Ways<'_>,
        targets: &Targets,
    ) -> Vec<JobTraffic> {
        let mut of = |job: &Job| flows::of_job(job, tick, &self.links, servers, ways, targets);
        // What the nodes of a job send before and after it is not its own.
        let runs = |job: &Job| job.overlaps(self.time(tick - 1), self.time(tick));
        let mut of_known = |job: &Job| if runs(job) { of(job) } else { JobTraffic::none(job, targets) };
        let mut traffic: Vec<JobTraffic> = jobs.iter().copied().map(&mut of_known).collect();
        traffic.push(of(unattributed));
        let carried: Vec<f64> =
            targets.links.iter().map(|l| self.links.load_at(*l, tick).unwrap_or(0.0)).collect();
        flows::scale(&mut traffic, &carried);
        traffic
    }

    /// The roots, then other members, the worst first.
    fn members_to_look_at(&self, roots: &[u32], stalls: &BTreeSet<u32>) -> Vec<u32> {
        let ratio = |series: u32| self.links.value[series as usize];
        let on_a_link = |series: &u32| self.links.link(*series).is_some() && !roots.contains(series);
        let mut others: Vec<u32> = stalls.iter().copied().filter(on_a_link).collect();
        others.sort_by(|a, b| ratio(*b).total_cmp(&ratio(*a)).then(a.cmp(b)));
        let mut series = roots.to_vec();
        series.extend(others);
        series.truncate(TARGETS_MAX.max(roots.len()));
        series
    }

    /// By which part a job sends less since `onset`, if it is in no region but `id` that could be why; else 0.
    pub(super) fn fallen(&self, id: Option<RegionId>, job: &Job, onset: i64) -> f64 {
        let is_in = |live: &Live| live.parties.jobs.iter().any(|party| party.job_id == job.job_id);
        if self.live.iter().any(|(other, live)| Some(*other) != id && is_in(live)) {
            return 0.0;
        }
        let start = tick_of(job.start, self.settings.tick_s);
        self.progress.get(&job.job_id).and_then(|progress| progress.fallen(start, onset)).unwrap_or(0.0)
    }

    /// The links of these series, and measured links at the same vertices; at the end hosts' links that are not measured and for
    /// which one of the roots waits, as root and target.
    fn targets(&self, network: &Network, series: &[u32], roots: usize) -> (Targets, Vec<(usize, usize)>) {
        let topology = &network.topology;
        let mut links: Vec<LinkIndex> = series.iter().filter_map(|s| self.links.link(*s)).collect();
        let mut known: BTreeSet<LinkIndex> = links.iter().copied().collect();
        let ends: BTreeSet<VertexIndex> =
            links.iter().flat_map(|link| [topology.from(*link), topology.to(*link)]).collect();
        for vertex in ends {
            for link in topology.links_from(vertex).flat_map(|link| [link, topology.reverse(link)]) {
                if links.len() < series.len() + HELPERS_MAX
                    && self.links.of_link(link).is_some()
                    && known.insert(link)
                {
                    links.push(link);
                }
            }
        }
        let mut behind = Vec::new();
        for root in 0..roots.min(links.len()) {
            if !kind::waits_for_a_host(topology, &self.links, links[root]) {
                continue;
            }
            let is_waited_for =
                |link: &LinkIndex| is_host_link(topology, *link) && self.links.of_link(*link).is_none();
            for link in topology.links_from(topology.to(links[root])).filter(is_waited_for) {
                if known.insert(link) {
                    behind.push((root, links.len()));
                    links.push(link);
                }
            }
        }
        (Targets::of(links), behind)
    }

    /// Jobs that ran at some time since shortly before `onset`.
    fn jobs_since(&self, onset: i64) -> impl Iterator<Item = &Job> {
        let (from, to) = (self.time(onset - BEFORE_TICKS), self.time(self.now));
        self.jobs.values().filter(move |job| job.overlaps(from, to))
    }

    /// I/O servers and what they receive.
    fn servers(&self, network: &Network) -> Servers {
        let topology = &network.topology;
        let received = |host: VertexIndex| -> f64 {
            out_of(topology, host).filter_map(|l| self.links.load_of(topology.reverse(l))).sum()
        };
        if !self.settings.io_servers.is_empty() {
            let named = self.settings.io_servers.iter().filter_map(|name| topology.vertex(name.as_str()));
            return Servers { received: named.map(|host| (host, received(host))).collect(), named: true };
        }
        let idle = self.without_job(topology).into_iter().map(|host| (host, received(host)));
        Servers { received: idle.filter(|(_, received)| *received > SERVED_LEAST).collect(), named: false }
    }

    /// Hosts on which no known job runs.
    fn without_job(&self, topology: &Topology) -> Vec<VertexIndex> {
        let now = self.time(self.now);
        let running = self.jobs.values().filter(|job| job.overlaps(now.plus_seconds(-ENDED_S), now + 1));
        let busy: BTreeSet<VertexIndex> =
            running.flat_map(|job| &job.nodes).filter_map(|node| topology.vertex(node.as_str())).collect();
        topology.vertices_of(VertexKind::Host).filter(|host| !busy.contains(host)).collect()
    }

    /// All nodes that send without a known job, as if they were one job. On an Aries nodes are not measured: then it has none.
    fn unattributed(&self, network: &Network) -> Option<Job> {
        let topology = &network.topology;
        let sends = |host: &VertexIndex| {
            out_of(topology, *host)
                .any(|link| self.links.load_of(link).is_some_and(|load| load > SERVED_LEAST))
        };
        let nodes = self.without_job(topology).into_iter().filter(sends);
        Some(Job {
            job_id: Name::parse("unattributed").ok()?,
            label: String::new(),
            user: String::new(),
            name: String::new(),
            nodes: nodes.map(|host| topology.name(host).clone()).collect(),
            start: self.time(self.now),
            end: None,
            end_presumed: false,
            app: None,
        })
    }

    /// A link parallel to one of the roots that went down when the region began.
    fn failed(&self, network: &Network, roots: &[u32], onset: i64) -> Option<u32> {
        if self.down.is_empty() {
            return None;
        }
        let links = roots.iter().filter_map(|root| self.links.link(*root));
        let groups: BTreeSet<u32> =
            links.flat_map(|link| network.parallel.groups_of(link)).copied().collect();
        let is_parallel = |series: &u32| {
            let link = self.links.link(*series);
            link.is_some_and(|link| network.parallel.groups_of(link).iter().any(|g| groups.contains(g)))
        };
        let failed = self.down.iter().filter(|(_, tick)| FAILED_TICKS.contains(&(onset - **tick)));
        failed.map(|(series, _)| *series).find(is_parallel)
    }

    /// Part of the links parallel to the roots that is measured.
    fn measured(&self, network: &Network, roots: &[u32]) -> f64 {
        let links = roots.iter().filter_map(|root| self.links.link(*root));
        let groups: BTreeSet<u32> =
            links.flat_map(|link| network.parallel.groups_of(link)).copied().collect();
        let all: BTreeSet<LinkIndex> =
            groups.iter().flat_map(|group| network.parallel.links(*group as usize)).copied().collect();
        let seen = all.iter().filter(|link| self.links.of_link(**link).is_some()).count();
        if all.is_empty() { 1.0 } else { seen as f64 / all.len() as f64 }
    }
}
