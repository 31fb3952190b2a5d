//! Schemas from a registry with Confluent's API, as Confluent's own, Apicurio and Karapace have it.
//!
//! Not on the hot path: a caller that gets [`crate::Outcome::NeedsSchema`] requests the schema
//! and continues with other messages.

use crate::avro::SCHEMA_BYTES_MAX;
use crate::avro::known::schema_of_answer;
use reqwest::{Client, StatusCode, Url, redirect};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const TIMEOUT: Duration = Duration::from_secs(15);
const REDIRECTS_MAX: usize = 4;

/// Why a schema could not be had, and so what to do next.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The address or the password cannot be used as they are configured.
    #[error("schema registry: {0}")]
    Config(String),
    /// The registry is unreachable or busy: the caller retries later, messages wait.
    #[error("schema registry, schema {id}: {why}; retrying")]
    Retry {
        /// Number of the schema.
        id: u32,
        /// What happened.
        why: String,
    },
    /// There is no such schema, or none of use: messages are dropped (see [`crate::AvroSchemas::refuse`]).
    #[error("schema registry, schema {id}: {why}; its messages are dropped")]
    Drop {
        /// Number of the schema.
        id: u32,
        /// What happened.
        why: String,
    },
    /// The registry does not let us in, or is not at the configured address: a person must correct the configuration.
    #[error("schema registry at {url}: {why}")]
    Stop {
        /// Where.
        url: String,
        /// What happened.
        why: String,
    },
}

/// User and password of a registry.
struct Login {
    user: String,
    password: String,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:***", self.user)
    }
}

/// A client of a schema registry. A clone shares its connections.
#[derive(Clone, Debug)]
pub struct RegistryClient {
    client: Client,
    /// Ends in `/schemas/ids/`.
    base: Url,
    login: Option<std::sync::Arc<Login>>,
}

impl RegistryClient {
    /// A client of the registry at `url`. `login` is a user and the file that holds the password.
    ///
    /// # Errors
    /// [`RegistryError::Config`] for an address that is none, or a password that cannot be read.
    pub fn new(url: &str, login: Option<(&str, &Path)>) -> Result<RegistryClient, RegistryError> {
        let base = base_of(url)?;
        let login = login.map(|(user, file)| read_login(user, file)).transpose()?.map(std::sync::Arc::new);
        let client = Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(TIMEOUT)
            .redirect(redirect::Policy::custom(within_one_host))
            .user_agent(concat!("tailback/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| RegistryError::Config(error.to_string()))?;
        Ok(RegistryClient { client, base, login })
    }

    /// The schema with this number, for [`crate::AvroSchemas::insert`].
    ///
    /// # Errors
    /// [`RegistryError`] decides whether the caller retries, drops the messages or stops.
    pub async fn schema(&self, id: u32) -> Result<String, RegistryError> {
        let retry = |error: reqwest::Error| RegistryError::Retry { id, why: chain(&error.without_url()) };
        let url = self.base.join(&id.to_string()).map_err(|error| self.stop(error.to_string()))?;
        let mut request =
            self.client.get(url).header("accept", "application/vnd.schemaregistry.v1+json, */*");
        if let Some(login) = &self.login {
            request = request.basic_auth(&login.user, Some(&login.password));
        }
        let mut response = request.send().await.map_err(retry)?;
        self.check(id, response.status())?;
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(retry)? {
            // Quotation marks of the schema are escaped in the answer.
            if body.len() + chunk.len() > 2 * SCHEMA_BYTES_MAX {
                let why = format!("the schema is longer than {SCHEMA_BYTES_MAX} bytes");
                return Err(RegistryError::Drop { id, why });
            }
            body.extend_from_slice(&chunk);
        }
        let Ok(answer) = serde_json::from_slice(&body) else {
            return Err(RegistryError::Retry { id, why: "the answer is no JSON".to_string() });
        };
        schema_of_answer(&answer).map_err(|why| RegistryError::Drop { id, why })
    }

    fn check(&self, id: u32, status: StatusCode) -> Result<(), RegistryError> {
        let why = format!("it answers {status}");
        match status {
            StatusCode::OK => Ok(()),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                let asked =
                    if self.login.is_some() { "user or password are wrong" } else { "it wants a user" };
                Err(self.stop(format!("{why}: {asked}")))
            }
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => {
                Err(RegistryError::Retry { id, why })
            }
            _ if status.is_server_error() => Err(RegistryError::Retry { id, why }),
            _ if status.is_redirection() => Err(self.stop(format!("{why}, which leads elsewhere"))),
            _ => Err(RegistryError::Drop { id, why }),
        }
    }

    fn stop(&self, why: String) -> RegistryError {
        RegistryError::Stop { url: self.base.to_string(), why }
    }
}

/// Follows redirects to the same scheme, host and port: the password is sent nowhere else.
fn within_one_host(attempt: redirect::Attempt<'_>) -> redirect::Action {
    let home = attempt.previous().first().map(Url::origin);
    if home == Some(attempt.url().origin()) && attempt.previous().len() <= REDIRECTS_MAX {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

fn base_of(url: &str) -> Result<Url, RegistryError> {
    let refused = |why: &str| RegistryError::Config(format!("the address {why}"));
    let mut base = Url::parse(url).map_err(|error| refused(&format!("is none: {error}")))?;
    if !matches!(base.scheme(), "http" | "https") || base.cannot_be_a_base() {
        return Err(refused("does not begin with http:// or https://"));
    }
    if !base.username().is_empty() || base.password().is_some() {
        return Err(refused("holds a user or password: they belong into settings of their own"));
    }
    base.set_query(None);
    base.set_fragment(None);
    let path = format!("{}/schemas/ids/", base.path().trim_end_matches('/'));
    base.set_path(&path);
    Ok(base)
}

fn read_login(user: &str, file: &Path) -> Result<Login, RegistryError> {
    let shown: PathBuf = file.to_path_buf();
    let text = std::fs::read_to_string(file)
        .map_err(|error| RegistryError::Config(format!("password file {}: {error}", shown.display())))?;
    let password = text.trim_end_matches(['\r', '\n']).to_string();
    if password.is_empty() {
        return Err(RegistryError::Config(format!("password file {} is empty", shown.display())));
    }
    Ok(Login { user: user.to_string(), password })
}

/// An error with its causes, which are more specific.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}
