//! One server of `tests/services`.

use crate::paths::root;
use crate::skip::{servers_allowed, skip};
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Exit status of a script whose program is not available on this machine.
const NOT_AVAILABLE: i32 = 3;

/// A running server; dropping it stops the server as a crash would, and removes its own folder.
pub struct Service {
    name: &'static str,
    dir: PathBuf,
    /// Address for clients as the script prints it: host and port, a URL, or a file.
    pub address: String,
    _own: Option<tempfile::TempDir>,
}

/// The scripts.
pub fn scripts() -> PathBuf {
    root().join("tests/services")
}

fn ran(name: &str, command: &str, dir: &Path, more: &[&OsStr], variables: &[(&str, &Path)]) -> Output {
    let mut script = Command::new(scripts().join(name));
    script.arg(command).arg(dir).args(more).envs(variables.iter().copied()).stdin(Stdio::null());
    script.output().unwrap_or_else(|error| panic!("tests/services/{name} cannot be run: {error}"))
}

fn printed(name: &str, command: &str, output: Output) -> String {
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "tests/services/{name} {command} failed; TAILBACK_SKIP_SERVICES=1 skips tests with servers: {log}"
    );
    String::from_utf8(output.stdout).unwrap().trim().to_string()
}

/// Runs a script with a command for the server in `dir`; what it prints.
pub fn script(name: &str, command: &str, dir: &Path) -> String {
    // Many tests share such a server, and none of them crashes the machine.
    let variables = [("TAILBACK_PG_FSYNC", Path::new("off"))];
    printed(name, command, ran(name, command, dir, &[], &variables))
}

/// A folder that the account of a server may enter.
pub fn open_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    folder
}

impl Service {
    /// Starts a server in its own folder. `None` where servers are not allowed, or the program is not available: the
    /// running test is skipped then.
    pub fn start(name: &'static str) -> Option<Service> {
        let folder = open_folder();
        let mut service = Service::start_in(name, &folder.path().join(name), &[], &[])?;
        service._own = Some(folder);
        Some(service)
    }

    /// The same in a folder, with further arguments and variables for the script.
    pub fn start_in(
        name: &'static str,
        dir: &Path,
        more: &[&OsStr],
        variables: &[(&str, &Path)],
    ) -> Option<Service> {
        if !servers_allowed() {
            return None;
        }
        let output = ran(name, "start", dir, more, variables);
        if output.status.code() == Some(NOT_AVAILABLE) && name != "postgres" {
            skip(&format!("no {name}: {}", String::from_utf8_lossy(&output.stderr)));
            return None;
        }
        Some(Service { name, dir: dir.to_path_buf(), address: printed(name, "start", output), _own: None })
    }

    /// Runs its script with a command such as `stop`, `restart`, `kill` or `freeze`, and arguments after a space.
    pub fn command(&self, command: &str) -> String {
        let mut words = command.split(' ');
        let name = words.next().unwrap_or_default();
        let more: Vec<&OsStr> = words.map(OsStr::new).collect();
        printed(self.name, command, ran(self.name, name, &self.dir, &more, &[]))
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let stop = match self.name {
            "kafka" => "kill",
            "postgres" => "stop-immediate",
            _ => "stop",
        };
        // Also while a test fails: a second panic would end all the others.
        let _ = ran(self.name, stop, &self.dir, &[], &[]);
    }
}
