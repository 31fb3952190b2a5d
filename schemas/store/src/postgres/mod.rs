//! The server's store: PostgreSQL, with TimescaleDB where the server has it. It mirrors the embedded [`crate::sqlite`]
//! for many writers: results, position in the input and state of several partitions commit in one transaction.
//!
//! | module | what it holds |
//! |---|---|
//! | `settings` | [`PgSettings`] |
//! | `error` | [`PgError`], by what to do next |
//! | `cause` | [`Cause`]: causes of errors, with their remedies |
//! | `address` | [`Address`]: the URL, with libpq's parameters of TLS and of several hosts |
//! | `tls` | the negotiation of TLS, and what a refused one means |
//! | `connect` | the connection, its password and session |
//! | `pooler` | refuses a pooler that gives each transaction another session |
//! | `migrate` | [`migrate()`], [`migrate_to`], [`pending`], [`put_metrics`], [`put_health_limits`], [`put_backlog`] |
//! | `claim` | taking and giving back a partition, its snapshot |
//! | `savepoint` | all states to a file, and back |
//! | `series_ids` | a partition's dense numbers to those of the database |
//! | `commit` | the transaction |
//! | `copy` | signals and buckets in COPY's binary format |
//! | `dividing` | a transaction that leaves out rows that the server refuses |
//! | `rejected` | messages and rows that were passed over |
//! | `place_buckets` | sums of places, of the same ten seconds |
//! | `rows`, `regions`, `notices` | the smaller tables, a statement each |
//! | `housekeeping` | [`housekeep`]: expiry, and policies that failed |
//! | `learn` | [`learn()`]: calibration from finished runs |
//! | `expected` | [`put_expected`]: expected sources |
//! | `places` | [`put_places`], [`put_links`]: where nodes and links are |
//! | `roll_up` | [`roll_up()`]: sums by minute and hour |
//! | `facts` | [`server_facts`] for `tailback doctor` |
//! | `reader` | [`connect_reader`]: a connection that only reads |

mod address;
mod cause;
mod claim;
mod commit;
mod connect;
mod copy;
mod dividing;
mod error;
mod expected;
mod facts;
mod housekeeping;
mod learn;
mod migrate;
mod notices;
mod place_buckets;
mod places;
mod pooler;
mod reader;
mod regions;
mod rejected;
mod roll_up;
mod rows;
mod savepoint;
mod series_ids;
mod settings;
mod tls;

pub use address::{Address, AddressError, ClientFiles, TlsFiles, TlsMode};
pub use cause::Cause;
pub use claim::{Claim, Snapshot};
pub use commit::{CommitMetrics, PartCommit};
pub use connect::{connect, connect_to_read};
pub use dividing::RefusedRows;
pub use error::{Failure, PgError};
pub use expected::put_expected;
pub use facts::{PolicyFacts, ServerFacts, TableFacts, server_facts};
pub use housekeeping::{Housekept, housekeep};
pub use learn::learn;
pub use migrate::{Applied, migrate, migrate_to, pending, put_backlog, put_health_limits, put_metrics};
pub use places::{put_links, put_places};
pub use reader::connect_reader;
pub use roll_up::roll_up;
pub use savepoint::{ImportedState, export_states, import_states, stored_states};
pub use settings::{DirectColumnstore, PgRetention, PgSettings};
pub use tls::{authorities, identity};

use crate::place_sums::{PlaceMap, PlaceSums, PlacesOfSeries};
use std::collections::HashMap;
use tokio_postgres::Client;

/// What the store keeps of a claimed partition.
#[derive(Debug, Default)]
struct Part {
    /// Number in the database by number in the partition.
    ids: Vec<i32>,
    /// The places that are summed up, by number in the partition.
    places: Vec<PlacesOfSeries>,
    /// Commits of the partition so far.
    commits: i64,
}

/// A writer's connection, made again when it breaks.
#[derive(Debug)]
pub struct PgStore {
    settings: PgSettings,
    client: Option<Client>,
    parts: HashMap<(String, i32), Part>,
    /// Whether signals lie in a hypertable.
    hypertable: bool,
    /// Whether this session holds the lock of the states.
    is_marked: bool,
    /// Whether the last commit broke off, so that it may or may not have happened.
    in_doubt: bool,
    buffer: copy::CopyBuffer,
    sums: PlaceSums,
}

impl PgStore {
    /// Connects and checks that the schema is this program's.
    ///
    /// # Errors
    /// [`PgError::Retry`] when the server does not answer, [`PgError::Stop`] for bad settings, missing rights or a
    /// schema that needs `tailback migrate`.
    pub async fn connect(settings: &PgSettings) -> Result<PgStore, PgError> {
        let mut store = PgStore {
            settings: settings.clone(),
            client: None,
            parts: HashMap::new(),
            hypertable: false,
            is_marked: false,
            in_doubt: false,
            buffer: copy::CopyBuffer::default(),
            sums: PlaceSums::default(),
        };
        store.ready().await?;
        Ok(store)
    }

    /// Sums places by this map, before anything is committed; without a map, by names alone.
    #[must_use]
    pub fn with_map(mut self, map: PlaceMap) -> PgStore {
        self.sums = PlaceSums::new(map);
        self
    }

    /// A connection that works as far as is known.
    async fn ready(&mut self) -> Result<(), PgError> {
        if self.client.as_ref().is_some_and(|client| !client.is_closed()) {
            return Ok(());
        }
        let client = connect(&self.settings).await?;
        migrate::check_schema(&client).await?;
        let found = client.query_one(include_str!("../../sql/postgres/hypertable.sql"), &[]).await?;
        self.hypertable = found.get(0);
        (self.client, self.is_marked) = (Some(client), false);
        if !self.parts.is_empty() {
            self.mark_active().await?;
        }
        // A server that crashed or was replaced may have lost the latest numbers, which were not of a transaction.
        self.parts.values_mut().for_each(|part| part.ids.clear());
        Ok(())
    }

    /// The connection that [`PgStore::ready`] made.
    fn client(&mut self) -> Result<&mut Client, PgError> {
        self.client.as_mut().ok_or_else(|| PgError::retry("the connection is closed"))
    }

    /// Returns the result; after a retryable error the connection is closed, and the next call connects again.
    fn settle<T>(&mut self, result: Result<T, PgError>) -> Result<T, PgError> {
        if matches!(&result, Err(PgError::Retry(_))) {
            self.client = None;
        }
        result
    }
}
