//! The restart policies: how a connection starts again when there is data to send after an idle time. Each is a
//! [`crate::Startup`] that begins with [`crate::Origin::AfterIdle`].
//!
//! Which policy is the default is our choice (choice-25). It is RFC 5681's, so that start-up schemes are compared under
//! the restart of the standard. `cwv` is RFC 7661's policy with a paced restart.
//!
//! After an exit by [`crate::Cause::Resumed`] the start-up or law that the idle time interrupted continues with its
//! own state, and with its own window unless the policy's is smaller. Any other exit passes the policy's window to
//! the law.

mod cwv;
mod nssr;
mod rbp;
mod ssr;

use crate::registry::{Ability, Needs, RestartEntry};

pub use cwv::Cwv;
pub use nssr::Nssr;
pub use rbp::Rbp;
pub use ssr::Ssr;

pub(crate) use cwv::CWV;
pub(crate) use nssr::NSSR;
pub(crate) use rbp::{RBP_CWND, RBP_RATE};
pub(crate) use ssr::SSR;

/// Slow start again from the restart window (RFC 5681 section 4.1).
pub use crate::schemes::SlowStart as Rfc5681;

/// Slow start again from the restart window, with a request to the routers for a rate (RFC 4782 section 4.1).
pub type QuickStartAgain = crate::schemes::QuickStart<Rfc5681>;

pub(crate) use crate::schemes::QUICK_START_AGAIN;

/// Needs and uses of slow start after an idle time.
const NEEDS: Needs = crate::schemes::slow_start::NEEDS.and(Needs::of(&[Ability::IdleQuestion]));

pub(crate) const RFC5681: RestartEntry = RestartEntry {
    name: "rfc5681",
    summary: "slow start again from the smaller of the initial window and cwnd",
    source: "RFC 5681 section 4.1",
    parameters: &[],
    needs: NEEDS,
    make: |initial, _| Rfc5681::new(initial).into(),
};
