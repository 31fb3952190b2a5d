//! Sums of ten seconds by place. A place is a scope of series, as in the table `places_10s`: the whole machine, a group,
//! a file system or a class of links. A commit has the rows of a part of the series; parts of one place and time add up,
//! so nothing is kept from one commit to the next.

use crate::storage_policy::Bucket;
use schemas::{Name, SeriesInfo, Time};
use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use topology::{Topology, aries_group, link_places, node_places};

/// Most places that one series is counted in: the system, its group, and its file system or class of links.
pub const PLACES_OF_SERIES: usize = 3;

/// Kind of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlaceKind {
    /// All series of a metric.
    System,
    /// An Aries group, a group of switches, a pod; without a name for what no group is known of.
    Group,
    /// A mount.
    FileSystem,
    /// Links of one class: green, leaf, global, …
    LinkClass,
}

impl PlaceKind {
    /// Its name in the database.
    pub fn name(self) -> &'static str {
        match self {
            PlaceKind::System => "system",
            PlaceKind::Group => "group",
            PlaceKind::FileSystem => "file system",
            PlaceKind::LinkClass => "link class",
        }
    }
}

/// A place and a metric, of whose series there is one sum.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// Kind.
    pub kind: PlaceKind,
    /// Its name; empty for the system, and where none is known.
    pub name: Box<str>,
    /// The metric's name.
    pub metric: &'static str,
}

/// Number of a place, or none.
type PlaceNumber = u32;

/// The places of one series by number; free ones are [`NONE`].
pub type PlacesOfSeries = [PlaceNumber; PLACES_OF_SERIES];

/// No place.
pub const NONE: PlaceNumber = PlaceNumber::MAX;

/// Scopes of components and links by the topology; by names alone where there is none.
#[derive(Clone, Debug, Default)]
pub struct PlaceMap {
    groups: HashMap<Name, Box<str>>,
    /// By the hash of the series' name, of 64 bits: two of a million links share one in one of forty million machines.
    classes: HashMap<u64, &'static str>,
}

impl PlaceMap {
    /// That of a machine.
    pub fn of(topology: &Topology) -> PlaceMap {
        let mut groups = HashMap::new();
        for place in node_places(topology) {
            let group: Box<str> = place.group.into();
            groups.entry(place.switch).or_insert_with(|| group.clone());
            groups.entry(place.node).or_insert(group);
        }
        let links = link_places(topology);
        let classes = links.iter().map(|link| (hash(&link.series), link.class)).collect();
        PlaceMap { groups, classes }
    }

    fn group(&self, component: &Name) -> Box<str> {
        let named = aries_group(component.as_str()).map(String::into_boxed_str);
        named.or_else(|| self.groups.get(component).cloned()).unwrap_or_default()
    }

    fn class(&self, series: &SeriesInfo) -> Option<&'static str> {
        if self.classes.is_empty() { None } else { self.classes.get(&hash(&series.name())).copied() }
    }
}

fn hash(series: &str) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(series)
}

/// Sum over the series of a place in ten seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sum {
    /// Rows that were added, with data or not.
    pub rows: u32,
    /// Series with data.
    pub series: u32,
    /// Series that were contended at some tick.
    pub contended_series: u32,
    /// Ticks with data, of all series.
    pub ticks: u64,
    /// Contended ones among them.
    pub contended_ticks: u64,
    /// Sum over series of their mean readings, in the metric's unit; NaN without a reading.
    pub value_sum: f64,
    /// Largest reading; NaN without one.
    pub value_max: f32,
}

impl Sum {
    const EMPTY: Sum = Sum {
        rows: 0,
        series: 0,
        contended_series: 0,
        ticks: 0,
        contended_ticks: 0,
        value_sum: f64::NAN,
        value_max: f32::NAN,
    };

    fn add(&mut self, row: &Bucket) {
        self.rows += 1;
        self.series += u32::from(row.ticks > 0);
        self.contended_series += u32::from(row.contended_ticks > 0);
        self.ticks += u64::from(row.ticks);
        self.contended_ticks += u64::from(row.contended_ticks);
        if row.value.is_finite() {
            self.value_sum =
                f64::from(row.value) + if self.value_sum.is_nan() { 0.0 } else { self.value_sum };
        }
        self.value_max = self.value_max.max(row.value_max);
    }
}

/// The places seen, and the sums of one commit.
#[derive(Debug, Default)]
pub struct PlaceSums {
    map: PlaceMap,
    places: Vec<Place>,
    numbers: HashMap<Place, PlaceNumber>,
    /// Sums by place, of each ten seconds in the commit: one or two, more when a backlog is read.
    sums: Vec<(Time, Vec<Sum>)>,
}

impl PlaceSums {
    /// Without places yet.
    pub fn new(map: PlaceMap) -> PlaceSums {
        PlaceSums { map, ..PlaceSums::default() }
    }

    /// The places of a series, numbered.
    pub fn places_of(&mut self, series: &SeriesInfo) -> PlacesOfSeries {
        let metric = series.metric.name();
        let mount = series.file_system();
        let own = if series.metric.is_progress() {
            mount.as_ref().map(|mount| (PlaceKind::FileSystem, mount.as_str()))
        } else if series.metric.is_link() {
            self.map.class(series).map(|class| (PlaceKind::LinkClass, class))
        } else {
            None
        };
        let group = self.map.group(&series.component);
        let own = own.map_or(NONE, |(kind, name)| self.number(Place { kind, name: name.into(), metric }));
        let system = self.number(Place { kind: PlaceKind::System, name: Box::default(), metric });
        [system, self.number(Place { kind: PlaceKind::Group, name: group, metric }), own]
    }

    fn number(&mut self, place: Place) -> PlaceNumber {
        let next = self.places.len() as PlaceNumber;
        let number = *self.numbers.entry(place.clone()).or_insert(next);
        if number == next {
            self.places.push(place);
        }
        number
    }

    /// Forgets the sums of the commit before.
    pub fn begin(&mut self) {
        self.sums.clear();
    }

    /// Adds rows of ten seconds; `places` are those of the series by its number in the partition.
    pub fn add(&mut self, rows: &[Bucket], places: &[PlacesOfSeries]) {
        let mut at = 0;
        for row in rows {
            if self.sums.get(at).is_none_or(|(time, _)| *time != row.time) {
                at = self.time(row.time);
            }
            let sums = &mut self.sums[at].1;
            let numbers = places.get(row.series.at()).unwrap_or(&[NONE; PLACES_OF_SERIES]);
            for number in numbers.iter().filter(|number| **number != NONE) {
                sums[*number as usize].add(row);
            }
        }
    }

    /// Where the sums of a time are.
    fn time(&mut self, time: Time) -> usize {
        self.sums.iter().position(|(known, _)| *known == time).unwrap_or_else(|| {
            self.sums.push((time, vec![Sum::EMPTY; self.places.len()]));
            self.sums.len() - 1
        })
    }

    /// Every place with a row, by time.
    pub fn rows(&self) -> impl Iterator<Item = (Time, &Place, &Sum)> {
        self.sums.iter().flat_map(|(time, sums)| {
            let listed = self.places.iter().zip(sums).filter(|(_, sum)| sum.rows > 0);
            listed.map(move |(place, sum)| (*time, place, sum))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemas::Metric;
    use schemas::{Counts, SeriesIndex};
    use topology::Machine;
    use topology::generate::Aries;

    fn series(metric: Metric, component: &str, part: Option<&str>) -> SeriesInfo {
        let name = |text: &str| Name::parse(text).unwrap();
        SeriesInfo { metric, component: name(component), part: part.map(name) }
    }

    fn row(series: u32, time_s: i64, value: f32, ticks: u32, contended_ticks: u32) -> Bucket {
        Bucket {
            series: SeriesIndex(series),
            time: Time(time_s * 1_000_000),
            value,
            value_min: value,
            value_max: value * 2.0,
            mean: value,
            baseline: value,
            ticks,
            contended_ticks,
            slowdown_s: 0.0,
            counts: Counts::NONE,
        }
    }

    /// `kind name metric: time series contended_series ticks contended_ticks value_sum value_max`
    fn listed(sums: &PlaceSums) -> Vec<String> {
        let listed = |(time, place, sum): (Time, &Place, &Sum)| {
            let Sum { series, contended_series, ticks, contended_ticks, value_sum, value_max, .. } = sum;
            let (kind, name, at_s) = (place.kind.name(), &place.name, time.0 / 1_000_000);
            format!(
                "{kind} {name}: {at_s} {series} {contended_series} {ticks} {contended_ticks} {value_sum} {value_max}"
            )
        };
        sums.rows().map(listed).collect()
    }

    #[test]
    fn a_series_counts_in_the_system_its_group_and_its_file_system() {
        let mut sums = PlaceSums::new(PlaceMap::default());
        let lustre = Metric::from_name("lustre_write_rate").unwrap();
        let table = [
            series(lustre, "nid00000", Some("scratch")),
            series(lustre, "nid00001", Some("scratch")),
            series(Metric::from_name("aries_stall_ratio").unwrap(), "c3-0c0s1", Some("r0c0")),
        ];
        let places: Vec<PlacesOfSeries> = table.iter().map(|info| sums.places_of(info)).collect();
        sums.add(&[row(0, 10, 5.0, 10, 2), row(1, 10, 7.0, 9, 0), row(2, 10, 0.5, 10, 10)], &places);
        sums.add(&[row(2, 20, 0.25, 10, 0)], &places);
        let wanted = [
            "file system scratch: 10 2 1 19 2 12 14",
            "system : 10 2 1 19 2 12 14",
            "group : 10 2 1 19 2 12 14",
            "system : 10 1 1 10 10 0.5 1",
            "group c2-0..c3-0: 10 1 1 10 10 0.5 1",
            "system : 20 1 0 10 0 0.25 0.5",
            "group c2-0..c3-0: 20 1 0 10 0 0.25 0.5",
        ];
        assert_eq!(listed(&sums), wanted);
        sums.begin();
        assert_eq!(listed(&sums), [""; 0]);
    }

    #[test]
    fn what_has_no_data_is_a_row_of_no_series_without_a_value() {
        let mut sums = PlaceSums::new(PlaceMap::default());
        let places =
            [sums.places_of(&series(Metric::from_name("ib_wait_ratio").unwrap(), "leaf1", Some("1")))];
        sums.add(&[row(0, 10, f32::NAN, 0, 0)], &places);
        assert_eq!(listed(&sums), ["system : 10 0 0 0 0 NaN NaN", "group : 10 0 0 0 0 NaN NaN"]);
        assert_eq!(sums.rows().next().map(|(_, _, sum)| sum.value_sum.is_nan()), Some(true));
    }

    #[test]
    fn classes_of_links_and_groups_of_hosts_are_those_of_the_topology() {
        let topology = Machine::Aries(Aries::new(2)).build().unwrap();
        let mut sums = PlaceSums::new(PlaceMap::of(&topology));
        let (link, host) = (&link_places(&topology)[0], &node_places(&topology)[0]);
        let tile: Vec<&str> = link.series.split('/').collect();
        let table = [
            series(Metric::from_name("aries_stall_ratio").unwrap(), tile[1], Some(tile[2])),
            series(Metric::from_name("lustre_write_rate").unwrap(), host.node.as_str(), None),
        ];
        let places = table.map(|info| sums.places_of(&info));
        sums.add(&[row(0, 10, 1.0, 10, 0), row(1, 10, 3.0, 10, 0)], &places);
        let listed = listed(&sums);
        assert!(listed.contains(&format!("link class {}: 10 1 0 10 0 1 2", link.class)), "{listed:?}");
        assert!(listed.contains(&format!("group {}: 10 1 0 10 0 3 6", host.group)), "{listed:?}");
    }
}
