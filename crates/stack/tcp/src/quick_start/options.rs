//! The Quick-Start options of one segment, in twelve bytes. They are small because few segments have any, but every simulated link copies
//! them.

use core::fmt;

use firstflight::RateCode;

use super::{IpOption, Nonce, Response};

/// Bits above the 30 bits of a nonce. They say which option has the nonce.
const REQUEST: u32 = 1 << 30;
const REPORT: u32 = 2 << 30;
const RESPONSE: u32 = 1 << 30;
const KIND: u32 = 3 << 30;

/// The Quick-Start options of a segment: at most one in the IP header and one in the TCP header.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// The nonce of the option in the IP header, and the kind of this option.
    ip: u32,
    /// The nonce of the response, and a bit that says whether there is a response.
    tcp: u32,
    /// The QS TTL. The other fields are the IP TTL, the TTL Diff, and the two rate codes.
    ttl: u8,
    hop_limit: u8,
    ttl_diff: u8,
    rates: u8,
}

impl Options {
    /// Creates the options of a segment.
    pub fn new(ip: Option<IpOption>, response: Option<Response>) -> Self {
        let mut options = Self::default();
        options.set_ip(ip);
        options.set_response(response);
        options
    }

    /// Checks whether the segment has no Quick-Start option.
    pub const fn is_empty(&self) -> bool {
        self.ip | self.tcp == 0
    }

    /// Returns the option in the IP header, if there is one.
    pub fn ip(&self) -> Option<IpOption> {
        let (nonce, rate) = (Nonce::new(self.ip), RateCode::from_low_bits(self.rates));
        match self.ip & KIND {
            REQUEST => Some(IpOption::Request { rate, ttl: self.ttl, hop_limit: self.hop_limit, nonce }),
            REPORT => Some(IpOption::Report { rate, nonce }),
            _ => None,
        }
    }

    /// Returns the option in the TCP header, if there is one.
    pub fn response(&self) -> Option<Response> {
        let (nonce, rate) = (Nonce::new(self.tcp), RateCode::from_low_bits(self.rates >> 4));
        (self.tcp & KIND == RESPONSE).then_some(Response { rate, ttl_diff: self.ttl_diff, nonce })
    }

    /// Returns the length of the option in the IPv4 header in bytes; 0 without an option.
    pub const fn ip_length(&self) -> u32 {
        if self.ip == 0 { 0 } else { 8 }
    }

    /// Returns the length of the option in the TCP header in bytes; 0 without an option.
    pub(crate) const fn tcp_length(&self) -> u32 {
        if self.tcp == 0 { 0 } else { 8 }
    }

    /// Replaces the option in the IP header.
    pub fn set_ip(&mut self, option: Option<IpOption>) {
        let (kind, rate, ttl, hop_limit, nonce) = match option {
            Some(IpOption::Request { rate, ttl, hop_limit, nonce }) => (REQUEST, rate, ttl, hop_limit, nonce),
            Some(IpOption::Report { rate, nonce }) => (REPORT, rate, 0, 0, nonce),
            None => (0, RateCode::DENIED, 0, 0, Nonce::default()),
        };
        (self.ip, self.ttl, self.hop_limit) = (kind | nonce.get(), ttl, hop_limit);
        self.rates = self.rates & 0xF0 | rate.get();
    }

    /// Replaces the response in the TCP header.
    pub fn set_response(&mut self, response: Option<Response>) {
        let (kind, response) = match response {
            Some(response) => (RESPONSE, response),
            None => (0, Response { rate: RateCode::DENIED, ttl_diff: 0, nonce: Nonce::default() }),
        };
        (self.tcp, self.ttl_diff) = (kind | response.nonce.get(), response.ttl_diff);
        self.rates = self.rates & 0x0F | response.rate.get() << 4;
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Options").field(&self.ip()).field(&self.response()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ip_and_tcp_options_are_stored_independently() {
        let nonce = Nonce::new(0x3FFF_FFFE);
        let rate = RateCode::MAX;
        let request = Some(IpOption::Request { rate, ttl: 200, hop_limit: 64, nonce });
        let report = Some(IpOption::Report { rate: RateCode::from_low_bits(3), nonce: Nonce::default() });
        let response = Some(Response { rate: RateCode::from_low_bits(9), ttl_diff: 54, nonce });
        for ip in [None, request, report] {
            for tcp in [None, response] {
                let mut options = Options::new(ip, tcp);
                assert_eq!((options.ip(), options.response()), (ip, tcp));
                assert_eq!(options.is_empty(), ip.is_none() && tcp.is_none());
                options.set_ip(report);
                assert_eq!((options.ip(), options.response()), (report, tcp));
                options.set_response(None);
                options.set_ip(None);
                assert_eq!(options, Options::default());
            }
        }
        assert_eq!(size_of::<Options>(), 12);
    }
}
