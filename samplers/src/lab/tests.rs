//! What the lab does, and what its labelled cases are.

mod labels;
mod output;
mod physics;
