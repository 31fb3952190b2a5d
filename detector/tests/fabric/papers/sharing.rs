//! Links that I/O and messages share, and the interval at which I/O waits for itself (Brown 2018).

use super::{asked_by, is_inner, leaves, scattered};
use samplers::lab::{LabJob, Pattern};
use samplers::requests::Requests;
use std::collections::BTreeSet;
use topology::machines::brown;
use topology::{Topology, VertexIndex};

/// I/O servers of the machine.
const SERVERS: usize = 72;

/// Links between switches that both the messages of `ranks` and what `writers` write to `servers` cross, and second-level
/// switches through which the writes descend to a leaf.
fn shared(
    topology: &Topology,
    ranks: &[VertexIndex],
    writers: &[VertexIndex],
    servers: &[VertexIndex],
) -> [usize; 2] {
    let messages = asked_by(topology, &LabJob::new(1, ranks.to_vec(), Pattern::AllToAll, 1e9));
    let mut writes = vec![0.0; topology.link_count()];
    for server in servers {
        let nodes = [std::slice::from_ref(server), writers].concat();
        let of_server = asked_by(topology, &LabJob::new(2, nodes, Pattern::Incast, 1e9));
        writes.iter_mut().zip(of_server).for_each(|(sum, load)| *sum += load);
    }
    let carries = |loads: &[f64], link: topology::LinkIndex| loads[link.at()] > 0.0;
    let inner = || topology.links().filter(|link| is_inner(topology, *link));
    let both = inner().filter(|link| carries(&messages, *link) && carries(&writes, *link)).count();
    let level = |vertex| topology.level(vertex).unwrap();
    let down = inner().filter(|l| level(topology.from(*l)) == 2 && level(topology.to(*l)) == 1);
    let through: BTreeSet<u32> =
        down.filter(|link| carries(&writes, *link)).map(|link| topology.from(link).0).collect();
    [both, through.len()]
}

/// B6: servers on leaves of their own, jobs on random nodes or on whole leaves; or one server on each leaf, all at the
/// same port, which destination-mod-k reaches through one second-level switch of each pod.
#[test]
fn whole_leaves_and_spread_servers_keep_io_and_messages_apart() {
    let topology = brown().unwrap();
    let leaves = leaves(&topology);
    let (isolated, compute) = (leaves[68..].concat(), leaves[..68].concat());
    assert_eq!(isolated.len(), SERVERS);
    let spread: Vec<VertexIndex> = leaves.iter().map(|leaf| leaf[17]).collect();
    let beside: Vec<VertexIndex> = leaves.iter().flat_map(|leaf| leaf[..17].to_vec()).collect();
    let (half, whole) = (compute.len() / 2, 34 * 18);
    let [leaf_shared, _] = shared(&topology, &compute[..whole], &compute[whole..], &isolated);
    for seed in 0..2 {
        let mixed = scattered(&compute, compute.len(), seed);
        let [random_shared, _] = shared(&topology, &mixed[..half], &mixed[half..], &isolated);
        assert!(random_shared > 400, "seed {seed}: {random_shared}");
        assert!(10 * leaf_shared <= random_shared, "seed {seed}: {leaf_shared} {random_shared}");
        let mixed = scattered(&beside, beside.len(), seed);
        let [spread_shared, through] = shared(&topology, &mixed[..half], &mixed[half..], &spread);
        assert_eq!((spread_shared, through), (0, 4), "seed {seed}");
    }
}

/// So many clients that ask for 4 MiB and wait, with this interval between an answer and the next request.
fn requests(clients: usize, interval_s: f64) -> Requests {
    let (request_bytes, server_bytes_per_s) = (REQUEST_BYTES, SERVER_BYTES_PER_S);
    Requests { clients, servers: SERVERS, request_bytes, server_bytes_per_s, interval_s }
}

const REQUEST_BYTES: f64 = 4_194_304.0;
const SERVER_BYTES_PER_S: f64 = 12.5e9;
/// Intervals in milliseconds.
const INTERVALS_MS: [f64; 5] = [128.0, 8.0, 4.0, 2.0, 0.1];

/// B7: clients, and mean request times in microseconds by interval. The threshold lies between the longest interval
/// at which requests take twice what they take alone, and the next one.
#[test]
fn io_waits_for_itself_below_the_threshold_interval() {
    let known = [
        (306, [337.0, 357.0, 354.0, 350.0, 1327.0]),
        (612, [339.0, 381.0, 385.0, 852.0, 2752.0]),
        (918, [341.0, 412.0, 470.0, 2278.0, 4178.0]),
    ];
    let alone_us = 1e6 * REQUEST_BYTES / SERVER_BYTES_PER_S;
    let mut before_s = 0.0;
    for (clients, times_us) in known {
        let threshold_s = requests(clients, 0.0).threshold_s();
        assert!(threshold_s > before_s, "the knee rises with the clients");
        before_s = threshold_s;
        for (interval_ms, printed_us) in INTERVALS_MS.iter().zip(times_us) {
            let measured_us = 1e6 * requests(clients, interval_ms / 1e3).mean_s(1);
            let is_above = interval_ms / 1e3 > threshold_s;
            for time_us in [printed_us, measured_us] {
                assert_eq!(time_us < 2.0 * alone_us, is_above, "{clients} {interval_ms} ms: {time_us} us");
            }
        }
    }
}
