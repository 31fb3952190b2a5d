//! The post-mortem of a job, two runs side by side, and the explanation of an episode: read from the embedded store or from
//! PostgreSQL, returned as text, JSON or HTML. It prints nothing.
//!
//! | module | what it holds |
//! |---|---|
//! | `source` | [`Source`], the store or PostgreSQL; it reads in one transaction |
//! | `error` | [`ReportError`] |
//! | `nearest_jobs` | known jobs with a similar number |
//! | `post_mortem` | [`PostMortem`], the facts of a job, and the numbers that follow from them |
//! | `text`, `episode_table`, `unknowns` | a post-mortem as text: the page, its table of episodes, its last part |
//! | `json` | a post-mortem as one JSON object |
//! | `html`, `timeline`, `page.css` | a post-mortem as one page of HTML, and its drawing |
//! | `summary`, `breakdown` | nodes and loss, factors and regions: lines that text and HTML have in common |
//! | `comparison` | [`Comparison`], two runs side by side, as text, JSON and cells of HTML |
//! | `explanation` | [`Explanation`] of an episode, as text and JSON |
//! | `numbers`, `labels` | numbers with units and times; causes, kinds and metrics in words |
//! | `node_list`, `sparkline` | node lists as schedulers write them; loss over time in one line |

mod breakdown;
mod comparison;
mod episode_table;
mod error;
mod explanation;
mod html;
mod json;
mod labels;
mod nearest_jobs;
mod node_list;
mod numbers;
mod post_mortem;
mod source;
mod sparkline;
mod summary;
mod text;
mod timeline;
mod unknowns;

pub use comparison::Comparison;
pub use error::ReportError;
pub use explanation::Explanation;
pub use post_mortem::PostMortem;
pub use source::Source;

#[cfg(test)]
#[path = "../tests/main.rs"]
mod integration;
