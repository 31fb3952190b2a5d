//! What the keys of a receiver must be.

use super::{Kind, Receiver};
use reqwest::Url;
use std::path::Path;

impl Receiver {
    pub(super) fn check(&self, hosts: &[String]) -> Result<(), String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        if !(1..=64).contains(&self.name.len()) || !self.name.chars().all(plain) {
            return Err(format!("name must be 1 to 64 letters, digits, `.`, `_`, `-`, not {:?}", self.name));
        }
        for (key, value, least, most) in [
            ("timeout_s", self.timeout_s, 0.1, 300.0),
            ("backoff_s", self.backoff_s, 0.01, 3_600.0),
            ("backoff_max_s", self.backoff_max_s, self.backoff_s, 86_400.0),
            ("give_up_h", self.give_up_h, 0.001, 8_760.0),
            ("resend_s", self.resend_s, 1.0, 3_600.0),
            ("max_per_minute", f64::from(self.max_per_minute), 1.0, 100_000.0),
        ] {
            if !(least..=most).contains(&value) {
                return Err(format!("{key} must be {least} to {most}, not {value}"));
            }
        }
        match self.kind {
            Kind::Slurm => self.check_slurm(),
            Kind::Heartbeat if !self.rules.is_empty() => {
                Err("rules is not for kind = \"heartbeat\", which gets no notices".to_string())
            }
            Kind::Alertmanager | Kind::Webhook | Kind::Heartbeat => {
                self.check_url(hosts)?;
                self.check_proxy(hosts)?;
                self.check_credentials()
            }
        }
    }

    /// Whether its requests need files beside secrets: certificates.
    pub(super) fn needs_files(&self) -> bool {
        self.kind != Kind::Slurm && (is_set(&self.ca_file) || is_set(&self.cert_file))
    }

    fn check_slurm(&self) -> Result<(), String> {
        if !self.url.is_empty() {
            return Err("url is not for kind = \"slurm\"".to_string());
        }
        match self.scontrol.is_absolute() {
            true => Ok(()),
            false => {
                let scontrol = self.scontrol.display().to_string();
                Err(format!("scontrol must be an absolute path, not {scontrol:?}"))
            }
        }
    }

    fn check_url(&self, hosts: &[String]) -> Result<(), String> {
        let url = Url::parse(&self.url).map_err(|_| "url must be https://host[:port]/path".to_string())?;
        if has_credentials(&url) {
            return Err("url must not hold a password; use user and password_file, or token_file".to_string());
        }
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("url must begin with https://, not {}:", url.scheme()));
        }
        let host = url.host_str().unwrap_or_default();
        if url.scheme() == "http" && !is_loopback(&url) && !self.plain_http {
            return Err(format!(
                "url must begin with https://, or plain_http = true: {host} is another machine"
            ));
        }
        is_allowed("url", &url, hosts)
    }

    fn check_proxy(&self, hosts: &[String]) -> Result<(), String> {
        if self.proxy.is_empty() {
            return Ok(());
        }
        let form = || "proxy must be http://host:port".to_string();
        let url = Url::parse(&self.proxy).map_err(|_| form())?;
        if has_credentials(&url) {
            return Err("proxy must not hold a password: it must accept this host".to_string());
        }
        if url.host_str().is_none() {
            return Err(form());
        }
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("proxy must begin with http:// or https://, not {}:", url.scheme()));
        }
        is_allowed("proxy", &url, hosts)
    }

    fn check_credentials(&self) -> Result<(), String> {
        let has_user = !self.user.is_empty();
        for (key, is_there, other, is_other_there) in [
            ("user", has_user, "password_file", is_set(&self.password_file)),
            ("cert_file", is_set(&self.cert_file), "key_file", is_set(&self.key_file)),
        ] {
            match (is_there, is_other_there) {
                (true, false) => return Err(format!("{key} needs {other}")),
                (false, true) => return Err(format!("{other} needs {key}")),
                _ => {}
            }
        }
        if self.user.contains(':') {
            return Err("user must not contain `:`".to_string());
        }
        if has_user && is_set(&self.token_file) {
            return Err("user and token_file are two ways to authenticate; keep one".to_string());
        }
        Ok(())
    }
}

fn is_set(path: &Path) -> bool {
    !path.as_os_str().is_empty()
}

fn has_credentials(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

fn is_loopback(url: &Url) -> bool {
    matches!(url.host_str().unwrap_or_default(), "localhost" | "127.0.0.1" | "[::1]")
}

fn is_allowed(key: &str, url: &Url, hosts: &[String]) -> Result<(), String> {
    let host = url.host_str().unwrap_or_default();
    let with_port = format!("{host}:{}", url.port_or_known_default().unwrap_or_default());
    if is_loopback(url) || hosts.iter().any(|known| *known == host || *known == with_port) {
        return Ok(());
    }
    Err(format!("{key} names {host}, which [alerts] hosts does not"))
}
