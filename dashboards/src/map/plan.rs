//! Numbers of the vertices and edges of the topology, and which series measures which of them.

use crate::answer::ApiError;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use store::read::{self, Reader};

/// A number that stands for nothing.
pub(super) const NONE: u32 = u32::MAX;

/// Numbers of links, nodes and series.
pub(super) type Size = [i64; 3];

/// The topology in columns: switches, then nodes. An edge holds all links between two vertices, in both directions.
#[derive(Debug, Default, Serialize)]
pub struct Map {
    /// Changes with the topology: numbers of vertices and edges count within a version.
    version: String,
    /// Number of switches or routers: the first of the vertices.
    switches: usize,
    /// Number of directed links; 0 without a topology, and then there are no vertices.
    links: usize,
    /// Names of classes.
    classes: Vec<String>,
    /// Names of groups.
    groups: Vec<String>,
    vertices: Vertices,
    edges: Edges,
}

#[derive(Debug, Default, Serialize)]
struct Vertices {
    name: Vec<String>,
    /// Of a switch its group; `null` where it is unknown, and of nodes.
    group: Vec<Option<u32>>,
    /// Of a node the first switch that it is on; `null` of switches.
    on: Vec<Option<u32>>,
}

#[derive(Debug, Default, Serialize)]
struct Edges {
    /// The end with the smaller number.
    a: Vec<u32>,
    b: Vec<u32>,
    /// Index into `classes`.
    class: Vec<u32>,
    /// Directed links in it.
    links: Vec<u32>,
}

/// What a series says something about; [`NONE`] where it says nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub vertex: u32,
    pub edge: u32,
    /// A link or a client that several metrics may measure.
    pub place: u32,
}

/// The map, and the way from series to it.
#[derive(Debug)]
pub(super) struct Plan {
    pub map: Map,
    /// By number of the series.
    pub members: Vec<Member>,
    /// Numbers of all series.
    pub series: Vec<u32>,
    /// Whether each place is a link; others are clients of file systems.
    pub is_link: Vec<bool>,
}

/// A directed link and the number of the series that measures it.
struct Link {
    class: String,
    from: String,
    to: String,
    series: Option<i64>,
}

/// Reads [`Size`].
pub(super) fn size(store: &Reader<'_>) -> Result<Size, ApiError> {
    store.one(read::map::SIZE, &[], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]))
}

impl Map {
    pub(super) fn version(&self) -> &str {
        &self.version
    }

    pub(super) fn vertex_count(&self) -> usize {
        self.vertices.name.len()
    }

    pub(super) fn edge_count(&self) -> usize {
        self.edges.a.len()
    }
}

impl Plan {
    /// Reads the topology and the names of all series.
    pub(super) fn read(store: &Reader<'_>) -> Result<Plan, ApiError> {
        let links = store.rows(read::map::LINKS, &[], |row| {
            let (class, from, to) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok::<_, ApiError>(Link { class, from, to, series: row.get(3)? })
        })?;
        // Without links nothing is drawn: the switches of nodes alone are no topology.
        let places = match links.is_empty() {
            true => Vec::new(),
            false => store.rows(read::map::PLACES, &[], |row| {
                Ok::<_, ApiError>([row.get(0)?, row.get(1)?, row.get::<String>(2)?])
            })?,
        };
        let mut plan =
            Plan { map: Map::default(), members: Vec::new(), series: Vec::new(), is_link: Vec::new() };
        let numbers = plan.add_vertices(&links, &places);
        let edge_of = plan.add_edges(&links, &numbers);
        plan.add_series(store, &numbers, &edge_of)?;
        plan.map.links = links.len();
        plan.map.version = plan.hash();
        Ok(plan)
    }

    /// Numbers switches, then nodes, both by name.
    fn add_vertices(&mut self, links: &[Link], places: &[[String; 3]]) -> HashMap<String, u32> {
        let on_switch: HashSet<&str> = places.iter().map(|[_, switch, _]| &**switch).collect();
        let nodes: BTreeMap<&str, &str> = places
            .iter()
            .rev()
            .filter(|[node, ..]| !on_switch.contains(&**node))
            .map(|[node, switch, _]| (&**node, &**switch))
            .collect();
        let ends = links.iter().flat_map(|link| [&*link.from, &*link.to]);
        let switches: BTreeSet<&str> =
            ends.chain(on_switch.iter().copied()).filter(|name| !nodes.contains_key(name)).collect();
        let groups: HashMap<&str, &str> = places
            .iter()
            .filter(|[_, _, group]| !group.is_empty())
            .map(|[_, switch, group]| (&**switch, &**group))
            .collect();
        let names: BTreeSet<&str> = groups.values().copied().collect();
        let position: HashMap<&str, u32> = names.iter().zip(0..).map(|(name, at)| (*name, at)).collect();
        let all = switches.iter().copied().chain(nodes.keys().copied());
        let numbers: HashMap<String, u32> = all.clone().zip(0..).map(|(n, at)| (n.to_string(), at)).collect();
        let map = &mut self.map;
        map.switches = switches.len();
        map.groups = names.iter().map(|name| (*name).to_string()).collect();
        map.vertices.name = all.clone().map(str::to_string).collect();
        let group = |name: &str| groups.get(name).and_then(|group| position.get(group)).copied();
        map.vertices.group = all.clone().map(group).collect();
        map.vertices.on = all.map(|name| nodes.get(name).and_then(|on| numbers.get(*on)).copied()).collect();
        numbers
    }

    /// Numbers the pairs of vertices with links; returns the edge of each series.
    fn add_edges(&mut self, links: &[Link], numbers: &HashMap<String, u32>) -> HashMap<i64, u32> {
        let classes: BTreeSet<&str> = links.iter().map(|link| &*link.class).collect();
        let class_at: HashMap<&str, u32> = classes.iter().zip(0..).map(|(name, at)| (*name, at)).collect();
        self.map.classes = classes.iter().map(|name| (*name).to_string()).collect();
        let ends = |link: &Link| {
            let (a, b) = (numbers[&link.from], numbers[&link.to]);
            (a.min(b), a.max(b))
        };
        let mut pairs: BTreeMap<(u32, u32), (u32, u32)> = BTreeMap::new();
        for link in links {
            pairs.entry(ends(link)).or_insert((class_at[&*link.class], 0)).1 += 1;
        }
        let edges = &mut self.map.edges;
        for ((a, b), (class, count)) in &pairs {
            edges.a.push(*a);
            edges.b.push(*b);
            edges.class.push(*class);
            edges.links.push(*count);
        }
        let edge_at: HashMap<(u32, u32), u32> = pairs.keys().copied().zip(0..).collect();
        links.iter().filter_map(|link| Some((link.series?, edge_at[&ends(link)]))).collect()
    }

    /// A component as a whole counts only where its links have no series of their own.
    fn add_series(
        &mut self,
        store: &Reader<'_>,
        numbers: &HashMap<String, u32>,
        edge_of: &HashMap<i64, u32>,
    ) -> Result<(), ApiError> {
        let rows = store.rows(read::map::SERIES, &[], |row| {
            let (id, component): (i64, String) = (row.get(0)?, row.get(1)?);
            Ok::<_, ApiError>((id, component, row.get::<Option<String>>(2)?, row.get::<bool>(3)?))
        })?;
        let divided: HashSet<(&str, bool)> =
            rows.iter().filter(|row| row.2.is_some()).map(|row| (&*row.1, row.3)).collect();
        let mut places: HashMap<(bool, &str, Option<&str>), u32> = HashMap::new();
        for (id, component, part, is_link) in &rows {
            let at = usize::try_from(*id).unwrap_or_default();
            let size = self.members.len().max(at + 1);
            self.members.resize(size, Member { vertex: NONE, edge: NONE, place: NONE });
            self.series.push(at as u32);
            if part.is_none() && divided.contains(&(&**component, *is_link)) {
                continue;
            }
            let next = places.len() as u32;
            let place = *places.entry((*is_link, component, part.as_deref())).or_insert(next);
            if place == next {
                self.is_link.push(*is_link);
            }
            let vertex = numbers.get(component).copied().unwrap_or(NONE);
            let edge = edge_of.get(id).copied().unwrap_or(NONE);
            self.members[at] = Member { vertex, edge, place };
        }
        Ok(())
    }

    fn hash(&self) -> String {
        let mut hasher = DefaultHasher::new();
        (&self.map.vertices.name, &self.map.edges.a, &self.map.edges.b, &self.map.groups).hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }
}
