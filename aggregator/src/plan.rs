//! What a row with given columns means: decided once for a list of columns, applied to every row that has it.

use crate::columns::{base_schema, file_systems, is_job_start, is_unused, is_unused_schema};
use crate::names::{Base, OTHER_CASE, plain};
use crate::part_key::PartKey;
pub(crate) use crate::role::Role;
use crate::shape::Shape;
use crate::sources::{Found, LinkColumns, OfMetric, SchemaIndex, SourceSchema, Use, source_schemas};
use schemas::job_words::JOB_WORDS;
use schemas::metric::file::PartKind;
use schemas::{DropReason, LINK_COLUMNS, Name};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers are unique in the process, so that a file's header may be used with any decoder.
static NEXT_NUMBER: AtomicU64 = AtomicU64::new(0);

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
        let mut uses: Vec<Found<'_>> = Vec::with_capacity(names.len());
        let mut known: Vec<(usize, (Column, u8))> = Vec::with_capacity(names.len());
        for (at, name) in names.iter().enumerate() {
            known.extend(Column::of(name, &mut uses).map(|column| (at, column)));
        }
        known.sort_by_key(|(_, (_, far))| std::cmp::Reverse(*far));
        let mut found = Columns { names: &names, ..Columns::default() };
        for (at, (column, _)) in known {
            found.note(at, column, &uses);
        }
        let mut roles = vec![Role::Skip; names.len()];
        let target = found.target(schema, &mut roles);
        if target.is_err() {
            roles.fill(Role::Skip);
        }
        Plan { number: NEXT_NUMBER.fetch_add(1, Ordering::Relaxed), roles, target }
    }

    /// Fills in the counters that are another one's again, once a row's columns were read.
    pub(crate) fn repeat(&self, counters: &mut [u64]) {
        if let Ok(Target::Counters(shape)) = &self.target {
            shape.repeat(counters);
        }
    }
}

/// What one column is.
enum Column {
    Base(Base),
    /// Uses by metrics, by their numbers in a list.
    Used(usize, usize),
    JobStart,
}

impl Column {
    /// What a column is, and how far its name is from LDMS' own; `None` if it is not known. `uses` gains what it is to metrics.
    fn of<'a>(name: &'a str, uses: &mut Vec<Found<'a>>) -> Option<(Column, u8)> {
        if let Some((base, far)) = Base::of(name) {
            return Some((Column::Base(base), far));
        }
        let begin = uses.len();
        let far = source_schemas().uses(name, uses);
        match uses.len() > begin {
            true => Some((Column::Used(begin, uses.len()), far)),
            false if is_job_start(name) => Some((Column::JobStart, OTHER_CASE)),
            false => None,
        }
    }
}

/// Positions of the columns that matter.
#[derive(Default)]
struct Columns<'a> {
    names: &'a [Cow<'a, str>],
    time: Option<usize>,
    /// Whether the time is named as milliseconds.
    msec: bool,
    time_usec: Option<usize>,
    producer: Option<usize>,
    component_id: Option<usize>,
    job_id: Option<usize>,
    job: bool,
    schemas: BTreeMap<SchemaIndex, OfSchema<'a>>,
}

/// Positions of one schema's columns.
#[derive(Default)]
struct OfSchema<'a> {
    component: Option<usize>,
    part_columns: [Option<usize>; 2],
    signs: BTreeSet<usize>,
    foreign: bool,
    parts: HashMap<PartKey<'a>, OfPart, foldhash::fast::RandomState>,
}

/// Positions of one part's counters of all metrics, and of those of its link.
#[derive(Default)]
struct OfPart {
    counters: Vec<Option<usize>>,
    links: LinkColumns,
}

impl<'a> Columns<'a> {
    fn note(&mut self, at: usize, column: Column, uses: &[Found<'a>]) {
        match column {
            Column::Base(Base::Time) => (self.time, self.msec) = (Some(at), false),
            Column::Base(Base::TimeMsec) => (self.time, self.msec) = (Some(at), true),
            Column::Base(Base::TimeUsec) => self.time_usec = Some(at),
            Column::Base(Base::Producer) => self.producer = Some(at),
            Column::Base(Base::ComponentId) => self.component_id = Some(at),
            Column::Base(Base::JobId) => self.job_id = Some(at),
            Column::Used(begin, end) => uses[begin..end].iter().for_each(|found| self.note_use(at, found)),
            Column::JobStart => self.job = true,
        }
    }

    fn note_use(&mut self, at: usize, found: &Found<'a>) {
        let of_schema = self.schemas.entry(found.schema).or_default();
        match found.used {
            Use::Counter(slot) => {
                let counters = &mut of_schema.parts.entry(found.part).or_default().counters;
                if counters.is_empty() {
                    *counters = vec![None; source_schemas().get(found.schema).counters()];
                }
                counters[slot] = Some(at);
            }
            Use::Link(slot) => of_schema.parts.entry(found.part).or_default().links[slot] = Some(at),
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
        let (mut incomplete, mut foreign) = (false, false);
        for at in named {
            let Some(columns) = self.schemas.get(&at).filter(|columns| columns.has_counters()) else {
                continue;
            };
            match columns.named_parts(at, roles) {
                // A row of another schema may have columns with the names of some, here and below.
                Err(DropReason::MissingColumn) => {
                    roles.fill(Role::Skip);
                    incomplete = true;
                }
                found => return found.map(Target::Counters),
            }
        }
        for at in alone {
            let Some(columns) = self.schemas.get(&at) else { continue };
            let schema = source_schemas().get(at);
            if schema.by_job && self.job_id.is_none() {
                continue;
            }
            if columns.foreign {
                foreign = true;
                continue;
            }
            if !columns.shows(schema) {
                continue;
            }
            match columns.one_part(at, roles) {
                Err(DropReason::MissingColumn) => {
                    roles.fill(Role::Skip);
                    incomplete = true;
                }
                found => return found.map(Target::Counters),
            }
        }
        match (incomplete, self.job) {
            _ if foreign => Err(DropReason::UnusedSchema),
            (true, _) => Err(DropReason::MissingColumn),
            (false, true) => Ok(Target::Jobs),
            (false, false) => Err(self.useless(schema)),
        }
    }

    fn useless(&self, schema: &str) -> DropReason {
        if self.names.iter().any(|name| is_unused(name)) || is_unused_schema(base_schema(schema)) {
            DropReason::UnusedSchema
        } else if self.schemas.values().any(|columns| columns.component.is_some()) {
            DropReason::MissingColumn
        } else {
            DropReason::UnknownSchema
        }
    }
}

impl OfSchema<'_> {
    fn has_counters(&self) -> bool {
        self.parts.values().any(|part| !part.counters.is_empty())
    }

    /// Whether a row with these columns is of the schema, which names no parts in its columns.
    fn shows(&self, schema: &SourceSchema) -> bool {
        let signs = schema.recognised_by.len();
        let has_signs = self.signs.len() >= signs;
        match schema.by_job || schema.part.is_some() {
            true => has_signs && self.has_counters(),
            false => (signs > 0 && has_signs) || self.has_counters(),
        }
    }

    /// The parts that the columns' names hold.
    fn named_parts(&self, at: SchemaIndex, roles: &mut [Role]) -> Result<Shape, DropReason> {
        let schema = source_schemas().get(at);
        if schema.component().is_some() {
            roles[self.component.ok_or(DropReason::MissingColumn)?] = Role::Text(0);
        }
        let mut parts: Vec<(String, &OfPart)> =
            self.parts.iter().map(|(key, part)| (schema.part_of(key), part)).collect();
        parts.retain(|(_, part)| schema.metrics.iter().any(|of_metric| of_metric.is_in(part)));
        parts.sort_by(|(a, _), (b, _)| a.cmp(b));
        let written: Vec<&str> = parts.iter().map(|(name, _)| name.as_str()).collect();
        let names = match schema.part_is {
            Some(PartKind::Mount) => file_systems(&written),
            None => written.iter().map(ToString::to_string).collect(),
        };
        let names = names.iter().map(|name| Name::parse(name).map_err(|_| DropReason::BadName));
        let names: Vec<Name> = names.collect::<Result<_, _>>()?;
        let parts: Vec<&OfPart> = parts.into_iter().map(|(_, part)| part).collect();
        let mut shape = numbered(at, &parts, roles)?;
        shape.parts = names;
        Ok(shape)
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
        let part = self.parts.get(&PartKey::default()).ok_or(DropReason::MissingColumn)?;
        let mut shape = numbered(at, &[part], roles)?;
        if let Some(only) = &schema.part {
            shape.parts = vec![Name::parse(only).map_err(|_| DropReason::BadName)?];
        }
        Ok(shape)
    }
}

impl OfMetric {
    /// Whether a part has all counters that the metric needs.
    fn is_in(&self, part: &OfPart) -> bool {
        let own = part.counters.get(self.begin..self.begin + self.may_lack.len()).unwrap_or_default();
        !own.is_empty() && own.iter().zip(&self.may_lack).all(|(at, may_lack)| at.is_some() || *may_lack)
    }
}

/// Numbers the counters of all metrics that one of the parts has, metric after metric and part after part; those of links come last.
fn numbered(schema: SchemaIndex, parts: &[&OfPart], roles: &mut [Role]) -> Result<Shape, DropReason> {
    let mut shape = Shape::of(schema);
    for of_metric in &source_schemas().get(schema).metrics {
        if !parts.iter().any(|part| of_metric.is_in(part)) {
            continue;
        }
        let columns = of_metric.may_lack.len();
        shape.metrics.push((of_metric.metric, columns * parts.len()));
        for part in parts {
            let is_in = of_metric.is_in(part);
            for slot in of_metric.begin..of_metric.begin + columns {
                let at = part.counters.get(slot).copied().flatten().filter(|_| is_in);
                shape.number(at, of_metric.metric.reading().gauge, roles);
            }
        }
    }
    if shape.metrics.is_empty() {
        return Err(DropReason::MissingColumn);
    }
    let links = parts.iter().flat_map(|part| part.links).enumerate();
    for (slot, at) in links.filter_map(|(slot, at)| at.map(|at| (slot, at))) {
        roles[at] = Role::LinkCounter((shape.counters + slot) as u32);
        shape.of_links = parts.len() * LINK_COLUMNS;
    }
    shape.counters += shape.of_links;
    shape.by_job = source_schemas().get(schema).by_job;
    if shape.by_job {
        shape.counters += JOB_WORDS;
    }
    Ok(shape)
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
    fn whole_schema_goes_before_one_that_lacks_columns() {
        let columns =
            ["timestamp", "port_xmit_packets#a.1", "ib.port_xmit_wait#a.1", "ib.port_xmit_data#a.1"];
        let Ok(Target::Counters(shape)) = target(&columns) else { panic!("no counters") };
        assert_eq!(source_schemas().get(shape.schema).name.as_str(), "sysclassib");
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
            (&["timestamp", "port_xmit_packets#a.1"], DropReason::MissingColumn),
            (&["timestamp", "job_id", "port"], DropReason::UnknownSchema),
            (&[], DropReason::UnknownSchema),
        ] {
            assert_eq!(target(columns), Err(reason), "{columns:?}");
        }
    }
}
