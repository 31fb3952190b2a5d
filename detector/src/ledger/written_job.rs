//! A job in the written state: its nodes as hostlists.

use schemas::{Job, Name};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
struct Written {
    job: Job,
    #[serde(with = "schemas::hostlist::folded")]
    nodes: Vec<Name>,
}

pub(super) fn serialize<S: Serializer>(job: &Job, to: S) -> Result<S::Ok, S::Error> {
    Written { job: Job { nodes: Vec::new(), ..job.clone() }, nodes: job.nodes.clone() }.serialize(to)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Job, D::Error> {
    let Written { job, nodes } = Written::deserialize(from)?;
    Ok(Job { nodes, ..job })
}
