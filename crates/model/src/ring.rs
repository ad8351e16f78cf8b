//! How long a Quick-Start router remembers its approvals (Scharf 2007, section V-D).

use firstflight::Span;

use super::error::ModelError;

/// A ring buffer of recent approvals. A grant is added to every slot. The oldest slot is the promised capacity. Each
/// measurement of the rate empties that slot and advances the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    /// The longest round-trip time a sender may have (`RTT_max`).
    pub max_rtt: Span,
    /// The time between two measurements of the rate (`D`).
    pub interval: Span,
}

impl Ring {
    /// A ring for these times.
    ///
    /// # Errors
    /// A time of zero.
    pub fn new(max_rtt: Span, interval: Span) -> Result<Self, ModelError> {
        for (parameter, span) in [("max-rtt", max_rtt), ("interval", interval)] {
            if span.is_zero() {
                let allowed = "a time above 0 is";
                return Err(ModelError::Domain { parameter, found: 0.0, allowed });
            }
        }
        Ok(Self { max_rtt, interval })
    }

    /// Equation 7: the least time for which an approval is to be kept, `H = RTT_max + D`.
    pub fn hold(self) -> Span {
        self.max_rtt + self.interval
    }

    /// Section V-D: the slots of the ring, `⌈RTT_max / D + 2⌉`, without a rounding error.
    pub fn slots(self) -> u64 {
        self.max_rtt.nanos().div_ceil(self.interval.nanos().max(1)) + 2
    }

    /// The shortest time for which the ring remembers: an approval just before a measurement, `(n - 1) D`.
    ///
    /// The slot read is the one with the longest memory (choice 21), so this is at least [`Ring::hold`].
    pub fn least_memory(self) -> Span {
        self.interval * (self.slots() - 1)
    }

    /// The longest time for which the ring remembers: an approval just after a measurement, `n D`.
    pub fn most_memory(self) -> Span {
        self.interval * self.slots()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(max_rtt: u64, interval: u64) -> Ring {
        Ring::new(Span::from_millis(max_rtt), Span::from_millis(interval)).unwrap()
    }

    #[test]
    fn the_slots_are_those_of_section_v_d() {
        for (max_rtt, interval, slots) in [(100, 100, 3), (500, 100, 7), (100, 50, 4), (250, 100, 5)] {
            assert_eq!(ring(max_rtt, interval).slots(), slots, "{max_rtt} ms, {interval} ms");
        }
        // In doubles 1.1 / 0.1 is a little above 11.
        assert_eq!(ring(1_100, 100).slots(), 13);
    }

    #[test]
    fn equation_7_holds_approvals_a_round_trip_and_an_interval() {
        assert_eq!(ring(100, 100).hold(), Span::from_millis(200));
        assert_eq!(ring(500, 100).hold(), Span::from_millis(600));
    }

    #[test]
    fn a_ring_of_three_slots_of_100_ms_remembers_for_200_to_300_ms() {
        let ring = ring(100, 100);
        assert_eq!(
            (ring.least_memory(), ring.most_memory()),
            (Span::from_millis(200), Span::from_millis(300))
        );
    }

    #[test]
    fn a_ring_never_forgets_before_equation_7_allows() {
        for max_rtt in 1..400 {
            for interval in 1..60 {
                let ring = ring(max_rtt, interval);
                assert!(ring.least_memory() >= ring.hold(), "{ring:?}");
                assert!(ring.least_memory() < ring.hold() + ring.interval, "{ring:?}");
            }
        }
    }

    #[test]
    fn a_time_of_zero_is_refused_by_name() {
        let error = Ring::new(Span::from_millis(100), Span::ZERO).unwrap_err();
        assert_eq!(error.to_string(), "interval: 0 is not allowed; a time above 0 is");
        assert_eq!(Ring::new(Span::ZERO, Span::from_millis(1)).unwrap_err().parameter(), "max-rtt");
    }
}
