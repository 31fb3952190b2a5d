//! The documents: their relative links, and the names of the code that the architecture page gives.

use std::fs;
use std::path::{Path, PathBuf};
use support::paths::root;

/// README, CHANGELOG, CONTRIBUTING, SECURITY and the pages of `docs/`.
fn documents() -> Vec<PathBuf> {
    let pages = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let top = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"].map(|name| root().join(name));
    pages.chain(top).collect()
}

/// A heading as a link names it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn has_anchor(page: &Path, wanted: &str) -> bool {
    let text = fs::read_to_string(page).unwrap();
    text.lines().filter(|line| line.starts_with('#')).any(|line| anchor(line) == wanted)
}

#[test]
fn relative_links_lead_to_files_and_headings() {
    for page in documents() {
        let text = fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link) {
            if link.contains("://") {
                continue;
            }
            let (path, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() { page.clone() } else { page.parent().unwrap().join(path) };
            assert!(target.exists(), "{}: {link}", page.display());
            assert!(heading.is_empty() || has_anchor(&target, heading), "{}: {link}", page.display());
        }
    }
}

/// Texts between backticks.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[test]
fn functions_of_the_architecture_page_are_in_their_files() {
    let page = fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let mut checked = 0;
    for line in page.lines() {
        let cells: Vec<&str> = line.split(" | ").collect();
        let &[_, _, file, functions] = cells.as_slice() else { continue };
        let &[file] = quoted(file).as_slice() else { continue };
        if !file.ends_with(".rs") {
            continue;
        }
        let code = fs::read_to_string(root().join(file)).unwrap_or_else(|why| panic!("{file}: {why}"));
        for function in quoted(functions) {
            let starts = [format!("fn {function}("), format!("fn {function}<")];
            assert!(starts.iter().any(|start| code.contains(start)), "{file} has no function {function}");
            checked += 1;
        }
    }
    assert!(checked > 50, "{checked} functions");
}

/// Folders below `folder` that hold files, from the root of the repository; none of tests.
fn folders(folder: &str, found: &mut Vec<String>) {
    let mut holds_files = false;
    for entry in fs::read_dir(root().join(folder)).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        let is_code = !name.starts_with('.')
            && !["tests", "target", "corpus", "artifacts", "__pycache__"].contains(&name.as_str());
        match entry.file_type().unwrap().is_dir() {
            true if is_code => folders(&format!("{folder}/{name}"), found),
            true => {}
            // A crate's own folder holds its description; the code is below.
            false => {
                holds_files |=
                    !["Cargo.toml", "README.md", "tests.rs", "ACCURACY.md"].contains(&name.as_str())
            }
        }
    }
    if holds_files && folder.contains('/') {
        found.push(folder.to_string());
    }
}

#[test]
fn tree_of_the_architecture_page_has_every_folder() {
    let page = fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let (_, tree) = page.split_once("## Tree").unwrap();
    let rows = tree.lines().filter(|line| line.starts_with("| `"));
    let listed: Vec<&str> = rows.filter_map(|row| row.split(" | ").next()).flat_map(quoted).collect();
    let mut found = Vec::new();
    for top in ["src", "schemas", "samplers", "aggregator", "detector", "dashboards", "deploy"] {
        folders(top, &mut found);
    }
    let missing: Vec<_> = found.iter().filter(|folder| !listed.contains(&folder.as_str())).collect();
    assert!(missing.is_empty(), "docs/architecture.md does not list {missing:?}");
    let gone: Vec<_> = listed.iter().filter(|folder| !root().join(folder).is_dir()).collect();
    assert!(gone.is_empty(), "docs/architecture.md lists {gone:?}");
}
