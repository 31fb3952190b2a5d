//! Plain words: comments, log messages and error texts of the folders below avoid private words.

use regex_lite::Regex;
use std::fs;
use std::path::{Path, PathBuf};
use support::paths::root;

/// Folders that are checked.
const CHECKED: [&str; 26] = [
    "aggregator/src",
    "aggregator/tests",
    "dashboards/examples",
    "dashboards/report",
    "dashboards/src",
    "dashboards/tests",
    "deploy/doctor/src",
    "detector/alerts/src",
    "detector/src",
    "detector/stages",
    "detector/tests/fabric",
    "samplers/lab",
    "samplers/ldmsd",
    "samplers/src",
    "samplers/tests",
    "schemas/src",
    "schemas/store/src",
    "schemas/store/tests",
    "schemas/tests",
    "schemas/topology/src",
    "schemas/topology/tests",
    "src",
    "tests/benchmarks",
    "tests/end_to_end",
    "tests/load",
    "tests/support",
];

/// Words with a standard replacement: report, log, send; received; again; continue; retry; timeout; updates; no actor.
const REFUSED: [&str; 24] = [
    "tell",
    "tells",
    "told",
    "telling",
    "tellings",
    "hear",
    "hears",
    "heard",
    "anew",
    "nobody",
    "somebody",
    "anybody",
    "everybody",
    "whoever",
    "go on",
    "goes on",
    "went on",
    "trying on",
    "say of",
    "says of",
    "lets go",
    "broke down",
    "news",
    "patience",
];

fn sources(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_path_buf()];
    }
    let entries = fs::read_dir(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let files = entries.flat_map(|entry| sources(&entry.unwrap().path()));
    let files = files.filter(|file| file.extension().is_some_and(|extension| extension == "rs"));
    // This file contains the refused words.
    files.filter(|file| !file.ends_with("tests/end_to_end/words.rs")).collect()
}

/// Finds refused words in the comment and the string literals of a line, without what `{}` inserts.
struct Search {
    literal: Regex,
    inserted: Regex,
    refused: Regex,
}

impl Search {
    fn new() -> Search {
        Search {
            literal: Regex::new(r#""(?:[^"\\]|\\.)*""#).unwrap(),
            inserted: Regex::new(r"\{[^}]*\}").unwrap(),
            refused: Regex::new(&format!(r"(?i)\b(?:{})\b", REFUSED.join("|"))).unwrap(),
        }
    }

    fn first(&self, line: &str) -> Option<String> {
        let code = self.literal.replace_all(line, "\"\"");
        let comment = code.find("//").map_or("", |at| &code[at..]);
        let texts: String = self.literal.find_iter(line).map(|text| text.as_str()).collect();
        let prose = format!("{} {comment}", self.inserted.replace_all(&texts, ""));
        self.refused.find(&prose).map(|word| word.as_str().to_string())
    }
}

#[test]
fn checked_folders_use_no_refused_words() {
    let (root, search, mut found) = (root(), Search::new(), Vec::new());
    for path in CHECKED.iter().flat_map(|path| sources(&root.join(path))) {
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate() {
            if let Some(word) = search.first(line) {
                let file = path.strip_prefix(&root).unwrap_or(&path).display();
                found.push(format!("{file}:{}: {word}: {}", number + 1, line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "{} lines with refused words:\n{}", found.len(), found.join("\n"));
}

#[test]
fn refused_words_are_found_in_comments_and_literals_only() {
    let search = Search::new();
    for line in ["/// It told all.", "warn!(%error, \"trying on\");", "let a = 1; // Nobody asks."] {
        assert!(search.first(line).is_some(), "{line}");
    }
    for line in ["let told = 1;", "format!(\"{told}: https://host/path\")", "// The outlet retold it."] {
        assert_eq!(search.first(line), None, "{line}");
    }
}
