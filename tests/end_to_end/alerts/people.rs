//! Requests of people and schedulers: `tailback alerts`, and the advice over HTTP.

use super::outbox::{Outbox, notice};
use super::receiver::now_s;
use dashboards::access::Access;
use dashboards::router::Shown;
use dashboards::{Page, Progress, ServerConfig};
use schemas::NoticeKind;
use schemas::secret::Redacted;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use store::outbox::{OutboxStore, PutBack};
use tokio::sync::watch;

fn alerts(store: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(crate::TAILBACK);
    command.arg("alerts").args(arguments).arg("--store").arg(store).output().unwrap()
}

fn printed(store: &Path, arguments: &[&str]) -> String {
    let output = alerts(store, arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(store: &Path, arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(store, &[arguments, &["--json"]].concat())).unwrap()
}

#[tokio::test]
async fn incidents_are_listed_shown_retried_and_silenced() {
    let mut outbox = Outbox::new();
    outbox.send(vec![notice("i", 1, NoticeKind::Firing), notice("k", 1, NoticeKind::Firing)]);
    outbox.send(vec![notice("k", 2, NoticeKind::Resolved)]);
    let mut notices = OutboxStore::file(&outbox.path).unwrap();
    let now_s = now_s();
    for leased in notices.lease("r", "test", now_s, now_s + 30.0, 10).await.unwrap() {
        notices.put_back(&leased, &PutBack::Dead("it answers 400".to_string())).await.unwrap();
    }
    let store = outbox.path.as_path();
    assert_eq!(json(store, &["list"])["incidents"].as_array().unwrap().len(), 1, "k is over");
    assert_eq!(json(store, &["list", "--all"])["incidents"].as_array().unwrap().len(), 2);
    assert!(printed(store, &["list"]).contains("not delivered to r: 0 waiting, 1 dead of i"));
    let shown = printed(store, &["show", "i"]);
    assert!(shown.contains("advice: reroute_lids") && shown.contains("dead"), "{shown}");
    assert!(shown.contains("it answers 400"), "{shown}");
    assert_eq!(json(store, &["retry", "i"])["again"], 1);
    assert!(printed(store, &["list"]).contains("1 waiting, 0 dead of i"));
    let silence = json(store, &["silence", "alertname=region_*", "--for", "30m", "--comment", "works"]);
    assert!(printed(store, &["list"]).contains("alertname=region_*"));
    let id = silence["id"].as_str().unwrap();
    assert_eq!(json(store, &["silence", "--end", id])["ended"], id);
    for (arguments, part) in [
        (&["show", "nothing"][..], "there is no incident"),
        (&["retry", "nothing"], "nothing of nothing"),
        (&["silence", "alertname"], "LABEL=TEXT"),
        (&["silence", "--end", id], "there is no active silence"),
    ] {
        let output = alerts(store, arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && error.contains(part), "{arguments:?}: {error}");
    }
}

#[tokio::test]
async fn a_scheduler_that_asks_gets_advice_about_its_nodes_while_it_holds() {
    let mut outbox = Outbox::new();
    let mut over = notice("old", 1, NoticeKind::Firing);
    over.advice.valid_until_s = now_s() - 1.0;
    outbox.send(vec![notice("i", 1, NoticeKind::Firing), over]);
    let page = Page {
        store: outbox.path.clone().into(),
        run_note: None,
        public_url: None,
        clock: Some(Arc::new(now_s)),
        shown: Shown::Advice,
    };
    let config = ServerConfig {
        read: Access::by(Some(&Redacted::new("a-token".to_string()))),
        ..ServerConfig::page("127.0.0.1:0".parse().unwrap(), page)
    };
    let server = dashboards::bind(config).await.unwrap();
    let url = format!("{}api/v1/advice", server.url());
    let (_progress, ticks) = watch::channel(Progress::default());
    let _serving = tokio::spawn(server.serve(ticks, std::future::pending()));
    let client = reqwest::Client::new();
    let ask = async |nodes: &str| {
        let request = client.get(format!("{url}?nodes={nodes}")).bearer_auth("a-token");
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    let advice = |text: &str| serde_json::from_str::<Value>(text).unwrap()["advice"].clone();
    let (_, all) = ask("").await;
    assert_eq!(advice(&all).as_array().unwrap().len(), 1, "expired advice is not listed: {all}");
    let (_, hit) = ask("tb[00-04]").await;
    assert_eq!(advice(&hit)[0]["advice"]["action"], "reroute_lids");
    let (_, missed) = ask("tb[07-09]").await;
    assert_eq!(advice(&missed).as_array().unwrap().len(), 0);
    assert_eq!(ask("tb[").await.0, 400);
    assert_eq!(client.get(&url).send().await.unwrap().status().as_u16(), 401);
}
