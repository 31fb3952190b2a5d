//! Rows of the lab as LDMS' samplers write them: `ib_sysfs` of a host, `ibnet` of a switch's port, `aries_rtr` of a router,
//! `aries_nic`, `lustre_client` and `lustre_osc` of a node, `lustre_ost` of a server.

use super::FILE_SYSTEM;
use super::counters::is_port;
use crate::ldms_rows::{put_number, put_time};
use schemas::{CounterBatch, LINK_COLUMNS, Metric, Source, Sources};

/// Appends a line of JSON for each row of InfiniBand's ports in `batch`.
pub fn put_port_rows(out: &mut Vec<u8>, sources: &Sources, batch: &CounterBatch) {
    for (number, time, counters) in batch.rows() {
        let Some(source) = sources.get(number).filter(|source| source.reports(is_port)) else {
            continue;
        };
        let (rates, links) = counters.split_at(source.counters());
        put_time(out, time);
        let producer = source.producer.as_str();
        out.extend_from_slice(format!(",\"producer\":\"{producer}\"").as_bytes());
        for (part_index, links) in links.chunks_exact(LINK_COLUMNS).enumerate() {
            put_port(out, source, part_index, rates, links);
        }
        out.extend_from_slice(b"}\n");
    }
}

/// Appends a line of JSON for each row of a router in `batch`.
pub fn put_router_rows(out: &mut Vec<u8>, sources: &Sources, batch: &CounterBatch) {
    for (number, time, counters) in batch.rows() {
        let Some(source) = sources.get(number).filter(|source| source.reports(Metric::has_sum)) else {
            continue;
        };
        put_time(out, time);
        let (producer, router) = (source.producer.as_str(), source.component.as_str());
        let head =
            format!(",\"producer\":\"{producer}\",\"job_id\":0,\"app_id\":0,\"aries_rtr_id\":\"{router}a0\"");
        out.extend_from_slice(head.as_bytes());
        for (part, counters) in
            source.parts.iter().zip(counters.chunks_exact(source.counters() / source.parts.len().max(1)))
        {
            // A tile's label is r0c3, its columns begin with AR_RTR_0_3.
            let tile = part.as_str().trim_start_matches('r').replace('c', "_");
            for (at, counter) in counters.iter().enumerate() {
                let key = match at.checked_sub(1) {
                    None => format!(",\"AR_RTR_{tile}_INQ_PRF_ROWBUS_STALL_CNT\":"),
                    Some(channel) => format!(",\"AR_RTR_{tile}_INQ_PRF_INCOMING_FLIT_VC{channel}\":"),
                };
                out.extend_from_slice(key.as_bytes());
                put_number(out, *counter);
            }
        }
        out.extend_from_slice(b"}\n");
    }
}

/// Appends a line of JSON for each row of an Aries interface in `batch`.
pub fn put_nic_rows(out: &mut Vec<u8>, sources: &Sources, batch: &CounterBatch) {
    for (number, time, counters) in batch.rows() {
        let Some(source) = sources.get(number).filter(|source| source.schema.as_str() == "aries_nic") else {
            continue;
        };
        let ([stalled, flits], [router]) = (counters, source.parts.as_slice()) else { continue };
        put_time(out, time);
        let head = format!(
            ",\"producer\":\"{}\",\"job_id\":0,\"app_id\":0,\"aries_rtr_id\":\"{router}\",\
             \"AR_NIC_NETMON_ORB_EVENT_CNTR_REQ_FLITS\":",
            source.producer
        );
        out.extend_from_slice(head.as_bytes());
        put_number(out, *flits);
        out.extend_from_slice(b",\"AR_NIC_NETMON_ORB_EVENT_CNTR_REQ_STALLED\":");
        put_number(out, *stalled);
        out.extend_from_slice(b"}\n");
    }
}

/// Appends a line of JSON for each row of a Lustre client in `batch`.
pub fn put_client_rows(out: &mut Vec<u8>, sources: &Sources, batch: &CounterBatch) {
    for (number, time, counters) in batch.rows() {
        let Some(source) = sources.get(number).filter(|source| source.reports(Metric::is_progress)) else {
            continue;
        };
        let (read, written) = counters.split_at(source.parts.len());
        for (mount, (read, written)) in source.parts.iter().zip(read.iter().zip(written)) {
            put_time(out, time);
            let producer = source.producer.as_str();
            let head = format!(
                ",\"producer\":\"{producer}\",\"job_id\":0,\"app_id\":0,\"fs_name\":\"{mount}\",\
                 \"llite\":\"{mount}-ffff880000000000\",\"read_bytes.sum\":"
            );
            out.extend_from_slice(head.as_bytes());
            put_number(out, *read);
            out.extend_from_slice(b",\"write_bytes.sum\":");
            put_number(out, *written);
            out.extend_from_slice(b"}\n");
        }
    }
}

/// Appends a line of JSON for each row of a Lustre client's requests in `batch`.
pub fn put_wait_rows(out: &mut Vec<u8>, sources: &Sources, batch: &CounterBatch) {
    for (number, time, counters) in batch.rows() {
        let Some(source) = sources.get(number).filter(|source| source.schema.as_str() == "lustre_osc") else {
            continue;
        };
        let ([waited, requests], [mount]) = (counters, source.parts.as_slice()) else { continue };
        put_time(out, time);
        let head = format!(
            ",\"producer\":\"{}\",\"job_id\":0,\"app_id\":0,\"fs_name\":\"{mount}\",\"connections\":1,\
             \"req_waittime__count\":",
            source.producer
        );
        out.extend_from_slice(head.as_bytes());
        put_number(out, *requests);
        out.extend_from_slice(b",\"req_waittime__sum\":");
        put_number(out, *waited);
        out.extend_from_slice(b"}\n");
    }
}

/// Appends a line of JSON for each row of an OST in `batch`.
pub fn put_target_rows(out: &mut Vec<u8>, sources: &Sources, batch: &CounterBatch) {
    for (number, time, counters) in batch.rows() {
        let Some(source) = sources.get(number).filter(|source| source.schema.as_str() == "lustre_ost") else {
            continue;
        };
        let ([read, written], [ost]) = (counters, source.parts.as_slice()) else { continue };
        put_time(out, time);
        let head = format!(
            ",\"producer\":\"{}\",\"fs_name\":\"{FILE_SYSTEM}\",\"ost\":\"{ost}\",\"commitrw\":0,\
             \"read_bytes.sum\":",
            source.producer
        );
        out.extend_from_slice(head.as_bytes());
        put_number(out, *read);
        out.extend_from_slice(b",\"write_bytes.sum\":");
        put_number(out, *written);
        out.extend_from_slice(b"}\n");
    }
}

/// The columns of a port: of congestion, where it has them; wait, words sent, went down, recovered from errors.
fn put_port(out: &mut Vec<u8>, source: &Source, part_index: usize, rates: &[u64], links: &[u64]) {
    let (part, is_switch) = (&source.parts[part_index], source.schema.as_str() == "ibnet");
    if is_switch {
        out.extend_from_slice(format!(",\"switch_port\":{part}").as_bytes());
    }
    let end = if is_switch { String::new() } else { format!("#{part}") };
    let mut put = |names: &[&str], counters: &[u64]| {
        for (name, counter) in names.iter().zip(counters) {
            out.extend_from_slice(format!(",\"{name}{end}\":").as_bytes());
            put_number(out, *counter);
        }
    };
    for (number, metric) in source.metrics.iter().enumerate() {
        let columns = source.columns_of(number * source.parts.len() + part_index);
        let names: &[&str] = match metric.name() {
            "ib_congested_ratio" => &["PortXmitTimeCong"],
            "ib_fecn_ratio" => &["PortPktRcvFECN", "PortRcvPkts"],
            _ if is_switch => &["PortXmitWait", "PortXmitData"],
            _ => &["port_xmit_wait", "port_xmit_data"],
        };
        put(names, &rates[columns]);
    }
    let names = match is_switch {
        true => ["LinkDownedCounter", "LinkErrorRecoveryCounter"],
        false => ["link_downed", "link_error_recovery"],
    };
    put(&names, links);
}
