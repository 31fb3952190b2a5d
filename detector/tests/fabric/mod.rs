//! Regions, kinds, causes and losses on links against the truth of the lab, and the limits that must hold.
//!
//! | module | what it holds |
//! |---|---|
//! | `play` | a labelled case through detector and fabric |
//! | `score` | what was found, compared with the truth |
//! | `quiet` | ordinary traffic that comes and goes |
//! | `narrow` | narrowed cables, with other jobs near |
//! | `slowdown` | slowdowns of jobs and their intervals |
//! | `victims` | losses of regions beside those of their jobs |
//! | `table` | `detector/ACCURACY_LINKS.md` |
//! | `papers` | checks of the papers |
//!
//! `UPDATE_ACCURACY=1 cargo test --release -p detector fabric::` writes the tables again.

mod narrow;
mod papers;
mod play;
mod quiet;
mod score;
mod slowdown;
mod table;
mod victims;
