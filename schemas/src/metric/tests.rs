//! The files that are compiled in, files of a site, and what is wrong with broken ones.

use super::catalogue::{Catalogue, CatalogueError, ours, read_alone};
use super::pattern::Pattern;
use super::{Direction, Metric};

/// One of the files that are compiled in.
fn named(file: &str) -> (&'static str, &'static str) {
    ours().into_iter().find(|(name, _)| *name == file).unwrap()
}

#[test]
fn files_compiled_in_are_sound_and_sorted_by_name() {
    for (file, text) in ours() {
        read_alone(file, text).unwrap();
    }
    let names: Vec<&str> = Metric::all().map(Metric::name).collect();
    let mut sorted: Vec<&str> = ours().iter().map(|(file, _)| file.strip_suffix(".toml").unwrap()).collect();
    sorted.sort_unstable();
    assert_eq!(names, sorted);
    let stalls = Metric::from_name("aries_stall_ratio").unwrap();
    assert_eq!((stalls.columns(), stalls.direction(), stalls.unit()), (9, Direction::Rising, "stalls/flit"));
    assert!(stalls.has_sum() && !stalls.is_progress());
}

#[test]
fn error_names_file_and_key() {
    let (file, text) = named("lustre_write_rate.toml");
    for (old, new, wanted) in [
        ("name = \"lustre_write_rate\"", "name = \"Lustre\"", "name: must be"),
        ("unit = \"bytes/s\"", "", "missing field `unit`"),
        ("unit = \"bytes/s\"", "unit = 3", "line 5"),
        ("unit =", "units =", "unknown field `units`"),
        ("measures = \"progress\"", "measures = \"link\"", "measured_at: missing"),
        ("measures = \"progress\"", "measures = \"progress\"\nsum_of_parts = true", "sum_of_parts: only"),
        ("unit =", "names_links_of = \"aries\"\nunit =", "names_links_of: only a link's metric"),
        ("unit =", "names_links_of = \"myrinet\"\nunit =", "unknown variant `myrinet`"),
        ("direction = \"falling\"", "direction = \"rising\"", "direction: must be falling"),
        ("floor = 1.0", "floor = 0.0", "reading.floor: must be above 0"),
        ("passed = [\"write_bytes\"]", "passed = [\"writes\"]", "columns.writes: missing"),
        ("passed = [\"write_bytes\"]", "passed = []", "reading.passed: missing"),
        ("part = \"{mount}\"", "part = \"{file}\"", "must hold the placeholders of part"),
        ("llite.{mount}\", \"client.lstats", "llite.{mount}x\", \"client.lstats", "must be the end"),
        ("part_columns = [\"fs_name\", \"llite\"]", "", "give either `part`"),
    ] {
        let changed = text.replace(old, new);
        assert_ne!(changed, text, "{old}");
        let error = read_alone(file, &changed).unwrap_err().to_string();
        assert!(error.starts_with("lustre_write_rate.toml: ") && error.contains(wanted), "{wanted}: {error}");
    }
}

#[test]
fn metric_of_waits_alone_has_no_traffic() {
    let (file, text) = named("slingshot_congestion_rate.toml");
    for (old, new, wanted) in [
        ("costs = false", "costs = true", "costs: must be false without `passed`"),
        (
            "floor = 1e3",
            "floor = 1e3\nactive_per_s = 1.0",
            "reading.active_per_s: is for a metric with `passed`",
        ),
        ("waited = [\"congestion\"]", "", "reading.passed: needs at least one counter"),
        ("floor = 1e3", "floor = 1e3\ncounts = [\"a\", \"b\"]", "reading.counts: what passed"),
    ] {
        let changed = text.replace(old, new);
        assert_ne!(changed, text, "{old}");
        let error = read_alone(file, &changed).unwrap_err().to_string();
        assert!(error.contains(wanted), "{wanted}: {error}");
    }
}

#[test]
fn gauge_has_one_value_that_never_wraps() {
    let (file, text) = named("slingshot_blocked_percent.toml");
    for (old, new, wanted) in [
        ("gauge = true", "gauge = true\nwraps_at_bits = [32]", "reading.gauge: only counters wrap"),
        ("waited = [\"percentage\"]", "waited = [\"percentage\", \"more\"]", "reading.gauge: needs one name"),
    ] {
        let error = read_alone(file, &text.replace(old, new)).unwrap_err().to_string();
        assert!(error.contains(wanted), "{wanted}: {error}");
    }
    let metric = Metric::from_name("slingshot_blocked_percent").unwrap();
    assert!(metric.reading().gauge && metric.columns() == 1);
}

#[test]
fn source_without_a_part_in_its_columns_is_shown_by_others() {
    let text = include_str!("../../metrics/examples/nfs_write_rate.toml");
    read_alone("nfs_write_rate.toml", text).unwrap();
    let unknown = text.replace("recognised_by = [\"numcalls\", \"retransmitts\"]\n", "");
    let error = read_alone("nfs_write_rate.toml", &unknown).unwrap_err().to_string();
    assert!(error.contains("recognised_by: missing"), "{error}");
}

#[test]
fn waits_for_a_server_claim_no_seconds_and_have_no_link() {
    let (file, text) = named("lustre_metadata_wait.toml");
    for (old, new, wanted) in [
        ("costs = false", "costs = true", "costs: must be false for a server"),
        ("costs = false", "costs = false\nmeasured_at = \"sender\"", "measured_at: only a link has ends"),
        ("direction = \"rising\"", "direction = \"falling\"", "direction: must be rising"),
        ("rank = 0", "rank = 0\nby_job = true", "by_job: only progress"),
    ] {
        let error = read_alone(file, &text.replace(old, new)).unwrap_err().to_string();
        assert!(error.contains(wanted), "{wanted}: {error}");
    }
    let metric = Metric::from_name("lustre_metadata_wait").unwrap();
    assert!(!metric.is_link() && !metric.is_progress() && !metric.costs());
}

#[test]
fn site_file_adds_a_metric_or_replaces_ours() {
    let folder = tempfile::tempdir().unwrap();
    let empty = Catalogue::with_folder(folder.path()).unwrap_err();
    assert!(matches!(empty, CatalogueError::Empty(_)), "{empty}");
    let ours = named("lustre_write_rate.toml").1;
    let write = |file: &str, text: &str| std::fs::write(folder.path().join(file), text).unwrap();
    write("reads.toml", &ours.replace("lustre_write_rate", "site_read_rate"));
    write("ours.toml", &ours.replace("floor = 1.0", "floor = 2.0"));
    write("notes.txt", "no metric");
    let catalogue = Catalogue::with_folder(folder.path()).unwrap();
    let names: Vec<&str> = catalogue.metrics.iter().map(|facts| facts.file.name.as_str()).collect();
    let mut wanted: Vec<&str> = Metric::all().map(Metric::name).chain(["site_read_rate"]).collect();
    wanted.sort_unstable();
    assert_eq!(names, wanted);
    let replaced = names.iter().position(|name| *name == "lustre_write_rate").unwrap();
    assert_eq!(catalogue.metrics[replaced].file.reading.floor, 2.0);
    write("again.toml", ours);
    let twice = Catalogue::with_folder(folder.path()).unwrap_err().to_string();
    assert!(twice.contains("ours.toml") && twice.contains("again.toml"), "{twice}");
}

#[test]
fn pattern_finds_the_part_in_a_column() {
    let tile = Pattern::parse("AR_RTR_{row:0-5}_{column:0-7}_STALL").unwrap();
    let found = tile.values("AR_RTR_5_7_STALL").unwrap();
    assert!(found.is_exact && found.as_slice() == ["5", "7"]);
    for column in ["AR_RTR_6_0_STALL", "AR_RTR_é_0_STALL", "AR_RTR_0_0_STALLS", "AR_RTR_0"] {
        assert_eq!(tile.values(column), None, "{column}");
    }
    let found = tile.values("ar_rtr_0_1_stall").unwrap();
    assert!(!found.is_exact && found.as_slice() == ["0", "1"]);
    let port = Pattern::parse("port_xmit_wait#{port}").unwrap();
    assert_eq!(port.values("Port_Xmit_Wait#MLX5_0.1").unwrap().as_slice(), ["MLX5_0.1"]);
    assert_eq!(port.values("port_xmit_wait.rate#mlx5_0.1"), None);
    for text in ["{a}b", "{", "a}", "{}", "{a:0}", "{a:9-0}", "{a:0-1}{b:0-1}{c:0-1}{d:0-1}{e}"] {
        assert!(Pattern::parse(text).is_err(), "{text}");
    }
}
