//! The restart policies: what a connection does with data to send after an idle time. Each is a
//! [`crate::Startup`] begun with [`crate::Origin::AfterIdle`].

use crate::registry::{Ability, Needs, RestartEntry};

/// Slow start again from the restart window (RFC 5681 section 4.1).
pub use crate::schemes::SlowStart as Rfc5681;

pub(crate) const RFC5681: RestartEntry = RestartEntry {
    name: "rfc5681",
    summary: "slow start again from the smaller of the initial window and cwnd",
    source: "RFC 5681 section 4.1",
    needs: Needs::of(&[Ability::AckClock]),
    make: |initial| Rfc5681::new(initial).into(),
};
