//! `tailback serve` over stores and databases that it did not write itself.
//!
//! | file | what it holds |
//! |---|---|
//! | `serving.rs` | a running `tailback serve`, and questions to it |
//! | `stores.rs` | embedded stores of other versions |
//! | `both.rs` | the same rows in a store and in a database |
//! | `answers.rs` | every answer from the database is that from the store |
//! | `database.rs` | databases that are away, restarted, of another version, or not to be read |

mod answers;
mod both;
mod database;
mod serving;
mod stores;
