//! Checks beyond the rule of a single key: URLs, tiers of retention, a port that others reach. No network.

use super::kafka::canonical;
use super::merge::Layers;
use super::page_address::page_address;
use super::problem::{Origin, Problem};
use super::secrets::{is_secret, without_password};
use std::net::SocketAddr;
use std::path::Path;
use store::postgres::{Address, AddressError, TlsFiles, authorities, identity};

/// Checks `[database]`, `[schema_registry]` and `[http]`.
pub fn check(layers: &mut Layers) {
    database(layers);
    tiers(layers);
    registry(layers);
    http(layers);
}

fn database(layers: &mut Layers) {
    let url = layers.text("database.url").to_string();
    let postgres = url.starts_with("postgres://") || url.starts_with("postgresql://");
    let parsed = Address::parse(&url, tls_files(layers));
    if !postgres || parsed.is_err() {
        // The parser's own words may repeat a part of the password.
        let hides =
            |error: &AddressError| matches!(error, AddressError::Url(_)) && without_password(&url) != url;
        let cause = parsed.as_ref().err().filter(|error| postgres && !hides(error));
        let cause = cause.map_or(String::new(), |cause| format!(" ({cause})"));
        let form =
            "postgres://user@host:port/database?sslmode=disable|allow|prefer|require|verify-ca|verify-full";
        let shown = without_password(&url);
        layers.problem_of("database.url", format!("database.url must be {form}, not {shown:?}{cause}"));
    }
    let Ok(address) = parsed else { return };
    let of = |parameter: &str, key: &'static str| if url.contains(parameter) { "database.url" } else { key };
    if let Some(Err(reason)) = address.ca_file.as_deref().map(authorities) {
        let key = of("sslrootcert=", "database.tls_ca_file");
        layers.problem_of(key, format!("{key}: {reason}"));
    }
    if let Some(Err(reason)) = address.client.as_ref().map(identity) {
        let key = of("sslcert=", "database.tls_cert_file");
        layers.problem_of(key, format!("{key}: {reason}"));
    }
}

/// The files of TLS that the configuration names.
fn tls_files(layers: &Layers) -> TlsFiles<'_> {
    let file = |key: &str| Some(Path::new(layers.text(key))).filter(|file| !file.as_os_str().is_empty());
    TlsFiles {
        ca: file("database.tls_ca_file"),
        certificate: file("database.tls_cert_file"),
        key: file("database.tls_key_file"),
    }
}

/// A coarser tier keeps its rows at least as long as a finer one.
fn tiers(layers: &mut Layers) {
    let tiers = ["database.raw_days", "database.ten_second_days", "database.minute_days"];
    // 0 is for ever.
    let days = tiers.map(|tier| layers.whole(tier).filter(|days| *days > 0).unwrap_or(i64::MAX));
    for i in 1..tiers.len() {
        if days[i] < days[i - 1] {
            let (tier, finer) = (tiers[i], tiers[i - 1]);
            let least = if days[i - 1] == i64::MAX {
                "0 (for ever)".into()
            } else {
                format!("at least {}", days[i - 1])
            };
            // The one of both that was set is where a person looks.
            let at = if layers.origin(tier) == Origin::Default { finer } else { tier };
            let text = format!("{tier} must be {least}, as long as {finer}, not {}", days[i]);
            layers.problem_of(at, text);
        }
    }
}

fn registry(layers: &mut Layers) {
    let url = layers.text("schema_registry.url").to_string();
    let address = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    if !url.is_empty() && (address.is_none_or(str::is_empty) || url.contains(char::is_whitespace)) {
        let shown = without_password(&url);
        let text =
            format!("schema_registry.url must be http://host:port or https://host:port, not {shown:?}");
        layers.problem_of("schema_registry.url", text);
    }
    let password = !layers.text("schema_registry.password_file").is_empty();
    if password && layers.text("schema_registry.user").is_empty() {
        let text = "schema_registry.password_file needs schema_registry.user".to_string();
        layers.problem_of("schema_registry.password_file", text);
    }
}

fn http(layers: &mut Layers) {
    let public_url = layers.text("http.public_url").to_string();
    if let (false, Err(reason)) = (public_url.is_empty(), page_address(&public_url)) {
        layers.problem_of("http.public_url", format!("http.public_url {public_url:?} {reason}"));
    }
    let [read, silence] =
        ["http.token_file", "http.silence_token_file"].map(|key| layers.text(key).to_string());
    if read.is_empty() && !silence.is_empty() {
        let text = "http.silence_token_file has no effect without http.token_file: set both".to_string();
        layers.problem_of("http.silence_token_file", text);
    } else if !read.is_empty() && read == silence {
        let text = format!(
            "http.silence_token_file {silence} is also http.token_file: every reader could silence; use another file"
        );
        layers.problem_of("http.silence_token_file", text);
    }
    let Ok(listen) = layers.text("http.listen").parse::<SocketAddr>() else { return };
    if !listen.ip().is_loopback() && layers.text("http.token_file").is_empty() {
        let text = format!(
            "http.listen {listen} can be reached by other machines: set http.token_file, or listen on 127.0.0.1"
        );
        layers.problem_of("http.listen", text);
    }
}

/// A database on another host that anyone on the way could pose as, or read along.
pub fn warn_of_open_database(layers: &Layers) -> Option<Problem> {
    let key = "database.url";
    let text = Address::parse(layers.text(key), tls_files(layers)).ok()?.warning()?;
    Some(Problem { origin: layers.origin(key), key: key.to_string(), text: format!("{key}: {text}") })
}

/// Secrets in the file itself, where every reader of the configuration reads them.
pub fn warn_of_open_secrets(layers: &Layers) -> Vec<Problem> {
    let written = |(path, entry): (&String, &super::merge::Entry)| {
        let value = entry.value.as_str()?;
        let instead = match (super::known::free_property(path), path.as_str()) {
            (Some((_, "sasl.password")), _) => "kafka.sasl_password_file",
            (Some((_, name)), _) if canonical(name) == "sasl.oauthbearer.client.secret" => {
                "kafka.sasl_oauthbearer_client_secret_file"
            }
            (Some((_, "ssl.key.password")), _) => "kafka.ssl_key_password_file",
            (Some((_, name)), _) if is_secret(name) => "an environment variable",
            (None, "database.url") if without_password(value) != value => "database.password_file",
            (None, "schema_registry.url") if without_password(value) != value => {
                "schema_registry.password_file"
            }
            _ => return None,
        };
        let in_file = matches!(entry.origin, Origin::File { .. });
        let text = format!("{path} holds a password; better use {instead}");
        in_file.then(|| Problem { origin: entry.origin.clone(), key: path.clone(), text })
    };
    layers.entries.iter().filter_map(written).collect()
}
