//! What the lab does, and what its labelled cases are.

mod faults;
mod labels;
mod output;
mod physics;
mod routes;
