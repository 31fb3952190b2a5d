//! What the detector and the roll-up do with a partition, without Kafka, database and clock; and the runner of both in one
//! process.
//!
//! | module | what it holds |
//! |---|---|
//! | [`stage`] | what a stage does with a partition, apart from where messages come from and results go |
//! | [`detecting`] | the detector: order, jobs, models |
//! | [`rolling`] | the roll-up: parts of jobs to results, links to regions, alerts |
//! | [`in_process`] | the runner without Kafka: rows in the order of time, one partition |
//! | [`messages`] | messages between stages, and their bytes in Kafka |
//! | [`job_parts`] | what one partition knows of a job |
//! | [`labels`] | labels of metrics that are names of a site |
//! | [`links`] | updates of links, from all detector partitions to the one that looks at all |
//! | [`alert_updates`] | bytes of updates of series and jobs, from all partitions to the one that judges alerts |
//! | [`verdict`] | messages for other programs |
//! | [`state`] | versions of written states, and converters of older ones |
//! | [`wrong_clocks`] | producers whose clocks are ahead |

pub mod alert_updates;
pub mod detecting;
pub mod in_process;
pub mod job_parts;
pub mod labels;
pub mod links;
pub mod messages;
pub mod rolling;
pub mod stage;
pub mod state;
pub mod verdict;
pub mod wrong_clocks;
