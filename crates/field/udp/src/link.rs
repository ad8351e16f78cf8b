//! The links over which a host sends its segments: a UDP socket, or a TUN device.

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use firstflight_tcp::{Ecn, Segment};
use firstflight_wire::{Addresses, Checksum, Hosts, Ip};
use quinn_udp::{EcnCodepoint, RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tun_rs::{DeviceBuilder, SyncDevice};

use crate::cookie::{self, Cookie, Ends};
use crate::frame::{self, HEADER};
use crate::options::Options;
use crate::seal::{OVERHEAD, Seals};

/// The number of receive buffers per system call.
const BUFFERS: usize = 8;
/// The size of one receive buffer: the maximum number of bytes that the system may merge into one read (GRO).
const BUFFER: usize = 1 << 16;
/// The maximum number of bytes sent in one system call.
const BURST: usize = 60_000;
/// The maximum number of packets read from a TUN device in one call of [`Link::receive`].
const PACKETS: usize = 64;
/// The requested size of the socket's buffers. The system may limit it.
const SOCKET_BUFFER: usize = 4 << 20;
/// The time for which a host waits for a device with a full queue before it drops a packet.
const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// The addressing of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Route {
    pub(crate) ends: Ends,
    /// The local address to which the peer sends, if the socket has several.
    pub(crate) from: Option<IpAddr>,
    /// `true` if this host opens the connection. For a segment that arrived, this is known only if datagrams are sealed.
    pub(crate) opens: bool,
}

/// A segment that arrived.
#[derive(Debug)]
pub(crate) struct Arrival<'a> {
    pub(crate) route: Route,
    pub(crate) segment: Segment,
    pub(crate) cookie: Option<Cookie>,
    pub(crate) payload: &'a [u8],
    /// Bytes of the TCP header, options and payload.
    pub(crate) length: u16,
}

/// A link over which segments are sent and received.
pub(crate) enum Link {
    Udp(Udp),
    Tun(Tun),
}

impl Link {
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Udp(udp) => udp.socket.as_fd(),
            Self::Tun(tun) => tun.device.as_fd(),
        }
    }

    /// Reads a bounded number of datagrams into `input`. Returns whether there were any.
    pub(crate) fn receive(&mut self, input: &mut Input) -> bool {
        input.clear();
        match self {
            Self::Udp(udp) => udp.receive(input),
            Self::Tun(tun) => tun.receive(input),
        }
        input.count > 0
    }

    /// Returns the segment of a packet that arrived; `None` if the segment is not for this host. A sealed packet is opened in place.
    pub(crate) fn read<'a>(
        &self,
        from: SocketAddr,
        at: Option<IpAddr>,
        ecn: Ecn,
        bytes: &'a mut [u8],
    ) -> Option<Arrival<'a>> {
        match self {
            Self::Udp(udp) => {
                let (of_opener, bytes) = match &udp.seals {
                    Some(seals) => seals.open(bytes)?,
                    None => (true, &*bytes),
                };
                let read = frame::decode(bytes)?;
                let ends = Ends { peer: from, theirs: read.source_port, ours: read.destination_port };
                let segment = Segment { ecn, ..read.segment };
                let cookie = cookie::find(read.options);
                let length = HEADER + u16::try_from(read.options.len() + read.payload.len()).ok()?;
                Some(Arrival {
                    route: Route { ends, from: at, opens: !of_opener },
                    segment,
                    cookie,
                    payload: read.payload,
                    length,
                })
            }
            Self::Tun(tun) => tun.read(bytes),
        }
    }

    /// Queues a segment. The next [`Link::flush`] sends it at the latest.
    pub(crate) fn send(
        &mut self,
        route: &Route,
        segment: &Segment,
        cookie: Option<&Cookie>,
        payload: [&[u8]; 2],
    ) {
        match self {
            Self::Udp(udp) => udp.send(route, segment, cookie.map_or(&[], |cookie| &cookie[..]), payload),
            Self::Tun(tun) => tun.send(route, segment, payload),
        }
    }

    /// Sends the queued segments.
    pub(crate) fn flush(&mut self) {
        if let Self::Udp(udp) = self {
            udp.flush();
        }
    }

    /// Returns whether datagrams are sealed.
    pub(crate) fn is_sealed(&self) -> bool {
        matches!(self, Self::Udp(udp) if udp.seals.is_some())
    }

    /// Returns the number of bytes by which a datagram is longer than its segment.
    pub(crate) fn overhead(&self) -> u16 {
        if self.is_sealed() { OVERHEAD } else { 0 }
    }

    /// Returns whether peers prove their addresses by a cookie.
    pub(crate) fn has_cookies(&self) -> bool {
        matches!(self, Self::Udp(_))
    }

    /// Returns the endpoints between which the system refused to send since the previous call, each with the reason.
    pub(crate) fn take_unreachable(&mut self) -> Vec<(Ends, io::ErrorKind)> {
        match self {
            Self::Udp(udp) => std::mem::take(&mut udp.unreachable),
            Self::Tun(_) => Vec::new(),
        }
    }

    /// Returns the peers to which a datagram was too long for the device since the previous call.
    pub(crate) fn take_too_large(&mut self) -> Vec<SocketAddr> {
        match self {
            Self::Udp(udp) => std::mem::take(&mut udp.too_large),
            Self::Tun(_) => Vec::new(),
        }
    }
}

/// Buffers for received packets.
#[derive(Debug)]
pub(crate) struct Input {
    bytes: Vec<u8>,
    count: usize,
    metas: [RecvMeta; BUFFERS],
    /// The end of each packet in `bytes`; empty for a UDP socket.
    ends: Vec<usize>,
}

impl Input {
    pub(crate) fn new() -> Self {
        let bytes = vec![0; BUFFERS * BUFFER];
        Self { bytes, count: 0, metas: [RecvMeta::default(); BUFFERS], ends: Vec::new() }
    }

    fn clear(&mut self) {
        self.count = 0;
        self.ends.clear();
    }

    /// Calls `take` with each packet, its sender, its destination address and its ECN field.
    pub(crate) fn for_each(&mut self, mut take: impl FnMut(SocketAddr, Option<IpAddr>, Ecn, &mut [u8])) {
        if self.ends.is_empty() {
            let received = self.bytes.chunks_mut(BUFFER).zip(&self.metas).take(self.count);
            for (bytes, meta) in received {
                let bytes = &mut bytes[..meta.len.min(BUFFER)];
                for packet in bytes.chunks_mut(meta.stride.max(1)) {
                    take(meta.addr, meta.dst_ip, ecn_of(meta), packet);
                }
            }
        }
        let nobody = RecvMeta::default().addr;
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        for (start, end) in starts.zip(&self.ends) {
            take(nobody, None, Ecn::NotCapable, &mut self.bytes[start..*end]);
        }
    }
}

fn ecn_of(meta: &RecvMeta) -> Ecn {
    match meta.ecn {
        None => Ecn::NotCapable,
        Some(EcnCodepoint::Ect0) => Ecn::Ect0,
        Some(EcnCodepoint::Ect1) => Ecn::Ect1,
        Some(EcnCodepoint::Ce) => Ecn::Ce,
    }
}

/// A UDP socket.
pub(crate) struct Udp {
    socket: UdpSocket,
    state: UdpSocketState,
    seals: Option<Box<Seals>>,
    /// The maximum number of datagrams per system call.
    most: usize,
    /// Queued datagrams to one peer. All have the same length except the last, which may be shorter.
    run: Vec<u8>,
    to: Option<(Route, Ecn)>,
    length: usize,
    count: usize,
    too_large: Vec<SocketAddr>,
    unreachable: Vec<(Ends, io::ErrorKind)>,
}

impl Udp {
    pub(crate) fn new(socket: UdpSocket, options: &Options) -> io::Result<Self> {
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        let reference = socket2::SockRef::from(&socket);
        // The system grants as much as it allows.
        let _ = reference.set_recv_buffer_size(SOCKET_BUFFER);
        let _ = reference.set_send_buffer_size(SOCKET_BUFFER);
        let seals = options.key.as_ref().map(Seals::new).transpose()?.map(Box::new);
        let most = if options.batches { state.max_gso_segments() } else { 1 };
        let (run, too_large) = (Vec::with_capacity(BUFFER), Vec::new());
        let unreachable = Vec::new();
        Ok(Self { socket, state, seals, most, run, to: None, length: 0, count: 0, too_large, unreachable })
    }

    fn receive(&mut self, input: &mut Input) {
        let mut buffers = input.bytes.chunks_mut(BUFFER);
        let mut slices: [IoSliceMut<'_>; BUFFERS] =
            std::array::from_fn(|_| IoSliceMut::new(buffers.next().unwrap_or_default()));
        let received = self.state.recv(UdpSockRef::from(&self.socket), &mut slices, &mut input.metas);
        // On an error nothing was read. Either nothing has arrived, or the error belongs to an earlier datagram, whose loss TCP repairs.
        input.count = received.unwrap_or(0);
    }

    fn send(&mut self, route: &Route, segment: &Segment, further: &[u8], payload: [&[u8]; 2]) {
        let start = self.run.len();
        if !self.encode(route, segment, further, payload) {
            self.run.truncate(start);
            return;
        }
        let length = self.run.len() - start;
        let fits = self.to == Some((*route, segment.ecn)) && length <= self.length && self.run.len() <= BURST;
        if self.to.is_some() && !fits {
            self.transmit(start);
            self.run.drain(..start);
            self.count = 0;
        }
        if self.count == 0 {
            (self.to, self.length) = (Some((*route, segment.ecn)), length);
        }
        self.count += 1;
        if length < self.length || self.count >= self.most {
            self.flush();
        }
    }

    /// Appends the datagram of a segment. Returns `false` if it cannot be encoded.
    fn encode(&mut self, route: &Route, segment: &Segment, further: &[u8], payload: [&[u8]; 2]) -> bool {
        let ports = (route.ends.ours, route.ends.theirs);
        let start = self.run.len();
        if let Some(seals) = &mut self.seals {
            seals.begin(route.opens, &mut self.run);
        }
        let is_encoded = frame::encode(ports, segment, further, payload, &mut self.run).is_ok();
        is_encoded && self.seals.as_ref().is_none_or(|seals| seals.seal(start, &mut self.run))
    }

    fn flush(&mut self) {
        self.transmit(self.run.len());
        self.run.clear();
        (self.to, self.count) = (None, 0);
    }

    /// Passes the first `end` bytes of the queued datagrams to the system.
    fn transmit(&mut self, end: usize) {
        let Some((route, ecn)) = self.to.filter(|_| end > 0) else { return };
        let length = self.length;
        if self.count > 1 {
            if self.hand_over(&route, ecn, &self.run[..end], Some(length)).is_ok() {
                return;
            }
            // The device does not segment, or a datagram is too long for it.
            self.most = self.most.min(self.state.max_gso_segments());
        }
        for start in (0..end).step_by(length.max(1)) {
            let one = &self.run[start..end.min(start + length)];
            match self.hand_over(&route, ecn, one, None) {
                Err(error) if quinn_udp::is_msg_size_err(&error) => self.is_too_large(route.ends.peer),
                Err(error) if is_of_the_route(error.kind()) => {
                    self.unreachable.push((route.ends, error.kind()));
                    break;
                }
                // With any other error the datagram is lost, as it could be lost on a path.
                _ => {}
            }
        }
    }

    fn is_too_large(&mut self, peer: SocketAddr) {
        if !self.too_large.contains(&peer) {
            self.too_large.push(peer);
        }
    }

    fn hand_over(
        &self,
        route: &Route,
        ecn: Ecn,
        contents: &[u8],
        segment_size: Option<usize>,
    ) -> io::Result<()> {
        let ecn = match ecn {
            Ecn::NotCapable => None,
            Ecn::Ect0 => Some(EcnCodepoint::Ect0),
            Ecn::Ect1 => Some(EcnCodepoint::Ect1),
            Ecn::Ce => Some(EcnCodepoint::Ce),
        };
        let transmit =
            Transmit { destination: route.ends.peer, ecn, contents, segment_size, src_ip: route.from };
        let mut waited = false;
        loop {
            match self.state.try_send(UdpSockRef::from(&self.socket), &transmit) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && !waited => {
                    let mut fds = [PollFd::new(&self.socket, PollFlags::OUT)];
                    let _ = poll(&mut fds, Some(&PATIENCE));
                    waited = true;
                }
                done => return done,
            }
        }
    }
}

/// Returns whether an error applies to the route to an address, rather than to one datagram.
fn is_of_the_route(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{AddrNotAvailable, HostUnreachable, InvalidInput, NetworkUnreachable};
    matches!(kind, AddrNotAvailable | HostUnreachable | InvalidInput | NetworkUnreachable)
}

/// A TUN device. The kernel's IP is at its other end.
pub(crate) struct Tun {
    device: SyncDevice,
    own: IpAddr,
    packet: Vec<u8>,
    identification: u16,
}

impl Tun {
    /// Opens the TUN device `name` with `own` as the local address. Creates the device if it does not exist.
    pub(crate) fn new(name: &str, own: IpAddr) -> io::Result<Self> {
        let device = DeviceBuilder::new().name(name).build_sync()?;
        device.set_nonblocking(true)?;
        Ok(Self { device, own, packet: Vec::new(), identification: 0 })
    }

    fn receive(&mut self, input: &mut Input) {
        let mut start = 0;
        while input.count < PACKETS && start + BUFFER <= input.bytes.len() {
            let Ok(length) = self.device.recv(&mut input.bytes[start..start + BUFFER]) else { break };
            start += length;
            input.ends.push(start);
            input.count += 1;
        }
    }

    fn read<'a>(&self, bytes: &'a [u8]) -> Option<Arrival<'a>> {
        let packet = firstflight_wire::decode(bytes).ok()?;
        let good = packet.tcp_checksum == Checksum::Good && packet.ip_checksum == Checksum::Good;
        let (from, to): (IpAddr, IpAddr) = match packet.addresses.hosts {
            Hosts::V4 { source, destination } => (source.into(), destination.into()),
            Hosts::V6 { source, destination } => (source.into(), destination.into()),
        };
        let Addresses { source_port, destination_port, .. } = packet.addresses;
        let peer = SocketAddr::new(from, source_port);
        let ends = Ends { peer, theirs: source_port, ours: destination_port };
        let route = Route { ends, from: None, opens: false };
        let arrival = Arrival {
            route,
            segment: packet.segment,
            cookie: None,
            payload: packet.payload,
            length: u16::MAX,
        };
        (good && to == self.own).then_some(arrival)
    }

    fn send(&mut self, route: &Route, segment: &Segment, payload: [&[u8]; 2]) {
        let hosts = match (self.own, route.ends.peer.ip()) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => Hosts::V4 { source, destination },
            (IpAddr::V6(source), IpAddr::V6(destination)) => Hosts::V6 { source, destination },
            _ => return,
        };
        self.identification = self.identification.wrapping_add(1);
        let addresses =
            Addresses { hosts, source_port: route.ends.ours, destination_port: route.ends.theirs };
        let ip = Ip { addresses, identification: self.identification, hop_limit: 64 };
        let joined;
        let payload = match payload {
            [all, []] => all,
            pieces => {
                joined = pieces.concat();
                &joined
            }
        };
        if firstflight_wire::encode(&ip, segment, payload, &mut self.packet).is_ok()
            && self.device.send(&self.packet).is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
        {
            let mut fds = [PollFd::new(&self.device, PollFlags::OUT)];
            let _ = poll(&mut fds, Some(&PATIENCE));
            // A packet that the device still refuses is lost, as it could be lost on any link.
            let _ = self.device.send(&self.packet);
        }
    }
}

/// Returns the largest TCP segment, header included, that fits in a packet of 1500 bytes after the headers that carry it.
pub(crate) fn usual_segment(link: &Link, own: SocketAddr) -> u16 {
    match link {
        Link::Udp(_) if own.is_ipv4() => 1_472,
        Link::Udp(_) => 1_452,
        Link::Tun(_) => 1_460 + HEADER,
    }
}
