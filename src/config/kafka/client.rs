//! A client of Kafka with the configured properties.

use super::oidc::{Native, Registration, Source, TokenError, TokenSettings};
use super::{Kafka, Role};
use rdkafka::ClientConfig;
use rdkafka::client::ClientContext;
use rdkafka::config::FromClientConfigAndContext;
use rdkafka::error::KafkaError;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// librdkafka refuses the properties.
    #[error("the connection to Kafka cannot be set up: {0}")]
    Refused(KafkaError),
    /// A property of tokens is wrong or missing.
    #[error("the connection to Kafka cannot be set up: {0} {1}")]
    Token(&'static str, String),
    /// The token endpoint gives none.
    #[error(transparent)]
    NoToken(#[from] TokenError),
    /// The system gives no thread for tokens.
    #[error("a thread cannot be started: {0}")]
    Thread(#[from] std::io::Error),
}

/// The source of tokens, and what librdkafka takes.
struct Connection {
    source: Option<Arc<Source>>,
    properties: BTreeMap<String, String>,
}

impl ClientError {
    /// Whether to try again: nothing has to be corrected here.
    pub fn is_retryable(&self) -> bool {
        matches!(self, ClientError::NoToken(error) if error.is_retryable())
    }
}

/// A client, which gets tokens as long as it lives where its mechanism is OAUTHBEARER.
#[derive(Debug)]
pub struct Client<T> {
    /// Fields are dropped in this order: nothing may set a token of a client that is gone.
    _registration: Option<Registration>,
    client: T,
}

impl<T> Client<T> {
    /// The client for several owners: tokens end with this one.
    pub fn shared(self) -> Client<Arc<T>> {
        Client { _registration: self._registration, client: Arc::new(self.client) }
    }
}

impl<T> Deref for Client<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.client
    }
}

/// A client that needs no tokens.
impl<T> From<T> for Client<T> {
    fn from(client: T) -> Client<T> {
        Client { _registration: None, client }
    }
}

impl Kafka {
    /// A client of `role` with `own` properties over the configured ones. It waits for no token: its connections do.
    ///
    /// # Errors
    /// Invalid properties of librdkafka.
    pub fn client<C, T>(&self, role: Role, own: &[(&str, &str)], context: C) -> Result<Client<T>, ClientError>
    where
        C: ClientContext,
        T: FromClientConfigAndContext<C> + Native,
    {
        let Connection { source, properties } = self.connection(role)?;
        let mut config = ClientConfig::new();
        config.extend(properties);
        for (name, value) in own {
            config.set(*name, *value);
        }
        let client: T = config.create_with_context(context).map_err(ClientError::Refused)?;
        let registration = source.map(|source| Registration::of(&source, &client));
        Ok(Client { _registration: registration, client })
    }

    /// Waits for the first token where the mechanism is OAUTHBEARER.
    ///
    /// # Errors
    /// Why the token endpoint gives none.
    pub fn wait_for_token(&self, timeout: Duration) -> Result<(), ClientError> {
        let source = self.connection(Role::Admin)?.source;
        source.map_or(Ok(()), |source| Ok(source.wait(timeout)?))
    }

    /// What to correct where the brokers refuse the credentials.
    pub fn credentials_remedy(&self) -> &'static str {
        let properties: BTreeMap<String, String> = self.properties(Role::Admin).into_iter().collect();
        match properties.get("sasl.mechanisms").map(String::as_str) {
            Some("OAUTHBEARER") => {
                "compare issuer, audience, scope and signature of the token with what the brokers expect, and the clocks"
            }
            Some("GSSAPI") => {
                "correct sasl.kerberos.principal and sasl.kerberos.keytab in [kafka.librdkafka]"
            }
            _ => {
                "correct kafka.sasl_password_file, or sasl.username and sasl.mechanisms in [kafka.librdkafka]"
            }
        }
    }

    fn connection(&self, role: Role) -> Result<Connection, ClientError> {
        let mut properties: BTreeMap<String, String> = self.properties(role).into_iter().collect();
        let source = match TokenSettings::take(&mut properties) {
            None => None,
            Some(Ok(settings)) => Some(Source::of(settings)?),
            Some(Err((name, reason))) => return Err(ClientError::Token(name, reason)),
        };
        Ok(Connection { source, properties })
    }
}
