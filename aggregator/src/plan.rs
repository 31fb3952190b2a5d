//! What a row with given columns means: decided once for a list of columns, applied to every row that has it.

use crate::columns::{Column, base_schema, file_systems, is_unused_schema};
use crate::family::Family;
use crate::names::{Base, plain};
use schemas::{CounterBatch, DropReason, LINK_COLUMNS, NOT_MEASURED, Name};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers are unique in the process, so that a file's header may be used with any decoder.
static NEXT_NUMBER: AtomicU64 = AtomicU64::new(0);

/// What to do with the value of one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Skip,
    Time,
    /// Microseconds to add to a time that is given in milliseconds.
    TimeUsec,
    Producer,
    ComponentId,
    /// The job that the row's node works for.
    JobId,
    /// Part of the source's description: 0 is router, adapter or file system, 1 is the adapter's port.
    Text(u8),
    /// Goes to this slot among the counters of the row.
    Counter(u32),
    /// The same, but what is no counter is not measured: the row is good without it.
    LinkCounter(u32),
}

/// What the rows of a plan report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub family: Family,
    /// The parts that columns name; empty where values name the one part.
    pub parts: Vec<Name>,
    /// Counters of a row, those of links last.
    pub counters: usize,
    pub of_links: usize,
}

impl Shape {
    /// Room for the counters of a row.
    pub(crate) fn open<'b>(&self, batch: &'b mut CounterBatch) -> &'b mut [u64] {
        let counters = batch.open(self.counters);
        counters[self.counters - self.of_links..].fill(NOT_MEASURED);
        counters
    }
}

/// What a row is good for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Counters(Shape),
    Jobs,
}

/// The meaning of a list of columns.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Unlike that of any other plan of this process.
    pub number: u64,
    pub roles: Vec<Role>,
    pub target: Result<Target, DropReason>,
}

impl Plan {
    /// The meaning of `columns` in their order. Of a column that occurs twice the last one counts, as in every JSON
    /// parser, and of several names for one thing the one nearest to LDMS' own. `schema` is the one of topic or file; it only separates unused from unknown.
    pub(crate) fn of<'a>(columns: impl Iterator<Item = &'a str>, schema: &str) -> Plan {
        let names: Vec<Cow<'_, str>> = columns.map(plain).collect();
        let known = names.iter().enumerate().map(|(at, name)| (at, Column::of(name)));
        let mut known: Vec<_> = known.filter(|(_, (column, _))| *column != Column::Other).collect();
        known.sort_by_key(|(_, (_, far))| std::cmp::Reverse(*far));
        let mut found = Found::default();
        for (at, (column, _)) in known {
            found.note(at, column);
        }
        let mut roles = vec![Role::Skip; names.len()];
        let target = found.target(schema, &mut roles);
        if target.is_err() {
            roles.fill(Role::Skip);
        }
        Plan { number: NEXT_NUMBER.fetch_add(1, Ordering::Relaxed), roles, target }
    }
}

/// Positions of the columns that matter.
#[derive(Default)]
struct Found<'a> {
    time: Option<usize>,
    /// Whether the time is named as milliseconds.
    msec: bool,
    time_usec: Option<usize>,
    producer: Option<usize>,
    component_id: Option<usize>,
    job_id: Option<usize>,
    router: Option<usize>,
    file_system: Option<usize>,
    write_bytes: Option<usize>,
    llite: Option<usize>,
    server: bool,
    job: bool,
    unused: bool,
    adapters: BTreeMap<Family, [Option<usize>; 4]>,
    tiles: BTreeMap<(u8, u8), Vec<Option<usize>>>,
    ports: BTreeMap<Family, BTreeMap<&'a str, Vec<Option<usize>>>>,
    mounts: BTreeMap<&'a str, usize>,
    /// Columns of the life of links, by family and port.
    links: BTreeMap<(Family, &'a str), [Option<usize>; LINK_COLUMNS]>,
}

impl<'a> Found<'a> {
    fn note(&mut self, at: usize, column: Column<'a>) {
        match column {
            Column::Base(Base::Time) => (self.time, self.msec) = (Some(at), false),
            Column::Base(Base::TimeMsec) => (self.time, self.msec) = (Some(at), true),
            Column::Base(Base::TimeUsec) => self.time_usec = Some(at),
            Column::Base(Base::Producer) => self.producer = Some(at),
            Column::Base(Base::ComponentId) => self.component_id = Some(at),
            Column::Base(Base::JobId) => self.job_id = Some(at),
            Column::Router => self.router = Some(at),
            Column::FileSystem => self.file_system = Some(at),
            Column::WriteBytes => self.write_bytes = Some(at),
            Column::Llite => self.llite = Some(at),
            Column::LustreServer => self.server = true,
            Column::JobStart => self.job = true,
            Column::Unused => self.unused = true,
            Column::Adapter(family) => self.adapters.entry(family).or_default()[0] = Some(at),
            Column::Port(family) => self.adapters.entry(family).or_default()[1] = Some(at),
            Column::PortCounter(family, slot) => {
                self.adapters.entry(family).or_default()[2 + slot as usize] = Some(at);
            }
            Column::NamedPort(family, part, slot) => {
                let slots = self.ports.entry(family).or_default().entry(part);
                slots.or_insert_with(|| vec![None; 2])[slot as usize] = Some(at);
            }
            Column::NamedMount(mount) => {
                self.mounts.insert(mount, at);
            }
            Column::LinkCounter(family, part, slot) => {
                self.links.entry((family, part)).or_default()[slot as usize] = Some(at);
            }
            Column::Tile { row, column, slot } => {
                let slots = self.tiles.entry((row, column));
                slots.or_insert_with(|| vec![None; 9])[slot as usize] = Some(at);
            }
            Column::Other => {}
        }
    }

    fn target(&self, schema: &str, roles: &mut [Role]) -> Result<Target, DropReason> {
        let target = self.recognise(schema, roles)?;
        roles[self.time.ok_or(DropReason::MissingTimestamp)?] = Role::Time;
        let others = [
            (self.time_usec.filter(|_| self.msec), Role::TimeUsec),
            (self.producer, Role::Producer),
            (self.component_id, Role::ComponentId),
            (self.job_id, Role::JobId),
        ];
        for (at, role) in others {
            if let Some(at) = at {
                roles[at] = role;
            }
        }
        Ok(target)
    }

    fn recognise(&self, schema: &str, roles: &mut [Role]) -> Result<Target, DropReason> {
        let shape = if !self.tiles.is_empty() {
            self.aries(roles)
        } else if let Some((family, ports)) = self.ports.first_key_value() {
            let parts = ports.iter().map(|(part, slots)| ((*part).to_string(), &slots[..]));
            dense(*family, parts, roles)
        } else if !self.mounts.is_empty() {
            self.lustre2(roles)
        } else if self.server {
            Err(DropReason::UnusedSchema)
        } else if self.write_bytes.is_some() || (self.file_system.is_some() && self.llite.is_some()) {
            self.lustre(roles)
        } else if let Some((family, columns)) = self.adapter() {
            single_port(family, columns, roles)
        } else if self.job {
            return Ok(Target::Jobs);
        } else {
            Err(self.useless(schema))
        };
        shape.map(|shape| Target::Counters(self.with_links(shape, roles)))
    }

    /// Adds the row's counters of link failures, behind its other counters.
    fn with_links(&self, shape: Shape, roles: &mut [Role]) -> Shape {
        let alone = [""];
        let named: Vec<&str> = shape.parts.iter().map(Name::as_str).collect();
        let parts = if named.is_empty() { &alone[..] } else { &named[..] };
        let mut found = false;
        for (part_index, part) in parts.iter().enumerate() {
            for (slot, at) in self.links.get(&(shape.family, *part)).into_iter().flatten().enumerate() {
                if let Some(at) = at {
                    roles[*at] =
                        Role::LinkCounter((shape.counters + part_index * LINK_COLUMNS + slot) as u32);
                    found = true;
                }
            }
        }
        let of_links = if found { parts.len() * LINK_COLUMNS } else { 0 };
        Shape { counters: shape.counters + of_links, of_links, ..shape }
    }

    fn useless(&self, schema: &str) -> DropReason {
        if self.unused || is_unused_schema(base_schema(schema)) {
            DropReason::UnusedSchema
        } else if self.router.is_some() {
            DropReason::MissingColumn
        } else {
            DropReason::UnknownSchema
        }
    }

    fn aries(&self, roles: &mut [Role]) -> Result<Shape, DropReason> {
        roles[self.router.ok_or(DropReason::MissingColumn)?] = Role::Text(0);
        let parts = self.tiles.iter().map(|((row, column), slots)| (format!("r{row}c{column}"), &slots[..]));
        dense(Family::AriesRtr, parts, roles)
    }

    fn lustre2(&self, roles: &mut [Role]) -> Result<Shape, DropReason> {
        let mounts: Vec<&str> = self.mounts.keys().copied().collect();
        let slots: Vec<[Option<usize>; 1]> = self.mounts.values().map(|at| [Some(*at)]).collect();
        let parts = file_systems(&mounts).into_iter().zip(slots.iter().map(|s| &s[..]));
        dense(Family::Lustre2Client, parts, roles)
    }

    fn lustre(&self, roles: &mut [Role]) -> Result<Shape, DropReason> {
        roles[self.file_system.ok_or(DropReason::MissingColumn)?] = Role::Text(0);
        roles[self.write_bytes.ok_or(DropReason::MissingColumn)?] = Role::Counter(0);
        if let Some(at) = self.llite {
            roles[at] = Role::Text(1);
        }
        Ok(single_part(Family::LustreClient))
    }

    /// Columns of the one port of the row. A lone column `port` may be anything.
    fn adapter(&self) -> Option<(Family, [Option<usize>; 4])> {
        let says_more = |columns: &[Option<usize>; 4]| columns[0].or(columns[2]).or(columns[3]).is_some();
        let mut adapters = self.adapters.iter().rev();
        adapters.find(|(_, columns)| says_more(columns)).map(|(f, c)| (*f, *c))
    }
}

fn single_port(family: Family, columns: [Option<usize>; 4], roles: &mut [Role]) -> Result<Shape, DropReason> {
    let wanted = [Role::Text(0), Role::Text(1), Role::Counter(0), Role::Counter(1)];
    // A set of `ibnet` is a port of a switch, which is the producer: there is no adapter between them.
    let adapter = usize::from(family == Family::Ibnet);
    for (at, role) in columns.into_iter().zip(wanted).skip(adapter) {
        roles[at.ok_or(DropReason::MissingColumn)?] = role;
    }
    Ok(single_part(family))
}

fn single_part(family: Family) -> Shape {
    Shape { family, parts: Vec::new(), counters: family.metric().columns(), of_links: 0 }
}

/// Numbers the counters of all parts that have all their columns, part after part.
fn dense<'s>(
    family: Family,
    parts: impl Iterator<Item = (String, &'s [Option<usize>])>,
    roles: &mut [Role],
) -> Result<Shape, DropReason> {
    let mut names = Vec::new();
    let mut counters = 0;
    for (part, slots) in parts {
        let Some(slots) = slots.iter().copied().collect::<Option<Vec<usize>>>() else {
            continue;
        };
        names.push(Name::parse(&part).map_err(|_| DropReason::BadName)?);
        for at in slots {
            roles[at] = Role::Counter(counters);
            counters += 1;
        }
    }
    if names.is_empty() {
        return Err(DropReason::MissingColumn);
    }
    Ok(Shape { family, parts: names, counters: counters as usize, of_links: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(columns: &[&str]) -> Result<Target, DropReason> {
        Plan::of(columns.iter().copied(), "").target
    }

    #[test]
    fn a_tile_needs_all_nine_columns() {
        let mut columns: Vec<String> =
            (0..8).map(|v| format!("AR_RTR_1_2_INQ_PRF_INCOMING_FLIT_VC{v}")).collect();
        columns
            .extend(["timestamp", "aries_rtr_id", "AR_RTR_1_2_INQ_PRF_ROWBUS_STALL_CNT"].map(String::from));
        columns.push("AR_RTR_0_0_INQ_PRF_ROWBUS_STALL_CNT".to_string());
        let plan = Plan::of(columns.iter().map(String::as_str), "");
        let Ok(Target::Counters(shape)) = plan.target else {
            panic!("{:?}", plan.target);
        };
        assert_eq!(shape.parts, [Name::parse("r1c2").unwrap()]);
        assert_eq!(plan.roles[0], Role::Counter(1));
        assert_eq!(plan.roles[10], Role::Counter(0));
        assert_eq!(plan.roles[11], Role::Skip);
    }

    #[test]
    fn what_is_missing_is_said() {
        for (columns, reason) in [
            (&["write_bytes.sum", "fs_name"][..], DropReason::MissingTimestamp),
            (&["timestamp", "write_bytes.sum"], DropReason::MissingColumn),
            (&["timestamp", "fs_name", "llite"], DropReason::MissingColumn),
            (&["timestamp", "ca_name", "port", "port_xmit_wait"], DropReason::MissingColumn),
            (&["timestamp", "switch_port", "PortXmitWait"], DropReason::MissingColumn),
            (&["timestamp", "AR_RTR_0_0_INQ_PRF_ROWBUS_STALL_CNT"], DropReason::MissingColumn),
            (&["timestamp", "ost", "fs_name", "write_bytes.sum"], DropReason::UnusedSchema),
            (&["timestamp", "MemTotal"], DropReason::UnusedSchema),
            (&["timestamp", "job_id", "port"], DropReason::UnknownSchema),
            (&[], DropReason::UnknownSchema),
        ] {
            assert_eq!(target(columns), Err(reason), "{columns:?}");
        }
    }
}
