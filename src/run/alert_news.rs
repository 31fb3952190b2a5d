//! News for alerts as a message of `tailback.signals`: all go to the one roll-up partition that sees all links.

use super::links;
use super::work::{OutTopic, Outgoing};
use detector::alerts::News;

/// First byte of a message, which tells it from those of jobs and links.
pub const VERSION: u8 = 5;
/// Level of zstd: names that repeat.
const COMPRESSION: i32 = 1;
/// Far beyond news of every series of the largest machine.
const CONTENT_BYTES_MAX: usize = 256 << 20;

/// The messages: as many as it takes for none to be longer than `bytes_max`, the last of which tells the time.
pub fn outgoing(news: News, bytes_max: usize) -> Vec<Outgoing> {
    let Some(payload) = payload(&news) else { return Vec::new() };
    let longest = news.episodes.len().max(news.silences.len()).max(news.jobs.len());
    if payload.len() <= bytes_max || longest < 2 {
        return vec![Outgoing { to: OutTopic::Signals, key: links::KEY.to_string(), payload }];
    }
    let (first, rest) = halves(news);
    let mut messages = outgoing(first, bytes_max);
    messages.extend(outgoing(rest, bytes_max));
    messages
}

fn payload(news: &News) -> Option<Vec<u8>> {
    let content = postcard::to_stdvec(news).ok()?;
    let mut payload = vec![VERSION];
    payload.extend(zstd::bulk::compress(&content, COMPRESSION).ok()?);
    Some(payload)
}

fn halves(mut news: News) -> (News, News) {
    let first = News {
        partition: news.partition,
        newest: None,
        episodes: news.episodes.drain(..news.episodes.len() / 2).collect(),
        silences: news.silences.drain(..news.silences.len() / 2).collect(),
        jobs: news.jobs.drain(..news.jobs.len() / 2).collect(),
    };
    (first, news)
}

/// Reads a message back; `None` if it is none.
pub fn read(payload: &[u8]) -> Option<News> {
    let (version, compressed) = payload.split_first()?;
    let content = zstd::bulk::decompress(compressed, CONTENT_BYTES_MAX).ok()?;
    postcard::from_bytes(&content).ok().filter(|_| *version == VERSION)
}

#[cfg(test)]
mod tests {
    use super::*;
    use detector::alerts::news::SilenceNews;
    use schemas::{Name, SilenceEnd, Time};

    #[test]
    fn news_too_long_for_a_message_go_in_several_and_the_last_one_tells_the_time() {
        let silence = |node: i64| SilenceNews {
            source: format!("nid{node:05}/lustre_client/nid{node:05}/{:x}", node.wrapping_mul(0x9E37_79B9)),
            component: Name::parse(&format!("nid{node:05}")).unwrap(),
            since: Time(node),
            end: SilenceEnd::Open,
        };
        let newest = Some(Time::from_seconds(7.0));
        let silences: Vec<SilenceNews> = (0..5_000).map(silence).collect();
        let news = News { partition: 3, newest, silences: silences.clone(), ..News::default() };
        assert_eq!(outgoing(news.clone(), usize::MAX).len(), 1);
        let messages = outgoing(news, 20_000);
        assert!(messages.len() > 2 && messages.iter().all(|message| message.payload.len() <= 20_000));
        let read: Vec<News> = messages.iter().map(|message| read(&message.payload).unwrap()).collect();
        let (last, before) = read.split_last().unwrap();
        assert!(last.newest == newest && before.iter().all(|news| news.newest.is_none()));
        let told: Vec<SilenceNews> = read.into_iter().flat_map(|news| news.silences).collect();
        assert_eq!(told, silences);
    }
}
