//! Measures how much later than necessary the relay reads packets from the hosts.

use firstflight::{Bytes, Rate, Span, Time};

/// The time for which a direction's first bottleneck was idle although packets waited at the host for the relay to read them.
///
/// A spell starts with a batch of reads that is full, and ends with the first batch that empties the device. During a spell packets wait
/// for the relay. Each spell adds its length minus the transmission time of the packets that were read in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadDelay {
    rate: Rate,
    spell: Option<Spell>,
    total: Span,
}

#[derive(Clone, Copy, Debug)]
struct Spell {
    from: Time,
    bytes: Bytes,
}

/// A run is invalid if the relay was behind for more than one part in this many.
const MAX_DELAY_PART: u64 = 100;

impl ReadDelay {
    /// Creates the measurement for a direction whose first bottleneck has this rate.
    pub(crate) const fn new(rate: Rate) -> Self {
        Self { rate, spell: None, total: Span::ZERO }
    }

    /// Records a batch of `bytes` that was read between `from` and `to`. If `is_full`, more packets may be waiting.
    pub(crate) fn batch(&mut self, from: Time, to: Time, bytes: Bytes, is_full: bool) {
        if is_full {
            let spell = self.spell.get_or_insert(Spell { from, bytes: Bytes::ZERO });
            spell.bytes += bytes;
        } else if let Some(spell) = self.spell.take() {
            let sent = self.rate.time_for(spell.bytes + bytes);
            self.total += to.since(spell.from) - sent;
        }
    }

    /// Returns the time for which the relay was behind in a run that ends at `now`.
    pub(crate) fn total(mut self, now: Time) -> Span {
        self.batch(now, now, Bytes::ZERO, false);
        self.total
    }

    /// Returns whether the relay was behind for more than a hundredth of a run of this length.
    pub(crate) fn is_void(total: Span, run: Span) -> bool {
        total > run / MAX_DELAY_PART
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BATCH: Bytes = Bytes::new(12_000);

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    /// Returns the total of a relay that reads ten full batches, one every `micros` microseconds. The link sends a batch in 96 us.
    fn reading(micros: u64) -> Span {
        let mut delay = ReadDelay::new(Rate::from_bps(1_000_000_000));
        for number in 0..10 {
            delay.batch(at(number * micros), at((number + 1) * micros), BATCH, true);
        }
        delay.batch(at(10 * micros), at(10 * micros), Bytes::ZERO, false);
        delay.total(at(1_000_000))
    }

    #[test]
    fn a_relay_slower_than_the_link_is_behind() {
        assert_eq!(reading(50), Span::ZERO, "the link sends for longer than the reads took");
        assert_eq!(reading(96), Span::ZERO);
        assert_eq!(reading(221), Span::from_micros(1_250), "125 of each 221 us");
    }

    #[test]
    fn a_batch_that_empties_the_device_ends_the_spell() {
        let mut delay = ReadDelay::new(Rate::from_bps(1_000_000_000));
        delay.batch(at(0), at(500), BATCH, true);
        delay.batch(at(500), at(510), Bytes::ZERO, false);
        delay.batch(at(90_000), at(90_010), Bytes::new(1_500), false);
        assert_eq!(delay.total(at(100_000)), Span::from_micros(414));
    }

    #[test]
    fn a_run_is_void_above_a_hundredth() {
        let run = Span::from_secs(10);
        assert!(
            !ReadDelay::is_void(Span::from_millis(100), run)
                && ReadDelay::is_void(Span::from_millis(101), run)
        );
    }
}
