//! Configures interfaces and addresses with messages to the kernel (rtnetlink(7), `linux/rtnetlink.h`).

use std::io;
use std::net::IpAddr;
use std::os::fd::OwnedFd;

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netdevice, recv, send, socket_with,
};

use crate::addresses::Side;

/// A socket to the kernel's configuration of the network namespace.
pub(super) struct Netlink(OwnedFd);

/// The name of a host's interface.
pub(super) const NAME: &str = "path0";

const NEW_LINK: u16 = 16;
const NEW_ADDRESS: u16 = 20;
const NEW_ROUTE: u16 = 24;
const REQUEST: u16 = 1;
const ACKNOWLEDGE: u16 = 4;
const REPLACE: u16 = 0x100;
const CREATE: u16 = 0x400;
const UP: u32 = 1;
const LINK_NAME: u16 = 3;
const LINK_MTU: u16 = 4;
const LINK_QUEUE: u16 = 13;
const LINK_GSO_SEGMENTS: u16 = 40;
const ADDRESS_PEER: u16 = 1;
const ADDRESS_LOCAL: u16 = 2;
const ROUTE_DESTINATION: u16 = 1;
const ROUTE_DEVICE: u16 = 4;
const ROUTE_SOURCE: u16 = 7;
const ROUTE_METRICS: u16 = 8;
/// Fields of `struct rtmsg` after the prefix lengths: TOS 0, table main, protocol kernel, scope link, type unicast, no flags.
const ROUTE: [u8; 9] = [0, 254, 2, 253, 1, 0, 0, 0, 0];
/// The flag that disables duplicate address detection (RFC 4862), which is useless because there is only one peer.
const NO_DAD: u8 = 2;

/// The maximum number of packets that wait for the relay. A device's default of 500 would drop packets for which the path has room.
const QUEUE: u32 = 10_000;

impl Netlink {
    pub(super) fn new() -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC;
        Ok(Self(socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None)?))
    }

    /// Brings the loopback interface up.
    pub(super) fn loopback(&self) -> io::Result<()> {
        self.ask(NEW_LINK, 0, &link(1, UP), &[])
    }

    /// Brings the interface up with this MTU. Limits segmentation offload (GSO) to one segment, so that the kernel paces single packets.
    pub(super) fn up(&self, name: &str, mtu: u32) -> io::Result<()> {
        let named = [name.as_bytes(), &[0]].concat();
        let attributes = [
            (LINK_NAME, named),
            (LINK_MTU, mtu.to_ne_bytes().to_vec()),
            (LINK_QUEUE, QUEUE.to_ne_bytes().to_vec()),
            (LINK_GSO_SEGMENTS, 1u32.to_ne_bytes().to_vec()),
        ];
        self.ask(NEW_LINK, 0, &link(0, UP), &attributes)
    }

    /// Returns the index of an interface.
    pub(super) fn index(&self, name: &str) -> io::Result<u32> {
        Ok(netdevice::name_to_index(&self.0, name)?)
    }

    /// Gives the interface the address of a host, with the other host as the only peer.
    pub(super) fn address(&self, index: u32, side: Side, is_v6: bool) -> io::Result<()> {
        let of = |side: Side| if is_v6 { IpAddr::V6(side.host().v6) } else { IpAddr::V4(side.host().v4) };
        let bytes = |address: IpAddr| match address {
            IpAddr::V4(v4) => v4.octets().to_vec(),
            IpAddr::V6(v6) => v6.octets().to_vec(),
        };
        let (family, prefix) = if is_v6 { (AddressFamily::INET6, 128) } else { (AddressFamily::INET, 32) };
        let family = u8::try_from(family.as_raw()).unwrap_or_default();
        let mut body = vec![family, prefix, if is_v6 { NO_DAD } else { 0 }, 0];
        body.extend(index.to_ne_bytes());
        let attributes = [(ADDRESS_LOCAL, bytes(of(side))), (ADDRESS_PEER, bytes(of(side.other())))];
        self.ask(NEW_ADDRESS, CREATE, &body, &attributes)
    }

    /// Sets the metrics of the route to the other host. Each metric is a `RTAX_` number and the bytes of its value. The route is the one
    /// that was added together with the address.
    pub(super) fn route(&self, index: u32, side: Side, metrics: &[(u16, Vec<u8>)]) -> io::Result<()> {
        let family = u8::try_from(AddressFamily::INET.as_raw()).unwrap_or_default();
        let mut body = vec![family, 32, 0];
        body.extend(ROUTE);
        let attributes = [
            (ROUTE_DESTINATION, side.other().host().v4.octets().to_vec()),
            (ROUTE_DEVICE, index.to_ne_bytes().to_vec()),
            (ROUTE_SOURCE, side.host().v4.octets().to_vec()),
            (ROUTE_METRICS, padded(metrics)),
        ];
        self.ask(NEW_ROUTE, CREATE | REPLACE, &body, &attributes)
    }

    /// Sends a request and waits for its acknowledgement.
    fn ask(&self, kind: u16, flags: u16, body: &[u8], attributes: &[(u16, Vec<u8>)]) -> io::Result<()> {
        let message = message(kind, flags | REQUEST | ACKNOWLEDGE, body, attributes);
        send(&self.0, &message, SendFlags::empty())?;
        let mut answer = [0; 4096];
        let (length, _) = recv(&self.0, &mut answer[..], RecvFlags::empty())?;
        // The header of 16 bytes is followed by zero or a negative error number.
        let code = answer.get(16..20.min(length)).and_then(|bytes| bytes.first_chunk::<4>());
        match code.map_or(0, |code| i32::from_ne_bytes(*code)) {
            0 => Ok(()),
            code => Err(io::Error::from_raw_os_error(-code)),
        }
    }
}

/// Returns the body of a message about an interface: `struct ifinfomsg`.
fn link(index: i32, flags: u32) -> Vec<u8> {
    let mut body = vec![0; 4];
    body.extend(index.to_ne_bytes());
    body.extend(flags.to_ne_bytes());
    body.extend(flags.to_ne_bytes());
    body
}

/// Returns a whole message: `struct nlmsghdr`, the body, and attributes, each padded to four bytes.
fn message(kind: u16, flags: u16, body: &[u8], attributes: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let mut message = vec![0; 4];
    message.extend(kind.to_ne_bytes());
    message.extend(flags.to_ne_bytes());
    message.extend([0; 8]);
    message.extend(body);
    message.extend(padded(attributes));
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
    message[..4].copy_from_slice(&length.to_ne_bytes());
    message
}

/// Returns the bytes of attributes, each padded to four bytes.
fn padded(attributes: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (kind, value) in attributes {
        let length = u16::try_from(value.len() + 4).unwrap_or(u16::MAX);
        bytes.extend(length.to_ne_bytes());
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_its_length_and_padded_attributes() {
        let message = message(NEW_LINK, REQUEST, &link(7, UP), &[(LINK_NAME, b"tun0\0".to_vec())]);
        assert_eq!(message.len(), 16 + 16 + 12);
        assert_eq!(message[..4], 44u32.to_ne_bytes());
        assert_eq!(message[20..24], 7i32.to_ne_bytes());
        assert_eq!(message[32..34], 9u16.to_ne_bytes(), "the padding does not count");
        assert_eq!(&message[36..], b"tun0\0\0\0\0");
    }
}
