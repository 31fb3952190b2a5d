//! Messages of HPE's fabric telemetry: sensors of the ports of Slingshot switches.
//!
//! | message | sent by |
//! |---|---|
//! | `{"Context", "Events": [{"Oem": {"Sensors"}}]}` | topic `cray-fabric-perf-telemetry` of CSM |
//! | `{"metrics": {"messages": [..]}}`, each as above | streams of SMA's telemetry API |
//! | `{"name", "fields", "tags", "timestamp"}` | topics `….slingshot_CrayFabricPerfTelemetry` of HPCM |
//!
//! Each becomes flat rows as LDMS has them: the switch is the producer, `hsn.port` is the port, and a sensor is a column `hsn.<name>`.
//! Sensors of one port at one time that follow each other are one row.

mod event;
mod row;
mod sensors;

use crate::json::{self, Fields};
use crate::number::{time, time_of_micros};
use event::{Event, Message};
use jiff::Timestamp;
use row::OpenRow;
use schemas::Time;
use sensors::Members;
use std::borrow::Cow;

/// How messages begin that are read at once.
const BEGINS: [&str; 3] = ["{\"Context\"", "{\"Events\"", "{\"name\""];

/// Gives `row` each flat row of a message that has the usual form, and returns true; returns false for one that needs a closer
/// look, or is no telemetry.
pub(crate) fn usual_rows<'a>(message: &'a str, mut row: impl FnMut(&str)) -> bool {
    if !BEGINS.iter().any(|begin| message.starts_with(begin)) {
        return false;
    }
    let Ok(message) = serde_json::from_str::<Message<'a>>(message) else { return false };
    let mut open = OpenRow::default();
    let mut each = |sensor| open.take(&sensor, &mut row);
    match message {
        Message { events: Some(events), .. } => visit_sensors(events, &mut each),
        Message { fields: Some(values), tags: Some(tags), at, is_stream: false, .. } => {
            visit_values(values, &tags, at, &mut each);
        }
        _ => return false,
    }
    open.close(&mut row);
    true
}

/// Whether a message is one of these.
pub(crate) fn is_telemetry(fields: &Fields<'_>) -> bool {
    let begins = |name, begin| fields.last(name).is_some_and(|raw: &str| raw.starts_with(begin));
    begins("Events", '[') || messages(fields).is_some() || (begins("fields", '{') && begins("tags", '{'))
}

/// When the first sensor of a message was read.
pub(crate) fn time_of(fields: &Fields<'_>) -> Option<Time> {
    let mut first = None;
    visit(fields, &mut |sensor| first = first.or(sensor.time));
    first
}

/// Gives `row` each flat row of a message.
pub(crate) fn rows(fields: &Fields<'_>, mut row: impl FnMut(&str)) {
    let mut open = OpenRow::default();
    visit(fields, &mut |sensor| open.take(&sensor, &mut row));
    open.close(&mut row);
}

/// The raw JSON of what identifies a port: its location, and the numbers of its group, of the switch in that, and of the port in
/// the switch.
type Place<'a> = [Option<&'a str>; 4];

/// One value of one port.
struct Sensor<'a> {
    time: Option<Time>,
    place: Place<'a>,
    name: Cow<'a, str>,
    /// The raw JSON of the value.
    value: &'a str,
}

/// A time as text of ISO 8601, or as a number in any unit.
fn time_in(raw: &str) -> Option<Time> {
    time(raw.as_bytes()).or_else(|| {
        let written: Timestamp = json::text(raw)?.parse().ok()?;
        time_of_micros(written.as_microsecond())
    })
}

/// The messages of a stream.
fn messages<'a>(fields: &Fields<'a>) -> Option<Vec<&'a str>> {
    let metrics = fields.last("metrics").filter(|raw| raw.starts_with('{'))?;
    json::items(json::fields(metrics)?.last("messages")?)
}

/// Calls `each` with all sensors of a message.
fn visit<'a>(fields: &Fields<'a>, each: &mut impl FnMut(Sensor<'a>)) {
    if let Some(events) = fields.last("Events") {
        return visit_events(events, each);
    }
    let Some(messages) = messages(fields) else { return visit_flat(fields, each) };
    for message in messages.into_iter().filter_map(json::fields) {
        if let Some(events) = message.last("Events") {
            visit_events(events, each);
        }
    }
}

/// Calls `each` with the sensors of events. Where a part is something else, the other parts are used.
fn visit_events<'a>(events: &'a str, each: &mut impl FnMut(Sensor<'a>)) {
    let events = serde_json::from_str::<Vec<Event<'_>>>(events).unwrap_or_else(|_| {
        let events = json::items(events).unwrap_or_default().into_iter().filter_map(json::fields);
        let event = |event: Fields<'a>| {
            let sensors = event.last("Oem").and_then(json::fields).and_then(|oem| oem.last("Sensors"));
            Event { at: event.last("EventTimestamp"), sensors }
        };
        events.map(event).collect()
    });
    visit_sensors(events, each);
}

fn visit_sensors<'a>(events: Vec<Event<'a>>, each: &mut impl FnMut(Sensor<'a>)) {
    let mut times = LatestTime::default();
    for Event { at, sensors: list } in events {
        sensors::visit(list.unwrap_or_default(), &mut |sensor| each(times.sensor(&sensor, at)));
    }
}

/// The time that was read last: sensors of a message have nearly all the same.
#[derive(Default)]
struct LatestTime<'a> {
    raw: &'a str,
    time: Option<Time>,
}

impl<'a> LatestTime<'a> {
    /// A sensor of an event at the time `at`.
    fn sensor(&mut self, sensor: &Members<'a>, at: Option<&'a str>) -> Sensor<'a> {
        // Without a name no metric uses it; without a value its row is refused.
        let name = sensor.name().and_then(json::text).unwrap_or_default();
        let time = sensor.time().or(at).and_then(|raw| self.read(raw));
        Sensor { time, place: sensor.place(), name, value: sensor.value().unwrap_or("null") }
    }

    fn read(&mut self, raw: &'a str) -> Option<Time> {
        if self.raw != raw {
            *self = LatestTime { raw, time: time_in(raw) };
        }
        self.time
    }
}

fn visit_flat<'a>(fields: &Fields<'a>, each: &mut impl FnMut(Sensor<'a>)) {
    let part = |name| fields.last(name).and_then(json::fields);
    if let (Some(values), Some(tags)) = (part("fields"), part("tags")) {
        visit_values(values, &tags, fields.last("timestamp"), each);
    }
}

/// Calls `each` with the values of the port that `tags` name.
fn visit_values<'a>(
    values: Fields<'a>,
    tags: &Fields<'a>,
    at: Option<&'a str>,
    each: &mut impl FnMut(Sensor<'a>),
) {
    let (time, place) = (at.and_then(time_in), sensors::place(tags));
    for (name, value) in values.0 {
        each(Sensor { time, place, name, value });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(line: &str) -> Vec<String> {
        let fields = json::fields(line).unwrap();
        assert!(is_telemetry(&fields), "{line}");
        let mut found = Vec::new();
        rows(&fields, |row| found.push(row.to_string()));
        let mut at_once = Vec::new();
        if usual_rows(line, |row| at_once.push(row.to_string())) {
            assert_eq!(at_once, found, "{line}");
        }
        found
    }

    fn sensor(location: &str, port: u32, name: &str, value: &str) -> String {
        format!(
            r#"{{"Timestamp":"2026-11-20T22:40:14.059Z","Location":"{location}","ParentalIndex":1,"Index":9,"SubIndex":{port},"PhysicalContext":"{name}","DeviceSpecificContext":"edge","Value":"{value}"}}"#
        )
    }

    fn event(sensors: &[String]) -> String {
        let sensors = sensors.join(",");
        format!(
            r#"{{"Context":"s","Events":[{{"EventTimestamp":"2026-11-20T22:40:15Z","MessageId":"CrayFabricPerfTelemetry.Congestion","Oem":{{"Sensors":[{sensors}],"TelemetrySource":"FabricPerf"}}}}]}}"#
        )
    }

    const TIME: &str = r#""timestamp":1795214414.059000"#;

    #[test]
    fn sensors_of_one_port_and_time_are_one_row() {
        let [port, other] = ["x1000c0r1j2p0", "x1000c0r1j2p1"];
        let message = event(&[
            sensor(port, 12, "rxCongestion", "7"),
            sensor(port, 12, "IfInOctets", "9"),
            sensor(other, 13, "rxCongestion", "8"),
        ]);
        let row = |rest| format!(r#"{{{TIME},"producer":"x1000c0r1",{rest}}}"#);
        let wanted = [
            row(r#""hsn.port":"j2p0","hsn.rxCongestion":7,"hsn.IfInOctets":9"#),
            row(r#""hsn.port":"j2p1","hsn.rxCongestion":8"#),
        ];
        assert_eq!(flat(&message), wanted);
        let stream = format!(r#"{{"metrics":{{"messages":[{message},{message}]}}}}"#);
        assert_eq!(flat(&stream), [wanted.clone(), wanted].concat());
    }

    #[test]
    fn other_parts_of_a_message_are_used_beside_a_broken_one() {
        let whole = event(&[sensor("x1000c0r1j2p0", 12, "rxCongestion", "7")]);
        let wanted = flat(&whole);
        let events = |list: &str| whole.replace("\"Events\":[", &format!("\"Events\":[{list},"));
        for broken in ["3", "{}", r#"{"Oem":7}"#, r#"{"Oem":{"Sensors":{}}}"#, r#"{"Oem":{"Sensors":[7]}}"#] {
            assert_eq!(flat(&events(broken)), wanted, "{broken}");
        }
        let before = whole.replace("\"Oem\":", r#""Oem":{"Sensors":[{"Value":"1"}]},"Oem":"#);
        assert_eq!(flat(&before), wanted, "of two the last counts");
    }

    #[test]
    fn escaped_text_gives_the_row_that_plain_text_gives() {
        let plain = event(&[sensor("x1000c0r1j2p0", 12, "rxCongestion", "7")]);
        let escaped = plain.replace("x1000c0r1", "\\u00781000c0r1").replace("rxCon", "r\\u0078Con");
        assert_ne!(plain, escaped);
        assert_eq!(flat(&escaped), flat(&plain));
        let odd = event(&[sensor("x1000c0r1j2p0", 12, "a\\\"b", "7")]);
        assert!(flat(&odd)[0].ends_with(r#""hsn.a\"b":7}"#), "{odd}");
    }

    #[test]
    fn flat_messages_lose_the_class_of_port() {
        let line = r#"{"name":"Congestion","fields":{"rxCongestion_local":1.25e12},"tags":{"Location":"x2011c6r1j100p0","SubIndex":"3","PhysicalContext":"rxCongestion"},"timestamp":1795214414059}"#;
        assert_eq!(
            flat(line),
            [format!(
                r#"{{{TIME},"producer":"x2011c6r1","hsn.port":"j100p0","hsn.rxCongestion":1250000000000}}"#
            )]
        );
    }

    #[test]
    fn values_are_written_as_plain_numbers_where_they_are_some() {
        for (raw, kept) in [
            ("\"14576\"", "14576"),
            ("3.0", "3"),
            ("\"3.5\"", "3.5"),
            ("\".5\"", "0.5"),
            ("-1", "-1"),
            ("\"NaN\"", "\"NaN\""),
            ("null", "null"),
        ] {
            assert_eq!(row::count(raw), kept);
        }
    }

    #[test]
    fn broken_messages_are_counted() {
        use crate::{Decoded, Decoder, Outcome};
        use schemas::DropReason;
        let mut decoder = Decoder::default();
        let no_value = event(&[sensor("x1000c0r1j2p0", 12, "rxCongestion", "7").replace("Value", "Valeu")]);
        let no_name =
            event(&[sensor("x1000c0r1j2p0", 12, "rxCongestion", "7").replace("PhysicalContext", "X")]);
        let no_place = event(&[
            r#"{"Timestamp":"2026-11-20T22:40:14Z","PhysicalContext":"rxCongestion","Value":"7"}"#.into(),
        ]);
        for (line, reason) in [
            (no_value.as_str(), DropReason::BadValue),
            (&no_name, DropReason::UnusedSchema),
            (&no_place, DropReason::MissingColumn),
            (r#"{"Events":[]}"#, DropReason::MissingColumn),
            (r#"{"Events":[{"Oem":3}]}"#, DropReason::MissingColumn),
            (r#"{"metrics":{"messages":[7]}}"#, DropReason::MissingColumn),
        ] {
            let outcome = decoder.json_line(None, line.as_bytes(), &mut Decoded::default());
            assert_eq!(outcome, Outcome::Dropped(reason), "{line}");
        }
    }

    #[test]
    fn rows_of_ldms_are_no_telemetry() {
        for line in [r#"{"timestamp":1.5,"Events":3}"#, r#"{"metrics":{"a":1}}"#, r#"{"fields":{"a":1}}"#] {
            assert!(!is_telemetry(&json::fields(line).unwrap()), "{line}");
        }
    }
}
