//! Dragonfly and Dragonfly+: groups on a circle, with lines for the cables between them; many groups in a grid.

use super::canvas::{Area, Canvas, colour};
use super::{MARGIN, TOP, cables_text, colour_of, thousands};
use crate::{LinkClass, LinkIndex, Topology, VertexIndex, VertexKind};
use std::collections::BTreeMap;
use std::f64::consts::TAU;

/// Groups that still stand on a circle.
const CIRCLE_MAX: usize = 24;
const PANEL: (f64, f64) = (236.0, 124.0);
const PITCH_MAX: f64 = 26.0;

/// What there is of a group.
#[derive(Default)]
struct Group {
    /// Switches by level.
    rows: BTreeMap<u8, Vec<VertexIndex>>,
    hosts: usize,
}

/// Draws; the result is width and height.
pub(super) fn draw(topology: &Topology, canvas: &mut Canvas) -> (f64, f64) {
    let groups = groups(topology);
    let places = places(groups.len());
    let pairs = pairs(topology);
    let (width, height) = size(&places);
    if groups.len() <= CIRCLE_MAX {
        let (centre, most) =
            ((width / 2.0, (TOP + height) / 2.0), pairs.values().map(Vec::len).max().unwrap_or(1));
        for ((a, b), links) in &pairs {
            if let (Some(from), Some(to)) = (places.get(*a as usize), places.get(*b as usize)) {
                let thick = 1.0 + 3.0 * links.len() as f64 / most as f64;
                canvas.bow(from.middle(), centre, to.middle(), colour::BLUE, thick);
            }
        }
    }
    for ((number, group), place) in groups.iter().zip(&places) {
        panel(topology, canvas, *number, group, *place);
    }
    canvas.text((MARGIN, height - 20.0), 14.0, "start", colour::BLUE, &pairs_text(topology, &pairs));
    (width, height)
}

fn groups(topology: &Topology) -> BTreeMap<u32, Group> {
    let mut groups: BTreeMap<u32, Group> = BTreeMap::new();
    for vertex in topology.vertices() {
        let Some(number) = topology.group(vertex) else { continue };
        let group = groups.entry(number).or_default();
        match (topology.kind(vertex), topology.level(vertex)) {
            (VertexKind::Host, _) => group.hosts += 1,
            (_, level) => group.rows.entry(level.unwrap_or(u8::MAX)).or_default().push(vertex),
        }
    }
    groups
}

/// Cables between groups, the lower group first.
fn pairs(topology: &Topology) -> BTreeMap<(u32, u32), Vec<LinkIndex>> {
    let mut pairs: BTreeMap<(u32, u32), Vec<LinkIndex>> = BTreeMap::new();
    for link in topology.links() {
        let ends = (topology.group(topology.from(link)), topology.group(topology.to(link)));
        if let (Some(a), Some(b)) = ends
            && a < b
        {
            pairs.entry((a, b)).or_default().push(link);
        }
    }
    pairs
}

fn pairs_text(topology: &Topology, pairs: &BTreeMap<(u32, u32), Vec<LinkIndex>>) -> String {
    let (least, most) =
        (pairs.values().map(Vec::len).min().unwrap_or(0), pairs.values().map(Vec::len).max().unwrap_or(0));
    let Some(link) = pairs.values().flatten().next() else {
        return "one group: nothing leads out of it".to_string();
    };
    let words = cables_text(most, topology.bytes_per_s(*link));
    match least == most {
        true => format!("between two groups: {words}, {} pairs", thousands(pairs.len())),
        false => format!("between two groups: {least} to {words}, {} pairs", thousands(pairs.len())),
    }
}

fn places(groups: usize) -> Vec<Area> {
    let (width, height) = PANEL;
    if groups <= CIRCLE_MAX {
        let radius = (groups as f64 * (width + 24.0) / TAU).max(if groups > 1 { 210.0 } else { 0.0 });
        let across = radius * 1.25;
        let centre = (MARGIN + across + width / 2.0, TOP + radius + height / 2.0);
        let on_circle = (0..groups).map(|at| {
            let angle = TAU * at as f64 / groups as f64 - TAU / 4.0;
            let (x, y) = (centre.0 + across * angle.cos(), centre.1 + radius * angle.sin());
            Area::new(x - width / 2.0, y - height / 2.0, width, height)
        });
        return on_circle.collect();
    }
    let columns = ((groups as f64 * height / width).sqrt().ceil() as usize).max(6);
    let in_grid = (0..groups).map(|at| {
        let (column, row) = ((at % columns) as f64, (at / columns) as f64);
        Area::new(MARGIN + column * (width + 14.0), TOP + row * (height + 14.0), width, height)
    });
    in_grid.collect()
}

fn size(places: &[Area]) -> (f64, f64) {
    let right = places.iter().map(Area::right).fold(600.0, f64::max);
    let bottom = places.iter().map(Area::bottom).fold(200.0, f64::max);
    (right + MARGIN, bottom + MARGIN + 36.0)
}

fn panel(topology: &Topology, canvas: &mut Canvas, number: u32, group: &Group, place: Area) {
    canvas.rect(place, 6.0, colour::PANEL, colour::EDGE, "");
    let heading = format!("group {}: {} hosts", number + 1, thousands(group.hosts));
    canvas.text((place.x + 12.0, place.y + 20.0), 13.0, "start", colour::TEXT, &heading);
    let pitch = PANEL.1 - 64.0;
    let step = if group.rows.len() > 1 { pitch / (group.rows.len() - 1) as f64 } else { 0.0 };
    let mut spans = Vec::new();
    for (at, (level, row)) in group.rows.iter().rev().enumerate() {
        let y = place.y + 38.0 + step * at as f64;
        spans.push(switches(topology, canvas, row, (place, y), *level));
    }
    let inside = inside(topology, group);
    let words = match inside.first() {
        Some(link) if spans.len() == 2 => {
            let (above, below) = (spans[0], spans[1]);
            let corners = [
                (above.x, above.bottom()),
                (above.right(), above.bottom()),
                (below.right(), below.y),
                (below.x, below.y),
            ];
            canvas.band(corners, colour_of(topology.class(*link)), "");
            cables_text(inside.len(), topology.bytes_per_s(*link))
        }
        Some(link) => format!("inside: {}", cables_text(inside.len(), topology.bytes_per_s(*link))),
        None => String::new(),
    };
    let at = (place.middle().0, place.y + if spans.len() == 2 { 76.0 } else { 80.0 });
    canvas.text(at, 11.0, "middle", colour::MUTED, &words);
}

/// A row of switches; the result is the room it takes.
fn switches(
    topology: &Topology,
    canvas: &mut Canvas,
    row: &[VertexIndex],
    (place, y): (Area, f64),
    level: u8,
) -> Area {
    let pitch = ((place.width - 24.0) / row.len() as f64).min(PITCH_MAX);
    let left = place.middle().0 - pitch * row.len() as f64 / 2.0;
    let fill = if level > 1 { colour::SPINE } else { colour::SWITCH };
    for (at, vertex) in row.iter().enumerate() {
        let area = Area::new(left + pitch * at as f64, y, (pitch * 0.78).max(0.6), 14.0);
        canvas.rect(area, 1.5, fill, "none", topology.name(*vertex).as_str());
    }
    Area::new(left, y, pitch * row.len() as f64, 14.0)
}

/// Cables between switches of a group.
fn inside(topology: &Topology, group: &Group) -> Vec<LinkIndex> {
    let switches = group.rows.values().flatten();
    let links = switches.flat_map(|switch| topology.links_from(*switch));
    let local = |class| matches!(class, LinkClass::Leaf | LinkClass::Local);
    links.filter(|link| *link < topology.reverse(*link) && local(topology.class(*link))).collect()
}
