//! The worst state of every vertex and edge.

use super::plan::{NONE, Plan};
use crate::answer::ApiError;
use crate::totals::PlaceTotals;
use serde::Serialize;
use store::read::{self, Reader};

/// How bad each of [`schemas::State::ALL`] is: contended, then unknown, warming up, clear, idle.
const BADNESS: [u8; 5] = [2, 1, 4, 0, 3];
const CONTENDED: u8 = 2;
const UNKNOWN: u8 = 4;

/// States of the map. A vertex has the worst state of the series of its name, an edge that of the series of its links;
/// without any series it is unknown.
#[derive(Clone, Debug, Serialize)]
pub struct MapNow {
    clock: Option<f64>,
    /// The time of the states; `null` without data.
    at: Option<f64>,
    /// Whether any signal of that time is stored. Without one everything is unknown.
    kept: bool,
    /// That of the map which numbers vertices and edges.
    version: String,
    /// Names of the states.
    states: Vec<&'static str>,
    /// A digit for each vertex: the index of its state.
    vertices: String,
    /// The same for each edge.
    edges: String,
    links: PlaceTotals,
    clients: PlaceTotals,
}

impl MapNow {
    /// Links and clients.
    pub(crate) fn places(&self) -> [PlaceTotals; 2] {
        [self.links, self.clients]
    }

    /// Whether its numbers are those of `plan`.
    pub(super) fn is_of(&self, plan: &Plan) -> bool {
        self.version == plan.map.version()
    }
}

/// Reads the states at a time; without one, now.
pub(super) fn read(store: &Reader<'_>, plan: &Plan, at: Option<f64>) -> Result<MapNow, ApiError> {
    let clock = store.clock()?;
    let known = by_series(store, plan, at)?;
    let kept = known.iter().any(|state| *state != UNKNOWN);
    let [vertices, edges] = [plan.map.vertex_count(), plan.map.edge_count()].map(|n| vec![None; n]);
    let mut worst = Worst { vertices, edges, places: vec![None; plan.is_link.len()] };
    for series in &plan.series {
        let member = plan.members[*series as usize];
        let state = known[*series as usize];
        raise(&mut worst.vertices, member.vertex, state);
        raise(&mut worst.edges, member.edge, state);
        // Of several metrics of a place one with data counts.
        if state != UNKNOWN || member.place != NONE && worst.places[member.place as usize].is_none() {
            raise_known(&mut worst.places, member.place, state);
        }
    }
    let [links, clients] = [true, false].map(|link| totals(plan, &worst.places, link));
    let states = schemas::State::ALL.iter().map(|state| state.name()).collect();
    let [vertices, edges] = [&worst.vertices, &worst.edges].map(|states| digits(states));
    let version = plan.map.version().to_string();
    Ok(MapNow { clock, at: at.or(clock), kept, version, states, vertices, edges, links, clients })
}

struct Worst {
    vertices: Vec<Option<u8>>,
    edges: Vec<Option<u8>>,
    places: Vec<Option<u8>>,
}

/// The state of each series by its number.
fn by_series(store: &Reader<'_>, plan: &Plan, at: Option<f64>) -> Result<Vec<u8>, ApiError> {
    let mut known = vec![UNKNOWN; plan.members.len()];
    let mut put = |row: &read::Row<'_>| {
        let (state, series): (String, String) = (row.get(0)?, row.get(1)?);
        let number = schemas::State::ALL.iter().position(|each| each.name() == state);
        for id in series.split(' ').filter_map(|id| id.parse::<usize>().ok()) {
            // A series that came after the plan was read has no place on it.
            if let (Some(known), Some(number)) = (known.get_mut(id), number) {
                *known = number as u8;
            }
        }
        Ok::<_, ApiError>(())
    };
    match at {
        Some(at) => store.rows(read::map::STATES_AT, &[&at], &mut put)?,
        None => store.rows(read::map::STATES, &[], &mut put)?,
    };
    Ok(known)
}

fn raise(states: &mut [Option<u8>], at: u32, state: u8) {
    let Some(worst) = states.get_mut(at as usize) else { return };
    if worst.is_none_or(|known| BADNESS[usize::from(known)] < BADNESS[usize::from(state)]) {
        *worst = Some(state);
    }
}

/// As [`raise`], but any state is worse than unknown.
fn raise_known(states: &mut [Option<u8>], at: u32, state: u8) {
    if let Some(worst) = states.get_mut(at as usize)
        && *worst == Some(UNKNOWN)
    {
        *worst = None;
    }
    raise(states, at, state);
}

fn totals(plan: &Plan, places: &[Option<u8>], link: bool) -> PlaceTotals {
    let mut totals = PlaceTotals::default();
    for (_, state) in plan.is_link.iter().zip(places).filter(|(is_link, _)| **is_link == link) {
        totals.total += 1;
        totals.reporting += i64::from(*state != Some(UNKNOWN));
        totals.contended += i64::from(*state == Some(CONTENDED));
    }
    totals
}

fn digits(states: &[Option<u8>]) -> String {
    states.iter().map(|state| char::from(b'0' + state.unwrap_or(UNKNOWN))).collect()
}
