//! The rules of loss detection and response: the host's settings (see [`Config`]), as far as the handshake allows them.

use super::dialect::Dialect;
use crate::config::{Config, InflightLimit, LimitedTransmit, Recovery};

/// The rules of a sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// The method of loss detection and repair.
    pub(super) method: Recovery,
    /// The stack whose behaviour is modelled.
    pub(super) dialect: Dialect,
    /// Whether tail loss probes are sent (RFC 8985 section 7), which are a part of RACK.
    pub(super) probes_tail: bool,
    /// Whether F-RTO checks a timeout (RFC 5682).
    pub(super) frto: bool,
    /// Whether limited transmit also works while a timeout is repaired, and then retransmits the next segment.
    pub(super) repeats_on_duplicates: bool,
    /// Number of SACKed segments above a hole that show its loss.
    pub(super) reordering: u64,
    /// Whether the controller receives events even if it does not need them: for a trace, or because the flight differs from the
    /// outstanding data.
    pub(super) reports_all: bool,
    /// A limit for the bytes in flight, in addition to the windows.
    pub(super) inflight_limit: InflightLimit,
    /// Whether the fast paths may be used. They do not implement the limit for the bytes in flight. Tests disable them to compare both.
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
            reports_all: config.recovery == Recovery::Ns2Sack1,
            inflight_limit: config.inflight_limit,
            has_fast_ways: dialect.has_fast_ways() && config.inflight_limit == InflightLimit::None,
        }
    }

    /// Changes to loss detection by duplicate ACKs, because the peer does not support SACK.
    pub(super) fn do_without_sack(&mut self) {
        if self.method.uses_sack() {
            self.method = Recovery::NewReno;
            self.probes_tail = false;
        }
    }

    /// Checks whether each duplicate ACK is counted as a delivered segment: losses are detected without SACK, and
    /// [`Dialect::counts_duplicates`].
    #[inline]
    pub(super) fn counts_duplicates(&self) -> bool {
        self.dialect.counts_duplicates() && self.method == Recovery::NewReno
    }
}
