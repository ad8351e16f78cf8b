//! Quick-Start's bytes (RFC 4782): the request and report in the IP header, the response in the TCP header.
//!
//! All three carry a rate code and a nonce of 30 bits; the nonce is right-aligned here.

use firstflight::Rate;
use thiserror::Error;

/// IPv4 option: copy 0, class 00, number 25 (RFC 4782 section 3.1).
const IPV4_TYPE: u8 = 25;
/// IPv6 hop-by-hop option: skip if unknown, may change on the way, number 6 (section 3.2).
const IPV6_TYPE: u8 = 0x26;
/// TCP option (section 4.2).
const TCP_KIND: u8 = 27;
/// Bytes of the IPv4 and of the TCP option, kind and length included.
const LENGTH: u8 = 8;
/// What the IPv6 option's length field says: it leaves out type and length.
const IPV6_LENGTH: u8 = 6;
/// The function field of a request and of a report of the approved rate (section 3.1).
const REQUEST: u8 = 0;
const REPORT: u8 = 8;
/// The bits of a nonce.
const NONCE: u32 = (1 << 30) - 1;

/// A rate as Quick-Start says it: code 0 is no rate, code N is 40 kbit/s × 2^N, up to code 15 (table 1). It
/// counts TCP and IP headers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct RateCode(u8);

impl RateCode {
    /// No rate: the request is denied.
    pub const DENIED: Self = Self(0);
    /// 1.31072 Gbit/s, the highest.
    pub const MAX: Self = Self(15);

    /// The code `code`, if there is one: 0 to 15.
    pub const fn new(code: u8) -> Option<Self> {
        if code <= 15 { Some(Self(code)) } else { None }
    }

    /// The code.
    pub const fn get(self) -> u8 {
        self.0
    }

    /// The rate that the code says.
    pub const fn rate(self) -> Rate {
        Rate::from_bps(if self.0 == 0 { 0 } else { 40_000 << self.0 })
    }

    /// The least code whose rate is at least `rate`, or the highest: what a sender asks for.
    pub fn up(rate: Rate) -> Self {
        (0..15).map(Self).find(|code| code.rate() >= rate).unwrap_or(Self::MAX)
    }

    /// The highest code whose rate is at most `rate`: what a router grants.
    pub fn down(rate: Rate) -> Self {
        (0..=15).rev().map(Self).find(|code| code.rate() <= rate).unwrap_or(Self::DENIED)
    }
}

/// A nonce of 30 bits, by which the sender sees whether anybody but a router raised the rate (section 3.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Nonce(u32);

impl Nonce {
    /// The nonce of the low 30 bits of `bits`.
    pub const fn new(bits: u32) -> Self {
        Self(bits & NONCE)
    }

    /// The nonce, right-aligned.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// What a router that lowers the rate `from` a code `to` a lower one sends on: each step down overwrites
    /// its own pair of bits with random ones, so that nobody further on can undo it.
    pub const fn lowered(self, from: RateCode, to: RateCode, random: u32) -> Self {
        let overwritten = below(from) & !below(to);
        Self((self.0 & !overwritten) | (random & overwritten))
    }

    /// Whether a nonce that came back with the rate `code` can be what became of this one: the pairs of the
    /// steps below are as they were sent.
    pub const fn agrees(self, returned: Self, code: RateCode) -> bool {
        (self.0 ^ returned.0) & below(code) == 0
    }
}

/// The pairs of bits of the steps from `code` down: the low two of the nonce for each.
const fn below(code: RateCode) -> u32 {
    (1 << (2 * code.0)) - 1
}

/// The TTL Diff of a request as it arrives: equal to the one at the sender if every router on the way has
/// approved it (section 3.1).
pub const fn ttl_diff(ip_ttl: u8, quick_start_ttl: u8) -> u8 {
    ip_ttl.wrapping_sub(quick_start_ttl)
}

/// The option of the IP header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IpOption {
    /// A sender asks, and routers approve, lower or deny.
    Request {
        /// The rate asked for, as lowered so far.
        rate: RateCode,
        /// QS TTL: routers that approve lower it along with the IP header's.
        ttl: u8,
        /// The nonce.
        nonce: Nonce,
    },
    /// A sender tells the routers what was approved.
    Report {
        /// The rate approved.
        rate: RateCode,
        /// The request's nonce.
        nonce: Nonce,
    },
}

/// The option of the TCP header: the receiver's answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Response {
    /// The rate that arrived, or a lower one.
    pub rate: RateCode,
    /// [`ttl_diff`] of the request as it arrived.
    pub ttl_diff: u8,
    /// The nonce that arrived.
    pub nonce: Nonce,
}

/// Bytes that are no Quick-Start option.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum QuickStartError {
    /// The option is of another type or length, or is not there whole.
    #[error(
        "a Quick-Start option begins with the bytes {wanted:02x?} and is 8 bytes long; found {found:02x?}"
    )]
    Head {
        /// Type and length as they must be.
        wanted: [u8; 2],
        /// The first bytes found, as far as there are any.
        found: [Option<u8>; 2],
    },
    /// The function field is neither a request nor a report.
    #[error("Quick-Start function {0}; 0 (request) and 8 (report of the approved rate) are known")]
    Function(u8),
}

impl IpOption {
    /// As an IPv4 option; the header's checksum then has to follow.
    pub fn to_ipv4(self) -> [u8; 8] {
        assemble([IPV4_TYPE, LENGTH], self.body())
    }

    /// As an option of IPv6's hop-by-hop header.
    pub fn to_ipv6(self) -> [u8; 8] {
        assemble([IPV6_TYPE, IPV6_LENGTH], self.body())
    }

    /// Reads an IPv4 option that begins at the first byte; bytes after it are left alone.
    ///
    /// # Errors
    /// When the bytes are no Quick-Start option, or its function is unknown.
    pub fn from_ipv4(bytes: &[u8]) -> Result<Self, QuickStartError> {
        Self::from_body(body_after([IPV4_TYPE, LENGTH], bytes)?)
    }

    /// Reads an option of IPv6's hop-by-hop header that begins at the first byte.
    ///
    /// # Errors
    /// When the bytes are no Quick-Start option, or its function is unknown.
    pub fn from_ipv6(bytes: &[u8]) -> Result<Self, QuickStartError> {
        Self::from_body(body_after([IPV6_TYPE, IPV6_LENGTH], bytes)?)
    }

    fn body(self) -> [u8; 6] {
        match self {
            Self::Request { rate, ttl, nonce } => body(REQUEST, rate, ttl, nonce),
            Self::Report { rate, nonce } => body(REPORT, rate, 0, nonce),
        }
    }

    fn from_body(bytes: [u8; 6]) -> Result<Self, QuickStartError> {
        let (function, rate, ttl, nonce) = split(bytes);
        match function {
            REQUEST => Ok(Self::Request { rate, ttl, nonce }),
            REPORT => Ok(Self::Report { rate, nonce }),
            other => Err(QuickStartError::Function(other)),
        }
    }
}

impl Response {
    /// As a TCP option.
    pub fn to_tcp(self) -> [u8; 8] {
        assemble([TCP_KIND, LENGTH], body(0, self.rate, self.ttl_diff, self.nonce))
    }

    /// Reads a TCP option that begins at the first byte; the reserved bits are not looked at.
    ///
    /// # Errors
    /// When the bytes are no Quick-Start response.
    pub fn from_tcp(bytes: &[u8]) -> Result<Self, QuickStartError> {
        let (_, rate, ttl_diff, nonce) = split(body_after([TCP_KIND, LENGTH], bytes)?);
        Ok(Self { rate, ttl_diff, nonce })
    }
}

/// The six bytes that the three options have in common.
fn body(function: u8, rate: RateCode, ttl: u8, nonce: Nonce) -> [u8; 6] {
    let [a, b, c, d] = (nonce.0 << 2).to_be_bytes();
    [function << 4 | rate.0, ttl, a, b, c, d]
}

/// Function, rate, TTL or TTL Diff, nonce.
fn split([first, ttl, a, b, c, d]: [u8; 6]) -> (u8, RateCode, u8, Nonce) {
    (first >> 4, RateCode(first & 0xF), ttl, Nonce(u32::from_be_bytes([a, b, c, d]) >> 2))
}

fn assemble(head: [u8; 2], body: [u8; 6]) -> [u8; 8] {
    let mut option = [0; 8];
    option[..2].copy_from_slice(&head);
    option[2..].copy_from_slice(&body);
    option
}

fn body_after(wanted: [u8; 2], bytes: &[u8]) -> Result<[u8; 6], QuickStartError> {
    bytes
        .split_first_chunk()
        .filter(|(head, _)| **head == wanted)
        .and_then(|(_, rest)| rest.first_chunk().copied())
        .ok_or(QuickStartError::Head { wanted, found: [bytes.first().copied(), bytes.get(1).copied()] })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(number: u8) -> RateCode {
        RateCode::new(number).unwrap()
    }

    #[test]
    fn each_code_doubles_the_rate_from_80_kbit_to_1_3_gbit() {
        let rates: Vec<u64> = (0..=15).map(|number| code(number).rate().bps()).collect();
        // RFC 4782 table 1.
        let table = [
            0,
            80_000,
            160_000,
            320_000,
            640_000,
            1_280_000,
            2_560_000,
            5_120_000,
            10_240_000,
            20_480_000,
            40_960_000,
            81_920_000,
            163_840_000,
            327_680_000,
            655_360_000,
            1_310_720_000,
        ];
        assert_eq!(rates, table);
        assert_eq!(RateCode::new(16), None);
    }

    #[test]
    fn a_sender_rounds_up_and_a_router_down() {
        let codes = |bps| {
            let rate = Rate::from_bps(bps);
            (RateCode::up(rate).get(), RateCode::down(rate).get())
        };
        assert_eq!(codes(4_700_000), (7, 6));
        assert_eq!(codes(5_120_000), (7, 7));
        assert_eq!(codes(1_400_000_000), (15, 15));
        assert_eq!(codes(79_999), (1, 0));
        assert_eq!(codes(0), (0, 0));
    }

    #[test]
    fn a_nonce_is_checked_in_the_pairs_of_the_steps_not_taken() {
        let sent = Nonce::new(0xFFFF_FFFF);
        assert_eq!(sent.get(), 0x3FFF_FFFF);
        assert_eq!(below(code(7)), 0x3FFF);
        assert!(sent.agrees(Nonce::new(0x3FFF), code(7)));
        assert!(!sent.agrees(Nonce::new(0x1FFF), code(7)));
        assert!(!sent.agrees(Nonce::new(0x1FFF_FFFF), RateCode::MAX));
        assert!(sent.agrees(Nonce::new(0), RateCode::DENIED));
    }

    #[test]
    fn a_router_that_lowers_by_two_steps_overwrites_two_pairs() {
        let sent = Nonce::new(0x1234_5678);
        let lowered = sent.lowered(code(7), code(5), !sent.get());
        assert_eq!(lowered.get() ^ sent.get(), 0b1111 << 10);
        assert!(sent.agrees(lowered, code(5)));
        assert!(!sent.agrees(lowered, code(6)));
        assert_eq!(sent.lowered(code(7), code(7), !sent.get()), sent);
    }

    #[test]
    fn a_request_that_every_hop_counts_keeps_its_ttl_diff() {
        assert_eq!(ttl_diff(64, 10), 54);
        assert_eq!(ttl_diff(64 - 5, 10 - 5), 54);
        assert_eq!(ttl_diff(3, 250), 9);
    }

    const NONCE_BITS: Nonce = Nonce::new(0x2AAA_AAA9);

    #[test]
    fn the_options_have_the_bytes_of_the_rfc_and_read_back() {
        let request = IpOption::Request { rate: code(7), ttl: 10, nonce: NONCE_BITS };
        assert_eq!(request.to_ipv4(), [25, 8, 0x07, 10, 0xAA, 0xAA, 0xAA, 0xA4]);
        assert_eq!(request.to_ipv6(), [0x26, 6, 0x07, 10, 0xAA, 0xAA, 0xAA, 0xA4]);
        let report = IpOption::Report { rate: code(6), nonce: NONCE_BITS };
        assert_eq!(report.to_ipv4(), [25, 8, 0x86, 0, 0xAA, 0xAA, 0xAA, 0xA4]);
        let response = Response { rate: code(15), ttl_diff: 54, nonce: NONCE_BITS };
        assert_eq!(response.to_tcp(), [27, 8, 0x0F, 54, 0xAA, 0xAA, 0xAA, 0xA4]);
        for option in [request, report] {
            assert_eq!(IpOption::from_ipv4(&option.to_ipv4()), Ok(option));
            assert_eq!(IpOption::from_ipv6(&option.to_ipv6()), Ok(option));
        }
        assert_eq!(Response::from_tcp(&response.to_tcp()), Ok(response));
    }

    #[test]
    fn what_is_no_quick_start_option_is_refused() {
        let good = IpOption::Report { rate: code(6), nonce: NONCE_BITS }.to_ipv4();
        assert!(IpOption::from_ipv4(&good[..7]).is_err());
        assert_eq!(
            IpOption::from_ipv6(&good).unwrap_err(),
            QuickStartError::Head { wanted: [0x26, 6], found: [Some(25), Some(8)] }
        );
        assert_eq!(
            Response::from_tcp(&[]).unwrap_err(),
            QuickStartError::Head { wanted: [27, 8], found: [None, None] }
        );
        let mut odd = good;
        odd[2] = 0x36;
        assert_eq!(IpOption::from_ipv4(&odd), Err(QuickStartError::Function(3)));
    }
}
