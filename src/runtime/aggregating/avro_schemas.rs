//! Schemas of Avro rows: from the folder, from the registry, and into the folder.
//!
//! A row with an unknown schema waits in its raw partition while a task requests the schema: other partitions are read
//! meanwhile. Rows wait as long as the registry is unavailable: they are neither lost nor counted as dropped.

use crate::runtime::outage::SCHEMA_REGISTRY;
use crate::runtime::stage_error::{StageError, StageResult};
use aggregator::confluent::{RegistryClient, RegistryError};
use aggregator::{AvroSchemas, Decoded, Decoder, Outcome};
use anyhow::Context;
use configuration::sections::SchemaRegistry;
use schemas::DropReason;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

/// Requests on their way at once. [`RegistryClient`] limits the duration of each.
const REQUESTS_MAX: usize = 16;
/// Time without requests after one that failed.
const RETRY_DELAY: Duration = Duration::from_millis(500);

/// Known schemas, and the registry for the others.
pub(super) struct Schemas {
    known: AvroSchemas,
    client: Option<RegistryClient>,
    folder: Option<PathBuf>,
    handle: Handle,
    /// Requests on their way, and the numbers of their schemas.
    requests: JoinSet<(u32, Result<String, RegistryError>)>,
    requested: BTreeSet<u32>,
    failed: Option<Instant>,
}

/// Outcome of a message.
pub(super) enum Offer {
    /// It was decoded, or counted as not used.
    Done(Outcome),
    /// Its schema is not known yet.
    Wait,
}

impl Schemas {
    /// Reads the folder, if there is one.
    pub(super) fn new(config: &SchemaRegistry, handle: Handle) -> StageResult<Schemas> {
        let login =
            (!config.user.is_empty()).then_some((config.user.as_str(), config.password_file.as_path()));
        let client = match config.url.is_empty() {
            true => None,
            false => Some(RegistryClient::new(config.url.reveal(), login)?),
        };
        let mut known = AvroSchemas::default();
        let folder = (!config.cache_dir.as_os_str().is_empty()).then(|| config.cache_dir.clone());
        if let Some(folder) = &folder {
            let found = load(&mut known, folder).map_err(StageError::Configuration)?;
            tracing::info!(schemas = found, "Avro schemas loaded from schema_registry.cache_dir");
        }
        let (requests, requested) = (JoinSet::new(), BTreeSet::new());
        Ok(Schemas { known, client, folder, handle, requests, requested, failed: None })
    }

    /// Decodes a message, or requests its schema.
    pub(super) fn decode(
        &mut self,
        decoder: &mut Decoder,
        topic: &str,
        payload: &[u8],
        out: &mut Decoded,
    ) -> StageResult<Offer> {
        loop {
            match decoder.message(Some(topic), payload, &self.known, out) {
                Outcome::NeedsSchema(id) if self.fetch(id)? => {}
                Outcome::NeedsSchema(_) => return Ok(Offer::Wait),
                outcome => return Ok(Offer::Done(outcome)),
            }
        }
    }

    /// Requests a schema; whether it is known now, or known not to exist.
    fn fetch(&mut self, id: u32) -> StageResult<bool> {
        let Some(client) = self.client.clone() else {
            let why = "no schema_registry.url is configured, and no file of schema_registry.cache_dir has it";
            self.refuse(id, why);
            return Ok(true);
        };
        if self.use_answers(id)? {
            return Ok(true);
        }
        let is_delayed = self.failed.is_some_and(|failed| failed.elapsed() < RETRY_DELAY);
        if !is_delayed && self.requested.len() < REQUESTS_MAX && self.requested.insert(id) {
            self.requests.spawn_on(async move { (id, client.schema(id).await) }, &self.handle);
        }
        Ok(false)
    }

    /// Uses the answers that have arrived; whether the schema `wanted` is among them.
    fn use_answers(&mut self, wanted: u32) -> StageResult<bool> {
        let mut is_known = false;
        while let Some(answered) = self.requests.try_join_next() {
            let (id, answer) = answered
                .map_err(|_| StageError::Restart("the request of a schema ended early".to_string()))?;
            self.requested.remove(&id);
            is_known |= self.use_answer(id, answer)? && id == wanted;
        }
        Ok(is_known)
    }

    /// Uses one answer; whether it is final.
    fn use_answer(&mut self, id: u32, answer: Result<String, RegistryError>) -> StageResult<bool> {
        match answer {
            Ok(schema) => self.learn(id, &schema),
            Err(RegistryError::Drop { why, .. }) => self.refuse(id, &why),
            Err(error @ RegistryError::Retry { .. }) => {
                self.failed = Some(Instant::now());
                SCHEMA_REGISTRY.failed(&error.to_string());
                return Ok(false);
            }
            Err(error) => return Err(error.into()),
        }
        SCHEMA_REGISTRY.works();
        Ok(true)
    }

    fn refuse(&mut self, id: u32, why: &str) {
        tracing::warn!(id, error = why, "Avro rows dropped");
        self.known.refuse(id, DropReason::UnknownSchemaId, why);
    }

    fn learn(&mut self, id: u32, schema: &str) {
        if let Err(error) = self.known.insert(id, schema) {
            tracing::warn!(id, %error, "Avro rows dropped");
            self.known.refuse(id, DropReason::BadAvroSchema, &error.to_string());
        } else if let Some(folder) = &self.folder
            && let Err(error) = AvroSchemas::save(folder, id, schema)
        {
            tracing::warn!(id, %error, "failed to write the schema to schema_registry.cache_dir");
        }
    }
}

/// Reads the folder's schemas; makes it where it is missing. Returns how many there are.
fn load(known: &mut AvroSchemas, folder: &Path) -> anyhow::Result<usize> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("schema_registry.cache_dir {} cannot be made", folder.display()))?;
    known.load_dir(folder).context("schema_registry.cache_dir")
}
