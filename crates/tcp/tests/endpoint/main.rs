//! Endpoints against each other over a line, sentence by sentence.

mod connection;
mod line;
mod quick_start;
mod robustness;
mod trains;
