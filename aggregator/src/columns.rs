//! Column names of LDMS schemas, and their meaning.

use crate::family::Family;
use crate::names::{Base, OTHER_CASE};
use std::collections::HashMap;

/// What one column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column<'a> {
    Base(Base),
    /// Cname of an Aries router.
    Router,
    /// A counter of an Aries tile: 0 stall, 1 to 8 flits of virtual channel 0 to 7.
    Tile {
        row: u8,
        column: u8,
        slot: u32,
    },
    /// Channel adapter of the one port of the row.
    Adapter(Family),
    /// Number of that port.
    Port(Family),
    /// A counter of that port: 0 wait, 1 data words.
    PortCounter(Family, u32),
    /// A counter of one of several ports, which is named in the column.
    NamedPort(Family, &'a str, u32),
    /// A counter of the life of a port's link: 0 went down, 1 recovered from errors. The port is named in the column, or
    /// empty where it is the one of the row.
    LinkCounter(Family, &'a str, u32),
    FileSystem,
    Llite,
    /// Bytes written through the mount of the row.
    WriteBytes,
    /// Bytes written through one of several mounts, which is named in the column.
    NamedMount(&'a str),
    /// Start of a job: no other LDMS set has it.
    JobStart,
    /// Sets of Lustre servers count bytes under the same names as clients.
    LustreServer,
    /// A set that is known and not needed.
    Unused,
    Other,
}

impl<'a> Column<'a> {
    /// What the column called `name` (see [`crate::names::plain`]) holds, and how far the name is from LDMS' own: of
    /// two columns with the same meaning the nearer one counts.
    pub(crate) fn of(name: &'a str) -> (Column<'a>, u8) {
        if let Some((base, far)) = Base::of(name) {
            return (Column::Base(base), far);
        }
        match Column::spelled(name) {
            Column::Other => (Column::in_other_case(name), OTHER_CASE),
            known => (known, 0),
        }
    }

    /// A column whose name has other capitals than LDMS', or `_` instead of its dot.
    fn in_other_case(name: &'a str) -> Column<'a> {
        const CAPITALS: [&str; 4] =
            ["PortXmitWait", "PortXmitData", "LinkDownedCounter", "LinkErrorRecoveryCounter"];
        if let Some(known) = CAPITALS.iter().find(|known| known.eq_ignore_ascii_case(name)) {
            return Column::spelled(known);
        }
        if name.get(..7).is_some_and(|begin| begin.eq_ignore_ascii_case("ar_rtr_")) {
            return tile(&name[7..].to_ascii_uppercase()).unwrap_or(Column::Other);
        }
        let lower = name.to_ascii_lowercase();
        if lower == "write_bytes_sum" {
            return Column::WriteBytes;
        }
        // What names a part keeps its case: it stands at the end.
        let part = |part: &str| &name[name.len() - part.len()..];
        match Column::spelled(&lower) {
            Column::NamedPort(family, named, slot) => Column::NamedPort(family, part(named), slot),
            Column::LinkCounter(family, named, slot) => Column::LinkCounter(family, part(named), slot),
            Column::NamedMount(named) => Column::NamedMount(part(named)),
            Column::Base(base) => Column::Base(base),
            Column::Router => Column::Router,
            Column::Tile { row, column, slot } => Column::Tile { row, column, slot },
            Column::Adapter(family) => Column::Adapter(family),
            Column::Port(family) => Column::Port(family),
            Column::PortCounter(family, slot) => Column::PortCounter(family, slot),
            Column::FileSystem => Column::FileSystem,
            Column::Llite => Column::Llite,
            Column::WriteBytes => Column::WriteBytes,
            Column::JobStart => Column::JobStart,
            Column::LustreServer => Column::LustreServer,
            Column::Unused => Column::Unused,
            Column::Other => Column::Other,
        }
    }

    /// The column that LDMS calls `name`.
    fn spelled(name: &'a str) -> Column<'a> {
        match name {
            "aries_rtr_id" => Column::Router,
            "ca_name" => Column::Adapter(Family::Ibmad),
            "port" => Column::Port(Family::Ibmad),
            "ib_nics.ca_name" => Column::Adapter(Family::IbmadRecords),
            "ib_nics.port" => Column::Port(Family::IbmadRecords),
            "switch_port" => Column::Port(Family::Ibnet),
            "PortXmitWait" => Column::PortCounter(Family::Ibnet, 0),
            "PortXmitData" => Column::PortCounter(Family::Ibnet, 1),
            "LinkDownedCounter" => Column::LinkCounter(Family::Ibnet, "", 0),
            "LinkErrorRecoveryCounter" => Column::LinkCounter(Family::Ibnet, "", 1),
            "fs_name" => Column::FileSystem,
            "llite" => Column::Llite,
            "write_bytes.sum" => Column::WriteBytes,
            "job_start" | "job_start0" | "job_list.job_start" => Column::JobStart,
            "ost" | "mdt" => Column::LustreServer,
            _ => Column::of_pattern(name),
        }
    }

    fn of_pattern(name: &'a str) -> Column<'a> {
        if let Some(rest) = name.strip_prefix("AR_RTR_") {
            return tile(rest).unwrap_or(Column::Other);
        }
        let (family, counter) = match name.strip_prefix("ib_nics.") {
            Some(counter) => (Family::IbmadRecords, counter),
            None => (Family::Ibmad, name),
        };
        if let Some(slot) = port_slot(counter) {
            return Column::PortCounter(family, slot);
        }
        if let Some(slot) = link_slot(counter) {
            return Column::LinkCounter(family, "", slot);
        }
        if let Some((counter, part)) = name.split_once('#') {
            return named_part(counter, part);
        }
        const UNUSED: [&str; 5] = ["MemTotal", "MemFree", "AR_NIC_", "AR_NL_", "hni_"];
        if UNUSED.iter().any(|start| name.starts_with(start)) { Column::Unused } else { Column::Other }
    }
}

fn port_slot(name: &str) -> Option<u32> {
    match name {
        "port_xmit_wait" => Some(0),
        "port_xmit_data" => Some(1),
        _ => None,
    }
}

fn link_slot(name: &str) -> Option<u32> {
    match name {
        "link_downed" => Some(0),
        "link_error_recovery" => Some(1),
        _ => None,
    }
}

fn named_part<'a>(counter: &str, part: &'a str) -> Column<'a> {
    let (family, of_port) = match counter.strip_prefix("ib.") {
        Some(counter) => (Family::Sysclassib, counter),
        None => (Family::IbSysfs, counter),
    };
    if let Some(slot) = port_slot(of_port) {
        return Column::NamedPort(family, part, slot);
    }
    if let Some(slot) = link_slot(of_port) {
        return Column::LinkCounter(family, part, slot);
    }
    match (counter, part.strip_prefix("llite.")) {
        // LDMS before 4.4 writes `lstats`.
        ("client.write_bytes" | "client.lstats.write_bytes", Some(mount)) => Column::NamedMount(mount),
        ("rx_bytes" | "tx_bytes", _) => Column::Unused,
        _ => Column::Other,
    }
}

/// `<row>_<column>_INQ_PRF_…`: rows 0 to 4 are network tiles, row 5 are processor tiles.
fn tile(rest: &str) -> Option<Column<'static>> {
    let &[row @ b'0'..=b'5', b'_', column @ b'0'..=b'7', b'_', ..] = rest.as_bytes() else {
        return None;
    };
    let slot = match rest.get(4..)? {
        "INQ_PRF_ROWBUS_STALL_CNT" => 0,
        counter => match counter.strip_prefix("INQ_PRF_INCOMING_FLIT_VC")?.as_bytes() {
            [channel @ b'0'..=b'7'] => u32::from(channel - b'0') + 1,
            _ => return None,
        },
    };
    Some(Column::Tile { row: row - b'0', column: column - b'0', slot })
}

/// `lustre_client` of topic `ldms.lustre_client`, file `ldms-asis.lustre_client_0aba9c8.jsonl` or schema
/// `lustre_client_0aba9c8`: without topic prefix, ending and digest of the metric list.
pub fn base_schema(name: &str) -> &str {
    let name = name
        .strip_suffix(".jsonl")
        .or_else(|| name.strip_suffix(".json"))
        .or_else(|| name.strip_suffix(".csv"))
        .unwrap_or(name);
    let name = match name.split_once('.') {
        Some((prefix, rest)) if prefix.starts_with("ldms") => rest,
        _ => name,
    };
    match name.rsplit_once('_') {
        Some((base, digest)) if is_digest(digest) && !base.is_empty() => base,
        _ => name,
    }
}

fn is_digest(text: &str) -> bool {
    text.len() == 7 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether `schema` (see [`base_schema`]) is one that LDMS brings along and Tailback has no use for.
pub(crate) fn is_unused_schema(schema: &str) -> bool {
    const NAMES: [&str; 22] = [
        "meminfo",
        "vmstat",
        "loadavg",
        "procstat",
        "procstat2",
        "procnetdev",
        "procnetdev2",
        "procinterrupts",
        "procdiskstats",
        "procnfs",
        "netdev",
        "ipmireader",
        "edac",
        "dstat",
        "coretemp",
        "rapl",
        "kgnilnd",
        "aries_nic",
        "metric_set_nic",
        "opa2",
        "linux_proc_sampler",
        "app_sampler",
    ];
    NAMES.contains(&schema) || schema.starts_with("lustre_ost") || schema.starts_with("lustre_mdt")
}

/// File systems of the mounts of one row, in their order.
///
/// `lustre2_client` names a mount `snx11168`, `snx11168-ffff88103d6bd000` (with the address of its superblock)
/// or `snx11168-01` (the second mount since boot), `lustre_client` always gives `snx11168`: all of them must
/// give one series. So the address goes, and so do two digits behind what cannot be the name of a file system
/// because Lustre allows that only 8 characters: `home-01` is a name and stays. Mounts of one row that
/// would become equal keep their full names, since they have counters of their own.
pub(crate) fn file_systems(mounts: &[&str]) -> Vec<String> {
    let short: Vec<&str> = mounts.iter().map(|mount| file_system(mount)).collect();
    let mut uses: HashMap<&str, usize> = HashMap::new();
    for name in &short {
        *uses.entry(name).or_default() += 1;
    }
    let unique = |name: &str| uses.get(name) == Some(&1);
    let pairs = mounts.iter().zip(&short);
    pairs
        .map(|(full, short)| if unique(short) { (*short).to_string() } else { (*full).to_string() })
        .collect()
}

/// File system of a row of `lustre_client`. LDMS cuts `fs_name` at the first dash: `home` for `home-01` and `home-02`; the
/// llite directory, `<file system>-<address of the superblock>`, has the whole name. `None` where the two do not agree.
pub(crate) fn file_system_of_llite<'a>(llite: &'a str, fs_name: &str) -> Option<&'a str> {
    let (name, address) = llite.rsplit_once('-')?;
    let is_address = address.len() >= ADDRESS_DIGITS_MIN && address.bytes().all(|b| b.is_ascii_hexdigit());
    let rest = name.strip_prefix(fs_name)?;
    (is_address && (rest.is_empty() || rest.starts_with('-'))).then_some(name)
}

/// Least digits of the address of a superblock, in hexadecimal.
const ADDRESS_DIGITS_MIN: usize = 8;

fn file_system(mount: &str) -> &str {
    const FSNAME_CHARACTERS_MAX: usize = 8;
    match mount.rsplit_once('-') {
        Some((name, address)) if address.len() >= 12 && address.bytes().all(|b| b.is_ascii_hexdigit()) => {
            name
        }
        Some((name, number))
            if mount.len() > FSNAME_CHARACTERS_MAX
                && number.len() == 2
                && number.bytes().all(|b| b.is_ascii_digit()) =>
        {
            name
        }
        _ => mount,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_every_schema_are_recognised() {
        let tile = |row, column, slot| Column::Tile { row, column, slot };
        for (name, column) in [
            ("AR_RTR_0_1_INQ_PRF_ROWBUS_STALL_CNT", tile(0, 1, 0)),
            ("AR_RTR_5_7_INQ_PRF_INCOMING_FLIT_VC7", tile(5, 7, 8)),
            ("AR_RTR_0_1_INQ_PRF_INCOMING_PKT_VC0_FILTER_FLIT0_CNT", Column::Other),
            ("AR_RTR_6_0_INQ_PRF_ROWBUS_STALL_CNT", Column::Other),
            ("AR_RTR_é_0_INQ_PRF_ROWBUS_STALL_CNT", Column::Other),
            ("port_xmit_wait", Column::PortCounter(Family::Ibmad, 0)),
            ("port_xmit_wait.rate", Column::Other),
            ("ib_nics.port_xmit_data", Column::PortCounter(Family::IbmadRecords, 1)),
            ("ib.port_xmit_data#mlx5_0.1", Column::NamedPort(Family::Sysclassib, "mlx5_0.1", 1)),
            ("ib.port_xmit_data.rate#mlx5_0.1", Column::Other),
            ("port_xmit_wait#mlx5_0.1", Column::NamedPort(Family::IbSysfs, "mlx5_0.1", 0)),
            ("link_downed", Column::LinkCounter(Family::Ibmad, "", 0)),
            ("ib_nics.link_error_recovery", Column::LinkCounter(Family::IbmadRecords, "", 1)),
            ("ib.link_downed#mlx5_0.1", Column::LinkCounter(Family::Sysclassib, "mlx5_0.1", 0)),
            ("ib.link_downed.rate#mlx5_0.1", Column::Other),
            ("link_downed#mlx5_0.1", Column::LinkCounter(Family::IbSysfs, "mlx5_0.1", 0)),
            ("LinkDownedCounter", Column::LinkCounter(Family::Ibnet, "", 0)),
            ("client.lstats.write_bytes#llite.snx11168", Column::NamedMount("snx11168")),
            ("AR_NIC_NETMON_ORB_EVENT_CNTR_REQ_PKTS", Column::Unused),
            ("portxmitwait", Column::PortCounter(Family::Ibnet, 0)),
            ("ar_rtr_0_1_inq_prf_rowbus_stall_cnt", tile(0, 1, 0)),
            ("Port_Xmit_Wait#MLX5_0.1", Column::NamedPort(Family::IbSysfs, "MLX5_0.1", 0)),
            ("FS_Name", Column::FileSystem),
            ("write_bytes_sum", Column::WriteBytes),
        ] {
            assert_eq!(Column::of(name).0, column, "{name}");
        }
    }

    #[test]
    fn a_schema_is_found_in_topics_and_file_names() {
        for (name, schema) in [
            ("ldms.aries_rtr", "aries_rtr"),
            ("ldms-asis.metric_set_rtr_0_2_c_bb88d77.jsonl", "metric_set_rtr_0_2_c"),
            ("mt-slurm_5d68ee2", "mt-slurm"),
            ("meminfo", "meminfo"),
            ("_5d68ee2", "_5d68ee2"),
        ] {
            assert_eq!(base_schema(name), schema);
        }
    }

    #[test]
    fn a_name_that_ldms_cut_at_a_dash_is_whole_again() {
        for (llite, cut, whole) in [
            ("home-01-ffff88103d6bd000", "home", Some("home-01")),
            ("ib-lfs-ffff9a1b2c3d4000", "ib", Some("ib-lfs")),
            ("a-b-c-00000000deadbeef", "a", Some("a-b-c")),
            ("snx11168-ffff88103d6bd000", "snx11168", Some("snx11168")),
            ("snx11168-ffff0", "snx11168", None),
            ("home-01", "home", None),
            ("homes-ffff88103d6bd000", "home", None),
            ("other-ffff88103d6bd000", "home", None),
        ] {
            assert_eq!(file_system_of_llite(llite, cut), whole, "{llite}");
        }
    }

    #[test]
    fn mounts_of_one_file_system_agree() {
        for mount in ["snx11168", "snx11168-01", "snx11168-ffff88103d6bd000"] {
            assert_eq!(file_systems(&[mount]), ["snx11168"]);
        }
        assert_eq!(file_systems(&["home-01", "home-02"]), ["home-01", "home-02"]);
        assert_eq!(file_systems(&["snx11168", "snx11168-01"]), ["snx11168", "snx11168-01"]);
    }
}
