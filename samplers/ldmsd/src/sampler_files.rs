//! Files of sampler daemons: one for all hosts that do the same, and a short one a host that names it. ldmsd reads both,
//! the host's first; its `include` does not work in 4.5.3, the daemon ends with 22.

use crate::Files;
use crate::fill::{auth_line, auth_name, fill, unit, us};
use samplers::ldms;
use schemas::site::{Half, HostClass, IbSampler, LustreTarget, Role, RouterHalf, Scheduler, expected};
use schemas::{Name, Site};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Folder of these files.
const FOLDER: &str = "samplers";
/// Memory of sets: a whole router takes 31 kB (`ldms_ls -v`); a fabric has a set for each of some ten thousand ports.
const MEMORY_MB: &str = "32";
const MEMORY_SWITCHES_MB: &str = "512";
/// A server has a set for each target and job.
const MEMORY_SERVERS_MB: &str = "256";
/// Rows of tiles of an Aries router.
const TILE_ROWS: u32 = 5;

/// Adds the files.
///
/// # Errors
/// See [`fill`].
pub fn write(site: &Site, files: &mut Files) -> anyhow::Result<()> {
    let halves = site.router_halves();
    let ids = site.component_ids();
    let mut kinds: BTreeMap<Role, Vec<String>> = BTreeMap::new();
    for class in &site.classes {
        for tiles in [true, false] {
            let hosts: Vec<&Name> =
                class.hosts.iter().filter(|host| halves.contains_key(*host) == tiles).collect();
            if hosts.is_empty() {
                continue;
            }
            let text = class_file(site, class, tiles)?;
            let file = file_name(site, class.role, text, &mut kinds, files);
            for host in hosts {
                let text = host_file(site, host, ids.get(host).copied(), halves.get(host), &file);
                files.insert(in_folder(&format!("hosts/{host}.conf")), text);
            }
        }
        companions(class, files);
    }
    for half in halves.values().map(|part| part.half).collect::<BTreeSet<Half>>() {
        files.insert(in_folder(&format!("{}.metrics", half.schema())), tile_metrics(half));
    }
    Ok(())
}

fn in_folder(name: &str) -> PathBuf {
    PathBuf::from(FOLDER).join(name)
}

/// Classes of one role that do the same share a file; others get a number.
fn file_name(
    site: &Site,
    role: Role,
    text: String,
    kinds: &mut BTreeMap<Role, Vec<String>>,
    files: &mut Files,
) -> String {
    let known = kinds.entry(role).or_default();
    let at = known.iter().position(|other| *other == text).unwrap_or_else(|| {
        known.push(text.clone());
        known.len() - 1
    });
    let stem = match at {
        0 => role.name().to_string(),
        more => format!("{}_{}", role.name(), more + 1),
    };
    let dir = &site.ldmsd.conf_dir;
    let unit = unit(&format!("hosts of {stem}"), &format!("-c {dir}/hosts/%l.conf -c {dir}/{stem}.conf"));
    files.insert(in_folder(&format!("{stem}.service")), unit);
    files.insert(in_folder(&format!("{stem}.conf")), text);
    stem + ".conf"
}

/// What all hosts of a class do.
fn class_file(site: &Site, class: &HostClass, tiles: bool) -> anyhow::Result<String> {
    let schedule = &site.schedule;
    let (interval, offset) = (us(schedule.interval_ms), us(schedule.sample_offset_ms));
    let (auth, port) = (auth_line(site), site.ldmsd.port.to_string());
    let schema = expected::ib_schema(class);
    let ports = class.ports.iter().map(Name::as_str).collect::<Vec<_>>().join(",");
    let (adapter, number) = class.ports.first().and_then(|p| p.as_str().rsplit_once('.')).unwrap_or(("", ""));
    let include = if ports.is_empty() { String::new() } else { format!(" include={ports}") };
    let map = match class.node_name_map.as_str() {
        "" => String::new(),
        path => format!(" node-name-map={path}"),
    };
    let memory = match class.role {
        Role::IbSwitches => MEMORY_SWITCHES_MB,
        _ if !class.serves.is_empty() => MEMORY_SERVERS_MB,
        _ => MEMORY_MB,
    };
    let values = [
        ("MEMORY_MB", memory),
        ("AUTH", auth.as_str()),
        ("AUTH_NAME", auth_name(site)),
        ("XPRT", site.ldmsd.transport.name()),
        ("PORT", &port),
        ("CONF_DIR", &site.ldmsd.conf_dir),
        ("INTERVAL_US", &interval),
        ("OFFSET_US", &offset),
        ("SCHEMA", schema.as_ref().map_or("", Name::as_str)),
        ("PORTS", &ports),
        ("INCLUDE", &include),
        ("ADAPTER", adapter),
        ("NUMBER", number),
        ("LID_FILE", &class.lid_file),
        ("NODE_NAME_MAP", &map),
    ];
    let head = format!(
        "# Sampler of hosts of role {} at {}; hosts/<host>.conf comes before it.\n",
        class.role.name(),
        site.name
    );
    fill(&(head + &pieces(site, class, tiles)), &values)
}

fn pieces(site: &Site, class: &HostClass, tiles: bool) -> String {
    let network = match (class.role, class.ib_sampler) {
        (Role::Compute | Role::Service, _) if tiles => ldms::ARIES_ROUTER,
        (Role::Compute | Role::Service, _) => "",
        (Role::IbHost, IbSampler::Filesingle) => ldms::IB_FILESINGLE,
        (Role::IbHost, IbSampler::Sysclassib) => ldms::IB_SYSCLASSIB,
        (Role::IbHost, IbSampler::Ibmad) => ldms::IB_IBMAD,
        (Role::IbSwitches, _) => ldms::IB_SWITCHES,
        (Role::Slingshot, _) => ldms::SLINGSHOT,
    };
    let lustre = if class.lustre.is_empty() { "" } else { ldms::LUSTRE_CLIENT };
    let served = |target, piece| if class.serves.contains(&target) { piece } else { "" };
    let objects = served(LustreTarget::Ost, ldms::LUSTRE_OST);
    let metadata = served(LustreTarget::Mdt, ldms::LUSTRE_MDT);
    let jobs = if class.jobs && site.scheduler == Scheduler::Slurm { ldms::SLURM_JOBS } else { "" };
    [ldms::LISTEN, network, lustre, objects, metadata, jobs].concat()
}

fn host_file(site: &Site, host: &Name, id: Option<u64>, part: Option<&RouterHalf>, file: &str) -> String {
    let dir = &site.ldmsd.conf_dir;
    let mut text =
        format!("# ldmsd -F -c {dir}/hosts/{host}.conf -c {dir}/{file}\nenv TAILBACK_HOST={host}\n");
    text += &format!("env TAILBACK_COMPONENT_ID={}\n", id.unwrap_or(0));
    if let Some(part) = part {
        // The sampler's own name of a router has the number of its chip, of which a blade has one.
        let lines = [
            format!("env TAILBACK_ARIES_ROUTER={}a0\n", part.router),
            format!("env TAILBACK_ARIES_TILES={}\n", part.half.schema()),
        ];
        text.extend(lines);
    }
    text
}

/// Files that a class' plug-in reads.
fn companions(class: &HostClass, files: &mut Files) {
    match class.role {
        Role::IbHost if class.ib_sampler == IbSampler::Filesingle => {
            if let Some(schema) = expected::ib_schema(class) {
                files.insert(in_folder(&format!("{schema}.files")), port_files(&class.ports));
            }
        }
        Role::IbSwitches => {
            files.insert(in_folder("ib_switches.metrics"), ldms::IB_SWITCH_METRICS.to_string());
        }
        Role::Slingshot => {
            files.insert(in_folder("slingshot.counters"), ldms::SLINGSHOT_COUNTERS.to_string());
        }
        Role::IbHost | Role::Compute | Role::Service => {}
    }
}

/// `port_xmit_wait#mlx5_0.1 <file> U64 <value where it cannot be read>`.
fn port_files(ports: &[Name]) -> String {
    let mut text = String::new();
    for port in ports {
        let (adapter, number) = port.as_str().rsplit_once('.').unwrap_or((port.as_str(), "1"));
        for counter in ldms::IB_PORT_COUNTERS.lines() {
            let file = format!("/sys/class/infiniband/{adapter}/ports/{number}/counters/{counter}");
            text += &format!("{counter}#{port} {file} U64 0\n");
        }
    }
    text
}

/// Counters of the tiles of a half, by their raw names.
pub fn tile_columns(half: Half) -> Vec<String> {
    let tiles = (0..TILE_ROWS).flat_map(|row| half.columns().map(move |column| (row, column)));
    tiles
        .flat_map(|(row, column)| {
            ldms::ARIES_TILE_COUNTERS.lines().map(move |counter| format!("AR_RTR_{row}_{column}_{counter}"))
        })
        .collect()
}

fn tile_metrics(half: Half) -> String {
    tile_columns(half).join("\n") + "\n"
}
