//! Hosts that lie, receivers that are greedy, and the laws on whatever happens.

mod agreement;
mod conformance;
mod greedy;
mod hiding;
mod judge;
mod packet_host;
mod random;
mod replay;
