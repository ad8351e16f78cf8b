//! The options of Quick-Start (RFC 4782): the request and the report in the IP header, the response in the TCP header.
//!
//! All three carry a rate code and a nonce of 30 bits. [`Nonce`] has it right-aligned. `firstflight-wire` encodes the options as bytes, and
//! `negotiation` processes them for an endpoint.

mod negotiation;
mod options;

use firstflight::RateCode;

pub(crate) use negotiation::Negotiation;
pub use options::Options;

/// Mask of the bits of a nonce.
const NONCE: u32 = (1 << 30) - 1;

/// A nonce of 30 bits. With it, the sender detects whether the rate of its request was raised on the way (RFC 4782 section 3.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Nonce(u32);

impl Nonce {
    /// Creates a nonce from the low 30 bits of `bits`.
    pub const fn new(bits: u32) -> Self {
        Self(bits & NONCE)
    }

    /// Returns the nonce in the low 30 bits.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// Returns the nonce that a router forwards when it lowers the rate from the code `from` to the code `to`. Each step down overwrites a
    /// pair of bits with random ones, so that no later node can undo it.
    pub const fn lowered(self, from: RateCode, to: RateCode, random: u32) -> Self {
        let overwritten = below(from) & !below(to);
        Self::new(self.get() & !overwritten | random & overwritten)
    }

    /// Checks whether the nonce `returned` with the rate `code` may result from this one. It may if the pairs of bits for the steps below
    /// `code` are unchanged.
    pub const fn agrees(self, returned: Self, code: RateCode) -> bool {
        (self.get() ^ returned.get()) & below(code) == 0
    }
}

/// Returns a mask of the pairs of bits for the steps from `code` down to 0. They are the low bits of the nonce.
const fn below(code: RateCode) -> u32 {
    (1 << (2 * code.get())) - 1
}

/// Returns the TTL Diff of a request. It is equal at the receiver and at the sender if every router on the path has approved the request
/// (RFC 4782 section 3.1).
pub const fn ttl_diff(hop_limit: u8, quick_start_ttl: u8) -> u8 {
    hop_limit.wrapping_sub(quick_start_ttl)
}

/// The Quick-Start option of the IP header, which has 8 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IpOption {
    /// A sender's request for a rate. Routers approve, lower or deny it.
    Request {
        /// The requested rate, or what routers have lowered it to.
        rate: RateCode,
        /// The QS TTL. Routers that approve the request decrement it together with the IP header's TTL.
        ttl: u8,
        /// The TTL or hop limit of the IP header, which every router decrements. It is not part of the option, but needed to compute the
        /// TTL Diff.
        hop_limit: u8,
        /// The nonce.
        nonce: Nonce,
    },
    /// A sender's report of the approved rate to the routers.
    Report {
        /// The approved rate. It is rate zero if the request was denied or not answered.
        rate: RateCode,
        /// The request's nonce.
        nonce: Nonce,
    },
}

/// The Quick-Start option of the TCP header, which has 8 bytes: the receiver's response to a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Response {
    /// The rate with which the request arrived, or a lower one.
    pub rate: RateCode,
    /// The [`ttl_diff`] of the request when it arrived.
    pub ttl_diff: u8,
    /// The nonce with which the request arrived.
    pub nonce: Nonce,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(number: u8) -> RateCode {
        RateCode::new(number).unwrap()
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
}
