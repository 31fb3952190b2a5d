//! What regions are made of: `[fabric]`.

use super::merge::Layers;
use super::rules::HOSTS_MAX;
use detector::fabric::FabricSettings;
use schemas::{Name, hostlist};

/// Settings from what is set; what is wrong is noted and left at its default. Ticks are `tick_s` long.
pub(super) fn settings(layers: &mut Layers, tick_s: f64) -> FabricSettings {
    let known_ratio = layers.number("fabric.known_ratio").unwrap_or(FabricSettings::default().known_ratio);
    FabricSettings { tick_s, known_ratio, io_servers: io_servers(layers) }
}

/// The hosts of all lists, each once, in the order of their names.
fn io_servers(layers: &mut Layers) -> Vec<Name> {
    const KEY: &str = "fabric.io_servers";
    let mut servers: Vec<Name> = Vec::new();
    for list in layers.texts(KEY) {
        match hostlist::expand(&list, HOSTS_MAX) {
            Ok(hosts) => servers.extend(hosts),
            Err(error) => layers.problem_of(KEY, format!("{KEY}: {error}")),
        }
    }
    servers.sort();
    servers.dedup();
    if servers.len() > HOSTS_MAX {
        layers.problem_of(KEY, format!("{KEY} names {} hosts, more than {HOSTS_MAX}", servers.len()));
    }
    servers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DEFAULT, Origin};

    fn layers(text: &str) -> Layers {
        let mut layers = Layers::default();
        layers.add_text(DEFAULT, &|_| Origin::Default);
        layers.add_text(text, &|line| Origin::File { file: "t.toml".into(), line });
        layers
    }

    #[test]
    fn the_default_file_says_what_the_fabric_takes_without_it() {
        let mut layers = layers("");
        assert_eq!(settings(&mut layers, 1.0), FabricSettings::default());
        assert!(layers.problems.is_empty());
    }

    #[test]
    fn lists_of_servers_are_the_hosts_in_them_each_once() {
        let mut layers =
            layers("[fabric]\nio_servers = [\"oss[02-03,01]\", \"mds1\", \"oss01\"]\nknown_ratio = 2\n");
        let found = settings(&mut layers, 0.5);
        let names: Vec<&str> = found.io_servers.iter().map(Name::as_str).collect();
        assert_eq!(names, ["mds1", "oss01", "oss02", "oss03"]);
        assert_eq!((found.known_ratio, found.tick_s), (2.0, 0.5));
    }

    #[test]
    fn what_is_no_list_of_hosts_is_refused() {
        for servers in ["[\"oss[1-\"]", "[\"\"]", "[\"a/../b\"]", "7", "[\"n[1-30000]\"]"] {
            let layers = layers(&format!("[fabric]\nio_servers = {servers}\n"));
            let problem = layers.problems.first().unwrap_or_else(|| panic!("{servers} was taken"));
            assert!(
                problem.text.starts_with("fabric.io_servers must be a list of at most"),
                "{}",
                problem.text
            );
        }
    }
}
