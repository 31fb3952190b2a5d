//! An injected clock, and rows as the decoder sees them.

use crate::integration::native::tree::Tree;
use aggregator::{Decoded, Decoder, Outcome};
use samplers::native::{Clock, Event, Node, Roots, Sampler, Selection, TickRows, Wake};
use schemas::{Metric, NOT_MEASURED, Name, Time};
use std::collections::BTreeMap;

/// A clock that stands still until it is waited on. It can be made to wake late or to go back.
pub struct TestClock {
    pub now: Time,
    /// What happens at each wait: microseconds by which the wake-up is late.
    pub late_us: Vec<i64>,
    /// Waits until the end.
    pub waits: usize,
    /// Called at each wait with its number.
    pub between: Box<dyn FnMut(usize)>,
}

impl TestClock {
    pub fn at(now: Time, waits: usize) -> TestClock {
        TestClock { now, late_us: Vec::new(), waits, between: Box::new(|_| ()) }
    }
}

impl Clock for TestClock {
    fn now(&self) -> Time {
        self.now
    }

    fn wait_until(&mut self, due: Time) -> Wake {
        if self.waits == 0 {
            return Wake::Stopped;
        }
        self.waits -= 1;
        (self.between)(self.waits);
        let late_us = if self.late_us.is_empty() { 0 } else { self.late_us.remove(0) };
        let set_back = late_us < 0;
        self.now = due + late_us;
        if set_back { Wake::SetBack } else { Wake::Due }
    }
}

pub fn node() -> Node {
    Node::named(Name::parse("nid00001").unwrap())
}

pub fn sampler(tree: &Tree, selection: Selection) -> Sampler {
    Sampler::new(Roots::new(&tree.sys(), &tree.proc(), None), node(), selection)
}

/// A sampler with the rows and events of one tick.
pub struct Bench {
    pub sampler: Sampler,
    pub clock: TestClock,
    rows: TickRows,
}

impl Bench {
    pub fn new(tree: &Tree) -> Bench {
        Bench {
            sampler: sampler(tree, Selection::Listed),
            clock: TestClock::at(Time(1_795_217_419_001_813), 0),
            rows: TickRows::default(),
        }
    }

    pub fn rescan(&mut self) -> Vec<String> {
        let mut events = Vec::new();
        self.sampler.rescan(&mut events);
        shown(&events)
    }

    /// The lines of a tick, and its events.
    pub fn sample(&mut self) -> (Vec<String>, Vec<String>) {
        let mut events = Vec::new();
        self.sampler.sample(&self.clock, &mut self.rows, &mut events);
        let lines = self.rows.lines().map(|(_, line)| String::from_utf8(line.to_vec()).unwrap());
        (lines.collect(), shown(&events))
    }

    /// Names of the sets that gave rows.
    pub fn instances(&mut self) -> Vec<String> {
        self.sample().0.iter().map(|line| text(line, "instance")).collect()
    }
}

pub fn shown(events: &[Event]) -> Vec<String> {
    events.iter().map(ToString::to_string).collect()
}

pub fn value(line: &str, column: &str) -> serde_json::Value {
    serde_json::from_str::<serde_json::Value>(line).unwrap()[column].clone()
}

pub fn text(line: &str, column: &str) -> String {
    value(line, column).as_str().unwrap_or_else(|| panic!("{column} in {line}")).to_string()
}

/// A decoded row without numbers of sources: schema, producer, component, set, time, counters by part.
pub type Described = (String, String, String, Option<String>, i64, BTreeMap<String, Vec<u64>>);

/// What the decoder makes of a line.
pub fn described(schema: &str, line: &str) -> Described {
    let (mut decoder, mut out) = (Decoder::default(), Decoded::default());
    let outcome = decoder.json_line(Some(schema), line.as_bytes(), &mut out);
    assert_eq!(outcome, Outcome::Row, "{line}");
    let (source, time, counters) = out.counters.rows().next().unwrap();
    let source = decoder.sources().get(source).unwrap();
    let parts = source.series().map(|(metric, part)| match metric.name() {
        "lustre_write_rate" | "ib_wait_ratio" => part.to_string(),
        other => format!("{other} {part}"),
    });
    // Of operations LDMS' recorded rows have some alone; the others did not happen.
    let may_lack = |metric: Metric, counter: &u64| metric.reading().may_lack != 0 && *counter == NOT_MEASURED;
    let values = source.series().enumerate().map(|(at, (metric, _))| {
        let counters = counters[source.columns_of(at)].iter();
        counters.map(|counter| if may_lack(metric, counter) { 0 } else { *counter }).collect()
    });
    (
        source.schema.to_string(),
        source.producer.to_string(),
        source.component.to_string(),
        source.set.as_ref().map(ToString::to_string),
        time.0,
        parts.zip(values).collect(),
    )
}
