//! Whether an ACK is evidence of the path's capacity.

use crate::interface::{Ack, Path, SendLimit};

/// Returns whether the application or the receiver, not the path, limited the packets that this ACK acknowledges. An
/// ACK like this says nothing about the path's capacity (for the application,
/// draft-cheng-iccrg-delivery-rate-estimation section 3.4).
///
/// The first window of a connection counts as evidence, because neither the application nor the receiver limited it.
pub(crate) fn is_starved(ack: &Ack<'_>, path: &Path) -> bool {
    let starved = |limit| matches!(limit, SendLimit::App | SendLimit::Receiver);
    let newest = ack.newest_packet();
    starved(path.limit)
        || newest.is_some_and(|packet| starved(packet.limit) && !packet.delivered_at_send.is_zero())
}
