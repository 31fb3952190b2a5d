//! `tailback sample` as a process: outputs, signals, an ordinary user, measurements.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;
use support::documents;
use support::node::node;
use support::skip::skip;

fn sample(program: &Path, folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(["sample", "--producer", "nid00001", "--sysfs"]).arg(folder.join("sys"));
    command.arg("--procfs").arg(folder.join("proc")).args(arguments).current_dir(folder);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).env_remove("RUST_LOG");
    command
}

fn tailback() -> PathBuf {
    PathBuf::from(crate::TAILBACK)
}

fn lines(bytes: &[u8]) -> Vec<String> {
    String::from_utf8(bytes.to_vec()).unwrap().lines().map(String::from).collect()
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    sample(&tailback(), folder, arguments).output().unwrap()
}

#[test]
fn once_prints_a_row_of_each_set() {
    let folder = tempfile::tempdir().unwrap();
    node(folder.path());
    let done = run(folder.path(), &["--once"]);
    assert!(done.status.success(), "{done:?}");
    let rows = lines(&done.stdout);
    assert_eq!(rows.len(), 4, "{rows:?}");
    for (row, set) in rows.iter().zip(["ib_sysfs/mlx5_0.1", "ib_sysfs/mlx5_0.2", "home-", "snx11168-"]) {
        assert!(row.contains(&format!("\"instance\":\"nid00001/{set}")), "{row}");
        assert!(row.contains("\"component_id\":1,\"job_id\":0"), "{row}");
    }
}

/// A command of the README at [`node`], for three samples; `--once` has its own end.
fn of_the_readme(folder: &Path, command: &str) -> String {
    let end = if command.contains("--once") { "" } else { " --figures 3" };
    let (sys, proc) = (folder.join("sys"), folder.join("proc"));
    let node = format!(
        "tailback sample --producer nid00001 --sysfs {} --procfs {}{end}",
        sys.display(),
        proc.display()
    );
    assert!(command.contains("tailback sample "), "{command}");
    command.replacen("tailback sample", &node, 1)
}

#[test]
fn the_readmes_commands_write_rows_where_they_say() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    node(path);
    let socket = path.join("rows.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let listening = std::thread::spawn(move || {
        let mut text = Vec::new();
        listener.accept().unwrap().0.read_to_end(&mut text).unwrap();
        lines(&text)
    });
    let commands = documents::block("docs/install.md", "tailback sample --once");
    let command = |option: &str| {
        let found = commands.lines().find(|line| line.contains(option));
        let command = found.unwrap_or_else(|| panic!("no {option} in {commands}"));
        let command = command.replace("/run/rows.sock", socket.to_str().unwrap());
        documents::printed(path, &of_the_readme(path, &command))
    };
    assert_eq!(commands.lines().count(), 4, "--kafka has its test with the streaming path: {commands}");
    assert_eq!(command("--once").lines().count(), SETS);
    assert_eq!(command("--out"), "");
    assert_eq!(lines(&fs::read(path.join("rows.jsonl")).unwrap()).len(), 3 * SETS);
    assert_eq!(command("--to"), "");
    assert_eq!(listening.join().unwrap().len(), 3 * SETS);
}

#[test]
fn documented_command_gets_real_time_scheduling() {
    if !Command::new("chrt").args(["-f", "1", "true"]).output().is_ok_and(|done| done.status.success()) {
        return skip("no chrt, or no right to real-time scheduling");
    }
    let folder = tempfile::tempdir().unwrap();
    node(folder.path());
    let command =
        documents::quoted("docs/install.md", "chrt -f 1 tailback sample").replace(" --figures 300", "");
    let rows = documents::printed(folder.path(), &of_the_readme(folder.path(), &command));
    assert_eq!(rows.lines().count(), 3 * SETS);
}

#[test]
fn node_without_devices_is_reported_in_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let done = run(folder.path(), &["--once"]);
    assert!(!done.status.success());
    let stderr = lines(&done.stderr);
    assert_eq!(stderr.len(), 1, "{stderr:?}");
    assert!(stderr[0].contains("nothing to sample"), "{stderr:?}");
    for (wrong, sentence) in [
        (["--interval-ms", "5"], "the interval must lie between 100 ms and 60 s"),
        (["--offset-ms", "1000"], "the offset 1s must be shorter than the interval"),
        (["--producer", "a b"], "the name \"a b\" has a character"),
        (["--to", "somewhere"], "write tcp:PORT"),
        (["--out", "/nowhere/at/all"], "/nowhere/at/all cannot be written"),
    ] {
        let mut command = Command::new(tailback());
        let done = command.arg("sample").args(wrong).output().unwrap();
        assert!(!done.status.success());
        let stderr = String::from_utf8(done.stderr).unwrap();
        assert!(stderr.contains(sentence), "{stderr}");
    }
}

/// Waits until `done`, at most two minutes.
fn wait_until(child: &mut Child, mut done: impl FnMut() -> bool) {
    for _ in 0..12_000 {
        if done() {
            return;
        }
        assert_eq!(child.try_wait().unwrap(), None, "it ended by itself");
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("not done within two minutes");
}

#[test]
fn a_terminated_run_leaves_whole_rows_of_aligned_ticks() {
    let folder = tempfile::tempdir().unwrap();
    node(folder.path());
    let rows = folder.path().join("rows.jsonl");
    let mut child =
        sample(&tailback(), folder.path(), &["--out", "rows.jsonl", "--interval-ms", "200"]).spawn().unwrap();
    let written = || fs::read(&rows).map(|bytes| lines(&bytes)).unwrap_or_default();
    wait_until(&mut child, || written().len() >= 12);
    let stopped = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(stopped.success());
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success(), "{done:?}");
    let rows = written();
    assert_eq!(rows.len() % 4, 0, "ticks are whole");
    assert!(fs::read(folder.path().join("rows.jsonl")).unwrap().ends_with(b"}\n"));
    // However late a tick was, no instant was sampled twice.
    let ticks: Vec<i64> = rows.iter().step_by(4).map(|row| microseconds(row) / 200_000).collect();
    assert!(ticks.windows(2).all(|pair| pair[0] < pair[1]), "{ticks:?}");
    let replayed = Command::new(tailback())
        .args(["replay", "rows.jsonl", "--out", "found"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(replayed.status.success(), "{replayed:?}");
    let dropped = fs::read_to_string(folder.path().join("found/dropped.json")).unwrap();
    assert!(!dropped.contains("unknown") && !dropped.contains("bad_"), "{dropped}");
}

fn microseconds(row: &str) -> i64 {
    row["{\"timestamp\":".len()..].split(',').next().unwrap().replace('.', "").parse().unwrap()
}

#[test]
fn a_pipe_whose_reader_goes_ends_the_run() {
    let folder = tempfile::tempdir().unwrap();
    node(folder.path());
    let mut child = sample(&tailback(), folder.path(), &["--interval-ms", "100"]).spawn().unwrap();
    drop(child.stdout.take());
    let done = child.wait_with_output().unwrap();
    assert!(!done.status.success());
    assert!(String::from_utf8(done.stderr).unwrap().contains("the reader of the rows is gone"));
}

/// Makes everything readable for every user.
fn open_to_all(path: &Path) {
    if path.is_symlink() {
        return;
    }
    let folder = path.is_dir();
    fs::set_permissions(path, fs::Permissions::from_mode(if folder { 0o755 } else { 0o644 })).unwrap();
    if folder {
        fs::read_dir(path).unwrap().for_each(|entry| open_to_all(&entry.unwrap().path()));
    }
}

const NOBODY: u32 = 65_534;

#[test]
fn an_ordinary_user_has_all_rows_but_those_that_are_closed_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let am_root = fs::metadata("/proc/self").is_ok_and(|of| std::os::unix::fs::MetadataExt::uid(&of) == 0);
    if !am_root {
        eprintln!("not run as root: the closed debugfs is closed to this user as well");
    }
    node(path);
    let debugfs = path.join("sys/kernel/debug");
    fs::create_dir_all(debugfs.join("lustre/llite/new-ffff000000000001")).unwrap();
    let program = path.join("tailback");
    // A process of its own copies it: one that another test starts meanwhile would inherit a file open for writing.
    assert!(Command::new("cp").args([tailback(), program.clone()]).status().unwrap().success());
    open_to_all(path);
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&debugfs, fs::Permissions::from_mode(0o700)).unwrap();
    if !am_root {
        fs::set_permissions(&debugfs, fs::Permissions::from_mode(0o000)).unwrap();
    }
    let mut command = sample(&program, path, &["--figures", "3", "--interval-ms", "200", "--rescan-s", "1"]);
    if am_root {
        command.uid(NOBODY).gid(NOBODY);
    }
    let done = command.output().unwrap();
    fs::set_permissions(&debugfs, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(done.status.success(), "{done:?}");
    assert_eq!(lines(&done.stdout).len(), 12, "the other sets are still sampled");
    let stderr = lines(&done.stderr);
    let closed: Vec<&String> = stderr.iter().filter(|line| line.contains("cannot be read")).collect();
    assert_eq!(closed.len(), 1, "{stderr:?}");
    assert!(closed[0].contains("CAP_DAC_READ_SEARCH"), "{}", closed[0]);
}

/// Rows a tick of [`node`].
const SETS: usize = 4;

fn figures(ticks: usize, interval_ms: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    node(folder.path());
    let ticks_text = ticks.to_string();
    let arguments = ["--figures", &ticks_text, "--out", "rows.jsonl", "--interval-ms", interval_ms];
    let done = run(folder.path(), &arguments);
    assert!(done.status.success(), "{done:?}");
    assert_eq!(lines(&fs::read(folder.path().join("rows.jsonl")).unwrap()).len(), ticks * SETS);
    let found: Vec<String> = lines(&done.stderr)
        .into_iter()
        .filter(|line| line.contains("ticks  ") || line.contains(" ms"))
        .collect();
    assert_eq!(found.len(), 4, "{found:?}");
    found
}

/// The number between `before` and `after`.
fn number(line: &str, before: &str, after: &str) -> f64 {
    let rest = &line[line.find(before).unwrap() + before.len()..];
    rest[..rest.find(after).unwrap()].trim().parse().unwrap()
}

#[test]
fn a_tick_costs_little_processor_time() {
    let ticks = 20;
    let printed = figures(ticks, "100");
    let per_tick_ms = number(&printed[3], "processor time", "ms") / ticks as f64;
    println!("{}\nprocessor time a tick {per_tick_ms:.3} ms", printed.join("\n"));
    // 1 ms in a second is 0.1% of a core. Processor time excludes other processes. A build without optimisation and
    // caches that other processes empty may cost several times the measured value, start included.
    assert!(per_tick_ms < 5.0, "{printed:?}");
}

/// The README's measurements:
/// `cargo test --profile dist --test end_to_end figures_of_an_ordinary_node -- --ignored --nocapture`
#[test]
#[ignore = "takes 60 s; meaningful only on a quiet machine"]
fn figures_of_an_ordinary_node() {
    let printed = figures(60, "1000");
    println!("{}", printed.join("\n"));
    let is_tried = std::env::var_os("TAILBACK_TRIED").is_some();
    assert!(is_tried || number(&printed[1], "p99", "ms") < 5.0, "{}", printed[1]);
    assert!(is_tried || number(&printed[3], "s:", "%") < 0.1, "{}", printed[3]);
}
