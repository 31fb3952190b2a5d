//! Jobs out of the `job_id` column that LDMS' samplers put into every row.
//!
//! A job found so has the nodes whose rows carry its number, from the first such row to the last: whatever the order in
//! which rows come, these are the same.
//! It has neither user nor name, so every other source precedes it ([`crate::JobBook`] decides). A row only shows
//! something when its number differs from that of its source's row before: the rest costs one comparison.

use schemas::{JobEvent, JobNumber, Name, SourceIndex, Sources, Time, growth};
use std::collections::{BTreeSet, HashMap};

/// A node without rows for so long holds up no end of a job.
const SILENT_S: f64 = 120.0;

/// Jobs of the latest rows.
#[derive(Debug, Default)]
pub(crate) struct JobColumn {
    sources: Vec<OfSource>,
    nodes: Vec<OfNode>,
    by_name: HashMap<Name, usize>,
    jobs: HashMap<Name, Running>,
}

/// The latest number that rows of a source carried, as they had it.
#[derive(Clone, Debug, Default)]
struct OfSource {
    node: Option<u32>,
    carried: Carried,
}

/// The text of a column. That of most numbers lies beside the rest of its source: another place in memory for each row would take
/// longer than to compare it.
#[derive(Clone, Debug)]
enum Carried {
    Short(u8, [u8; SHORT]),
    Long(Box<[u8]>),
}

/// Bytes of the longest number of 64 bits.
const SHORT: usize = 20;

impl Default for Carried {
    fn default() -> Carried {
        Carried::Short(0, [0; SHORT])
    }
}

impl Carried {
    fn of(text: &[u8]) -> Carried {
        let mut short = [0; SHORT];
        match short.get_mut(..text.len()) {
            Some(begin) => {
                begin.copy_from_slice(text);
                Carried::Short(text.len() as u8, short)
            }
            None => Carried::Long(text.into()),
        }
    }

    fn text(&self) -> &[u8] {
        match self {
            Carried::Short(len, text) => &text[..usize::from(*len)],
            Carried::Long(text) => text,
        }
    }
}

#[derive(Debug)]
struct OfNode {
    name: Name,
    job_id: Option<Name>,
    /// The first row that carried this number, and the newest row.
    since: Time,
    newest: Time,
    /// The job before.
    left: Option<Left>,
}

/// A job that a node does not carry any more.
#[derive(Debug)]
struct Left {
    job_id: Name,
    start: Time,
    end: Time,
}

/// A job that nodes carry.
#[derive(Debug)]
struct Running {
    start: Time,
    nodes: BTreeSet<usize>,
    end: Time,
}

impl JobColumn {
    /// Takes the job of a row of `source`; `out` gains changes. `job_id` is the text of the column, `None` if the row
    /// has no such column.
    #[inline]
    pub(crate) fn note(
        &mut self,
        sources: &Sources,
        source: SourceIndex,
        time: Time,
        job_id: Option<&[u8]>,
        out: &mut Vec<JobEvent>,
    ) {
        let Some(job_id) = job_id else { return };
        if let Some(of_source) = self.sources.get(source.at())
            && let Some(node) = of_source.node
            && of_source.carried.text() == job_id
            && time >= self.nodes[node as usize].since
        {
            let newest = &mut self.nodes[node as usize].newest;
            *newest = time.max(*newest);
            return;
        }
        let Some(described) = sources.get(source) else { return };
        let node = match self.sources.get(source.at()).and_then(|of_source| of_source.node) {
            Some(node) => node as usize,
            None => self.node(&described.producer, time),
        };
        if time < self.nodes[node].newest {
            self.carried_before(node, time, number(job_id), out);
            return;
        }
        self.remember(source, node, job_id);
        self.carry(node, time, number(job_id), out);
    }

    /// Sources have other numbers from here on, and nodes without a row since `before` are forgotten.
    pub(crate) fn forget(&mut self, before: Time) {
        self.sources.clear();
        let mut next = 0;
        let mut number = |node: &OfNode| {
            let stays = node.newest >= before;
            next += usize::from(stays);
            stays.then(|| next - 1)
        };
        let numbers: Vec<Option<usize>> = self.nodes.iter().map(&mut number).collect();
        self.nodes.retain(|node| node.newest >= before);
        self.by_name = self.nodes.iter().enumerate().map(|(at, node)| (node.name.clone(), at)).collect();
        self.jobs.retain(|_, running| {
            running.nodes = running.nodes.iter().filter_map(|node| numbers[*node]).collect();
            !running.nodes.is_empty()
        });
    }

    /// Nodes, and jobs that they carry.
    pub(crate) fn sizes(&self) -> [usize; 2] {
        [self.nodes.len(), self.jobs.len()]
    }

    fn remember(&mut self, source: SourceIndex, node: usize, job_id: &[u8]) {
        if self.sources.len() <= source.at() {
            growth::extend_to(&mut self.sources, source.at() + 1, OfSource::default());
        }
        self.sources[source.at()] = OfSource { node: Some(node as u32), carried: Carried::of(job_id) };
    }

    /// A row that is older than others of its node may only show that its job began earlier, or that the job before ended
    /// later.
    fn carried_before(&mut self, node: usize, time: Time, job_id: Option<Name>, out: &mut Vec<JobEvent>) {
        let of_node = &mut self.nodes[node];
        if let Some(job_id) = &job_id
            && of_node.job_id.as_ref() == Some(job_id)
            && time < of_node.since
            && let Some(running) = self.jobs.get_mut(job_id)
        {
            of_node.since = time;
            running.start = running.start.min(time);
            out.push(event(job_id.clone(), vec![of_node.name.clone()], time, running.start, None));
        } else if let Some(left) = of_node.left.as_mut().filter(|left| job_id.as_ref() == Some(&left.job_id))
        {
            let running = self.jobs.get_mut(&left.job_id);
            if time > left.end {
                left.end = time;
                match running {
                    Some(running) => running.end = running.end.max(time),
                    None => out.push(event(left.job_id.clone(), Vec::new(), time, left.start, Some(time))),
                }
            } else if time < left.start {
                left.start = time;
                if let Some(running) = running {
                    running.start = running.start.min(time);
                }
                out.push(event(left.job_id.clone(), vec![of_node.name.clone()], time, time, None));
            }
        }
    }

    fn node(&mut self, name: &Name, time: Time) -> usize {
        if let Some(known) = self.by_name.get(name) {
            return *known;
        }
        self.nodes.push(OfNode { name: name.clone(), job_id: None, since: time, newest: time, left: None });
        self.by_name.insert(name.clone(), self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    fn carry(&mut self, node: usize, time: Time, job_id: Option<Name>, out: &mut Vec<JobEvent>) {
        let of_node = &mut self.nodes[node];
        let last = std::mem::replace(&mut of_node.newest, time);
        if of_node.job_id == job_id {
            return;
        }
        of_node.since = time;
        let left = std::mem::replace(&mut of_node.job_id, job_id.clone());
        if let Some(left) = left {
            self.leave(node, &left, time, last, out);
        }
        if let Some(job_id) = job_id {
            let running = self.jobs.entry(job_id.clone());
            let running =
                running.or_insert_with(|| Running { start: time, nodes: BTreeSet::new(), end: time });
            running.nodes.insert(node);
            let nodes = vec![self.nodes[node].name.clone()];
            out.push(event(job_id, nodes, time, running.start, None));
        }
    }

    /// A node stops to carry a job, which ends with the last row of all its nodes.
    fn leave(&mut self, node: usize, job_id: &Name, time: Time, end: Time, out: &mut Vec<JobEvent>) {
        let Some(running) = self.jobs.get_mut(job_id) else { return };
        running.nodes.remove(&node);
        running.end = running.end.max(end);
        self.nodes[node].left = Some(Left { job_id: job_id.clone(), start: running.start, end });
        let silent = |node: &usize| time.seconds_since(self.nodes[*node].newest) > SILENT_S;
        if running.nodes.iter().all(silent) {
            out.push(event(job_id.clone(), Vec::new(), time, running.start, Some(running.end)));
            self.jobs.remove(job_id);
        }
    }
}

fn event(job_id: Name, nodes: Vec<Name>, time: Time, start: Time, end: Option<Time>) -> JobEvent {
    JobEvent {
        time,
        nodes,
        job_id,
        label: String::new(),
        user: String::new(),
        name: String::new(),
        start: Some(start),
        end,
        seen: true,
    }
}

/// The job's number; `None` where there is no job: 0, nothing, or what samplers write for "not set".
pub(crate) fn number(text: &[u8]) -> Option<Name> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let unset = matches!(text, "" | "null" | "NULL" | "None" | "nan" | "NaN" | "18446744073709551615");
    if unset || text.starts_with('-') || text.bytes().all(|b| b == b'0') {
        return None;
    }
    JobNumber::parse(text).ok().map(|number| number.job_id)
}

#[cfg(test)]
mod tests;
