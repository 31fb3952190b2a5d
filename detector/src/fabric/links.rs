//! All measured links in columns: what they carry, how they stall, and where they are.

use super::sent::Sent;
use super::tick::LinkReport;
use schemas::{Name, SeriesInfo, growth};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use topology::{LinkClass, LinkIndex, Topology, VertexIndex, VertexKind};

/// Steps of its load that are remembered of each series.
const STEPS: usize = 8;
/// Relative difference of a load from the mean before it from which it is a step.
const STEP: f32 = 0.2;
/// "No series" in columns.
pub(super) const NONE: u32 = u32::MAX;
/// Components of which the topology knows nothing are numbered from here, so that they are no vertices.
const LOOSE: u32 = 1 << 31;

/// Where a series is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measured {
    /// A link of the topology.
    Link(LinkIndex),
    /// A link that the topology does not know; all of one component touch.
    Loose(u32),
    /// The writes of a node.
    Writes,
}

/// Columns by the number of the series in this stage.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Links {
    pub(super) info: Vec<SeriesInfo>,
    pub(super) load: Vec<f32>,
    pub(super) value: Vec<f32>,
    pub(super) baseline: Vec<f32>,
    pub(super) contended: Vec<bool>,
    pub(super) active: Vec<bool>,
    /// Milliseconds by which its latest reading missed the end of its tick.
    pub(super) off_ms: Vec<i16>,
    /// Latest tick in which it was reported.
    pub(super) reported_at: Vec<i64>,
    /// Bytes passed up to then, since it was first reported, and the mean a second before that report.
    passed: Vec<(f64, f32)>,
    /// The same at the latest ticks of a grid, of series that show what a node sends.
    sent: BTreeMap<u32, Sent>,
    steps: Vec<Steps>,
    #[serde(skip)]
    pub(super) measured: Vec<Measured>,
    /// Series of each link of the topology.
    #[serde(skip)]
    of_link: Vec<u32>,
    /// Series of each node's writes.
    #[serde(skip)]
    writes: HashMap<Name, Vec<u32>>,
    /// Series of each node's network interfaces that are no link of the topology: those of an Aries count for two of its links.
    #[serde(skip)]
    interfaces: HashMap<Name, Vec<u32>>,
    /// Components that the topology does not know: their number, and how many series they have.
    #[serde(skip)]
    loose: HashMap<Name, (u32, u32)>,
    #[serde(skip)]
    loose_given: u32,
    /// The series that measured the link, or the writes, of the one that was located last.
    #[serde(skip)]
    former: Option<u32>,
}

/// The latest steps of a load, the newest last.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Steps {
    at: [(i64, f32); STEPS],
    count: u8,
}

impl Links {
    /// Adds a series.
    pub(super) fn add(&mut self, info: SeriesInfo, topology: Option<&Topology>) -> u32 {
        let number = self.info.len() as u32;
        growth::push(&mut self.info, info);
        growth::push(&mut self.load, 0.0);
        growth::push(&mut self.value, 0.0);
        growth::push(&mut self.baseline, f32::NAN);
        growth::push(&mut self.contended, false);
        growth::push(&mut self.active, false);
        growth::push(&mut self.off_ms, 0);
        growth::push(&mut self.reported_at, i64::MIN);
        growth::push(&mut self.passed, (0.0, 0.0));
        growth::push(&mut self.steps, Steps::default());
        growth::push(&mut self.measured, Measured::Writes);
        self.locate(number, topology);
        number
    }

    /// Makes a series another one, of which nothing is known.
    pub(super) fn replace(&mut self, number: u32, info: SeriesInfo, topology: Option<&Topology>) {
        self.leave(number);
        let at = number as usize;
        self.info[at] = info;
        (self.load[at], self.value[at], self.baseline[at]) = (0.0, 0.0, f32::NAN);
        (self.contended[at], self.active[at], self.off_ms[at]) = (false, false, 0);
        (self.reported_at[at], self.passed[at], self.steps[at]) = (i64::MIN, (0.0, 0.0), Steps::default());
        self.locate(number, topology);
    }

    /// The series that the one which was located last replaces.
    pub(super) fn take_former(&mut self) -> Option<u32> {
        self.former.take()
    }

    /// A series measures nothing any more.
    fn leave(&mut self, number: u32) {
        self.sent.remove(&number);
        let component = &self.info[number as usize].component;
        match self.measured[number as usize] {
            Measured::Link(link) if self.of_link.get(link.at()) == Some(&number) => {
                self.of_link[link.at()] = NONE;
            }
            Measured::Link(_) => {}
            Measured::Loose(_) => {
                remove(&mut self.interfaces, component, number);
                if let Some((_, series)) = self.loose.get_mut(component) {
                    *series -= 1;
                    if *series == 0 {
                        self.loose.remove(component);
                    }
                }
            }
            Measured::Writes => remove(&mut self.writes, component, number),
        }
    }

    /// Maps all series to the topology again: the state was read back, or the topology changed.
    pub(super) fn locate_all(&mut self, topology: Option<&Topology>) {
        self.measured = vec![Measured::Writes; self.info.len()];
        self.of_link.clear();
        self.writes.clear();
        self.interfaces.clear();
        self.loose.clear();
        // What a series measures may be something else on another network.
        let sent = std::mem::take(&mut self.sent);
        (0..self.info.len() as u32).for_each(|number| self.locate(number, topology));
        for (number, sent) in sent {
            self.sent.entry(number).and_modify(|known| *known = sent);
        }
    }

    fn locate(&mut self, number: u32, topology: Option<&Topology>) {
        let info = &self.info[number as usize];
        self.former = None;
        let measured = if info.metric.is_progress() {
            let numbers = self.writes.entry(info.component.clone()).or_default();
            // One that was forgotten and returned has another number.
            self.former = numbers
                .iter()
                .position(|known| self.info[*known as usize] == *info)
                .map(|at| numbers.remove(at));
            numbers.push(number);
            Measured::Writes
        } else if let Some(link) =
            topology.filter(|_| info.metric.costs()).and_then(|topology| topology.link_of_series(info).ok())
        {
            if self.of_link.is_empty() {
                self.of_link = vec![NONE; topology.map_or(0, Topology::link_count)];
            }
            let former = std::mem::replace(&mut self.of_link[link.at()], number);
            self.former = Some(former).filter(|former| *former != NONE);
            if topology.is_some_and(|of| of.kind(of.from(link)) == VertexKind::Host) {
                self.sent.insert(number, Sent::default());
            }
            Measured::Link(link)
        } else {
            let new = LOOSE + self.loose_given;
            let given = &mut self.loose_given;
            let (component, series) = self.loose.entry(info.component.clone()).or_insert_with(|| {
                *given += 1;
                (new, 0)
            });
            *series += 1;
            if info.metric.paces() {
                self.interfaces.entry(info.component.clone()).or_default().push(number);
                self.sent.insert(number, Sent::default());
            }
            Measured::Loose(*component)
        };
        self.measured[number as usize] = measured;
    }

    /// Takes the report of a series at `tick`.
    pub(super) fn set(&mut self, number: u32, report: &LinkReport, tick: i64) {
        let at = number as usize;
        if self.load[at] != report.load_bytes_per_s {
            self.steps[at].push(tick, report.load_bytes_per_s);
        }
        let (passed, mean) = &mut self.passed[at];
        if self.reported_at[at] != i64::MIN {
            let before = (self.reported_at[at], *passed);
            *passed += f64::from(report.mean_bytes_per_s) * (tick - before.0) as f64;
            if let Some(sent) = self.sent.get_mut(&number).filter(|_| tick > before.0) {
                sent.fill(before, (tick, *passed), f64::from(report.load_bytes_per_s));
            }
        }
        *mean = report.mean_bytes_per_s;
        self.load[at] = report.load_bytes_per_s;
        self.value[at] = report.value;
        self.baseline[at] = report.baseline;
        self.contended[at] = report.contended;
        self.active[at] = report.active;
        self.off_ms[at] = report.off_ms;
        self.reported_at[at] = tick;
    }

    /// The series that measures `link`.
    pub(super) fn of_link(&self, link: LinkIndex) -> Option<u32> {
        self.of_link.get(link.at()).copied().filter(|number| *number != NONE)
    }

    /// Bytes a second on `link`; `None` if it is not measured.
    pub(super) fn load_of(&self, link: LinkIndex) -> Option<f64> {
        self.of_link(link).map(|number| f64::from(self.load[number as usize]))
    }

    /// Bytes over `link`, on which a host sends, up to `tick`, which is on the grid, in units of a tick's length. After the latest
    /// report as before it, or as in it if it is of a step: such a tick is known later. `None` if it is not measured, was not
    /// reported for `stale` ticks, or is forgotten.
    pub(super) fn sent_until(&self, link: LinkIndex, tick: i64, stale: i64) -> Option<f64> {
        self.passed_until(self.of_link(link)?, tick, stale)
    }

    /// The same over the interfaces of `node`.
    pub(super) fn sent_by(&self, node: &Name, tick: i64, stale: i64) -> Option<f64> {
        let numbers = self.interfaces.get(node)?;
        numbers.iter().map(|number| self.passed_until(*number, tick, stale)).sum()
    }

    fn passed_until(&self, number: u32, tick: i64, stale: i64) -> Option<f64> {
        let at = number as usize;
        if tick <= self.reported_at[at] {
            return self.sent.get(&number)?.at(tick, self.reported_at[at]);
        }
        let since = tick.saturating_sub(self.reported_at[at]);
        if !self.active[at] {
            return Some(self.passed[at].0);
        }
        let ((passed, mean), load) = (self.passed[at], self.load[at]);
        let rate = if (load - mean).abs() > STEP * mean { load } else { mean };
        (since <= stale).then(|| passed + f64::from(rate) * since as f64)
    }

    /// Bytes a second on `link` at the end of `tick`.
    pub(super) fn load_at(&self, link: LinkIndex, tick: i64) -> Option<f64> {
        let number = self.of_link(link)?;
        Some(self.steps[number as usize].at(tick))
    }

    /// The sum over those of `links` that are measured; `None` if none is.
    pub(super) fn loads_at(&self, links: impl Iterator<Item = LinkIndex>, tick: i64) -> Option<f64> {
        links.filter_map(|link| self.load_at(link, tick)).reduce(|sum, load| sum + load)
    }

    /// Bytes a second that `node` writes at the end of `tick`; `None` if it is not measured.
    pub(super) fn writes_at(&self, node: &Name, tick: i64) -> Option<f64> {
        let numbers = self.writes.get(node)?;
        Some(numbers.iter().map(|number| self.steps[*number as usize].at(tick)).sum())
    }

    /// The vertices at both ends of a series' link; of an unknown link its component is both.
    pub(super) fn ends(&self, number: u32, topology: Option<&Topology>) -> Option<[u32; 2]> {
        match (self.measured[number as usize], topology) {
            (Measured::Link(link), Some(topology)) => Some([topology.from(link).0, topology.to(link).0]),
            (Measured::Loose(component), _) => Some([component; 2]),
            _ => None,
        }
    }

    /// The link of a series.
    pub(super) fn link(&self, number: u32) -> Option<LinkIndex> {
        match self.measured.get(number as usize) {
            Some(Measured::Link(link)) => Some(*link),
            _ => None,
        }
    }
}

impl Steps {
    fn push(&mut self, tick: i64, load: f32) {
        let count = usize::from(self.count);
        if count == STEPS {
            self.at.copy_within(1.., 0);
            self.at[STEPS - 1] = (tick, load);
        } else {
            self.at[count] = (tick, load);
            self.count += 1;
        }
    }

    /// The load at the end of `tick`: that of the latest step up to it, 0 before the first.
    fn at(&self, tick: i64) -> f64 {
        let known = &self.at[..usize::from(self.count)];
        let step = known.iter().rev().find(|(at, _)| *at <= tick);
        let oldest = known.first().filter(|_| known.len() == STEPS);
        step.or(oldest).map_or(0.0, |(_, load)| f64::from(*load))
    }
}

/// The link on which `host` sends, in each rail.
pub(super) fn out_of(topology: &Topology, host: VertexIndex) -> impl Iterator<Item = LinkIndex> + '_ {
    topology.links_from(host).filter(|link| topology.kind(topology.to(*link)) != VertexKind::Host)
}

/// Whether a link ends or begins at a host.
pub(super) fn is_host_link(topology: &Topology, link: LinkIndex) -> bool {
    topology.class(link) == LinkClass::Host
}
/// Removes a series from those of a component.
fn remove(of_components: &mut HashMap<Name, Vec<u32>>, component: &Name, number: u32) {
    if let Some(numbers) = of_components.get_mut(component) {
        numbers.retain(|known| *known != number);
        if numbers.is_empty() {
            of_components.remove(component);
        }
    }
}
