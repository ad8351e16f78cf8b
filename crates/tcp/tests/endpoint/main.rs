//! Endpoints against each other over a line, sentence by sentence.

mod connection;
mod line;
mod quick_start;
mod rack;
mod robustness;
mod segments;
mod trains;
