//! The two hosts at the ends of an emulated path, and their addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// One of the two hosts at the ends of an emulated path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Side {
    /// Host A.
    A = 0,
    /// Host B.
    B = 1,
}

/// The addresses of a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Host {
    /// The IPv4 address.
    pub v4: Ipv4Addr,
    /// The IPv6 address, a unique local address (RFC 4193).
    pub v6: Ipv6Addr,
}

/// Host A. It has the addresses of the client in captures of races.
pub const A: Host =
    Host { v4: Ipv4Addr::new(10, 0, 0, 1), v6: Ipv6Addr::new(0xfd00, 0xff, 0, 0, 0, 0, 0, 1) };
/// Host B. It has the addresses of the server in captures of races.
pub const B: Host =
    Host { v4: Ipv4Addr::new(10, 0, 0, 2), v6: Ipv6Addr::new(0xfd00, 0xff, 0, 0, 0, 0, 0, 2) };

impl Side {
    /// Both hosts, A first.
    pub const BOTH: [Self; 2] = [Self::A, Self::B];

    /// Returns the other host.
    pub const fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }

    /// Returns the addresses of the host.
    pub const fn host(self) -> Host {
        match self {
            Self::A => A,
            Self::B => B,
        }
    }

    /// Returns the letter that names the host.
    pub const fn name(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
        }
    }
}

impl Host {
    /// Returns whether the address is one of the host's.
    pub fn has(&self, address: IpAddr) -> bool {
        address == IpAddr::V4(self.v4) || address == IpAddr::V6(self.v6)
    }
}
