//! The reference of the keys in `docs/configuration.md`, made from the comments of `default.toml`.
//! `UPDATE_GOLDEN=1 cargo tests reference::documented` writes it again.

use super::DEFAULT;
use support::paths::root;

const BEGIN: &str = "<!-- begin: generated from src/config/default.toml -->\n";
const END: &str = "<!-- end: generated -->\n";
const TABLE: &str = "\n| key | default | meaning |\n|---|---|---|\n";

/// A heading for each section, a row for each key.
fn reference() -> String {
    let (_, keys) = DEFAULT.split_once("\n\n").unwrap();
    let mut out = String::from("\n### Top level\n");
    let (mut comment, mut in_table) = (String::new(), false);
    for line in keys.lines().filter(|line| !line.starts_with("# ---")) {
        let text = line.strip_prefix('#').unwrap_or(line);
        if line.starts_with('[') {
            out += &format!("\n### `{line}`\n");
            if !comment.is_empty() {
                out += &format!("\n{}\n", comment.trim());
            }
            (comment, in_table) = (String::new(), false);
        } else if text.starts_with(|c: char| c.is_ascii_lowercase()) {
            let (key, default) = text.split_once(" = ").unwrap();
            if !in_table {
                out += TABLE;
                in_table = true;
            }
            let varies = if line.starts_with('#') { "varies: " } else { "" };
            let meaning = comment.trim().replace('|', "\\|").replace('<', "&lt;");
            out += &format!("| `{key}` | {varies}`{default}` | {meaning} |\n");
            comment = String::new();
        } else if text.starts_with("   ") {
            comment += &format!(" `{}`", text.trim());
        } else if !text.trim().is_empty() {
            comment += &format!(" {}", text.trim());
        }
    }
    out + "\n"
}

#[test]
fn documented_keys_are_those_of_the_default_file() {
    let path = root().join("docs/configuration.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let made = format!("{before}{BEGIN}{}{END}{after}", reference());
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &made).unwrap();
    } else {
        assert!(page == made, "docs/configuration.md is stale: UPDATE_GOLDEN=1 writes it again");
    }
}
