//! What can be set about the server's store.

use crate::storage_policy::StoragePolicy;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// Whether COPY writes signals straight into TimescaleDB's columnstore.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DirectColumnstore {
    /// When a commit is large enough for whole batches.
    #[default]
    Auto,
    /// Always, where the server can.
    On,
    /// Never: the policy moves the rows later.
    Off,
}

/// For how long each tier is kept, in days; `None` is for ever.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PgRetention {
    /// Signals.
    pub raw_days: Option<f64>,
    /// Ten seconds.
    pub ten_seconds_days: Option<f64>,
    /// Minutes.
    pub minutes_days: Option<f64>,
    /// Hours.
    pub hours_days: Option<f64>,
}

impl Default for PgRetention {
    fn default() -> PgRetention {
        PgRetention {
            raw_days: Some(14.0),
            ten_seconds_days: Some(60.0),
            minutes_days: Some(400.0),
            hours_days: None,
        }
    }
}

/// How to reach the server, and how to store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PgSettings {
    /// `postgresql://user@host:port/database?sslmode=verify-full`; the password may stand in a file of its own.
    pub url: String,
    /// A file whose first line is the password.
    pub password_file: Option<PathBuf>,
    /// Certificates of the authorities that may sign the server's, PEM, instead of the system's. An `sslrootcert` in `url` takes
    /// precedence.
    pub tls_ca_file: Option<PathBuf>,
    /// The client's certificate, PEM. An `sslcert` in `url` takes precedence.
    pub tls_cert_file: Option<PathBuf>,
    /// Its key (PEM), without a password. An `sslkey` in `url` takes precedence.
    pub tls_key_file: Option<PathBuf>,
    /// Which signals are kept.
    pub storage: StoragePolicy,
    /// Straight into the columnstore.
    pub direct_columnstore: DirectColumnstore,
    /// Whether a commit waits for the server's disk. Off by default: a crash of the server may then lose the last
    /// half second of commits, each whole. Results and positions go together, so nothing is lost or doubled: the
    /// next commit finds its position set back, is fenced, and the input is read again from there.
    pub synchronous_commit: bool,
    /// Whether TimescaleDB is used where the server has it.
    pub timescale: bool,
    /// How long each tier is kept.
    pub retention: PgRetention,
    /// Days after their end for which episodes, regions and jobs are kept; `None` is for ever.
    pub episodes_days: Option<f64>,
    /// Hours after which the columnstore's batches of a chunk are merged by series; `None` leaves them.
    pub merge_after_hours: Option<f64>,
    /// Seconds that a connection attempt may take.
    pub connect_timeout_s: f64,
}

impl Default for PgSettings {
    fn default() -> PgSettings {
        PgSettings {
            url: String::new(),
            password_file: None,
            tls_ca_file: None,
            tls_cert_file: None,
            tls_key_file: None,
            storage: StoragePolicy::default(),
            direct_columnstore: DirectColumnstore::default(),
            synchronous_commit: false,
            timescale: true,
            retention: PgRetention::default(),
            episodes_days: None,
            merge_after_hours: Some(2.0),
            connect_timeout_s: 5.0,
        }
    }
}

impl PgSettings {
    /// The defaults, for the server at `url`.
    pub fn at(url: &str) -> PgSettings {
        PgSettings { url: url.to_string(), ..PgSettings::default() }
    }

    /// The connection timeout; a nonsensical figure counts as a second.
    pub(super) fn connect_timeout(&self) -> Duration {
        Duration::try_from_secs_f64(self.connect_timeout_s).unwrap_or(Duration::from_secs(1))
    }
}
