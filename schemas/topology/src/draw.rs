//! A picture of a topology: fat trees by level, Aries by chassis and slot, other dragonflies by group.
//! Where there are too many links to draw each, bands and words stand for them.

mod aries;
mod canvas;
mod groups;
mod tree;

use crate::rate::rate_text;
use crate::readers::TopologyReading;
use crate::{LinkClass, Shape, Topology, VertexKind};
use canvas::{Canvas, colour};
use std::path::Path;

/// Distance from the edge of the picture.
const MARGIN: f64 = 28.0;
/// Room for the title.
const TOP: f64 = 84.0;

/// The picture of what was read, under the name of its first file.
pub fn picture(reading: &TopologyReading) -> String {
    let name = reading.kinds.first().map_or("", |(name, _)| name.as_str());
    let stem = Path::new(name).file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into_owned());
    svg(&reading.topology, &stem)
}

/// The picture of `topology` under the heading `name`.
pub fn svg(topology: &Topology, name: &str) -> String {
    let mut canvas = Canvas::default();
    let (width, height) = match topology.shape() {
        Shape::Aries => aries::draw(topology, &mut canvas),
        Shape::Dragonfly | Shape::DragonflyPlus => groups::draw(topology, &mut canvas),
        Shape::FatTree | Shape::Other => tree::draw(topology, &mut canvas),
    };
    let summary = summary(topology);
    canvas.text((MARGIN, 40.0), 22.0, "start", colour::TEXT, name);
    canvas.text((MARGIN, 64.0), 14.0, "start", colour::MUTED, &summary);
    canvas.finish(width, height, &format!("{name}: {summary}"))
}

fn summary(topology: &Topology) -> String {
    let count = |kind| topology.vertices_of(kind).count();
    let (hosts, switches) = (count(VertexKind::Host), count(VertexKind::Switch));
    let routers = count(VertexKind::Router);
    let mut words = vec![format!("{} hosts", thousands(hosts))];
    for (number, word) in [(switches, "switches"), (routers, "routers")] {
        if number > 0 {
            words.push(format!("{} {word}", thousands(number)));
        }
    }
    words.push(format!("{} cables", thousands(topology.link_count() / 2)));
    for (number, word) in [(topology.group_count(), "groups"), (topology.rail_count(), "rails")] {
        if number > 1 {
            words.push(format!("{number} {word}"));
        }
    }
    words.join(", ")
}

/// `12345` as `12,345`.
fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn colour_of(class: LinkClass) -> &'static str {
    match class {
        LinkClass::Green => colour::GREEN,
        LinkClass::Black => colour::BLACK,
        LinkClass::Blue | LinkClass::Global => colour::BLUE,
        LinkClass::Spine => colour::SPINE,
        LinkClass::Leaf | LinkClass::Local => colour::SWITCH,
        LinkClass::Host | LinkClass::Other => colour::LINE,
    }
}

/// `324 cables of 12.50 GB/s`.
fn cables_text(count: usize, bytes_per_s: f64) -> String {
    let word = if count == 1 { "cable" } else { "cables" };
    match bytes_per_s.is_nan() {
        true => format!("{} {word}", thousands(count)),
        false => format!("{} {word} of {}", thousands(count), rate_text(bytes_per_s)),
    }
}
