//! Columns and schema names of LDMS that no metric's file describes, and names of mounts.

use std::collections::HashMap;

/// Whether the column is the start of a job: no other LDMS set has it.
pub(crate) fn is_job_start(name: &str) -> bool {
    ["job_start", "job_start0", "job_list.job_start"].iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Whether the column is of a set that is known and not needed.
pub(crate) fn is_unused(name: &str) -> bool {
    const BEGINS: [&str; 10] = [
        "MemTotal",
        "MemFree",
        "AR_NIC_",
        "AR_NL_",
        "hni_",
        "hsn.",
        "nics.",
        "tel_list.",
        "rx_bytes#",
        "tx_bytes#",
    ];
    BEGINS.iter().any(|begin| name.get(..begin.len()).is_some_and(|found| found.eq_ignore_ascii_case(begin)))
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
