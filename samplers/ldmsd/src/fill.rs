//! Values for the names in pieces of configuration.

use schemas::Site;
use schemas::site::Auth;

/// Replaces `@NAME@` by its value.
///
/// # Errors
/// If a name stays that has no value: the piece and this code do not fit.
pub fn fill(piece: &str, values: &[(&str, &str)]) -> anyhow::Result<String> {
    let mut text = piece.to_string();
    for (name, value) in values {
        text = text.replace(&format!("@{name}@"), value);
    }
    let left = text.split('@').skip(1).step_by(2).find(|name| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
    });
    match left {
        Some(name) => anyhow::bail!("a piece of configuration has @{name}@, which is never filled in"),
        None => Ok(text),
    }
}

/// ldmsd's word for how daemons know each other.
pub fn auth_name(site: &Site) -> &'static str {
    match site.ldmsd.auth {
        Auth::Ovis => "ovis",
        Auth::Munge => "munge",
        Auth::None => "none",
    }
}

/// The line that makes it the default; a comment where it is none.
pub fn auth_line(site: &Site) -> String {
    match site.ldmsd.auth {
        Auth::Ovis => format!("default_auth plugin=ovis conf={}", site.ldmsd.auth_file),
        Auth::Munge => "default_auth plugin=munge".to_string(),
        Auth::None => "# No authentication: any host that reaches the port can read all sets.".to_string(),
    }
}

/// Milliseconds as ldmsd's microseconds.
pub fn us(ms: u32) -> String {
    (u64::from(ms) * 1000).to_string()
}

/// A unit of systemd for ldmsd with these arguments.
pub fn unit(of: &str, arguments: &str) -> String {
    format!(
        "[Unit]\nDescription=ldmsd: {of}\nAfter=network-online.target\nWants=network-online.target\n\n\
         [Service]\nExecStart=/usr/sbin/ldmsd -F {arguments}\nRestart=always\nRestartSec=5\n\n\
         [Install]\nWantedBy=multi-user.target\n"
    )
}
