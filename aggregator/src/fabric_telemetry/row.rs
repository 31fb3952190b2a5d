//! The flat row that sensors of one port at one time become.

use super::{Place, Sensor};
use crate::json;
use crate::switch_port::SwitchPort;
use schemas::Time;
use std::borrow::Cow;
use std::fmt::Write;

/// Classes of ports, which HPCM puts behind the names of sensors.
const PORT_CLASSES: [&str; 5] = ["_cassini", "_local", "_global", "_ieee", "_edge"];
/// Whole numbers below it are exact where they are written with a fraction or an exponent.
const EXACT_END: f64 = 9_007_199_254_740_992.0;
/// A fraction of so many characters is written as it is: a number with fewer digits has no shorter form of the same value.
const PLAIN_LENGTH: usize = 15;

/// A row that further sensors may belong to.
#[derive(Default)]
pub(super) struct OpenRow<'a> {
    time: Option<Time>,
    place: Place<'a>,
    port: SwitchPort,
    /// The columns of the time and of the port, as they were written last.
    time_column: String,
    port_columns: String,
    /// Empty if no row is open.
    text: String,
}

impl<'a> OpenRow<'a> {
    /// Adds a sensor to the row, or to the next one; `row` gets those that are complete.
    pub(super) fn take(&mut self, sensor: &Sensor<'a>, row: &mut impl FnMut(&str)) {
        let is_other_port = self.moves_to(sensor.place);
        let is_other_time = self.time != sensor.time;
        if is_other_port || is_other_time || self.text.is_empty() {
            self.close(row);
            self.begin(sensor.time);
        }
        self.add(sensor);
    }

    /// Gives `row` the open row.
    pub(super) fn close(&mut self, row: &mut impl FnMut(&str)) {
        if self.text.pop().is_some() {
            self.text.push('}');
            row(&self.text);
            self.text.clear();
        }
    }

    /// Whether sensors at `place` are of another port than those before.
    fn moves_to(&mut self, place: Place<'a>) -> bool {
        if self.place == place {
            return false;
        }
        self.place = place;
        let port = port_of(place);
        if self.port == port {
            return false;
        }
        self.port = port;
        self.port_columns.clear();
        for (column, name) in [("producer", &self.port.switch), ("hsn.port", &self.port.port)] {
            if let Some(name) = name {
                json::put_quoted(&mut self.port_columns, &[column]);
                self.port_columns.push(':');
                json::put_quoted(&mut self.port_columns, &[name]);
                self.port_columns.push(',');
            }
        }
        true
    }

    fn begin(&mut self, time: Option<Time>) {
        if self.time != time {
            self.time = time;
            self.time_column.clear();
            if let Some(Time(micros)) = time {
                let (seconds, below) = (micros.div_euclid(1_000_000), micros.rem_euclid(1_000_000));
                _ = write!(self.time_column, "\"timestamp\":{seconds}.{below:06},");
            }
        }
        self.text.push('{');
        self.text.push_str(&self.time_column);
        self.text.push_str(&self.port_columns);
    }

    fn add(&mut self, sensor: &Sensor<'_>) {
        let class = PORT_CLASSES.iter().find_map(|class| sensor.name.strip_suffix(class));
        json::put_quoted(&mut self.text, &["hsn.", class.unwrap_or(&sensor.name)]);
        self.text.push(':');
        self.text.push_str(&count(sensor.value));
        self.text.push(',');
    }
}

fn port_of(place: Place<'_>) -> SwitchPort {
    let [location, numbers @ ..] = place.map(|raw| raw.and_then(json::text));
    let is_number = |text: &Cow<'_, str>| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let numbers = numbers.map(|text| text.filter(is_number));
    SwitchPort::of(location.as_deref().unwrap_or_default(), numbers.each_ref().map(Option::as_deref))
}

/// A value as a plain number if it is one, quoted or not; otherwise as it is, so that the row is refused.
pub(super) fn count(raw: &str) -> Cow<'_, str> {
    let inside = raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(raw).trim();
    if let Ok(whole) = inside.parse::<u64>() {
        let is_plain = !inside.starts_with(['0', '+']);
        return if is_plain { Cow::Borrowed(inside) } else { Cow::Owned(whole.to_string()) };
    }
    if is_plain_fraction(inside) {
        return Cow::Borrowed(inside);
    }
    match inside.parse::<f64>() {
        Ok(value) if value.fract() == 0.0 && (0.0..EXACT_END).contains(&value) => {
            Cow::Owned(format!("{value:.0}"))
        }
        // Of a gauge.
        Ok(value) if (0.0..EXACT_END).contains(&value) => Cow::Owned(value.to_string()),
        _ => Cow::Borrowed(raw),
    }
}

/// Whether a text is digits, a point and digits, in the form in which JSON has them.
fn is_plain_fraction(text: &str) -> bool {
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    text.len() <= PLAIN_LENGTH
        && text.split_once('.').is_some_and(|(whole, part)| {
            let has_no_zeros = (whole == "0" || !whole.starts_with('0')) && !part.ends_with('0');
            has_no_zeros && is_number(whole) && is_number(part)
        })
}
