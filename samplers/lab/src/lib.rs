//! All stages in one process, on simulated machines and on recorded rows: experiments whose truth is known, configurations
//! scored, the demo, and replays.
//!
//! | module | what it holds |
//! |---|---|
//! | [`experiment`] | the file of an experiment |
//! | [`machine`] | its network |
//! | [`storage`] | what a job writes |
//! | [`select`] | placement of jobs |
//! | [`case`] | from words to a lab that can be played |
//! | [`play`] | a case through all stages |
//! | [`adapting`] | jobs that ask and move their writes, beside the same that do not |
//! | `paths` | the reported state of hosts whose links fail |
//! | [`measure`] | what can be expected |
//! | [`facts`] | its values |
//! | `calculations` | requests and messages by themselves |
//! | [`expect`] | expectations and whether they hold |
//! | [`run`] | experiments played, several cases at a time |
//! | [`record`] | a case as rows, jobs, topology and truth |
//! | [`outcome`] | what came out, in a file |
//! | [`report`] | outcomes as table, page and pictures |
//! | `picture` | a case as SVG |
//! | [`calibration`] | how often intervals hold the truth |
//! | `reliability` | its diagram as SVG |
//! | [`builtin`] | experiments that the binary brings along |
//! | [`truth`] | random scenarios of known loss, and how far results are from it |
//! | [`backtest`] | configurations scored by the truth, and which one is best |
//! | [`demo`] | the simulated cluster, live, into a store |
//! | [`replay`] | recorded rows to files and a store |
//! | [`files`] | files that are written |

pub mod adapting;
pub mod backtest;
pub mod builtin;
mod calculations;
pub mod calibration;
pub mod case;
pub mod demo;
pub mod expect;
pub mod experiment;
pub mod facts;
pub mod files;
pub mod machine;
pub mod measure;
pub mod outcome;
mod paths;
mod picture;
pub mod play;
pub mod record;
mod reliability;
pub mod replay;
pub mod report;
pub mod run;
pub mod select;
pub mod storage;
pub mod truth;
