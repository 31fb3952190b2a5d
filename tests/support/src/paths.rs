//! Where things are. Build folders are shared between clones, so that a path is found when a test runs, not when it is built.

use std::path::PathBuf;
use std::process::Command;

/// The top folder of the repository.
pub fn root() -> PathBuf {
    let package = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap());
    let is_root = |folder: &&std::path::Path| folder.join("Cargo.lock").exists();
    package.ancestors().find(is_root).unwrap().to_path_buf()
}

/// The folder with the programs that were built with this test: `target/<profile>`.
pub fn programs() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().parent().unwrap().to_path_buf()
}

/// The program under test, without this process's variables of Tailback.
pub fn tailback() -> Command {
    let mut command = Command::new(programs().join("tailback"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TAILBACK_")) {
        command.env_remove(name);
    }
    command
}
