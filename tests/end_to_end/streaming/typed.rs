//! A site of which every command is typed as README.md and docs/install.md have it.

use super::arrival::undisturbed;
use super::feed::Feed;
use super::process::{Process, Program};
use super::rows;
use super::site::Site;
use std::path::{Path, PathBuf};
use support::documents;
use support::stack::turn;

/// Second of the rows in which the process is replaced by one for each stage.
const SPLIT_TICK: u32 = 50;

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

    let stage = documents::quoted("docs/install.md", "TAILBACK_RUN__STAGES=");
    let of = |name: &str| stage.replace("detector", name).replace('…', "--config tailback.toml");
    let split = || ["aggregator", "detector", "detector", "rollup"].map(|name| runs(&folder, &of(name)));
    // Rows come all the time: after a pause of recorded rows, whose time stands still while the clock does not, the other of
    // two redundant sources may be used.
    let (mut whole, mut stages) = (Some(runs(&folder, run)), None);
    Feed::to(&site).paced(&rows::undisturbed(), 8.0, |tick| {
        if tick == SPLIT_TICK {
            whole.take().unwrap().finish();
            stages = Some(split());
        }
    });
    // Rows of a recording are old, and their sources are silent by now: that is no reason to fail to say so.
    let output = documents::typed(&folder, doctor).output().unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    assert!(output.contains("kafka") && output.contains("database"), "{output}");
    site.settles_as(undisturbed(services)).drops_equal(undisturbed(services));
    stages.unwrap().into_iter().for_each(Process::finish);
}
