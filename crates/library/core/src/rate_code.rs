//! Rates as the headers of Quick-Start encode them.

use crate::units::Rate;

/// A rate as Quick-Start encodes it: code 0 is no rate, code N is 40 kbit/s × 2^N, up to code 15 (RFC 4782 table 1).
/// The rate counts TCP and IP headers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct RateCode(u8);

impl RateCode {
    /// No rate: the request is denied.
    pub const DENIED: Self = Self(0);
    /// The highest rate, 1.31072 Gbit/s.
    pub const MAX: Self = Self(15);

    /// Returns the rate code `code`; `None` if `code` is above 15.
    pub const fn new(code: u8) -> Option<Self> {
        if code <= 15 { Some(Self(code)) } else { None }
    }

    /// Returns the code in the low four bits.
    pub const fn from_low_bits(bits: u8) -> Self {
        Self(bits & 0xF)
    }

    /// Returns the code.
    pub const fn get(self) -> u8 {
        self.0
    }

    /// Returns whether the code is no rate.
    pub const fn is_denied(self) -> bool {
        self.0 == 0
    }

    /// Returns the rate that the code represents.
    pub const fn rate(self) -> Rate {
        Rate::from_bps(if self.0 == 0 { 0 } else { 40_000 << self.0 })
    }

    /// Returns the smallest code whose rate is at least `rate`, or the highest code. A sender rounds its request up
    /// like this.
    pub fn up(rate: Rate) -> Self {
        (0..15).map(Self).find(|code| code.rate() >= rate).unwrap_or(Self::MAX)
    }

    /// Returns the highest code whose rate is at most `rate`. A router rounds its grant down like this.
    pub fn down(rate: Rate) -> Self {
        (0..=15).rev().map(Self).find(|code| code.rate() <= rate).unwrap_or(Self::DENIED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_doubles_the_rate_from_80_kbit_to_1_3_gbit() {
        // RFC 4782 table 1, in units of 10 kbit/s.
        let table =
            [0, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536, 131_072];
        for (code, rate) in (0..).zip(table) {
            assert_eq!(RateCode::new(code).map(RateCode::rate), Some(Rate::from_bps(rate * 10_000)));
        }
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
}
