//! Readers of topologies, on small files of the tools' forms in `readers/fixtures`.
mod aggregation_nodes;
mod contradictions;
mod descriptions;
mod forms;
mod hosts;
mod mutated;
mod point_to_point;

use topology::readers::{TopologyReading, read_texts};

/// Text of a fixture.
fn fixture(name: &str) -> String {
    let root = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    std::fs::read_to_string(format!("{root}/tests/readers/fixtures/{name}")).unwrap()
}

/// Fixtures read as one topology.
fn read(names: &[&str]) -> TopologyReading {
    let files: Vec<(String, String)> = names.iter().map(|name| (name.to_string(), fixture(name))).collect();
    read_texts(&files).unwrap()
}

/// One text read alone.
fn read_text(text: &str) -> TopologyReading {
    read_texts(&[("net".to_string(), text.to_string())]).unwrap()
}
