//! A switch whose forwarding tables are drawn at random, as a subnet manager's look that spreads LIDs without regard to
//! which rank sends to which (Vishnu 2007).

use crate::rng::Rng;
use std::sync::Arc;
use topology::generate::FatTree;
use topology::{LinkIndex, Machine, MachineError, PlainError, PlainTopology, Topology};

/// Why it could not be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DrawnError {
    /// The number of LIDs.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// The tables.
    #[error(transparent)]
    Plain(#[from] PlainError),
}

/// The switch of Vishnu 2007, 12 leaves and 12 spines, with 2^`lmc` LIDs a host, and an uplink drawn for each leaf and LID.
///
/// # Errors
/// [`DrawnError`] for an `lmc` that no subnet has.
pub fn vishnu_drawn(lmc: u8, seed: u64) -> Result<Arc<Topology>, DrawnError> {
    let topology = Machine::FatTree(FatTree::vishnu(lmc)).build()?;
    let (routes, mut rng) = (topology.routes_at(None), Rng::new(seed, u64::from(lmc)));
    let mut plain = PlainTopology::of(&topology);
    for leaf in topology.vertices().filter(|v| topology.level(*v) == Some(1)) {
        let up: Vec<LinkIndex> =
            topology.links_from(leaf).filter(|l| topology.level(topology.to(*l)) == Some(2)).collect();
        let mut words = Vec::new();
        for (lid, ..) in topology.lids().of_rail(0) {
            let Ok(usual) = routes.next(leaf, lid) else { continue };
            let link = if up.contains(&usual) { up[rng.below(up.len())] } else { usual };
            words.push(format!("{lid}:{}", topology.port(link)));
        }
        plain.tables[0].switches.insert(topology.name(leaf).to_string(), words.join(" "));
    }
    Ok(Arc::new(plain.build()?.0))
}
