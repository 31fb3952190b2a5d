//! Schemas by their number in the registry. Nothing here waits: a caller that meets an unknown number fetches it.

use crate::avro::plan::AvroPlan;
use crate::avro::schema::record;
use schemas::DropReason;
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Schemas that are kept, in memory and in a folder. In memory the oldest is dropped first and requested again.
pub const SCHEMAS_MAX: usize = 4_096;
/// Longest schema, in bytes.
pub const SCHEMA_BYTES_MAX: usize = 1 << 20;
/// Types in all schemas together: 200 bytes each, about.
const NODES_MAX: usize = 1_000_000;

/// Why a schema cannot be used, read or kept.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// Its messages will be dropped.
    #[error("Avro schema {id}: {why}")]
    Unusable {
        /// Number in the registry.
        id: u32,
        /// What is wrong with it.
        why: String,
    },
    /// A file of a folder of schemas.
    #[error("{}: {why}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The folder or a file cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// File or folder.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
}

/// What is known of a schema.
#[derive(Clone, Debug)]
pub(crate) enum Known {
    Usable(Arc<AvroPlan>),
    /// Messages are dropped for this reason; the text is shown with the first one.
    Refused(DropReason, Arc<str>),
}

/// Writer schemas by number, compiled. A clone shares what was compiled.
#[derive(Clone, Debug, Default)]
pub struct AvroSchemas {
    known: HashMap<u32, Known>,
    order: VecDeque<u32>,
    nodes: usize,
}

impl AvroSchemas {
    /// Whether the schema is known, be it usable or refused.
    pub fn knows(&self, id: u32) -> bool {
        self.known.contains_key(&id)
    }

    /// Schemas known.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether none is known.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Takes `schema` (JSON) as the schema with this number.
    ///
    /// # Errors
    /// [`SchemaError::Unusable`] if it cannot be read or is no record: then messages are dropped and counted
    /// as [`DropReason::BadAvroSchema`].
    pub fn insert(&mut self, id: u32, schema: &str) -> Result<(), SchemaError> {
        let read = if schema.len() > SCHEMA_BYTES_MAX { Err(too_long()) } else { record(schema) };
        match read {
            Ok(record) => {
                self.keep(id, Known::Usable(Arc::new(AvroPlan::of(record))));
                Ok(())
            }
            Err(why) => {
                self.refuse(id, DropReason::BadAvroSchema, &why);
                Err(SchemaError::Unusable { id, why })
            }
        }
    }

    /// Drops messages of this schema from here on, counted as `reason`: [`DropReason::UnknownSchemaId`]
    /// if the registry does not know it.
    pub fn refuse(&mut self, id: u32, reason: DropReason, why: &str) {
        self.keep(id, Known::Refused(reason, format!("{id}: {why}").into()));
    }

    /// Drops a schema, so that it is requested again.
    pub fn forget(&mut self, id: u32) {
        if let Some(known) = self.known.remove(&id) {
            self.nodes -= known.nodes();
            self.order.retain(|other| *other != id);
        }
    }

    pub(crate) fn get(&self, id: u32) -> Option<&Known> {
        self.known.get(&id)
    }

    fn keep(&mut self, id: u32, known: Known) {
        self.forget(id);
        self.nodes += known.nodes();
        self.known.insert(id, known);
        self.order.push_back(id);
        while self.order.len() > SCHEMAS_MAX || self.nodes > NODES_MAX {
            let Some(oldest) = self.order.front().copied() else { break };
            self.forget(oldest);
        }
    }

    /// Takes all schemas of a folder: `<id>.avsc` with the schema itself, and `.json` with what a registry
    /// says, `{"id": 9, "schema": "…"}` (or without an id as `<id>.json`). Other files are left alone. Returns how many.
    ///
    /// # Errors
    /// [`SchemaError::File`] and [`SchemaError::Io`] name the first file that cannot be used.
    pub fn load_dir(&mut self, folder: &Path) -> Result<usize, SchemaError> {
        let files = schema_files(folder)?;
        for path in &files {
            let refused = |why: String| SchemaError::File { path: path.clone(), why };
            let text = read_text(path)?;
            let (id, schema) = numbered(path, text).map_err(refused)?;
            self.insert(id, &schema).map_err(|error| refused(error.to_string()))?;
        }
        Ok(files.len())
    }

    /// Writes the registry's answer to `<folder>/<id>.avsc`, for [`AvroSchemas::load_dir`] of a later run.
    /// A reader never sees half a file.
    ///
    /// # Errors
    /// [`SchemaError`] if the schema is of no use, the folder is full ([`SCHEMAS_MAX`]) or cannot be written.
    pub fn save(folder: &Path, id: u32, schema: &str) -> Result<(), SchemaError> {
        let sized = if schema.len() > SCHEMA_BYTES_MAX { Err(too_long()) } else { record(schema) };
        sized.map_err(|why| SchemaError::Unusable { id, why })?;
        let path = folder.join(format!("{id}.avsc"));
        fs::create_dir_all(folder).map_err(io_error(folder))?;
        if !path.exists() && schema_files(folder)?.len() >= SCHEMAS_MAX {
            let why = format!("holds {SCHEMAS_MAX} schemas already");
            return Err(SchemaError::File { path: folder.to_path_buf(), why });
        }
        let draft = folder.join(format!(".{id}.{}.part", std::process::id()));
        let written = File::create(&draft).and_then(|mut file| {
            file.write_all(schema.as_bytes())?;
            file.sync_all()?;
            fs::rename(&draft, &path)
        });
        written.map_err(|error| {
            // The rest of the message is useless, and the first error is more specific.
            let _ = fs::remove_file(&draft);
            io_error(&path)(error)
        })
    }
}

impl Known {
    fn nodes(&self) -> usize {
        match self {
            Known::Usable(plan) => plan.nodes,
            Known::Refused(..) => 1,
        }
    }
}

/// The schema in a registry's answer.
///
/// # Errors
/// What is wrong with the answer, in words.
pub(crate) fn schema_of_answer(answer: &Value) -> Result<String, String> {
    let text = |part: &str| answer.get(part).and_then(Value::as_str);
    match text("schemaType") {
        Some(kind) if !kind.eq_ignore_ascii_case("avro") => {
            return Err(format!("a schema of type {kind:.40}"));
        }
        _ => {}
    }
    text("schema").map(str::to_string).ok_or_else(|| "no registry's answer: it lacks \"schema\"".to_string())
}

fn numbered(path: &Path, text: String) -> Result<(u32, String), String> {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse::<u32>().ok());
    if is_a(path, "avsc") {
        let id = stem.ok_or("the name is not the schema's number, as in 9.avsc")?;
        return Ok((id, text));
    }
    let answer: Value = serde_json::from_str(&text).map_err(|error| format!("no JSON: {error}"))?;
    let id = match answer.get("id") {
        Some(id) => id.as_u64().and_then(|id| u32::try_from(id).ok()),
        None => stem,
    };
    let id = id.ok_or("neither \"id\" nor the name is a schema's number")?;
    Ok((id, schema_of_answer(&answer)?))
}

fn schema_files(folder: &Path) -> Result<Vec<PathBuf>, SchemaError> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(io_error(folder))? {
        let path = entry.map_err(io_error(folder))?.path();
        if (is_a(&path, "avsc") || is_a(&path, "json")) && path.is_file() {
            files.push(path);
        }
        if files.len() > SCHEMAS_MAX {
            let why = format!("holds more than {SCHEMAS_MAX} schemas");
            return Err(SchemaError::File { path: folder.to_path_buf(), why });
        }
    }
    files.sort_unstable();
    Ok(files)
}

fn is_a(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

fn read_text(path: &Path) -> Result<String, SchemaError> {
    let mut text = String::new();
    // An answer quotes the schema, so that every quotation mark takes two bytes.
    let limit = 2 * SCHEMA_BYTES_MAX as u64;
    let file = File::open(path).map_err(io_error(path))?;
    match file.take(limit + 1).read_to_string(&mut text) {
        Err(error) if error.kind() == ErrorKind::InvalidData => {
            Err(SchemaError::File { path: path.to_path_buf(), why: "no text".to_string() })
        }
        Err(error) => Err(io_error(path)(error)),
        Ok(read) if read as u64 > limit => {
            Err(SchemaError::File { path: path.to_path_buf(), why: too_long() })
        }
        Ok(_) => Ok(text),
    }
}

fn too_long() -> String {
    format!("longer than {SCHEMA_BYTES_MAX} bytes")
}

fn io_error(path: &Path) -> impl Fn(io::Error) -> SchemaError {
    move |error| SchemaError::Io { path: path.to_path_buf(), error }
}
