//! What a token is requested with.

use reqwest::Url;
use schemas::secret::Redacted;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;

/// Properties that librdkafka has only where it was built with libcurl: Tailback acts on them instead.
const PROPERTIES: [&str; 8] = [
    "sasl.oauthbearer.method",
    "sasl.oauthbearer.client.id",
    "sasl.oauthbearer.client.secret",
    "sasl.oauthbearer.scope",
    "sasl.oauthbearer.extensions",
    "sasl.oauthbearer.token.endpoint.url",
    "sasl.oauthbearer.grant.type",
    "https.ca.location",
];

/// Whether Tailback acts on a property (by its canonical name) in place of librdkafka.
pub fn is_property(name: &str) -> bool {
    PROPERTIES.contains(&name)
}

/// Where a token comes from, for whom, and what is sent to the brokers beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenSettings {
    pub(super) endpoint: Url,
    pub(super) client_id: String,
    pub(super) secret: Redacted,
    pub(super) scope: Option<String>,
    /// Names and values.
    pub(super) extensions: Vec<(String, String)>,
    /// File with the authorities of the endpoint's certificate; the system's without one.
    pub(super) authorities: Option<PathBuf>,
}

/// A property that is wrong or missing, and what it must be.
pub type Wrong = (&'static str, String);

impl TokenSettings {
    /// Removes [`PROPERTIES`] from `properties` (by canonical names). `None` where the mechanism is another one.
    ///
    /// # Errors
    /// The first property that is wrong or missing.
    pub fn take(properties: &mut BTreeMap<String, String>) -> Option<Result<TokenSettings, Wrong>> {
        let taken: BTreeMap<&'static str, String> =
            PROPERTIES.into_iter().filter_map(|name| Some((name, properties.remove(name)?))).collect();
        let is_bearer = properties.get("sasl.mechanisms").is_some_and(|mechanism| mechanism == "OAUTHBEARER");
        is_bearer.then(|| TokenSettings::parse(&taken))
    }

    fn parse(properties: &BTreeMap<&'static str, String>) -> Result<TokenSettings, Wrong> {
        let given = |name: &'static str| properties.get(name).filter(|value| !value.is_empty()).cloned();
        let needed = |name: &'static str| given(name).ok_or_else(|| (name, "is missing".to_string()));
        if given("sasl.oauthbearer.method").as_deref() != Some("oidc") {
            return Err(("sasl.oauthbearer.method", "must be \"oidc\"".to_string()));
        }
        if given("sasl.oauthbearer.grant.type").is_some_and(|grant| grant != "client_credentials") {
            return Err(("sasl.oauthbearer.grant.type", "must be \"client_credentials\"".to_string()));
        }
        const URL: &str = "sasl.oauthbearer.token.endpoint.url";
        let endpoint = endpoint(&needed(URL)?).map_err(|reason| (URL, reason))?;
        let extensions = given("sasl.oauthbearer.extensions").unwrap_or_default();
        Ok(TokenSettings {
            endpoint,
            client_id: needed("sasl.oauthbearer.client.id")?,
            secret: Redacted::new(needed("sasl.oauthbearer.client.secret")?),
            scope: given("sasl.oauthbearer.scope"),
            extensions: parse_extensions(&extensions)
                .map_err(|reason| ("sasl.oauthbearer.extensions", reason))?,
            authorities: given("https.ca.location").map(PathBuf::from),
        })
    }
}

fn endpoint(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|_| "must be https://host[:port]/path".to_string())?;
    let host = url.host_str().unwrap_or_default();
    let is_loopback = host == "localhost"
        || host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must not hold a password".to_string());
    }
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_loopback => Ok(url),
        "http" => Err(format!("must begin with https://, since {host} is another machine")),
        other => Err(format!("must begin with https://, not {other}:")),
    }
}

/// `name=value,…` as librdkafka takes them (RFC 7628): names are letters.
fn parse_extensions(text: &str) -> Result<Vec<(String, String)>, String> {
    let one = |part: &str| {
        let (name, value) = part.split_once('=')?;
        let is_name = !name.is_empty() && name != "auth" && name.bytes().all(|b| b.is_ascii_alphabetic());
        let is_value = value.bytes().all(|b| b.is_ascii_graphic() || b == b' ');
        (is_name && is_value).then(|| (name.to_string(), value.to_string()))
    };
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts
        .map(|part| {
            one(part).ok_or_else(|| format!("must be name=value,… with letters as names, not {part:?}"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(more: &[(&str, &str)]) -> Result<TokenSettings, Wrong> {
        let given = [
            ("sasl.mechanisms", "OAUTHBEARER"),
            ("sasl.oauthbearer.method", "oidc"),
            ("sasl.oauthbearer.token.endpoint.url", "https://login.example/token"),
            ("sasl.oauthbearer.client.id", "tailback"),
            ("sasl.oauthbearer.client.secret", "s"),
        ];
        let all = given.iter().chain(more).map(|(name, value)| (name.to_string(), value.to_string()));
        let mut properties: BTreeMap<String, String> = all.collect();
        let settings = TokenSettings::take(&mut properties).unwrap();
        assert_eq!(properties.into_keys().collect::<Vec<_>>(), ["sasl.mechanisms"]);
        settings
    }

    #[test]
    fn properties_of_tokens_are_checked() {
        let settings = taken(&[
            ("sasl.oauthbearer.extensions", "logicalCluster=lkc-1, identityPoolId=pool-2"),
            ("sasl.oauthbearer.scope", "kafka"),
        ])
        .unwrap();
        let pair = |name: &str, value: &str| (name.to_string(), value.to_string());
        assert_eq!(settings.extensions, [pair("logicalCluster", "lkc-1"), pair("identityPoolId", "pool-2")]);
        for (name, value, part) in [
            ("sasl.oauthbearer.method", "default", "must be \"oidc\""),
            (
                "sasl.oauthbearer.grant.type",
                "urn:ietf:params:oauth:grant-type:jwt-bearer",
                "client_credentials",
            ),
            ("sasl.oauthbearer.client.id", "", "is missing"),
            ("sasl.oauthbearer.token.endpoint.url", "http://login.example/token", "must begin with https://"),
            ("sasl.oauthbearer.token.endpoint.url", "login", "https://host"),
            ("sasl.oauthbearer.token.endpoint.url", "https://a:b@login.example/", "must not hold a password"),
            ("sasl.oauthbearer.extensions", "logical-cluster=1", "name=value"),
        ] {
            let (wrong, reason) = taken(&[(name, value)]).unwrap_err();
            assert!(wrong == name && reason.contains(part), "{name}={value}: {wrong} {reason}");
        }
        taken(&[("sasl.oauthbearer.token.endpoint.url", "http://127.0.0.1:8080/token")]).unwrap();
    }
}
