//! A panic ends the process, whichever thread or task it is in. A stage that died alone would leave a process that looks alive:
//! the supervisor (systemd, Kubernetes) sees the end and starts it again, and what was not committed is read again.

use std::panic::PanicHookInfo;

/// Exit status after a panic, as the Rust runtime has it for the main thread.
pub const EXIT_STATUS: i32 = 101;

/// From here on a panic anywhere is logged, on standard error where no log is installed, and ends the process with
/// [`EXIT_STATUS`].
pub fn end_the_process() {
    let printed = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if tracing::dispatcher::has_been_set() {
            log(panic);
        } else {
            printed(panic);
        }
        std::process::exit(EXIT_STATUS);
    }));
}

fn log(panic: &PanicHookInfo<'_>) {
    let thread = std::thread::current();
    let at = panic.location().map_or_else(String::new, ToString::to_string);
    let payload = panic.payload();
    let text = payload.downcast_ref::<&str>().copied();
    let error = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
    tracing::error!(thread = thread.name().unwrap_or("unnamed"), at, error, "panicked; the process ends");
}

#[cfg(test)]
mod tests {
    use super::*;
    use configuration::sections::{Log, LogFormat, LogLevel};
    use std::process::{Command, Output};
    use std::time::{Duration, Instant};

    /// Set in the process that panics: where.
    const WHERE: &str = "TAILBACK_TEST_PANICS_IN";
    /// Far longer than a panic takes to end the process.
    const LONG: Duration = Duration::from_secs(600);

    /// Runs this test in a process of its own, which panics in a `case`.
    fn panicked(case: &str) -> (Output, Duration) {
        let begun = Instant::now();
        let mut test = Command::new(std::env::current_exe().unwrap());
        test.args(["--exact", "panics::tests::a_panic_anywhere_ends_the_process_with_its_message"]);
        let output = test.arg("--nocapture").env(WHERE, case).output().unwrap();
        (output, begun.elapsed())
    }

    fn panic_in(case: &str) {
        end_the_process();
        if case != "a thread without a log" {
            crate::log::install(&Log { level: LogLevel::Info, format: LogFormat::Text });
        }
        if case == "a task" {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
            runtime.unwrap().block_on(async {
                // Nothing waits for the task.
                drop(tokio::spawn(async { panic!("the task's own words") }));
                tokio::time::sleep(LONG).await;
            });
        } else {
            drop(std::thread::spawn(|| panic!("the thread's own words")));
            std::thread::sleep(LONG);
        }
    }

    #[test]
    fn a_panic_anywhere_ends_the_process_with_its_message() {
        if let Ok(case) = std::env::var(WHERE) {
            return panic_in(&case);
        }
        for (case, words) in [
            ("a task", "the task's own words"),
            ("a thread", "the thread's own words"),
            ("a thread without a log", "the thread's own words"),
        ] {
            let (output, took) = panicked(case);
            let log = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(EXIT_STATUS), "{case}: {log}");
            assert!(log.contains(words) && log.contains("panics.rs"), "{case}: {log}");
            assert!(took < LONG / 2, "{case}");
        }
    }
}
