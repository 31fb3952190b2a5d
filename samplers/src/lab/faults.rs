//! Failures in the network, by event.

use super::counters::Counters;
use super::job::{Change, Event};
use topology::{LinkIndex, Topology};

/// Full width, in percent.
const WHOLE: u8 = 100;

/// State of the links; columns by link. Events about counters are passed on.
#[derive(Clone, Debug)]
pub(super) struct Faults {
    /// Ordered by their seconds.
    events: Vec<Event>,
    /// Of all events, how many have happened.
    past: usize,
    pub down: Vec<bool>,
    /// Percent of the capacity.
    widths: Vec<u8>,
    /// Links that fail for a part of the present second.
    blinking: Vec<LinkIndex>,
    /// Bytes a second at full width.
    pub whole: Vec<f64>,
    /// Bytes a second at the present width.
    pub capacities: Vec<f64>,
}

/// What is other than in the second before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Changed {
    /// Which links are down.
    pub down: bool,
    /// How wide links are, or how long of the second they work.
    pub widths: bool,
}

impl Faults {
    /// Without failures. Events of one second happen in the order in which they are given. `capacities` are in
    /// bytes a second.
    pub(super) fn new(mut events: Vec<Event>, capacities: Vec<f64>) -> Faults {
        events.sort_by_key(|event| event.at_s);
        let links = capacities.len();
        Faults {
            events,
            past: 0,
            down: vec![false; links],
            widths: vec![WHOLE; links],
            blinking: Vec::new(),
            whole: capacities.clone(),
            capacities,
        }
    }

    /// Whether any link is down.
    pub(super) fn any_down(&self) -> bool {
        self.down.contains(&true)
    }

    /// Whether all links are up and at full width.
    pub(super) fn is_whole(&self) -> bool {
        !self.any_down() && self.blinking.is_empty() && self.widths.iter().all(|width| *width == WHOLE)
    }

    /// Lets happen what happens at the beginning of `second`.
    pub(super) fn pass(&mut self, topology: &Topology, second: u32, counters: &mut Counters) -> Changed {
        let blinked = std::mem::take(&mut self.blinking);
        blinked.iter().for_each(|link| self.set_capacity(*link, 1.0));
        let due = self.events[self.past..].iter().take_while(|event| event.at_s <= second).count();
        if due == 0 {
            return Changed { widths: !blinked.is_empty(), ..Changed::default() };
        }
        let (down, widths) = (self.down.clone(), self.widths.clone());
        for at in self.past..self.past + due {
            self.happen(topology, self.events[at].change, counters);
        }
        self.past += due;
        let widths = self.widths != widths || self.blinking != blinked;
        Changed { down: self.down != down, widths }
    }

    fn happen(&mut self, topology: &Topology, change: Change, counters: &mut Counters) {
        match change {
            Change::Down(link) => self.set_down(topology, link, true, counters),
            Change::Up(link) => self.set_down(topology, link, false, counters),
            Change::Narrow { link, percent } => {
                for link in [link, topology.reverse(link)] {
                    self.widths[link.at()] = percent;
                    self.set_capacity(link, 1.0);
                }
            }
            Change::Blink { link, ms } => {
                for link in [link, topology.reverse(link)] {
                    self.set_capacity(link, 1.0 - f64::from(ms) / 1000.0);
                    self.blinking.push(link);
                    counters.note_failure(link);
                }
            }
            Change::Reset(vertex) => counters.reset(vertex),
            Change::Silent(vertex) => counters.set_silent(vertex, true),
            Change::Reporting(vertex) => counters.set_silent(vertex, false),
            Change::Skew { vertex, ms } => counters.skew(vertex, ms),
        }
    }

    /// By its width, for `part` of the second.
    fn set_capacity(&mut self, link: LinkIndex, part: f64) {
        let width = f64::from(self.widths[link.at()]);
        self.capacities[link.at()] = self.whole[link.at()] * width / f64::from(WHOLE) * part;
    }

    fn set_down(&mut self, topology: &Topology, link: LinkIndex, down: bool, counters: &mut Counters) {
        for link in [link, topology.reverse(link)] {
            let was_down = std::mem::replace(&mut self.down[link.at()], down);
            if down && !was_down {
                counters.note_failure(link);
            }
        }
    }
}
