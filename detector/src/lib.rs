//! detector
pub mod coverage;
pub mod detector;
pub mod episodes;
pub mod equations;
pub mod evidence;
pub mod ingest;
pub mod jobs;
pub mod model;
pub mod score;
pub mod settings;
pub mod store;
