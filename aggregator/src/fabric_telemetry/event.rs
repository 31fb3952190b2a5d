//! A message of HPE's fabric telemetry and its events, read in one pass.

use crate::json::{Fields, Key};
use serde::Deserialize;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// An event: of what occurs twice the last counts.
#[derive(Default)]
pub(super) struct Event<'a> {
    /// The raw JSON of its time.
    pub at: Option<&'a str>,
    /// The raw JSON of its sensors.
    pub sensors: Option<&'a str>,
}

/// A message of CSM, with events, or one of HPCM, with fields and tags.
#[derive(Default)]
pub(super) struct Message<'a> {
    pub events: Option<Vec<Event<'a>>>,
    pub fields: Option<Fields<'a>>,
    pub tags: Option<Fields<'a>>,
    /// The raw JSON of the time of its fields.
    pub at: Option<&'a str>,
    /// Whether it is a stream of messages.
    pub is_stream: bool,
}

/// What is beside the time of an event.
#[derive(Default)]
struct Oem<'a>(Option<&'a str>);

impl<'de> Deserialize<'de> for Message<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Message<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a message of telemetry")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Message<'de>, A::Error> {
                let mut message = Message::default();
                while let Some(Key(key)) = map.next_key::<Key<'de>>()? {
                    match key.as_ref() {
                        "Events" => message.events = Some(map.next_value()?),
                        "fields" => message.fields = Some(map.next_value()?),
                        "tags" => message.tags = Some(map.next_value()?),
                        "timestamp" => message.at = Some(map.next_value::<&'de RawValue>()?.get()),
                        other => {
                            message.is_stream |= other == "metrics";
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(message)
            }
        }
        from.deserialize_map(Members)
    }
}

impl<'de> Deserialize<'de> for Event<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Event<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an event")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Event<'de>, A::Error> {
                let mut event = Event::default();
                while let Some(Key(key)) = map.next_key::<Key<'de>>()? {
                    match key.as_ref() {
                        "EventTimestamp" => event.at = Some(map.next_value::<&'de RawValue>()?.get()),
                        "Oem" => Oem(event.sensors) = map.next_value()?,
                        _ => _ = map.next_value::<IgnoredAny>()?,
                    }
                }
                Ok(event)
            }
        }
        from.deserialize_map(Members)
    }
}

impl<'de> Deserialize<'de> for Oem<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Oem<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with sensors")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Oem<'de>, A::Error> {
                let mut oem = Oem::default();
                while let Some(Key(key)) = map.next_key::<Key<'de>>()? {
                    match key.as_ref() {
                        "Sensors" => oem.0 = Some(map.next_value::<&'de RawValue>()?.get()),
                        _ => _ = map.next_value::<IgnoredAny>()?,
                    }
                }
                Ok(oem)
            }
        }
        from.deserialize_map(Members)
    }
}
