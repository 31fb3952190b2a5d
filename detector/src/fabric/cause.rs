//! Sources of the load of a region, and the jobs that wait there. Traffic is not contention: only links that stall are
//! judged (Kang 2019).
//!
//! The evidence, in this order: jobs with nodes at the links; jobs whose flows cross them by the forwarding tables
//! valid then; Lustre bytes and I/O servers for I/O; jobs whose traffic rose when the region began.

use super::flows::{JobTraffic, Load};
use super::kind::{waits_for_a_host, wanted_bytes_per_s};
use super::links::{Links, is_host_link};
use super::ways::Targets;
use schemas::{Evidence, Job, Name};
use topology::Topology;

/// Part of a link's load below which a job is no user of it.
const LEAST_PART: f64 = 0.02;
/// Stalls per flit of a link that no other job uses and that is far from full.
pub(super) const UNLOADED: f64 = 0.03;
/// Utilisation by a job alone from which it contends with itself.
const SELF_FULL: f64 = 0.9;
/// Stalls per flit from which a link that one job fills is no mere queue.
const SELF_STALLS: f64 = 0.5;
/// Ticks around the beginning of a region in which a rise of traffic coincides with it.
const COINCIDES_TICKS: i64 = 6;
/// Rise of a job's traffic that is no noise.
const RISE: f64 = 0.25;
/// Ticks before a region's onset whose traffic is that of before.
pub(super) const BEFORE_TICKS: i64 = 6;
/// Part of the load that jobs must explain for the rest to be a matter of the model, not of an unknown source.
const EXPLAINED: f64 = 0.5;

/// Times what jobs send that they want to send, at most: one that pauses sends hardly anything.
const WANTED_TIMES_MAX: f64 = 3.0;

/// A job on a link of a region.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) struct Use {
    /// Number of the link's series.
    pub(super) series: u32,
    /// The job's part of the load, 0 to 1.
    pub(super) part: f64,
    /// The same if all jobs sent what they sent before they were slowed.
    pub(super) wanted_part: f64,
    /// The part of all that the job sends and writes that crosses the link, 0 to 1.
    pub(super) crosses: f64,
    /// The part of the job's load that is I/O, 0 to 1.
    pub(super) io: f64,
    /// The part of others' load that is I/O, 0 to 1.
    pub(super) others_io: f64,
    /// The part of the load whose source is unknown, 0 to 1.
    pub(super) unknown: f64,
    /// By which part the job sends less since contention began, where it waits for what lies behind the link, 0 to 1.
    pub(super) fallen: f64,
    /// What the link carried before contention began, in bytes a second, if the job was there then: more than that it
    /// did not make, and the baseline holds for it.
    pub(super) before_bytes_per_s: Option<f64>,
}

impl Use {
    /// The same by stalls alone.
    pub(super) fn without_fall(&self) -> Use {
        Use { fallen: 0.0, ..*self }
    }

    /// The job's messages, as a part of the load, 0 to 1.
    pub(super) fn messages(&self) -> f64 {
        self.part * (1.0 - self.io)
    }
}

/// One job in a region.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) struct Party {
    /// Which job.
    pub(super) job_id: Name,
    /// The links that it uses.
    pub(super) uses: Vec<Use>,
    /// Its messages on the roots, as a part of all load there, 0 to 1.
    pub(super) mpi: f64,
    /// Its I/O there likewise.
    pub(super) io: f64,
    /// Evidence for it.
    pub(super) evidence: Vec<Evidence>,
}

/// The jobs of a region, and the load of unknown source.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) struct Parties {
    /// Jobs, the largest load first.
    pub(super) jobs: Vec<Party>,
    /// The part of the load on the roots whose source is unknown, 0 to 1.
    pub(super) unknown: f64,
    /// Whether ways were known, not assumed.
    pub(super) ways_known: bool,
}

/// What is known when parties are looked for.
pub(super) struct Scene<'a> {
    pub(super) topology: &'a Topology,
    pub(super) links: &'a Links,
    pub(super) targets: &'a Targets,
    /// Series of the targets that belong to the region, and how many of these, at the front, are roots.
    pub(super) series: &'a [u32],
    pub(super) roots: usize,
    /// Roots that wait for hosts behind them whose links are not measured, with targets that are these links.
    pub(super) behind: &'a [(usize, usize)],
    /// By job: by which part it sends less since the region began, if it is in no other one.
    pub(super) fallen: Vec<f64>,
    /// Traffic of each job now and before the region began.
    pub(super) now: &'a [JobTraffic],
    pub(super) before: &'a [JobTraffic],
    pub(super) jobs: &'a [&'a Job],
    /// First tick of the region.
    pub(super) onset: i64,
    pub(super) tick_s: f64,
    pub(super) ways_known: bool,
}

impl Scene<'_> {
    /// By which part a job sends less, if the series at `at` is a root that waits for a host behind it; else 0.
    fn fallen_behind(&self, at_job: usize, at: usize) -> f64 {
        let waits = self.behind.iter().any(|(root, _)| *root == at);
        if waits { self.fallen[at_job] } else { 0.0 }
    }
}

/// The jobs in the region.
pub(super) fn parties(scene: &Scene<'_>) -> Parties {
    let (wholes, unknown) = wholes(scene);
    let unknown_at = |at: usize| unknown[at];
    let mut found = Parties { ways_known: scene.ways_known, ..Parties::default() };
    let weights: Vec<f64> = scene.series[..scene.roots]
        .iter()
        .map(|s| f64::from(scene.links.value[*s as usize]).max(1e-3))
        .collect();
    let weight_all: f64 = weights.iter().sum::<f64>().max(1e-9);
    found.unknown = (0..scene.roots).map(|at| weights[at] * unknown_at(at)).sum::<f64>() / weight_all;
    let lacking = lacking(scene);
    for (at_job, traffic) in scene.now.iter().enumerate().take(scene.jobs.len()) {
        let mut uses = Vec::new();
        let (mut mpi, mut io) = (0.0, 0.0);
        let rose = rose(scene, at_job);
        let sent = (traffic.sent + traffic.written).max(1.0);
        for (at, load) in traffic.loads.iter().enumerate().take(scene.series.len()) {
            let whole = wholes[at].max(1.0);
            if at < scene.roots {
                mpi += weights[at] * load.mpi / whole / weight_all;
                io += weights[at] * load.io / whole / weight_all;
            }
            if load.sum() > LEAST_PART * whole {
                uses.push(Use {
                    series: scene.series[at],
                    part: load.sum() / whole,
                    wanted_part: (load.sum() + lacking[at_job][at])
                        / (whole + lacking.iter().map(|of| of[at]).sum::<f64>()),
                    crosses: (load.sum() / sent).min(1.0),
                    io: load.io / load.sum(),
                    others_io: others_io(&scene.now[..scene.jobs.len()], at, at_job),
                    unknown: unknown_at(at),
                    fallen: scene.fallen_behind(at_job, at),
                    before_bytes_per_s: (!rose).then(|| {
                        let link = scene.targets.links[at];
                        scene.links.load_at(link, scene.onset - BEFORE_TICKS).unwrap_or(0.0)
                    }),
                });
            }
        }
        if uses.is_empty() && scene.fallen[at_job] > 0.0 {
            uses.extend(use_behind(scene, at_job, rose));
        }
        if !uses.is_empty() {
            let evidence = evidence(scene, at_job, rose, io > 0.0);
            found.jobs.push(Party { job_id: traffic.job_id.clone(), uses, mpi, io, evidence });
        }
    }
    found.jobs.sort_by(|a, b| (b.mpi + b.io).total_cmp(&(a.mpi + a.io)).then(a.job_id.cmp(&b.job_id)));
    found
}

/// What a job uses behind a root that it does not cross: it sends less since others fill the link of a host to which it sends, too.
fn use_behind(scene: &Scene<'_>, at_job: usize, rose: bool) -> Option<Use> {
    let jobs = &scene.now[..scene.jobs.len()];
    let of = |job: &JobTraffic, root: usize| -> f64 {
        let slots = scene.behind.iter().filter(|(at, _)| *at == root);
        slots.map(|(_, slot)| job.loads[*slot].sum()).sum()
    };
    let root = scene
        .behind
        .iter()
        .map(|(root, _)| *root)
        .max_by(|a, b| of(&jobs[at_job], *a).total_cmp(&of(&jobs[at_job], *b)))?;
    let (own, all) = (of(&jobs[at_job], root), jobs.iter().map(|job| of(job, root)).sum::<f64>());
    let sent = (jobs[at_job].sent + jobs[at_job].written).max(1.0);
    let before = scene.links.load_at(scene.targets.links[root], scene.onset - BEFORE_TICKS);
    (own > LEAST_PART * all).then(|| Use {
        series: scene.series[root],
        part: own / all,
        wanted_part: own / all,
        crosses: (own / sent).min(1.0),
        io: 0.0,
        others_io: others_io(jobs, root, at_job),
        unknown: 0.0,
        fallen: scene.fallen[at_job],
        before_bytes_per_s: (!rose).then(|| before.unwrap_or(0.0)),
    })
}

/// The load of each link that is to be shared among the jobs, and the part of it whose source is unknown.
///
/// Where nodes are measured, what nodes without a job send has an unknown source, and how exactly a job's messages spread does
/// not matter. Where they are not, the unknown part is what the jobs do not explain.
fn wholes(scene: &Scene<'_>) -> (Vec<f64>, Vec<f64>) {
    let measured = scene.now.iter().any(|job| job.measured);
    let of = |at: usize| {
        let jobs: f64 = scene.now[..scene.jobs.len()].iter().map(|job| job.loads[at].sum()).sum();
        let others: f64 = scene.now[scene.jobs.len()..].iter().map(|job| job.loads[at].sum()).sum();
        let carried = scene.links.load_of(scene.targets.links[at]).unwrap_or(jobs);
        let all = jobs + others;
        let whole = if all <= 0.0 || !measured && all < EXPLAINED * carried { carried } else { all };
        (whole, (1.0 - jobs / whole.max(1.0)).clamp(0.0, 1.0))
    };
    (0..scene.series.len()).map(of).unzip()
}

/// By job and link: what its load lacks of that before the region began, in bytes a second. A job that waits sends less, and wants
/// as much.
fn lacking(scene: &Scene<'_>) -> Vec<Vec<f64>> {
    let jobs = scene.now.iter().zip(scene.before);
    let of = |now: &JobTraffic, before: &JobTraffic| {
        let is_known = now.measured && before.measured && now.sent > 0.0;
        let lacks = |(now, before): (&Load, &Load)| (before.sum() - now.sum()).max(0.0);
        let loads = now.loads.iter().zip(&before.loads).take(scene.series.len());
        loads.map(|pair| if is_known { lacks(pair) } else { 0.0 }).collect()
    };
    jobs.map(|(now, before)| of(now, before)).collect()
}

/// What the parties would send if they did not wait, over what they send now, at least 1. A job that waits for its slowest flow
/// sends less on all links. What one sent before the region began is known of those that were there; of the others half of what
/// their stalls allow is assumed.
pub(super) fn wanted_times(scene: &Scene<'_>, parties: &Parties) -> f64 {
    let (mut sent, mut wanted) = (0.0, 0.0);
    for (now, before) in scene.now.iter().zip(scene.before) {
        let Some(party) = parties.jobs.iter().find(|party| party.job_id == now.job_id) else { continue };
        if !now.measured || now.sent <= 0.0 {
            continue;
        }
        let was_there = before.measured && before.sent > 0.0;
        let lost = party.uses.iter().map(|used| lost(used, scene.links, scene.topology, false).sum());
        let by_stalls = 1.0 / (1.0 - lost.fold(0.0, f64::max) / 2.0);
        sent += now.sent;
        wanted += if was_there { before.sent } else { now.sent * by_stalls };
    }
    if sent > 0.0 { (wanted / sent).clamp(1.0, WANTED_TIMES_MAX) } else { 1.0 }
}

/// The part of the load of all but one job that is I/O.
fn others_io(jobs: &[JobTraffic], at: usize, own: usize) -> f64 {
    let others = jobs.iter().enumerate().filter(|(job, _)| *job != own).map(|(_, job)| job.loads[at]);
    let all = others.fold(Load::default(), |a, b| Load { mpi: a.mpi + b.mpi, io: a.io + b.io });
    if all.sum() > 0.0 { all.io / all.sum() } else { 0.0 }
}

/// Whether a job's traffic on the roots rose when the region began, or the job began just then.
fn rose(scene: &Scene<'_>, at: usize) -> bool {
    let on_roots = |job: &JobTraffic| job.loads[..scene.roots].iter().map(|load| load.sum()).sum::<f64>();
    let (now, before) = (&scene.now[at], &scene.before[at]);
    let start = (scene.jobs[at].start.seconds() / scene.tick_s).round() as i64;
    let began = (start - scene.onset).abs() <= 2 * COINCIDES_TICKS;
    let grew = now.measured && on_roots(now) - on_roots(before) > RISE * on_roots(now);
    began || grew
}

fn evidence(scene: &Scene<'_>, at: usize, rose: bool, io: bool) -> Vec<Evidence> {
    let traffic = &scene.now[at];
    let mut found = Vec::new();
    if hangs_on(scene, at) {
        found.push(Evidence::NodesOnRouter);
    }
    if scene.ways_known {
        found.push(Evidence::FlowsCross);
    }
    if traffic.written > 0.0 && io {
        if traffic.writes_reported {
            found.push(Evidence::LustreBytes);
        }
        let into_host = |slot: usize| is_host_link(scene.topology, scene.targets.links[slot]);
        if (0..scene.roots).any(into_host) {
            found.push(Evidence::IoEndpoint);
        }
    }
    if rose {
        found.push(Evidence::ChangePoint);
    }
    found.sort();
    found
}

/// Whether a node of the job hangs on an end of a root.
fn hangs_on(scene: &Scene<'_>, at: usize) -> bool {
    let topology = scene.topology;
    let ends: Vec<u32> = scene.targets.links[..scene.roots]
        .iter()
        .flat_map(|link| [topology.from(*link).0, topology.to(*link).0])
        .collect();
    scene.jobs[at].nodes.iter().any(|node| {
        let Some(vertex) = topology.vertex(node.as_str()) else { return false };
        let mut near = topology.links_from(vertex).map(|link| topology.to(link).0);
        ends.contains(&vertex.0) || near.any(|switch| ends.contains(&switch))
    })
}

/// What a job loses on one link in a second, as parts of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Lost {
    /// To its own traffic.
    pub(super) own: f64,
    /// To others' messages, others' I/O, and traffic of unknown source.
    pub(super) mpi: f64,
    pub(super) io: f64,
    pub(super) unknown: f64,
}

impl Lost {
    /// All of it.
    pub(super) fn sum(self) -> f64 {
        self.own + self.others()
    }

    /// What is not its own.
    pub(super) fn others(self) -> f64 {
        self.mpi + self.io + self.unknown
    }
}

/// What a job loses on a link that it uses: a flit that takes one cycle waits `ratio` more. Alone on the link it
/// would wait less: as its baseline shows if it was there before, as its own part of the load makes it otherwise.
/// A parallel link that `failed` or was narrowed makes a job contend with itself: all above its baseline is charged to the
/// failure.
pub(super) fn lost(used: &Use, links: &Links, topology: &Topology, failed: bool) -> Lost {
    let at = used.series as usize;
    let (load, ratio) = (f64::from(links.load[at]), f64::from(links.value[at]));
    let link = links.link(used.series);
    let capacity = link.map_or(f64::NAN, |link| topology.bytes_per_s(link));
    let is_inner = link.is_some_and(|link| !is_host_link(topology, link));
    let own_bytes_per_s = used.wanted_part * demanded_bytes_per_s(load, ratio, capacity, is_inner);
    let own_utilisation =
        used.before_bytes_per_s.map_or(own_bytes_per_s, |b| b.min(own_bytes_per_s)) / capacity;
    let queue = own_queue(own_utilisation).min(ratio);
    let baseline = f64::from(links.baseline[at]);
    if failed {
        let before =
            if baseline.is_finite() { baseline.max(UNLOADED).min(ratio) } else { UNLOADED.min(ratio) };
        return Lost { unknown: 1.0 - (1.0 + before) / (1.0 + ratio), ..Lost::default() };
    }
    let alone = if used.before_bytes_per_s.is_some() && baseline.is_finite() { baseline } else { queue };
    let alone = alone.max(UNLOADED).min(ratio);
    let fills = own_utilisation > SELF_FULL && ratio >= SELF_STALLS;
    let own = if fills { 1.0 - (1.0 + UNLOADED) / (1.0 + alone) } else { 0.0 };
    let all = (1.0 - (1.0 + UNLOADED) / (1.0 + ratio)).max(0.0);
    // A job that makes nearly all of the load waits for no other job; before the link is full, not even for itself. If it waits for a
    // host whose link is not measured, others may send there on other ways.
    let waits_behind = link.is_some_and(|link| waits_for_a_host(topology, links, link));
    let alone_there = used.part > 1.0 - LEAST_PART && !waits_behind;
    let others = if alone_there { 0.0 } else { 1.0 - (1.0 + alone) / (1.0 + ratio) };
    let others = others.max(used.fallen.min(1.0 - own));
    let own = if alone_there && fills { all } else { own };
    let unknown = (used.unknown / (1.0 - used.part).max(LEAST_PART)).min(1.0);
    let known = others * (1.0 - unknown);
    Lost { own, mpi: known * (1.0 - used.others_io), io: known * used.others_io, unknown: others * unknown }
}

/// Demand on a full link. Whole links can send to one host at once, so half of what its stalls allow is assumed.
/// A link between switches has parts of many flows, and its demand is rarely much more than it carries: stalls that a
/// queue at the brink makes are no sign of it: they make no job contend with itself.
fn demanded_bytes_per_s(load: f64, ratio: f64, capacity: f64, is_inner: bool) -> f64 {
    let excess = if is_inner { (ratio - own_queue(1.0)).max(0.0) } else { ratio };
    wanted_bytes_per_s(load, excess, capacity)
}

/// Stalls per flit that a load of this utilisation makes alone: the queue of M/M/1, and above saturation what does
/// not fit; 0 where the capacity is unknown.
pub(super) fn own_queue(utilisation: f64) -> f64 {
    const GAIN: f64 = 0.04;
    if !utilisation.is_finite() {
        return 0.0;
    }
    let queue = GAIN * utilisation / (1.0 - utilisation.min(0.96));
    (utilisation - 1.0).max(queue)
}
