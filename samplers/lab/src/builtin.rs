//! The experiments that the binary brings along: those of the papers.

use super::experiment::Experiment;
use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "experiments"]
struct Files;

/// All of them, by name.
///
/// # Errors
/// One of them is wrong, which a test excludes.
pub fn all() -> anyhow::Result<Vec<(String, Experiment)>> {
    names().iter().map(|name| named(name)).collect()
}

/// Their names, sorted.
pub fn names() -> Vec<String> {
    let mut names: Vec<String> =
        Files::iter().filter_map(|file| Some(file.strip_suffix(".toml")?.to_string())).collect();
    names.sort();
    names
}

/// The text of one.
///
/// # Errors
/// There is none of that name; the nearest is named.
pub fn text(name: &str) -> anyhow::Result<String> {
    let Some(file) = Files::get(&format!("{name}.toml")) else {
        let names = names();
        let near = names.iter().max_by(|a, b| strsim::jaro(a, name).total_cmp(&strsim::jaro(b, name)));
        let near = near.map_or(String::new(), |near| format!("; did you mean {near}?"));
        anyhow::bail!("there is no experiment {name}{near} `tailback lab list` lists them");
    };
    Ok(String::from_utf8_lossy(&file.data).into_owned())
}

/// One of them.
///
/// # Errors
/// As [`text`].
pub fn named(name: &str) -> anyhow::Result<(String, Experiment)> {
    Ok((name.to_string(), Experiment::parse(name, &text(name)?)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_experiments_are_valid_and_name_their_source() {
        let all = all().unwrap();
        assert!(all.len() >= 20, "{}", all.len());
        for (name, experiment) in &all {
            assert!(!experiment.expectations.is_empty() && !experiment.source.is_empty(), "{name}");
            for case in experiment.cases.iter().filter(|case| case.ior.is_none() && case.has_network()) {
                let machine = case.machine.as_ref().or(experiment.machine.as_ref());
                assert!(machine.is_some(), "{name} {}", case.name);
            }
        }
        assert!(named("displaced-rung").unwrap_err().to_string().contains("did you mean"));
    }
}
