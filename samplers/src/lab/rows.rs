//! Rows of the lab as LDMS' samplers write them: `ib_sysfs` of a host, `ibnet` of a switch's port, `aries_rtr` of a router,
//! `lustre_client` of a node.

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
        let ports = rates
            .chunks_exact(source.counters() / source.parts.len().max(1))
            .zip(links.chunks_exact(LINK_COLUMNS));
        for (part_index, (rates, links)) in ports.enumerate() {
            put_port(out, source, part_index, [rates[0], rates[1], links[0], links[1]]);
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

/// The columns of a port: wait, words sent, went down, recovered from errors.
fn put_port(out: &mut Vec<u8>, source: &Source, part_index: usize, counters: [u64; 4]) {
    let part = &source.parts[part_index];
    let is_switch = source.schema.as_str() == "ibnet";
    let names = if is_switch {
        out.extend_from_slice(format!(",\"switch_port\":{part}").as_bytes());
        ["PortXmitWait", "PortXmitData", "LinkDownedCounter", "LinkErrorRecoveryCounter"]
    } else {
        ["port_xmit_wait", "port_xmit_data", "link_downed", "link_error_recovery"]
    };
    for (name, counter) in names.into_iter().zip(counters) {
        let end = if is_switch { String::new() } else { format!("#{part}") };
        out.extend_from_slice(format!(",\"{name}{end}\":").as_bytes());
        put_number(out, counter);
    }
}
