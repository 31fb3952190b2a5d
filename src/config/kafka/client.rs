//! A client of Kafka with the configured properties.

use super::{Kafka, Role};
use rdkafka::ClientConfig;
use rdkafka::client::ClientContext;
use rdkafka::config::FromClientConfigAndContext;
use rdkafka::error::KafkaError;

/// librdkafka refuses the properties.
#[derive(Debug, thiserror::Error)]
#[error("the connection to Kafka cannot be set up: {0}")]
pub struct ClientError(KafkaError);

impl Kafka {
    /// A client of `role` with `own` properties over the configured ones.
    ///
    /// # Errors
    /// Invalid properties of librdkafka.
    pub fn client<C, T>(&self, role: Role, own: &[(&str, &str)], context: C) -> Result<T, ClientError>
    where
        C: ClientContext,
        T: FromClientConfigAndContext<C>,
    {
        let mut properties = ClientConfig::new();
        properties.extend(self.properties(role));
        for (name, value) in own {
            properties.set(*name, *value);
        }
        properties.create_with_context(context).map_err(ClientError)
    }
}
