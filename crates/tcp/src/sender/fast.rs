//! The fast path of a sender. It handles the ACKs that most ACKs are, and the segments that leave for them, and skips the checks
//! that other ACKs need. The fast path only saves time: `ack.rs` and `emit.rs` handle every ACK, and where the fast path applies
//! both lead to the same state, which tests compare.
//!
//! - `expected`: nothing is lost, out of order or waited for, and the ACK is of data sent once;
//! - `repair`: RACK and PRR repair losses, and the ACK goes on with that.
//!
//! They follow the RFCs' order of an ACK's steps; [`super::dialect::Dialect::has_fast_ways`] says who may take them.

mod expected;
mod repair;

use firstflight::{Avoidance, Startup, Time};

use super::Sender;
use super::interface::AckInput;

pub(crate) use expected::NextData;
pub(crate) use repair::NextRepair;

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// Takes in an ACK that is expected or goes on with a repair. Says whether it was one. If not, nothing was done, but that
    /// the timeout and the probe are kept as instants from now on.
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
