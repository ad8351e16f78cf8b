//! The location of the capture: given by the user, or derived from the handshake.

use super::Connection;
use crate::handshake::{Host, Place};
use crate::vantage::SeenAt;

impl Connection {
    /// Returns the location of the capture if `host` is the sender; `None` if the handshake has no times.
    pub(crate) fn place_as(&self, host: Host) -> Option<Place> {
        if let Some(own) = self.own {
            return Some(Place::At(own));
        }
        let seen = self.handshake.place()?;
        Some(match self.seen_at {
            Some(SeenAt::Sender) => Place::At(host),
            Some(SeenAt::Receiver) => Place::At(1 - host),
            Some(SeenAt::Host(address)) => {
                let is_it = |host: &Host| self.ends[*host].ip() == address;
                [0, 1].into_iter().find(is_it).map_or(seen, Place::At)
            }
            None => seen,
        })
    }

    /// Returns the location of the capture once the connection is over. The sender is then the host that sent more.
    pub(crate) fn place_of(&self, host: Host) -> Option<Place> {
        self.place_as(if self.is_lesser(host) { 1 - host } else { host })
    }

    /// Checks whether the other host sent more data, and therefore determines the location. This host was then analysed as if the capture
    /// was taken elsewhere.
    pub(crate) fn is_lesser(&self, host: Host) -> bool {
        let [own, other] = [host, 1 - host].map(|host| self.hosts[host].sender.board.una);
        let is_less = own < other || own == other && host == 1;
        is_less && matches!(self.seen_at, Some(SeenAt::Sender | SeenAt::Receiver))
    }
}
