//! What an ACK is evidence of.

use crate::seam::{Ack, Path, SendLimit};

/// Whether the application or the receiver, and not the path, limited the packets that this ACK acknowledges. Such an
/// ACK says nothing about the path's capacity (for the application, draft-cheng-iccrg-delivery-rate-estimation
/// section 3.4).
///
/// The first window of a connection counts as evidence, because nothing limited it.
pub(crate) fn is_starved(ack: &Ack<'_>, path: &Path) -> bool {
    let starved = |limit| matches!(limit, SendLimit::App | SendLimit::Receiver);
    let newest = ack.newest_packet();
    starved(path.limit)
        || newest.is_some_and(|packet| starved(packet.limit) && !packet.delivered_at_send.is_zero())
}
