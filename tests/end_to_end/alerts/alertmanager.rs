//! A real Alertmanager receives, groups and resolves.

use super::outbox::{Outbox, deliver, notice, receiver, until};
use super::receiver::Receiver;
use schemas::NoticeKind;
use serde_json::Value;
use std::ffi::OsStr;
use support::service::Service;

async fn ask(url: &str) -> Value {
    let text = reqwest::get(url).await.unwrap().text().await.unwrap();
    serde_json::from_str(&text).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_alertmanager_receives_groups_and_resolves() {
    let sink = Receiver::new();
    let (address, _serving) = sink.listen("127.0.0.1:0").await;
    let folder = tempfile::tempdir().unwrap();
    let hook = format!("http://{address}/");
    let hook = OsStr::new(&hook);
    let Some(alertmanager) = Service::start_in("alertmanager", folder.path(), &[hook], &[]) else { return };
    let url = &alertmanager.address;
    let mut outbox = Outbox::new();
    // Firing alerts are sent each second; without resends they would expire in Alertmanager after four seconds.
    let am =
        receiver(&format!("kind = \"alertmanager\"\nurl = {url:?}\nresend_s = 1\nmax_per_minute = 10000"));
    let _way = deliver(&outbox.path, am);
    let incidents = ["a", "b", "c"];
    outbox.send(incidents.iter().map(|i| notice(i, 1, NoticeKind::Firing)).collect());
    until("the group arrives", || {
        sink.taken().iter().any(|t| t.json()["alerts"].as_array().unwrap().len() == 3)
    })
    .await;
    tokio::time::sleep(std::time::Duration::from_secs(6)).await;
    let groups = ask(&format!("{url}/api/v2/alerts/groups")).await;
    assert_eq!(groups.as_array().unwrap().len(), 1, "{groups}");
    let alerts = ask(&format!("{url}/api/v2/alerts")).await;
    assert_eq!(
        alerts.as_array().unwrap().len(),
        3,
        "still firing after six seconds, since it is sent again: {alerts}"
    );
    assert_eq!(alerts[0]["annotations"]["action"], "reroute_lids");
    assert_eq!(alerts[0]["labels"]["alertname"], "region_contended");
    outbox.send(incidents.iter().map(|i| notice(i, 2, NoticeKind::Resolved)).collect());
    until("the resolution arrives", || {
        let last = sink.taken().last().map(super::receiver::Taken::json);
        last.is_some_and(|last| last["status"] == "resolved")
    })
    .await;
    let alerts = ask(&format!("{url}/api/v2/alerts")).await;
    assert_eq!(alerts.as_array().unwrap().len(), 0, "{alerts}");
    assert_eq!(sink.taken().iter().filter(|t| t.json()["status"] == "resolved").count(), 1);
}
