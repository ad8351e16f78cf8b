//! The state of a SYN or SYN-ACK: the settings that it offers, and how often it was sent.

use firstflight::{Span, Time};

use crate::config::Config;

/// Settings that an endpoint offers in its SYN or SYN-ACK. They are stored because they are needed after the endpoint was created.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    pub(super) receive_buffer: u64,
    /// Time until the first retransmission of a SYN or SYN-ACK (RFC 6298 section 2.1).
    pub(super) initial_rto: Span,
    pub(super) syn_retries: u32,
    pub(super) linear_syns: u32,
    pub(super) mss: u16,
    pub(super) window_scale: Option<u8>,
    pub(super) sack: bool,
    pub(super) sack_blocks: bool,
    pub(super) timestamps: bool,
    pub(super) window_scaling: bool,
    pub(super) ecn: bool,
    pub(super) options_in_mss: bool,
}

impl Offer {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            receive_buffer: config.receive_buffer,
            initial_rto: config.initial_rto,
            syn_retries: config.syn_retries,
            linear_syns: config.linear_syns,
            mss: config.mss,
            window_scale: config.window_scale,
            sack: config.sack,
            sack_blocks: config.sack_blocks,
            timestamps: config.timestamps,
            window_scaling: config.window_scaling,
            ecn: config.ecn,
            options_in_mss: config.options_in_mss,
        }
    }
}

/// State of the handshake.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Handshake {
    /// Whether the SYN or SYN-ACK is ready to be sent.
    pub(super) due: bool,
    /// Time at which the SYN or SYN-ACK was first sent, for the RTT sample.
    pub(super) sent_at: Option<Time>,
    /// Number of retransmissions because the timer fired.
    pub(super) retries: u32,
    /// Number of SYN-ACK retransmissions because the peer repeated its SYN.
    answers: u32,
    /// Time at which to retransmit the SYN or SYN-ACK.
    pub(super) timer: Option<Time>,
    /// Whether an ACK must follow the SYN-ACK because the window is too large for the field of a SYN.
    pub(super) window_due: bool,
}

impl Handshake {
    /// Makes the SYN-ACK ready to be sent a second time. The peer repeated its SYN, so the first SYN-ACK was lost.
    pub(super) fn answer_again(&mut self) {
        self.due = true;
        self.answers = self.answers.saturating_add(1);
    }

    /// Returns the number of retransmissions of the SYN or SYN-ACK, for any reason. If it is not zero, an ACK of the SYN or SYN-ACK gives
    /// no RTT sample, and a SYN or SYN-ACK is considered lost.
    pub(super) fn repetitions(&self) -> u32 {
        self.retries.saturating_add(self.answers)
    }
}
