//! From the bytes of a row to counters, job events or a counted drop.

use crate::examples::{DropExamples, RowLocation};
use crate::fabric_telemetry;
use crate::job_column::{self, JobColumn};
use crate::job_rows::{self, Value};
use crate::json::{self, Fields};
use crate::layout::{Layout, Layouts};
use crate::naming::{NodeNaming, NodePairs};
use crate::nested;
use crate::number::{counter, time};
use crate::plan::{Plan, Role, Target};
use crate::registry::{Identity, NamingConflict, ReadRow, Refusal, Registry};
use crate::shape::Shape;
use crate::slurm::Clusters;
use schemas::job_words::{self, JOB_WORDS};
use schemas::{
    CounterBatch, DropCounts, DropReason, JobEvent, NOT_MEASURED, Name, SourceIndex, Sources, Time,
};
use std::borrow::Cow;
use std::sync::Arc;

/// Sources that a decoder numbers before it drops rows of further ones, by default.
pub const SOURCES_MAX: usize = 1_000_000;

/// What decoding gave: rows and job events.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decoded {
    /// Rows of counters, in the order of their lines.
    pub counters: CounterBatch,
    /// Job events, in the order of their lines.
    pub jobs: Vec<JobEvent>,
    /// Whether samplers of jobs on nodes sent some of these events.
    pub has_sampled_jobs: bool,
}

impl Decoded {
    /// Empties it and keeps its memory.
    pub fn clear(&mut self) {
        self.counters.clear();
        self.jobs.clear();
        self.has_sampled_jobs = false;
    }

    /// Rows and events.
    pub fn len(&self) -> usize {
        self.counters.len() + self.jobs.len()
    }

    /// Whether it holds neither row nor event.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What became of one line or message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// One row of counters.
    Row,
    /// Rows of counters from one message, at least two, or one beside others that were dropped; and the reason of the
    /// first of these.
    Rows(usize, Option<DropReason>),
    /// So many job events, at least one.
    Jobs(usize),
    /// Nothing to use: an empty line, a CSV header, a job row without a job.
    Skipped,
    /// Not used, and counted.
    Dropped(DropReason),
    /// An Avro message whose schema is not known: not used and not counted, to be given again.
    NeedsSchema(u32),
}

/// Decodes rows, numbers their sources and counts what it drops.
#[derive(Debug)]
pub struct Decoder {
    /// Where the next row comes from; shown in [`Decoder::examples`].
    pub location: RowLocation,
    pub(crate) registry: Registry,
    pub(crate) job_column: JobColumn,
    layouts: Layouts,
    pub(crate) clusters: Clusters,
    pub(crate) job_refusal: String,
    drops: DropCounts,
    examples: DropExamples,
}

impl Default for Decoder {
    fn default() -> Self {
        Decoder::new(NodeNaming::default(), SOURCES_MAX)
    }
}

impl Decoder {
    /// A decoder that names nodes by `naming` and knows at most `sources_max` sources.
    pub fn new(naming: NodeNaming, sources_max: usize) -> Decoder {
        Decoder {
            location: RowLocation::default(),
            registry: Registry::new(naming, sources_max),
            job_column: JobColumn::default(),
            layouts: Layouts::default(),
            clusters: Clusters::default(),
            job_refusal: String::new(),
            drops: DropCounts::default(),
            examples: DropExamples::default(),
        }
    }

    /// All sources seen.
    pub fn sources(&self) -> &Sources {
        &self.registry.sources
    }

    /// Rows dropped, by reason.
    pub fn drops(&self) -> &DropCounts {
        &self.drops
    }

    /// The first dropped row of each reason.
    pub fn examples(&self) -> &DropExamples {
        &self.examples
    }

    /// Producers by the `component_id` in the same rows.
    pub fn nodes(&self) -> &NodePairs {
        &self.registry.pairs
    }

    /// How rows without a producer are named.
    pub fn naming(&self) -> &NodeNaming {
        &self.registry.naming
    }

    /// Names nodes by `naming` from here on. To be called before the first row.
    pub fn set_naming(&mut self, naming: NodeNaming) {
        self.registry.naming = naming;
    }

    /// Jobs of this cluster keep their numbers, those of others have the cluster's name behind it. "" if one cluster reports:
    /// events of a second one are then refused.
    pub fn set_home_cluster(&mut self, home: &str) {
        self.clusters = Clusters::of(home);
    }

    /// The first `component_id` that named a node because its row had no producer, and the name.
    pub fn numbered(&self) -> Option<&(u64, Name)> {
        self.registry.numbered.as_ref()
    }

    /// The first row whose producer contradicts [`Decoder::naming`]: rows that carry only the number
    /// then count for another node than rows that carry the producer.
    pub fn naming_conflict(&self) -> Option<&NamingConflict> {
        self.registry.conflict.as_ref()
    }

    /// Counts a row that its reader refused before decoding.
    pub fn refuse(&mut self, reason: DropReason, field: &str, value: &[u8]) -> Outcome {
        self.dropped(&Refusal::new(reason, field, value))
    }

    /// Decodes one row of JSON into `out`, or counts why not. `schema` is the one of topic or file name, if known:
    /// rows are recognised by their columns, it only speeds up the search and separates unused schemas from unknown ones.
    pub fn json_line(&mut self, schema: Option<&str>, line: &[u8], out: &mut Decoded) -> Outcome {
        let line = trimmed(line);
        if line.is_empty() {
            return Outcome::Skipped;
        }
        let hint = schema.unwrap_or("");
        if let Some(outcome) = self.known_layout(hint, line, out) {
            return outcome;
        }
        // A byte that is no UTF-8 spoils the text in which it stands, not the row.
        // Checking the whole line is twice as fast as looking for what is no UTF-8.
        let text = std::str::from_utf8(line).map_or_else(|_| String::from_utf8_lossy(line), Cow::Borrowed);
        if text.starts_with('[') {
            return self.json_list(hint, &text, out);
        }
        self.json_row(hint, &text, out)
    }

    /// Decodes a row of any layout, whose columns may have parts.
    pub(crate) fn json_row(&mut self, hint: &str, text: &str, out: &mut Decoded) -> Outcome {
        let mut is_read = false;
        let outcome = self.rows_of(hint, out, |row| {
            is_read = fabric_telemetry::usual_rows(text, row);
            true
        });
        if is_read {
            return self.telemetry(outcome, text);
        }
        match json::fields(text) {
            Some(fields) if fabric_telemetry::is_telemetry(&fields) => {
                let outcome = self.rows_of(hint, out, |row| {
                    fabric_telemetry::rows(&fields, row);
                    true
                });
                self.telemetry(outcome, text)
            }
            Some(fields) if nested::has_parts(&fields) => self.json_parts(hint, &fields, out),
            Some(fields) => self.any_layout(hint, text, &fields, out),
            None => self.refuse(DropReason::InvalidJson, "line", text.as_bytes()),
        }
    }

    pub(crate) fn known_layout(&mut self, hint: &str, line: &[u8], out: &mut Decoded) -> Option<Outcome> {
        let layouts = self.layouts.of(hint);
        let mut found = None;
        for (at, layout) in layouts.iter().enumerate() {
            if let Some(reading) = layout.read(line, layout.open(&mut out.counters)) {
                found = Some((at, reading));
                break;
            }
        }
        let Some((at, reading)) = found else {
            out.counters.abandon();
            return None;
        };
        layouts[..=at].rotate_right(1);
        let layout = &layouts[0];
        let result = match &layout.plan.target {
            Ok(Target::Counters(shape)) => {
                let source = self.registry.source(layout.plan.number, shape, &reading.identity);
                source.map(|source| (reading.time, source, shape.by_job))
            }
            Ok(Target::Jobs) => return None,
            Err(reason) => Err(Refusal::new(*reason, "row", line)),
        };
        let result = result.and_then(|row| self.with_job(row, &reading.identity, out));
        Some(self.sealed(result, out))
    }

    pub(crate) fn any_layout(
        &mut self,
        hint: &str,
        line: &str,
        fields: &Fields<'_>,
        out: &mut Decoded,
    ) -> Outcome {
        let positions = json::positions(line, fields);
        let known = self.layouts.plan(hint, line.as_bytes(), &positions);
        let is_new = known.is_none();
        let names = || fields.0.iter().map(|(name, _)| name.as_ref());
        let plan = known.unwrap_or_else(|| Arc::new(Plan::of(names(), hint)));
        if let Ok(Target::Jobs) = plan.target {
            let row = job_rows::row(fields.0.iter().map(|(name, raw)| (name.as_ref(), Value::Json(raw))));
            let events = job_rows::events(&row, &mut self.registry);
            return self.sampled_jobs(events, out);
        }
        let outcome = match &plan.target {
            Ok(Target::Counters(shape)) => {
                let counters = shape.open(&mut out.counters);
                let result = read(fields, &plan, counters);
                self.counted(result, plan.number, shape, out)
            }
            Err(reason) => self.sealed(Err(Refusal::new(*reason, "row", line.as_bytes())), out),
            Ok(Target::Jobs) => {
                self.sealed(Err(Refusal::new(DropReason::UnknownSchema, "row", line.as_bytes())), out)
            }
        };
        if is_new {
            self.layouts.keep(hint, Layout::learn(line.as_bytes(), &positions, plan));
        }
        outcome
    }

    /// Ends a row of counters of the plan numbered `plan`, whose counters are open.
    pub(crate) fn counted(
        &mut self,
        read: Result<ReadRow<'_>, Refusal<'_>>,
        plan: u64,
        shape: &Shape,
        out: &mut Decoded,
    ) -> Outcome {
        let ReadRow { time, identity, unreadable } = match read {
            Ok(read) => read,
            Err(refused) => return self.sealed(Err(refused), out),
        };
        let unreadable = match unreadable {
            Some(refused) if shape.is_spoiled(out.counters.opened()) => {
                return self.sealed(Err(refused), out);
            }
            unreadable => unreadable,
        };
        let source = self.registry.source(plan, shape, &identity);
        let row = source.and_then(|source| self.with_job((time, source, shape.by_job), &identity, out));
        let outcome = self.sealed(row, out);
        match unreadable.filter(|_| outcome == Outcome::Row) {
            Some(refused) => {
                self.dropped(&refused);
                Outcome::Rows(1, Some(refused.reason))
            }
            None => outcome,
        }
    }

    /// Takes the job of a row: that of a server's row ends it, that of another one is a job of its node.
    fn with_job<'a>(
        &mut self,
        (time, source, by_job): (Time, SourceIndex, bool),
        identity: &Identity<'a>,
        out: &mut Decoded,
    ) -> Result<(Time, SourceIndex), Refusal<'a>> {
        let job_id = identity.job_id.as_deref();
        if !by_job {
            self.job_column.note(&self.registry.sources, source, time, job_id, &mut out.jobs);
            return Ok((time, source));
        }
        let words = job_id.and_then(job_column::number).and_then(|job| job_words::pack(&job));
        let cells = out.counters.opened_mut().last_chunk_mut::<JOB_WORDS>();
        match words.zip(cells) {
            Some((words, cells)) => *cells = words,
            None => {
                let value = identity.job_id.clone().unwrap_or_default();
                return Err(Refusal { reason: DropReason::BadName, field: "job_id", value });
            }
        }
        Ok((time, source))
    }

    pub(crate) fn registry_mut(&mut self) -> &mut Registry {
        &mut self.registry
    }

    /// Ends the row whose counters are open.
    pub(crate) fn sealed(
        &mut self,
        result: Result<(Time, SourceIndex), Refusal<'_>>,
        out: &mut Decoded,
    ) -> Outcome {
        match result {
            Ok((time, source)) => {
                out.counters.seal(source, time);
                Outcome::Row
            }
            Err(refused) => {
                out.counters.abandon();
                self.dropped(&refused)
            }
        }
    }

    pub(crate) fn dropped(&mut self, refused: &Refusal<'_>) -> Outcome {
        self.drops.count(refused.reason);
        self.examples.offer(refused.reason, &self.location, refused.field, &refused.value);
        Outcome::Dropped(refused.reason)
    }
}

/// `line` without byte order mark, line end and surrounding blanks.
pub(crate) fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii()
}

/// Reads the values of a JSON row: first the time, then counters, in the order of the columns.
fn read<'a>(fields: &'a Fields<'a>, plan: &Plan, counters: &mut [u64]) -> Result<ReadRow<'a>, Refusal<'a>> {
    let mut identity = Identity::default();
    let mut at = Err(Refusal::new(DropReason::MissingTimestamp, "timestamp", b""));
    let mut usec = 0;
    let (mut bad, mut unreadable) = (None, None);
    for ((name, raw), role) in fields.0.iter().zip(&plan.roles) {
        let refused = |reason| Refusal::new(reason, name, raw.as_bytes());
        match *role {
            Role::Skip => {}
            Role::Counter(slot) | Role::Gauge(slot) => {
                let read = role.value_in(raw.as_bytes());
                counters[slot as usize] = read.unwrap_or(NOT_MEASURED);
                unreadable = unreadable.or(read.err().map(refused));
            }
            Role::LinkCounter(slot) => {
                if let (Ok(value), Some(cell)) = (counter(raw.as_bytes()), counters.get_mut(slot as usize)) {
                    *cell = value;
                }
            }
            Role::Time => at = time(raw.as_bytes()).ok_or(refused(DropReason::BadTimestamp)),
            Role::TimeUsec => usec = counter(raw.as_bytes()).unwrap_or(0).min(999),
            Role::ComponentId => identity.component_id = counter(raw.as_bytes()).ok(),
            Role::JobId => identity.job_id = json::text(raw).map(bytes_of),
            Role::Producer if *raw == "null" => {}
            Role::Producer | Role::Text(_) => match json::text(raw) {
                Some(text) => identity.take(*role, bytes_of(text)),
                None => bad = bad.or(Some(refused(DropReason::BadValue))),
            },
        }
    }
    let time = at? + usec as i64;
    plan.repeat(counters);
    bad.map_or(Ok(ReadRow { time, identity, unreadable }), Err)
}

fn bytes_of(text: Cow<'_, str>) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}
