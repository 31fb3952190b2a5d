//! Avro rows with Confluent's framing: a byte 0, the number of the writer's schema in four bytes, the row.
//!
//! | module | what it holds |
//! |---|---|
//! | `known` | [`AvroSchemas`]: schemas by number, compiled, with folders of files |
//! | `schema` | a writer schema as types |
//! | `plan` | a schema as steps over the bytes of a message |
//! | `names` | names of columns as LDMS has them |
//! | `value`, `cursor` | values, and the bytes of which they are made |

mod cursor;
pub(crate) mod known;
mod names;
mod plan;
mod schema;
mod value;

pub use known::{AvroSchemas, SCHEMA_BYTES_MAX, SCHEMAS_MAX, SchemaError};

use crate::decode::{Decoded, Decoder, Outcome};
use crate::job_rows::{self, Value};
use crate::plan::Target;
use crate::registry::Refusal;
use known::Known;
use plan::AvroPlan;
use schemas::DropReason;

/// The byte that an Avro message begins with. No line of JSON does.
const MAGIC: u8 = 0;

/// The schema's number and the row.
fn framed(message: &[u8]) -> Option<(u32, &[u8])> {
    let (id, body) = message.strip_prefix(&[MAGIC])?.split_first_chunk::<4>()?;
    Some((u32::from_be_bytes(*id), body))
}

/// The number of the schema of an Avro message.
pub(crate) fn schema_number(message: &[u8]) -> Option<u32> {
    framed(message).map(|(number, _)| number)
}

impl Decoder {
    /// Decodes one message of a topic into `out`, or counts why not. The first byte distinguishes Avro from JSON.
    /// An empty message, as Kafka has them for deleted keys, is skipped. `schema` as in [`Decoder::json_line`].
    pub fn message(
        &mut self,
        schema: Option<&str>,
        message: &[u8],
        schemas: &AvroSchemas,
        out: &mut Decoded,
    ) -> Outcome {
        match message.first() {
            Some(&MAGIC) => self.avro_message(message, schemas, out),
            _ => self.json_line(schema, message, out),
        }
    }

    /// Decodes one Avro message with Confluent's framing into `out`, or counts why not. Nothing is counted
    /// if its schema is not known ([`Outcome::NeedsSchema`]): then the message is to be given again
    /// after [`AvroSchemas::insert`] or [`AvroSchemas::refuse`].
    pub fn avro_message(&mut self, message: &[u8], schemas: &AvroSchemas, out: &mut Decoded) -> Outcome {
        let Some((id, body)) = framed(message) else {
            return self.refuse(DropReason::InvalidAvro, "message", message);
        };
        let plan = match schemas.get(id) {
            None => return Outcome::NeedsSchema(id),
            Some(Known::Refused(reason, why)) => return self.refuse(*reason, "schema", why.as_bytes()),
            Some(Known::Usable(plan)) => plan,
        };
        match &plan.plan.target {
            Err(reason) => self.refuse(*reason, "schema", plan.name.as_bytes()),
            Ok(Target::Jobs) => self.avro_jobs(plan, body, out),
            Ok(Target::Counters(shape)) => {
                let counters = shape.open(&mut out.counters);
                let result = plan.read(body, counters);
                self.counted(result, plan.plan.number, shape, out)
            }
        }
    }

    fn avro_jobs(&mut self, plan: &AvroPlan, body: &[u8], out: &mut Decoded) -> Outcome {
        let Some(texts) = plan.texts(body) else {
            return self.refuse(DropReason::InvalidAvro, &plan.name, body);
        };
        let values = texts.iter().map(|text| Value::Json(text));
        let row = job_rows::row(plan.names().zip(values));
        let events = job_rows::events(&row, self.registry_mut()).map_err(|refused| {
            let lost = refused.reason == DropReason::BadJob && plan.is_u32(refused.field);
            Refusal { reason: if lost { DropReason::AvroU32Zero } else { refused.reason }, ..refused }
        });
        self.sampled_jobs(events, out)
    }
}
