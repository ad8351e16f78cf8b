//! A host that runs a connection of noq.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use firstflight::{Note, Time};
use firstflight_sim::{Carried, Congestion, DatagramHost};
use firstflight_tcp::{Ecn, Role};
use noq_proto::{
    AckFrequencyConfig, ClientConfig, Connection, ConnectionError, ConnectionHandle, ConnectionId,
    ConnectionIdGenerator, DatagramEvent, Dir, EcnCodepoint, Endpoint, EndpointConfig, Event, FourTuple,
    PathId, ServerConfig, StreamEvent, StreamId, TransportConfig, ValidationTokenConfig, VarInt,
};

use super::session::{NullConfig, NullKey};
use super::watched::{Factories, WatchedFactory};
use crate::frames::{self, CID};
use crate::in_order::InOrder;
use crate::instants::{Epoch, seed};
use crate::seen::Seen;

/// Content of the stream. An application that always has more writes pieces of it.
static ZEROS: [u8; 1 << 20] = [0; 1 << 20];
/// The UDP payload of a server's packets: the default of the stacks.
const MIN_PAYLOAD: u16 = 1_200;
/// Bytes that a sender may hold until they are acknowledged.
const SEND_WINDOW: u64 = 1 << 30;
/// The flow-control windows of the receiver.
const RECEIVE_WINDOW: u32 = 1 << 30;

/// Properties of a host.
pub(super) struct HostSpec {
    /// The side of the connection.
    pub(super) side: Role,
    /// The seed of the run.
    pub(super) seed: u64,
    /// The number of the flow.
    pub(super) flow: u32,
    /// The maximum UDP payload of a packet.
    pub(super) payload: u16,
    /// Bytes of the stream; `None` if the sender always has more.
    pub(super) total: Option<u64>,
    /// The controllers of the sender.
    pub(super) factories: Arc<Factories>,
    /// The time of the start.
    pub(super) epoch: Epoch,
}

/// A host of noq: an endpoint with one connection.
pub(super) struct Host {
    side: Role,
    epoch: Epoch,
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    client: Option<ClientConfig>,
    peer: SocketAddr,
    stream: Option<StreamId>,
    /// Bytes that the sender has yet to write; `None` if there are always more.
    left: Option<u64>,
    /// The position after the last stream byte sent.
    sent: u64,
    received: InOrder,
    /// Datagrams that the endpoint sends without a connection.
    has_failed: bool,
    seen: Arc<Seen>,
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Host")
            .field("side", &self.side)
            .field("received", &self.received)
            .finish_non_exhaustive()
    }
}

impl Host {
    pub(super) fn new(spec: HostSpec) -> Self {
        let HostSpec { side, seed: run, flow, payload, total, factories, epoch } = spec;
        let seen = Arc::new(Seen::default());
        // A server may send three times the client's first packet before the client answers (RFC 9000 section 8.1). Three
        // larger packets may exceed that, and the handshake would need another round trip.
        let payload = if side == Role::Server { MIN_PAYLOAD } else { payload };
        let mut transport = TransportConfig::default();
        transport
            .congestion_controller_factory(Arc::new(WatchedFactory {
                inner: factories.of(&seen),
                seen: Arc::clone(&seen),
            }))
            .initial_mtu(payload)
            .min_mtu(payload)
            .mtu_discovery_config(None)
            .max_idle_timeout(None)
            .stream_receive_window(VarInt::from_u32(RECEIVE_WINDOW))
            .receive_window(VarInt::from_u32(RECEIVE_WINDOW))
            .send_window(SEND_WINDOW)
            .enable_segmentation_offload(false);
        if factories.needs_dense_acks() {
            let mut frequency = AckFrequencyConfig::default();
            frequency.ack_eliciting_threshold(VarInt::from_u32(0));
            transport.ack_frequency_config(Some(frequency));
        }
        let transport = Arc::new(transport);
        let number = u8::from(side == Role::Server) + 1;
        let mut config = EndpointConfig::new(Arc::new(NullKey));
        config.rng_seed(Some(seed(run, flow, number)));
        config.cid_generator(Arc::new(move || Box::new(Counted { side: number, count: 0 })));
        let (mut client, mut server) = (None, None);
        match side {
            Role::Client => {
                let mut own = ClientConfig::new(Arc::new(NullConfig));
                own.transport_config(transport);
                own.initial_dst_cid_provider(Arc::new(|| ConnectionId::new(&[7; CID])));
                client = Some(own);
            }
            Role::Server => {
                let mut own = ServerConfig::new(Arc::new(NullConfig), Arc::new(NullKey));
                own.transport_config(transport);
                let mut tokens = ValidationTokenConfig::default();
                tokens.sent(0);
                own.validation_token_config(tokens);
                server = Some(Arc::new(own));
            }
        }
        Self {
            side,
            epoch,
            endpoint: Endpoint::new(Arc::new(config), server, false),
            connection: None,
            client,
            peer: SocketAddr::from(([10, 0, 0, 3 - number], 443)),
            stream: None,
            left: total,
            sent: 0,
            received: InOrder::default(),
            has_failed: false,
            seen,
        }
    }

    /// Opens the connection of a client that has none yet.
    fn open(&mut self, now: Time) {
        let Some(config) = self.client.take() else { return };
        match self.endpoint.connect(self.epoch.at(now), config, self.peer, "firstflight") {
            Ok(connection) => self.connection = Some(connection),
            Err(_) => self.has_failed = true,
        }
    }

    /// Exchanges the events of connection and endpoint, and lets the application read and write.
    fn proceed(&mut self) {
        let Self { endpoint, connection, side, stream, left, received, has_failed, .. } = self;
        let Some((handle, connection)) = connection else { return };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        let mut may_write = false;
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected if *side == Role::Client => {
                    *stream = connection.streams().open(Dir::Uni);
                    may_write = true;
                }
                Event::Stream(StreamEvent::Writable { .. }) => may_write = true,
                Event::Stream(StreamEvent::Opened { dir }) => {
                    *stream = stream.or_else(|| connection.streams().accept(dir));
                }
                Event::ConnectionLost { reason } => *has_failed |= reason != ConnectionError::LocallyClosed,
                _ => {}
            }
        }
        let Some(stream) = *stream else { return };
        match side {
            Role::Client if may_write => write(connection, stream, left),
            Role::Client => {}
            Role::Server => read(connection, stream, received),
        }
    }
}

/// Writes what the stream takes.
fn write(connection: &mut Connection, stream: StreamId, left: &mut Option<u64>) {
    let mut sending = connection.send_stream(stream);
    while *left != Some(0) {
        let size = left
            .and_then(|left| usize::try_from(left).ok())
            .map_or(ZEROS.len(), |left| left.min(ZEROS.len()));
        let mut chunks = [Bytes::from_static(&ZEROS[..size])];
        let Ok(written) = sending.write_chunks(&mut &mut chunks[..]) else { return };
        if let Some(left) = left {
            *left -= written as u64;
        }
        if *left == Some(0) {
            // The stream is open, because it was just written.
            let _ = sending.finish();
        }
    }
}

/// Reads what has arrived, in any order.
fn read(connection: &mut Connection, stream: StreamId, received: &mut InOrder) {
    let mut receiving = connection.recv_stream(stream);
    let Ok(mut chunks) = receiving.read(false) else { return };
    while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
        received.add(chunk.offset, chunk.bytes.len() as u64);
    }
    // The next packet carries new windows, if there are any.
    let _ = chunks.finalize();
}

impl DatagramHost for Host {
    fn receive(&mut self, now: Time, datagram: &[u8], ecn: Ecn) {
        let at = self.epoch.at(now);
        let mut answer = Vec::new();
        let codepoint = EcnCodepoint::from_bits(ecn as u8);
        let event = self.endpoint.handle(
            at,
            FourTuple::new(self.peer, None),
            codepoint,
            BytesMut::from(datagram),
            &mut answer,
        );
        match event {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) if self.connection.is_none() => {
                match self.endpoint.accept(incoming, at, &mut answer, None) {
                    Ok(connection) => self.connection = Some(connection),
                    Err(_) => self.has_failed = true,
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => self.endpoint.ignore(incoming),
            // Stateless answers: version negotiation, resets. No host of a race causes any.
            Some(DatagramEvent::Response(_)) | None => {}
        }
        self.proceed();
    }

    fn on_timer(&mut self, now: Time) {
        let at = self.epoch.at(now);
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(at);
            self.proceed();
        }
    }

    fn poll_transmit(&mut self, now: Time, datagram: &mut Vec<u8>) -> Option<Carried> {
        self.open(now);
        let at = self.epoch.at(now);
        let (_, connection) = self.connection.as_mut()?;
        let transmit = connection.poll_transmit(at, NonZeroUsize::MIN, datagram)?;
        datagram.truncate(transmit.size);
        let ecn = match transmit.ecn {
            Some(EcnCodepoint::Ect0) => Ecn::Ect0,
            Some(EcnCodepoint::Ect1) => Ecn::Ect1,
            Some(EcnCodepoint::Ce) => Ecn::Ce,
            None => Ecn::NotCapable,
        };
        let mut carried = frames::carried(datagram);
        carried.ecn = ecn;
        if carried.len > 0 {
            carried.retransmission = carried.offset < self.sent;
            self.sent = self.sent.max(carried.offset + u64::from(carried.len));
        }
        Some(carried)
    }

    fn next_timer(&mut self) -> Option<Time> {
        let (_, connection) = self.connection.as_ref()?;
        connection.poll_timeout().map(|at| self.epoch.time(at))
    }

    fn delivered(&self) -> u64 {
        self.received.reached()
    }

    fn has_failed(&self) -> bool {
        self.has_failed
    }

    fn take_note(&mut self) -> Option<Note> {
        self.seen.take_note()
    }

    fn congestion(&mut self) -> Option<Congestion> {
        let (_, connection) = self.connection.as_ref()?;
        let metrics = connection.congestion_state(PathId::ZERO)?.metrics();
        Some(self.seen.congestion(metrics.congestion_window, metrics.ssthresh))
    }
}

/// Makes connection IDs that count.
#[derive(Clone, Copy, Debug)]
struct Counted {
    side: u8,
    count: u64,
}

impl ConnectionIdGenerator for Counted {
    fn generate_cid(&mut self) -> ConnectionId {
        self.count += 1;
        let mut id = self.count.to_be_bytes();
        id[0] = self.side;
        ConnectionId::new(&id)
    }

    fn cid_len(&self) -> usize {
        CID
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}
