//! Two real connections of noq over a simulated bottleneck, one after the other, in virtual time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use bytes::{Bytes, BytesMut};
use firstflight_noq::resume::{Key, Outcome, Resume, ResumeController, Store};
use noq_proto::congestion::{Bbr3Config, ControllerFactory, CubicConfig};
use noq_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use noq_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig, Event,
    FourTuple, PathId, ServerConfig, StreamEvent, TransportConfig, VarInt,
};

const BATCH: NonZeroUsize = NonZeroUsize::new(10).unwrap();
const CLIENT: &str = "[::1]:1000";
const SERVER: &str = "[::1]:2000";

/// A path with a bottleneck from the client to the server.
#[derive(Clone, Copy)]
struct Link {
    bytes_per_second: u64,
    delay: Duration,
    queue_bytes: u64,
}

const FAST: Link =
    Link { bytes_per_second: 6_250_000, delay: Duration::from_millis(10), queue_bytes: 125_000 };
const SLOW: Link = Link { bytes_per_second: 625_000, ..FAST };

/// The slow path with a queue of one bandwidth-delay product.
const SHALLOW: Link = Link { queue_bytes: 12_500, ..SLOW };

/// The result of one upload.
#[derive(Debug)]
struct Upload {
    /// The time from the first byte of the body until the receiver has all of it.
    time: Duration,
    /// Packets that the queue dropped.
    dropped: u64,
    outcome: Outcome,
}

struct Side {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    peer: SocketAddr,
}

fn sides(factory: Arc<dyn ControllerFactory + Send + Sync>, now: Instant) -> [Side; 2] {
    let (client, server): (SocketAddr, SocketAddr) =
        (CLIENT.parse().expect("address"), SERVER.parse().expect("address"));
    let certificate = rcgen::generate_simple_self_signed(vec!["localhost".into()]).expect("certificate");
    let der = certificate.cert.der().clone();
    let key = rustls::pki_types::PrivateKeyDer::Pkcs8(certificate.signing_key.serialize_der().into());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = rustls::RootCertStore::empty();
    roots.add(der.clone()).expect("root");
    let tls = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("TLS 1.3")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let mut transport = TransportConfig::default();
    transport.mtu_discovery_config(None).send_window(50_000_000).congestion_controller_factory(factory);
    let mut client_config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls).expect("client")));
    client_config.transport_config(Arc::new(transport));
    let tls = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("TLS 1.3")
        .with_no_client_auth()
        .with_single_cert(vec![der], key)
        .expect("key");
    let mut transport = TransportConfig::default();
    let window = VarInt::from_u32(50_000_000);
    transport.mtu_discovery_config(None).stream_receive_window(window).receive_window(window);
    let mut server_config =
        ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls).expect("server")));
    server_config.transport_config(Arc::new(transport));
    let endpoint = |server| Endpoint::new(Arc::new(EndpointConfig::default()), server, true);
    let mut first = Side { endpoint: endpoint(None), connection: None, peer: server };
    first.connection =
        Some(first.endpoint.connect(now, client_config, server, "localhost").expect("connect"));
    [first, Side { endpoint: endpoint(Some(Arc::new(server_config))), connection: None, peer: client }]
}

/// Reads what has arrived. Returns true at the end of the stream.
fn drain(connection: &mut Connection, id: noq_proto::StreamId) -> bool {
    let mut ended = false;
    if let Ok(mut chunks) = connection.recv_stream(id).read(false) {
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(_)) => {}
                end => {
                    ended = matches!(end, Ok(None));
                    break;
                }
            }
        }
        let _ = chunks.finalize();
    }
    ended
}

#[allow(clippy::disallowed_methods, reason = "an Instant has no other constructor; only differences count")]
fn start() -> Instant {
    Instant::now()
}

/// A packet in the network: its arrival, its number, the index of its receiver, its bytes.
type InFlight = Reverse<(Instant, u64, usize, Vec<u8>)>;

/// Uploads `bytes` over `link` in virtual time.
#[allow(clippy::too_many_lines, reason = "one loop of events, in the order in which they happen")]
fn upload(factory: Arc<dyn ControllerFactory + Send + Sync>, link: Link, bytes: usize) -> Upload {
    let zero = start();
    let (mut now, mut free) = (zero, zero);
    let mut sides = sides(factory, zero);
    let mut net: BinaryHeap<InFlight> = BinaryHeap::new();
    let (mut number, mut dropped, mut buffer) = (0, 0, Vec::new());
    let (mut began, mut received) = (None, None);
    loop {
        for (index, side) in sides.iter_mut().enumerate() {
            let Some((handle, connection)) = &mut side.connection else { continue };
            let mut finished = false;
            loop {
                let mut more = false;
                while let Some(event) = connection.poll() {
                    match event {
                        Event::Connected if index == 0 => {
                            let id = connection.streams().open(Dir::Uni).expect("a stream");
                            connection
                                .send_stream(id)
                                .write_chunks(&mut &mut [Bytes::from(vec![7; bytes])][..])
                                .expect("written");
                            connection.send_stream(id).finish().expect("finished");
                            began = Some(now);
                        }
                        Event::Stream(StreamEvent::Opened { .. }) => {
                            if let Some(id) = connection.streams().accept(Dir::Uni)
                                && drain(connection, id)
                            {
                                received = Some(now);
                            }
                        }
                        Event::Stream(StreamEvent::Readable { id }) if drain(connection, id) => {
                            received = Some(now);
                        }
                        Event::Stream(StreamEvent::Finished { .. }) => finished = true,
                        _ => {}
                    }
                }
                while let Some(event) = connection.poll_endpoint_events() {
                    if let Some(event) = side.endpoint.handle_event(*handle, event) {
                        connection.handle_event(event);
                        more = true;
                    }
                }
                buffer.clear();
                if let Some(transmit) = connection.poll_transmit(now, BATCH, &mut buffer) {
                    for packet in
                        buffer[..transmit.size].chunks(transmit.segment_size.unwrap_or(transmit.size))
                    {
                        number += 1;
                        let length = packet.len() as u64;
                        let nanos =
                            |bytes: u64| Duration::from_nanos(bytes * 1_000_000_000 / link.bytes_per_second);
                        let mut at = now;
                        if index == 0 {
                            if free.saturating_duration_since(now) + nanos(length) > nanos(link.queue_bytes) {
                                dropped += 1;
                                continue;
                            }
                            free = free.max(now) + nanos(length);
                            at = free;
                        }
                        net.push(Reverse((at + link.delay, number, 1 - index, packet.to_vec())));
                    }
                    more = true;
                }
                if !more {
                    break;
                }
            }
            if finished {
                let state = connection.congestion_state(PathId::ZERO).expect("a path").clone_box().into_any();
                let outcome = state.downcast::<ResumeController>().expect("a wrapper").outcome();
                return Upload {
                    time: received.expect("received") - began.expect("began"),
                    dropped,
                    outcome,
                };
            }
        }
        let timers = sides.iter().filter_map(|side| side.connection.as_ref()?.1.poll_timeout());
        now = now.max(timers.chain(net.peek().map(|packet| packet.0.0)).min().expect("an event"));
        assert!(now - zero < Duration::from_secs(120), "the upload stalled");
        while net.peek().is_some_and(|packet| packet.0.0 <= now) {
            let Some(Reverse((_, _, index, packet))) = net.pop() else { break };
            let side = &mut sides[index];
            buffer.clear();
            let four = FourTuple::new(side.peer, None);
            match side.endpoint.handle(now, four, None, BytesMut::from(&packet[..]), &mut buffer) {
                Some(DatagramEvent::ConnectionEvent(_, event)) => {
                    if let Some((_, connection)) = &mut side.connection {
                        connection.handle_event(event);
                    }
                }
                Some(DatagramEvent::NewConnection(incoming)) => {
                    side.connection = side.endpoint.accept(incoming, now, &mut buffer, None).ok();
                }
                _ => {}
            }
        }
        for side in &mut sides {
            if let Some((_, connection)) = &mut side.connection
                && connection.poll_timeout().is_some_and(|at| at <= now)
            {
                connection.handle_timeout(now);
            }
        }
    }
}

/// Uploads over the fast path to fill a store, and then `bytes` over `link`, without and with the store.
fn compare<F: ControllerFactory + Send + Sync + Clone + 'static>(
    inner: &F,
    link: Link,
    bytes: usize,
) -> [Upload; 2] {
    let store = Arc::new(Store::default());
    let key = Key::to_server([0, 0, 0, 0, 0, 0, 0, 1].into(), "localhost");
    let resume = |store: &Arc<Store>, seconds| {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        Arc::new(Resume::<F>::new(inner.clone(), Arc::clone(store), key.clone(), now))
    };
    let first = upload(resume(&store, 0), FAST, 20_000_000);
    assert_eq!(first.outcome, Outcome::NothingSaved);
    let saved = store.get(&key, 60);
    assert!(saved.is_some(), "nothing was saved");
    let fresh = median(|| upload(resume(&Arc::default(), 60), link, bytes));
    let resumed = median(|| {
        let copy =
            Store::from_json(&store.to_json(), store.capacity(), store.lifetime()).expect("own output");
        upload(resume(&Arc::new(copy), 60), link, bytes)
    });
    println!("{bytes} bytes, saved {saved:?}; fresh {fresh:?}; resumed {resumed:?}");
    [fresh, resumed]
}

/// Returns the run of median time among nine. noq draws from the system's entropy, thus runs differ.
fn median(mut run: impl FnMut() -> Upload) -> Upload {
    let mut runs: Vec<Upload> = (0..9).map(|_| run()).collect();
    runs.sort_by_key(|run| run.time);
    runs.swap_remove(4)
}

#[test]
fn the_second_cubic_connection_is_faster() {
    for bytes in [100_000, 150_000, 300_000] {
        let [fresh, resumed] = compare(&CubicConfig::default(), FAST, bytes);
        assert!(resumed.time < fresh.time, "{bytes} bytes: {resumed:?} {fresh:?}");
        assert_eq!(resumed.dropped, 0);
    }
}

#[test]
fn the_second_bbr_connection_is_faster() {
    for bytes in [100_000, 150_000, 300_000] {
        let [fresh, resumed] = compare(&Bbr3Config::default(), FAST, bytes);
        assert!(resumed.time < fresh.time, "{bytes} bytes: {resumed:?} {fresh:?}");
    }
}

/// Checks that a jump into a path ten times slower costs no more packets than the jump has, and a tenth of the time.
fn bounded([fresh, resumed]: &[Upload; 2]) {
    assert!(resumed.dropped <= fresh.dropped + 100, "{resumed:?} {fresh:?}");
    assert!(resumed.time <= fresh.time * 11 / 10, "{resumed:?} {fresh:?}");
}

#[test]
fn a_path_ten_times_slower_costs_cubic_at_most_one_jump() {
    bounded(&compare(&CubicConfig::default(), SLOW, 2_000_000));
    let uploads = compare(&CubicConfig::default(), SHALLOW, 2_000_000);
    assert_eq!(uploads[1].outcome, Outcome::Retreated);
    bounded(&uploads);
}

#[test]
fn a_path_ten_times_slower_costs_bbr_at_most_one_jump() {
    bounded(&compare(&Bbr3Config::default(), SLOW, 2_000_000));
    let uploads = compare(&Bbr3Config::default(), SHALLOW, 2_000_000);
    assert_eq!(uploads[1].outcome, Outcome::Retreated);
    bounded(&uploads);
}
