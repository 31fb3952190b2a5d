//! The streaming path end to end (`tailback run`): real Kafka, PostgreSQL and schema registry, simulated rows, and
//! after every disturbance tables that equal those of the undisturbed run, row for row.
//!
//! | module | what it holds |
//! |---|---|
//! | `site` | topics, database and configuration of one scenario |
//! | `rows` | the simulated rows, and what happens to them on their way |
//! | `feed` | rows to Kafka |
//! | `process` | a running `tailback` |
//! | `account` | whether every row that was pushed is counted |
//! | `tables` | what the database holds, as text; waiting until it does not change |
//! | `carried` | jobs that only the rows' own numbers show |
//! | `arrival`, `processes`, `outages`, `poison`, `avro`, `operation` | the scenarios |
//! | `forged`, `forgeries` | messages on Tailback's own topics that another program wrote |
//! | `lines` | lines of the log while something is broken |
//! | `created_again` | raw topics that are deleted and created again |
//! | `replayed` | the same rows through `tailback replay` |
//! | `typed` | a site set up by the commands of README and docs |
//! | `backup` | a dump, restored |
//! | `savepoint` | states exported and imported into another database |
//! | `secure` | a broker with TLS, user and password |
//! | `certificates` | a broker that demands certificates of its clients |
//! | `tokens`, `token_endpoint` | a broker that demands tokens, and the endpoint that gives them |
//! | `sampler` | rows of the native sampler |
//! | `silences` | a source that stops and returns, and all sources at once, at the clock's own pace |
//! | `progress` | what jobs report of their progress, over HTTP and by the clients |
//! | `heartbeat` | an Alertmanager that gets a heartbeat while the detector commits |
//!
//! `TAILBACK_SEED` draws other rows and other moments; `TAILBACK_PG_PLAIN=1` leaves TimescaleDB out; `TAILBACK_AWAY_S`
//! shortens the minute without a database.

mod account;
mod arrival;
mod avro;
mod backup;
mod carried;
mod certificates;
mod created_again;
mod feed;
mod forged;
mod forgeries;
mod forgotten;
mod heartbeat;
mod lines;
mod operation;
mod outages;
mod poison;
mod process;
mod processes;
mod progress;
mod replayed;
mod rows;
pub mod sampler;
mod savepoint;
mod secure;
mod silences;
mod site;
mod tables;
mod token_endpoint;
mod tokens;
mod typed;
