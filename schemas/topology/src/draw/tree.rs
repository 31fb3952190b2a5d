//! Levels, hosts in the middle, the first rail above them and the second mirrored below (Brown 2018, 4.2).

use super::canvas::{Area, Canvas, colour};
use super::{MARGIN, TOP, cables_text, colour_of, thousands};
use crate::{LinkIndex, Topology, VertexIndex, VertexKind};
use std::collections::BTreeMap;

/// Between two levels.
const STEP: f64 = 150.0;
const BOX_HEIGHT: f64 = 26.0;
const BOX_WIDTH_MAX: f64 = 96.0;
/// Narrowest and widest picture.
const WIDTH: (f64, f64) = (900.0, 1600.0);
/// Cables between two levels that are drawn one by one.
const LINES_MAX: usize = 800;
/// Hosts drawn one by one.
const HOSTS_MAX: usize = 150;
/// Room on the left for the words of a level.
const LEGEND: f64 = 172.0;
/// Rails drawn.
const RAILS_MAX: usize = 2;

/// Where everything stands.
struct Layout<'t> {
    topology: &'t Topology,
    boxes: BTreeMap<VertexIndex, Area>,
    width: f64,
    host_row: f64,
    height: f64,
}

/// Draws; the result is width and height.
pub(super) fn draw(topology: &Topology, canvas: &mut Canvas) -> (f64, f64) {
    let rows = rows(topology);
    let rails = topology.rail_count().min(RAILS_MAX);
    let top = rows.keys().map(|(_, level)| *level).max().unwrap_or(0);
    let widest = rows.values().map(Vec::len).max().unwrap_or(1);
    let width = (LEGEND + MARGIN + widest as f64 * 110.0).clamp(WIDTH.0, WIDTH.1);
    let host_row = TOP + 40.0 + STEP * f64::from(top);
    let below = if rails > 1 { STEP * f64::from(top) + 44.0 } else { 30.0 };
    let height = host_row + below + 30.0;
    let mut layout = Layout { topology, boxes: BTreeMap::new(), width, host_row, height };
    for ((rail, level), row) in &rows {
        layout.place(*rail, *level, row);
    }
    layout.links(canvas, rails);
    layout.hosts(canvas);
    for ((rail, level), row) in &rows {
        layout.row(canvas, *rail, *level, row);
    }
    if topology.rail_count() > RAILS_MAX {
        let words = format!("{} further rails are like these", topology.rail_count() - RAILS_MAX);
        canvas.text((MARGIN, layout.height - 16.0), 13.0, "start", colour::MUTED, &words);
    }
    (layout.width, layout.height)
}

/// Switches by rail and level, pods side by side. Those no host can reach stand on top of the others.
fn rows(topology: &Topology) -> BTreeMap<(u8, u8), Vec<VertexIndex>> {
    let known = topology.vertices().filter_map(|vertex| topology.level(vertex)).max().unwrap_or(0);
    let mut rows: BTreeMap<(u8, u8), Vec<VertexIndex>> = BTreeMap::new();
    for vertex in topology.vertices().filter(|vertex| topology.kind(*vertex) != VertexKind::Host) {
        let rail = topology.links_from(vertex).next().map_or(0, |link| topology.rail(link));
        if usize::from(rail) < RAILS_MAX {
            let level = topology.level(vertex).unwrap_or(known.saturating_add(1));
            rows.entry((rail, level)).or_default().push(vertex);
        }
    }
    for row in rows.values_mut() {
        row.sort_by_key(|vertex| (topology.group(*vertex), *vertex));
    }
    rows
}

impl Layout<'_> {
    fn y(&self, rail: u8, level: u8) -> f64 {
        let up = if rail == 0 { -1.0 } else { 1.0 };
        self.host_row + up * STEP * f64::from(level) - BOX_HEIGHT / 2.0
    }

    fn place(&mut self, rail: u8, level: u8, row: &[VertexIndex]) {
        let group = |vertex: &VertexIndex| self.topology.group(*vertex);
        let gaps = row.windows(2).filter(|pair| group(&pair[0]) != group(&pair[1])).count() as f64;
        let room = self.width - LEGEND - MARGIN;
        let step = room / (row.len() as f64 + gaps);
        let (width, y) = ((step * 0.86).min(BOX_WIDTH_MAX), self.y(rail, level));
        let mut x = LEGEND;
        let mut before = row.first().and_then(group);
        let mut placed = Vec::with_capacity(row.len());
        for vertex in row {
            x += if group(vertex) == before { 0.0 } else { step };
            before = group(vertex);
            placed.push((*vertex, Area::new(x + (step - width) / 2.0, y, width, BOX_HEIGHT)));
            x += step;
        }
        self.boxes.extend(placed);
    }

    fn row(&self, canvas: &mut Canvas, rail: u8, level: u8, row: &[VertexIndex]) {
        let y = self.y(rail, level) + BOX_HEIGHT / 2.0;
        canvas.text((MARGIN, y - 2.0), 13.0, "start", colour::TEXT, &format!("level {level}"));
        let of = if self.topology.rail_count() > 1 { format!(" of rail {rail}") } else { String::new() };
        let words = format!("{} switches{of}", thousands(row.len()));
        canvas.text((MARGIN, y + 13.0), 11.0, "start", colour::MUTED, &words);
        let fill = if level > 1 { colour::SPINE } else { colour::SWITCH };
        for vertex in row {
            let (area, name) = (self.boxes[vertex], self.topology.name(*vertex).as_str());
            canvas.rect(area, 3.0, fill, "none", name);
            if name.len() as f64 * 6.2 < area.width {
                let (x, y) = area.middle();
                canvas.text((x, y + 4.0), 11.0, "middle", colour::PANEL, name);
            }
        }
    }

    /// Cables between switches, each drawn, or a band for those between two pods.
    fn links(&self, canvas: &mut Canvas, rails: usize) {
        let mut between: BTreeMap<(u8, Option<u8>, Option<u8>), Vec<LinkIndex>> = BTreeMap::new();
        for link in self.topology.links().filter(|link| self.is_upper(*link, rails)) {
            let (low, high) = (self.topology.from(link), self.topology.to(link));
            let key = (self.topology.rail(link), self.topology.level(low), self.topology.level(high));
            between.entry(key).or_default().push(link);
        }
        for cables in between.values() {
            if cables.len() <= LINES_MAX {
                cables.iter().for_each(|link| self.line(canvas, *link, cables.len()));
            } else {
                self.bands(canvas, cables);
            }
        }
    }

    /// A link up between two drawn switches, so that each cable counts once.
    fn is_upper(&self, link: LinkIndex, rails: usize) -> bool {
        let (from, to) = (self.topology.from(link), self.topology.to(link));
        let drawn = self.boxes.contains_key(&from) && self.boxes.contains_key(&to);
        let up = match self.topology.level(from).cmp(&self.topology.level(to)) {
            std::cmp::Ordering::Equal => from < to,
            order => order.is_lt(),
        };
        drawn && up && usize::from(self.topology.rail(link)) < rails
    }

    fn line(&self, canvas: &mut Canvas, link: LinkIndex, cables: usize) {
        let (a, b) = (self.boxes[&self.topology.from(link)], self.boxes[&self.topology.to(link)]);
        let stroke = colour_of(self.topology.class(link));
        if (a.y - b.y).abs() < 1.0 {
            let (from, to) = (a.middle(), b.middle());
            canvas.bow(from, ((from.0 + to.0) / 2.0, a.y - 46.0), to, "#b43a00", 1.6);
            return;
        }
        let opacity = (24.0 / cables as f64).sqrt().clamp(0.3, 0.9);
        canvas.line(a.middle(), b.middle(), stroke, 1.1, opacity);
    }

    fn bands(&self, canvas: &mut Canvas, cables: &[LinkIndex]) {
        let mut pods: BTreeMap<(Option<u32>, Option<u32>), Vec<LinkIndex>> = BTreeMap::new();
        for link in cables {
            let ends = (self.topology.from(*link), self.topology.to(*link));
            pods.entry((self.topology.group(ends.0), self.topology.group(ends.1))).or_default().push(*link);
        }
        for links in pods.values() {
            let span = |ends: &dyn Fn(LinkIndex) -> VertexIndex| {
                let areas = links.iter().map(|link| self.boxes[&ends(*link)]);
                let left = areas.clone().map(|area| area.x).fold(f64::INFINITY, f64::min);
                let right = areas.map(|area| area.right()).fold(0.0, f64::max);
                (left, right, self.boxes[&ends(links[0])].middle().1)
            };
            let (low, high) = (span(&|link| self.topology.from(link)), span(&|link| self.topology.to(link)));
            let words = cables_text(links.len(), self.topology.bytes_per_s(links[0]));
            let fill = colour_of(self.topology.class(links[0]));
            canvas.band([(low.0, low.2), (low.1, low.2), (high.1, high.2), (high.0, high.2)], fill, &words);
            // Near the lower row bands do not cover each other.
            let (x, y) = ((low.0 + low.1) / 2.0, low.2 + (high.2 - low.2) * 0.28);
            if low.1 - low.0 > words.len() as f64 * 6.0 {
                canvas.text((x, y + 4.0), 12.0, "middle", colour::TEXT, &words);
            }
        }
    }

    /// Hosts by the leaf they stand below: that of their first rail.
    fn hosts_of_leaves(&self) -> BTreeMap<VertexIndex, Vec<VertexIndex>> {
        let mut of_leaf: BTreeMap<VertexIndex, Vec<VertexIndex>> = BTreeMap::new();
        for host in self.topology.vertices_of(VertexKind::Host) {
            let leaf = self.topology.links_from(host).map(|link| self.topology.to(link)).min();
            if let Some(leaf) = leaf.filter(|leaf| self.boxes.contains_key(leaf)) {
                of_leaf.entry(leaf).or_default().push(host);
            }
        }
        of_leaf
    }

    /// Hosts below their leaf, one by one, or their number: per leaf if there is room, and per pod.
    fn hosts(&self, canvas: &mut Canvas) {
        let of_leaf = self.hosts_of_leaves();
        let count: usize = of_leaf.values().map(Vec::len).sum();
        canvas.text((MARGIN, self.host_row - 2.0), 13.0, "start", colour::TEXT, "level 0");
        let words = format!("{} hosts", thousands(count));
        canvas.text((MARGIN, self.host_row + 13.0), 11.0, "start", colour::MUTED, &words);
        let mut pods: BTreeMap<Option<u32>, (f64, f64, usize)> = BTreeMap::new();
        for (leaf, hosts) in &of_leaf {
            let area = self.boxes[leaf];
            if count <= HOSTS_MAX {
                self.single_hosts(canvas, area, hosts);
                continue;
            }
            self.counted_hosts(canvas, *leaf, hosts);
            let pod = pods.entry(self.topology.group(*leaf)).or_insert((f64::INFINITY, 0.0, 0));
            *pod = (pod.0.min(area.x), pod.1.max(area.right()), pod.2 + hosts.len());
        }
        for (left, right, hosts) in pods.into_values().filter(|_| self.topology.group_count() > 1) {
            let at = ((left + right) / 2.0, self.host_row + BOX_HEIGHT / 2.0 + 18.0);
            canvas.rect(Area::new(at.0 - 40.0, at.1 - 13.0, 80.0, 18.0), 3.0, colour::GROUND, "none", "");
            canvas.text(at, 12.0, "middle", colour::TEXT, &format!("{} hosts", thousands(hosts)));
        }
    }

    /// One box for all hosts of a leaf.
    fn counted_hosts(&self, canvas: &mut Canvas, leaf: VertexIndex, hosts: &[VertexIndex]) {
        let area = self.boxes[&leaf];
        let place = Area::new(area.x, self.host_row - BOX_HEIGHT / 2.0, area.width, BOX_HEIGHT);
        hosts.iter().take(1).for_each(|host| self.lines_up(canvas, *host, place));
        let title = format!("{} hosts of {}", hosts.len(), self.topology.name(leaf));
        canvas.rect(place, 3.0, colour::HOST, colour::EDGE, &title);
        if area.width > 18.0 {
            let (x, y) = place.middle();
            canvas.text((x, y + 4.0), 11.0, "middle", colour::TEXT, &hosts.len().to_string());
        }
    }

    /// From a host's place to its leaf, in each rail.
    fn lines_up(&self, canvas: &mut Canvas, host: VertexIndex, place: Area) {
        for link in self.topology.links_from(host) {
            if let Some(area) = self.boxes.get(&self.topology.to(link)) {
                canvas.line(area.middle(), place.middle(), colour::LINE, 0.9, 0.7);
            }
        }
    }

    fn single_hosts(&self, canvas: &mut Canvas, leaf: Area, hosts: &[VertexIndex]) {
        let pitch = leaf.width.max(60.0) / hosts.len() as f64;
        let left = leaf.middle().0 - pitch * hosts.len() as f64 / 2.0;
        for (at, host) in hosts.iter().enumerate() {
            let size = (pitch * 0.8).min(14.0);
            let x = left + pitch * (at as f64 + 0.5);
            let place = Area::new(x - size / 2.0, self.host_row - size / 2.0, size, size);
            self.lines_up(canvas, *host, place);
            let name = self.topology.name(*host).as_str();
            canvas.rect(place, 2.0, colour::HOST, colour::LINE, name);
            if name.len() as f64 * 6.0 < pitch {
                canvas.text((x, self.host_row + size / 2.0 + 13.0), 10.0, "middle", colour::MUTED, name);
            }
        }
    }
}
