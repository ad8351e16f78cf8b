//! A client and a server of `quinn-proto` over a simulated path, in virtual time. The client sends, under the controller to be tested.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use quinn_proto::congestion::ControllerFactory;
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint, EndpointConfig,
    Event as QuinnEvent, ServerConfig, StreamEvent, StreamId, TransportConfig, VarInt,
};

use crate::simulated::Link;

/// What the client writes, again and again.
static BLOCK: [u8; 65_536] = [7; 65_536];

struct Side {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    address: SocketAddr,
}

struct Packet {
    at: Instant,
    order: u64,
    to: usize,
    ecn: Option<EcnCodepoint>,
    data: Vec<u8>,
}

impl PartialEq for Packet {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.order) == (other.at, other.order)
    }
}
impl Eq for Packet {}
impl PartialOrd for Packet {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Packet {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}

/// The network with its two ends.
pub(crate) struct Net {
    pub(crate) link: Link,
    sides: [Side; 2],
    origin: Instant,
    now: Instant,
    flying: BinaryHeap<Reverse<Packet>>,
    order: u64,
    stream: Option<StreamId>,
    /// Bytes still to be written, and bytes that the server has read.
    to_write: usize,
    pub(crate) read: usize,
}

impl Net {
    pub(crate) fn new(factory: Arc<dyn ControllerFactory + Send + Sync>, link: Link) -> Self {
        let (client, server) = configurations(factory);
        let addresses: [SocketAddr; 2] = [([10, 0, 0, 1], 1_000).into(), ([10, 0, 0, 2], 443).into()];
        let side = |server: Option<Arc<ServerConfig>>, address| Side {
            endpoint: Endpoint::new(Arc::new(EndpointConfig::default()), server, true, None),
            connection: None,
            address,
        };
        let mut sides = [side(None, addresses[0]), side(Some(Arc::new(server)), addresses[1])];
        #[expect(clippy::disallowed_methods, reason = "only differences of instants matter")]
        let origin = Instant::now();
        let connection = sides[0].endpoint.connect(origin, client, addresses[1], "localhost");
        sides[0].connection = Some(connection.expect("a valid configuration"));
        Self {
            link,
            sides,
            origin,
            now: origin,
            flying: BinaryHeap::new(),
            order: 0,
            stream: None,
            to_write: 0,
            read: 0,
        }
    }

    /// Returns the virtual time since the start.
    pub(crate) fn elapsed(&self) -> Duration {
        self.now - self.origin
    }

    /// Lets the client write `bytes`, and runs until the server has read them.
    pub(crate) fn transfer(&mut self, bytes: usize) {
        let until = self.read + bytes;
        self.to_write += bytes;
        for _ in 0..10_000_000 {
            self.drive();
            if self.read >= until {
                return;
            }
            assert!(self.step(None), "nothing more happens after {} of {until} B", self.read);
        }
        panic!("no end after {:?}", self.elapsed());
    }

    /// Runs for `span` of virtual time.
    pub(crate) fn run_for(&mut self, span: Duration) {
        let until = self.now + span;
        while self.now < until {
            self.drive();
            self.step(Some(until));
        }
        self.drive();
    }

    /// Advances to the next arrival or timer, or to `limit` if that is earlier. Returns whether any of them was pending.
    fn step(&mut self, limit: Option<Instant>) -> bool {
        let arrival = self.flying.peek().map(|packet| packet.0.at);
        let timers = self.sides.iter_mut().filter_map(|side| side.connection.as_mut()?.1.poll_timeout());
        let Some(next) = timers.chain(arrival).chain(limit).min() else { return false };
        self.now = self.now.max(next);
        while self.flying.peek().is_some_and(|packet| packet.0.at <= self.now) {
            let Some(Reverse(packet)) = self.flying.pop() else { break };
            self.arrive(&packet);
        }
        let now = self.now;
        for (_, connection) in self.sides.iter_mut().filter_map(|side| side.connection.as_mut()) {
            if connection.poll_timeout().is_some_and(|at| at <= now) {
                connection.handle_timeout(now);
            }
        }
        true
    }

    fn arrive(&mut self, packet: &Packet) {
        let from = self.sides[1 - packet.to].address;
        let side = &mut self.sides[packet.to];
        let (data, mut buffer) = (BytesMut::from(&packet.data[..]), Vec::new());
        match side.endpoint.handle(self.now, from, None, packet.ecn, data, &mut buffer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut side.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = side.endpoint.accept(incoming, self.now, &mut buffer, None);
                side.connection = Some(accepted.unwrap_or_else(|error| panic!("{:?}", error.cause)));
            }
            Some(DatagramEvent::Response(_)) | None => {}
        }
    }

    fn drive(&mut self) {
        for side in 0..2 {
            while self.drive_side(side) {}
        }
    }

    /// Processes the events of a side and sends one transmission. Returns whether there may be more.
    fn drive_side(&mut self, index: usize) -> bool {
        let side = &mut self.sides[index];
        let Some((handle, connection)) = &mut side.connection else { return false };
        while let Some(event) = connection.poll() {
            match event {
                QuinnEvent::Connected if index == 0 => self.stream = connection.streams().open(Dir::Uni),
                QuinnEvent::Stream(StreamEvent::Opened { .. }) => {
                    self.stream = connection.streams().accept(Dir::Uni);
                }
                QuinnEvent::ConnectionLost { reason } => panic!("side {index}: {reason}"),
                _ => {}
            }
        }
        if let Some(id) = self.stream.filter(|_| index == 1) {
            if let Ok(mut chunks) = connection.recv_stream(id).read(false) {
                while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                    self.read += chunk.bytes.len();
                }
                let _ = chunks.finalize();
            }
        } else if let Some(id) = self.stream {
            while self.to_write > 0 {
                let block = Bytes::from_static(&BLOCK).slice(..self.to_write.min(BLOCK.len()));
                let Ok(written) = connection.send_stream(id).write(&block) else { break };
                self.to_write -= written;
            }
        }
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = side.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        let mut buffer = Vec::new();
        let Some(transmit) = connection.poll_transmit(self.now, 10, &mut buffer) else { return false };
        let segment = transmit.segment_size.unwrap_or(transmit.size);
        for datagram in buffer[..transmit.size].chunks(segment) {
            self.send(index, datagram, transmit.ecn);
        }
        true
    }

    fn send(&mut self, from: usize, datagram: &[u8], ecn: Option<EcnCodepoint>) {
        self.order += 1;
        let mut packet = Packet {
            at: self.now + self.link.delay,
            order: self.order,
            to: 1 - from,
            ecn,
            data: datagram.to_vec(),
        };
        if from == 0 {
            let Some((arrival, marked)) = self.link.carry(self.now, datagram.len()) else { return };
            packet.at = arrival;
            packet.ecn = packet.ecn.map(|ecn| if marked { EcnCodepoint::Ce } else { ecn });
        }
        self.flying.push(Reverse(packet));
    }
}

fn configurations(factory: Arc<dyn ControllerFactory + Send + Sync>) -> (ClientConfig, ServerConfig) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let issued = rcgen::generate_simple_self_signed(vec!["localhost".into()]).expect("a certificate");
    let certificate = issued.cert.der().clone();
    let key = rustls::pki_types::PrivateKeyDer::Pkcs8(issued.signing_key.serialize_der().into());
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate.clone()).expect("a valid certificate");
    let client = rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let server = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("a valid certificate");
    let mut client = ClientConfig::new(Arc::new(QuicClientConfig::try_from(client).expect("TLS 1.3")));
    let mut server =
        ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(server).expect("TLS 1.3")));
    let large = VarInt::from_u32(100_000_000);
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(factory).send_window(100_000_000);
    client.transport_config(Arc::new(transport));
    let mut transport = TransportConfig::default();
    transport.mtu_discovery_config(None).stream_receive_window(large).receive_window(large);
    server.transport_config(Arc::new(transport));
    (client, server)
}
