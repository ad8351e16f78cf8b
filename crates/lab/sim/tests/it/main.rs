//! The simulator through its public interface: networks, ports, queue disciplines, traffic, and TCP across them.

mod aqm;
mod branch;
mod cpu;
mod network;
mod port;
mod probe;
mod rounds;
mod sent;
mod tcp;
mod traffic;
mod writes;
