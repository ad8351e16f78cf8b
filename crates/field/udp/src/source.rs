//! The part of an address for which peers are counted together.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

/// The part of a peer's address for which a host limits its peers. It is an IPv4 address, or the first 64 bits of an IPv6 address, because
/// one host may have all addresses with these bits (RFC 4291 section 2.5.1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Source(IpAddr);

impl Source {
    /// Returns the source of an address.
    pub fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V6(whole) => {
                let [a, b, c, d, ..] = whole.segments();
                Self(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into())
            }
            v4 @ IpAddr::V4(_) => Self(v4),
        }
    }

    /// Returns the IPv4 address, or the IPv6 address of the network.
    pub fn address(self) -> IpAddr {
        self.0
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            IpAddr::V4(address) => address.fmt(f),
            IpAddr::V6(network) => write!(f, "{network}/64"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_an_ipv4_address_or_a_network_of_64_bits() {
        let source = |address: &str| Source::of(address.parse().unwrap()).to_string();
        assert_eq!(source("192.0.2.7"), "192.0.2.7");
        assert_eq!(source("::ffff:192.0.2.7"), "192.0.2.7");
        assert_eq!(source("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
    }
}
