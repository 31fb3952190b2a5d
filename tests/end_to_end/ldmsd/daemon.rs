//! Processes of ldmsd.

use super::site::Installed;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use support::skip::skip;

/// The program; without one the test is skipped with the places that were searched.
pub fn ldmsd() -> Option<PathBuf> {
    let named = std::env::var_os("TAILBACK_LDMSD").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<PathBuf> = std::env::split_paths(&path).map(|folder| folder.join("ldmsd")).collect();
    places.push("/opt/ovis/sbin/ldmsd".into());
    if let Some(named) = named {
        assert!(named.is_file(), "TAILBACK_LDMSD is {}, which is no file", named.display());
        return Some(named);
    }
    let found = places.into_iter().find(|place| place.is_file());
    if found.is_none() {
        skip("no ldmsd in PATH nor /opt/ovis/sbin; set TAILBACK_LDMSD to test with a real one");
    }
    found
}

/// Whether a plug-in can be loaded.
pub fn has_plugin(program: &Path, plugin: &str) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("load.conf");
    std::fs::create_dir(folder.path().join("proc_fs")).unwrap();
    std::fs::write(&file, format!("load name={plugin}\n")).unwrap();
    outcome(program, &["-c".into(), file.to_string_lossy().into_owned()], folder.path()).is_ok()
}

/// Starts it with these arguments; waits until all files were processed, or it ended: then its log.
fn outcome(program: &Path, arguments: &[String], folder: &Path) -> Result<(), String> {
    let last = arguments.last().unwrap();
    let mut daemon = Daemon::spawn(program, arguments, folder);
    let begin = Instant::now();
    while begin.elapsed() < super::TIMEOUT {
        let ended = daemon.child.try_wait().unwrap();
        let log = daemon.log_text();
        if log.contains(&format!("Processing the config file '{last}' is done")) {
            return Ok(());
        }
        if ended.is_some() {
            return Err(log);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Err(format!("nothing happened: {}", daemon.log_text()))
}

/// Why a command of the site is refused. ldmsd ends at the first line that it does not take. If that is for want of an
/// InfiniBand adapter, which the line's plug-in opened, the lines of that plug-in are taken out and the rest is tried.
pub fn refusal(program: &Path, arguments: &[String], installed: &Installed) -> Option<String> {
    let log = outcome(program, arguments, installed.folder()).err()?;
    let text = std::fs::read_to_string(arguments.last().unwrap()).unwrap();
    // libibumad prints this error itself; ldmsd's own log may lack its last lines when it ends.
    let plugins =
        ["sysclassib", "ibnet"].into_iter().filter(|_| log.contains("can't open UMAD port (mlx5_0:1)"));
    let Some(plugin) = plugins.into_iter().find(|plugin| text.contains(&format!("load name={plugin}\n")))
    else {
        return Some(log);
    };
    println!("{plugin}: its line was understood, no adapter is here; the other lines are tried without it");
    let rest: String = text
        .lines()
        .filter(|line| !line.contains(&format!("name={plugin}")))
        .map(|l| l.to_string() + "\n")
        .collect();
    let without = installed.folder().join(format!("without_{plugin}.conf"));
    std::fs::write(&without, rest).unwrap();
    let mut arguments = arguments.to_vec();
    *arguments.last_mut().unwrap() = without.to_string_lossy().into_owned();
    outcome(program, &arguments, installed.folder()).err()
}

/// Whether this user may give a process mounts of its own, which a Lustre server's files need.
pub fn has_mounts() -> bool {
    Command::new("unshare").args(["-m", "true"]).output().is_ok_and(|output| output.status.success())
}

/// A program of an installation of LDMS. An installation outside the system's folders names its libraries and plug-ins in the
/// environment (`docs/install.md`): those beside the program are searched behind what the environment names, as cargo names folders too.
pub fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    let Some(prefix) = program.parent().and_then(Path::parent) else { return command };
    let plugins = prefix.join("lib/ovis-ldms");
    let folders = [
        ("LD_LIBRARY_PATH", prefix.join("lib")),
        ("ZAP_LIBPATH", plugins.clone()),
        ("LDMSD_PLUGIN_LIBPATH", plugins),
    ];
    for (key, folder) in folders.into_iter().filter(|(_, folder)| folder.is_dir()) {
        let named = std::env::var_os(key).unwrap_or_default();
        let searched = std::env::split_paths(&named).filter(|path| !path.as_os_str().is_empty());
        command.env(key, std::env::join_paths(searched.chain([folder])).unwrap());
    }
    command
}

/// The program; where mounts are possible, it sees the files of a Lustre server below /proc/fs, which cannot be configured.
fn started(program: &Path, folder: &Path) -> Command {
    let plain = command(program);
    if !has_mounts() {
        return plain;
    }
    const SERVER: &str = "mount -t tmpfs none /proc/fs && cp -r \"$0\"/proc_fs/. /proc/fs/ && exec \"$@\"";
    let mut mounted = Command::new("unshare");
    mounted.args(["-m", "sh", "-c", SERVER]).args([folder, program]);
    mounted.envs(plain.get_envs().filter_map(|(key, value)| Some((key, value?))));
    mounted
}

/// A daemon that runs; it is killed when dropped.
pub struct Daemon {
    child: Child,
    log: PathBuf,
    what: String,
}

impl Daemon {
    /// Starts one of the site's.
    pub fn start(program: &Path, arguments: &[String], installed: &Installed) -> Daemon {
        Daemon::spawn(program, arguments, installed.folder())
    }

    fn spawn(program: &Path, arguments: &[String], folder: &Path) -> Daemon {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let log = folder.join(format!("ldmsd{}.log", NUMBER.fetch_add(1, Ordering::Relaxed)));
        let file = std::fs::File::create(&log).unwrap();
        let mut command = started(program, folder);
        command.args(["-F", "-v", "INFO"]).args(arguments).stdin(Stdio::null());
        command.stdout(file.try_clone().unwrap()).stderr(file);
        let child = command.spawn().unwrap();
        Daemon { child, log, what: arguments.join(" ") }
    }

    fn log_text(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Fails with its log if it ended.
    pub fn assert_running(&self) {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
        let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().next());
        assert!(state.is_some_and(|state| state != "Z"), "{} ended:\n{}", self.what, self.log_text());
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Logs of all daemons.
pub fn logs(daemons: &[Daemon]) -> String {
    daemons.iter().map(|daemon| format!("{}:\n{}\n", daemon.what, daemon.log_text())).collect()
}
