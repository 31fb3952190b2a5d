//! Progress on a terminal; nothing if the output is none.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;

fn bar(length: u64, template: &str) -> ProgressBar {
    let target = if std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr_with_hz(8)
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(Some(length), target);
    // The templates are constants of this module; the default style stands in for a mistyped one.
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.with_style(style)
}

/// Bytes of input read.
pub fn of_bytes(total: u64) -> ProgressBar {
    bar(total, "{bar:30} {bytes}/{total_bytes} {binary_bytes_per_sec} {eta} left  {msg}")
}

/// Simulated seconds.
pub fn of_seconds(total: Option<u64>) -> ProgressBar {
    match total {
        Some(total) => bar(total, "{bar:30} {pos}/{len} s  {msg}"),
        None => bar(0, "{spinner} second {pos}  {msg}"),
    }
}

/// Items of any sort.
pub fn of_items(total: u64) -> ProgressBar {
    bar(total, "{bar:30} {pos}/{len} {eta} left  {msg}")
}
