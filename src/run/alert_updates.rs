//! Updates for alerts as a message of `tailback.partials`: all go to the one roll-up partition that sees all links.

use super::links;
use super::work::{OutTopic, Outgoing};
use detector::alerts::Updates;
use schemas::wire::Kind;

/// Level of zstd: names that repeat.
const COMPRESSION: i32 = 1;
/// Far beyond updates of every series of the largest machine.
const CONTENT_BYTES_MAX: usize = 256 << 20;

/// The messages: as many as it takes for none to be longer than `bytes_max`; the last one contains the time.
pub fn outgoing(updates: Updates, bytes_max: usize) -> Vec<Outgoing> {
    let Some(payload) = payload(&updates) else { return Vec::new() };
    let longest = updates.episodes.len().max(updates.silences.len()).max(updates.jobs.len());
    if payload.len() <= bytes_max || longest < 2 {
        return vec![Outgoing { to: OutTopic::Partials, key: links::KEY.to_string(), payload }];
    }
    let (first, rest) = halves(updates);
    let mut messages = outgoing(first, bytes_max);
    messages.extend(outgoing(rest, bytes_max));
    messages
}

fn payload(updates: &Updates) -> Option<Vec<u8>> {
    let content = postcard::to_stdvec(updates).ok()?;
    let mut payload = Kind::Alerts.header().to_vec();
    payload.extend(zstd::bulk::compress(&content, COMPRESSION).ok()?);
    Some(payload)
}

fn halves(mut updates: Updates) -> (Updates, Updates) {
    let first = Updates {
        partition: updates.partition,
        newest: None,
        episodes: updates.episodes.drain(..updates.episodes.len() / 2).collect(),
        silences: updates.silences.drain(..updates.silences.len() / 2).collect(),
        jobs: updates.jobs.drain(..updates.jobs.len() / 2).collect(),
    };
    (first, updates)
}

/// Reads a message back, without its header; `None` if it is damaged.
pub fn read(body: &[u8]) -> Option<Updates> {
    let content = zstd::bulk::decompress(body, CONTENT_BYTES_MAX).ok()?;
    postcard::from_bytes(&content).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use detector::alerts::updates::SilenceUpdate;
    use schemas::{Name, SilenceEnd, Time};

    #[test]
    fn long_updates_are_split_and_the_last_part_has_the_time() {
        let silence = |node: i64| SilenceUpdate {
            source: format!("nid{node:05}/lustre_client/nid{node:05}/{:x}", node.wrapping_mul(0x9E37_79B9)),
            component: Name::parse(&format!("nid{node:05}")).unwrap(),
            since: Time(node),
            end: SilenceEnd::Open,
        };
        let newest = Some(Time::from_seconds(7.0));
        let silences: Vec<SilenceUpdate> = (0..5_000).map(silence).collect();
        let updates = Updates { partition: 3, newest, silences: silences.clone(), ..Updates::default() };
        assert_eq!(outgoing(updates.clone(), usize::MAX).len(), 1);
        let messages = outgoing(updates, 20_000);
        assert!(messages.len() > 2 && messages.iter().all(|message| message.payload.len() <= 20_000));
        let read = |message: &Outgoing| {
            let (kind, body) = Kind::split(&message.payload).unwrap();
            assert_eq!(kind, Kind::Alerts);
            read(body).unwrap()
        };
        let read: Vec<Updates> = messages.iter().map(read).collect();
        let (last, before) = read.split_last().unwrap();
        assert!(last.newest == newest && before.iter().all(|updates| updates.newest.is_none()));
        let restored: Vec<SilenceUpdate> = read.into_iter().flat_map(|updates| updates.silences).collect();
        assert_eq!(restored, silences);
    }
}
