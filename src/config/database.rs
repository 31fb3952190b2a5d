//! `[database]` as the store takes it.

use super::sections::{Database, Storage, Use};
use std::path::Path;
use store::postgres::{DirectColumnstore, PgRetention, PgSettings};
use store::storage_policy::StoragePolicy;

impl Database {
    /// The server, how to connect to it, and what it keeps.
    pub fn pg_settings(&self) -> PgSettings {
        let days = |days: u32| (days > 0).then_some(f64::from(days));
        let named = |file: &Path| (!file.as_os_str().is_empty()).then(|| file.to_path_buf());
        PgSettings {
            password_file: named(&self.password_file),
            tls_ca_file: named(&self.tls_ca_file),
            tls_cert_file: named(&self.tls_cert_file),
            tls_key_file: named(&self.tls_key_file),
            storage: self.storage_policy(),
            direct_columnstore: match self.direct_columnstore {
                Use::Auto => DirectColumnstore::Auto,
                Use::On => DirectColumnstore::On,
                Use::Off => DirectColumnstore::Off,
            },
            synchronous_commit: self.synchronous_commit,
            retention: PgRetention {
                raw_days: days(self.raw_days),
                ten_seconds_days: days(self.ten_second_days),
                minutes_days: days(self.minute_days),
                hours_days: None,
            },
            episodes_days: days(self.episode_days),
            connect_timeout_s: self.connect_timeout_s as f64,
            ..PgSettings::at(self.url.reveal())
        }
    }

    /// Which signals become rows.
    pub fn storage_policy(&self) -> StoragePolicy {
        match self.storage {
            Storage::All => StoragePolicy::All,
            Storage::Changes => StoragePolicy::Changes,
        }
    }
}
