//! Kafka, PostgreSQL and the schema registry, from the scripts in `tests/services`, for all scenarios of this process.
//! A scenario that disturbs the broker or the database gets its own.
//!
//! A watcher process stops them when this process returns, panics or is killed: it reads from a pipe without a writer,
//! and continues when the pipe closes.

use crate::service::{Service, open_folder, script, scripts};
use crate::skip::servers_allowed;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Condvar, LazyLock, Mutex, MutexGuard, PoisonError};

/// Started when the first scenario has its turn.
static SERVICES: LazyLock<Services> = LazyLock::new(Services::start);
/// Scenarios at a time: each waits most of its time for rules that count seconds of silence.
const TURNS: usize = 8;
static TURNS_TAKEN: Mutex<usize> = Mutex::new(0);
static TURN_FREE: Condvar = Condvar::new();

/// Script of the watcher: waits for the end of the tests, then ends all processes of the folder.
const WATCHER: &str = r#"
trap '' INT TERM HUP
read -r _
for cmdline in /proc/[0-9]*/cmdline; do
    pid=${cmdline#/proc/}; pid=${pid%/cmdline}
    tr '\0' ' ' <"$cmdline" 2>/dev/null | grep -qF "run --config $1/" && kill -KILL "$pid"
done
"$2/registry" stop "$1/registry"
for server in "$1"/kafka "$1"/*/kafka; do [ ! -d "$server" ] || "$2/kafka" kill "$server"; done
for server in "$1"/*postgres "$1"/*/postgres; do [ ! -d "$server" ] || "$2/postgres" stop-immediate "$server"; done
rm -rf "$1"
"#;

/// Running services.
#[derive(Clone)]
pub struct Services {
    /// Folder of this process.
    pub dir: PathBuf,
    /// The broker, host and port.
    pub broker: String,
    /// URL of the database server, without a database.
    pub server: String,
    /// URL of the registry.
    pub registry: String,
}

/// The turn of a scenario. The turn and the scenario's own servers end with the scenario.
pub struct Turn {
    own: Option<Service>,
}

impl Drop for Turn {
    fn drop(&mut self) {
        drop(self.own.take());
        *taken() -= 1;
        TURN_FREE.notify_one();
    }
}

fn taken() -> MutexGuard<'static, usize> {
    TURNS_TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The services, and the turn of one scenario; `None` if scenarios are skipped.
pub fn turn() -> Option<(&'static Services, Turn)> {
    if !servers_allowed() {
        return None;
    }
    let full = |taken: &mut usize| *taken >= TURNS;
    let mut taken = TURN_FREE.wait_while(taken(), full).unwrap_or_else(PoisonError::into_inner);
    *taken += 1;
    drop(taken);
    Some((&SERVICES, Turn { own: None }))
}

/// The same with a server of its own of one kind, `kafka` or `postgres`, for a scenario that disturbs it.
pub fn turn_with_own(what: &'static str, scenario: &str) -> Option<(&'static Services, Turn)> {
    let (shared, mut turn) = turn()?;
    let dir = shared.dir.join(format!("{scenario}-services"));
    std::fs::create_dir(&dir).unwrap();
    let server = Service::start_in(what, &dir.join(what), &[], &[])?;
    let mut own = shared.clone();
    match what {
        "kafka" => own.broker.clone_from(&server.address),
        _ => own.server = server_url(&server.address),
    }
    own.dir = dir;
    turn.own = Some(server);
    // Leaked: there are few, and they are used until this process ends.
    Some((Box::leak(Box::new(own)), turn))
}

impl Services {
    fn start() -> Services {
        let dir = open_folder().keep();
        let watcher = Command::new("setsid")
            .args(["bash", "-c", WATCHER, "watcher"])
            .args([&dir, &scripts()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let start = |what: &'static str| {
            let dir = dir.join(what);
            std::thread::spawn(move || script(what, "start", &dir))
        };
        let [broker, server, registry] = ["kafka", "postgres", "registry"].map(start);
        let broker = broker.join().unwrap();
        let server = server_url(&server.join().unwrap());
        let registry = registry.join().unwrap();
        // Its pipe stays open as long as this process lives.
        std::mem::forget(watcher);
        Services { dir, broker, server, registry }
    }

    /// Host and port of another listener of the broker: `secure`, `mtls` or `tokens`.
    pub fn listener(&self, name: &str) -> String {
        script("kafka", name, &self.dir.join("kafka"))
    }

    /// `start`, `stop`, `restart`, `kill` or `stop-immediate` for `what`.
    pub fn command(&self, what: &str, command: &str) {
        script(what, command, &self.dir.join(what));
    }
}

/// A URL without the database.
fn server_url(of_database: &str) -> String {
    of_database.trim_end_matches("/postgres").to_string()
}
