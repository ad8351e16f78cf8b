//! The rate sample of an ACK.

use crate::evidence::is_starved;
use crate::interface::{Ack, Delivered, Path, SendLimit};
use crate::units::{Bytes, Rate};

/// The rate sample of an ACK (the draft's `RS`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// The number of the newest acknowledged packet.
    pub(crate) packet: u64,
    /// `RS.prior_delivered`: bytes delivered when the newest acknowledged packet was sent.
    pub(crate) at_send: Bytes,
    /// `RS.delivered`: bytes delivered since the transmission of the newest acknowledged packet.
    pub(crate) delivered: Bytes,
    /// `RS.delivery_rate`; `None` if no reliable sample could be made.
    pub(crate) rate: Option<Rate>,
    /// `RS.is_app_limited`: whether the application limited the packet. A packet that the receiver limited counts too,
    /// because neither shows the capacity of the path.
    pub(crate) is_app_limited: bool,
    /// `RS.newly_acked`: bytes that the ACK newly acknowledges.
    pub(crate) acked: Bytes,
    /// Whether the window was fully used when the newest acknowledged packet was sent, or is now.
    pub(crate) is_window_limited: bool,
}

impl Sample {
    /// Returns the sample of an ACK; `None` if the ACK completes no packet.
    pub(crate) fn of(ack: &Ack<'_>, path: &Path) -> Option<Self> {
        let newest = newest(ack)?;
        Some(Self {
            packet: newest.packet,
            at_send: newest.delivered_at_send,
            delivered: path.delivered - newest.delivered_at_send,
            rate: ack.delivery_rate,
            is_app_limited: is_starved(ack, path),
            acked: ack.bytes,
            is_window_limited: [newest.limit, path.limit].contains(&SendLimit::Window),
        })
    }
}

/// Returns the acknowledged packet that was sent last. Lists are in order of sequence, not of transmission.
fn newest<'a>(ack: &Ack<'a>) -> Option<&'a Delivered> {
    ack.packets.iter().max_by_key(|packet| packet.packet).or(ack.newest)
}
