//! The TCP sockets of a network namespace and the routes that name a congestion control, by netlink. Nothing is changed.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use nix::sys::socket::SockProtocol;

use crate::error::KernelError;
use crate::netlink::{attributes, dump, text};
use crate::peers::Prefix;

/// A TCP socket.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Socket {
    /// The address and port of this machine.
    pub local: SocketAddr,
    /// The address and port of the peer, without a meaning if the socket listens.
    pub remote: SocketAddr,
    /// Whether it listens.
    pub listens: bool,
    /// The congestion control.
    pub law: String,
    /// The number of its cgroup; 0 if the kernel does not say.
    pub cgroup: u64,
}

/// A route that names a congestion control.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Route {
    /// The destinations.
    pub to: Prefix,
    /// The congestion control.
    pub law: String,
    /// Whether programs cannot set another congestion control (`congctl lock`).
    pub is_locked: bool,
}

// Constants of linux/sock_diag.h, linux/inet_diag.h and linux/rtnetlink.h, and the lengths of their structures.
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const DIAG_REQUEST: usize = 56;
const DIAG_MESSAGE: usize = 72;
const DIAG_CONGESTION: u16 = 4;
const DIAG_CGROUP: u16 = 21;
const FAMILIES: [u8; 2] = [2, 10];
const TCP: u8 = 6;
const LISTEN: u8 = 10;
/// All states but `TIME_WAIT` and `NEW_SYN_RECV`, whose sockets have no congestion control.
const STATES: u32 = 0xfff & !(1 << 6) & !(1 << 12);
const GET_ROUTE: u16 = 26;
const ROUTE_MESSAGE: usize = 12;
const ROUTE_TO: u16 = 1;
const ROUTE_METRICS: u16 = 8;
const METRIC_LOCK: u16 = 1;
const METRIC_CONGESTION: u16 = 16;

/// Returns the TCP sockets of this thread's network namespace.
///
/// # Errors
/// A kernel without `sock_diag` for TCP.
pub fn sockets() -> Result<Vec<Socket>, KernelError> {
    let mut all = Vec::new();
    for family in FAMILIES {
        let mut request = [0; DIAG_REQUEST];
        request[..3].copy_from_slice(&[family, TCP, 1 << (DIAG_CONGESTION - 1)]);
        request[4..8].copy_from_slice(&STATES.to_ne_bytes());
        dump(SockProtocol::NetlinkSockDiag, (SOCK_DIAG_BY_FAMILY, &request), |body| {
            all.extend(socket(body));
        })?;
    }
    Ok(all)
}

fn socket(body: &[u8]) -> Option<Socket> {
    let message: &[u8; DIAG_MESSAGE] = body.first_chunk()?;
    let port = |at: usize| u16::from_be_bytes([message[at], message[at + 1]]);
    let address = |at: usize| -> Option<IpAddr> {
        let bytes: [u8; 16] = message[at..at + 16].try_into().ok()?;
        let [a, b, c, d, ..] = bytes;
        Some(if message[0] == FAMILIES[0] {
            [a, b, c, d].into()
        } else {
            Ipv6Addr::from(bytes).to_canonical()
        })
    };
    let (mut law, mut cgroup) = (None, 0);
    for (kind, value) in attributes(&body[DIAG_MESSAGE..]) {
        match kind {
            DIAG_CONGESTION => law = Some(text(value)),
            DIAG_CGROUP => cgroup = value.first_chunk().map_or(0, |eight| u64::from_ne_bytes(*eight)),
            _ => {}
        }
    }
    let (local, remote) = (SocketAddr::new(address(8)?, port(4)), SocketAddr::new(address(24)?, port(6)));
    Some(Socket { local, remote, listens: message[1] == LISTEN, law: law?, cgroup })
}

/// Returns the routes of this thread's network namespace that name a congestion control.
///
/// # Errors
/// Routes that cannot be listed.
pub fn routes() -> Result<Vec<Route>, KernelError> {
    let mut all = Vec::new();
    let request = (GET_ROUTE, &[0; ROUTE_MESSAGE][..]);
    dump(SockProtocol::NetlinkRoute, request, |body| all.extend(route(body)))?;
    Ok(all)
}

fn route(body: &[u8]) -> Option<Route> {
    let [family, length, ..] = *body.first_chunk::<ROUTE_MESSAGE>()?;
    let mut address: IpAddr =
        if family == FAMILIES[0] { [0; 4].into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let (mut law, mut locks) = (None, 0);
    for (kind, value) in attributes(&body[ROUTE_MESSAGE..]) {
        match kind {
            ROUTE_TO => {
                let v4 = <[u8; 4]>::try_from(value).map(IpAddr::from);
                address = v4.or_else(|_| <[u8; 16]>::try_from(value).map(IpAddr::from)).ok()?;
            }
            ROUTE_METRICS => {
                for (metric, value) in attributes(value) {
                    match metric {
                        METRIC_LOCK => {
                            locks = value.first_chunk().map_or(0, |four| u32::from_ne_bytes(*four));
                        }
                        METRIC_CONGESTION => law = Some(text(value)),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    let is_locked = locks >> METRIC_CONGESTION & 1 == 1;
    Some(Route { to: Prefix::new(address, length)?, law: law?, is_locked })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_listener_and_both_ends_of_a_connection_are_listed_with_their_congestion_control() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let here = listener.local_addr().expect("its address");
        let stream = TcpStream::connect(here).expect("it listens");
        let accepted = listener.accept().expect("a connection").0;
        let all = sockets().expect("a list");
        let count = |listens, local, remote: Option<SocketAddr>| {
            let is_it = |one: &&Socket| {
                one.listens == listens
                    && one.local == local
                    && remote.is_none_or(|remote| one.remote == remote)
            };
            all.iter().filter(is_it).inspect(|one| assert!(!one.law.is_empty(), "{one:?}")).count()
        };
        let there = stream.local_addr().expect("its address");
        assert_eq!(accepted.peer_addr().expect("its address"), there);
        assert_eq!(
            [count(true, here, None), count(false, here, Some(there)), count(false, there, Some(here))],
            [1; 3]
        );
    }

    #[test]
    fn a_route_is_read_with_its_congestion_control_and_lock() {
        let attribute = |kind: u16, value: &[u8]| {
            let length = u16::try_from(4 + value.len()).expect("short");
            let mut bytes = [length.to_ne_bytes(), kind.to_ne_bytes()].concat();
            bytes.extend(value);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            bytes
        };
        let metrics = [attribute(1, &(1u32 << 16).to_ne_bytes()), attribute(16, b"cubic\0")].concat();
        let mut body = vec![2, 24, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0];
        body.extend(attribute(1, &[10, 0, 3, 0]));
        body.extend(attribute(8, &metrics));
        let wanted =
            Route { to: "10.0.3.0/24".parse().expect("a prefix"), law: "cubic".to_owned(), is_locked: true };
        assert_eq!(route(&body), Some(wanted));
        assert_eq!(route(&body[..body.len() - metrics.len() - 4]), None, "without a congestion control");
        assert_eq!(route(&body[..8]), None);
    }
}
