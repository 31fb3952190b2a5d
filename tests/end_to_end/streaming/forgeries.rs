//! Well-formed messages that none of Tailback's processes wrote: genuine ones with other content.

use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::{ClientConfig, Message, Offset, TopicPartitionList};
use schemas::wire::{self, Origin, Reached};
use schemas::{DropReason, JobEvent, Name, RejectReason, RejectedMessage, Time};
use stages::messages::{Content, Partial};
use std::time::{Duration, Instant};
use tailback::runtime::message_code::CODE_BYTES;

/// Far beyond every message of a test.
const BYTES_MAX: usize = 1 << 20;
/// Names that one forger invents.
const INVENTED: usize = 20;

/// Genuine messages of each kind that are changed.
const EACH: usize = 5;

/// The year 2200, and a day after 1970.
const FAR: [Time; 2] = [Time(7_258_118_400_000_000), Time(86_400_000_000)];

/// Messages that are in a topic, with their partitions.
pub fn messages(broker: &str, topic: &str, partitions: i32) -> Vec<(i32, Vec<u8>)> {
    let reader: BaseConsumer =
        ClientConfig::new().set("bootstrap.servers", broker).set("group.id", "forger").create().unwrap();
    let timeout = Duration::from_secs(30);
    let mut found = Vec::new();
    for partition in 0..partitions {
        let (low, high) = reader.fetch_watermarks(topic, partition, timeout).unwrap();
        let mut from = TopicPartitionList::new();
        from.add_partition_offset(topic, partition, Offset::Offset(low)).unwrap();
        reader.assign(&from).unwrap();
        let mut next = low;
        let deadline = Instant::now() + timeout;
        while next < high {
            assert!(Instant::now() < deadline, "{topic}/{partition} ends at {next}, not at {high}");
            // It returns without a message at events of its own, too.
            let Some(Ok(message)) = reader.poll(Duration::from_millis(200)) else { continue };
            next = message.offset() + 1;
            found.push((partition, message.payload().unwrap().to_vec()));
        }
    }
    found
}

/// Contents of sealed messages.
fn contents(sealed: &[(i32, Vec<u8>)]) -> impl Iterator<Item = &[u8]> {
    sealed.iter().filter_map(|(_, message)| message.get(..message.len().checked_sub(CODE_BYTES)?))
}

/// For `tailback.counters`, out of what is there.
pub fn of_counters(genuine: &[(i32, Vec<u8>)], raw_topic: &str) -> Vec<Vec<u8>> {
    let mut forged = rows(genuine);
    let mut buffer = Vec::new();
    for time in FAR {
        let reached = (0..4).map(|partition| Reached { topic: raw_topic.to_string(), partition, time });
        wire::write_progress(&mut buffer, "forger", time, &reached.collect::<Vec<_>>());
        forged.push(buffer.clone());
    }
    let dropped = wire::DroppedRow { offset: i64::MAX - 1, reason: DropReason::Late };
    wire::write_dropped(&mut buffer, raw_topic, 0, &[dropped]);
    forged.push(buffer.clone());
    wire::begin_job_rows(&mut buffer, raw_topic, 0);
    for number in 0..INVENTED {
        wire::put_job_row(&mut buffer, i64::MAX - 1, FAR[0], true, &[job(number)]);
    }
    wire::end_job_rows(&mut buffer);
    forged.push(buffer.clone());
    wire::write_rejected(&mut buffer, &rejected(raw_topic));
    forged.push(buffer);
    forged
}

/// Rows with a time far away, with counters at their maximum, of a raw partition that ends here, and of raw topics that there
/// are not.
fn rows(genuine: &[(i32, Vec<u8>)]) -> Vec<Vec<u8>> {
    let row = |content| match wire::read(content) {
        Ok(wire::Message::Counters(row)) => Some(row),
        _ => None,
    };
    let row = contents(genuine).find_map(row).unwrap();
    let mut counters: Vec<u64> = Vec::new();
    row.counters(&mut counters).unwrap();
    let mut forged = Vec::new();
    let mut push = |origin: Origin<'_>, time: Time, counters: &[u64]| {
        let mut buffer = Vec::new();
        wire::write_counters(&mut buffer, &origin, time, row.source, counters);
        forged.push(buffer);
    };
    let next = Origin { offset: i64::MAX - 2, ..row.origin };
    FAR.into_iter().for_each(|time| push(next, time, &counters));
    push(next, row.time + 1_000_000, &vec![u64::MAX; counters.len()]);
    push(Origin { offset: i64::MAX - 1, arrived: FAR[0], ..row.origin }, row.time, &counters);
    for number in 0..INVENTED {
        push(Origin { topic: &format!("ldms.invented{number}"), ..next }, row.time, &counters);
    }
    forged
}

fn job(number: usize) -> JobEvent {
    JobEvent {
        time: Time(1_790_000_030_000_000),
        nodes: vec![Name::parse("nid00001").unwrap()],
        job_id: Name::parse(&format!("9{number}")).unwrap(),
        label: String::new(),
        user: "forger".to_string(),
        name: "forged".to_string(),
        start: Some(Time(1_790_000_001_000_000)),
        end: None,
        seen: false,
    }
}

fn rejected(topic: &str) -> RejectedMessage {
    RejectedMessage {
        stage: "aggregator".to_string(),
        topic: topic.to_string(),
        partition: 0,
        offset: 1,
        written: false,
        reason: RejectReason::BadMessage,
        detail: "invented".to_string(),
        key: String::new(),
        size: 1,
        head: vec![0],
    }
}

/// For `tailback.partials`, out of what is there: parts that no later one replaces, of partitions that there are not, with
/// numbers that are none; seconds of links, and updates for alerts, of a far future.
pub fn of_partials(genuine: &[(i32, Vec<u8>)]) -> Vec<Vec<u8>> {
    let mut forged = Vec::new();
    let mut push = |partial: Partial| {
        let sent = Content::Partial(partial).encoded(BYTES_MAX).unwrap();
        forged.extend(sent.into_iter().map(|outgoing| outgoing.payload));
    };
    let mut kinds = [0; 3];
    for partial in contents(genuine).filter_map(|content| Partial::read(content).ok()) {
        let kind = match partial {
            Partial::JobPart(_) => 0,
            Partial::Links(_) => 1,
            Partial::Alerts(_) => 2,
        };
        kinds[kind] += 1;
        if kinds[kind] > EACH {
            continue;
        }
        match partial {
            Partial::JobPart(mut message) => {
                message.position = i64::MAX;
                message.part.completeness_sum = f64::NAN;
                message.part.judged_sum = f64::INFINITY;
                push(Partial::JobPart(message.clone()));
                message.partition = i32::MAX;
                message.part.until = FAR[0];
                push(Partial::JobPart(message));
            }
            Partial::Links(mut message) => {
                (message.watermark_tick, message.newest) = (i64::MAX, Some(i64::MAX));
                message.final_tick = Some(i64::MAX - 1);
                message.updates.iter_mut().for_each(|update| update.tick += 1_000_000_000);
                push(Partial::Links(message));
            }
            Partial::Alerts(mut updates) => {
                (updates.newest, updates.read_up_to) = (Some(FAR[0]), Some(FAR[0]));
                push(Partial::Alerts(updates));
            }
        }
    }
    assert!(kinds.iter().all(|count| *count > 0), "the topic has not every kind yet: {kinds:?}");
    forged
}

/// For `tailback.jobs`: jobs that there are not, on nodes of others.
pub fn of_jobs() -> Vec<Vec<u8>> {
    let job = |number: usize| {
        format!(r#"{{"job_id":"8{number}","nodes":"nid0000[1-8]","user":"forger","start":1790000001}}"#)
    };
    (0..INVENTED).map(|number| job(number).into_bytes()).collect()
}
