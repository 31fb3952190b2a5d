//! The catalogue's LDMS schemas, compiled: what each column is to whom.

use crate::names::{Base, OTHER_CASE};
use crate::part_key::PartKey;
use crate::patterns::{PatternUse, Patterns};
use schemas::metric::catalogue::{OPTIONAL, catalogue};
use schemas::metric::file::{ComponentColumn, ComponentKind, MetricFile, PartKind, SourceFile};
use schemas::metric::pattern::{PLACEHOLDERS_MAX, Pattern};
use schemas::{LINK_COLUMNS, Metric, Name};
use std::collections::HashMap;
use std::sync::OnceLock;

/// Number of an LDMS schema among the compiled ones.
pub(crate) type SchemaIndex = usize;

/// An LDMS schema that has the counters of one or more metrics. Sources of several metrics are one schema if they name component
/// and parts alike.
#[derive(Debug)]
pub(crate) struct SourceSchema {
    /// LDMS' name of it.
    pub name: Name,
    pub rank: u8,
    pub metrics: Vec<OfMetric>,
    /// The column that names the component, and what it is.
    component: Option<ComponentColumn>,
    /// How columns' names hold the parts: texts and placeholders; without any of these the one part of a row.
    pub part: Option<String>,
    part_pieces: Vec<PartPiece>,
    /// Columns whose values name the one part.
    pub part_columns: Vec<String>,
    pub part_is: Option<PartKind>,
    /// Columns that show the schema without its counters.
    pub recognised_by: Vec<String>,
    /// Columns that show that it is another schema.
    not_with: Vec<String>,
    /// Whether its rows are of a server, each about one job.
    pub by_job: bool,
}

/// A metric of a schema, and its counters.
#[derive(Debug)]
pub(crate) struct OfMetric {
    pub metric: Metric,
    /// Its first counter among those of the schema.
    pub begin: usize,
    /// Of each counter, whether the metric can do without it.
    pub may_lack: Vec<bool>,
}

/// A piece of the name of a part.
#[derive(Debug)]
enum PartPiece {
    Text(String),
    /// The value of the placeholder with this number in a [`PartKey`].
    Value(usize),
}

/// What a column is to one schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// A counter of a part: its place among the counters of all metrics of the schema.
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

/// A use of a column, with the part that the column's name holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found<'a> {
    pub schema: SchemaIndex,
    pub used: Use,
    pub part: PartKey<'a>,
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
    /// Their lengths in bytes, a bit each; the last bit for all that are longer.
    lengths: u64,
    patterns: Patterns,
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
            let known = all.schemas.iter().position(|schema| schema.names_alike(&name, source));
            let schema = known.unwrap_or_else(|| all.add_schema(name, source));
            all.add_metric(metric, file, source, schema);
        }
        all
    }

    fn add_schema(&mut self, name: Name, source: &SourceFile) -> SchemaIndex {
        let schema = self.schemas.len();
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
            rank: source.rank,
            metrics: Vec::new(),
            component: source.component.clone(),
            part: source.part.clone(),
            part_pieces: source.part.as_deref().map_or(Vec::new(), part_pieces),
            part_columns: source.part_columns.clone(),
            part_is: source.part_is,
            recognised_by: source.recognised_by.clone(),
            not_with: source.not_with.clone(),
            by_job: source.by_job,
        });
        schema
    }

    fn add_metric(&mut self, metric: Metric, file: &MetricFile, source: &SourceFile, schema: SchemaIndex) {
        let begin = self.schemas[schema].counters();
        let counters: Vec<&String> = file.reading.waited.iter().chain(&file.reading.passed).collect();
        for (at, counter) in counters.iter().enumerate() {
            self.add_patterns(source.columns.get(*counter), schema, Use::Counter(begin + at));
        }
        for (at, counter) in OPTIONAL.iter().enumerate() {
            self.add_patterns(source.optional.get(*counter), schema, Use::Link(at));
        }
        let may_lack = counters.iter().map(|counter| file.reading.may_lack.contains(counter)).collect();
        self.schemas[schema].metrics.push(OfMetric { metric, begin, may_lack });
    }

    fn add_patterns(&mut self, patterns: Option<&Vec<String>>, schema: SchemaIndex, used: Use) {
        for text in patterns.into_iter().flatten() {
            match Pattern::parse(text) {
                Ok(pattern) if pattern.names_a_part() => {
                    let template = self.schemas[schema].part.as_deref().unwrap_or_default();
                    let names = placeholders(template);
                    let place =
                        |name: &str| names.iter().position(|known| *known == name).unwrap_or_default();
                    let places = pattern.placeholders().map(place).collect();
                    self.patterns.add(PatternUse { pattern, places, schema, used });
                }
                _ => self.add_name(text, schema, used),
            }
        }
    }

    fn add_name(&mut self, column: &str, schema: SchemaIndex, used: Use) {
        self.lengths |= length_bit(column);
        self.exact.entry(column.to_string()).or_default().push((schema, used));
        self.folded.entry(folded(column)).or_default().push((schema, used));
    }

    /// The schema of that number.
    pub(crate) fn get(&self, schema: SchemaIndex) -> &SourceSchema {
        &self.schemas[schema]
    }

    /// Numbers of the schemas in the order in which rows are recognised: those that name parts in their columns, then what
    /// servers count by job, what is the progress of a node, and the others.
    pub(crate) fn in_order(&self) -> (Vec<SchemaIndex>, Vec<SchemaIndex>) {
        let (named, mut alone): (Vec<usize>, Vec<usize>) =
            (0..self.schemas.len()).partition(|at| self.schemas[*at].has_named_parts());
        let is_progress =
            |at: &usize| self.schemas[*at].metrics.iter().any(|of_metric| of_metric.metric.is_progress());
        alone.sort_by_key(|at| (!self.schemas[*at].by_job, !is_progress(at)));
        (named, alone)
    }

    /// Adds to `found` what the column called `name` (see [`crate::names::plain`]) is. Returns how far the name is from LDMS' own.
    pub(crate) fn uses<'a>(&self, name: &'a str, found: &mut Vec<Found<'a>>) -> u8 {
        let (before, may_be_whole) = (found.len(), self.lengths & length_bit(name) != 0);
        let of_name = |(schema, used): &(SchemaIndex, Use)| Found {
            schema: *schema,
            used: *used,
            part: PartKey::default(),
        };
        if may_be_whole && let Some(uses) = self.exact.get(name) {
            found.extend(uses.iter().map(of_name));
        }
        let other_case = self.of_patterns(name, found);
        if found.len() > before {
            return 0;
        }
        if may_be_whole && let Some(uses) = self.folded.get(&folded(name)) {
            found.extend(uses.iter().map(of_name));
        }
        found.extend(other_case);
        OTHER_CASE
    }

    /// Adds what the name is by patterns. Returns what it is by them in another case.
    fn of_patterns<'a>(&self, name: &'a str, found: &mut Vec<Found<'a>>) -> Vec<Found<'a>> {
        let mut other_case = Vec::new();
        for PatternUse { pattern, places, schema, used } in self.patterns.of(name) {
            let Some(values) = pattern.values(name) else { continue };
            let part = PartKey::of(places, values.as_slice());
            let list = if values.is_exact { &mut *found } else { &mut other_case };
            list.push(Found { schema: *schema, used: *used, part });
        }
        other_case
    }
}

impl SourceSchema {
    /// Whether a source is of this schema: it names component and parts alike.
    fn names_alike(&self, name: &Name, source: &SourceFile) -> bool {
        self.name == *name
            && self.rank == source.rank
            && self.component == source.component
            && self.part == source.part
            && self.part_columns == source.part_columns
            && self.part_is == source.part_is
            && self.recognised_by == source.recognised_by
            && self.not_with == source.not_with
            && self.by_job == source.by_job
    }

    /// Counters of one part, of all metrics.
    pub(crate) fn counters(&self) -> usize {
        self.metrics.last().map_or(0, |last| last.begin + last.may_lack.len())
    }

    /// What the component is, where a column names it.
    pub(crate) fn component(&self) -> Option<Option<ComponentKind>> {
        self.component.as_ref().map(|component| component.is)
    }

    /// Whether columns' names hold its parts.
    pub(crate) fn has_named_parts(&self) -> bool {
        self.part_pieces.iter().any(|piece| matches!(piece, PartPiece::Value(_)))
    }

    /// The name of a part.
    pub(crate) fn part_of(&self, key: &PartKey<'_>) -> String {
        let piece = |piece: &PartPiece| match piece {
            PartPiece::Text(text) => text.clone(),
            PartPiece::Value(at) => key.value(*at).to_string(),
        };
        self.part_pieces.iter().map(piece).collect()
    }
}

/// Names of the placeholders of a template such as `r{row}c{column}`, each once.
fn placeholders(template: &str) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for piece in template.split('{').skip(1) {
        let name = piece.split('}').next().unwrap_or_default();
        if !names.contains(&name) && names.len() < PLACEHOLDERS_MAX {
            names.push(name);
        }
    }
    names
}

/// The pieces of `template`.
fn part_pieces(template: &str) -> Vec<PartPiece> {
    let names = placeholders(template);
    let mut pieces = Vec::new();
    for piece in template.split('{') {
        let (name, text) = piece.split_once('}').unwrap_or(("", piece));
        pieces.extend(names.iter().position(|known| *known == name).map(PartPiece::Value));
        if !text.is_empty() {
            pieces.push(PartPiece::Text(text.to_string()));
        }
    }
    pieces
}

/// Counters of the life of a link, each where it was found.
pub(crate) type LinkColumns = [Option<usize>; LINK_COLUMNS];

/// The bit of a name's length.
fn length_bit(name: &str) -> u64 {
    1 << name.len().min(63)
}

fn folded(name: &str) -> String {
    name.to_ascii_lowercase().replace('.', "_")
}

/// Whether a column is known: as one that every schema has, as a counter or name of a metric, or as a job's.
pub(crate) fn is_known(name: &str) -> bool {
    let mut found = Vec::new();
    source_schemas().uses(name, &mut found);
    Base::of(name).is_some() || crate::columns::is_job_start(name) || !found.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Schema, use and part of a column; nothing if it is not known.
    fn of(name: &str) -> Vec<(&'static str, Use, String)> {
        let all = source_schemas();
        let mut found = Vec::new();
        all.uses(name, &mut found);
        let of = |found: &Found<'_>| {
            let schema = all.get(found.schema);
            (schema.name.as_str(), found.used, schema.part_of(&found.part))
        };
        found.iter().map(of).collect()
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
            ("client.lstats.write_bytes#llite.snx11168", "lustre2_client", Use::Counter(17), "snx11168"),
            ("portxmitwait", "ibnet", Use::Counter(6), ""),
            ("ar_rtr_0_1_inq_prf_rowbus_stall_cnt", "aries_rtr", Use::Counter(0), "r0c1"),
            ("Port_Xmit_Wait#MLX5_0.1", "ib_sysfs", Use::Counter(0), "MLX5_0.1"),
            ("client.open#llite.snx11168", "lustre2_client", Use::Counter(0), "snx11168"),
        ] {
            assert_eq!(of(name), [(schema, used, part.to_string())], "{name}");
        }
        // Servers count by target and by job under the same names.
        for (name, used) in [
            ("write_bytes_sum", [("lustre_ost", 1), ("lustre_client", 17), ("lustre_ost_job_stats", 1)]),
            ("read_bytes.sum", [("lustre_ost", 0), ("lustre_client", 16), ("lustre_ost_job_stats", 0)]),
            ("open", [("lustre_mdt", 0), ("lustre_client", 0), ("lustre_mdt_job_stats", 0)]),
        ] {
            let found = used.map(|(schema, at)| (schema, Use::Counter(at), String::new()));
            assert_eq!(of(name), found, "{name}");
        }
        let mount = [Use::PartColumn(0), Use::Sign].map(|used| ("lustre_client", used, String::new()));
        let of_mount = |name: &str| of(name).into_iter().filter(|(schema, ..)| *schema == "lustre_client");
        assert_eq!(of_mount("FS_Name").collect::<Vec<_>>(), mount);
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
