//! Packets of a train are sent one by one, even if other packets are sent in batches. `bench/gaps.py` measures the accuracy of their gaps.

use std::io::BufReader;
use std::net::UdpSocket;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use firstflight::{Call, Event, Pacing};
use firstflight_udp::{Listener, Stream};

use crate::common::{LOOPBACK, options, receive, send};
use crate::conformance::Sink;

/// The bottleneck's service time per packet, and the one-way delay after it.
const PACKET: Duration = Duration::from_millis(2);
const DELAY: Duration = Duration::from_millis(300);
/// Datagrams of more than this are data.
const LONG: usize = 1_000;

#[expect(clippy::disallowed_methods, reason = "real packets come at real instants")]
fn now() -> Instant {
    Instant::now()
}

/// Sends `bytes` with `paced` over a bottleneck. Returns the requested gap after each data packet in nanoseconds, and the time at which
/// each reached the bottleneck.
fn transfer(bytes: u64) -> (Vec<Option<u64>>, Vec<Instant>) {
    let sink = Sink::default();
    let kept = sink.clone();
    let client = options("paced").traces(Arc::new(move |_| Ok(Box::new(kept.clone()))));
    let listener = Listener::bind(LOOPBACK, &options("paced")).unwrap();
    let server = listener.local_addr();
    let front = UdpSocket::bind(LOOPBACK).unwrap();
    let back = UdpSocket::bind(LOOPBACK).unwrap();
    let path = front.local_addr().unwrap();
    for socket in [&front, &back] {
        socket.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
    }
    let (came, peer) = (Mutex::new(Vec::new()), Mutex::new(None));
    thread::scope(|scope| {
        let (queue, waiting) = channel::<(Instant, Vec<u8>)>();
        let (front, back, came, peer) = (&front, &back, &came, &peer);
        scope.spawn(move || {
            let mut buffer = [0; 2_000];
            while let Ok((len, from)) = front.recv_from(&mut buffer) {
                let at = now();
                *peer.lock().unwrap() = Some(from);
                // A SYN is padded to that length, too.
                if len > LONG && buffer[13] & 2 == 0 {
                    came.lock().unwrap().push(at);
                }
                queue.send((at, buffer[..len].to_vec())).unwrap();
            }
        });
        scope.spawn(move || {
            // However late this thread is, it never sends two packets closer together than a bottleneck does.
            let mut free = now();
            for (at, datagram) in waiting {
                thread::sleep(free.max(at + DELAY).saturating_duration_since(now()));
                free = now() + if datagram.len() > LONG { PACKET } else { Duration::ZERO };
                back.send_to(&datagram, server).unwrap();
            }
        });
        scope.spawn(move || {
            let mut buffer = [0; 2_000];
            while let Ok((len, _)) = back.recv_from(&mut buffer) {
                front.send_to(&buffer[..len], peer.lock().unwrap().unwrap()).unwrap();
            }
        });
        let reader = scope.spawn(|| receive(&listener.accept().unwrap().0));
        send(&Stream::connect(path, &client).unwrap(), bytes);
        assert_eq!(reader.join().unwrap(), bytes);
    });
    let text = sink.0.lock().unwrap().clone();
    (asked(&text), came.into_inner().unwrap())
}

/// Returns the requested gap after each packet, up to the first retransmission.
fn asked(trace: &[u8]) -> Vec<Option<u64>> {
    let (_, mut calls) = firstflight_trace::read(BufReader::new(trace)).unwrap();
    let (mut gaps, mut before) = (Vec::new(), None);
    while let Some(record) = calls.next_call().unwrap() {
        let Call::On(event) = &record.call else { continue };
        let Event::Sent(sent) = event.event() else { continue };
        if sent.retransmission {
            break;
        }
        if let Some(last) = gaps.last_mut().filter(|_| before != Some(sent.tag)) {
            *last = None;
        }
        before = Some(sent.tag);
        gaps.push(match record.plan.pacing {
            Pacing::Train { gap, .. } => Some(gap.nanos()),
            _ => None,
        });
    }
    gaps
}

/// Returns each gap within a transfer's trains as a share of the requested gap.
fn shares() -> Vec<f64> {
    let (asked, came) = transfer(200_000);
    let gaps = came.windows(2).map(|pair| pair[1] - pair[0]);
    let pairs =
        asked.iter().zip(gaps).filter_map(|(asked, gap)| Some((Duration::from_nanos((*asked)?), gap)));
    let trains = pairs.filter(|(asked, _)| *asked > PACKET / 2);
    trains.map(|(asked, gap)| gap.as_secs_f64() / asked.as_secs_f64()).collect()
}

#[test]
fn packets_of_a_train_leave_one_by_one_and_never_in_batches() {
    // If a busy machine distorted the first burst, there are no trains.
    let shares = (0..5).map(|_| shares()).find(|shares| shares.len() >= 15).expect("trains");
    let apart = shares.iter().filter(|share| **share >= 0.5).count();
    assert!(apart > shares.len() / 2, "{shares:?}");
}
