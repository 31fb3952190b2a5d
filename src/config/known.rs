//! Which keys there are, and which one was meant.

use super::rules;
use schemas::Metric;
use strsim::damerau_levenshtein;

/// What a path names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Known {
    /// A key with a value.
    Key(rules::Rule),
    /// A table of keys.
    Section,
    /// A table whose keys are librdkafka's.
    FreeTable,
    /// Nothing.
    Nothing,
}

/// Most edits between a key and what was written for it.
const EDITS_MAX: usize = 3;

/// What `path` names.
pub fn what_is(path: &str) -> Known {
    if let Some(rule) = rules::of(path) {
        return Known::Key(rule);
    }
    if rules::FREE_TABLES.contains(&path) {
        return Known::FreeTable;
    }
    if sections().iter().any(|section| section == path) { Known::Section } else { Known::Nothing }
}

/// The free table in which `path` lies, and the property's name.
pub fn free_property(path: &str) -> Option<(&'static str, &str)> {
    let inside = |table: &'static str| Some((table, path.strip_prefix(table)?.strip_prefix('.')?));
    rules::FREE_TABLES.into_iter().find_map(inside)
}

/// The sentence for a key that there is not.
pub fn no_key(path: &str) -> String {
    match nearest_keys(path).as_slice() {
        [] => format!("{path} is no key; {}", keys_beside(path)),
        nearest => format!("{path} is no key; the nearest is {}", nearest.join(" or ")),
    }
}

/// The sentence for a table that there is not.
pub fn no_section(path: &str) -> String {
    if let Some(name) = path.strip_prefix("metric.") {
        let known = Metric::all().map(Metric::name).collect::<Vec<_>>().join(", ");
        return format!("metric.{name} is no metric; there are {known}");
    }
    let mut sections = sections();
    sections.extend(rules::FREE_TABLES.map(str::to_string));
    match nearest(path, &sections, damerau_levenshtein).as_slice() {
        [] => format!("{path} is no section; {}", keys_beside("")),
        found => format!("{path} is no section; the nearest is {}", found.join(" or ")),
    }
}

/// Keys that `path` may have meant: by their spelling, or of the same name in another section.
pub fn nearest_keys(path: &str) -> Vec<String> {
    let keys: Vec<String> = rules::all().map(|(key, _)| key).collect();
    let leaf = |path: &str| path.rsplit('.').next().unwrap_or(path).to_string();
    let distance = |written: &str, known: &str| {
        let edits = damerau_levenshtein(written, known);
        if leaf(written) == leaf(known) { edits.min(1) } else { edits }
    };
    nearest(path, &keys, distance)
}

fn nearest(path: &str, known: &[String], distance: impl Fn(&str, &str) -> usize) -> Vec<String> {
    let far = EDITS_MAX.min(path.len() / 2);
    let scored: Vec<(usize, &String)> = known.iter().map(|key| (distance(path, key), key)).collect();
    let best = scored.iter().map(|(edits, _)| *edits).min().unwrap_or(usize::MAX);
    if best > far {
        return Vec::new();
    }
    scored.into_iter().filter(|(edits, _)| *edits == best).map(|(_, key)| key.clone()).collect()
}

/// What stands in the section of `path`, or the sections where it lies in none.
fn keys_beside(path: &str) -> String {
    let section = path.rsplit_once('.').map_or("", |(section, _)| section);
    if section.is_empty() || what_is(section) != Known::Section || section == "metric" {
        let sections: Vec<String> = sections().into_iter().filter(|name| !name.contains('.')).collect();
        return format!("there are model and the sections {}", sections.join(", "));
    }
    let inside =
        |(key, _): (String, rules::Rule)| Some(key.strip_prefix(section)?.strip_prefix('.')?.to_string());
    format!("[{section}] has {}", rules::all().filter_map(inside).collect::<Vec<_>>().join(", "))
}

/// Every table of keys, once.
fn sections() -> Vec<String> {
    let mut sections: Vec<String> = Vec::new();
    for (key, _) in rules::all() {
        let mut rest = key.as_str();
        while let Some((section, _)) = rest.rsplit_once('.') {
            if !sections.iter().any(|known| known == section) {
                sections.push(section.to_string());
            }
            rest = section;
        }
    }
    sections
}
