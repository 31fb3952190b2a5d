//! What a row with given columns means: decided once for a list of columns, applied to every row that has it.

use crate::columns::{base_schema, file_systems, is_job_start, is_unused, is_unused_schema};
use crate::names::{Base, OTHER_CASE, plain};
use crate::sources::{Found, LinkColumns, SchemaIndex, SourceSchema, Use, source_schemas};
use schemas::metric::file::PartKind;
use schemas::{CounterBatch, DropReason, LINK_COLUMNS, NOT_MEASURED, Name};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
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
    /// A name in the source's description: 0 is the component or the first column of the part, 1 the part's second one.
    Text(u8),
    /// Goes to this slot among the counters of the row.
    Counter(u32),
    /// The same, but what is no counter is not measured: the row is good without it.
    LinkCounter(u32),
}

/// What the rows of a plan report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub schema: SchemaIndex,
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
        let mut known: Vec<(usize, Column, u8)> = Vec::new();
        for (at, name) in names.iter().enumerate() {
            let (column, far) = Column::of(name);
            known.push((at, column, far));
        }
        known.sort_by_key(|(_, _, far)| std::cmp::Reverse(*far));
        let mut found = Columns::default();
        for (at, column, _) in known {
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

/// What one column is.
enum Column {
    Base(Base),
    Used(Vec<Found>),
    JobStart,
    Unused,
    Other,
}

impl Column {
    fn of(name: &str) -> (Column, u8) {
        if let Some((base, far)) = Base::of(name) {
            return (Column::Base(base), far);
        }
        let (uses, far) = source_schemas().uses(name);
        match uses.is_empty() {
            false => (Column::Used(uses), far),
            true if is_job_start(name) => (Column::JobStart, OTHER_CASE),
            true if is_unused(name) => (Column::Unused, OTHER_CASE),
            true => (Column::Other, OTHER_CASE),
        }
    }
}

/// Positions of the columns that matter.
#[derive(Default)]
struct Columns {
    time: Option<usize>,
    /// Whether the time is named as milliseconds.
    msec: bool,
    time_usec: Option<usize>,
    producer: Option<usize>,
    component_id: Option<usize>,
    job_id: Option<usize>,
    job: bool,
    unused: bool,
    schemas: BTreeMap<SchemaIndex, OfSchema>,
}

/// Positions of one schema's columns.
#[derive(Default)]
struct OfSchema {
    component: Option<usize>,
    part_columns: [Option<usize>; 2],
    signs: BTreeSet<usize>,
    foreign: bool,
    /// Counters by part; a part without a name is the one of the row.
    parts: BTreeMap<String, Vec<Option<usize>>>,
    links: BTreeMap<String, LinkColumns>,
}

impl Columns {
    fn note(&mut self, at: usize, column: Column) {
        match column {
            Column::Base(Base::Time) => (self.time, self.msec) = (Some(at), false),
            Column::Base(Base::TimeMsec) => (self.time, self.msec) = (Some(at), true),
            Column::Base(Base::TimeUsec) => self.time_usec = Some(at),
            Column::Base(Base::Producer) => self.producer = Some(at),
            Column::Base(Base::ComponentId) => self.component_id = Some(at),
            Column::Base(Base::JobId) => self.job_id = Some(at),
            Column::Used(uses) => uses.into_iter().for_each(|found| self.note_use(at, found)),
            Column::JobStart => self.job = true,
            Column::Unused => self.unused = true,
            Column::Other => {}
        }
    }

    fn note_use(&mut self, at: usize, Found { schema, used, part }: Found) {
        let of_schema = self.schemas.entry(schema).or_default();
        match used {
            Use::Counter(slot) => {
                let slots = of_schema.parts.entry(part);
                let counters = source_schemas().get(schema).metric.columns();
                slots.or_insert_with(|| vec![None; counters])[slot] = Some(at);
            }
            Use::Link(slot) => of_schema.links.entry(part).or_default()[slot] = Some(at),
            Use::Component => of_schema.component = Some(at),
            Use::PartColumn(piece) => of_schema.part_columns[piece] = Some(at),
            Use::Sign => _ = of_schema.signs.insert(at),
            Use::Foreign => of_schema.foreign = true,
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
        let (named, alone) = source_schemas().in_order();
        for at in named {
            if let Some(columns) = self.schemas.get(&at).filter(|columns| !columns.parts.is_empty()) {
                return columns.named_parts(at, roles).map(|shape| columns.with_links(shape, roles));
            }
        }
        for at in alone {
            let Some(columns) = self.schemas.get(&at) else { continue };
            if columns.foreign {
                return Err(DropReason::UnusedSchema);
            }
            if columns.shows(source_schemas().get(at)) {
                return columns.one_part(at, roles).map(|shape| columns.with_links(shape, roles));
            }
        }
        if self.job { Ok(Target::Jobs) } else { Err(self.useless(schema)) }
    }

    fn useless(&self, schema: &str) -> DropReason {
        if self.unused || is_unused_schema(base_schema(schema)) {
            DropReason::UnusedSchema
        } else if self.schemas.values().any(|columns| columns.component.is_some()) {
            DropReason::MissingColumn
        } else {
            DropReason::UnknownSchema
        }
    }
}

impl OfSchema {
    /// Whether a row with these columns is of the schema, which names no parts in its columns.
    fn shows(&self, schema: &SourceSchema) -> bool {
        let all_signs = schema.recognised_by > 0 && self.signs.len() >= schema.recognised_by;
        all_signs || !self.parts.is_empty()
    }

    /// The parts that the columns' names hold.
    fn named_parts(&self, at: SchemaIndex, roles: &mut [Role]) -> Result<Shape, DropReason> {
        let schema = source_schemas().get(at);
        if schema.component.is_some() {
            roles[self.component.ok_or(DropReason::MissingColumn)?] = Role::Text(0);
        }
        let written: Vec<&str> = self.parts.keys().map(String::as_str).collect();
        let names = match schema.part_is {
            Some(PartKind::Mount) => file_systems(&written),
            None => written.iter().map(ToString::to_string).collect(),
        };
        let slots = self.parts.values().map(Vec::as_slice);
        let (parts, counters) = dense(names.into_iter().zip(slots), roles)?;
        Ok(Shape { schema: at, parts, counters, of_links: 0 })
    }

    /// The one part, which values name. A mount's llite directory may be missing.
    fn one_part(&self, at: SchemaIndex, roles: &mut [Role]) -> Result<Shape, DropReason> {
        let schema = source_schemas().get(at);
        for (piece, at) in self.part_columns.iter().take(schema.part_columns.len()).enumerate() {
            match at {
                Some(at) => roles[*at] = Role::Text(piece as u8),
                None if piece == 1 && schema.part_is == Some(PartKind::Mount) => {}
                None => return Err(DropReason::MissingColumn),
            }
        }
        let slots = self.parts.get("").ok_or(DropReason::MissingColumn)?;
        for (counter, at) in slots.iter().enumerate() {
            roles[at.ok_or(DropReason::MissingColumn)?] = Role::Counter(counter as u32);
        }
        Ok(Shape { schema: at, parts: Vec::new(), counters: schema.metric.columns(), of_links: 0 })
    }

    /// Adds the row's counters of link failures, behind its other counters.
    fn with_links(&self, shape: Shape, roles: &mut [Role]) -> Target {
        let alone = [""];
        let named: Vec<&str> = shape.parts.iter().map(Name::as_str).collect();
        let parts = if named.is_empty() { &alone[..] } else { &named[..] };
        let mut found = false;
        for (part_index, part) in parts.iter().enumerate() {
            for (slot, at) in self.links.get(*part).into_iter().flatten().enumerate() {
                if let Some(at) = at {
                    roles[*at] =
                        Role::LinkCounter((shape.counters + part_index * LINK_COLUMNS + slot) as u32);
                    found = true;
                }
            }
        }
        let of_links = if found { parts.len() * LINK_COLUMNS } else { 0 };
        Target::Counters(Shape { counters: shape.counters + of_links, of_links, ..shape })
    }
}

/// Numbers the counters of all parts that have all their columns, part after part.
fn dense<'s>(
    parts: impl Iterator<Item = (String, &'s [Option<usize>])>,
    roles: &mut [Role],
) -> Result<(Vec<Name>, usize), DropReason> {
    let (mut names, mut counters) = (Vec::new(), 0);
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
    if names.is_empty() { Err(DropReason::MissingColumn) } else { Ok((names, counters as usize)) }
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
