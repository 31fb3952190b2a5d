//! `tailback`: see the library's map.

use std::process::ExitCode;

/// Results of a second are megabytes that come and go: this allocator keeps their pages, where the system's gives
/// them back and has them cleared again (a quarter of the detector's time, measured with tests/load/run).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    tailback::panics::end_the_process();
    tailback::tls::keep_until_the_end();
    tailback::memory::keep_pages();
    tailback::memory::take_small_pages();
    match tailback::cli::run() {
        Ok(status) => status,
        Err(error) => {
            eprintln!("tailback: {}", tailback::cli::sentence(&error));
            ExitCode::FAILURE
        }
    }
}
