//! Kafka's identity of a topic, which changes when the topic is deleted and created again.

#![allow(unsafe_code, reason = "the rdkafka crate has no call for librdkafka's DescribeTopics")]

use rdkafka::bindings as librdkafka;
use rdkafka::client::{Client, ClientContext};
use std::ffi::{CStr, CString, c_char};
use std::ptr::{NonNull, null_mut};
use std::time::Duration;

/// What brokers without identities of topics answer (before Kafka 2.8), in base64.
const NONE: &str = "AAAAAAAAAAAAAAAAAAAAAA";

/// What the brokers answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TopicId {
    /// The identity, in base64.
    Known(String),
    /// There is no such topic.
    Missing,
    /// No broker answered in time, or brokers have no identities.
    Unknown,
}

impl TopicId {
    /// The identity if it is known.
    pub fn known(self) -> Option<String> {
        match self {
            TopicId::Known(id) => Some(id),
            TopicId::Missing | TopicId::Unknown => None,
        }
    }
}

/// An object of librdkafka that is destroyed when it is dropped.
struct Owned<T>(NonNull<T>, unsafe extern "C" fn(*mut T));

impl<T> Owned<T> {
    fn new(raw: *mut T, destroy: unsafe extern "C" fn(*mut T)) -> Option<Owned<T>> {
        NonNull::new(raw).map(|raw| Owned(raw, destroy))
    }

    fn raw(&self) -> *mut T {
        self.0.as_ptr()
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: the pointer came from librdkafka, is not null, and `1` is the destructor of its type.
        unsafe { (self.1)(self.raw()) }
    }
}

/// The identity of `topic`, within `timeout`.
pub fn of<C: ClientContext>(client: &Client<C>, topic: &str, timeout: Duration) -> TopicId {
    describe(client, topic, timeout).unwrap_or(TopicId::Unknown)
}

fn describe<C: ClientContext>(client: &Client<C>, topic: &str, timeout: Duration) -> Option<TopicId> {
    let handle = client.native_ptr();
    let name = CString::new(topic).ok()?;
    let mut names: [*const c_char; 1] = [name.as_ptr()];
    let timeout_ms = i32::try_from(timeout.as_millis()).unwrap_or(i32::MAX);
    // SAFETY: `handle` lives as long as `client`; `names` and `name` live until the collection has copied them.
    unsafe {
        let topics = Owned::new(
            librdkafka::rd_kafka_TopicCollection_of_topic_names(names.as_mut_ptr(), names.len()),
            librdkafka::rd_kafka_TopicCollection_destroy,
        )?;
        let options = Owned::new(
            librdkafka::rd_kafka_AdminOptions_new(
                handle,
                librdkafka::rd_kafka_admin_op_t::RD_KAFKA_ADMIN_OP_DESCRIBETOPICS,
            ),
            librdkafka::rd_kafka_AdminOptions_destroy,
        )?;
        librdkafka::rd_kafka_AdminOptions_set_request_timeout(options.raw(), timeout_ms, null_mut(), 0);
        let queue = Owned::new(librdkafka::rd_kafka_queue_new(handle), librdkafka::rd_kafka_queue_destroy)?;
        librdkafka::rd_kafka_DescribeTopics(handle, topics.raw(), options.raw(), queue.raw());
        let event = Owned::new(
            librdkafka::rd_kafka_queue_poll(queue.raw(), timeout_ms.saturating_add(500)),
            librdkafka::rd_kafka_event_destroy,
        )?;
        let result = librdkafka::rd_kafka_event_DescribeTopics_result(event.raw());
        if result.is_null() {
            return None;
        }
        let mut count = 0;
        let found = librdkafka::rd_kafka_DescribeTopics_result_topics(result, &raw mut count);
        if found.is_null() || count == 0 {
            return None;
        }
        described(*found)
    }
}

/// # Safety
/// `topic` is null or a description that lives.
unsafe fn described(topic: *const librdkafka::rd_kafka_TopicDescription_t) -> Option<TopicId> {
    use rdkafka::types::RDKafkaRespErr as Code;
    if topic.is_null() {
        return None;
    }
    // SAFETY: as the caller guarantees; error and identity live as long as the description.
    unsafe {
        let error = librdkafka::rd_kafka_TopicDescription_error(topic);
        if !error.is_null() {
            match librdkafka::rd_kafka_error_code(error) {
                Code::RD_KAFKA_RESP_ERR_NO_ERROR => {}
                Code::RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART => return Some(TopicId::Missing),
                _ => return None,
            }
        }
        let id = librdkafka::rd_kafka_TopicDescription_topic_id(topic);
        if id.is_null() {
            return None;
        }
        let text = librdkafka::rd_kafka_Uuid_base64str(id);
        let text = if text.is_null() { None } else { CStr::from_ptr(text).to_str().ok() };
        text.filter(|text| !text.is_empty() && *text != NONE).map(|text| TopicId::Known(text.to_string()))
    }
}
