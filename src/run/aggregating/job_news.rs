//! What rows say about jobs, on its way to all partitions: only what is new, and many rows in one message.

use schemas::wire::{Origin, begin_job_rows, end_job_rows, put_job_row};
use schemas::{JobEvent, Name};
use std::collections::{BTreeMap, HashMap};

/// Job events remembered, so that rows that repeat the same every second are sent once.
const EVENTS_MAX: usize = 200_000;
/// Length of a message from which on it waits for no more rows.
const FULL_BYTES: usize = 64 * 1024;

/// A job's nodes are too many for a message.
#[derive(Debug)]
pub(super) struct TooLong {
    /// The job.
    pub(super) job: Name,
    /// Length of the message.
    pub(super) bytes: usize,
}

/// News of jobs that wait for others of the same raw partition. All nodes of a job tell of it in the same second: a message
/// each, to every partition, would hold up the counters behind them.
pub(super) struct JobNews {
    known: HashMap<(Name, Name), JobEvent>,
    /// Messages without their end, by topic and partition.
    waiting: BTreeMap<String, BTreeMap<i32, Vec<u8>>>,
    messages: usize,
    bytes_max: usize,
    row: Vec<u8>,
}

impl JobNews {
    /// Messages have `bytes_max` bytes at most.
    pub(super) fn new(bytes_max: usize) -> JobNews {
        JobNews { known: HashMap::new(), waiting: BTreeMap::new(), messages: 0, bytes_max, row: Vec::new() }
    }

    /// Takes what a row said; comes back with a message that is full.
    ///
    /// # Errors
    /// [`TooLong`] if the row alone fills more than a message: it is left out.
    pub(super) fn take(
        &mut self,
        origin: &Origin<'_>,
        events: &[JobEvent],
    ) -> Result<Option<Vec<u8>>, TooLong> {
        let news = self.news(events);
        let Some(first) = news.first() else { return Ok(None) };
        begin_job_rows(&mut self.row, origin.topic, origin.partition);
        let head = self.row.len();
        put_job_row(&mut self.row, origin.offset, origin.arrived, &news);
        let bytes = self.row.len() + 1;
        if bytes > self.bytes_max {
            return Err(TooLong { job: first.job_id.clone(), bytes });
        }
        let waits = self.waiting.get_mut(origin.topic).and_then(|raws| raws.get_mut(&origin.partition));
        if let Some(message) = waits
            && message.len() + bytes - head <= self.bytes_max.min(FULL_BYTES)
        {
            message.extend_from_slice(&self.row[head..]);
            return Ok(None);
        }
        let full = self.of_raw(origin.topic, origin.partition);
        let raws = self.waiting.entry(origin.topic.to_string()).or_default();
        raws.insert(origin.partition, self.row.clone());
        self.messages += 1;
        Ok(full)
    }

    /// What waits of a raw partition: nothing that stands behind it there may go before it.
    pub(super) fn of_raw(&mut self, topic: &str, partition: i32) -> Option<Vec<u8>> {
        if self.messages == 0 {
            return None;
        }
        let mut message = self.waiting.get_mut(topic)?.remove(&partition)?;
        self.messages -= 1;
        end_job_rows(&mut message);
        Some(message)
    }

    /// Everything that waits.
    pub(super) fn all(&mut self) -> impl Iterator<Item = Vec<u8>> + use<> {
        self.messages = 0;
        let waiting = std::mem::take(&mut self.waiting).into_values().flat_map(BTreeMap::into_values);
        waiting.map(|mut message| {
            end_job_rows(&mut message);
            message
        })
    }

    /// Events that say something else than the latest of the same node about the same job.
    fn news(&mut self, events: &[JobEvent]) -> Vec<JobEvent> {
        if self.known.len() > EVENTS_MAX {
            self.known.clear();
        }
        let mut news = Vec::new();
        for event in events {
            // What Slurm says of a whole job comes once; it is a node that repeats itself.
            let [node] = event.nodes.as_slice() else {
                news.push(event.clone());
                continue;
            };
            let key = (node.clone(), event.job_id.clone());
            let same = |known: &JobEvent| JobEvent { time: event.time, ..known.clone() } == *event;
            if !self.known.get(&key).is_some_and(same) {
                self.known.insert(key, event.clone());
                news.push(event.clone());
            }
        }
        news
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemas::Time;
    use schemas::wire::{JobRow, Message, read};

    fn origin(topic: &str, offset: i64) -> Origin<'_> {
        Origin { topic, partition: 1, offset, arrived: Time(offset * 10) }
    }

    fn on(node: &str, time: i64) -> JobEvent {
        let name = |text| Name::parse(text).unwrap();
        JobEvent {
            time: Time(time),
            nodes: vec![name(node)],
            job_id: name("7"),
            label: String::new(),
            user: "ann".into(),
            name: "x".repeat(500),
            start: Some(Time(1)),
            end: None,
        }
    }

    fn rows(message: &[u8]) -> (String, Vec<JobRow>) {
        let Ok(Message::Jobs(topic, 1, rows)) = read(message) else { panic!("no news of jobs") };
        (topic.to_string(), rows)
    }

    #[test]
    fn rows_of_one_raw_partition_go_in_one_message_in_their_order_and_repetitions_not_at_all() {
        let mut news = JobNews::new(1_000_000);
        for (offset, node) in [(4, "n1"), (6, "n2"), (7, "n1"), (9, "n3")] {
            assert!(news.take(&origin("a", offset), &[on(node, offset)]).unwrap().is_none());
        }
        news.take(&origin("b", 5), &[on("n4", 5)]).unwrap();
        let (topic, of_a) = rows(&news.of_raw("a", 1).unwrap());
        let offsets: Vec<(i64, Time)> = of_a.iter().map(|row| (row.offset, row.arrived)).collect();
        assert_eq!((topic.as_str(), offsets), ("a", vec![(4, Time(40)), (6, Time(60)), (9, Time(90))]));
        assert!(news.of_raw("a", 1).is_none(), "it was taken");
        let left: Vec<Vec<u8>> = news.all().collect();
        assert_eq!((left.len(), rows(&left[0]).1[0].offset), (1, 5));
        assert_eq!(news.all().count(), 0);
    }

    #[test]
    fn a_full_message_goes_at_once_and_a_row_beyond_any_message_is_refused() {
        let mut news = JobNews::new(1_500);
        let two = |offset| [on("n1", offset), on("n2", offset)];
        assert!(news.take(&origin("a", 1), &two(1)).unwrap().is_none());
        let full = news.take(&origin("a", 2), &[on("n3", 2), on("n4", 2)]).unwrap().unwrap();
        assert_eq!(rows(&full).1.iter().map(|row| row.offset).collect::<Vec<_>>(), [1]);
        let three = [on("n5", 3), on("n6", 3), on("n7", 3)];
        let refused = news.take(&origin("a", 3), &three).unwrap_err();
        assert!(refused.bytes > 1_500 && refused.job.as_str() == "7", "{refused:?}");
        let rest: Vec<Vec<u8>> = news.all().collect();
        assert_eq!(rows(&rest[0]).1.iter().map(|row| row.offset).collect::<Vec<_>>(), [2]);
    }
}
