//! Aries: each group a grid of chassis and slots (SAND2016-9525, figure 2.2). A green line connects every two routers
//! on it, a black one every two chassis of a slot.

use super::canvas::{Area, Canvas, colour};
use super::{MARGIN, TOP, cables_text, thousands};
use crate::cname::{SLOTS, Slot};
use crate::{LinkClass, LinkIndex, Topology, VertexIndex, VertexKind};
use std::collections::BTreeMap;

const CHASSIS: u32 = 6;
/// Up to so many groups are drawn large.
const LARGE_MAX: usize = 2;

/// Sizes of a group's grid.
#[derive(Clone, Copy)]
struct Grid {
    cell: (f64, f64),
    router: (f64, f64),
    head: f64,
    left: f64,
    large: bool,
}

impl Grid {
    fn of(groups: usize) -> Grid {
        if groups <= LARGE_MAX {
            Grid { cell: (62.0, 58.0), router: (42.0, 30.0), head: 58.0, left: 76.0, large: true }
        } else {
            Grid { cell: (11.0, 11.0), router: (7.0, 7.0), head: 26.0, left: 14.0, large: false }
        }
    }

    fn width(self) -> f64 {
        self.left + self.cell.0 * f64::from(SLOTS) + 14.0
    }

    fn height(self) -> f64 {
        self.head + self.cell.1 * f64::from(CHASSIS) + 12.0
    }

    /// Middle of a cell of the group that stands at `origin`.
    fn middle(self, origin: (f64, f64), slot: Slot) -> (f64, f64) {
        let column = f64::from(slot.slot) + 0.5;
        let row = f64::from(slot.chassis_in_group()) + 0.5;
        (origin.0 + self.left + self.cell.0 * column, origin.1 + self.head + self.cell.1 * row)
    }
}

/// Draws; the result is width and height.
pub(super) fn draw(topology: &Topology, canvas: &mut Canvas) -> (f64, f64) {
    let groups = groups(topology);
    let grid = Grid::of(groups.len());
    let columns = if grid.large { 1 } else { (groups.len() as f64).sqrt().ceil().clamp(4.0, 8.0) as usize };
    let rows = groups.len().div_ceil(columns).max(1);
    let gap = 16.0;
    for (at, (number, routers)) in groups.iter().enumerate() {
        let (column, row) = ((at % columns) as f64, (at / columns) as f64);
        let origin = (MARGIN + column * (grid.width() + gap), TOP + row * (grid.height() + gap));
        group(topology, canvas, grid, origin, *number, routers);
    }
    let across = MARGIN * 2.0 + columns as f64 * (grid.width() + gap) - gap;
    let down = TOP + rows as f64 * (grid.height() + gap) + 100.0;
    legend(topology, canvas, grid, down - 78.0);
    (across.max(720.0), down)
}

fn groups(topology: &Topology) -> BTreeMap<u32, Vec<(Slot, VertexIndex)>> {
    let mut groups: BTreeMap<u32, Vec<(Slot, VertexIndex)>> = BTreeMap::new();
    for router in topology.vertices_of(VertexKind::Router) {
        if let Some(slot) = Slot::parse(topology.name(router).as_str()) {
            groups.entry(topology.group(router).unwrap_or(0)).or_default().push((slot, router));
        }
    }
    groups
}

fn group(
    topology: &Topology,
    canvas: &mut Canvas,
    grid: Grid,
    origin: (f64, f64),
    number: u32,
    routers: &[(Slot, VertexIndex)],
) {
    let panel = Area::new(origin.0, origin.1, grid.width(), grid.height());
    canvas.rect(panel, 6.0, colour::PANEL, colour::EDGE, "");
    let cabinets = routers.iter().map(|(slot, _)| (slot.row, slot.column));
    let (first, last) = (cabinets.clone().min(), cabinets.max());
    let heading = match (first, last) {
        (Some((row, column)), Some((_, last))) => {
            let to = if last > column { format!(" and c{last}-{row}") } else { String::new() };
            format!("group {}: c{column}-{row}{to}", number + 1)
        }
        _ => format!("group {}", number + 1),
    };
    let size = if grid.large { 15.0 } else { 12.0 };
    canvas.text((origin.0 + 12.0, origin.1 + size + 5.0), size, "start", colour::TEXT, &heading);
    lines(topology, canvas, grid, origin, routers);
    for chassis in 0..CHASSIS {
        cells(canvas, grid, origin, routers, chassis);
    }
    for (slot, router) in routers {
        router_box(topology, canvas, grid, grid.middle(origin, *slot), *router);
    }
}

/// Empty places, and on a large grid the words beside it.
fn cells(canvas: &mut Canvas, grid: Grid, origin: (f64, f64), routers: &[(Slot, VertexIndex)], chassis: u32) {
    let base = routers.first().map_or(0, |(slot, _)| slot.column / 2 * 2);
    let row = routers.first().map_or(0, |(slot, _)| slot.row);
    let of = |slot: u32| Slot { row, column: base + chassis / 3, chassis: chassis % 3, slot };
    for slot in (0..SLOTS).map(of) {
        let (x, y) = grid.middle(origin, slot);
        if !routers.iter().any(|(there, _)| *there == slot) {
            let area =
                Area::new(x - grid.router.0 / 2.0, y - grid.router.1 / 2.0, grid.router.0, grid.router.1);
            canvas.rect(area, 2.0, colour::EMPTY, colour::EDGE, &format!("{slot}: empty"));
        }
        if grid.large && chassis == 0 {
            let at = (x, origin.1 + grid.head - 6.0);
            canvas.text(at, 11.0, "middle", colour::MUTED, &format!("s{}", slot.slot));
        }
    }
    if grid.large {
        let (_, y) = grid.middle(origin, of(0));
        let words = format!("c{}-{row}c{}", base + chassis / 3, chassis % 3);
        canvas.text((origin.0 + 12.0, y + 4.0), 12.0, "start", colour::TEXT, &words);
    }
}

/// A green line through the routers of a chassis, a black one through those of a slot, where they are connected.
fn lines(
    topology: &Topology,
    canvas: &mut Canvas,
    grid: Grid,
    origin: (f64, f64),
    routers: &[(Slot, VertexIndex)],
) {
    let mut spans: BTreeMap<(LinkClass, u32), Vec<(f64, f64)>> = BTreeMap::new();
    for (slot, router) in routers {
        for class in [LinkClass::Green, LinkClass::Black] {
            if topology.links_from(*router).any(|link| topology.class(link) == class) {
                let line = if class == LinkClass::Green { slot.chassis_in_group() } else { slot.slot };
                spans.entry((class, line)).or_default().push(grid.middle(origin, *slot));
            }
        }
    }
    let width = if grid.large { 2.4 } else { 0.9 };
    for ((class, _), mut ends) in spans {
        ends.sort_by(|a, b| (a.0 + a.1).total_cmp(&(b.0 + b.1)));
        if let (Some(first), Some(last)) = (ends.first(), ends.last()) {
            let stroke = if class == LinkClass::Green { colour::GREEN } else { colour::BLACK };
            canvas.line(*first, *last, stroke, width, 0.75);
        }
    }
}

fn router_box(topology: &Topology, canvas: &mut Canvas, grid: Grid, (x, y): (f64, f64), router: VertexIndex) {
    let name = topology.name(router).as_str();
    let area = Area::new(x - grid.router.0 / 2.0, y - grid.router.1 / 2.0, grid.router.0, grid.router.1);
    canvas.rect(area, 2.0, colour::SWITCH, colour::PANEL, name);
    if !grid.large {
        return;
    }
    let mut hosts: Vec<VertexIndex> = topology
        .links_from(router)
        .map(|link| topology.to(link))
        .filter(|to| topology.kind(*to) == VertexKind::Host)
        .collect();
    hosts.dedup();
    for (at, host) in hosts.iter().enumerate() {
        let place = Area::new(area.x + 3.0 + 9.4 * at as f64, area.y + 19.0, 7.6, 7.6);
        canvas.rect(place, 1.0, colour::HOST, "none", topology.name(*host).as_str());
    }
    let count = |class| topology.links_from(router).filter(|link| topology.class(*link) == class).count();
    let words = format!("{}+{}", count(LinkClass::Green), count(LinkClass::Black));
    canvas.text((x, area.y + 13.0), 11.0, "middle", colour::PANEL, &words);
}

fn legend(topology: &Topology, canvas: &mut Canvas, grid: Grid, y: f64) {
    let of = |class| -> Vec<LinkIndex> {
        let lower = |link: &LinkIndex| *link < topology.reverse(*link);
        topology.links().filter(|link| topology.class(*link) == class && lower(link)).collect()
    };
    let classes = [
        (LinkClass::Green, colour::GREEN, "green, every two routers of a chassis"),
        (LinkClass::Black, colour::BLACK, "black, every two chassis of a slot, three lanes"),
        (LinkClass::Blue, colour::BLUE, "blue, between groups"),
    ];
    let mut at = y;
    for (class, stroke, words) in classes {
        let cables = of(class);
        let Some(link) = cables.first() else { continue };
        canvas.line((MARGIN, at - 4.0), (MARGIN + 28.0, at - 4.0), stroke, 3.0, 1.0);
        let mut text = format!("{words}: {}", cables_text(cables.len(), topology.bytes_per_s(*link)));
        if class == LinkClass::Blue {
            let pair = |link: &&LinkIndex| {
                let groups = |link: LinkIndex| {
                    (topology.group(topology.from(link)), topology.group(topology.to(link)))
                };
                groups(**link) == groups(cables[0])
            };
            text += &format!(", {} a pair of groups", thousands(cables.iter().filter(pair).count()));
        }
        canvas.text((MARGIN + 38.0, at), 13.0, "start", colour::TEXT, &text);
        at += 20.0;
    }
    let words = match grid.large {
        true => "a box is a router; numbers are its green and black links, small boxes its nodes",
        false => "a box is a router: a row is a chassis, a column a slot",
    };
    canvas.text((MARGIN + 38.0, at), 12.0, "start", colour::MUTED, words);
}
