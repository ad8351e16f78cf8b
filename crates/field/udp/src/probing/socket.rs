//! A UDP socket with kernel receive timestamps, which do not depend on the process.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::{SocketAddr, SocketAddrV4, SocketAddrV6, UdpSocket};
use std::os::fd::AsRawFd;

use firstflight::{Span, Time};
use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, sendmsg, setsockopt, sockopt,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::{
    Ipv4PathMtuDiscovery, Ipv6PathMtuDiscovery, set_ip_mtu_discover, set_ipv6_mtu_discover,
};

/// The requested size of the socket's buffers. The system may limit it.
const BUFFER: usize = 1 << 20;
/// The size of the buffer for control messages (timestamp and addresses) in bytes, with room to spare.
const ASIDE: usize = 256;
/// The time for which the socket waits for a device with a full queue before it drops the datagram.
const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// A UDP socket.
#[derive(Debug)]
pub(super) struct Socket {
    udp: UdpSocket,
}

/// A datagram that arrived.
#[derive(Debug)]
pub(super) struct Received {
    pub(super) length: usize,
    /// The arrival time by the system's clock; `None` if the system does not report it.
    pub(super) at: Option<Time>,
    /// The sender's address; `None` on a connected socket.
    pub(super) from: Option<SockaddrStorage>,
    /// The local address to which the peer sent the datagram.
    to: Option<ControlMessageOwned>,
}

impl Socket {
    /// Makes a socket that receives from one peer.
    pub(super) fn to(peer: SocketAddr) -> io::Result<Self> {
        let any: SocketAddr = if peer.is_ipv4() { ([0; 4], 0).into() } else { ([0_u16; 8], 0).into() };
        let udp = UdpSocket::bind(any)?;
        udp.connect(peer)?;
        Self::of(udp)
    }

    /// Makes a socket that receives from any address.
    pub(super) fn at(address: SocketAddr) -> io::Result<Self> {
        let udp = UdpSocket::bind(address)?;
        match address {
            SocketAddr::V4(_) => setsockopt(&udp, sockopt::Ipv4PacketInfo, &true)?,
            SocketAddr::V6(_) => setsockopt(&udp, sockopt::Ipv6RecvPacketInfo, &true)?,
        }
        Self::of(udp)
    }

    fn of(udp: UdpSocket) -> io::Result<Self> {
        udp.set_nonblocking(true)?;
        setsockopt(&udp, sockopt::ReceiveTimestampns, &true)?;
        // The system grants as much as it allows.
        let _ = socket2::SockRef::from(&udp).set_recv_buffer_size(BUFFER);
        if udp.local_addr()?.is_ipv4() {
            set_ip_mtu_discover(&udp, Ipv4PathMtuDiscovery::PROBE)?;
        } else {
            set_ipv6_mtu_discover(&udp, Ipv6PathMtuDiscovery::PROBE)?;
        }
        Ok(Self { udp })
    }

    pub(super) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.udp.local_addr()
    }

    /// Returns the MTU of the path to the peer as far as the system knows it.
    pub(super) fn widest(&self) -> Option<u64> {
        let mtu = nix::sys::socket::getsockopt(&self.udp, sockopt::IpMtu).ok()?;
        u64::try_from(mtu).ok()
    }

    /// Sends a datagram to the peer. Returns `false` if the datagram was lost on this host.
    pub(super) fn send(&self, bytes: &[u8]) -> io::Result<bool> {
        let mut waited = false;
        loop {
            match self.udp.send(bytes) {
                Ok(_) => return Ok(true),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && !waited => {
                    let _ = poll(&mut [PollFd::new(&self.udp, PollFlags::OUT)], Some(&PATIENCE));
                    waited = true;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_of_the_peer(&error) || is_too_long(&error) => return Err(error),
                // With any other error the datagram is lost, as it could be lost on a path.
                Err(_) => return Ok(false),
            }
        }
    }

    /// Answers a datagram. The answer's source is the address to which the datagram was sent. An answer that cannot be sent is lost.
    pub(super) fn answer(&self, received: &Received, bytes: &[u8]) {
        let aside = match &received.to {
            Some(ControlMessageOwned::Ipv4PacketInfo(info)) => Some(ControlMessage::Ipv4PacketInfo(info)),
            Some(ControlMessageOwned::Ipv6PacketInfo(info)) => Some(ControlMessage::Ipv6PacketInfo(info)),
            _ => None,
        };
        let aside: Vec<_> = aside.into_iter().collect();
        let flags = MsgFlags::MSG_DONTWAIT;
        let _ = sendmsg(self.udp.as_raw_fd(), &[IoSlice::new(bytes)], &aside, flags, received.from.as_ref());
    }

    /// Reads a datagram, if one has arrived.
    pub(super) fn receive(&self, bytes: &mut [u8]) -> io::Result<Option<Received>> {
        let mut aside = [0; ASIDE];
        let mut parts = [IoSliceMut::new(bytes)];
        let got = recvmsg::<SockaddrStorage>(
            self.udp.as_raw_fd(),
            &mut parts,
            Some(&mut aside),
            MsgFlags::MSG_DONTWAIT,
        );
        let got = match got {
            Ok(got) => got,
            Err(Errno::EAGAIN | Errno::EINTR) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let (mut at, mut to) = (None, None);
        for message in got.cmsgs()? {
            match message {
                ControlMessageOwned::ScmTimestampns(instant) => {
                    let (seconds, nanos) = (instant.tv_sec(), instant.tv_nsec());
                    let since = |seconds: i64, nanos: i64| {
                        u64::try_from(seconds).ok()?.checked_mul(1_000_000_000)?.checked_add_signed(nanos)
                    };
                    at = since(seconds, nanos).map(Time::from_nanos);
                }
                info @ (ControlMessageOwned::Ipv4PacketInfo(_) | ControlMessageOwned::Ipv6PacketInfo(_)) => {
                    to = Some(info);
                }
                _ => {}
            }
        }
        Ok(Some(Received { length: got.bytes, at, from: got.address, to }))
    }

    /// Waits for at most `span` until a datagram may have arrived.
    pub(super) fn wait(&self, span: Span) {
        // An interrupted wait ends early.
        let _ = poll(&mut [PollFd::new(&self.udp, PollFlags::IN)], Some(&crate::clock::timespec(span)));
    }
}

impl Received {
    /// Returns the sender's address.
    pub(super) fn peer(&self) -> Option<SocketAddr> {
        let from = self.from.as_ref()?;
        let v4 = from.as_sockaddr_in().map(|v4| SocketAddr::V4(SocketAddrV4::from(*v4)));
        v4.or_else(|| from.as_sockaddr_in6().map(|v6| SocketAddr::V6(SocketAddrV6::from(*v6))))
    }
}

/// Returns whether an error reports that the peer's port, host or network is unreachable.
pub(super) fn is_of_the_peer(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, HostUnreachable, NetworkUnreachable};
    matches!(error.kind(), ConnectionRefused | HostUnreachable | NetworkUnreachable)
}

/// Returns whether an error reports that a datagram is known to be too long for the device or the path.
pub(super) fn is_too_long(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::MSGSIZE.raw_os_error())
}
