//! The post-mortem of a job, two runs side by side, and the explanation of an episode: read from the embedded store or from
//! PostgreSQL, returned as text, JSON or HTML. It prints nothing.
//!
//! | module | what it holds |
//! |---|---|
//! | `source` | [`Source`], the store or PostgreSQL; it reads in one transaction |
//! | `error` | [`ReportError`] |
//! | `nearest_jobs` | known jobs with a similar number |
//! | `post_mortem` | [`PostMortem`], the facts of a job, and the numbers that follow from them |
//! | `headline`, `comment` | a post-mortem in one sentence, and in at most 50 characters |
//! | `advice`, `caused` | what can be done about a loss; what the job cost others |
//! | `stamp` | [`Stamp`]: version, date, the job's address on the page |
//! | `text`, `episode_table`, `unknowns`, `wrapping` | a post-mortem as text: the page, its table of episodes, its last part, the width of lines |
//! | `mail` | a post-mortem as a mail |
//! | `job_list` | [`JobList`]: jobs as a table |
//! | `json` | a post-mortem as one JSON object |
//! | `html`, `timeline`, `page.css` | a post-mortem as one page of HTML, and its drawing |
//! | `summary`, `breakdown` | nodes and loss, factors and regions: lines that text and HTML have in common |
//! | `comparison` | [`Comparison`], two runs side by side, as text, JSON and cells of HTML |
//! | `explanation` | [`Explanation`] of an episode, as text and JSON |
//! | `pace` | whether a job was slow without contention |
//! | `numbers`, `labels` | numbers with units and times; causes, kinds and metrics in words |
//! | `node_list`, `sparkline` | node lists as schedulers write them; loss over time in one line |

mod advice;
mod breakdown;
mod caused;
mod comment;
mod comparison;
mod episode_table;
mod error;
mod explanation;
mod headline;
mod html;
mod job_list;
mod json;
mod labels;
mod mail;
mod nearest_jobs;
mod node_list;
mod numbers;
mod pace;
mod post_mortem;
mod source;
mod sparkline;
mod stamp;
mod summary;
mod text;
mod timeline;
mod unknowns;
mod wrapping;

pub use comparison::Comparison;
pub use error::ReportError;
pub use explanation::Explanation;
pub use html::PAGE_STYLE;
pub use job_list::{JobFilter, JobList};
pub use post_mortem::PostMortem;
pub use source::Source;
pub use stamp::Stamp;

#[cfg(test)]
#[path = "../tests/main.rs"]
mod integration;
