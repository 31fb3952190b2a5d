//! Jobs that share a network: on an Aries (SAND2016-9525) and on a Dragonfly+ (Kang 2019).

use super::{asked_by, at_peak, found, leaves, light_first, peak, scattered, setup, share_of};
use crate::integration::fabric::play::Played;
use detector::detector::Detector;
use detector::model::ModelKind;
use detector::settings::Settings;
use samplers::lab::scenarios::ONSET_S;
use samplers::lab::{Lab, LabJob, Pattern, Phases, Routing, Setup, at};
use schemas::{Cause, CauseKind, SeriesIndex};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use topology::generate::DragonflyPlus;
use topology::machines::{aries_chassis, dragonfly_plus_small, kang};
use topology::{LinkClass, LinkIndex, Machine, Topology, VertexIndex};

/// When the benchmark begins in the report's run, in seconds.
const IMB_S: u32 = 58;
const GIB: f64 = 1_073_741_824.0;

/// CTH on half of the nodes of all 16 routers of a chassis, IMB on the other half of the first eight. A load balance of
/// CTH is a second of heavy exchange.
fn cth_and_imb(balances: bool) -> Setup {
    let topology = aries_chassis().unwrap();
    let routers = leaves(&topology);
    assert_eq!(routers.len(), 16);
    let half = |routers: &[Vec<VertexIndex>], from: usize| -> Vec<VertexIndex> {
        routers.iter().flat_map(|hosts| hosts[from..from + 2].to_vec()).collect()
    };
    let cth = half(&routers, 0);
    let steps = at_peak(&topology, LabJob::new(1, cth.clone(), Pattern::Stencil3d, 1.0), 0.3);
    let mut balance = at_peak(&topology, LabJob::new(2, cth, Pattern::AllToAll, 1.0), 0.65);
    (balance.start_s, balance.work_s) = (12, 12.0);
    balance.phases = Some(Phases { on_s: 1.0, off_s: 29 });
    let mut imb = at_peak(&topology, LabJob::new(3, half(&routers[..8], 2), Pattern::AllToAll, 1.0), 1.1);
    (imb.start_s, imb.work_s) = (IMB_S, 200.0);
    let jobs = if balances { vec![steps, balance, imb] } else { vec![steps, imb] };
    Setup { routing: Routing::Minimal, ..setup(&topology, jobs) }
}

/// S2: one Aries chassis represents a group. IMB begins at 58 s.
#[test]
fn a_benchmark_slows_a_job_on_shared_routers_only() {
    let played = found(&cth_and_imb(true));
    assert!(!played.regions.is_empty());
    let shared: Vec<String> = (0..8).map(|slot| format!("aries_stall_ratio/c0-0c0s{slot}/")).collect();
    for region in &played.regions {
        assert!(region.start.seconds_since(at(f64::from(IMB_S))) >= -2.0, "{region:?}");
        for series in &region.series {
            assert!(shared.iter().any(|router| series.starts_with(router)), "{series} of {region:?}");
        }
    }
    let [_, others] = played.lost[&1];
    assert!(others > 10.0, "CTH loses {others} s");
    assert!(played.regions.iter().any(|region| share_of(region, Cause::OtherJob, 3) > 0.5), "IMB is named");
}

/// S2: on routers that CTH has for itself, the published model takes single spikes for contention: it reports more
/// episodes than without them.
#[test]
fn only_the_published_model_flags_load_balances() {
    let episodes = |model: ModelKind, balances: bool| -> usize {
        let mut detector = Detector::new(Settings::of(model));
        let mut lab = Lab::new(cth_and_imb(balances)).unwrap();
        let alone: Vec<String> = (8..16).map(|slot| format!("c0-0c0s{slot}")).collect();
        let mut found = BTreeSet::new();
        for _ in 0..300 {
            let tick = lab.step();
            detector.rows(tick.sources, tick.counters);
            let episodes = detector.take().episodes;
            let component = |series: SeriesIndex| detector.series()[series.at()].component.to_string();
            found.extend(episodes.iter().filter(|e| alone.contains(&component(e.series))).map(|e| e.id));
        }
        found.len()
    };
    let published = [true, false].map(|balances| episodes(ModelKind::Published, balances));
    assert!(published[0] > published[1], "{published:?}");
    assert_eq!(episodes(ModelKind::Robust, true), 0);
}

/// A Dragonfly+ with the capacities of the paper and so many groups, leaves and spines; four hosts a leaf.
fn dragonfly_plus(groups: u32, leaves: u32, spines: u32) -> Arc<Topology> {
    let machine = DragonflyPlus {
        groups,
        leaves,
        spines,
        nodes_per_leaf: 4,
        links_per_spine_and_group: 1,
        ..DragonflyPlus::kang()
    };
    Arc::new(Machine::DragonflyPlus(machine).build().unwrap())
}

/// The hosts of each group.
fn groups(topology: &Topology) -> Vec<Vec<VertexIndex>> {
    let mut groups: BTreeMap<u32, Vec<VertexIndex>> = BTreeMap::new();
    for host in leaves(topology).concat() {
        groups.entry(topology.group(host).unwrap()).or_default().push(host);
    }
    groups.into_values().collect()
}

/// Links between groups that begin in the first group.
fn global_of_first(topology: &Topology) -> impl Fn(LinkIndex) -> bool {
    |link| topology.class(link) == LinkClass::Global && topology.group(topology.from(link)) == Some(0)
}

/// K5: the global links of a group carry 52% of what they can for another job, while a job talks inside it.
#[test]
fn foreign_traffic_through_a_group_is_no_contention() {
    let topology = dragonfly_plus(5, 8, 4);
    let groups = groups(&topology);
    let inside = LabJob::new(1, groups[0][..8].to_vec(), Pattern::AllToAll, 1e8);
    // Some of its nodes must be there, on other leaves: routing is minimal, so no other job's traffic crosses a group.
    let nodes = groups.iter().flat_map(|hosts| hosts[8..].to_vec()).collect();
    let mut foreign = LabJob::new(2, nodes, Pattern::AllToAll, 1.0);
    let loads = asked_by(&topology, &foreign);
    foreign.bytes_per_s = 0.52 / peak(&topology, &loads, global_of_first(&topology));
    let jobs = [vec![inside], light_first(foreign)].concat();
    let played = found(&setup(&topology, jobs));
    assert!(played.regions.is_empty(), "{:?}", played.regions);
}

/// K6: the root can send 16 GiB/s and its demand is much more, from the start of the job: without a baseline of it, the
/// threshold known beforehand decides. It is the only link with a queue.
#[test]
fn a_broadcast_saturates_the_link_of_its_root_alone() {
    let topology = dragonfly_plus(3, 4, 16);
    let nodes = groups(&topology).concat();
    let root = topology.links_from(nodes[0]).next().unwrap();
    let job = LabJob::new(1, nodes, Pattern::Broadcast, 3.0 * topology.bytes_per_s(root));
    let played = found(&setup(&topology, light_first(job)));
    assert_eq!(played.regions.len(), 1, "{:?}", played.regions);
    let region = &played.regions[0];
    assert_eq!(region.series, [super::name(&played, root)]);
    assert_eq!((region.links_most, region.kind), (1, CauseKind::Endpoint));
    assert_eq!(region.cause, Cause::SelfInflicted);
}

/// K6: 16 GiB/s to the nodes of six groups alike leave the root's group at 16 x 5/6 = 13.33 GiB/s.
#[test]
fn a_broadcast_to_six_groups_leaves_its_own_with_five_sixths() {
    let topology = kang().unwrap();
    let hosts = leaves(&topology).concat();
    let job = LabJob::new(1, hosts[..6 * 384].to_vec(), Pattern::Broadcast, 16.0 * GIB);
    let loads = asked_by(&topology, &job);
    let of_first = global_of_first(&topology);
    let carried = topology.links().filter(|l| of_first(*l)).map(|l| loads[l.at()] * topology.bytes_per_s(l));
    let gib_per_s = carried.sum::<f64>() / GIB;
    assert!((gib_per_s / 13.333 - 1.0).abs() < 1e-3, "{gib_per_s}");
}

/// A broadcast from the first group, and what it loses to a background there that demands this much of the global links.
fn root_beside(background: f64) -> Played {
    let topology = dragonfly_plus_small().unwrap();
    let groups = groups(&topology);
    let of = |from: usize, to: usize| -> Vec<VertexIndex> {
        groups.iter().flat_map(|hosts| hosts[from..to].to_vec()).collect()
    };
    let mut job = LabJob::new(1, of(0, 4), Pattern::Broadcast, 4.0 * GIB);
    job.work_s = 250.0;
    let mut others = LabJob::new(2, of(4, 16), Pattern::AllToAll, 1.0);
    let loads = asked_by(&topology, &others);
    let links: Vec<LinkIndex> = topology.links().filter(|link| global_of_first(&topology)(*link)).collect();
    let mean = links.iter().map(|link| loads[link.at()]).sum::<f64>() / links.len() as f64;
    others.bytes_per_s = background / mean;
    (others.start_s, others.work_s) = (ONSET_S, 150.0);
    found(&setup(&topology, vec![job, others]))
}

/// K7: a background of 1,758 GiB/s on the 1,678 GiB/s of a group's global links.
#[test]
fn a_root_inside_a_hot_group_waits_for_the_global_links() {
    let hot = root_beside(1758.0 / 1678.0);
    let topology = &hot.network.topology;
    let is_global = |series: &String| {
        topology.links().any(|l| topology.class(l) == LinkClass::Global && super::name(&hot, l) == *series)
    };
    let global = hot.regions.iter().filter(|region| region.series.iter().any(is_global)).count();
    assert!(global > 0, "{:?}", hot.regions);
    let named = hot.regions.iter().map(|region| share_of(region, Cause::OtherJob, 2)).fold(0.0, f64::max);
    assert!(named > 0.5, "{:?}", hot.regions);
    let (found, truth) = (hot.lost[&1][1], hot.truth.job(1).unwrap().lost.to_others_s());
    assert!(found > 10.0 && truth > 10.0, "{found} {truth}");
    let quiet = root_beside(0.3);
    assert!(quiet.lost[&1][1] < 0.1 * found, "{:?}", quiet.lost);
}

/// What a job on 48 of 80 nodes loses to itself before others come, and to others as far as it is found: packed into
/// three groups, or scattered by `seed`. What it does to itself is the lab's truth: a detector has no light load of it.
fn placed(pattern: Pattern, seed: Option<u64>) -> [f64; 2] {
    let topology = dragonfly_plus_small().unwrap();
    let hosts = groups(&topology).concat();
    let mine = seed.map_or_else(|| hosts[..48].to_vec(), |seed| scattered(&hosts, 48, seed));
    let rest: Vec<VertexIndex> = hosts.iter().copied().filter(|host| !mine.contains(host)).collect();
    let mut job = LabJob::new(1, mine, pattern, GIB);
    (job.work_s, job.coupling) = (250.0, 0.0);
    let mut others = LabJob::new(2, rest, Pattern::Uniform, 2.0 * GIB);
    (others.start_s, others.work_s) = (ONSET_S, 150.0);
    let played = found(&setup(&topology, vec![job, others]));
    [played.truth.job(1).unwrap().lost.self_s, played.lost[&1][1]]
}

/// K8: order. A packed job shares no link with the others, a scattered one does.
#[test]
fn other_jobs_slow_a_scattered_job_more_than_a_packed_one() {
    for pattern in [Pattern::Uniform, Pattern::Stencil3d, Pattern::Tornado] {
        let [own_packed, packed] = placed(pattern, None);
        for seed in 0..2 {
            let [own, scattered] = placed(pattern, Some(seed));
            assert!(scattered > packed + 1.0, "{pattern:?}, seed {seed}: {scattered} {packed}");
            match pattern {
                Pattern::Stencil3d => assert!(own_packed < own, "seed {seed}: {own_packed} {own}"),
                Pattern::Tornado => assert!(own_packed > own, "seed {seed}: {own_packed} {own}"),
                _ => {}
            }
        }
    }
}
