//! The time for which a Quick-Start router remembers its approvals (Scharf 2007, section V-D).

use firstflight::Span;

use super::error::ModelError;

/// A ring buffer of recent approvals. A grant is added to every slot. The oldest slot has the promised capacity. Each measurement of the
/// rate empties the oldest slot and advances the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    /// The maximum round-trip time of a sender (`RTT_max`).
    pub max_rtt: Span,
    /// The time between two measurements of the rate (`D`).
    pub interval: Span,
}

impl Ring {
    /// Makes a ring for these times.
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

    /// Returns the minimum time for which an approval must be kept, `H = RTT_max + D` (equation 7).
    pub fn hold(self) -> Span {
        self.max_rtt + self.interval
    }

    /// Returns the number of slots of the ring, `⌈RTT_max / D + 2⌉`, without a rounding error (section V-D).
    pub fn slots(self) -> u64 {
        self.max_rtt.nanos().div_ceil(self.interval.nanos().max(1)) + 2
    }

    /// Returns the shortest time for which the ring remembers an approval, `(n - 1) D`. It applies to an approval just before a
    /// measurement.
    ///
    /// The ring reads the slot that remembers for longest (choice 21), so this time is at least [`Ring::hold`].
    pub fn least_memory(self) -> Span {
        self.interval * (self.slots() - 1)
    }

    /// Returns the longest time for which the ring remembers an approval, `n D`. It applies to an approval just after a measurement.
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
        // With doubles, 1.1 / 0.1 is slightly above 11.
        assert_eq!(ring(1_100, 100).slots(), 13);
    }

    #[test]
    fn equation_7_holds_approvals_a_round_trip_and_an_interval() {
        assert_eq!(ring(100, 100).hold(), Span::from_millis(200));
        assert_eq!(ring(500, 100).hold(), Span::from_millis(600));
    }

    #[test]
    fn a_ring_of_three_100_ms_slots_remembers_200_to_300_ms() {
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
