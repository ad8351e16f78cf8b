//! The fast paths of a sender. They handle the kinds of ACKs that arrive often, and the segments that these release, without the checks
//! that other ACKs need. Fast paths only save time: `ack.rs` and `emit.rs` can handle every ACK. If a fast path can handle an ACK, it leads
//! to the same state, which tests check.
//!
//! - `expected`: nothing is lost or reordered, nothing is pending, and the ACK is of data sent once;
//! - `repair`: RACK and PRR repair losses, and the ACK continues the repair.
//!
//! Both use the order of an ACK's steps in the RFCs. [`super::dialect::Dialect::has_fast_ways`] decides whether they may be used.

mod expected;
mod repair;

use firstflight::{Avoidance, Startup, Time};

use super::Sender;
use super::interface::AckInput;

pub(crate) use expected::NextData;
pub(crate) use repair::NextRepair;

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// Processes an ACK that is expected or only continues a repair. Returns false for other ACKs. Nothing is then changed, except that
    /// `rto_at` and `probe_at` are set from now on.
    #[inline]
    pub(super) fn takes_fast_way(&mut self, now: Time, input: &AckInput<'_>) -> bool {
        if self.is_expected(input) {
            self.on_expected_ack(now, input.ack, input.window);
            return true;
        }
        self.settle_timeouts();
        if self.goes_on(input) {
            self.on_ack_in_repair(now, input.ack, input.window, input.blocks);
            return true;
        }
        false
    }
}
