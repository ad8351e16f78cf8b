//! Trains to a reflector, to a listener, and to those that are neither.

use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use firstflight::Bytes;
use firstflight::probe::{Control, Ending, Setting, Verdict};
use firstflight_udp::{By, Listener, Options, Probed, Probing, ProbingError, Reflector, probe};

use crate::common::LOOPBACK;

fn probing(packet: u64) -> Probing {
    let setting = Setting { most_trains: 9, ..Setting::of(Control::Bracket, Bytes::new(packet)) };
    Probing { setting, by: None, patience: Duration::from_secs(5) }
}

fn listener(keys: &[(&str, &str)]) -> Listener {
    let options = Options::new("slow-start").expect("a scheme");
    let options = keys.iter().fold(options, |options, (key, value)| options.set(key, value).expect("a key"));
    Listener::bind(LOOPBACK, &options).expect("a socket")
}

/// Probes a reflector. Also returns the number of greetings that it received.
fn reflected(address: SocketAddr, probing: &Probing) -> (Result<Probed, ProbingError>, u32) {
    let reflector = Reflector::bind(address).expect("a socket");
    let (peer, done, greeted) = (reflector.local_addr(), AtomicBool::new(false), AtomicU32::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let greeting = |_| {
                greeted.fetch_add(1, Ordering::Relaxed);
            };
            reflector.run(&|| done.load(Ordering::Relaxed), &greeting);
        });
        let found = probe(peer, probing, &|| false);
        done.store(true, Ordering::Relaxed);
        (found, greeted.load(Ordering::Relaxed))
    })
}

/// Checks that every packet of every train arrived, and that there are no more trains than allowed.
fn assert_whole(probed: &Probed, by: By) {
    let trains = &probed.trains;
    assert_eq!(probed.by, by);
    assert!((2..=9).contains(&trains.len()), "{trains:?}");
    assert!(trains.iter().all(|train| (train.packets, train.lost, train.gaps) == (16, 0, 15)), "{trains:?}");
    assert_eq!((trains[0].verdict, trains[0].asked.nanos()), (Verdict::Burst, 0));
    assert!(trains[1..].iter().all(|train| train.departures >= train.asked * 15), "{trains:?}");
    assert!(probed.estimate.capacity.is_some() && probed.estimate.ending != Some(Ending::Void));
    assert!(probed.rtt.is_some_and(|rtt| rtt.nanos() < 100_000_000) && probed.began < probed.ended);
}

#[test]
fn a_reflector_tells_when_each_packet_of_each_train_came() {
    for address in [LOOPBACK, "[::1]:0".parse().expect("an address")] {
        let (probed, greeted) = reflected(address, &probing(1_500));
        let probed = probed.expect("an estimate");
        assert_whole(&probed, By::Reflector);
        assert_eq!((probed.setting.wire.get(), greeted), (1_500, 1));
    }
}

#[test]
fn the_acks_of_any_listener_tell_too_and_its_reader_gets_nothing() {
    for keys in [&[][..], &[("stack", "linux")], &[("timestamps", "true"), ("ack", "delayed")]] {
        let listener = listener(keys);
        let peer = listener.local_addr();
        let probed = probe(peer, &probing(1_500), &|| false).expect("an estimate");
        assert_whole(&probed, By::Acks);
        assert_eq!(probed.setting.wire.get(), 1_500);
        let (mut stream, _) = listener.accept().expect("a connection");
        let error = std::io::Read::read(&mut stream, &mut [0]).expect_err("no byte");
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    }
}

/// More packets than the listener's window can distinguish at a time, so that their places are reused.
#[test]
fn places_in_a_listeners_window_are_used_again() {
    let listener = listener(&[("rwnd", "64kB")]);
    let gap = firstflight::Span::from_micros(300);
    let setting =
        Setting { repeats: 8, most_trains: 16, ..Setting::of(Control::Gap(gap), Bytes::new(1_500)) };
    let probed = probe(listener.local_addr(), &Probing { setting, ..probing(1_500) }, &|| false);
    let trains = probed.expect("an estimate").trains;
    assert_eq!(trains.len(), 16);
    assert!(trains.iter().all(|train| (train.lost, train.gaps) == (0, 15)), "{trains:?}");
}

#[test]
fn probe_packets_are_limited_by_the_listener_and_the_device() {
    let listener = listener(&[]);
    let probed = probe(listener.local_addr(), &probing(9_000), &|| false).expect("an estimate");
    assert_eq!(probed.setting.wire.get(), 1_500);
    let (probed, _) = reflected(LOOPBACK, &probing(9_000));
    assert_eq!(probed.expect("an estimate").setting.wire.get(), 9_000);
}

#[test]
fn a_probe_uses_only_the_requested_kind_of_peer() {
    let listener = listener(&[]);
    let wanted = Probing { by: Some(By::Reflector), patience: Duration::from_millis(300), ..probing(1_500) };
    let error = probe(listener.local_addr(), &wanted, &|| false).expect_err("no reflector");
    assert!(matches!(error, ProbingError::Silent { .. }), "{error}");
    let wanted = Probing { by: Some(By::Acks), ..wanted };
    let (found, greeted) = reflected(LOOPBACK, &wanted);
    assert!(matches!(found, Err(ProbingError::Silent { .. })) && greeted == 0, "{found:?}");
}

#[test]
fn peers_unsuitable_for_probing_are_reported_in_one_line() {
    let patience = Duration::from_millis(300);
    let probing = Probing { patience, ..probing(1_500) };
    let ask = |peer| probe(peer, &probing, &|| false).expect_err("no peer").to_string();
    // No socket at the address.
    let gone = UdpSocket::bind(LOOPBACK).expect("a socket").local_addr().expect("an address");
    assert!(ask(gone).contains("no one listens"), "{}", ask(gone));
    // Somebody who says nothing.
    let silent = UdpSocket::bind(LOOPBACK).expect("a socket");
    let line = ask(silent.local_addr().expect("an address"));
    assert!(line.contains("did not answer within 0.3 s"), "{line}");
    // Somebody else: an echo.
    let echo = UdpSocket::bind(LOOPBACK).expect("a socket");
    let peer = echo.local_addr().expect("an address");
    std::thread::spawn(move || {
        let mut bytes = [0; 2_000];
        while let Ok((length, from)) = echo.recv_from(&mut bytes) {
            let _ = echo.send_to(&bytes[..length], from);
        }
    });
    assert!(ask(peer).contains("but not as"), "{}", ask(peer));
    // A listener without SACK, which cannot distinguish packets, and a host that no longer listens.
    let without = listener(&[("recovery", "newreno")]);
    assert!(ask(without.local_addr()).contains("without SACK"));
    let host = firstflight_udp::Host::bind(LOOPBACK, &Options::new("slow-start").expect("a scheme"));
    let line = ask(host.expect("a socket").local_addr());
    assert!(line.contains("ended the connection"), "{line}");
    let narrow = listener(&[("rwnd", "10kB")]);
    assert!(ask(narrow.local_addr()).contains("takes 10000 bytes at a time"), "{}", ask(narrow.local_addr()));
}

#[test]
fn invalid_packet_sizes_are_refused_and_an_interrupt_ends_the_wait() {
    let silent = UdpSocket::bind(LOOPBACK).expect("a socket");
    let peer = silent.local_addr().expect("an address");
    let of = |probing: &Probing| probe(peer, probing, &|| false).expect_err("impossible");
    assert!(matches!(of(&probing(99)), ProbingError::Width(99)));
    assert!(matches!(of(&probing(65_536)), ProbingError::Width(_) | ProbingError::Setting(_)));
    let error = probe(peer, &probing(1_500), &|| true).expect_err("interrupted");
    assert!(matches!(error, ProbingError::Interrupted), "{error}");
}

/// The reflector answers only questions with a prober's length: it cannot be used to amplify traffic.
#[test]
fn a_reflector_answers_nothing_but_questions() {
    let reflector = Reflector::bind(LOOPBACK).expect("a socket");
    let (peer, done) = (reflector.local_addr(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| reflector.run(&|| done.load(Ordering::Relaxed), &|_| {}));
        let socket = UdpSocket::bind(LOOPBACK).expect("a socket");
        socket.set_read_timeout(Some(Duration::from_millis(200))).expect("a timeout");
        let mut question = b"FFtrain\x01".to_vec();
        for bytes in [&b""[..], b"hello", b"FFtrain\x02aaaaaaaaaaaaaaaaaaaaaaaaaaaa", &question.clone()] {
            socket.send_to(bytes, peer).expect("it leaves");
        }
        assert!(socket.recv(&mut [0; 100]).is_err(), "nothing is answered");
        question.resize(28, 7);
        socket.send_to(&question, peer).expect("it leaves");
        let mut answer = [0; 100];
        assert_eq!(socket.recv(&mut answer).expect("an answer"), 28);
        assert_eq!((&answer[..8], &answer[8..20]), (&b"FFcame \x01"[..], &[7; 12][..]));
        done.store(true, Ordering::Relaxed);
    });
}
