//! Hosts as hostlists in a written state: `#[serde(with = "schemas::hostlist::folded")]`. A state of many large jobs is
//! then short, and its length does not depend on how many nodes a job counts up.

use super::{HOSTS_MAX, expand, fold};
use crate::Name;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Writes the hosts in their order.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<'a, C, S>(hosts: &'a C, to: S) -> Result<S::Ok, S::Error>
where
    &'a C: IntoIterator<Item = &'a Name>,
    S: Serializer,
{
    let hosts: Vec<Name> = hosts.into_iter().cloned().collect();
    fold(&hosts).serialize(to)
}

/// Reads them back.
///
/// # Errors
/// Those of the deserializer, and a text that is no hostlist.
pub fn deserialize<'de, C: FromIterator<Name>, D: Deserializer<'de>>(from: D) -> Result<C, D::Error> {
    let mut hosts = Vec::new();
    for text in Vec::<String>::deserialize(from)? {
        hosts.extend(expand(&text, HOSTS_MAX).map_err(Error::custom)?);
    }
    Ok(hosts.into_iter().collect())
}
