//! `tailback`: see the library's map.

use std::process::ExitCode;

fn main() -> ExitCode {
    match tailback::cli::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tailback: {}", tailback::cli::sentence(&error));
            ExitCode::FAILURE
        }
    }
}
