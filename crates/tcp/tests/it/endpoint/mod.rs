//! Endpoints against each other over a line, sentence by sentence.

mod connection;
mod handshake;
mod line;
mod marks;
mod probes;
mod quick_start;
mod rack;
mod ranges;
mod reductions;
mod robustness;
mod segments;
mod stacks;
mod trains;
