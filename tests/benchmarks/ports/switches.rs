//! HPE's fabric telemetry of all ports of switches, once a second: `rxCongestion` alone, or with three percentages. HPE does not document
//! how often it is sent.

use crate::Part;
use crate::text::{Lines, Random};

pub const SCHEMA: &str = "cray-fabric-perf-telemetry";
/// Ports of a switch.
const SWITCH_PORTS: usize = 64;
/// Sensors of a port besides `rxCongestion`: a percentage each.
const PERCENTAGES: [&str; 3] = ["BlockedPercentage", "rxPausePercent", "txPausePercent"];
/// Growth of a port's counter a second, as at Frontier.
const RATE: u64 = 400_000;
/// 2026-11-20 22:00:00 UTC, in seconds, and as the text before the minutes.
const START_S: u64 = 1_795_212_000;
const HOUR: &str = "2026-11-20T22:";

/// Which messages.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// One of a switch, with the sensors of all its ports.
    Csm,
    /// One of each sensor.
    Hpcm,
}

/// Switches, and their counters as they stand.
#[derive(Debug)]
pub struct Switches {
    form: Form,
    percentages: &'static [&'static str],
    counters: Vec<u64>,
    first: usize,
    second: u64,
    random: Random,
}

impl Switches {
    /// Share `share` of the switches, with `ports` in all, whose ports have one sensor or four.
    pub fn new(form: Form, four: bool, share: usize, ports: usize) -> Switches {
        let mut random = Random::new(share as u64 + 1);
        let counters = (0..ports).map(|_| random.below(1_000_000_000_000)).collect();
        let percentages = if four { &PERCENTAGES[..] } else { &[] };
        Switches {
            form,
            percentages,
            counters,
            first: share * ports.div_ceil(SWITCH_PORTS),
            second: 0,
            random,
        }
    }

    /// The value of a port's counter, a second later.
    fn count(&mut self, port: usize) -> u64 {
        self.counters[port] += self.random.near(RATE);
        self.counters[port]
    }

    fn put_csm(&mut self, lines: &mut Lines, switch: usize, ports: std::ops::Range<usize>) {
        lines.put("{\"Context\":\"x3000m0\",\"Events\":[{\"EventTimestamp\":");
        self.put_time(lines);
        lines.put(",\"MessageId\":\"CrayFabricPerfTelemetry.Congestion\",\"Oem\":{\"Sensors\":[");
        for (number, port) in ports.enumerate() {
            let count = self.count(port);
            self.put_sensor(lines, [switch, number], "rxCongestion", &|lines| lines.put_number(count));
            for name in self.percentages {
                let percent = self.random.below(30);
                self.put_sensor(lines, [switch, number], name, &|lines| {
                    lines.put_number(percent / 10);
                    lines.put(".");
                    lines.put_number(percent % 10);
                });
            }
        }
        lines.end_list("],\"TelemetrySource\":\"FabricPerf\"}}]}");
        lines.end_line();
    }

    fn put_sensor(
        &self,
        lines: &mut Lines,
        [switch, number]: [usize; 2],
        name: &str,
        value: &dyn Fn(&mut Lines),
    ) {
        lines.put("{\"Timestamp\":");
        self.put_time(lines);
        lines.put(",\"Location\":\"");
        put_location(lines, switch, number);
        lines.put("\",\"ParentalIndex\":1,\"PhysicalContext\":\"");
        lines.put(name);
        lines.put("\",\"Index\":");
        lines.put_number(switch as u64);
        lines.put(",\"DeviceSpecificContext\":\"local\",\"SubIndex\":");
        lines.put_number(number as u64);
        lines.put(",\"Value\":\"");
        value(lines);
        lines.put("\"},");
    }

    fn put_hpcm(&mut self, lines: &mut Lines, switch: usize, number: usize, port: usize) {
        let count = self.count(port);
        self.put_message(lines, [switch, number], ["Congestion", "rxCongestion", "_local"], &|lines| {
            lines.put_number(count);
        });
        for name in self.percentages {
            let percent = self.random.below(30);
            self.put_message(lines, [switch, number], ["PauseDetails", name, ""], &|lines| {
                lines.put_number(percent / 10);
                lines.put(".");
                lines.put_number(percent % 10);
            });
        }
    }

    fn put_message(
        &self,
        lines: &mut Lines,
        [switch, number]: [usize; 2],
        [category, name, class]: [&str; 3],
        value: &dyn Fn(&mut Lines),
    ) {
        for text in ["{\"name\":\"", category, "\",\"fields\":{\"", name, class, "\":"] {
            lines.put(text);
        }
        value(lines);
        lines.put("},\"tags\":{\"Switch\":\"");
        put_switch(lines, switch);
        lines.put("\",\"Location\":\"");
        put_location(lines, switch, number);
        lines.put("\",\"DeviceSpecificContext\":\"local\",\"Index\":\"");
        lines.put_number(switch as u64);
        lines.put("\",\"SubIndex\":\"");
        lines.put_number(number as u64);
        for text in ["\",\"ParentalIndex\":\"1\",\"PhysicalContext\":\"", name, "\"},\"timestamp\":"] {
            lines.put(text);
        }
        lines.put_number(START_S + self.second);
        lines.put("059}");
        lines.end_line();
    }

    /// The time within the hour; no run lasts longer.
    fn put_time(&self, lines: &mut Lines) {
        lines.put("\"");
        lines.put(HOUR);
        lines.put_digits(self.second / 60 % 60, 2);
        lines.put(":");
        lines.put_digits(self.second % 60, 2);
        lines.put(".059Z\"");
    }
}

impl Part for Switches {
    fn next(&mut self, lines: &mut Lines) {
        lines.clear();
        let ports = self.counters.len();
        for (at, first) in (0..ports).step_by(SWITCH_PORTS).enumerate() {
            let (switch, of_switch) = (self.first + at, first..ports.min(first + SWITCH_PORTS));
            match self.form {
                Form::Csm => self.put_csm(lines, switch, of_switch),
                Form::Hpcm => {
                    of_switch.for_each(|port| self.put_hpcm(lines, switch, port - first, port));
                }
            }
        }
        self.second += 1;
    }
}

/// The name of a switch: 64 in a cabinet, 8 in a chassis.
fn put_switch(lines: &mut Lines, switch: usize) {
    for (letter, number) in [("x", 1_000 + switch / 64), ("c", switch / 8 % 8), ("r", switch % 8)] {
        lines.put(letter);
        lines.put_number(number as u64);
    }
}

/// The name of a port: its jack, and its number there.
fn put_location(lines: &mut Lines, switch: usize, port: usize) {
    put_switch(lines, switch);
    lines.put("j");
    lines.put_number(port as u64 / 2);
    lines.put("p");
    lines.put_number(port as u64 % 2);
}
