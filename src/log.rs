//! Log lines on standard error, for people or for collectors.

use configuration::sections::{Log, LogFormat};
use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;

/// Installs the log; a second call has no effect. `RUST_LOG` goes before the configured level.
pub fn install(log: &Log) {
    let level = tracing::Level::from(log.level);
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(level.to_string()));
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let _ = match log.format {
        LogFormat::Text => lines.with_ansi(std::io::stderr().is_terminal()).with_target(false).try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
}
