//! Updates for alerts as a message of `tailback.partials`: all go to the one roll-up partition that sees all links.

use alerts::Updates;
use schemas::wire::Kind;

/// Level of zstd: names that repeat.
const COMPRESSION: i32 = 1;
/// Far beyond updates of every series of the largest machine.
const CONTENT_BYTES_MAX: usize = 256 << 20;

/// Their bytes, in as many messages as it takes for none to be longer than `bytes_max`; the last one contains the time.
///
/// # Errors
/// What cannot be written.
pub fn payloads(updates: Updates, bytes_max: usize) -> anyhow::Result<Vec<Vec<u8>>> {
    let payload = payload(&updates)?;
    let longest = updates.episodes.len().max(updates.silences.len()).max(updates.jobs.len());
    if payload.len() <= bytes_max || longest < 2 {
        return Ok(vec![payload]);
    }
    let (first, rest) = halves(updates);
    let mut all = payloads(first, bytes_max)?;
    all.extend(payloads(rest, bytes_max)?);
    Ok(all)
}

fn payload(updates: &Updates) -> anyhow::Result<Vec<u8>> {
    let mut payload = Kind::Alerts.header().to_vec();
    payload.extend(zstd::bulk::compress(&postcard::to_stdvec(updates)?, COMPRESSION)?);
    Ok(payload)
}

fn halves(mut updates: Updates) -> (Updates, Updates) {
    let first = Updates {
        partition: updates.partition,
        newest: None,
        read_up_to: None,
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
    use alerts::updates::SilenceUpdate;
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
        assert_eq!(payloads(updates.clone(), usize::MAX).unwrap().len(), 1);
        let messages = payloads(updates, 20_000).unwrap();
        assert!(messages.len() > 2 && messages.iter().all(|message| message.len() <= 20_000));
        let read = |message: &Vec<u8>| {
            let (kind, body) = Kind::split(message).unwrap();
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
