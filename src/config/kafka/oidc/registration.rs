//! Clients of librdkafka that get tokens from outside.
//!
//! rdkafka's own way, `ClientContext::generate_oauth_token`, reaches only clients that are polled (administrators are not),
//! runs in the thread that polls, and knows no extensions.

use super::settings::TokenSettings;
use super::source::Source;
use super::token::Token;
use rdkafka::admin::AdminClient;
use rdkafka::bindings::{rd_kafka_oauthbearer_set_token, rd_kafka_oauthbearer_set_token_failure};
use rdkafka::client::ClientContext;
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext};
use rdkafka::producer::{BaseProducer, Producer, ProducerContext};
use rdkafka::types::{RDKafka, RDKafkaRespErr};
use std::ffi::{CStr, CString, c_char};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

/// Bytes for a reason of librdkafka.
const REASON_BYTES: usize = 512;

/// A client that has a handle of librdkafka.
pub trait Native {
    /// Valid as long as the client.
    fn native(&self) -> *mut RDKafka;
}

impl<C: ConsumerContext> Native for BaseConsumer<C> {
    fn native(&self) -> *mut RDKafka {
        self.client().native_ptr()
    }
}

impl<C: ProducerContext> Native for BaseProducer<C> {
    fn native(&self) -> *mut RDKafka {
        self.client().native_ptr()
    }
}

impl<C: ClientContext> Native for AdminClient<C> {
    fn native(&self) -> *mut RDKafka {
        self.inner().native_ptr()
    }
}

/// The handle of a registered client: its source uses it under a lock, and the registration ends before the client.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Handle(*mut RDKafka);

#[expect(unsafe_code, reason = "librdkafka's handles may be used from any thread")]
// SAFETY: librdkafka locks its handles itself.
unsafe impl Send for Handle {}

#[expect(unsafe_code, reason = "librdkafka's handles may be used from any thread")]
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Handle {
    #[expect(unsafe_code, reason = "rdkafka has no call with extensions")]
    pub(super) fn set_token(&self, token: &Token, settings: &TokenSettings) -> Result<(), String> {
        let c_string = |text: &str| CString::new(text).map_err(|error| error.to_string());
        let lifetime = token.expires.duration_since(UNIX_EPOCH).unwrap_or_default();
        let (value, principal) = (c_string(token.value.reveal())?, c_string(&settings.client_id)?);
        let texts = settings.extensions.iter().flat_map(|(name, value)| [name, value]);
        let extensions = texts.map(|text| c_string(text)).collect::<Result<Vec<CString>, String>>()?;
        let mut pointers: Vec<*const c_char> = extensions.iter().map(|text| text.as_ptr()).collect();
        let mut reason = [0 as c_char; REASON_BYTES];
        // SAFETY: the client lives until its registration has ended, and librdkafka copies all texts before it returns.
        let (code, reason) = unsafe {
            let code = rd_kafka_oauthbearer_set_token(
                self.0,
                value.as_ptr(),
                i64::try_from(lifetime.as_millis()).unwrap_or(i64::MAX / 1_000),
                principal.as_ptr(),
                pointers.as_mut_ptr(),
                pointers.len(),
                reason.as_mut_ptr(),
                REASON_BYTES,
            );
            (code, CStr::from_ptr(reason.as_ptr()).to_string_lossy().into_owned())
        };
        if code == RDKafkaRespErr::RD_KAFKA_RESP_ERR_NO_ERROR { Ok(()) } else { Err(reason) }
    }

    /// The client reports `why` as an error of its own; a token that it has stays in use.
    #[expect(unsafe_code, reason = "rdkafka has no safe call for it")]
    pub(super) fn fail(&self, why: &str) {
        let Ok(why) = CString::new(why) else { return };
        // SAFETY: as above.
        unsafe { rd_kafka_oauthbearer_set_token_failure(self.0, why.as_ptr()) };
    }
}

/// Tokens for a client, until this is dropped: before the client.
#[derive(Debug)]
pub struct Registration {
    source: Arc<Source>,
    client: Handle,
}

impl Registration {
    pub(super) fn new(source: Arc<Source>, client: Handle) -> Registration {
        Registration { source, client }
    }

    /// Registers `client` with `source`.
    pub(in super::super) fn of(source: &Arc<Source>, client: &impl Native) -> Registration {
        source.add(Handle(client.native()))
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.source.remove(&self.client);
    }
}
