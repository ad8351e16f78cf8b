use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;

use firstflight::Span;
use firstflight_scenario::{Options, Scenario};
use firstflight_tcp::quick_start::{IpOption, Nonce, Options as QuickStart};
use firstflight_tcp::{Ecn, Segment};
use firstflight_wire::quick_start::RateCode;
use firstflight_wire::{Addresses, Checksum, Hosts, Ip, decode, encode};

use super::*;
use crate::addresses::{A, B};

/// A clock that the test sets.
#[derive(Clone, Default)]
struct Hand(Rc<Cell<Time>>);

impl Clock for Hand {
    fn now(&self) -> Time {
        self.0.get()
    }
}

/// A device in memory.
#[derive(Default)]
struct Memory {
    to_read: VecDeque<Vec<u8>>,
    written: Vec<Vec<u8>>,
    is_full: bool,
}

impl Device for Memory {
    fn read(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
        let Some(packet) = self.to_read.pop_front() else { return Ok(None) };
        into[..packet.len()].copy_from_slice(&packet);
        Ok(Some(packet.len()))
    }

    fn write(&mut self, packet: &[u8]) -> io::Result<bool> {
        if !self.is_full {
            self.written.push(packet.to_vec());
        }
        Ok(!self.is_full)
    }
}

/// The events that an observer received. Each is the packet number, `>` for entered, `<` for left or `x` for dropped, and the time in
/// microseconds.
#[derive(Default)]
struct Received(Vec<(u64, char, u64)>);

impl Observer for Received {
    fn entered(&mut self, number: u64, _: Side, at: Time, _: &[u8]) {
        self.0.push((number, '>', at.nanos() / 1_000));
    }

    fn left(&mut self, number: u64, _: Side, at: Time, _: &[u8], _: bool) {
        self.0.push((number, '<', at.nanos() / 1_000));
    }

    fn dropped(&mut self, number: u64, at: Time, _: Option<DropCause>) {
        self.0.push((number, 'x', at.nanos() / 1_000));
    }
}

fn relay(keys: &[(&str, &str)], sender: Side) -> Relay<Memory, Received> {
    let mut options = Options::default();
    let usual = [("rate", "12mbit"), ("rtt", "40ms"), ("access-rate", "1gbit")];
    usual.iter().chain(keys).for_each(|(key, text)| options.set(key, text).expect(text));
    let scenario = Scenario::resolve(&options).expect("a scenario");
    let path = Path::new(&scenario, sender).expect("a path");
    Relay::new(Default::default(), path, 1_500, Received::default())
}

/// Returns a packet of 1500 bytes from one host to the other.
fn packet(from: Side, segment: Segment) -> Vec<u8> {
    let hosts = match from {
        Side::A => Hosts::V4 { source: A.v4, destination: B.v4 },
        Side::B => Hosts::V4 { source: B.v4, destination: A.v4 },
    };
    let len = if segment.quick_start.ip().is_some() { 1_452 } else { 1_460 };
    let ip = Ip {
        addresses: Addresses { hosts, source_port: 1, destination_port: 2 },
        identification: 0,
        hop_limit: 64,
    };
    let mut bytes = Vec::new();
    encode(&ip, &Segment { len, ..segment }, &vec![7; usize::from(len)], &mut bytes).expect("a packet");
    bytes
}

/// Runs the relay until this time in milliseconds. The relay wakes up late by `late` microseconds.
fn run(relay: &mut Relay<Memory, Received>, clock: &Hand, until: u64, late: u64) {
    let end = Time::ZERO + Span::from_millis(until);
    loop {
        let turn = relay.turn(clock).expect("the devices are there");
        if turn.read > 0 {
            continue;
        }
        match turn.next.map(|next| next + Span::from_micros(late)).filter(|next| *next <= end) {
            Some(next) => clock.0.set(clock.now().max(next)),
            None => break,
        }
    }
    clock.0.set(end);
}

#[test]
fn packets_go_both_ways_and_arrive_as_they_were() {
    let mut relay = relay(&[], Side::A);
    let (there, back) = (packet(Side::A, Segment::default()), packet(Side::B, Segment::default()));
    relay.devices[0].to_read.push_back(there.clone());
    relay.devices[1].to_read.push_back(back.clone());
    run(&mut relay, &Hand::default(), 100, 0);
    assert_eq!((&relay.devices[1].written, &relay.devices[0].written), (&vec![there], &vec![back]));
}

#[test]
fn a_late_relay_delays_packets_and_leaves_the_rate_as_it_is() {
    for late in [0, 50, 400, 5_000] {
        let mut relay = relay(&[("queue", "100p")], Side::A);
        relay.devices[0].to_read.extend((0..100).map(|_| packet(Side::A, Segment::default())));
        run(&mut relay, &Hand::default(), 1_000, late);
        let (report, heard) = relay.finish(Time::ZERO + Span::from_secs(1));
        assert_eq!((report.forward.packets_out, report.forward.dropped.all()), (100, 0));
        let last = heard.0.last().expect("a packet");
        // The last packet leaves after 100 transmissions of one millisecond each, plus 12 us on the access link and the propagation delay.
        let due = 20_000 + 100_000 + 12;
        assert!((due..=due + late).contains(&last.2), "{late} µs late: {last:?}");
        assert!(report.lateness.max_us <= 1.001 * u32::try_from(late).map_or(0.0, f64::from) + 1.0);
        assert_eq!(report.is_late, late > 1_000, "{late}: {:?}", report.lateness);
    }
}

#[test]
fn drops_are_counted_and_told() {
    let mut relay = relay(&[("queue", "10p")], Side::A);
    relay.devices[0].to_read.extend((0..15).map(|_| packet(Side::A, Segment::default())));
    run(&mut relay, &Hand::default(), 500, 0);
    let (report, heard) = relay.finish(Time::ZERO + Span::from_secs(1));
    let dropped: Vec<u64> = heard.0.iter().filter(|heard| heard.1 == 'x').map(|heard| heard.0).collect();
    assert_eq!(dropped, [10, 11, 12, 13, 14]);
    assert_eq!((report.forward.dropped.queue, report.forward.packets_out), (5, 10));
    assert_eq!((report.forward.peak_queue_packets, report.forward.inside), (9, 0));
}

#[test]
fn the_forward_way_begins_at_the_sender() {
    let mut relay = relay(&[("queue", "10p")], Side::B);
    for side in Side::BOTH {
        relay.devices[side as usize].to_read.extend((0..15).map(|_| packet(side, Segment::default())));
    }
    run(&mut relay, &Hand::default(), 500, 0);
    assert_eq!((relay.devices[0].written.len(), relay.devices[1].written.len()), (10, 15));
    let (report, _) = relay.finish(Time::ZERO + Span::from_secs(1));
    assert_eq!((report.forward.dropped.queue, report.reverse.dropped.queue), (5, 0));
}

#[test]
fn a_queue_marks_packets_that_are_ecn_capable_and_drops_the_others() {
    for (ecn, marked) in [(Ecn::Ect0, true), (Ecn::NotCapable, false)] {
        let mut relay = relay(&[("queue", "red:1000p,min=1p,max=400p,p=1,ecn")], Side::A);
        let clock = Hand::default();
        for step in 0..400 {
            relay.devices[0].to_read.push_back(packet(Side::A, Segment { ecn, ..Segment::default() }));
            run(&mut relay, &clock, step * 9 / 10, 0);
        }
        run(&mut relay, &clock, 2_000, 0);
        let written = relay.devices[1].written.iter().map(|bytes| decode(bytes).expect("a packet"));
        let written: Vec<_> = written.collect();
        assert!(written.iter().all(|packet| packet.ip_checksum == Checksum::Good));
        let seen = written.iter().filter(|packet| packet.segment.ecn == Ecn::Ce).count() as u64;
        let (report, _) = relay.finish(clock.now());
        assert_eq!((report.forward.marked, seen > 0), (seen, marked));
        assert_eq!(report.forward.dropped.queue > 0, !marked);
    }
}

#[test]
fn routers_answer_quick_start_on_the_forward_way_unless_told_not_to() {
    let rate = RateCode::new(12).expect("a code");
    let option = IpOption::Request { rate, ttl: 90, hop_limit: 64, nonce: Nonce::new(5) };
    let quick_start = QuickStart::new(Some(option), None);
    for (hops, answered) in [("all", true), ("none", false)] {
        let mut relay = relay(&[("qs-hops", hops)], Side::A);
        relay.devices[0].to_read.push_back(packet(Side::A, Segment { quick_start, ..Segment::default() }));
        run(&mut relay, &Hand::default(), 100, 0);
        let written = decode(&relay.devices[1].written[0]).expect("a packet");
        assert_eq!(written.ip_checksum, Checksum::Good);
        let Some(IpOption::Request { rate: left, ttl, hop_limit, .. }) = written.segment.quick_start.ip()
        else {
            panic!("the request is gone");
        };
        // 12 Mbit/s minus a twentieth is less than the requested 163 Mbit/s.
        assert_eq!(left < rate, answered);
        assert_eq!((hop_limit, written.hop_limit), (62, 62), "two links");
        assert_eq!(ttl, if answered { 88 } else { 90 });
        let (report, _) = relay.finish(Time::ZERO + Span::from_secs(1));
        assert_eq!(report.forward.quick_start_asked, if answered { 2 } else { 0 });
    }
}

#[test]
fn only_packets_for_the_other_host_enter() {
    let mut relay = relay(&[], Side::A);
    let mut elsewhere = packet(Side::A, Segment::default());
    elsewhere[19] = 99;
    relay.devices[0].to_read.extend([elsewhere, packet(Side::B, Segment::default()), vec![0x45; 9]]);
    run(&mut relay, &Hand::default(), 100, 0);
    let (report, _) = relay.finish(Time::ZERO + Span::from_secs(1));
    assert_eq!((report.forward.astray, report.forward.packets_in), (3, 0));
}

#[test]
fn a_packet_that_the_host_does_not_take_is_told() {
    let mut relay = relay(&[], Side::A);
    relay.devices[1].is_full = true;
    relay.devices[0].to_read.push_back(packet(Side::A, Segment::default()));
    run(&mut relay, &Hand::default(), 100, 0);
    let (report, heard) = relay.finish(Time::ZERO + Span::from_secs(1));
    assert_eq!((report.forward.dropped.host, report.forward.packets_out), (1, 0));
    assert_eq!(heard.0.last().map(|heard| heard.1), Some('x'));
}

#[test]
fn a_packet_that_arrives_twice_is_delivered_twice() {
    let mut relay = relay(&[("duplicate", "99%")], Side::A);
    relay.devices[0].to_read.extend((0..10).map(|_| packet(Side::A, Segment::default())));
    run(&mut relay, &Hand::default(), 500, 0);
    let (report, received) = relay.finish(Time::ZERO + Span::from_secs(1));
    let left: Vec<u64> = received.0.iter().filter(|event| event.1 == '<').map(|event| event.0).collect();
    assert!(left.len() > 15 && left.windows(2).filter(|pair| pair[0] == pair[1]).count() == left.len() - 10);
    assert_eq!((report.forward.packets_in, report.forward.packets_out), (10, left.len() as u64));
}
