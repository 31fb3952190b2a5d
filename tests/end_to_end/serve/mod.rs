//! `tailback serve` over stores and databases that it did not write itself.
//!
//! | file | content |
//! |---|---|
//! | `serving.rs` | a running `tailback serve`, and requests to it |
//! | `stores.rs` | embedded stores of other versions |
//! | `both.rs` | the same rows in a store and in a database |
//! | `answers.rs` | answers from the database equal those from the store |
//! | `database.rs` | databases that are down, restarted, of another version, or unreadable |

mod answers;
mod both;
mod database;
mod serving;
mod stores;
