//! What carries the segments of a host: a UDP socket, or a TUN.

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

/// How many buffers are received into at once.
const BUFFERS: usize = 8;
/// The size of one: what the system may have put together (GRO).
const BUFFER: usize = 1 << 16;
/// The most bytes that leave at once.
const BURST: usize = 60_000;
/// The most packets read from a TUN at once.
const PACKETS: usize = 64;
/// The room asked of the system for what arrives and waits. The system gives less if it allows less.
const SOCKET_BUFFER: usize = 4 << 20;
/// For how long a host waits for a device that takes nothing before it drops a packet.
const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// Where a segment goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Route {
    pub(crate) ends: Ends,
    /// Our address to which the peer sends, if the socket has several.
    pub(crate) from: Option<IpAddr>,
}

/// A segment that arrived.
#[derive(Debug)]
pub(crate) struct Arrival<'a> {
    pub(crate) route: Route,
    pub(crate) segment: Segment,
    pub(crate) cookie: Option<Cookie>,
    pub(crate) payload: &'a [u8],
    /// Bytes of the TCP header, options and payload.
    pub(crate) width: u16,
}

/// What carries segments.
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

    /// Takes what arrived into `input`, a bounded part of it; whether there was anything.
    pub(crate) fn receive(&mut self, input: &mut Input) -> bool {
        input.clear();
        match self {
            Self::Udp(udp) => udp.receive(input),
            Self::Tun(tun) => tun.receive(input),
        }
        input.count > 0
    }

    /// The segment in a packet that arrived, if it is one for us.
    pub(crate) fn read<'a>(
        &self,
        from: SocketAddr,
        at: Option<IpAddr>,
        ecn: Ecn,
        bytes: &'a [u8],
    ) -> Option<Arrival<'a>> {
        match self {
            Self::Udp(_) => {
                let read = frame::decode(bytes)?;
                let ends = Ends { peer: from, theirs: read.source_port, ours: read.destination_port };
                let segment = Segment { ecn, ..read.segment };
                let cookie = cookie::find(read.options);
                let width = HEADER + u16::try_from(read.options.len() + read.payload.len()).ok()?;
                Some(Arrival {
                    route: Route { ends, from: at },
                    segment,
                    cookie,
                    payload: read.payload,
                    width,
                })
            }
            Self::Tun(tun) => tun.read(bytes),
        }
    }

    /// Takes a segment to send, which leaves at the next [`Link::flush`] at the latest.
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

    /// Sends what was taken.
    pub(crate) fn flush(&mut self) {
        if let Self::Udp(udp) = self {
            udp.flush();
        }
    }

    /// Whether peers prove their addresses by a cookie.
    pub(crate) fn has_cookies(&self) -> bool {
        matches!(self, Self::Udp(_))
    }

    /// Ends between which the system can send nothing, and why, since this was asked last.
    pub(crate) fn take_unreachable(&mut self) -> Vec<(Ends, io::ErrorKind)> {
        match self {
            Self::Udp(udp) => std::mem::take(&mut udp.unreachable),
            Self::Tun(_) => Vec::new(),
        }
    }

    /// Peers to which a datagram was too large for the device, since this was asked last.
    pub(crate) fn take_too_large(&mut self) -> Vec<SocketAddr> {
        match self {
            Self::Udp(udp) => std::mem::take(&mut udp.too_large),
            Self::Tun(_) => Vec::new(),
        }
    }
}

/// Buffers for what arrives.
#[derive(Debug)]
pub(crate) struct Input {
    bytes: Vec<u8>,
    count: usize,
    metas: [RecvMeta; BUFFERS],
    /// Of a TUN: the ends of the packets.
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

    /// Every packet with its sender, the address it was sent to and its ECN field.
    pub(crate) fn packets(&self) -> impl Iterator<Item = (SocketAddr, Option<IpAddr>, Ecn, &[u8])> {
        let of_udp = self.metas[..if self.ends.is_empty() { self.count } else { 0 }].iter().enumerate();
        let of_udp = of_udp.flat_map(|(index, meta)| {
            let bytes = &self.bytes[index * BUFFER..index * BUFFER + meta.len.min(BUFFER)];
            let ecn = match meta.ecn {
                None => Ecn::NotCapable,
                Some(EcnCodepoint::Ect0) => Ecn::Ect0,
                Some(EcnCodepoint::Ect1) => Ecn::Ect1,
                Some(EcnCodepoint::Ce) => Ecn::Ce,
            };
            bytes.chunks(meta.stride.max(1)).map(move |packet| (meta.addr, meta.dst_ip, ecn, packet))
        });
        let nobody = RecvMeta::default().addr;
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let of_tun = starts
            .zip(&self.ends)
            .map(move |(start, end)| (nobody, None, Ecn::NotCapable, &self.bytes[start..*end]));
        of_udp.chain(of_tun)
    }
}

/// A UDP socket.
pub(crate) struct Udp {
    socket: UdpSocket,
    state: UdpSocketState,
    /// The most datagrams that leave at once.
    most: usize,
    /// Datagrams to one peer, all of one length but the last, which may be shorter.
    run: Vec<u8>,
    to: Option<(Route, Ecn)>,
    length: usize,
    count: usize,
    too_large: Vec<SocketAddr>,
    unreachable: Vec<(Ends, io::ErrorKind)>,
}

impl Udp {
    pub(crate) fn new(socket: UdpSocket, batches: bool) -> io::Result<Self> {
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        let reference = socket2::SockRef::from(&socket);
        // As much as is allowed.
        let _ = reference.set_recv_buffer_size(SOCKET_BUFFER);
        let _ = reference.set_send_buffer_size(SOCKET_BUFFER);
        let most = if batches { state.max_gso_segments() } else { 1 };
        let (run, too_large) = (Vec::with_capacity(BUFFER), Vec::new());
        let unreachable = Vec::new();
        Ok(Self { socket, state, most, run, to: None, length: 0, count: 0, too_large, unreachable })
    }

    fn receive(&mut self, input: &mut Input) {
        let mut buffers = input.bytes.chunks_mut(BUFFER);
        let mut slices: [IoSliceMut<'_>; BUFFERS] =
            std::array::from_fn(|_| IoSliceMut::new(buffers.next().unwrap_or_default()));
        let received = self.state.recv(UdpSockRef::from(&self.socket), &mut slices, &mut input.metas);
        // An error of a datagram sent before, which its peer's silence will tell, or nothing there.
        input.count = received.unwrap_or(0);
    }

    fn send(&mut self, route: &Route, segment: &Segment, further: &[u8], payload: [&[u8]; 2]) {
        let start = self.run.len();
        let ports = (route.ends.ours, route.ends.theirs);
        if frame::encode(ports, segment, further, payload, &mut self.run).is_err() {
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

    fn flush(&mut self) {
        self.transmit(self.run.len());
        self.run.clear();
        (self.to, self.count) = (None, 0);
    }

    /// Hands the first `end` bytes of the run to the system.
    fn transmit(&mut self, end: usize) {
        let Some((route, ecn)) = self.to.filter(|_| end > 0) else { return };
        let length = self.length;
        if self.count > 1 {
            if self.hand_over(&route, ecn, &self.run[..end], Some(length)).is_ok() {
                return;
            }
            // A device that cannot part them, or for which one is too large.
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
                // Whatever else kept it from leaving lost it, as a path may.
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

/// Whether an error says that nothing can be sent to an address, rather than that one datagram could not.
fn is_of_the_route(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{AddrNotAvailable, HostUnreachable, InvalidInput, NetworkUnreachable};
    matches!(kind, AddrNotAvailable | HostUnreachable | InvalidInput | NetworkUnreachable)
}

/// A TUN: the other end is the kernel's IP.
pub(crate) struct Tun {
    device: SyncDevice,
    own: IpAddr,
    packet: Vec<u8>,
    identification: u16,
}

impl Tun {
    /// The TUN `name`, which is made unless it is there, with `own` for our address.
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
        let route = Route { ends: Ends { peer, theirs: source_port, ours: destination_port }, from: None };
        let arrival = Arrival {
            route,
            segment: packet.segment,
            cookie: None,
            payload: packet.payload,
            width: u16::MAX,
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
            // What still finds no room is lost, as on any link.
            let _ = self.device.send(&self.packet);
        }
    }
}

/// The largest TCP segment, its header counted in, that fits a packet of 1500 bytes beside what carries it.
pub(crate) fn usual_segment(link: &Link, own: SocketAddr) -> u16 {
    match link {
        Link::Udp(_) if own.is_ipv4() => 1_472,
        Link::Udp(_) => 1_452,
        Link::Tun(_) => 1_460 + HEADER,
    }
}
