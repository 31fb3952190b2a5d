//! The network of an experiment: one that is known by name, or one by its parameters.

use anyhow::Context;
use samplers::lab::vishnu_drawn;
use serde::Deserialize;
use std::sync::Arc;
use topology::{Machine, Topology, machines};

/// A machine by name or by its parameters.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum MachineChoice {
    /// One of [`NAMES`].
    Named(String),
    /// The switch of Vishnu 2007 with tables drawn at random: `{ lmc = 2, draw = 1 }`.
    Drawn {
        /// Each host has 2^lmc LIDs, and as many paths.
        lmc: u8,
        /// Seed of the tables.
        draw: u64,
    },
    /// What stands in a parameter file of a topology.
    Parameters(Machine),
}

/// Names that [`MachineChoice::Named`] may have, and what they are.
pub const NAMES: [(&str, &str); 12] = [
    ("switch_12", "12 leaves and 12 spines, 12 hosts a leaf (Vishnu 2007)"),
    ("switch_12_wide", "the same with 24 hosts a leaf"),
    ("tree_small", "6 leaves and 4 spines, 8 hosts a leaf"),
    ("fat_tree", "three levels, 1,296 hosts (Brown 2018)"),
    ("fat_tree_two_rails", "the same with two rails"),
    ("fat_tree_small", "three levels, 128 hosts"),
    ("dragonfly_plus", "9 groups of 24 leaves and 24 spines, 3,456 hosts (Kang 2019)"),
    ("dragonfly_plus_small", "5 groups of 4 leaves and 4 spines, 80 hosts"),
    ("aries_chassis", "16 Aries routers, 64 hosts"),
    ("aries_group", "96 Aries routers, 384 hosts"),
    ("mutrino", "a Cray XC40 of two cabinets (SAND2016-9525)"),
    ("trinity", "55 Aries groups (SAND2016-9525)"),
];

impl MachineChoice {
    /// Builds it.
    ///
    /// # Errors
    /// An unknown name, or parameters that no machine can have.
    pub fn build(&self) -> anyhow::Result<Arc<Topology>> {
        let name = match self {
            MachineChoice::Named(name) => name.as_str(),
            MachineChoice::Drawn { lmc, draw } => return Ok(vishnu_drawn(*lmc, *draw)?),
            MachineChoice::Parameters(machine) => return Ok(Arc::new(machine.build()?)),
        };
        let built = match name {
            "switch_12" => machines::vishnu(),
            "switch_12_wide" => machines::two_level(12, 12, 24),
            "tree_small" => machines::two_level(6, 4, 8),
            "fat_tree" => machines::brown(),
            "fat_tree_two_rails" => machines::brown_two_rails(),
            "fat_tree_small" => machines::three_level_small(),
            "dragonfly_plus" => machines::kang(),
            "dragonfly_plus_small" => machines::dragonfly_plus_small(),
            "aries_chassis" => machines::aries_chassis(),
            "aries_group" => machines::aries(1),
            "mutrino" => machines::mutrino(),
            "trinity" => machines::trinity(),
            _ => {
                let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
                anyhow::bail!("there is no machine {name:?}; there are {}", names.join(", "));
            }
        };
        built.with_context(|| format!("the machine {name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use topology::VertexKind;

    #[test]
    fn every_machine_that_is_listed_can_be_built() {
        // Trinity takes seconds; its experiment builds it.
        for (name, _) in NAMES.iter().filter(|(name, _)| *name != "trinity") {
            let topology = MachineChoice::Named(name.to_string()).build().unwrap();
            assert!(topology.vertices_of(VertexKind::Host).count() > 40, "{name}");
        }
        let drawn: MachineChoice = toml::from_str("lmc = 2\ndraw = 1").unwrap();
        assert_eq!(drawn, MachineChoice::Drawn { lmc: 2, draw: 1 });
        assert!(drawn.build().is_ok());
        let tree = "kind = 'fat_tree'\nports = 8\npods = 1\nleaves_per_pod = 4\nnodes_per_leaf = 4\nuplinks_per_leaf = 4";
        assert!(toml::from_str::<MachineChoice>(tree).unwrap().build().is_ok());
        let unknown = MachineChoice::Named("trinty".to_string()).build().unwrap_err();
        assert!(unknown.to_string().contains("trinity"));
    }
}
