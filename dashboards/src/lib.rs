//! The built-in page and its server: an embedded web page and a JSON API over the embedded store or a PostgreSQL database.
//!
//! | module | what it holds |
//! |---|---|
//! | [`server`] | [`PageConfig`], [`bind`], [`BoundPage`], [`serve`]: the public door |
//! | [`progress`] | [`Progress`], what the run tells the page at each tick |
//! | [`router`] | which path goes to which answer |
//! | [`guard`] | foreign `Host` and `Origin` headers refused, security headers set |
//! | [`connections`] | connections bounded in number and time |
//! | `occupancy` | which connections are idle, and since when |
//! | [`page_files`] | the HTML, CSS and JavaScript, embedded in the binary |
//! | [`reader`] | where answers come from, asked off the async threads |
//! | [`store`] | one question to either store |
//! | [`sqlite`] | the embedded store, opened read-only |
//! | [`postgres`] | the server's store: connections that may only read |
//! | [`answer`] | errors as JSON, checked query parameters |
//! | [`now`] | `/api/v1/now`, the latest signal of every series in columns |
//! | [`episodes`] | `/api/v1/episodes` |
//! | [`series`] | `/api/v1/series/{name}/points` and `/counters` |
//! | [`points`] | signals of one series over time, thinned |
//! | [`counters`] | what the raw counters behind one series did |
//! | [`spans`] | episodes of one series as stretches to shade |
//! | [`jobs`] | `/api/v1/jobs` |
//! | [`beside`] | `/api/v1/jobs/{id}/neighbours` and `/earlier`, what a job is compared with |
//! | [`loss_curve`] | how a job's loss grew, from its episodes |
//! | [`fabric`] | `/api/v1/fabric`, groups, switches, classes of links, parallel links, worst links, contended regions |
//! | [`regions`] | `/api/v1/regions`, the history of one region |
//! | [`tiles`] | `/api/v1/routers/{name}`, the tiles of an Aries router |
//! | [`files`] | `/api/v1/files`, what is written to each file system |
//! | [`placement`] | `/api/v1/placement`, what a job on some nodes would meet now |
//! | [`advice`] | `/api/v1/advice`, what a scheduler should know now |
//! | [`health`] | `/api/v1/health`, the monitoring watched |
//! | [`health_history`] | `/api/v1/health/history`, the same over time |
//! | [`paid`] | `/api/v1/paid`, node-hours lost by hour and cause |
//! | [`stream`] | `/api/v1/stream`, server-sent events |

pub mod advice;
pub mod answer;
pub mod beside;
pub mod connections;
pub mod counters;
pub mod episodes;
pub mod fabric;
pub mod files;
pub mod guard;
pub mod health;
pub mod health_history;
pub mod jobs;
pub mod loss_curve;
pub mod now;
mod occupancy;
pub mod page_files;
pub mod paid;
pub mod placement;
pub mod points;
pub mod postgres;
pub mod progress;
pub mod reader;
pub mod regions;
pub mod router;
pub mod series;
pub mod server;
pub mod spans;
pub mod sqlite;
pub mod store;
pub mod stream;
pub mod tiles;

pub use progress::Progress;
pub use reader::Source;
pub use server::{BoundPage, PageConfig, PageError, bind, serve};

#[cfg(test)]
extern crate self as dashboards;
#[cfg(test)]
#[path = "../tests/main.rs"]
mod integration;
