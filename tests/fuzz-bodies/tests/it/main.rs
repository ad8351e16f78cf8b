//! Hosts that lie, receivers that are greedy, and the laws that hold for any input.

mod agreement;
mod greedy;
mod hiding;
mod judge;
mod packet_host;
mod random;
mod replay;
