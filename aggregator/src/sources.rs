//! The catalogue's LDMS schemas, compiled: what each column is to whom.

use crate::names::{Base, OTHER_CASE};
use schemas::metric::catalogue::{OPTIONAL, catalogue};
use schemas::metric::file::{ComponentKind, PartKind, SourceFile};
use schemas::metric::pattern::Pattern;
use schemas::{LINK_COLUMNS, Metric, Name};
use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

/// Number of an LDMS schema among the compiled ones.
pub(crate) type SchemaIndex = usize;

/// An LDMS schema that has a metric's counters.
#[derive(Debug)]
pub(crate) struct SourceSchema {
    /// LDMS' name of it.
    pub name: Name,
    pub metric: Metric,
    pub rank: u8,
    /// What the component is, where a column names it.
    pub component: Option<Option<ComponentKind>>,
    /// Whether columns' names hold the parts.
    names_parts: bool,
    /// Columns whose values name the one part.
    pub part_columns: Vec<String>,
    pub part_is: Option<PartKind>,
    /// Columns that show the schema without its counters.
    pub recognised_by: usize,
}

/// How a part is named by the placeholders of a pattern: texts, and numbers of placeholders.
type PartOf = Vec<Result<String, usize>>;

/// What a column is to one schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// A counter of a part: its place among the counters.
    Counter(usize),
    /// A counter of the life of a part's link.
    Link(usize),
    /// The component's name.
    Component,
    /// The part's name, or a piece of it.
    PartColumn(usize),
    /// One of those that show the schema; it may be named as another use, too.
    Sign,
    /// The schema of something else that has the same counters.
    Foreign,
}

/// A use of a column, with the part that the column's name holds, or empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub schema: SchemaIndex,
    pub used: Use,
    pub part: String,
}

/// Uses by names.
type Uses = HashMap<String, Vec<(SchemaIndex, Use)>, foldhash::fast::RandomState>;

/// All schemas, and the way from a column's name to its uses.
#[derive(Debug, Default)]
pub(crate) struct SourceSchemas {
    schemas: Vec<SourceSchema>,
    /// Uses of columns by their whole name; and with small letters, and `_` for `.`.
    exact: Uses,
    folded: Uses,
    /// Bytes of the longest of them.
    longest: usize,
    /// Uses by patterns, by the pattern's first byte.
    patterns: BTreeMap<Option<u8>, Vec<PatternUse>>,
}

#[derive(Debug)]
struct PatternUse {
    pattern: Pattern,
    part: PartOf,
    schema: SchemaIndex,
    used: Use,
}

/// The compiled catalogue.
pub(crate) fn source_schemas() -> &'static SourceSchemas {
    static COMPILED: OnceLock<SourceSchemas> = OnceLock::new();
    COMPILED.get_or_init(SourceSchemas::compile)
}

impl SourceSchemas {
    fn compile() -> SourceSchemas {
        let mut all = SourceSchemas::default();
        for (metric, file, source) in catalogue().sources() {
            let Ok(name) = Name::parse(&source.schema) else { continue };
            let counters = file.reading.waited.iter().chain(&file.reading.passed);
            all.add(metric, name, source, &counters.collect::<Vec<_>>());
        }
        all
    }

    fn add(&mut self, metric: Metric, name: Name, source: &SourceFile, counters: &[&String]) {
        let schema = self.schemas.len();
        for (at, counter) in counters.iter().enumerate() {
            self.add_patterns(source, source.columns.get(*counter), schema, Use::Counter(at));
        }
        for (at, counter) in OPTIONAL.iter().enumerate() {
            self.add_patterns(source, source.optional.get(*counter), schema, Use::Link(at));
        }
        if let Some(component) = &source.component {
            self.add_name(&component.column, schema, Use::Component);
        }
        for (at, column) in source.part_columns.iter().enumerate() {
            self.add_name(column, schema, Use::PartColumn(at));
        }
        source.recognised_by.iter().for_each(|column| self.add_name(column, schema, Use::Sign));
        source.not_with.iter().for_each(|column| self.add_name(column, schema, Use::Foreign));
        self.schemas.push(SourceSchema {
            name,
            metric,
            rank: source.rank,
            component: source.component.as_ref().map(|component| component.is),
            names_parts: source.part.is_some(),
            part_columns: source.part_columns.clone(),
            part_is: source.part_is,
            recognised_by: source.recognised_by.len(),
        });
    }

    fn add_patterns(
        &mut self,
        source: &SourceFile,
        patterns: Option<&Vec<String>>,
        schema: SchemaIndex,
        used: Use,
    ) {
        for text in patterns.into_iter().flatten() {
            match Pattern::parse(text) {
                Ok(pattern) if pattern.names_a_part() => {
                    let part = part_of(source.part.as_deref().unwrap_or_default(), &pattern);
                    let of_byte = self.patterns.entry(pattern.first_byte()).or_default();
                    of_byte.push(PatternUse { pattern, part, schema, used });
                }
                _ => self.add_name(text, schema, used),
            }
        }
    }

    fn add_name(&mut self, column: &str, schema: SchemaIndex, used: Use) {
        self.longest = self.longest.max(column.len());
        self.exact.entry(column.to_string()).or_default().push((schema, used));
        self.folded.entry(folded(column)).or_default().push((schema, used));
    }

    /// The schema of that number.
    pub(crate) fn get(&self, schema: SchemaIndex) -> &SourceSchema {
        &self.schemas[schema]
    }

    /// Numbers of the schemas in the order in which rows are recognised: those that name parts in their columns, then what
    /// is the progress of a node, then the others.
    pub(crate) fn in_order(&self) -> (Vec<SchemaIndex>, Vec<SchemaIndex>) {
        let (named, mut alone): (Vec<usize>, Vec<usize>) =
            (0..self.schemas.len()).partition(|at| self.schemas[*at].names_parts);
        alone.sort_by_key(|at| !self.schemas[*at].metric.is_progress());
        (named, alone)
    }

    /// What the column called `name` (see [`crate::names::plain`]) is, and how far the name is from LDMS' own.
    pub(crate) fn uses(&self, name: &str) -> (Vec<Found>, u8) {
        let of_name = |uses: Option<&Vec<(SchemaIndex, Use)>>, found: &mut Vec<Found>| {
            let uses = uses.into_iter().flatten();
            found.extend(uses.map(|(schema, used)| Found {
                schema: *schema,
                used: *used,
                part: String::new(),
            }));
        };
        let (mut found, is_short) = (Vec::new(), name.len() <= self.longest);
        if is_short {
            of_name(self.exact.get(name), &mut found);
        }
        self.of_patterns(name, false, &mut found);
        if !found.is_empty() {
            return (found, 0);
        }
        if is_short {
            of_name(self.folded.get(&folded(name)), &mut found);
        }
        self.of_patterns(name, true, &mut found);
        (found, OTHER_CASE)
    }

    fn of_patterns(&self, name: &str, any_case: bool, found: &mut Vec<Found>) {
        let first = name.bytes().next().map(|byte| byte.to_ascii_lowercase());
        let of_any = first.and_then(|_| self.patterns.get(&None));
        let patterns = self.patterns.get(&first).into_iter().chain(of_any).flatten();
        for PatternUse { pattern, part: part_of, schema, used } in patterns {
            let Some(values) = pattern.values(name, any_case) else { continue };
            let value = |at: &usize| values.as_slice().get(*at).copied().unwrap_or_default();
            let mut part = String::with_capacity(name.len());
            part_of.iter().for_each(|piece| part.push_str(piece.as_deref().unwrap_or_else(value)));
            found.push(Found { schema: *schema, used: *used, part });
        }
    }
}

/// The pieces of `template`, such as `r{row}c{column}`.
fn part_of(template: &str, pattern: &Pattern) -> PartOf {
    let names: Vec<&str> = pattern.placeholders().collect();
    let mut pieces = Vec::new();
    for piece in template.split('{') {
        let (name, text) = piece.split_once('}').unwrap_or(("", piece));
        pieces.extend(names.iter().position(|known| *known == name).map(Err));
        if !text.is_empty() {
            pieces.push(Ok(text.to_string()));
        }
    }
    pieces
}

/// Counters of the life of a link, each where it was found.
pub(crate) type LinkColumns = [Option<usize>; LINK_COLUMNS];

fn folded(name: &str) -> String {
    name.to_ascii_lowercase().replace('.', "_")
}

/// Whether a column is known: as one that every schema has, as a counter or name of a metric, or as a job's.
pub(crate) fn is_known(name: &str) -> bool {
    Base::of(name).is_some()
        || crate::columns::is_job_start(name)
        || !source_schemas().uses(name).0.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Schema, use and part of a column; nothing if it is not known.
    fn of(name: &str) -> Vec<(&'static str, Use, String)> {
        let all = source_schemas();
        let found = all.uses(name).0.into_iter();
        found.map(|found| (all.get(found.schema).name.as_str(), found.used, found.part)).collect()
    }

    #[test]
    fn columns_of_every_schema_are_recognised() {
        for (name, schema, used, part) in [
            ("AR_RTR_0_1_INQ_PRF_ROWBUS_STALL_CNT", "aries_rtr", Use::Counter(0), "r0c1"),
            ("AR_RTR_5_7_INQ_PRF_INCOMING_FLIT_VC7", "aries_rtr", Use::Counter(8), "r5c7"),
            ("port_xmit_wait", "ibmad", Use::Counter(0), ""),
            ("ib_nics.port_xmit_data", "ibmad_records", Use::Counter(1), ""),
            ("ib.port_xmit_data#mlx5_0.1", "sysclassib", Use::Counter(1), "mlx5_0.1"),
            ("port_xmit_wait#mlx5_0.1", "ib_sysfs", Use::Counter(0), "mlx5_0.1"),
            ("link_downed", "ibmad", Use::Link(0), ""),
            ("ib_nics.link_error_recovery", "ibmad_records", Use::Link(1), ""),
            ("ib.link_downed#mlx5_0.1", "sysclassib", Use::Link(0), "mlx5_0.1"),
            ("link_downed#mlx5_0.1", "ib_sysfs", Use::Link(0), "mlx5_0.1"),
            ("LinkDownedCounter", "ibnet", Use::Link(0), ""),
            ("client.lstats.write_bytes#llite.snx11168", "lustre2_client", Use::Counter(0), "snx11168"),
            ("portxmitwait", "ibnet", Use::Counter(0), ""),
            ("ar_rtr_0_1_inq_prf_rowbus_stall_cnt", "aries_rtr", Use::Counter(0), "r0c1"),
            ("Port_Xmit_Wait#MLX5_0.1", "ib_sysfs", Use::Counter(0), "MLX5_0.1"),
            ("write_bytes_sum", "lustre_client", Use::Counter(0), ""),
        ] {
            assert_eq!(of(name), [(schema, used, part.to_string())], "{name}");
        }
        let mount = [Use::PartColumn(0), Use::Sign].map(|used| ("lustre_client", used, String::new()));
        assert_eq!(of("FS_Name"), mount);
        for name in [
            "AR_RTR_0_1_INQ_PRF_INCOMING_PKT_VC0_FILTER_FLIT0_CNT",
            "AR_RTR_6_0_INQ_PRF_ROWBUS_STALL_CNT",
            "AR_RTR_é_0_INQ_PRF_ROWBUS_STALL_CNT",
            "port_xmit_wait.rate",
            "ib.port_xmit_data.rate#mlx5_0.1",
            "ib.link_downed.rate#mlx5_0.1",
        ] {
            assert_eq!(of(name), [], "{name}");
        }
        assert!(crate::columns::is_unused("AR_NIC_NETMON_ORB_EVENT_CNTR_REQ_PKTS"));
    }
}
