//! A program that may write to Tailback's own topics, and does not have the key: nothing of what it writes counts.

use super::arrival::undisturbed;
use super::feed::{Feed, since_epoch};
use super::forgeries::{messages, of_counters, of_jobs, of_partials};
use super::process::Program;
use super::rows::{self, Dice};
use super::site::{PARTITIONS, Site};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use support::stack::turn;
use tailback::runtime::message_code::CODE_BYTES;

/// Seconds of rows after which the forger writes.
const AT: [u32; 3] = [60, 90, 120];

/// Writes a round of forgeries, some with a code that is none; the number of them by topic.
fn forge(site: &Site, feed: &Feed<'_>, dice: &mut Dice, count: &mut BTreeMap<String, u64>) {
    let topic = |name: &str| format!("{}.{name}", site.name);
    let read = |name: &str| messages(&site.services.broker, &topic(name), PARTITIONS);
    let (counters, partials) = (read("counters"), read("partials"));
    let mut push = |name: &str, partition: i32, message: &[u8]| {
        feed.payload(&topic(name), partition, since_epoch().as_millis() as i64, message);
        *count.entry(name.to_string()).or_default() += 1;
    };
    let raw_topic = site.raw_topic("lustre_client");
    for (name, partitions, forged) in [
        ("counters", PARTITIONS, of_counters(&counters, &raw_topic)),
        ("partials", PARTITIONS, of_partials(&partials)),
        ("jobs", 1, of_jobs()),
    ] {
        for content in forged {
            let partition = dice.below(partitions as u64) as i32;
            push(name, partition, &content);
            let code: Vec<u8> = (0..CODE_BYTES).map(|_| dice.below(256) as u8).collect();
            push(name, partition, &[content, code].concat());
        }
    }
    // Genuine ones where they do not belong.
    for (partition, message) in counters.iter().step_by(1 + counters.len() / 40) {
        push("counters", (partition + 1) % PARTITIONS, message);
        push("partials", *partition, message);
        push("jobs", 0, message);
    }
    feed.flush();
}

#[test]
fn forged_messages_are_refused_and_change_nothing() {
    let Some((services, _turn)) = turn() else { return };
    let site = Site::new(services, "forged");
    let key = site.config.with_extension("key");
    std::fs::write(&key, "0123456789abcdef0123456789abcdef\n").unwrap();
    let run = Program::new("run", &site.config);
    let run = run.env("TAILBACK_KAFKA__MESSAGE_KEY_FILE", &key.display().to_string());
    let process = run.start();
    let (feed, mut dice, mut count) = (Feed::to(&site), Dice::new("forged"), BTreeMap::new());
    feed.paced(&rows::undisturbed(), 6.0, |tick| {
        if AT.contains(&tick) {
            forge(&site, &feed, &mut dice, &mut count);
        }
    });
    let tables = site.settles_as(undisturbed(services));
    eprintln!("forged messages by topic: {count:?}");
    let all: u64 = count.values().sum();
    assert_eq!(tables.drops, BTreeMap::from([("bad_message".to_string(), all)]));
    let kept = "SELECT topic, count(*) FROM rejected_messages WHERE reason = 'forged' GROUP BY 1 ORDER BY 1";
    let expected: Vec<String> =
        count.iter().map(|(name, count)| format!("{}.{name} | {count}", site.name)).collect();
    let deadline = Instant::now() + Duration::from_secs(60);
    while site.database.rows(kept) != expected && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(200));
    }
    assert_eq!(site.database.rows(kept), expected);
    // The limits of the monitor's own condition show it.
    let condition = "SELECT name, state FROM monitor_health WHERE name IN ('rejected_messages', 'dropped_rows') ORDER BY 1";
    assert_eq!(site.database.rows(condition), ["dropped_rows | within", "rejected_messages | exceeded"]);
    process.finish();
}
