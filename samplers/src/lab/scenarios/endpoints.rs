//! Cases in which one host is asked for more than its link carries.

use super::calibrate::{empty, leaves, shuffle};
use super::single::light_first;
use super::{Expected, Labelled, LabelledError, ONSET_S, ScenarioKind};
use crate::lab::{LabJob, Pattern, Routing};
use crate::rng::Rng;
use schemas::{Cause, CauseKind};
use topology::VertexIndex;
use topology::machines::vishnu;

/// What the link of a host carries there, in bytes a second.
const HOST_BYTES_PER_S: f64 = 1e9;

pub(super) fn incast_self(seed: u64) -> Result<Labelled, LabelledError> {
    let mut rng = Rng::new(seed, 0x1CA57);
    let topology = vishnu()?;
    let mut setup = empty(&topology, Routing::Minimal, seed);
    let mut hosts = leaves(&topology).concat();
    shuffle(&mut hosts, &mut rng);
    hosts.truncate(9 + rng.below(16));
    let each = rng.between(1.5, 3.5) * HOST_BYTES_PER_S / (hosts.len() - 1) as f64;
    setup.jobs = light_first(LabJob::new(1, hosts, Pattern::Incast, each));
    let expected = Expected {
        cause: Some(Cause::SelfInflicted),
        kind: Some(CauseKind::Endpoint),
        victim: Some(1),
        aggressor: Some(1),
    };
    Ok(Labelled { kind: ScenarioKind::IncastSelf, setup, expected })
}

/// Both jobs send to one host, such as a server that they share; the second one too much.
pub(super) fn incast_other(seed: u64) -> Result<Labelled, LabelledError> {
    let mut rng = Rng::new(seed, 0x1CA58);
    let topology = vishnu()?;
    let mut setup = empty(&topology, Routing::Minimal, seed);
    let mut hosts = leaves(&topology).concat();
    shuffle(&mut hosts, &mut rng);
    let server = hosts[0];
    let with_server = |hosts: &[VertexIndex]| [&[server], hosts].concat();
    let (mine, theirs) = (5 + rng.below(4), 10 + rng.below(12));
    let each = rng.between(0.3, 0.4) * HOST_BYTES_PER_S / mine as f64;
    let mut victim = LabJob::new(1, with_server(&hosts[1..=mine]), Pattern::Incast, each);
    victim.work_s = 250.0;
    let each = rng.between(1.5, 2.5) * HOST_BYTES_PER_S / theirs as f64;
    let nodes = with_server(&hosts[1 + mine..1 + mine + theirs]);
    let mut other = LabJob::new(2, nodes, Pattern::Incast, each);
    (other.start_s, other.work_s) = (ONSET_S, 150.0);
    setup.jobs = vec![victim, other];
    let expected = Expected {
        cause: Some(Cause::OtherJob),
        kind: Some(CauseKind::Endpoint),
        victim: Some(1),
        aggressor: Some(2),
    };
    Ok(Labelled { kind: ScenarioKind::IncastOther, setup, expected })
}
