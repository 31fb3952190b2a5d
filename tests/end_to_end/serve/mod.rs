//! `tailback serve` over stores and databases that it did not write itself.
//!
//! | file | content |
//! |---|---|
//! | `serving.rs` | a running `tailback serve`, and requests to it |
//! | `silences.rs` | silences that are set and ended over HTTP; a token for reading |
//! | `stores.rs` | embedded stores of other versions |
//! | `both.rs` | the same rows in a store and in a database |
//! | `answers.rs` | answers from the database equal those from the store |
//! | `paths.rs` | the paths that both answer |
//! | `asking.rs` | `tailback ask`, and the answers of jobs from both |
//! | `clients.rs` | the clients in C and Python, against servers that answer, refuse, hang or are dead; what they send |
//! | `database.rs` | databases that are down, restarted, of another version, or unreadable |
//! | `pooled.rs` | a pooler before the database |
//! | `read_only.rs` | stores where nothing may be written |

mod answers;
mod asking;
mod both;
pub mod clients;
mod database;
mod paths;
mod pooled;
mod read_only;
pub mod serving;
mod silences;
mod stores;
