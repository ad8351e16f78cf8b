//! The hosts and ports of a packet.

use std::net::{Ipv4Addr, Ipv6Addr};

/// The two hosts of a packet. The family of their addresses determines the IP version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hosts {
    /// IPv4.
    V4 {
        /// The sender.
        source: Ipv4Addr,
        /// The receiver.
        destination: Ipv4Addr,
    },
    /// IPv6.
    V6 {
        /// The sender.
        source: Ipv6Addr,
        /// The receiver.
        destination: Ipv6Addr,
    },
}

/// The hosts and ports of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Addresses {
    /// The two hosts.
    pub hosts: Hosts,
    /// TCP port of the sender.
    pub source_port: u16,
    /// TCP port of the receiver.
    pub destination_port: u16,
}
