//! Commands: arguments, a call of a library, and what is printed.
//!
//! | module | what it holds |
//! |---|---|
//! | [`backtest`] | `tailback backtest`: configurations scored on rows whose truth is known |
//! | [`lab`] | `tailback lab`: experiments on simulated machines |

pub mod backtest;
pub mod lab;
