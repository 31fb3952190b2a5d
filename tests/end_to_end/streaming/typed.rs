//! A site of which every command is typed as README.md and docs/install.md have it.

use super::arrival::undisturbed;
use super::feed::Feed;
use super::process::{Process, Program};
use super::rows;
use super::site::Site;
use std::path::{Path, PathBuf};
use support::documents;
use support::stack::turn;

/// Its configuration, under the name that the commands have.
fn folder_of(site: &Site) -> PathBuf {
    let folder = site.config.with_extension("folder");
    std::fs::create_dir(&folder).unwrap();
    std::fs::copy(&site.config, folder.join("tailback.toml")).unwrap();
    folder
}

fn runs(folder: &Path, command: &str) -> Process {
    let alone = command.replacen("tailback", "exec tailback", 1);
    Program::typed(documents::typed(folder, &alone)).start()
}

#[test]
fn readme_commands_migrate_run_and_split_a_site() {
    let Some((services, _turn)) = turn() else { return };
    let site = Site::bare(services, "typed");
    let folder = folder_of(&site);
    let block = documents::block("README.md", "tailback migrate --config");
    let commands: Vec<&str> = block.lines().map(|line| line.split('#').next().unwrap().trim()).collect();
    let &[migrate, run, doctor] = commands.as_slice() else { panic!("{block}") };
    assert!(documents::printed(&folder, migrate).contains("0001"), "{migrate} prints no migration");

    let rows = rows::undisturbed();
    // Before the first region: one that is open in the pause may end in it, which depends on the length of the pause.
    let (before, after) = rows.split_at(rows.len() / 4);
    // Before any reader: rows that are pushed faster than the clock are late for a reader at the end.
    let feed = Feed::to(&site);
    feed.all(before);
    let process = runs(&folder, run);
    // No longer than that: after a longer pause, on a slow machine, the other of two redundant sources was used.
    site.wait_until_read();
    process.finish();

    let stage = documents::quoted("docs/install.md", "TAILBACK_RUN__STAGES=");
    let of = |name: &str| stage.replace("detector", name).replace('…', "--config tailback.toml");
    feed.all(after);
    let stages = ["aggregator", "detector", "detector", "rollup"].map(|name| runs(&folder, &of(name)));
    // Rows of a recording are old, and their sources are silent by now: that is no reason to fail to say so.
    let output = documents::typed(&folder, doctor).output().unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    assert!(output.contains("kafka") && output.contains("database"), "{output}");
    site.settles_as(undisturbed(services)).drops_equal(undisturbed(services));
    stages.into_iter().for_each(Process::finish);
}
