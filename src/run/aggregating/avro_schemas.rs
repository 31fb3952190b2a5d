//! Schemas of Avro rows: from the folder, from the registry, and into the folder.
//!
//! A row with an unknown schema waits here. While the registry is unavailable such rows stay in Kafka: they are neither
//! lost nor counted as dropped.

use crate::config::sections::SchemaRegistry;
use aggregator::confluent::{RegistryClient, RegistryError};
use aggregator::{AvroSchemas, Decoded, Decoder, Outcome};
use anyhow::Context;
use schemas::DropReason;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

/// Time between two tries to get a schema.
const RETRY_DELAY: Duration = Duration::from_millis(500);
/// Time between two lines about a registry that is away.
const LOG_INTERVAL: Duration = Duration::from_secs(10);

/// Known schemas, and the registry for the others.
pub(super) struct Schemas {
    known: AvroSchemas,
    client: Option<RegistryClient>,
    folder: Option<PathBuf>,
    handle: Handle,
    tried: Option<Instant>,
    logged: Option<Instant>,
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
    pub(super) fn new(config: &SchemaRegistry, handle: Handle) -> anyhow::Result<Schemas> {
        let login =
            (!config.user.is_empty()).then_some((config.user.as_str(), config.password_file.as_path()));
        let client = match config.url.is_empty() {
            true => None,
            false => Some(RegistryClient::new(config.url.reveal(), login)?),
        };
        let mut known = AvroSchemas::default();
        let folder = (!config.cache_dir.as_os_str().is_empty()).then(|| config.cache_dir.clone());
        if let Some(folder) = &folder {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("schema_registry.cache_dir {} cannot be made", folder.display()))?;
            let found = known.load_dir(folder).context("schema_registry.cache_dir")?;
            tracing::info!(schemas = found, "Avro schemas loaded from schema_registry.cache_dir");
        }
        Ok(Schemas { known, client, folder, handle, tried: None, logged: None })
    }

    /// Decodes a message; fetches its schema first where needed.
    pub(super) fn decode(
        &mut self,
        decoder: &mut Decoder,
        topic: &str,
        payload: &[u8],
        out: &mut Decoded,
    ) -> anyhow::Result<Offer> {
        loop {
            match decoder.message(Some(topic), payload, &self.known, out) {
                Outcome::NeedsSchema(id) if self.fetch(id)? => {}
                Outcome::NeedsSchema(_) => return Ok(Offer::Wait),
                outcome => return Ok(Offer::Done(outcome)),
            }
        }
    }

    /// Asks for a schema, not too often; whether it is known now, or known not to exist.
    fn fetch(&mut self, id: u32) -> anyhow::Result<bool> {
        let Some(client) = &self.client else {
            let why = "no schema_registry.url is configured, and no file of schema_registry.cache_dir has it";
            tracing::warn!(id, error = why, "Avro rows dropped");
            self.known.refuse(id, DropReason::UnknownSchemaId, why);
            return Ok(true);
        };
        if self.tried.is_some_and(|tried| tried.elapsed() < RETRY_DELAY) {
            return Ok(false);
        }
        self.tried = Some(Instant::now());
        match self.handle.block_on(client.schema(id)) {
            Ok(schema) => self.learn(id, &schema),
            Err(RegistryError::Drop { why, .. }) => {
                tracing::warn!(id, error = why, "Avro rows dropped");
                self.known.refuse(id, DropReason::UnknownSchemaId, &why);
            }
            Err(error @ RegistryError::Retry { .. }) => {
                if self.logged.is_none_or(|logged| logged.elapsed() > LOG_INTERVAL) {
                    self.logged = Some(Instant::now());
                    tracing::warn!(%error, "schema registry unavailable; retrying");
                }
                return Ok(false);
            }
            Err(error) => return Err(error.into()),
        }
        self.tried = None;
        Ok(true)
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
