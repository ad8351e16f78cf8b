//! Two endpoints over a line, tested statement by statement.

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
