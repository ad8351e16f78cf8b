//! Peers of connections: prefixes of addresses, and shares of all peers.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use crate::error::KernelError;

/// Parts of all peers: a share is counted in millionths.
pub const ALL_PEERS: u32 = 1_000_000;

/// Bytes of the key of a prefix.
const KEY: usize = 24;

/// A prefix of IPv4 or IPv6 addresses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Prefix {
    address: IpAddr,
    length: u8,
}

impl Prefix {
    /// Returns the prefix of this length; `None` if it is longer than an address, or the address has bits after it.
    pub(crate) fn new(address: IpAddr, length: u8) -> Option<Self> {
        let bits = if address.is_ipv4() { 32 } else { 128 };
        let prefix = Self { address, length };
        (length <= bits && prefix.cleared() == address).then_some(prefix)
    }

    /// Returns the address without the bits after the prefix.
    fn cleared(self) -> IpAddr {
        match self.address {
            IpAddr::V4(address) => {
                let kept = u32::MAX.checked_shl(32 - u32::from(self.length)).unwrap_or(0);
                Ipv4Addr::from_bits(address.to_bits() & kept).into()
            }
            IpAddr::V6(address) => {
                let kept = u128::MAX.checked_shl(128 - u32::from(self.length)).unwrap_or(0);
                Ipv6Addr::from_bits(address.to_bits() & kept).into()
            }
        }
    }

    /// Returns the key of the map `prefixes` of rollout.bpf.c: the number of bits, the family, and the address in network order.
    pub(crate) fn key(self) -> [u8; KEY] {
        let mut key = [0; KEY];
        let family = match self.address {
            IpAddr::V4(address) => {
                key[8..12].copy_from_slice(&address.octets());
                4u32
            }
            IpAddr::V6(address) => {
                key[8..].copy_from_slice(&address.octets());
                6
            }
        };
        key[..4].copy_from_slice(&(32 + u32::from(self.length)).to_ne_bytes());
        key[4..8].copy_from_slice(&family.to_be_bytes());
        key
    }

    /// Returns the prefix with this key.
    pub(crate) fn from_key(key: &[u8]) -> Option<Self> {
        let key: &[u8; KEY] = key.try_into().ok()?;
        let bits = u32::from_ne_bytes([key[0], key[1], key[2], key[3]]);
        let address = match key[7] {
            4 => IpAddr::from(<[u8; 4]>::try_from(&key[8..12]).ok()?),
            _ => IpAddr::from(<[u8; 16]>::try_from(&key[8..]).ok()?),
        };
        Self::new(address, u8::try_from(bits.checked_sub(32)?).ok()?)
    }

    /// Returns whether an address is in both prefixes.
    pub fn overlaps(self, other: Self) -> bool {
        let (long, short) = if self.length >= other.length { (self, other) } else { (other, self) };
        long.address.is_ipv4() == short.address.is_ipv4()
            && Self { length: short.length, ..long }.cleared() == short.address
    }

    /// Returns whether the address is in the prefix.
    pub fn contains(self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        let length = if address.is_ipv4() { 32 } else { 128 };
        self.overlaps(Self { address, length })
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}

impl FromStr for Prefix {
    type Err = KernelError;

    fn from_str(text: &str) -> Result<Self, KernelError> {
        let refuse = |why: String| KernelError::Prefix { text: text.to_owned(), why };
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text, None),
        };
        let example = || "it is an address and a length, as in 192.0.2.0/24 or 2001:db8::/32".to_owned();
        let address: IpAddr = address.parse().map_err(|_| refuse(example()))?;
        let bits = if address.is_ipv4() { 32 } else { 128 };
        let length: u8 = match length {
            Some(length) if length.bytes().all(|byte| byte.is_ascii_digit()) => {
                length.parse().map_err(|_| refuse(format!("its length is 0 to {bits}")))?
            }
            Some(_) => return Err(refuse(example())),
            None => bits,
        };
        if length > bits {
            return Err(refuse(format!("its length is 0 to {bits}")));
        }
        // A connection with an IPv4-mapped peer is one with an IPv4 peer.
        let (address, length) = match (address.to_canonical(), length.checked_sub(96)) {
            (mapped @ IpAddr::V4(_), Some(length)) if address.is_ipv6() => (mapped, length),
            _ => (address, length),
        };
        Self::new(address, length).ok_or_else(|| {
            let meant = Self { address, length };
            refuse(format!("it has bits after the prefix; {}/{length} has none", meant.cleared()))
        })
    }
}

/// A share of all peers: those whose place is in a range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Share {
    /// The first place, in millionths.
    pub first: u32,
    /// Number of places.
    pub count: u32,
}

impl Share {
    /// All peers.
    pub const ALL: Self = Self { first: 0, count: ALL_PEERS };

    /// Returns whether the share has the peer.
    pub fn has(self, peer: IpAddr) -> bool {
        self.first <= place(peer) && place(peer) < self.first + self.count
    }

    /// Returns whether a peer can be in both shares.
    pub fn overlaps(self, other: Self) -> bool {
        self.first < other.first + other.count && other.first < self.first + self.count
    }
}

/// Writes the share as on the command line: `5%`, or `50%..100%` if it does not begin at 0.
impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |millionths: u32| {
            let text = format!("{}.{:04}", millionths / 10_000, millionths % 10_000);
            format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
        };
        if self.first > 0 {
            write!(f, "{}..", percent(self.first))?;
        }
        f.write_str(&percent(self.first + self.count))
    }
}

/// Returns the place of a peer among all peers, from 0 to 999,999. It depends on the IPv4 address, or on the first 64 bits of the IPv6
/// address, within which a host changes its address. It is the same on every machine. The twin is `place` of rollout.bpf.c.
pub fn place(peer: IpAddr) -> u32 {
    let number = match peer.to_canonical() {
        IpAddr::V4(address) => u64::from(address.to_bits()),
        IpAddr::V6(address) => u64::try_from(address.to_bits() >> 64).unwrap_or(0),
    };
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^= mixed >> 31;
    u32::try_from(((mixed >> 32) * u64::from(ALL_PEERS)) >> 32).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(text: &str) -> Prefix {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn a_prefix_is_an_address_with_a_length_and_no_bits_after_it() {
        for (text, shown) in [
            ("192.0.2.0/24", "192.0.2.0/24"),
            ("192.0.2.7", "192.0.2.7/32"),
            ("0.0.0.0/0", "0.0.0.0/0"),
            ("2001:db8::/32", "2001:db8::/32"),
            ("::/0", "::/0"),
            ("::1", "::1/128"),
            ("::ffff:192.0.2.0/120", "192.0.2.0/24"),
            ("::ffff:192.0.2.7", "192.0.2.7/32"),
            ("::ffff:0:0/96", "0.0.0.0/0"),
        ] {
            assert_eq!(prefix(text).to_string(), shown);
            assert_eq!(Prefix::from_key(&prefix(text).key()), Some(prefix(text)));
        }
        for (text, why) in [
            ("192.0.2.1/24", "192.0.2.0/24 has none"),
            ("2001:db8::1/32", "2001:db8::/32 has none"),
            ("::ffff:192.0.2.1/120", "192.0.2.0/24 has none"),
            ("192.0.2.0/33", "0 to 32"),
            ("::/129", "0 to 128"),
            ("::/300", "0 to 128"),
            ("192.0.2.0/+4", "as in"),
            ("192.0.2/24", "as in"),
            ("", "as in"),
            ("example.org", "as in"),
        ] {
            let error = text.parse::<Prefix>().expect_err(text).to_string();
            assert!(error.contains(why) && !error.contains('\n'), "{text}: {error}");
        }
    }

    #[test]
    fn prefixes_overlap_if_one_contains_the_other() {
        for (a, b, both) in [
            ("10.0.0.0/8", "10.1.0.0/16", true),
            ("10.0.0.0/8", "11.0.0.0/8", false),
            ("0.0.0.0/0", "2001:db8::/32", false),
            ("::/0", "10.0.0.0/8", false),
            ("2001:db8::/32", "2001:db8:1::/48", true),
            ("::/0", "::/0", true),
        ] {
            assert_eq!(
                (prefix(a).overlaps(prefix(b)), prefix(b).overlaps(prefix(a))),
                (both, both),
                "{a} {b}"
            );
        }
        assert!(prefix("10.0.0.0/8").contains("::ffff:10.9.8.7".parse().unwrap()), "a mapped address");
        assert!(!prefix("10.0.0.0/8").contains("11.0.0.0".parse().unwrap()));
    }

    #[test]
    fn a_share_has_its_part_of_all_peers_and_shares_next_to_each_other_have_none_in_common() {
        let (a, b) = (Share { first: 0, count: 50_000 }, Share { first: 50_000, count: 950_000 });
        assert!(!a.overlaps(b) && a.overlaps(Share::ALL));
        let peers = |of: Share| {
            let v4 = (0..100_000u32).map(|number| IpAddr::from(Ipv4Addr::from_bits(0x0a00_0000 + number)));
            v4.filter(|peer| of.has(*peer)).count()
        };
        assert_eq!(peers(a) + peers(b), 100_000);
        // Five standard deviations of a binomial distribution are 345.
        assert!(peers(a).abs_diff(5_000) < 345, "{}", peers(a));
        let v6 = (0..100_000u128).map(|number| Ipv6Addr::from_bits((0x2001_0db8_0000_0000 + number) << 64));
        let count = v6.filter(|peer| a.has((*peer).into())).count();
        assert!(count.abs_diff(5_000) < 345, "{count}");
    }

    #[test]
    fn the_place_of_a_peer_never_changes_nor_does_it_with_the_host_part_of_ipv6() {
        let place = |text: &str| place(text.parse().unwrap());
        assert_eq!(
            [place("192.0.2.1"), place("192.0.2.2"), place("2001:db8::")],
            [PLACES[0], PLACES[1], PLACES[2]]
        );
        assert_eq!(place("::ffff:192.0.2.1"), place("192.0.2.1"));
        assert_eq!(place("2001:db8::1"), place("2001:db8::ffff"));
    }

    /// Places that fleets rely on: another value here moves clients from one scheme to the other.
    const PLACES: [u32; 3] = [585_570, 976_252, 372_902];

    #[test]
    fn a_share_is_written_as_it_is_given() {
        for (share, text) in [
            (Share { first: 0, count: 50_000 }, "5%"),
            (Share { first: 50_000, count: 950_000 }, "5%..100%"),
            (Share { first: 0, count: 1_250 }, "0.125%"),
            (Share::ALL, "100%"),
        ] {
            assert_eq!(share.to_string(), text);
        }
    }
}
