//! Quick-Start's options (RFC 4782): the request and report in the IP header, the response in the TCP header.
//!
//! All three carry a rate code and a nonce of 30 bits; the nonce is right-aligned here. Their bytes are
//! `firstflight-wire`'s; what an endpoint does with them is in `negotiation`.

mod negotiation;
mod options;

use firstflight::RateCode;

pub(crate) use negotiation::Negotiation;
pub use options::Options;

/// The bits of a nonce.
const NONCE: u32 = (1 << 30) - 1;

/// A nonce of 30 bits, by which the sender sees whether anybody but a router raised the rate (RFC 4782
/// section 3.4).
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
        Self::new(self.get() & !overwritten | random & overwritten)
    }

    /// Whether a nonce that came back with the rate `code` can be what became of this one: the pairs of the
    /// steps below are as they were sent.
    pub const fn agrees(self, returned: Self, code: RateCode) -> bool {
        (self.get() ^ returned.get()) & below(code) == 0
    }
}

/// The pairs of bits of the steps from `code` down: the low two of the nonce for each.
const fn below(code: RateCode) -> u32 {
    (1 << (2 * code.get())) - 1
}

/// The TTL Diff of a request as it arrives: equal to the one at the sender if every router on the way has
/// approved it (RFC 4782 section 3.1).
pub const fn ttl_diff(hop_limit: u8, quick_start_ttl: u8) -> u8 {
    hop_limit.wrapping_sub(quick_start_ttl)
}

/// The option of the IP header: 8 bytes of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IpOption {
    /// A sender asks, and routers approve, lower or deny.
    Request {
        /// The rate asked for, as lowered so far.
        rate: RateCode,
        /// QS TTL: routers that approve lower it along with the IP header's.
        ttl: u8,
        /// The IP header's TTL or hop limit, which every router lowers. It is no part of the option; the TTL
        /// Diff is made of the two.
        hop_limit: u8,
        /// The nonce.
        nonce: Nonce,
    },
    /// A sender tells the routers what was approved.
    Report {
        /// The rate approved; none if the request was denied or not answered.
        rate: RateCode,
        /// The request's nonce.
        nonce: Nonce,
    },
}

/// The option of the TCP header, 8 bytes of it: the receiver's answer to a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Response {
    /// The rate that arrived, or a lower one.
    pub rate: RateCode,
    /// [`ttl_diff`] of the request as it arrived.
    pub ttl_diff: u8,
    /// The nonce that arrived.
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
