//! Commands in the READMEs of this crate: the sample page with its options, and the source of uPlot.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use support::paths::programs;
use support::skip::skip;

/// Long enough for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

fn crate_folder() -> PathBuf {
    PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").unwrap())
}

/// Texts in backquotes in a file with this beginning.
fn commands(file: &str, beginning: &str) -> Vec<String> {
    let text = std::fs::read_to_string(crate_folder().join(file)).unwrap();
    let spans = text.split('`').skip(1).step_by(2);
    spans.filter(|span| span.starts_with(beginning)).map(str::to_string).collect()
}

/// A sample page that ends with the test.
struct SamplePage {
    process: Child,
    address: String,
}

impl Drop for SamplePage {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl SamplePage {
    /// Starts the example built with this test, on a port of its own.
    fn start(options: &str) -> SamplePage {
        let mut process = Command::new(programs().join("examples/sample_page"))
            .args(options.split_whitespace())
            .args(["--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|why| panic!("{why}; `cargo build --workspace --example sample_page` builds it"));
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("page at http://").unwrap_or_else(|| panic!("{line:?}"));
        SamplePage { address: address.trim_end_matches('/').to_string(), process }
    }

    /// Head and body of the response.
    fn ask(&self, path: &str) -> (String, Value) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let request = format!("GET {path} HTTP/1.0\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address);
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_string(), serde_json::from_str(body).unwrap_or_else(|why| panic!("{answer}: {why}")))
    }

    /// Number of series, as soon as there are any.
    fn series(&self) -> u64 {
        let begun = Instant::now();
        loop {
            let (head, now) = self.ask("/api/v1/now?limit=1");
            match now["total"].as_u64() {
                Some(total) if total > 0 => return total,
                _ => assert!(begun.elapsed() < TIMEOUT, "{head}\n{now}"),
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

#[test]
fn the_sample_page_takes_the_options_that_the_readme_gives_it() {
    let command = "cargo run --release -p dashboards --example sample_page";
    assert_eq!(
        commands("README.md", "cargo run"),
        [command.to_string(), format!("{command} -- --routers 250")]
    );
    let series = SamplePage::start("").series();
    assert!((1_000..10_000).contains(&series), "{series}");
    // 250 routers take 40 seconds of processor for their history.
    let fewer = SamplePage::start("--routers 8").series();
    assert!(fewer < series / 2, "{fewer} of 8 routers, {series} of 32");
    assert_eq!(commands("README.md", "-- --"), ["-- --empty"]);
    let (head, nothing) = SamplePage::start("--empty").ask("/api/v1/now");
    assert!(head.starts_with("HTTP/1.0 503"), "{head}");
    assert!(nothing["error"].is_string(), "{nothing}");
}

#[test]
fn uplot_is_that_of_its_package() {
    let [pack] = commands("page/lib/uplot/README.md", "npm pack").try_into().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let packed = Command::new("bash").args(["-c", &pack]).current_dir(&folder).output().unwrap();
    if !packed.status.success() {
        return skip(&format!("no npm, or no registry: {}", String::from_utf8_lossy(&packed.stderr)));
    }
    let unpack = "tar --extract --strip-components=1 --file ./*.tgz";
    assert!(Command::new("bash").args(["-c", unpack]).current_dir(&folder).status().unwrap().success());
    let ours = crate_folder().join("page/lib/uplot");
    for (theirs, name) in [
        ("dist/uPlot.esm.js", "uPlot.esm.js"),
        ("dist/uPlot.min.css", "uPlot.min.css"),
        ("LICENSE", "LICENSE"),
    ] {
        let read = |path: &Path| std::fs::read(path).unwrap();
        assert!(
            read(&folder.path().join(theirs)) == read(&ours.join(name)),
            "{name} is not that of `{pack}`"
        );
    }
}
