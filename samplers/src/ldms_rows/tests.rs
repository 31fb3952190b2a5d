//! Tests of the row format against recorded rows.

use super::*;

/// The keys of a recorded row, in order, and the values that fix a format.
const RECORDED_CLIENT: &str = r#"{"timestamp":1795217419.002470,"producer":"nid00002","instance":"nid00002/snx11168-ffff881f2a40b800","component_id":2,"job_id":0,"app_id":0,"fs_name":"snx11168","llite":"snx11168-ffff881f2a40b800","dirty_pages_hits":0,"dirty_pages_misses":0,"read_bytes.sum":17698816,"write_bytes.sum":1137273995264,"open":1200,"close":1192,"fsync":0,"getattr":2400,"statfs":0}"#;
const RECORDED_JOB: &str = r#"{"timestamp":1795217667.234920,"producer":"nid00002","instance":"nid00002/slurm2","component_id":2,"job_id":8,"app_id":0,"user":"bob","job_name":"post proc","job_uid":1002,"job_start":1795217667,"job_end":0,"node_count":1,"task_count":2}"#;
/// Beginning of a recorded row, values of the counters left out.
const RECORDED_ROUTER: &str = r#"{"timestamp":1795217418.002482,"producer":"nid00001","instance":"nid00001/aries_rtr_mmr","component_id":1,"job_id":0,"app_id":0,"aries_rtr_id":"c0-0c0s0a0","AR_RTR_0_0_INQ_PRF_INCOMING_FLIT_VC0":1,"AR_RTR_0_1_INQ_PRF_INCOMING_FLIT_VC0":1,"AR_RTR_0_0_INQ_PRF_INCOMING_FLIT_VC1":1,"AR_RTR_0_1_INQ_PRF_INCOMING_FLIT_VC1":1}"#;

fn keys(line: &str) -> Vec<String> {
    let between = line.trim().trim_matches(['{', '}']).split(",\"");
    between.map(|part| part.trim_start_matches('"').split("\":").next().unwrap().to_string()).collect()
}

fn text(line: Vec<u8>) -> String {
    let text = String::from_utf8(line).unwrap();
    serde_json::from_str::<serde_json::Value>(&text).unwrap();
    text
}

#[test]
fn a_client_row_has_the_recorded_keys_and_formats() {
    let mut line = Vec::new();
    let row =
        ClientRow { time: Time(1_795_217_419_002_470), job: 0, written: 1_137_273_995_264.0, second: 0 };
    RowWriter::new(4).client(&mut line, 2, row);
    let line = text(line);
    assert_eq!(keys(&line), keys(RECORDED_CLIENT));
    let pairs = line.trim_end().split(',').zip(RECORDED_CLIENT.split(','));
    let differing = pairs.filter(|(ours, recorded)| ours != recorded).count();
    assert_eq!(differing, 5, "instance, fs_name, llite, page counters: {line}");
}

#[test]
fn a_job_row_is_the_recorded_one_to_the_byte() {
    let mut line = Vec::new();
    let row = JobRow {
        time: Time(1_795_217_667_234_920),
        node: 2,
        job: 8,
        user: "bob".into(),
        name: "post proc".into(),
        uid: 1002,
        start: 1_795_217_667,
        end: 0,
        node_count: 1,
        task_count: 2,
    };
    put_job(&mut line, &row);
    assert_eq!(text(line).trim_end(), RECORDED_JOB);
}

#[test]
fn a_router_row_has_the_recorded_keys_in_the_recorded_order() {
    let counters = [[1; CHANNELS + 1]; 40];
    let row = |node| {
        let mut line = Vec::new();
        RowWriter::new(4).router(&mut line, node, 0, Time(1_795_217_418_002_482), &counters);
        text(line)
    };
    let (left, right) = (keys(&row(0)), keys(&row(1)));
    let recorded = keys(RECORDED_ROUTER);
    assert_eq!(left[..recorded.len()], recorded[..]);
    assert_eq!(left.len(), 187, "as many as the recorded row");
    assert_eq!(left[186], "AR_RTR_4_3_INQ_PRF_ROWBUS_STALL_CNT");
    assert_eq!(left[97], "AR_RTR_0_2_INQ_PRF_INCOMING_FLIT_VC0");
    assert_eq!(right[7], "AR_RTR_0_4_INQ_PRF_INCOMING_FLIT_VC0");
    let head = r#"{"timestamp":1795217418.002482,"producer":"nid00001","instance":"nid00001/aries_rtr_mmr","component_id":1,"job_id":0,"app_id":0,"aries_rtr_id":"c0-0c0s0a0","#;
    assert!(row(1).starts_with(head) && RECORDED_ROUTER.starts_with(head));
}

#[test]
fn numbers_and_times_keep_every_digit() {
    let mut out = Vec::new();
    for value in [0, 7, 10, 4_294_967_296, u64::MAX] {
        out.clear();
        put_number(&mut out, value);
        assert_eq!(text(out.clone()), value.to_string());
    }
    out.clear();
    put_time(&mut out, Time(1_000_042));
    assert_eq!(out, b"{\"timestamp\":1.000042");
}
