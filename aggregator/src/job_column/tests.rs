use super::*;
use schemas::{Metric, Source};

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

/// Sources `nid1`, `nid2`, …, one each.
fn sources(nodes: u32) -> Sources {
    let mut sources = Sources::default();
    for node in 1..=nodes {
        let producer = name(&format!("nid{node}"));
        sources.intern(Source {
            schema: name("lustre_client"),
            component: producer.clone(),
            producer,
            metrics: vec![Metric::from_name("lustre_write_rate").unwrap()],
            set: None,
            parts: vec![name("a")],
            rank: 0,
            by_job: false,
        });
    }
    sources
}

/// Rows of node, second, `job_id`; what they make known as `job nodes start-end`.
fn events(rows: &[(u32, i64, &str)]) -> Vec<String> {
    let (sources, mut column, mut out) = (sources(3), JobColumn::default(), Vec::new());
    for (node, second, job_id) in rows {
        let time = Time(second * 1_000_000);
        column.note(&sources, SourceIndex(node - 1), time, Some(job_id.as_bytes()), &mut out);
    }
    let shown = |event: &JobEvent| {
        let nodes: Vec<&str> = event.nodes.iter().map(Name::as_str).collect();
        let seconds = |time: Time| time.0 / 1_000_000;
        let end = event.end.map_or("…".to_string(), |end| seconds(end).to_string());
        format!("{} {} {}-{end}", event.job_id, nodes.join(","), event.start.map_or(0, seconds))
    };
    out.iter().map(shown).collect()
}

#[test]
fn job_lasts_from_first_to_last_row_of_its_nodes() {
    let rows = [
        (1, 1, "0"),
        (2, 1, "0"),
        (1, 2, "7"),
        (2, 3, "7"),
        (1, 4, "7"),
        (1, 5, "8"),
        (2, 5, "7"),
        (2, 6, "0"),
        (1, 6, "8"),
    ];
    assert_eq!(events(&rows), ["7 nid1 2-…", "7 nid2 2-…", "8 nid1 5-…", "7  2-5"]);
}

#[test]
fn no_job_is_spelled_in_many_ways() {
    for none in ["0", "", "null", "-1", "00", "18446744073709551615", "a b\u{1}"] {
        assert_eq!(events(&[(1, 1, none), (1, 2, none)]), [""; 0], "{none}");
    }
    assert_eq!(events(&[(1, 1, "12.sdb")]), ["12.sdb nid1 1-…"]);
}

#[test]
fn a_silent_node_holds_up_no_end() {
    let rows = [(1, 1, "7"), (2, 1, "7"), (2, 5, "7"), (2, 200, "7"), (2, 201, "0")];
    assert_eq!(events(&rows).last().unwrap(), "7  1-200", "nid1 died");
    let rows = [(1, 1, "7"), (1, 2, "7"), (1, 4000, "0")];
    assert_eq!(events(&rows).last().unwrap(), "7  1-2");
}

#[test]
fn a_late_row_may_show_that_the_job_before_ended_later() {
    let rows = [(1, 1, "7"), (1, 10, "8"), (1, 9, "7"), (1, 11, "8")];
    assert_eq!(events(&rows), ["7 nid1 1-…", "7  1-1", "8 nid1 10-…", "7  1-9"]);
}

#[test]
fn a_late_row_may_show_that_a_job_began_earlier() {
    let rows = [(1, 1, "0"), (1, 10, "8"), (1, 8, "8"), (1, 9, "8"), (1, 20, "0")];
    assert_eq!(events(&rows), ["8 nid1 10-…", "8 nid1 8-…", "8  8-10"]);
    let rows = [(1, 1, "0"), (1, 10, "8"), (1, 20, "0"), (1, 9, "8")];
    assert_eq!(events(&rows), ["8 nid1 10-…", "8  10-10", "8 nid1 9-…"], "the job has ended");
}
