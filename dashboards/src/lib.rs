//! The HTTP server of `run`, `serve` and `demo`: a web page and a JSON API over the embedded store or a PostgreSQL
//! database, metrics and health of the process.
//!
//! | module | content |
//! |---|---|
//! | [`server`] | [`ServerConfig`], [`bind`], [`BoundServer`]: the public interface |
//! | [`progress`] | [`Progress`], the progress of the run at each tick |
//! | [`router`] | the routes |
//! | [`process`] | `/metrics`, `/healthz`, `/readyz` |
//! | [`access`] | who may use a route |
//! | [`login`] | tokens, and the sessions that browsers make with them |
//! | [`session`] | `/api/v1/session`, log in and out |
//! | [`guard`] | foreign `Host` and `Origin` headers refused, security headers set |
//! | [`connections`] | connections bounded in number and time |
//! | `occupancy` | idle connections, and since when |
//! | [`page_files`] | the HTML, CSS and JavaScript, embedded in the binary |
//! | [`reader`] | queries of the store, on blocking threads |
//! | [`readings`] | readings of all series that events and answers share |
//! | [`sqlite`] | the embedded store, opened read-only |
//! | [`postgres`] | the database, over read-only connections |
//! | [`answer`] | errors as JSON, checked query parameters |
//! | [`now`] | `/api/v1/now`, the latest signal of every series in columns |
//! | [`list_query`] | filters and order of the lists of jobs, episodes and incidents |
//! | [`episodes`] | `/api/v1/episodes` |
//! | [`series`] | `/api/v1/series/{name}/points` and `/counters` |
//! | [`points`] | signals of one series over time, thinned |
//! | [`counters`] | raw counters behind one series |
//! | [`spans`] | episodes of one series as stretches to shade |
//! | [`jobs`] | `/api/v1/jobs` |
//! | [`contention`] | `/api/v1/jobs/{id}/contention`, what a running job is answered that asks; who may report its progress |
//! | [`job_token`] | tokens with which a job reads its own answer and reports its progress |
//! | [`unix_users`] | names of Unix users |
//! | [`blame`] | `/api/v1/blame` and `/api/v1/jobs/{id}/caused`, who lost how much to whom |
//! | [`beside`] | `/api/v1/jobs/{id}/neighbours` and `/earlier`, comparison of a job with others |
//! | [`loss_curve`] | loss of a job over time, from its episodes |
//! | [`report_page`] | `/api/v1/jobs/{id}/report`, the post-mortem of a job |
//! | [`map`] | `/api/v1/map`, `/api/v1/map/now`, `/api/v1/jobs/{id}/footprint`, the topology and its states |
//! | [`history`] | `/api/v1/history`, contention of the latest hours by steps |
//! | [`fabric`] | `/api/v1/fabric`, groups, switches, link classes, parallel links, worst links, regions |
//! | [`regions`] | `/api/v1/regions`, the history of one region |
//! | [`tiles`] | `/api/v1/routers/{name}`, the tiles of an Aries router |
//! | [`files`] | `/api/v1/files`, rates of the clients of file systems |
//! | [`metrics`] | `/api/v1/metrics`, the catalogue of metrics |
//! | [`placement`] | `/api/v1/placement`, what a job would meet on given nodes, and what is known of its application |
//! | [`advice`] | `/api/v1/advice`, current advice for a scheduler |
//! | [`alerts`] | `/api/v1/alerts`, incidents with their deliveries, and silences |
//! | [`health`] | `/api/v1/health`, the health of the monitoring |
//! | [`health_history`] | `/api/v1/health/history`, the same over time |
//! | [`incidents`] | `/api/v1/incidents`: regions and contention of file systems in one list |
//! | [`paid`] | `/api/v1/paid`, node-hours lost by hour and cause |
//! | [`stream`] | `/api/v1/stream`, server-sent events |
//! | [`totals`] | counts and sums over all series and jobs |

pub mod access;
pub mod advice;
pub mod alerts;
pub mod answer;
pub mod beside;
pub mod blame;
pub mod connections;
pub mod contention;
pub mod counters;
pub mod episodes;
pub mod fabric;
pub mod files;
pub mod guard;
pub mod health;
pub mod health_history;
pub mod history;
pub mod incidents;
pub mod job_token;
pub mod jobs;
pub mod list_query;
pub mod login;
pub mod loss_curve;
pub mod map;
pub mod metrics;
pub mod now;
mod occupancy;
pub mod page_files;
pub mod paid;
pub mod placement;
pub mod points;
pub mod postgres;
pub mod process;
pub mod progress;
pub mod reader;
pub mod readings;
pub mod regions;
pub mod report_page;
pub mod router;
pub mod series;
pub mod server;
pub mod session;
pub mod spans;
pub mod sqlite;
pub mod stream;
pub mod tiles;
pub mod totals;
pub mod unix_users;

pub use progress::Progress;
pub use reader::Source;
pub use server::{BoundServer, Page, ServerConfig, ServerError, bind};

#[cfg(test)]
extern crate self as dashboards;
#[cfg(test)]
#[path = "../tests/main.rs"]
mod integration;
