//! `tailback ldms-config` as a user runs it: the expected files of each site under `schemas/tests/sites/good` are in
//! `tests/fixtures/ldms_config/<site>`. `UPDATE_GOLDEN=1 cargo test --release --test end_to_end ldms_config` writes them again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn site(kind: &str, name: &str) -> PathBuf {
    support::paths::root().join("schemas/tests/sites").join(kind).join(name)
}

fn generate(site: &Path, out: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(crate::TAILBACK);
    command.arg("ldms-config").arg("--site").arg(site).arg("--out").arg(out).args(more).output().unwrap()
}

fn files(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(inside) = folders.pop() {
        for entry in std::fs::read_dir(&inside).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.file_name().unwrap().to_string_lossy().starts_with('.') {
                let text = std::fs::read_to_string(&path).unwrap();
                found.insert(path.strip_prefix(folder).unwrap().to_path_buf(), text);
            }
        }
    }
    found
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn each_site_gets_its_golden_files() {
    for name in ["aries", "infiniband", "slingshot"] {
        let folder = tempfile::tempdir().unwrap();
        let output = generate(&site("good", &format!("{name}.toml")), folder.path(), &[]);
        assert!(output.status.success(), "{}", stderr(&output));
        let golden = support::paths::root().join("tests/fixtures/ldms_config").join(name);
        let written = files(folder.path());
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            let _ = std::fs::remove_dir_all(&golden);
            for (path, text) in &written {
                std::fs::create_dir_all(golden.join(path).parent().unwrap()).unwrap();
                std::fs::write(golden.join(path), text).unwrap();
            }
        }
        let wanted = files(&golden);
        assert_eq!(written.keys().collect::<Vec<_>>(), wanted.keys().collect::<Vec<_>>(), "{name}");
        for (path, text) in &wanted {
            assert_eq!(&written[path], text, "{name}: {}", path.display());
        }
    }
}

#[test]
fn invalid_site_is_reported_with_its_file_and_writes_nothing() {
    for entry in std::fs::read_dir(support::paths::root().join("schemas/tests/sites/bad")).unwrap() {
        let path = entry.unwrap().path();
        let folder = tempfile::tempdir().unwrap();
        let output = generate(&path, &folder.path().join("out"), &[]);
        assert_eq!(output.status.code(), Some(1), "{}", path.display());
        let text = stderr(&output);
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            if let Some(wrong) = line.strip_prefix("# wrong: ") {
                assert!(text.contains(&format!("{}: {wrong}", path.display())), "{text}");
            }
        }
        assert!(!folder.path().join("out").exists(), "{}", path.display());
    }
}

#[test]
fn foreign_and_edited_files_are_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let site = site("good", "slingshot.toml");
    let guide = folder.path().join("README.md");
    std::fs::write(&guide, "mine").unwrap();
    let refused = generate(&site, folder.path(), &[]);
    assert!(!refused.status.success());
    assert!(stderr(&refused).contains("README.md was not written by this command"), "{}", stderr(&refused));
    assert_eq!(files(folder.path()).len(), 1, "nothing else was written");

    assert!(generate(&site, folder.path(), &["--force"]).status.success());
    assert_ne!(std::fs::read_to_string(&guide).unwrap(), "mine");
    assert!(generate(&site, folder.path(), &[]).status.success(), "its own files it may write again");

    let aggregator = folder.path().join("aggregators/agg1.conf");
    std::fs::write(&aggregator, "edited").unwrap();
    let refused = generate(&site, folder.path(), &[]);
    assert!(stderr(&refused).contains("agg1.conf was changed since it was written"), "{}", stderr(&refused));
    assert_eq!(std::fs::read_to_string(&aggregator).unwrap(), "edited");
}
