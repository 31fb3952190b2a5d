//! Log lines on standard error, for people or for collectors.

use configuration::sections::{Log, LogFormat};
use std::io::IsTerminal;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt, registry};

/// Installs the log; a second call has no effect. `RUST_LOG`, such as `debug` or `warn,tailback::runtime=debug`, goes before
/// the configured level.
pub fn install(log: &Log) {
    let given = std::env::var("RUST_LOG").ok().and_then(|given| given.parse::<Targets>().ok());
    let filter = given.unwrap_or_else(|| Targets::new().with_default(tracing::Level::from(log.level)));
    let lines = fmt::layer().with_writer(std::io::stderr);
    let lines = match log.format {
        LogFormat::Text => lines.with_ansi(std::io::stderr().is_terminal()).with_target(false).boxed(),
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    };
    let _ = registry().with(lines.with_filter(filter)).try_init();
}
