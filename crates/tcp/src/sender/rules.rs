//! How losses are found and answered: what the host chose of it (see [`Config`]), and what the handshake left of that.

use super::dialect::Dialect;
use crate::config::{Config, InflightLimit, LimitedTransmit, Recovery};

/// The rules of a sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// How losses are found and repaired.
    pub(super) method: Recovery,
    /// Which stack's ways are followed.
    pub(super) dialect: Dialect,
    /// Whether the tail is probed (RFC 8985 section 7), which is RACK's.
    pub(super) probes_tail: bool,
    /// Whether a timeout is looked at by F-RTO (RFC 5682).
    pub(super) frto: bool,
    /// Whether limited transmit goes on while a timeout is repaired, and sends again what comes next.
    pub(super) repeats_on_duplicates: bool,
    /// Segments above a hole that tell of its loss.
    pub(super) reordering: u64,
    /// Whether the controller is told what it says it does not mind: for a trace, or because the flight is not what is
    /// outstanding.
    pub(super) tells_all: bool,
    /// What limits the flight beside the windows.
    pub(super) inflight_limit: InflightLimit,
    /// Whether the fast ways may be taken, which know of no such limit. A test may say no, to compare.
    pub(super) has_fast_ways: bool,
}

impl Rules {
    pub(super) fn new(config: &Config) -> Self {
        let dialect = Dialect::new(config);
        Self {
            method: config.recovery,
            dialect,
            probes_tail: config.tail_loss_probe && config.recovery == Recovery::Rack,
            frto: config.frto,
            repeats_on_duplicates: config.limited_transmit == LimitedTransmit::Next,
            reordering: u64::from(config.reordering),
            tells_all: config.recovery == Recovery::Ns2Sack1,
            inflight_limit: config.inflight_limit,
            has_fast_ways: dialect.has_fast_ways() && config.inflight_limit == InflightLimit::None,
        }
    }

    /// The peer cannot report with SACK, so that duplicate ACKs are all there is to go by.
    pub(super) fn do_without_sack(&mut self) {
        if self.method.uses_sack() {
            self.method = Recovery::NewReno;
            self.probes_tail = false;
        }
    }

    /// Whether each duplicate ACK counts as a segment delivered: losses are found without SACK, and
    /// [`Dialect::counts_duplicates`].
    #[inline]
    pub(super) fn counts_duplicates(&self) -> bool {
        self.dialect.counts_duplicates() && self.method == Recovery::NewReno
    }
}
