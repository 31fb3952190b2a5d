//! Everything that was not used, by reason: shown by `/metrics`, `doctor` and the health page.

use serde::{Deserialize, Serialize};

macro_rules! reasons {
    ($($variant:ident $name:literal $doc:literal,)*) => {
        /// Why a row, or one interval of a row, was not used.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum DropReason { $(#[doc = $doc] $variant,)* }

        impl DropReason {
            /// All reasons, in the order of their numbers.
            pub const ALL: &'static [DropReason] = &[$(DropReason::$variant,)*];

            /// The word in `dropped.json`, metrics and SQL.
            pub fn name(self) -> &'static str {
                match self { $(DropReason::$variant => $name,)* }
            }

            /// What it means, for a person.
            pub fn meaning(self) -> &'static str {
                match self { $(DropReason::$variant => $doc,)* }
            }
        }
    };
}

reasons! {
    InvalidJson "invalid_json" "The line is no complete JSON object: truncated, unescaped, or nan printed as it is.",
    InvalidCsv "invalid_csv" "The CSV line has another number of fields than its header.",
    CsvWithoutHeader "csv_without_header" "A CSV line came before any header with its columns.",
    UnknownSchema "unknown_schema" "The row has no counters that Tailback knows (write_bytes.sum, port_xmit_wait, PortXmitWait, AR_RTR_*), and no job_start.",
    UnusedSchema "unused_schema" "A known LDMS schema without data on contention or jobs.",
    MissingTimestamp "missing_timestamp" "The row has no time: a column timestamp, Time, Time_msec, ts or M_timestamp.",
    BadTimestamp "bad_timestamp" "The timestamp is no number between 2000 and 2255.",
    MissingColumn "missing_column" "A column that the schema needs is absent from this row.",
    BadValue "bad_value" "A counter or name has the wrong type.",
    NegativeCounter "negative_counter" "A counter is below zero.",
    BadName "bad_name" "A producer, component, mount, port or job of a server's row has characters that names may not have, or is none.",
    Unattributable "unattributable" "The row has neither producer (ProducerName, prdcr, M_producer) nor component_id (comp_id): its node is unknown.",
    Duplicate "duplicate" "The same sample of the same source was seen before.",
    Late "late" "The row is older than its component's watermark.",
    ClockJump "clock_jump" "The row's clock was more than a minute ahead of its component, and no second row confirmed it.",
    CounterReset "counter_reset" "A counter fell and no plausible wrap explains it: this interval is not used.",
    CounterSaturated "counter_saturated" "A 32-bit counter stands at its maximum: this interval is not used.",
    Implausible "implausible" "The rate is higher than the hardware can do: this interval is not used.",
    BadJob "bad_job" "A job row without job id, node or start.",
    BufferFull "buffer_full" "More sources than are kept: of one component, or in all.",
    InvalidAvro "invalid_avro" "The message is no Avro row of its schema: cut off, too long, or of another format.",
    UnknownSchemaId "unknown_schema_id" "The schema registry does not know the schema of the Avro message.",
    BadAvroSchema "bad_avro_schema" "The schema of the Avro message cannot be read, or describes no row.",
    AvroU32Zero "avro_u32_zero" "LDMS writes every 32-bit column as 0 in Avro: take JSON rows of this schema.",
    BadMessage "bad_message" "A message of Tailback's own topics that this version cannot read.",
    ClockAhead "clock_ahead" "The row's clock was ahead of most components, or of its own later rows, by more than a minute: it moves no other series, and its own readings are dated wrong.",
}

/// How often each [`DropReason`] happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DropCounts {
    #[serde(deserialize_with = "all_counts")]
    counts: Vec<u64>,
}

/// Counts kept by a version that knew fewer reasons: they are added at the end.
fn all_counts<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<u64>, D::Error> {
    let mut counts = Vec::<u64>::deserialize(from)?;
    counts.resize(counts.len().max(DropReason::ALL.len()), 0);
    Ok(counts)
}

impl Default for DropCounts {
    fn default() -> Self {
        DropCounts { counts: vec![0; DropReason::ALL.len()] }
    }
}

impl DropCounts {
    /// Counts one more.
    pub fn count(&mut self, reason: DropReason) {
        self.counts[reason as usize] += 1;
    }

    /// How often `reason` happened.
    pub fn get(&self, reason: DropReason) -> u64 {
        self.counts[reason as usize]
    }

    /// Adds the counts of `other`.
    pub fn add(&mut self, other: &DropCounts) {
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
    }

    /// Reasons that happened, with their counts, in the order of their numbers.
    pub fn nonzero(&self) -> impl Iterator<Item = (DropReason, u64)> {
        DropReason::ALL.iter().map(|r| (*r, self.get(*r))).filter(|(_, n)| *n > 0)
    }

    /// All of them together.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }
}
