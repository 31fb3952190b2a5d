//! The site file `site.toml`: which hosts report what, the aggregators that collect from them, and where the rows go.
//!
//! `tailback ldms-config` turns it into configuration for ldmsd; `tailback run` takes from it the expected sources
//! ([`Site::expected`]). This module reads text and gives types; it opens no file.
//!
//! | module | what it holds |
//! |---|---|
//! | [`mod@file`] | the keys as they stand in the file |
//! | [`host_list`] | `nid[00001-00128]` and its names |
//! | [`aries`] | from node numbers to routers, and the half that a node reports |
//! | [`problem`] | [`SiteError`]: key, line and a sentence |
//! | `check` | what cannot work |
//! | [`expected`] | [`Expected`]: the expected sources and their components |

pub mod aries;
mod check;
pub mod expected;
pub mod file;
pub mod host_list;
pub mod problem;

pub use aries::{AriesMap, Half, RouterHalf};
pub use expected::Expected;
pub use file::{Auth, Format, IbSampler, Ldmsd, LustreTarget, Role, Schedule, Scheduler, Transport};
pub use problem::{SiteError, SiteProblem};

use crate::Name;
use std::collections::BTreeMap;

/// A site that was checked: every name is valid, every host has a collector, every half of a router a reporter.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// The site's name.
    pub name: Name,
    /// How rows leave the last aggregators.
    pub format: Format,
    /// Kafka's `host:port`; empty for CSV.
    pub brokers: Vec<String>,
    /// URL of the schema registry; empty unless rows are Avro.
    pub registry: String,
    /// Topic, with `%S` for the schema of a row.
    pub topic: String,
    /// Folder of `store_csv` on the aggregator that stores.
    pub csv_dir: String,
    /// The source of jobs.
    pub scheduler: Scheduler,
    /// What all ldmsd have in common.
    pub ldmsd: Ldmsd,
    /// When is sampled and when collected.
    pub schedule: Schedule,
    /// Where nodes sit on routers, if the network is Aries.
    pub aries: Option<AriesMap>,
    /// Hosts of one kind, in the order of the file.
    pub classes: Vec<HostClass>,
    /// Aggregators, in the order of the file.
    pub aggregators: Vec<Aggregator>,
    /// What works but should not stay so, one sentence each.
    pub warnings: Vec<SiteProblem>,
}

/// Hosts that do the same.
#[derive(Clone, Debug, PartialEq)]
pub struct HostClass {
    /// What they are.
    pub role: Role,
    /// Their names, in the order of the file.
    pub hosts: Vec<Name>,
    /// Lustre file systems that they mount; empty: no Lustre sampler.
    pub lustre: Vec<Name>,
    /// Lustre targets that they serve.
    pub serves: Vec<LustreTarget>,
    /// Whether jobs of the scheduler run on them.
    pub jobs: bool,
    /// Ports `adapter.number` of [`Role::IbHost`]; the port through which [`Role::IbSwitches`] queries.
    pub ports: Vec<Name>,
    /// The sampler of the ports of [`Role::IbHost`].
    pub ib_sampler: IbSampler,
    /// LIDs and ports that [`Role::IbSwitches`] queries; a path on the host.
    pub lid_file: String,
    /// GUIDs and the names of switches; a path on the host.
    pub node_name_map: String,
    /// Switches that [`Role::IbSwitches`] reports, if they are known beforehand.
    pub switches: Vec<Name>,
}

/// An ldmsd that collects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aggregator {
    /// Its host.
    pub name: Name,
    /// 1 collects from samplers, 2 from aggregators of level 1.
    pub level: u8,
    /// Port on which it listens.
    pub port: u16,
    /// Hosts (level 1) or aggregators (level 2) from which it collects.
    pub takes: Vec<Name>,
}

impl Site {
    /// Reads and checks a site file.
    ///
    /// # Errors
    /// [`SiteError`] lists everything that is wrong, with line and key.
    pub fn parse(text: &str) -> Result<Site, SiteError> {
        let file = file::read(text)?;
        check::site(&file, text)
    }

    /// The level whose aggregators store rows: 2 if there is one of level 2, else 1.
    pub fn storing_level(&self) -> u8 {
        self.aggregators.iter().map(|aggregator| aggregator.level).max().unwrap_or(1)
    }

    /// Hosts that run samplers, with their class, in the order of the file.
    pub fn hosts(&self) -> impl Iterator<Item = (&Name, &HostClass)> {
        self.classes.iter().flat_map(|class| class.hosts.iter().map(move |host| (host, class)))
    }

    /// What each host reports of its Aries router; hosts that report none are absent.
    pub fn router_halves(&self) -> BTreeMap<Name, RouterHalf> {
        let hosts = self.hosts().map(|(host, class)| (host, class.role));
        self.aries.as_ref().map_or_else(BTreeMap::new, |map| map.halves(hosts))
    }

    /// Number of a host in `component_id`: the digits at the end of its name. 0, which identifies no host, where
    /// there are none or an earlier host has the number already.
    pub fn component_ids(&self) -> BTreeMap<Name, u64> {
        let mut taken = std::collections::BTreeSet::new();
        let number = |(host, _): (&Name, &HostClass)| {
            let id = aries::node_number(host).filter(|id| taken.insert(*id)).unwrap_or(0);
            (host.clone(), id)
        };
        self.hosts().map(number).collect()
    }

    /// The expected sources: producer, schema and component.
    pub fn expected(&self) -> Vec<Expected> {
        expected::of(self)
    }
}
