//! Notices are neither lost nor reordered, whatever the receiver does.

use super::outbox::{Outbox, deliver, notice, receiver, until};
use super::receiver::{Mood, Receiver, Taken, now_s};
use super::schema;
use alerts::receivers::{Deliverer, Random, signature};
use alerts::updates::{EpisodeUpdate, Updates};
use alerts::{AlertSettings, Alerts, rule};
use schemas::{Interval, Metric, Name, NoticeKind, SeriesInfo, Time};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use store::outbox::OutboxStore;

const SECRET: &str = "a-secret-of-the-tests";
const KINDS: [NoticeKind; 2] = [NoticeKind::Firing, NoticeKind::Resolved];

fn webhook(address: std::net::SocketAddr, more: &str) -> alerts::receivers::Receiver {
    receiver(&format!(
        "kind = \"webhook\"\nurl = \"http://{address}/hook\"\ntimeout_s = 0.3\nbackoff_s = 0.02\n\
         backoff_max_s = 0.1\nmax_per_minute = 100000\n{more}"
    ))
}

/// How often each notice arrived.
fn arrivals(sink: &Receiver) -> BTreeMap<String, usize> {
    let mut keys = BTreeMap::new();
    sink.taken().iter().for_each(|t| *keys.entry(t.header("Idempotency-Key").to_string()).or_default() += 1);
    keys
}

fn all_signed_and_in_order(all: &[Taken]) {
    let mut latest: BTreeMap<String, u64> = BTreeMap::new();
    for taken in all {
        let json = taken.json();
        let (incident, sequence) = (json["incident"].as_str().unwrap(), json["sequence"].as_u64().unwrap());
        let before = latest.insert(incident.to_string(), sequence).unwrap_or(0);
        assert!(sequence >= before, "{incident} went back from {before} to {sequence}");
        let timestamp: u64 = taken.header("Tailback-Timestamp").parse().unwrap();
        assert_eq!(taken.header("Tailback-Signature"), signature(SECRET.as_bytes(), timestamp, &taken.body));
        assert!(json["advice"]["valid_until_s"].as_f64().unwrap() > now_s());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receiver_that_fails_in_every_way_gets_everything_in_order() {
    let (sink, elsewhere) = (Receiver::new(), Receiver::new());
    let (address, serving) = sink.listen("127.0.0.1:0").await;
    let (other, _serving) = elsewhere.listen("127.0.0.1:0").await;
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    std::fs::write(&secret, SECRET).unwrap();
    let mut outbox = Outbox::new();
    let _way =
        deliver(&outbox.path, webhook(address, &format!("secret_file = {:?}", secret.display().to_string())));
    // The receiver is down.
    serving.abort();
    let _ = serving.await;
    let moods = [
        None,
        Some(Mood::Breaks),
        Some(Mood::Hangs),
        Some(Mood::Redirects(format!("http://{other}/hook"))),
        Some(Mood::IsBusy(1)),
        Some(Mood::IsSlow(Duration::from_millis(200))),
    ];
    let mut serving = None;
    for (number, mood) in moods.into_iter().enumerate() {
        if let Some(mood) = mood {
            sink.set(mood);
            if serving.is_none() {
                serving = Some(sink.listen(&address.to_string()).await);
            }
        }
        let incidents: Vec<String> = (0..10).map(|n| format!("{number}{n}")).collect();
        outbox.send(incidents.iter().map(|i| notice(i, 1, KINDS[0])).collect());
        tokio::time::sleep(Duration::from_millis(400)).await;
        outbox.send(incidents.iter().map(|i| notice(i, 2, KINDS[1])).collect());
        tokio::time::sleep(Duration::from_millis(400)).await;
    }
    sink.set(Mood::Takes);
    let expected = 6 * 10 * 2;
    until("all notices are there", || arrivals(&sink).len() == expected).await;
    all_signed_and_in_order(&sink.taken());
    assert!(elsewhere.taken().is_empty(), "redirects are not followed");
    assert!(sink.refused() > 0);
    let repeated = arrivals(&sink).values().filter(|count| **count > 1).count();
    eprintln!(
        "{expected} notices arrived, {repeated} of them more than once; {} tries were refused",
        sink.refused()
    );
    let mut notices = OutboxStore::file(&outbox.path).unwrap();
    assert!(notices.undelivered().await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn notices_link_to_their_incident_on_the_page() {
    const LINK: &str = "https://monitor.site/#/alerts?all=true&incident=00ff00ff00ff00ff";
    for (kind, page, wanted) in [
        ("webhook", Some("https://monitor.site"), json!([LINK, null])),
        ("webhook", None, json!([null, null])),
        ("alertmanager", Some("https://monitor.site"), json!([null, LINK])),
        ("alertmanager", None, json!([null, ""])),
    ] {
        let mut outbox = Outbox::new();
        let sink = Receiver::new();
        let (address, _serving) = sink.listen("127.0.0.1:0").await;
        let mut to = receiver(&format!("kind = \"{kind}\"\nurl = \"http://{address}/\""));
        to.page = page.map(str::to_string);
        let way = deliver(&outbox.path, to);
        outbox.send(vec![notice("00ff00ff00ff00ff", 1, KINDS[0])]);
        until("it is there", || !sink.taken().is_empty()).await;
        way.abort();
        let body = sink.taken()[0].json();
        assert_eq!(json!([body["url"], body[0]["generatorURL"]]), wanted, "{kind}: {body}");
    }
}

/// The deliverer has its own clock, so that the hour passes in seconds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn notices_arrive_after_the_receiver_was_down_for_an_hour() {
    let mut outbox = Outbox::new();
    let sink = Receiver::new();
    let (address, serving) = sink.listen("127.0.0.1:0").await;
    serving.abort();
    let _ = serving.await;
    let clock_s = Arc::new(AtomicU64::new(now_s() as u64));
    let clock = Arc::clone(&clock_s);
    let mut way = Deliverer::new(
        receiver(&format!("kind = \"webhook\"\nurl = \"http://{address}/\"")),
        OutboxStore::file(&outbox.path).unwrap(),
        "test",
        1e9,
        Arc::new(move || clock.load(Ordering::Relaxed) as f64),
        Random::of(|| 0.5),
    )
    .unwrap();
    let mut tries = 0;
    for second in 0..3_600 {
        if second % 600 == 0 {
            let incidents = ["a", "b", "c"].map(|name| format!("{name}{second}"));
            outbox.send(incidents.iter().map(|i| notice(i, 1, KINDS[0])).collect());
            outbox.send(incidents.iter().map(|i| notice(i, 2, KINDS[1])).collect());
        }
        tries += way.turn().await.unwrap();
        clock_s.fetch_add(1, Ordering::Relaxed);
    }
    assert!((18 * 8..18 * 40).contains(&tries), "{tries} tries of 18 incidents in an hour");
    let (_, _serving) = sink.listen(&address.to_string()).await;
    for _ in 0..400 {
        way.turn().await.unwrap();
        clock_s.fetch_add(1, Ordering::Relaxed);
    }
    let mut latest: BTreeMap<String, u64> = BTreeMap::new();
    for taken in sink.taken() {
        let json = taken.json();
        let known = latest.entry(json["incident"].as_str().unwrap().to_string()).or_default();
        assert_eq!(json["sequence"], *known + 1);
        *known += 1;
    }
    assert_eq!((latest.len(), sink.taken().len()), (18, 36));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refused_notice_is_a_dead_letter_until_a_retry_is_requested() {
    let mut outbox = Outbox::new();
    let sink = Receiver::new();
    let (address, _serving) = sink.listen("127.0.0.1:0").await;
    sink.set(Mood::Breaks);
    let way = deliver(&outbox.path, webhook(address, "give_up_h = 0.001"));
    outbox.send(vec![notice("i", 1, KINDS[0])]);
    let mut notices = OutboxStore::file(&outbox.path).unwrap();
    let dead = |notices: &mut OutboxStore| {
        futures::executor::block_on(notices.undelivered()).unwrap().iter().any(|u| u.dead == 1)
    };
    until("the notice is dead", || dead(&mut notices)).await;
    sink.set(Mood::Takes);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(sink.taken().is_empty(), "no retry was requested");
    assert_eq!(notices.retry("i", "").await.unwrap(), 1);
    until("it is there", || sink.taken().len() == 1).await;
    way.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn silenced_notice_is_sent_when_the_silence_ends_unless_resolved() {
    use schemas::AlertSilence;
    let mut outbox = Outbox::new();
    let sink = Receiver::new();
    let (address, _serving) = sink.listen("127.0.0.1:0").await;
    let mut notices = OutboxStore::file(&outbox.path).unwrap();
    let silence = |id: &str, incident: &str| AlertSilence {
        id: id.to_string(),
        matchers: BTreeMap::from([("incident".to_string(), incident.to_string())]),
        from_s: 0.0,
        until_s: now_s() + 3.0,
        author: String::new(),
        comment: String::new(),
    };
    notices.put_silence(&silence("a", "short*")).await.unwrap();
    notices.put_silence(&silence("b", "long")).await.unwrap();
    let _way = deliver(&outbox.path, webhook(address, ""));
    outbox.send(vec![
        notice("short", 1, KINDS[0]),
        notice("long", 1, KINDS[0]),
        notice("other", 1, KINDS[0]),
    ]);
    until("the other is there", || sink.taken().len() == 1).await;
    outbox.send(vec![notice("short", 2, KINDS[1])]);
    until("the long one is there", || sink.taken().len() == 2).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let keys: Vec<String> = sink.taken().iter().map(|t| t.header("Idempotency-Key").to_string()).collect();
    assert_eq!(keys, ["other.1", "long.1"]);
    let states: Vec<String> =
        notices.deliveries("short").await.unwrap().into_iter().map(|d| d.state).collect();
    assert_eq!(states, ["silenced", "silenced"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_of_2048_links_is_one_notification() {
    let mut outbox = Outbox::new();
    let sink = Receiver::new();
    let (address, _serving) = sink.listen("127.0.0.1:0").await;
    let hook = webhook(address, "");
    let settings = AlertSettings::new(rule::load(&[]).unwrap(), vec![hook.route().unwrap()], &[]);
    let _way = deliver(&outbox.path, hook);
    let mut alerts = Alerts::new(Arc::new(settings));
    let begin = Time::from_seconds(now_s() - 200.0);
    let episode = |n: usize, second: f64| EpisodeUpdate {
        series: SeriesInfo {
            metric: Metric::from_name("ib_wait_ratio").unwrap(),
            component: Name::parse(&format!("switch-{}", n / 32)).unwrap(),
            part: Name::parse(&(n % 32).to_string()).ok(),
        },
        start: begin.plus_seconds(n as f64 / 2048.0),
        end: begin.plus_seconds(second),
        open: true,
        slowdown_s: Interval { value: second / 2.0, lo: second / 3.0, hi: second },
        completeness: 1.0,
        causes: Vec::new(),
    };
    for second in (4..120).step_by(4) {
        let second = f64::from(second);
        let newest = Some(begin.plus_seconds(second));
        let episodes = (0..2048).map(|n| episode(n, second)).collect();
        alerts.updates(&Updates { newest, episodes, ..Updates::default() });
        outbox.commit(alerts.take());
    }
    until("the notice arrives", || !sink.taken().is_empty()).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let taken = sink.taken();
    assert_eq!(taken.len(), 1);
    schema::check(&taken[0].json());
    assert_eq!(taken[0].json()["members"], 2048);
}
