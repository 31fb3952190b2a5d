//! Rows by means of a map of columns, without regard to speed.

use super::{Expected, Row};
use schemas::{DropReason, Metric, NOT_MEASURED, Name};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

type Columns = BTreeMap<String, Box<RawValue>>;

pub fn oracle(line: &[u8]) -> Expected {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Expected::Skipped;
    }
    let columns = serde_json::from_str::<Columns>(&String::from_utf8_lossy(line)).ok();
    let Some(columns) = columns.map(named_as_ldms_does) else {
        return Expected::Dropped(vec![DropReason::InvalidJson]);
    };
    match wanted(&columns) {
        Ok(None) => Expected::Job,
        Ok(Some(wanted)) => values(&columns, &wanted).map_or_else(Expected::Dropped, Expected::Row),
        Err(reason) => Expected::Dropped(vec![reason]),
    }
}

/// Columns under LDMS' own names; an exact name takes precedence over another case.
fn named_as_ldms_does(columns: Columns) -> Columns {
    let (own, other): (Columns, Columns) = columns.into_iter().partition(|(name, _)| own_name(name) == *name);
    let mut named: Columns = other.into_iter().map(|(name, raw)| (own_name(&name), raw)).collect();
    named.extend(own);
    named
}

fn own_name(name: &str) -> String {
    let name = name.trim();
    let name = name.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or(name);
    let name = name.strip_suffix(".value").unwrap_or(name);
    if let Some((list, member)) = name.strip_suffix(']').and_then(|name| name.split_once('[')) {
        return own_name(&format!("{list}.{member}"));
    }
    for list in ["ib_nics", "job_list"] {
        if let Some(member) = name.strip_prefix(&format!("{list}_")) {
            return own_name(&format!("{list}.{member}"));
        }
    }
    let lower = name.to_ascii_lowercase();
    let known = match lower.as_str() {
        "time" | "ts" | "m_timestamp" | "epoch" => "timestamp",
        "producername" | "m_producer" | "prdcr" | "producer_name" | "hostname" | "nodename" | "host" => {
            "producer"
        }
        "comp_id" | "compid" => "component_id",
        "jobid" => "job_id",
        "write_bytes_sum" => "write_bytes.sum",
        "read_bytes_sum" => "read_bytes.sum",
        _ => "",
    };
    if !known.is_empty() {
        return known.to_string();
    }
    if lower.starts_with("ar_rtr_") {
        return name.to_ascii_uppercase();
    }
    match name.split_once('#') {
        Some((counter, part)) => format!("{}#{part}", counter.to_ascii_lowercase()),
        None if ["AR_", "Mem"].iter().any(|start| name.starts_with(start)) => name.to_string(),
        None => lower,
    }
}

struct Wanted {
    schema: &'static str,
    texts: Vec<&'static str>,
    parts: Parts,
    /// Columns of the life of links, which may be there or not.
    links: BTreeMap<String, Vec<String>>,
}

/// Operations of which a client may count some; it always counts the first.
const OPERATIONS: [&str; 16] = [
    "open", "close", "getattr", "setattr", "readdir", "create", "link", "unlink", "symlink", "mkdir",
    "rmdir", "mknod", "rename", "statfs", "getxattr", "setxattr",
];

/// Counters of an Ethernet port, which has no rows of its own here: with one of them alone a row is of a known schema.
const OF_ROCE: [&str; 6] = [
    "port_xmit_packets",
    "port_rcv_packets",
    "hw.rp_cnp_handled",
    "hw.np_ecn_marked_roce_packets",
    "hw.roce_adp_retrans",
    "hw.roce_slow_restart",
];

/// Metrics of a Lustre client with their counters.
const LUSTRE: [(&str, &[&str]); 3] = [
    ("lustre_metadata_rate", &OPERATIONS),
    ("lustre_read_rate", &["read_bytes"]),
    ("lustre_write_rate", &["write_bytes"]),
];

fn metric(name: &str) -> Metric {
    Metric::from_name(name).unwrap()
}

/// The parts with all their counters; a part that lacks a metric that others have keeps that without columns.
fn whole(parts: Parts, columns: &Columns) -> Parts {
    let has_all = |(metric, _): &(Metric, String), names: &Vec<String>| {
        let needed = if metric.name() == "lustre_metadata_rate" { &names[..1] } else { names };
        needed.iter().all(|name| columns.contains_key(name))
    };
    let whole: Parts = parts.into_iter().filter(|(key, names)| has_all(key, names)).collect();
    let mut filled = whole.clone();
    for (metric, _) in whole.keys() {
        for (_, part) in whole.keys() {
            filled.entry((*metric, part.clone())).or_default();
        }
    }
    filled
}

/// What a row must have; `None` for a job row.
fn wanted(columns: &Columns) -> Result<Option<Wanted>, DropReason> {
    let Some(wanted) = recognise(columns)? else {
        return if columns.contains_key("timestamp") || columns.contains_key("Time") {
            Ok(None)
        } else {
            Err(DropReason::MissingTimestamp)
        };
    };
    let named = !wanted.parts.is_empty();
    if named && wanted.parts.keys().any(|(_, part)| !part.is_empty() && Name::parse(part).is_err()) {
        return Err(DropReason::BadName);
    }
    let missing = wanted.texts.iter().any(|name| !columns.contains_key(*name));
    if !named || missing {
        return Err(DropReason::MissingColumn);
    }
    if !columns.contains_key("timestamp") && !columns.contains_key("Time") {
        return Err(DropReason::MissingTimestamp);
    }
    Ok(Some(wanted))
}

type Parts = BTreeMap<(Metric, String), Vec<String>>;
type Counters = BTreeMap<(Metric, String), Vec<u64>>;

fn make(columns: &Columns, schema: &'static str, texts: &[&'static str], parts: Parts) -> Wanted {
    let parts = whole(parts, columns);
    let links = links(columns, schema, &parts);
    Wanted { schema, texts: texts.to_vec(), parts, links }
}

/// Columns of the life of each part's link; nothing if the row has none of them.
fn links(columns: &Columns, schema: &str, parts: &Parts) -> BTreeMap<String, Vec<String>> {
    let prefix = match schema {
        "sysclassib" => "ib.",
        "ibmad_records" => "ib_nics.",
        "ib_sysfs" | "ibmad" => "",
        _ => return BTreeMap::new(),
    };
    let of_part = |part: &String| {
        let end = if part.is_empty() { String::new() } else { format!("#{part}") };
        ["link_downed", "link_error_recovery"].map(|name| format!("{prefix}{name}{end}")).to_vec()
    };
    let all: BTreeMap<String, Vec<String>> =
        parts.keys().map(|(_, part)| (part.clone(), of_part(part))).collect();
    if all.values().flatten().any(|name| columns.contains_key(name)) { all } else { BTreeMap::new() }
}

/// What the columns are about; `None` for jobs.
fn recognise(columns: &Columns) -> Result<Option<Wanted>, DropReason> {
    let has = |name: &str| columns.contains_key(name);
    let found = tiles(columns)
        .or_else(|| named_ports(columns))
        .or_else(|| mounts(columns))
        .or_else(|| single_mount(columns))
        .or_else(|| interface(columns))
        .or_else(|| single_port(columns));
    let of_roce = |name: &String| OF_ROCE.iter().any(|counter| name.starts_with(&format!("{counter}#")));
    if found.is_none() && columns.keys().any(of_roce) {
        return Err(DropReason::MissingColumn);
    }
    if found.is_some() || ["job_start", "job_list.job_start", "job_start0"].into_iter().any(has) {
        return Ok(found);
    }
    let unused = ["MemTotal", "MemFree", "AR_NIC_", "AR_NL_", "rx_bytes#", "tx_bytes#"];
    Err(if columns.keys().any(|column| unused.iter().any(|start| column.starts_with(start))) {
        DropReason::UnusedSchema
    } else if has("aries_rtr_id") {
        DropReason::MissingColumn
    } else {
        DropReason::UnknownSchema
    })
}

fn tiles(columns: &Columns) -> Option<Wanted> {
    let mut tiles = Parts::new();
    for (row, column) in (0..6).flat_map(|row| (0..8).map(move |column| (row, column))) {
        let mut names = vec![format!("AR_RTR_{row}_{column}_INQ_PRF_ROWBUS_STALL_CNT")];
        names.extend((0..8).map(|vc| format!("AR_RTR_{row}_{column}_INQ_PRF_INCOMING_FLIT_VC{vc}")));
        if names.iter().any(|name| columns.contains_key(name)) {
            tiles.insert((metric("aries_stall_ratio"), format!("r{row}c{column}")), names);
        }
    }
    (!tiles.is_empty()).then(|| make(columns, "aries_rtr", &["aries_rtr_id"], tiles))
}

fn named_ports(columns: &Columns) -> Option<Wanted> {
    for (schema, prefix) in [("ib_sysfs", ""), ("sysclassib", "ib.")] {
        let names = ["wait", "data"].map(|what| format!("{prefix}port_xmit_{what}#"));
        let port =
            |column: &String| names.iter().find_map(|name| Some(column.strip_prefix(name)?.to_string()));
        let of_port = |port: String| {
            (
                (metric("ib_wait_ratio"), port.clone()),
                names.iter().map(|name| format!("{name}{port}")).collect(),
            )
        };
        let parts: Parts = columns.keys().filter_map(port).map(of_port).collect();
        if !parts.is_empty() {
            return Some(make(columns, schema, &[], parts));
        }
    }
    None
}

fn mounts(columns: &Columns) -> Option<Wanted> {
    let mount = |column: &String| {
        let (name, mount) = column.strip_prefix("client.")?.split_once("#llite.")?;
        let is_known = OPERATIONS.contains(&name) || ["read_bytes", "write_bytes"].contains(&name);
        is_known.then(|| mount.to_string())
    };
    let mut parts = Parts::new();
    for mount in columns.keys().filter_map(mount) {
        let name = mount.strip_suffix("-01").unwrap_or(&mount).to_string();
        let of = |counter: &&str| format!("client.{counter}#llite.{mount}");
        for (of_metric, counters) in LUSTRE {
            parts.insert((metric(of_metric), name.clone()), counters.iter().map(of).collect());
        }
    }
    (!parts.is_empty()).then(|| make(columns, "lustre2_client", &[], parts))
}

fn single_mount(columns: &Columns) -> Option<Wanted> {
    let has = |name: &str| columns.contains_key(name);
    let column = |counter: &&str| match *counter {
        "read_bytes" | "write_bytes" => format!("{counter}.sum"),
        operation => operation.to_string(),
    };
    let part = |(of_metric, counters): (&str, &[&str])| {
        ((metric(of_metric), String::new()), counters.iter().map(column).collect())
    };
    let parts: Parts = LUSTRE.map(part).into_iter().collect();
    let counts = parts.values().flatten().any(|name| has(name));
    (counts || (has("fs_name") && has("llite"))).then(|| {
        // An empty text names no mount, and harms nothing.
        let named = columns.get("llite").is_some_and(|llite| llite.get() != "\"\"");
        let texts: &[&str] = if named { &["fs_name", "llite"] } else { &["fs_name"] };
        make(columns, "lustre_client", texts, parts)
    })
}

fn interface(columns: &Columns) -> Option<Wanted> {
    let names = ["STALLED", "FLITS"].map(|what| format!("AR_NIC_NETMON_ORB_EVENT_CNTR_REQ_{what}"));
    let of_nic = || Parts::from([((metric("aries_nic_stall_ratio"), String::new()), names.to_vec())]);
    names
        .iter()
        .any(|name| columns.contains_key(name))
        .then(|| make(columns, "aries_nic", &["aries_rtr_id"], of_nic()))
}

fn single_port(columns: &Columns) -> Option<Wanted> {
    for (schema, prefix, texts) in [
        ("ibmad_records", "ib_nics.", ["ib_nics.ca_name", "ib_nics.port"]),
        ("ibmad", "", ["ca_name", "port"]),
    ] {
        let names = ["wait", "data"].map(|what| format!("{prefix}port_xmit_{what}")).to_vec();
        if columns.contains_key(texts[0]) || names.iter().any(|name| columns.contains_key(name)) {
            let parts = Parts::from([((metric("ib_wait_ratio"), String::new()), names)]);
            return Some(make(columns, schema, &texts, parts));
        }
    }
    None
}

fn text(raw: &str) -> Option<String> {
    if raw.starts_with('"') {
        return serde_json::from_str(raw).ok();
    }
    raw.bytes().all(|b| b.is_ascii_digit()).then(|| raw.to_string())
}

fn values(columns: &Columns, wanted: &Wanted) -> Result<Row, Vec<DropReason>> {
    let get = |name: &str| columns.get(name).map(|raw| raw.get());
    let time = get("timestamp").or(get("Time")).and_then(micros);
    let time = time.ok_or(vec![DropReason::BadTimestamp])?;
    let mut wrong = Vec::new();
    let mut parts = Counters::new();
    for (key, names) in &wanted.parts {
        let results = names.iter().map(|name| get(name).map_or(Ok(NOT_MEASURED), counter));
        let counters = results.map(|read| {
            read.unwrap_or_else(|reason| {
                wrong.push(reason);
                NOT_MEASURED
            })
        });
        let counters: Vec<u64> = counters.collect();
        let columns = key.0.columns();
        parts.insert(key.clone(), if names.is_empty() { vec![NOT_MEASURED; columns] } else { counters });
    }
    let first = parts.keys().next().map(|(metric, _)| *metric);
    let is_read = |((metric, _), counters): (&(Metric, String), &Vec<u64>)| {
        let needed = if metric.name() == "lustre_metadata_rate" { &counters[..1] } else { counters };
        !needed.contains(&NOT_MEASURED)
    };
    if parts.keys().any(|(metric, _)| Some(*metric) != first) && parts.iter().any(is_read) {
        // What another metric lacks costs that one alone.
        wrong.clear();
    }
    let texts: Vec<Option<String>> = wanted.texts.iter().map(|name| text(get(name).unwrap())).collect();
    let producer = get("producer").filter(|raw| *raw != "null").map(text);
    if texts.contains(&None) || producer == Some(None) {
        wrong.push(DropReason::BadValue);
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let texts: Vec<String> = texts.into_iter().flatten().collect();
    let producer = producer.flatten().filter(|name| !name.is_empty()).or_else(|| node(get("component_id")));
    let producer = producer.ok_or(vec![DropReason::Unattributable])?;
    let measured = |name: &String| get(name).and_then(|raw| counter(raw).ok()).unwrap_or(NOT_MEASURED);
    let of_links =
        |(part, names): (&String, &Vec<String>)| (part.clone(), names.iter().map(measured).collect());
    let links = wanted.links.iter().map(of_links).collect();
    row(wanted, time, producer, &texts, (parts, links))
}

/// The file system of a mount: LDMS cuts its name at the first dash, its directory has all of it and an address.
fn mounted(texts: &[String]) -> String {
    let mut words: Vec<&str> = texts.get(1).map_or(Vec::new(), |llite| llite.split('-').collect());
    let address = words.pop().unwrap_or_default();
    let is_address = address.len() >= 8 && address.chars().all(|c| c.is_ascii_hexdigit());
    let first: Vec<&str> = texts[0].split('-').collect();
    if is_address && words.starts_with(&first) { words.join("-") } else { texts[0].clone() }
}

fn node(component_id: Option<&str>) -> Option<String> {
    let number = component_id?.parse::<u64>().ok().filter(|id| *id != 0)?;
    Some(format!("nid{number:05}"))
}

fn row(
    wanted: &Wanted,
    time: i64,
    producer: String,
    texts: &[String],
    (mut parts, mut links): (Counters, BTreeMap<String, Vec<u64>>),
) -> Result<Row, Vec<DropReason>> {
    let part = match wanted.schema {
        "ibmad" | "ibmad_records" => Some(format!("{}.{}", texts[0], texts[1])),
        "lustre_client" => Some(mounted(texts)),
        "aries_nic" => Some(texts[0].clone()),
        _ => None,
    };
    if let Some(part) = &part {
        parts = parts.into_iter().map(|((metric, _), counters)| ((metric, part.clone()), counters)).collect();
        links = links.into_values().map(|counters| (part.clone(), counters)).collect();
    }
    let component = match wanted.schema {
        "aries_rtr" => router(&texts[0]),
        _ => producer.clone(),
    };
    let is_bad = |name: &str| Name::parse(name).is_err();
    if is_bad(&producer) || texts.iter().chain(&part).chain([&component]).any(|name| is_bad(name)) {
        return Err(vec![DropReason::BadName]);
    }
    let schema = wanted.schema.to_string();
    Ok(Row { time, schema, producer, component, parts, links })
}

fn router(cname: &str) -> String {
    let blade = cname.trim_end_matches(|c: char| c.is_ascii_digit());
    match blade.strip_suffix('a') {
        Some(router) if blade.len() < cname.len() && !router.is_empty() => router.to_string(),
        _ => cname.to_string(),
    }
}

fn counter(raw: &str) -> Result<u64, DropReason> {
    match raw.parse::<u64>() {
        Ok(value) => Ok(value),
        Err(_) if raw.starts_with('-') && raw[1..].bytes().all(|b| b.is_ascii_digit()) => {
            Err(DropReason::NegativeCounter)
        }
        Err(_) => Err(DropReason::BadValue),
    }
}

/// Microseconds by means of whole numbers of 128 bits; of seconds, milli-, micro- or nanoseconds, whichever give a year that is
/// believed.
fn micros(raw: &str) -> Option<i64> {
    let micros = if raw.contains(['e', 'E']) {
        (raw.parse::<f64>().ok()? * 1e6).round() as i128
    } else {
        let (whole, fraction) = raw.split_once('.').unwrap_or((raw, "0"));
        let fraction: String = fraction.chars().chain("000000".chars()).take(6).collect();
        format!("{whole}{fraction}").parse::<i128>().ok()?
    };
    let years = 946_684_800_000_000..8_993_721_600_000_000;
    let units: &[i128] = if raw.contains(['e', 'E']) { &[1] } else { &[1, 1_000, 1_000_000, 1_000_000_000] };
    let of_units = units.iter().map(|unit| micros / unit);
    of_units.filter(|micros| years.contains(micros)).map(|micros| micros as i64).next()
}
