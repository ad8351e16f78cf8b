//! The location of the capture, if the user gave it.

use std::net::IpAddr;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Where the capture was taken. It overrides the location derived from the handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum SeenAt {
    /// At the host that sent more of the connection's data.
    Sender,
    /// At the host that received more of the connection's data.
    Receiver,
    /// At the host with this address. For connections of other hosts, the location is derived from the handshake.
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
