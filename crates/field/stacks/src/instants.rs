//! The clock of the stacks: virtual time, counted from one instant of the real clock that differences cancel.

use std::time::{Duration, Instant};

use firstflight::Time;

/// The real instant at which virtual time is zero. Only differences of instants reach a stack's decisions, so its value does not matter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Epoch(Instant);

impl Epoch {
    /// Returns an epoch: the present.
    #[expect(
        clippy::disallowed_methods,
        reason = "an `Instant` has no other beginning, and only differences from it are used"
    )]
    pub(crate) fn new() -> Self {
        Self(Instant::now())
    }

    /// Returns the instant of a virtual time.
    pub(crate) fn at(self, time: Time) -> Instant {
        self.0 + Duration::from_nanos(time.nanos())
    }

    /// Returns the virtual time of an instant.
    pub(crate) fn time(self, at: Instant) -> Time {
        let nanos = at.saturating_duration_since(self.0).as_nanos();
        Time::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

/// Returns the seed of a random generator: that of the run, the flow's number, and the side.
pub(crate) fn seed(run: u64, flow: u32, side: u8) -> [u8; 32] {
    let mut seed = [side; 32];
    seed[..8].copy_from_slice(&run.to_be_bytes());
    seed[8..12].copy_from_slice(&flow.to_be_bytes());
    seed
}
