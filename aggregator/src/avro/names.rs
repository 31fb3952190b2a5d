//! From the name of a column in Avro back to its name in LDMS.
//!
//! `store_avro_kafka` writes `_` for whatever is neither letter, digit nor `-`, so `.` and `#` are guessed from what
//! LDMS' samplers call their metrics. A series must have one name, whichever way its rows came.

use std::borrow::Cow;

/// The LDMS name of the Avro column `name`; the same where nothing was replaced, or nothing is known of it.
pub(crate) fn ldms_name(name: &str) -> Cow<'_, str> {
    if name == "write_bytes_sum" {
        return Cow::Borrowed("write_bytes.sum");
    }
    for (written, meant) in [("job_list_", "job_list."), ("ib_nics_", "ib_nics.")] {
        if let Some(rest) = name.strip_prefix(written) {
            return Cow::Owned(format!("{meant}{rest}"));
        }
    }
    for (written, meant) in [
        ("client_write_bytes_llite_", "client.write_bytes#llite."),
        ("client_lstats_write_bytes_llite_", "client.lstats.write_bytes#llite."),
    ] {
        if let Some(rest) = name.strip_prefix(written) {
            return Cow::Owned(format!("{meant}{}", mount(rest)));
        }
    }
    named_port(name).map_or(Cow::Borrowed(name), Cow::Owned)
}

/// `ib.port_xmit_wait#mlx5_0.1` of `ib_port_xmit_wait_mlx5_0_1`.
fn named_port(name: &str) -> Option<String> {
    for (written, meant) in [
        ("ib_port_xmit_wait_", "ib.port_xmit_wait"),
        ("ib_port_xmit_data_", "ib.port_xmit_data"),
        ("port_xmit_wait_", "port_xmit_wait"),
        ("port_xmit_data_", "port_xmit_data"),
        ("ib_link_downed_", "ib.link_downed"),
        ("ib_link_error_recovery_", "ib.link_error_recovery"),
        ("link_downed_", "link_downed"),
        ("link_error_recovery_", "link_error_recovery"),
    ] {
        let Some(part) = name.strip_prefix(written) else {
            continue;
        };
        // `….rate#mlx5_0.1` is a rate that the sampler computed.
        let (adapter, port) = part.rsplit_once('_').filter(|_| !part.starts_with("rate_"))?;
        let number = !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
        return (number && !adapter.is_empty()).then(|| format!("{meant}#{adapter}.{port}"));
    }
    ["rx_bytes_", "tx_bytes_"].iter().find_map(|start| {
        let device = name.strip_prefix(start)?;
        Some(format!("{}#{device}", start.trim_end_matches('_')))
    })
}

/// A mount, `-` before the address of its superblock or the number of the mount put back.
fn mount(name: &str) -> Cow<'_, str> {
    const FSNAME_CHARACTERS_MAX: usize = 8;
    let Some((file_system, tail)) = name.rsplit_once('_') else {
        return Cow::Borrowed(name);
    };
    let address = tail.len() >= 12 && tail.bytes().all(|b| b.is_ascii_hexdigit());
    let number = tail.len() == 2 && tail.bytes().all(|b| b.is_ascii_digit());
    if address || (number && name.len() > FSNAME_CHARACTERS_MAX) {
        Cow::Owned(format!("{file_system}-{tail}"))
    } else {
        Cow::Borrowed(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_store_replaced_is_put_back() {
        for (avro, ldms) in [
            ("write_bytes_sum", "write_bytes.sum"),
            ("client_write_bytes_llite_snx11168", "client.write_bytes#llite.snx11168"),
            ("client_write_bytes_llite_my_fs", "client.write_bytes#llite.my_fs"),
            ("client_write_bytes_llite_snx11168_01", "client.write_bytes#llite.snx11168-01"),
            ("client_write_bytes_llite_a_ffff88103d6bd000", "client.write_bytes#llite.a-ffff88103d6bd000"),
            ("client_lstats_write_bytes_llite_a", "client.lstats.write_bytes#llite.a"),
            ("port_xmit_wait_mlx5_0_1", "port_xmit_wait#mlx5_0.1"),
            ("ib_port_xmit_data_mlx5_0_12", "ib.port_xmit_data#mlx5_0.12"),
            ("ib_nics_port_xmit_wait", "ib_nics.port_xmit_wait"),
            ("link_downed_mlx5_0_1", "link_downed#mlx5_0.1"),
            ("ib_link_error_recovery_mlx5_0_1", "ib.link_error_recovery#mlx5_0.1"),
            ("ib_nics_ca_name", "ib_nics.ca_name"),
            ("job_list_job_start", "job_list.job_start"),
            ("rx_bytes_eth0", "rx_bytes#eth0"),
        ] {
            assert_eq!(ldms_name(avro), ldms);
        }
    }

    #[test]
    fn other_names_stay() {
        for name in [
            "timestamp",
            "AR_RTR_0_0_INQ_PRF_INCOMING_FLIT_VC0",
            "port_xmit_wait",
            "port_xmit_wait_rate",
            "port_xmit_wait_rate_mlx5_0_1",
            "ib_port_xmit_wait_rate_mlx5_0_1",
            "ib_link_downed_rate_mlx5_0_1",
            "port_xmit_wait_",
            "port_xmit_wait__1",
            "job_name_0",
        ] {
            assert_eq!(ldms_name(name), name);
        }
    }
}
