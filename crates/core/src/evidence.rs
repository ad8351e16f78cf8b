//! What an ACK may be evidence of.

use crate::seam::{Ack, Path, SendLimit};

/// Whether the application or the receiver, and not the path, limited what this ACK acknowledges: such a sample
/// says nothing of the path's capacity (for the application, draft-cheng-iccrg-delivery-rate-estimation
/// section 3.4).
///
/// The first window of a connection left before anything limited it, and does count.
pub(crate) fn is_starved(ack: &Ack<'_>, path: &Path) -> bool {
    let starved = |limit| matches!(limit, SendLimit::App | SendLimit::Receiver);
    let newest = ack.newest_packet();
    starved(path.limit)
        || newest.is_some_and(|packet| starved(packet.limit) && !packet.delivered_at_send.is_zero())
}
