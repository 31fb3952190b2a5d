//! A broker that demands tokens (SASL_SSL, OAUTHBEARER) of an OpenID provider: the same tables, tokens that are renewed, and a
//! clear sentence where endpoint or broker refuse.

use super::arrival::undisturbed;
use super::feed::Feed;
use super::process::Program;
use super::rows;
use super::secure::{doctor, lead};
use super::site::Site;
use super::token_endpoint::{SECRET, TokenEndpoint};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};
use support::service::Service;
use support::stack::turn;

/// What the endpoint gets instead of the secret.
const WRONG: &str = "hunter2-is-not-it";
/// Time within which a refusal is reported: far more than it takes.
const REPORT_TIMEOUT: Duration = Duration::from_secs(120);
/// Tokens after which those of the start have expired.
const TOKENS: usize = 3;
/// How much faster than they were sampled rows are pushed.
const SPEED: f64 = 8.0;
/// Two seconds of the clock at half the speed: a row that a busy machine delays is not late.
const LATENESS: &str = "[stream]\nlateness_s = 8";

/// Leads the site to the broker's listener for tokens.
pub fn lead_by_tokens(site: &Site, endpoint: &TokenEndpoint) {
    lead_with_secret(site, endpoint, SECRET);
}

fn lead_with_secret(site: &Site, endpoint: &TokenEndpoint, secret: &str) {
    let file = site.services.dir.join(format!("{}.secret", site.name));
    std::fs::write(&file, secret).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let (authority, url) = (site.services.dir.join("kafka/tls/ca.pem"), &endpoint.url);
    let properties = format!(
        r#""security.protocol" = "SASL_SSL"
"ssl.ca.location" = {authority:?}
"sasl.mechanisms" = "OAUTHBEARER"
"sasl.oauthbearer.method" = "oidc"
"sasl.oauthbearer.token.endpoint.url" = "{url}"
"sasl.oauthbearer.client.id" = "tailback"
"sasl.oauthbearer.scope" = "kafka"
"sasl.oauthbearer.extensions" = "site=tests"
"https.ca.location" = {authority:?}"#
    );
    lead(site, "tokens", &format!("sasl_oauthbearer_client_secret_file = {file:?}"), &properties);
}

fn wait_for_tokens(endpoint: &TokenEndpoint, count: usize) {
    let deadline = Instant::now() + REPORT_TIMEOUT;
    while endpoint.issued().len() < count {
        assert!(Instant::now() < deadline, "{} tokens", endpoint.issued().len());
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn rows_through_renewed_tokens_give_the_same_tables() {
    let Some((services, _turn)) = turn() else { return };
    let (site, endpoint) = (Site::new(services, "tokens"), TokenEndpoint::start(services, "kafka"));
    lead_by_tokens(&site, &endpoint);
    let process = site.start();
    // The broker ends a connection with its token.
    Feed::to(&site).paced(&rows::undisturbed(), SPEED, |_| {});
    wait_for_tokens(&endpoint, TOKENS);
    site.settles_as(undisturbed(services)).drops_equal(undisturbed(services));
    let found = doctor(&site);
    assert!(found.iter().all(|[level, ..]| level == "ok"), "{found:?}");
    let log = process.log();
    process.finish();
    assert!(!log.contains(SECRET), "the secret is in the log: {log}");
    assert!(endpoint.issued().iter().all(|token| !log.contains(token)), "a token is in the log: {log}");
}

#[test]
fn token_endpoint_behind_a_proxy_is_reached() {
    let Some((services, _turn)) = turn() else { return };
    let (site, endpoint) = (Site::new(services, "proxied"), TokenEndpoint::start(services, "kafka"));
    lead_by_tokens(&site, &endpoint);
    let dir = services.dir.join("proxied");
    std::fs::create_dir(&dir).unwrap();
    let Some(proxy) = Service::start_in("tinyproxy", &dir, &[], &[]) else { return };
    let program = Program::new("run", &site.config).env("HTTPS_PROXY", &proxy.address);
    let mut process = program.env("NO_PROXY", "").env("no_proxy", "").start();
    process.wait_for("partitions claimed");
    let log = std::fs::read_to_string(dir.join("log")).unwrap();
    let authority = endpoint.url.trim_start_matches("https://").trim_end_matches("/token");
    assert!(log.contains(&format!("CONNECT {authority}")), "{log}");
    process.finish();
}

#[test]
fn wrong_client_secret_is_reported_with_its_key() {
    let Some((services, _turn)) = turn() else { return };
    let (site, endpoint) = (Site::new(services, "no_client"), TokenEndpoint::start(services, "kafka"));
    lead_with_secret(&site, &endpoint, WRONG);
    let mut process = site.start();
    let ended = process.ended_within(REPORT_TIMEOUT);
    let log = process.log();
    assert_eq!(ended.and_then(|status| status.code()), Some(1), "{log}");
    let last = log.trim_end().lines().last().unwrap_or_default();
    for part in
        [&endpoint.url, "401 Unauthorized: invalid_client", "kafka.sasl_oauthbearer_client_secret_file"]
    {
        assert!(last.contains(part), "{log}");
    }
    assert!(!log.contains(WRONG), "the secret is in the log: {log}");
    let found = doctor(&site);
    let [level, what, mend] = &found[0];
    assert!(level == "error" && what.contains("401 Unauthorized") && !what.contains(WRONG), "{found:?}");
    assert!(mend.contains("kafka.sasl_oauthbearer_client_secret_file"), "{found:?}");
}

#[test]
fn token_for_another_audience_is_reported() {
    let Some((services, _turn)) = turn() else { return };
    let (site, endpoint) = (Site::new(services, "audience"), TokenEndpoint::start(services, "others"));
    lead_by_tokens(&site, &endpoint);
    let mut process = site.start();
    let ended = process.ended_within(REPORT_TIMEOUT);
    let log = process.log();
    assert_eq!(ended.and_then(|status| status.code()), Some(1), "{log}");
    let last = log.trim_end().lines().last().unwrap_or_default();
    assert!(last.contains("do not let Tailback in; compare issuer, audience"), "{log}");
}

#[test]
fn outage_of_the_token_endpoint_loses_no_row() {
    let Some((services, _turn)) = turn() else { return };
    let (site, endpoint) = (Site::new(services, "endpoint"), TokenEndpoint::start(services, "kafka"));
    site.configure(LATENESS);
    lead_by_tokens(&site, &endpoint);
    endpoint.set_away(true);
    let mut process = site.start();
    process.wait_for("token endpoint: connection failed; retrying");
    process.wait_for("answers 503 Service Unavailable");
    endpoint.set_away(false);
    process.wait_for("token endpoint: connection works again");
    let rows = rows::undisturbed();
    Feed::to(&site).paced(&rows, SPEED / 2.0, |tick| match tick {
        40 => {
            endpoint.set_away(true);
            process.wait_for_times("token endpoint: connection failed; retrying", 2);
        }
        // Tokens have expired meanwhile.
        80 => endpoint.set_away(false),
        _ => {}
    });
    process.wait_for_times("token endpoint: connection works again", 2);
    let expected = Site::tables_with(services, "endpoint_present", LATENESS, &rows);
    site.settles_as(&expected).drops_equal(&expected);
    process.finish();
}
