//! What hosts collect: ports, switches, routers, jobs.

use super::{Format, HostClass, HostsFile, IbSampler, Notes, Role, Scheduler, Site, SiteFile, has_jobs};
use super::{loses_in_avro, path};
use crate::Name;
use crate::site::{Half, expected};

/// One class by itself.
pub(super) fn class(at: usize, file: &HostsFile, class: &HostClass, site: &SiteFile, notes: &mut Notes<'_>) {
    let key = |key: &str| format!("hosts[{at}].{key}");
    if class.hosts.is_empty() {
        notes.wrong(&key("names"), "no host stands there");
    }
    for port in &class.ports {
        let number = port.as_str().rsplit_once('.').and_then(|(_, number)| number.parse::<u8>().ok());
        if number.is_none_or(|number| number == 0) {
            notes.wrong(&key("ports"), format!("{port} is not adapter.number, such as mlx5_0.1"));
        }
    }
    match class.role {
        Role::IbHost => infiniband_host(&key, class, site, notes),
        Role::IbSwitches => switches(&key, class, notes),
        Role::Compute | Role::Service | Role::Slingshot => {
            let misplaced = [("ports", class.ports.is_empty()), ("sampler", file.sampler.is_none())];
            for (name, _) in misplaced.into_iter().filter(|(_, absent)| !absent) {
                let text = format!("belongs to role ib_host, this is {}", class.role.name());
                notes.wrong(&key(name), text);
            }
        }
    }
    let lustre = !class.lustre.is_empty() || !class.serves.is_empty();
    let something = lustre || class.jobs && site.scheduler == Scheduler::Slurm;
    if !something && site.aries.is_none() && matches!(class.role, Role::Compute | Role::Service) {
        notes.wrong(
            &key("role"),
            format!("{}: nothing to sample; name lustre, serves or [aries]", class.role.name()),
        );
    }
    if file.jobs == Some(true) && site.scheduler == Scheduler::None {
        notes.wrong(&key("jobs"), "true, but scheduler is \"none\": no jobs would be reported");
    }
}

fn infiniband_host(key: &dyn Fn(&str) -> String, class: &HostClass, site: &SiteFile, notes: &mut Notes<'_>) {
    let sampler = class.ib_sampler;
    if class.ports.is_empty() && sampler != IbSampler::Ibmad {
        let text = format!("{} needs the ports, such as [\"mlx5_0.1\"]: they become columns", sampler.name());
        notes.wrong(&key("ports"), text);
    }
    if site.format == Format::Avro {
        if let Some(port) = class.ports.iter().find(|port| port.as_str().contains('-')) {
            let text =
                format!("{port} becomes part of a schema's name, and Avro refuses names with a hyphen");
            notes.wrong(&key("ports"), text);
        }
        if loses_in_avro(sampler) {
            let text = format!(
                "{}: its column `port` has 32 bits without sign, which the store writes as 0 in Avro: ports could not \
                 be distinguished; take filesingle, sysclassib or format = \"json\"",
                sampler.name()
            );
            notes.wrong(&key("sampler"), text);
        }
    }
    if sampler != IbSampler::Filesingle {
        let text = format!(
            "{} reads port_xmit_wait as 32 bits: on wide links (4x and more) it soon stops at 4294967295 and stays \
             there until `perfquery -R`; prefer filesingle",
            sampler.name()
        );
        notes.warn(&key("sampler"), text);
    }
}

fn switches(key: &dyn Fn(&str) -> String, class: &HostClass, notes: &mut Notes<'_>) {
    if class.ports.len() != 1 {
        notes.wrong(
            &key("ports"),
            "name the one local port through which the switches are queried, [\"mlx5_0.1\"]",
        );
    }
    path(&key("lid_file"), &class.lid_file, notes);
    if !class.node_name_map.is_empty() {
        path(&key("node_name_map"), &class.node_name_map, notes);
    } else if !class.switches.is_empty() {
        notes.wrong(
            &key("node_name_map"),
            "switches have names only with a node_name_map; else they are GUID_<hex>",
        );
    }
    if class.hosts.len() > 1 {
        let text = "each of these hosts queries all switches of lid_file; split the file for fewer datagrams";
        notes.warn(&key("names"), text);
    }
}

/// Routers, and what Avro does to jobs.
pub(super) fn check(site: &Site, notes: &mut Notes<'_>) {
    routers(site, notes);
    if site.format == Format::Avro && has_jobs(site) {
        let text = "\"avro\": the store writes columns of 32 bits without sign as 0, start and end of jobs among them; \
                    job rows go to Kafka as JSON";
        notes.warn("format", text);
    }
}

fn routers(site: &Site, notes: &mut Notes<'_>) {
    let Some(map) = &site.aries else { return };
    let halves = site.router_halves();
    let copies = expected::copies(&halves);
    let of_router = |router: &Name, side| copies.get(&(router.clone(), side)).copied().unwrap_or(0);
    let (mut bare, mut thin) = (Vec::new(), Vec::new());
    let mut routers: Vec<&Name> = halves.values().map(|half| &half.router).collect();
    routers.dedup();
    let mut seen = std::collections::BTreeSet::new();
    for router in routers.into_iter().filter(|router| seen.insert(*router)) {
        for (side, columns) in [(Half::Left, "columns 0 to 3"), (Half::Right, "columns 4 to 7")] {
            match of_router(router, side) {
                0 => bare.push(format!("{router} {columns}")),
                count if count < map.redundancy => thin.push(format!("{router} {columns}")),
                _ => {}
            }
        }
    }
    if !bare.is_empty() {
        notes.wrong("aries.redundancy", format!("no host reports {}; add the hosts", shortened(&bare)));
    }
    if !thin.is_empty() {
        let text = format!("{}, but {} has one reporter", map.redundancy, shortened(&thin));
        notes.warn("aries.redundancy", text);
    }
    off_the_map(site, notes);
}

fn off_the_map(site: &Site, notes: &mut Notes<'_>) {
    let Some(map) = &site.aries else { return };
    for (at, class) in site.classes.iter().enumerate() {
        if matches!(class.role, Role::Compute | Role::Service) {
            let lost: Vec<String> =
                class.hosts.iter().filter(|host| !map.has(host)).map(ToString::to_string).collect();
            if !lost.is_empty() {
                let text = format!("aries.routers has no router for {}", shortened(&lost));
                notes.wrong(&format!("hosts[{at}].names"), text);
            }
        }
    }
}

/// The first few, and how many more.
pub(super) fn shortened(names: &[String]) -> String {
    const SHOWN: usize = 3;
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
