//! Alerts end to end: the outbox, delivery, real receivers.
//!
//! | file | content |
//! |---|---|
//! | `receiver.rs` | a receiver that fails in every way |
//! | `outbox.rs` | a store with notices |
//! | `delivery.rs` | nothing lost, nothing reordered; dead letters, silences, a storm |
//! | `kill.rs` | `kill -9` in the middle |
//! | `alertmanager.rs` | Debian's Alertmanager |
//! | `secured.rs` | an Alertmanager with passwords and certificates; a proxy |
//! | `webhook.rs` | a webhook that demands a certificate and a token, behind a proxy |
//! | `people.rs` | `tailback alerts`, and the advice over HTTP |
//! | `site.rs` | the commands of docs/alerts.md, of a site's database; its receivers |
//! | `schema.rs` | the JSON Schema of what is sent |
//! | `slurm.rs` | a real Slurm |
//! | `onset.rs` | latency from the onset to the webhook's arrival |

mod alertmanager;
mod delivery;
mod kill;
mod onset;
pub mod outbox;
mod people;
pub mod receiver;
mod schema;
mod secured;
mod site;
mod slurm;
mod webhook;
