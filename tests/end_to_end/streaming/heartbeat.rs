//! Heartbeats at a real Alertmanager: they come while the detector commits, and expire once it does not.

use super::feed::{Feed, since_epoch};
use super::rows;
use super::site::Site;
use crate::alerts::receiver::Receiver;
use serde_json::Value;
use std::time::{Duration, Instant};
use support::service::Service;
use support::stack::turn;

/// Longest wait for what must be seen.
const WAIT_TIMEOUT: Duration = Duration::from_secs(240);

/// Waits until `holds`; how long that took.
fn until(what: &str, holds: impl Fn() -> bool) -> Duration {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < WAIT_TIMEOUT, "{what}");
        std::thread::sleep(Duration::from_millis(200));
    }
    begun.elapsed()
}

/// Configures an Alertmanager and a receiver of heartbeats.
fn configure(site: &Site, alertmanager: &str, hook: &str) {
    let file = |name: &str, kind: &str, url: &str| {
        let path = site.config.with_extension(format!("{name}.toml"));
        let text = format!("name = {name:?}\nkind = {kind:?}\nurl = {url:?}\nresend_s = 1\n");
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let receivers = [file("am", "alertmanager", alertmanager), file("hook", "heartbeat", hook)];
    site.configure(&format!("[alerts]\nreceivers = {receivers:?}\nheartbeat = true\n"));
}

#[test]
fn heartbeat_expires_when_the_detector_stops() {
    let Some((services, _turn)) = turn() else { return };
    let Some(alertmanager) = Service::start("alertmanager") else { return };
    let site = Site::new(services, "heartbeat");
    let (sink, runtime) = (Receiver::new(), tokio::runtime::Runtime::new().unwrap());
    let (hook, _serving) = runtime.block_on(sink.listen("127.0.0.1:0"));
    configure(&site, &alertmanager.address, &format!("http://{hook}/"));
    let url = format!("{}/api/v2/alerts", alertmanager.address);
    let alerts = || -> Vec<Value> {
        let text = runtime.block_on(async { reqwest::get(&url).await.unwrap().text().await.unwrap() });
        serde_json::from_str(&text).unwrap()
    };
    let beats = || alerts().iter().any(|alert| alert["labels"]["alertname"] == "tailback_heartbeat");
    let (aggregator, detector) = (site.start_stages("aggregator"), site.start_stages("detector"));
    let rollup = site.start_stages("rollup");
    let start_s = since_epoch().as_secs() as i64 + 2;
    Feed::to(&site).live(&rows::live(start_s, 10), start_s, |_| {});
    until("the heartbeat arrives", beats);
    until("the webhook gets it", || !sink.taken().is_empty());
    let heartbeat = sink.taken().remove(0).json();
    assert_eq!((&heartbeat["kind"], heartbeat["version"].as_u64()), (&Value::from("heartbeat"), Some(1)));
    // Sources are silent since; that is no reason to be without a heartbeat.
    std::thread::sleep(Duration::from_secs(45));
    assert!(beats(), "{}", rollup.log());
    detector.finish();
    let after_s = until("the heartbeat expires", || !beats()).as_secs_f64();
    eprintln!("the heartbeat expired {after_s:.1} s after the detector had stopped");
    assert!(after_s > 10.0, "expired {after_s} s after the detector had stopped");
    assert!(rollup.log().contains("sending of heartbeats failed"), "{}", rollup.log());
    let detector = site.start_stages("detector");
    until("the heartbeat is back", beats);
    [aggregator, detector, rollup].into_iter().for_each(super::process::Process::finish);
}
