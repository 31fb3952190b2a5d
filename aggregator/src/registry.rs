//! Sources by the raw bytes that identify them, so that no name is built and compared per row.

use crate::columns::file_system_of_llite;
use crate::naming::{NodeNaming, NodePairs};
use crate::plan::Role;
use crate::shape::Shape;
use crate::sources::{SourceSchema, source_schemas};
use schemas::job_post::shown;
use schemas::metric::file::{ComponentKind, PartKind};
use schemas::{DropReason, Name, Source, SourceIndex, Sources, Time};
use siphasher::sip128::{Hasher128, SipHasher13};
use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// Bytes of a refused value that are shown.
const VALUE_SHOWN: usize = 300;

/// Values of a row that identify its source.
#[derive(Debug, Default)]
pub(crate) struct Identity<'a> {
    pub producer: Option<Cow<'a, [u8]>>,
    pub component_id: Option<u64>,
    /// The job that the node works for, as the row has it; `None` if it has no such column.
    pub job_id: Option<Cow<'a, [u8]>>,
    pub texts: [Cow<'a, [u8]>; 2],
}

impl<'a> Identity<'a> {
    /// Takes the text of a column.
    pub(crate) fn take(&mut self, role: Role, text: Cow<'a, [u8]>) {
        match role {
            // An empty producer is none: `component_id` may still identify the node.
            Role::Producer => self.producer = Some(text).filter(|text| !text.is_empty()),
            Role::Text(slot) => {
                if let Some(cell) = self.texts.get_mut(usize::from(slot)) {
                    *cell = text;
                }
            }
            Role::JobId => self.job_id = Some(text),
            Role::Skip
            | Role::Time
            | Role::TimeUsec
            | Role::ComponentId
            | Role::Counter(_)
            | Role::Gauge(_)
            | Role::LinkCounter(_) => {}
        }
    }
}

/// What was read of a row of counters, besides them.
#[derive(Debug)]
pub(crate) struct ReadRow<'a> {
    pub time: Time,
    pub identity: Identity<'a>,
    /// The first counter that could not be read, which stands in the row as one that is not measured.
    pub unreadable: Option<Refusal<'a>>,
}

/// A row refused: why, and the value to show for it.
#[derive(Debug)]
pub(crate) struct Refusal<'a> {
    pub reason: DropReason,
    pub field: &'a str,
    pub value: Cow<'a, [u8]>,
}

impl<'a> Refusal<'a> {
    pub(crate) fn new(reason: DropReason, field: &'a str, value: &'a [u8]) -> Refusal<'a> {
        Refusal { reason, field, value: Cow::Borrowed(value) }
    }

    /// As a person reads it: the field and its value, in one line.
    pub(crate) fn text(&self) -> String {
        let value = String::from_utf8_lossy(&self.value[..self.value.len().min(VALUE_SHOWN)]);
        format!("{}: {}", self.field, shown(&value))
    }
}

/// A row whose node differs from what [`NodeNaming`] makes of its `component_id`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamingConflict {
    /// The number in the row.
    pub component_id: u64,
    /// The producer in the row.
    pub producer: Name,
    /// The name that a row with the number alone gets.
    pub assumed: Option<Name>,
}

/// All sources, and the way from a row to its source.
#[derive(Debug)]
pub(crate) struct Registry {
    pub sources: Sources,
    pub sources_max: usize,
    pub naming: NodeNaming,
    pub pairs: NodePairs,
    pub conflict: Option<NamingConflict>,
    /// The first number that named a node, and the name.
    pub numbered: Option<(u64, Name)>,
    index: Index,
    key: Vec<u8>,
}

/// Numbers of sources by a code of what identifies their rows. The bytes themselves would be compared with those of the
/// source's last row, which no cache holds any more after a second of a large machine.
#[derive(Debug)]
struct Index {
    /// Only who knows it could make two rows with one code.
    secret: [u64; 2],
    by_code: HashMap<u128, SourceIndex, foldhash::fast::RandomState>,
}

impl Index {
    fn new() -> Index {
        let random = RandomState::new();
        Index { secret: [0, 1].map(|word| random.hash_one(word)), by_code: HashMap::default() }
    }

    fn code(&self, key: &[u8]) -> u128 {
        let mut hasher = SipHasher13::new_with_keys(self.secret[0], self.secret[1]);
        hasher.write(key);
        hasher.finish128().as_u128()
    }
}

impl Registry {
    pub(crate) fn new(naming: NodeNaming, sources_max: usize) -> Registry {
        Registry {
            sources: Sources::default(),
            sources_max,
            naming,
            pairs: NodePairs::default(),
            conflict: None,
            numbered: None,
            index: Index::new(),
            key: Vec::new(),
        }
    }

    /// Forgets all sources and nodes.
    pub(crate) fn forget(&mut self) {
        self.sources = Sources::default();
        self.index.by_code.clear();
        self.pairs = NodePairs::default();
    }

    /// The source of a row of the plan numbered `plan`.
    pub(crate) fn source<'a>(
        &mut self,
        plan: u64,
        shape: &Shape,
        identity: &Identity<'a>,
    ) -> Result<SourceIndex, Refusal<'a>> {
        self.write_key(plan, identity);
        let code = self.index.code(&self.key);
        if let Some(found) = self.index.by_code.get(&code) {
            return Ok(*found);
        }
        let source = self.describe(shape, identity)?;
        let limit = self.sources_max;
        if self.sources.as_slice().len() >= limit {
            return Err(Refusal::new(DropReason::BufferFull, "sources", b""));
        }
        // Many spellings may lead to one source, and plans come and go: the way is forgotten, not the source.
        if self.index.by_code.len() >= limit.saturating_mul(2) {
            self.index.by_code.clear();
        }
        let number = self.sources.intern(source);
        self.index.by_code.insert(code, number);
        Ok(number)
    }

    fn write_key(&mut self, plan: u64, identity: &Identity<'_>) {
        let key = &mut self.key;
        key.clear();
        key.extend_from_slice(&plan.to_le_bytes());
        let component_id = identity.component_id.map_or([0xff; 9], |id| {
            let mut bytes = [0; 9];
            bytes[1..].copy_from_slice(&id.to_le_bytes());
            bytes
        });
        key.extend_from_slice(&component_id);
        let producer = identity.producer.as_deref();
        key.push(u8::from(producer.is_some()));
        let [first, second] = &identity.texts;
        for part in [producer.unwrap_or_default(), first.as_ref(), second.as_ref()] {
            key.extend_from_slice(&(part.len() as u32).to_le_bytes());
            key.extend_from_slice(part);
        }
    }

    fn describe<'a>(&mut self, shape: &Shape, identity: &Identity<'a>) -> Result<Source, Refusal<'a>> {
        let schema = source_schemas().get(shape.schema);
        let producer = match (schema.by_job, &identity.producer) {
            // LDMS' decomposition `as_is` writes no producer. The target identifies the row.
            (true, None) => name(&identity.texts[1], "target")?,
            _ => self.node(identity)?,
        };
        let component = match schema.component() {
            Some(Some(ComponentKind::AriesRouter)) => router(&identity.texts[0])?,
            Some(None) => name(&identity.texts[0], "component")?,
            None => producer.clone(),
        };
        let is_mount = schema.part_is == Some(PartKind::Mount);
        let parts = match schema.part_columns.as_slice() {
            [] => shape.parts.clone(),
            [_, ..] if is_mount => vec![mounted(identity)?],
            columns => vec![joined(columns, identity)?],
        };
        // Two mounts of one file system count apart: the llite directory distinguishes them.
        let set = match schema.part_columns.get(1) {
            Some(column) if is_mount && !identity.texts[1].is_empty() => {
                Some(name(&identity.texts[1], column)?)
            }
            _ => None,
        };
        let metrics = shape.metrics.iter().map(|(metric, _)| *metric).collect();
        let SourceSchema { name: schema, rank, by_job, .. } = schema;
        let (schema, rank, by_job) = (schema.clone(), *rank, *by_job);
        Ok(Source { schema, producer, metrics, component, set, parts, rank, by_job })
    }

    /// The node that a row is about.
    pub(crate) fn node<'a>(&mut self, identity: &Identity<'a>) -> Result<Name, Refusal<'a>> {
        let Some(producer) = &identity.producer else {
            let node = identity.component_id.and_then(|id| self.naming.node(id));
            if self.numbered.is_none() {
                self.numbered = identity.component_id.zip(node.clone());
            }
            return node.ok_or(Refusal::new(DropReason::Unattributable, "component_id", b""));
        };
        let producer = name(producer, "producer")?;
        if let Some(id) = identity.component_id {
            self.learn(id, &producer);
        }
        Ok(producer)
    }

    fn learn(&mut self, component_id: u64, producer: &Name) {
        let assumed = self.naming.node(component_id);
        if component_id != 0 && self.conflict.is_none() && assumed.as_ref() != Some(producer) {
            self.conflict = Some(NamingConflict { component_id, producer: producer.clone(), assumed });
        }
        if self.pairs.len() < self.sources_max {
            self.pairs.note(component_id, producer);
        }
    }
}

/// The part that one or two columns name.
fn joined<'a>(columns: &'static [String], identity: &Identity<'a>) -> Result<Name, Refusal<'a>> {
    let pieces = columns.iter().zip(&identity.texts).map(|(column, text)| name(text, column));
    let pieces: Vec<Name> = pieces.collect::<Result<_, _>>()?;
    let part = pieces.iter().map(Name::as_str).collect::<Vec<_>>().join(".");
    Name::parse(&part).map_err(|_| {
        let field = columns.last().map_or("part", String::as_str);
        owned_refusal(DropReason::BadName, field, part.into_bytes())
    })
}

/// The file system that a row of `lustre_client` is about.
fn mounted<'a>(identity: &Identity<'a>) -> Result<Name, Refusal<'a>> {
    let [fs_name, llite] = &identity.texts;
    let cut = name(fs_name, "fs_name")?;
    let whole = std::str::from_utf8(llite).ok().and_then(|llite| file_system_of_llite(llite, cut.as_str()));
    Ok(whole.and_then(|whole| Name::parse(whole).ok()).unwrap_or(cut))
}

fn owned_refusal(reason: DropReason, field: &'static str, value: Vec<u8>) -> Refusal<'static> {
    Refusal { reason, field, value: Cow::Owned(value) }
}

fn name<'a>(bytes: &Cow<'a, [u8]>, field: &'static str) -> Result<Name, Refusal<'a>> {
    std::str::from_utf8(bytes).ok().and_then(|text| Name::parse(text).ok()).ok_or_else(|| Refusal {
        reason: DropReason::BadName,
        field,
        value: bytes.clone(),
    })
}

/// The router of `c0-0c0s0a0`: what stands before the number of its Aries chip, of which a blade has one.
fn router<'a>(cname: &Cow<'a, [u8]>) -> Result<Name, Refusal<'a>> {
    let full = name(cname, "aries_rtr_id")?;
    let chip = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    match full.as_str().rsplit_once('a') {
        Some((blade, digits)) if !blade.is_empty() && chip(digits) => {
            name(&Cow::Borrowed(blade.as_bytes()), "aries_rtr_id").map_err(|_| Refusal {
                reason: DropReason::BadName,
                field: "aries_rtr_id",
                value: cname.clone(),
            })
        }
        _ => Ok(full),
    }
}
