//! Named streams of random numbers: one for each purpose and index, so that the draws of one part of a network never
//! change those of another.

use rand_core::Rng;
use rand_pcg::Pcg64;

/// Purpose of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// Start of a flow.
    Start = 1,
    /// The phase of a constant bit rate.
    Phase = 2,
    /// Packets of a flow that a link loses.
    Loss = 3,
    /// Jitter of the packets of a flow on a link.
    Jitter = 4,
    /// Values that a Quick-Start router writes over nonces.
    QuickStart = 5,
    /// Packets that a queue's discipline drops.
    Discipline = 6,
    /// The phase of a link's releases.
    Release = 7,
    /// Times of the arrivals of a process.
    Arrival = 8,
    /// Size and content of an arrival.
    Size = 9,
    /// Periods on and off of an on/off source.
    OnOff = 10,
    /// The phase of a sender's pacing timer.
    Departure = 11,
    /// The lateness of a sender's timers.
    Lateness = 12,
    /// The instants at which the rounds of a flow begin.
    Rounds = 16,
    /// The states of a link's bursty loss, and the packets lost in them.
    LossBursts = 21,
    /// Packets of a flow that a link displaces.
    Reorder = 22,
    /// Packets of a flow that a link delivers twice.
    Duplicate = 23,
    /// The instant of a trace at which a run begins.
    TraceStart = 81,
    /// The rates and delays of a synthetic trace.
    Synthetic = 82,
}

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Stream(Pcg64);

impl Stream {
    /// Returns the stream of a run's `seed` for `purpose`, for the `major`-th object and its `minor`-th part.
    pub(crate) fn new(seed: u64, purpose: Purpose, major: u32, minor: u32) -> Self {
        let name = (u64::from(major) << 32) | u64::from(minor);
        let first = mix(mix(mix(seed) ^ purpose as u64) ^ name);
        let state = (u128::from(first) << 64) | u128::from(mix(first));
        // Streams of different purposes or indices also have different PCG increments, so that no two are shifts of one
        // another.
        let increment = ((purpose as u128) << 64) | u128::from(name);
        Self(Pcg64::new(state, increment))
    }

    /// Returns 64 uniform bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a uniform number strictly between zero and one.
    #[expect(clippy::cast_precision_loss, reason = "52 bits fit a double")]
    pub(crate) fn unit(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) / 4_503_599_627_370_496.0
    }

    /// Returns a uniform whole number below `bound`; zero if that is zero. The bias is below `bound` / 2^64.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        let wide = u128::from(self.bits()) * u128::from(bound);
        u64::try_from(wide >> 64).unwrap_or(u64::MAX)
    }
}

/// Applies the finaliser of `SplitMix64` after one step: every bit of the input affects every bit of the output.
pub(crate) const fn mix(word: u64) -> u64 {
    let mut z = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(mut stream: Stream) -> [u64; 8] {
        std::array::from_fn(|_| stream.bits())
    }

    #[test]
    fn a_stream_is_determined_by_seed_and_name() {
        let of = |seed, purpose, major, minor| draws(Stream::new(seed, purpose, major, minor));
        let base = of(1, Purpose::Loss, 0, 0);
        assert_eq!(base, of(1, Purpose::Loss, 0, 0));
        for other in [
            of(2, Purpose::Loss, 0, 0),
            of(1, Purpose::Jitter, 0, 0),
            of(1, Purpose::Loss, 1, 0),
            of(1, Purpose::Loss, 0, 1),
        ] {
            assert!(base.iter().zip(&other).all(|(a, b)| a != b));
        }
    }

    #[test]
    fn draws_below_a_bound_are_uniform_and_stay_below() {
        let mut stream = Stream::new(7, Purpose::Phase, 0, 0);
        let mut counts = [0u32; 10];
        for _ in 0..100_000 {
            counts[usize::try_from(stream.below(10)).unwrap()] += 1;
        }
        // Five standard deviations of a binomial of 100 000 draws at one in ten.
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 475), "{counts:?}");
        assert_eq!(stream.below(0), 0);
    }
}
