//! The native sampler over trees of kernel files: made from recorded ones, changed while it runs.
//!
//! | module | what it holds |
//! |---|---|
//! | `tree` | the trees |
//! | `support` | an injected clock, rows as the decoder sees them |
//! | `recorded` | the same kernel files give the same rows as LDMS |
//! | `devices` | devices and mounts come, go and hold garbage |
//! | `looping` | ticks under an injected clock |
//! | `outputs` | files, sockets, readers that are absent |
//! | `waits` | waits for Lustre's servers, refusals of Slingshot's packets |
mod devices;
mod looping;
mod outputs;
mod recorded;
mod support;
mod tree;
mod waits;
