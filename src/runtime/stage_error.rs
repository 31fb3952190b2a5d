//! Why a stage ended, and what follows: it restarts, or the process stops with the sentence that names the remedy.

use super::partition_state::RestoreError;
use super::topics::TopicsError;
use aggregator::confluent::RegistryError;
use configuration::kafka::ClientError;
use rdkafka::error::KafkaError;
use store::postgres::PgError;

/// The result of a stage's work.
pub type StageResult<T = ()> = Result<T, StageError>;

/// Why a stage ended.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// Restart from the committed position: no data is lost.
    #[error("{0}; restarting the stage from the committed position")]
    Restart(String),
    /// Stop: a request of the Kafka client failed.
    #[error("failed to {request}: {source}")]
    Kafka {
        /// What was requested.
        request: String,
        /// The error of librdkafka.
        source: KafkaError,
    },
    /// Stop: the topics.
    #[error(transparent)]
    Topics(#[from] TopicsError),
    /// Stop: the database refuses.
    #[error(transparent)]
    Database(#[from] PgError),
    /// Stop: the database refused a claim; the log has the reason.
    #[error("the {0} stage failed to claim its partitions in the database")]
    Claim(&'static str),
    /// Stop: results cannot be written.
    #[error("the {stage} stage failed to write its results: {trouble}")]
    Write {
        /// The stage.
        stage: &'static str,
        /// Why.
        trouble: String,
    },
    /// Stop: the task that writes to the database has ended.
    #[error("the database writer of the {0} stage has ended")]
    WriterEnded(&'static str),
    /// Stop: a stored state cannot be read.
    #[error(transparent)]
    Restore(#[from] RestoreError),
    /// Stop: a state or a message cannot be serialized.
    #[error("failed to serialize {what}: {why}")]
    Serialize {
        /// A state or a message.
        what: &'static str,
        /// Why.
        why: String,
    },
    /// Stop: the schema registry refuses.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// Stop: librdkafka takes no such properties.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// Stop: the system starts no thread.
    #[error("a thread cannot be started: {0}")]
    Thread(#[from] std::io::Error),
    /// Stop: a configured value cannot be used.
    #[error("{0:#}")]
    Configuration(anyhow::Error),
}

impl StageError {
    /// Maps an error of the Kafka client while it should `request`.
    pub fn kafka(request: impl Into<String>) -> impl FnOnce(KafkaError) -> StageError {
        let request = request.into();
        |source| StageError::Kafka { request, source }
    }
}
