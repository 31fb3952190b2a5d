//! A message of HPE's fabric telemetry and its events, read in one pass.

use crate::json::Key;
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

/// The events of a message, if it has some.
#[derive(Default)]
pub(super) struct Message<'a>(pub Option<Vec<Event<'a>>>);

/// What is beside the time of an event.
#[derive(Default)]
struct Oem<'a>(Option<&'a str>);

impl<'de> Deserialize<'de> for Message<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Message<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a message with events")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Message<'de>, A::Error> {
                let mut message = Message::default();
                while let Some(Key(key)) = map.next_key::<Key<'de>>()? {
                    match key.as_ref() {
                        "Events" => message.0 = Some(map.next_value()?),
                        _ => _ = map.next_value::<IgnoredAny>()?,
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
