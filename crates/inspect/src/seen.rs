//! Where the capture was taken, if the user says so.

use std::net::IpAddr;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::connection::{Connection, Host, Place};

/// At which host the capture was taken: it overrules what the handshake tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum SeenAt {
    /// At the host that sent the more data of a connection.
    Sender,
    /// At the host that received the more data of a connection.
    Receiver,
    /// At the host of this address. Of connections of other hosts the handshake tells.
    Host(IpAddr),
}

impl FromStr for SeenAt {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "sender" => Ok(Self::Sender),
            "receiver" => Ok(Self::Receiver),
            _ => text.parse().map(Self::Host).map_err(|_| {
                format!("`{text}` is not known; sender, receiver and the address of the capture's host are")
            }),
        }
    }
}

impl Connection {
    /// Where the capture was taken, as `host` is followed as a sender; `None` if the handshake has no times.
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

    /// Where the capture was taken, when the connection is over: the sender is then the host that sent the more.
    pub(crate) fn place_of(&self, host: Host) -> Option<Place> {
        self.place_as(if self.is_lesser(host) { 1 - host } else { host })
    }

    /// Whether the place is told by the other host, which sent more: then this one was followed as if the capture was
    /// elsewhere.
    pub(crate) fn is_lesser(&self, host: Host) -> bool {
        let [own, other] = [host, 1 - host].map(|host| self.hosts[host].sender.board.una);
        let is_less = own < other || own == other && host == 1;
        is_less && matches!(self.seen_at, Some(SeenAt::Sender | SeenAt::Receiver))
    }
}
