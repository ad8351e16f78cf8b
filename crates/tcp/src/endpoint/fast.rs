//! The fast ways of an endpoint, behind one door: segments that were predicted, and those of a repair. The other ways are
//! `exchange.rs`'s, which know everything; where both can be taken they lead to the same state.

mod predicted;
mod repair;

pub use repair::Repair;
