//! The two hosts.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// One of the two hosts.
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
    /// IPv4.
    pub v4: Ipv4Addr,
    /// IPv6, a unique local address (RFC 4193).
    pub v6: Ipv6Addr,
}

/// Host A, which has the addresses of the client in captures of races.
pub const A: Host =
    Host { v4: Ipv4Addr::new(10, 0, 0, 1), v6: Ipv6Addr::new(0xfd00, 0xff, 0, 0, 0, 0, 0, 1) };
/// Host B, which has the addresses of the server in captures of races.
pub const B: Host =
    Host { v4: Ipv4Addr::new(10, 0, 0, 2), v6: Ipv6Addr::new(0xfd00, 0xff, 0, 0, 0, 0, 0, 2) };

impl Side {
    /// Both, A first.
    pub const BOTH: [Self; 2] = [Self::A, Self::B];

    /// The other host.
    pub const fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }

    /// The addresses of the host.
    pub const fn host(self) -> Host {
        match self {
            Self::A => A,
            Self::B => B,
        }
    }

    /// The letter that names the host.
    pub const fn name(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
        }
    }
}

impl Host {
    /// Whether the address is one of the host's.
    pub fn has(&self, address: IpAddr) -> bool {
        address == IpAddr::V4(self.v4) || address == IpAddr::V6(self.v6)
    }
}
