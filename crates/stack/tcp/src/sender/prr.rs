//! Proportional Rate Reduction (RFC 9937). It limits what each ACK of a recovery may send.

use firstflight::Bytes;

/// The PRR state of one recovery.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Prr {
    /// `RecoverFS`: the number of bytes in flight when the recovery began.
    recover_flight: u64,
    /// `prr_delivered`: the number of bytes delivered since the recovery began.
    delivered: u64,
    /// `prr_out`: the number of bytes sent since the recovery began.
    out: u64,
    /// The window computed for the last ACK.
    window: Bytes,
    /// Whether PRR counts whole segments, as in Linux.
    whole: bool,
}

/// The values of one ACK that PRR needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrrAck {
    /// Number of bytes newly acknowledged, cumulatively or selectively.
    pub(crate) delivered: Bytes,
    /// The estimated number of bytes in the network after the ACK.
    pub(crate) pipe: Bytes,
    /// The window that the recovery aims for.
    pub(crate) ssthresh: Bytes,
    /// Whether SND.UNA advanced and no new loss was found.
    pub(crate) safe: bool,
    /// The segment size.
    pub(crate) mss: Bytes,
}

impl Prr {
    /// Begins a recovery. `outstanding` is SND.NXT - SND.UNA, `sacked` the number of bytes that were selectively acknowledged before the
    /// ACK that begins the recovery, and `newly_acked` the number of bytes that this ACK acknowledges cumulatively.
    pub(crate) fn begin(outstanding: Bytes, sacked: Bytes, newly_acked: Bytes) -> Self {
        let recover_flight = (outstanding - sacked + newly_acked).get().max(1);
        Self { recover_flight, ..Self::default() }
    }

    /// Begins a recovery as Linux does (`tcp_init_cwnd_reduction`). It counts whole segments, of the window before the reduction. This
    /// window applies until something is delivered.
    pub(crate) fn in_segments(prior_window: Bytes) -> Self {
        Self { whole: true, window: prior_window, ..Self::begin(prior_window, Bytes::ZERO, Bytes::ZERO) }
    }

    /// Computes the window after this ACK (RFC 9937 section 6.2). It is at least one segment, because a segment may always be sent if
    /// nothing is in the network.
    pub(crate) fn on_ack(&mut self, ack: &PrrAck) {
        self.delivered += ack.delivered.get();
        let (pipe, ssthresh, mss) = (ack.pipe.get(), ack.ssthresh.get(), ack.mss.get());
        let mut count = if pipe > ssthresh {
            self.due(ssthresh, mss).saturating_sub(self.out)
        } else {
            let mut count = self.delivered.saturating_sub(self.out).max(ack.delivered.get());
            if ack.safe {
                count += mss;
            }
            count.min(ssthresh - pipe)
        };
        // A fast retransmit is always sent at once.
        if self.out == 0 {
            count = count.max(mss);
        }
        self.window = Bytes::new((pipe + count).max(mss));
    }

    /// Returns the number of bytes that may have been sent by now. With it, the window falls to `ssthresh` in proportion to the delivered
    /// bytes.
    fn due(&self, ssthresh: u64, mss: u64) -> u64 {
        let unit = if self.whole { mss.max(1) } else { 1 };
        let count = |bytes: u64| if self.whole { bytes / unit } else { bytes };
        let flight = count(self.recover_flight).max(1);
        let (delivered, ssthresh) = (count(self.delivered), count(ssthresh));
        let due = if let Some(product) = delivered.checked_mul(ssthresh) {
            product.div_ceil(flight)
        } else {
            let product = u128::from(delivered) * u128::from(ssthresh);
            u64::try_from(product.div_ceil(u128::from(flight))).unwrap_or(u64::MAX)
        };
        due.saturating_mul(unit)
    }

    /// Records the transmission of data.
    pub(crate) fn sent(&mut self, bytes: Bytes) {
        self.out += bytes.get();
    }

    /// Returns the window computed for the last ACK.
    pub(crate) fn window(&self) -> Bytes {
        self.window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: Bytes = Bytes::new(1_000);

    fn ack(pipe: u64, ssthresh: u64, safe: bool) -> PrrAck {
        PrrAck { delivered: MSS, pipe: MSS * pipe, ssthresh: MSS * ssthresh, safe, mss: MSS }
    }

    #[test]
    fn half_the_window_means_a_segment_for_every_second_delivered() {
        let mut prr = Prr::begin(MSS * 100, Bytes::ZERO, Bytes::ZERO);
        let mut sent = 0;
        let mut pipe = 99;
        for _ in 0..40 {
            pipe -= 1;
            prr.on_ack(&ack(pipe, 50, false));
            while MSS * (pipe + 1) <= prr.window() {
                prr.sent(MSS);
                pipe += 1;
                sent += 1;
            }
        }
        assert_eq!(sent, 20);
    }

    #[test]
    fn linux_rounds_what_is_due_up_to_a_segment() {
        let mut prr = Prr::in_segments(MSS * 15);
        prr.on_ack(&ack(13, 10, false));
        assert_eq!(prr.window(), MSS * 14, "the fast retransmit");
        prr.sent(MSS);
        // 2 x 10 / 15 segments are due, so the second may be sent.
        prr.on_ack(&ack(13, 10, false));
        assert_eq!(prr.window(), MSS * 14);
        prr.sent(MSS);
        prr.on_ack(&ack(13, 10, false));
        assert_eq!(prr.window(), MSS * 13);
    }

    #[test]
    fn prr_below_the_threshold_replaces_deliveries_and_adds_one_for_safe_acks() {
        let mut prr = Prr::begin(MSS * 20, Bytes::ZERO, Bytes::ZERO);
        prr.on_ack(&ack(4, 10, false));
        assert_eq!(prr.window(), MSS * 5);
        prr.sent(MSS);
        prr.on_ack(&ack(4, 10, true));
        assert_eq!(prr.window(), MSS * 6);
    }

    #[test]
    fn the_first_retransmission_is_never_held_back() {
        let mut prr = Prr::begin(MSS * 1_000, Bytes::ZERO, Bytes::ZERO);
        prr.on_ack(&PrrAck { delivered: Bytes::ZERO, ..ack(900, 500, false) });
        assert_eq!(prr.window(), MSS * 901);
    }

    #[test]
    fn the_window_holds_a_segment_even_when_a_short_one_was_delivered() {
        let mut prr = Prr::begin(MSS * 4, Bytes::ZERO, Bytes::ZERO);
        prr.sent(MSS);
        prr.on_ack(&PrrAck { delivered: Bytes::new(900), ..ack(0, 2, false) });
        assert_eq!(prr.window(), MSS);
    }

    #[test]
    fn the_window_never_passes_the_threshold_from_below() {
        let mut prr = Prr::begin(MSS * 20, Bytes::ZERO, Bytes::ZERO);
        prr.on_ack(&PrrAck { delivered: MSS * 15, ..ack(9, 10, true) });
        assert_eq!(prr.window(), MSS * 10);
    }
}
