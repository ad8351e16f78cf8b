//! Values that a connection leaves for later connections over its path.

use std::net::IpAddr;
use std::time::Duration;

/// The largest window that a store accepts: TCP's largest window (RFC 7323 section 2.3).
pub const MAX_WINDOW: u64 = 1 << 30;

/// The largest round-trip time that a store accepts.
pub const MAX_RTT: Duration = Duration::from_secs(60);

/// The longest server name that a store accepts, in bytes (RFC 1035 section 2.3.4).
pub const MAX_NAME: usize = 255;

/// The path's capacity, as an earlier connection observed it (RFC 9959 section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saved {
    /// `saved_cwnd`: the bytes acknowledged in one round trip.
    pub window: u64,
    /// `saved_rtt`: the connection's minimum RTT at that time.
    pub rtt: Duration,
    /// The time of the observation, in seconds since the Unix epoch.
    pub at: u64,
}

impl Saved {
    /// Returns the reason why these values cannot be used, as what is wrong and what is allowed.
    pub fn fault(&self) -> Option<String> {
        if self.window == 0 || self.window > MAX_WINDOW {
            return Some(format!("window is {} bytes; allowed is 1 to {MAX_WINDOW}", self.window));
        }
        if self.rtt < Duration::from_micros(1) || self.rtt > MAX_RTT {
            let (rtt, most) = (self.rtt.as_micros(), MAX_RTT.as_micros());
            return Some(format!("rtt_us is {rtt}; allowed is 1 to {most}"));
        }
        None
    }
}

/// The remote endpoint of a path: the address without the port, and the name of the server.
///
/// RFC 9959 section 2.2 leaves the identification of a remote endpoint to the sender. The port is not part of the key,
/// because a client takes another one for each connection. A server has no name for its client, and leaves the name
/// empty.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    address: IpAddr,
    server_name: String,
}

impl Key {
    /// Returns the key of a client's path to the server at `address`, which was resolved from `server_name`.
    ///
    /// An IPv4 address that is mapped into IPv6 is the IPv4 address. Case in the name is ignored.
    pub fn to_server(address: IpAddr, server_name: &str) -> Self {
        Self { address: address.to_canonical(), server_name: server_name.to_ascii_lowercase() }
    }

    /// Returns the key of a server's path to the client at `address`, the remote address of `noq::Incoming`.
    pub fn to_client(address: IpAddr) -> Self {
        Self::to_server(address, "")
    }

    /// Returns the remote address.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// Returns the name of the server in lower case; it is empty if the remote endpoint is a client.
    pub fn server_name(&self) -> &str {
        &self.server_name
    }
}
