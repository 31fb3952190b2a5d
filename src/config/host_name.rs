//! The name of this machine.

/// The name of this machine.
pub fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "tailback".to_string() } else { name.to_string() }
}
