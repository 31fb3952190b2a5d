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

/// The latest event of a node about a job, and the message that carries it: its raw partition and turn.
struct Known {
    event: JobEvent,
    raw: usize,
    turn: u64,
}

/// Job updates that wait for others of the same raw partition. All nodes of a job report it in the same second: one message
/// each, to every partition, would delay the counters behind them.
pub(super) struct JobUpdates {
    known: HashMap<(Name, Name), Known>,
    /// Numbers of raw partitions, by topic and partition.
    raws: BTreeMap<String, BTreeMap<i32, usize>>,
    /// The message of each that waits, without its end; empty if none does.
    waiting: Vec<Vec<u8>>,
    /// How many wait.
    waits: usize,
    /// How often everything that waited was sent.
    turn: u64,
    bytes_max: usize,
    row: Vec<u8>,
}

impl JobUpdates {
    /// Messages have `bytes_max` bytes at most.
    pub(super) fn new(bytes_max: usize) -> JobUpdates {
        JobUpdates {
            known: HashMap::new(),
            raws: BTreeMap::new(),
            waiting: Vec::new(),
            waits: 0,
            turn: 0,
            bytes_max,
            row: Vec::new(),
        }
    }

    /// Takes the events of a row, which a sampler of jobs may have sent; returns a message that is full.
    ///
    /// # Errors
    /// [`TooLong`] if the row alone fills more than a message: it is left out.
    pub(super) fn take(
        &mut self,
        origin: &Origin<'_>,
        sampled: bool,
        events: &[JobEvent],
    ) -> Result<Option<Vec<u8>>, TooLong> {
        if events.is_empty() {
            return Ok(None);
        }
        let raw = self.raw(origin.topic, origin.partition);
        let updates = self.updates(raw, events);
        let Some(first) = updates.first() else { return Ok(None) };
        begin_job_rows(&mut self.row, origin.topic, origin.partition);
        let head = self.row.len();
        put_job_row(&mut self.row, origin.offset, origin.arrived, sampled, &updates);
        let bytes = self.row.len() + 1;
        if bytes > self.bytes_max {
            return Err(TooLong { job: first.job_id.clone(), bytes });
        }
        let message = &mut self.waiting[raw];
        if !message.is_empty() && message.len() + bytes - head <= self.bytes_max.min(FULL_BYTES) {
            message.extend_from_slice(&self.row[head..]);
            return Ok(None);
        }
        self.waits += usize::from(message.is_empty());
        Ok(ended(std::mem::replace(message, self.row.clone())))
    }

    /// Waiting updates of a raw partition: they must be sent before its later rows.
    pub(super) fn of_raw(&mut self, topic: &str, partition: i32) -> Option<Vec<u8>> {
        if self.waits == 0 {
            return None;
        }
        let raw = self.raw(topic, partition);
        let message = ended(std::mem::take(&mut self.waiting[raw]));
        self.waits -= usize::from(message.is_some());
        message
    }

    /// Forgets what nodes sent last, and raw partitions, if none has updates that wait.
    pub(super) fn forget(&mut self) {
        if self.waits == 0 {
            self.known.clear();
            self.raws.clear();
            self.waiting.clear();
        }
    }

    /// Everything that waits.
    pub(super) fn all(&mut self) -> Vec<Vec<u8>> {
        self.turn += 1;
        self.waits = 0;
        self.waiting.iter_mut().filter_map(|message| ended(std::mem::take(message))).collect()
    }

    fn raw(&mut self, topic: &str, partition: i32) -> usize {
        if let Some(raw) = self.raws.get(topic).and_then(|raws| raws.get(&partition)) {
            return *raw;
        }
        let raw = self.waiting.len();
        self.waiting.push(Vec::new());
        self.raws.entry(topic.to_string()).or_default().insert(partition, raw);
        raw
    }

    /// Events that differ from the latest of the same node about the same job. An event that still waits in another raw
    /// partition is sent again: that message may be lost with this process, and messages sent before it are not.
    fn updates(&mut self, raw: usize, events: &[JobEvent]) -> Vec<JobEvent> {
        if self.known.len() > EVENTS_MAX {
            self.known.clear();
        }
        let turn = self.turn;
        let mut updates = Vec::new();
        for event in events {
            // Slurm's event of a whole job arrives once; only nodes repeat theirs.
            let [node] = event.nodes.as_slice() else {
                updates.push(event.clone());
                continue;
            };
            let key = (node.clone(), event.job_id.clone());
            let is_sent = |known: &Known| {
                (known.turn < turn || known.raw == raw)
                    && JobEvent { time: event.time, ..known.event.clone() } == *event
            };
            if !self.known.get(&key).is_some_and(is_sent) {
                self.known.insert(key, Known { event: event.clone(), raw, turn });
                updates.push(event.clone());
            }
        }
        updates
    }
}

/// A message with its end, if it is one.
fn ended(mut message: Vec<u8>) -> Option<Vec<u8>> {
    if message.is_empty() {
        return None;
    }
    end_job_rows(&mut message);
    Some(message)
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
            seen: false,
        }
    }

    fn rows(message: &[u8]) -> (String, Vec<JobRow>) {
        let Ok(Message::Jobs(topic, 1, rows)) = read(message) else { panic!("no updates of jobs") };
        (topic.to_string(), rows)
    }

    #[test]
    fn job_rows_are_bundled_in_order_without_repeats() {
        let mut updates = JobUpdates::new(1_000_000);
        for (offset, node) in [(4, "n1"), (6, "n2"), (7, "n1"), (9, "n3")] {
            assert!(updates.take(&origin("a", offset), true, &[on(node, offset)]).unwrap().is_none());
        }
        updates.take(&origin("b", 5), true, &[on("n4", 5)]).unwrap();
        let (topic, of_a) = rows(&updates.of_raw("a", 1).unwrap());
        let offsets: Vec<(i64, Time)> = of_a.iter().map(|row| (row.offset, row.arrived)).collect();
        assert_eq!((topic.as_str(), offsets), ("a", vec![(4, Time(40)), (6, Time(60)), (9, Time(90))]));
        assert!(updates.of_raw("a", 1).is_none(), "it was taken");
        let left = updates.all();
        assert_eq!((left.len(), rows(&left[0]).1[0].offset), (1, 5));
        assert!(updates.all().is_empty());
    }

    #[test]
    fn full_message_is_sent_and_an_oversized_row_is_refused() {
        let mut updates = JobUpdates::new(1_500);
        let two = |offset| [on("n1", offset), on("n2", offset)];
        assert!(updates.take(&origin("a", 1), true, &two(1)).unwrap().is_none());
        let full = updates.take(&origin("a", 2), true, &[on("n3", 2), on("n4", 2)]).unwrap().unwrap();
        assert_eq!(rows(&full).1.iter().map(|row| row.offset).collect::<Vec<_>>(), [1]);
        let three = [on("n5", 3), on("n6", 3), on("n7", 3)];
        let refused = updates.take(&origin("a", 3), true, &three).unwrap_err();
        assert!(refused.bytes > 1_500 && refused.job.as_str() == "7", "{refused:?}");
        let rest = updates.all();
        assert_eq!(rows(&rest[0]).1.iter().map(|row| row.offset).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn event_waiting_in_another_raw_partition_is_repeated() {
        let mut updates = JobUpdates::new(1_000_000);
        updates.take(&origin("p", 5), true, &[on("n1", 5)]).unwrap();
        updates.take(&origin("q", 9), true, &[on("n1", 9)]).unwrap();
        updates.take(&origin("q", 11), true, &[on("n2", 11)]).unwrap();
        let (_, of_q) = rows(&updates.of_raw("q", 1).unwrap());
        let offsets = |rows: &[JobRow]| rows.iter().map(|row| row.offset).collect::<Vec<_>>();
        assert_eq!(offsets(&of_q), [9, 11], "the message of p may never come");
        updates.all();
        updates.take(&origin("p", 6), true, &[on("n1", 12)]).unwrap();
        updates.take(&origin("q", 12), true, &[on("n1", 12)]).unwrap();
        assert!(updates.all().is_empty(), "everything was sent");
    }
}
