//! Expected sources: a row for each producer, schema and component, so that a silent one is known by name.

use super::{AriesMap, Half, HostClass, IbSampler, Role, RouterHalf, Scheduler, Site};
use crate::Name;
use std::collections::BTreeMap;

/// One set of rows that should come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The `producer` column of the rows.
    pub producer: Name,
    /// Schema of the rows as ldmsd writes it, the last word of the topic: `aries_rtr_left`, `lustre_client`.
    pub schema: Name,
    /// What [`crate::Source::schema`] calls it, once decoded: `aries_rtr`, `lustre_client`.
    pub source_schema: Name,
    /// What the rows are about: a router (cname), a switch or a node.
    pub component: Name,
    /// Producers that should report the same counters of this component, this one counted.
    pub copies: usize,
    /// Rows come with events of jobs, not each tick: their absence has no meaning.
    pub event_driven: bool,
}

/// Schema of the rows that [`Role::IbHost`] sends: the ports stand in the names of the columns, so other ports are
/// another schema.
pub fn ib_schema(class: &HostClass) -> Option<Name> {
    let ports = || class.ports.iter().map(Name::as_str).collect::<Vec<_>>().join("_").replace('.', "_");
    let schema = match class.ib_sampler {
        IbSampler::Filesingle => format!("ib_sysfs_{}", ports()),
        IbSampler::Sysclassib => format!("sysclassib_{}", ports()),
        IbSampler::Ibmad => "ibmad".to_string(),
    };
    Name::parse(&schema).ok()
}

fn source_schema(class: &HostClass) -> &'static str {
    match class.ib_sampler {
        IbSampler::Filesingle => "ib_sysfs",
        IbSampler::Sysclassib => "sysclassib",
        IbSampler::Ibmad => "ibmad",
    }
}

pub(super) fn of(site: &Site) -> Vec<Expected> {
    let halves = site.router_halves();
    let copies = copies(&halves);
    let mut all = Vec::new();
    for (host, class) in site.hosts() {
        let mut add = |schema: &str, source: &str, component: &Name, copies, event_driven| {
            if let (Ok(schema), Ok(source_schema)) = (Name::parse(schema), Name::parse(source)) {
                let (producer, component) = (host.clone(), component.clone());
                all.push(Expected { producer, schema, source_schema, component, copies, event_driven });
            }
        };
        if let Some(half) = halves.get(host) {
            let copies = copies_of(half, &copies);
            add(half.half.schema(), "aries_rtr", &half.router, copies, false);
        }
        if !class.lustre.is_empty() {
            add("lustre_client", "lustre_client", host, 1, false);
        }
        // Counts by job come only while jobs use the target.
        for target in &class.serves {
            let [schema, _] = target.schemas();
            add(schema, schema, host, 1, false);
        }
        match class.role {
            Role::IbHost => {
                let schema = ib_schema(class);
                add(schema.as_ref().map_or("", Name::as_str), source_schema(class), host, 1, false);
            }
            Role::Slingshot => add("slingshot", "slingshot", host, 1, false),
            Role::Compute | Role::Service | Role::IbSwitches => {}
        }
        if class.jobs && site.scheduler == Scheduler::Slurm {
            add("slurm_jobs", "slurm_jobs", host, 1, true);
        }
        // ibnet names each set's producer after the switch, not after the host that queries.
        let switches = class.switches.iter().filter(|_| class.role == Role::IbSwitches);
        all.extend(switches.filter_map(switch_rows));
    }
    all
}

fn switch_rows(switch: &Name) -> Option<Expected> {
    let schema = Name::parse("ibnet").ok()?;
    Some(Expected {
        producer: switch.clone(),
        source_schema: schema.clone(),
        schema,
        component: switch.clone(),
        copies: 1,
        event_driven: false,
    })
}

/// Reporters of each half of each router.
pub(super) fn copies(halves: &BTreeMap<Name, RouterHalf>) -> BTreeMap<(Name, Half), usize> {
    let mut copies = BTreeMap::new();
    for half in halves.values() {
        for side in [Half::Left, Half::Right] {
            *copies.entry((half.router.clone(), side)).or_default() += usize::from(half.half.covers(side));
        }
    }
    copies
}

fn copies_of(half: &RouterHalf, copies: &BTreeMap<(Name, Half), usize>) -> usize {
    let sides = [Half::Left, Half::Right].into_iter().filter(|side| half.half.covers(*side));
    sides.filter_map(|side| copies.get(&(half.router.clone(), side)).copied()).min().unwrap_or(0)
}

impl AriesMap {
    /// Whether a node of this number sits on a router of the map.
    pub fn has(&self, host: &Name) -> bool {
        super::aries::node_number(host).is_some_and(|nid| self.router(nid).is_some())
    }
}
