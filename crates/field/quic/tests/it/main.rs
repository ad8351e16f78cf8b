//! The host by itself: what it reports for the hooks of a stack.

use std::sync::{Arc, Mutex};

use firstflight::registry::Offers;
use firstflight::{Bytes, Call, Event, Note, Origin, OwnedEvent, Path, SendLimit, Span, Time, TraceRecord};
use firstflight_conformance::{Conformance, check};
use firstflight_quic::{AckEnd, AnyHost, Choice, Limit, Observer, PacketSent, Permit, Settings};
use firstflight_trace::{Departures, FORMAT, Header, Hosts, Writer, read};

const MSS: u64 = 1_200;

#[derive(Debug, Default)]
struct Records(Mutex<Vec<TraceRecord>>);

impl Observer for Records {
    fn records_calls(&self) -> bool {
        true
    }

    fn on_call(&self, record: TraceRecord) {
        self.0.lock().expect("no panic").push(record);
    }
}

/// A stack with one host: it keeps the in-flight count that a stack would.
struct Stack {
    host: AnyHost,
    records: Arc<Records>,
    in_flight: u64,
}

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

fn packet(number: u64) -> PacketSent {
    PacketSent { number: Some(number), bytes: MSS }
}

impl Stack {
    /// Returns a stack whose handshake took 40 ms.
    fn established(scheme: &str) -> Self {
        let records = Arc::<Records>::default();
        let controller =
            Choice::named(scheme).expect("registered").build(Offers::all("a test")).expect("all");
        let host = AnyHost::observed(controller, Settings::default(), at(0), Some(records.clone()));
        let mut stack = Self { host, records, in_flight: 0 };
        stack.host.on_packet_sent(at(0), packet(0));
        stack.host.on_packet_acked(at(40), packet(0), at(0));
        stack.end(40);
        stack
    }

    fn send(&mut self, millis: u64, numbers: std::ops::Range<u64>) {
        for number in numbers {
            assert_eq!(self.host.before_send(at(millis), MSS), Permit::Now);
            self.host.on_packet_sent(at(millis), packet(number));
            self.in_flight += MSS;
        }
    }

    fn acked(&mut self, millis: u64, number: u64, sent: u64) {
        self.host.on_packet_acked(at(millis), packet(number), at(sent));
        self.in_flight -= MSS;
    }

    fn end(&mut self, millis: u64) {
        let in_flight = self.in_flight;
        self.host.on_ack_end(at(millis), AckEnd { in_flight: Some(in_flight), app_limited: false });
    }

    fn lost(&mut self, number: u64) {
        self.host.on_packet_lost(number, MSS, None);
        self.in_flight -= MSS;
    }

    /// Returns what `pick` makes of the events, in order; checks the laws of hosts.
    fn events<T>(&self, pick: impl Fn(&Event<'_>, &Path) -> Option<T>) -> Vec<T> {
        let records = self.records.0.lock().expect("no panic");
        let mut conformance = Conformance::new();
        for (line, record) in records.iter().enumerate() {
            conformance.check_record(line + 1, record);
        }
        assert_eq!(conformance.finish().listed(), []);
        let of = |record: &TraceRecord| match &record.call {
            Call::On(event) => pick(&OwnedEvent::event(event), &record.path),
            Call::NewData | Call::Plan => None,
        };
        records.iter().filter_map(of).collect()
    }
}

#[test]
fn the_ranges_of_an_ack_may_come_in_any_order() {
    let mut stack = Stack::established("slow-start");
    stack.send(50, 0..4);
    for number in [3, 0, 2, 1] {
        stack.acked(90, number, 50);
    }
    stack.end(90);
    let listed = stack.events(|event, path| match event {
        Event::Acked(ack) => {
            Some((ack.packets.iter().map(|p| p.packet).collect::<Vec<_>>(), path.una, ack.counts_bytes))
        }
        _ => None,
    });
    assert_eq!(listed, [(vec![0, 1, 2, 3], 4 * MSS, true)]);
}

#[test]
fn una_is_where_the_newest_acknowledged_packet_ends() {
    let mut stack = Stack::established("slow-start");
    stack.send(50, 0..4);
    stack.acked(90, 2, 50);
    stack.end(90);
    stack.acked(91, 0, 50);
    stack.end(91);
    stack.lost(1);
    stack.host.on_loss(at(91), false);
    stack.acked(95, 3, 50);
    stack.end(95);
    let una = stack.events(|event, path| matches!(event, Event::Acked(_)).then_some(path.una));
    assert_eq!(una, [3 * MSS, 3 * MSS, 4 * MSS]);
    let samples = stack.events(|event, _| match event {
        Event::Acked(ack) => Some(ack.rtt.map(|sample| sample.rtt)),
        _ => None,
    });
    let sample = |millis| Some(Span::from_millis(millis));
    assert_eq!(samples, [sample(40), None, sample(45)], "the second ACK has no newer packet");
}

#[test]
fn a_loss_halves_the_flight_before_its_ack_and_a_later_one_is_answered() {
    let mut stack = Stack::established("slow-start");
    stack.send(50, 0..10);
    for number in 3..7 {
        stack.acked(90, number, 50);
    }
    stack.end(90);
    stack.lost(0);
    stack.host.on_loss(at(90), false);
    stack.lost(1);
    stack.host.on_loss(at(95), false);
    let losses = stack.events(|event, path| match event {
        Event::Lost(loss) => Some((path.flight.get(), path.pipe.get(), loss.sent_at)),
        _ => None,
    });
    assert_eq!(losses, [(10 * MSS, 5 * MSS, Some(at(50))), (5 * MSS, 4 * MSS, Some(at(50)))]);
    let records = stack.records.0.lock().expect("no panic");
    let notes = records.iter().flat_map(|record| &record.notes);
    assert_eq!(notes.filter(|note| matches!(note, Note::Reduced { .. })).count(), 1);
}

#[test]
fn persistent_congestion_restarts_the_minimum_rtt() {
    let mut stack = Stack::established("slow-start");
    stack.send(50, 0..3);
    stack.acked(500, 2, 50);
    stack.end(500);
    for number in [0, 1] {
        stack.lost(number);
    }
    stack.host.on_loss(at(500), true);
    assert_eq!(stack.host.window(), Bytes::new(2 * MSS), "RFC 9002 section 7.6.2");
    stack.send(500, 3..4);
    stack.acked(560, 3, 500);
    stack.end(560);
    assert_eq!(stack.host.path().min_rtt, Some(Span::from_millis(60)), "RFC 9002 section 5.2");
    assert_eq!(stack.events(|event, _| matches!(event, Event::Lost(_)).then_some(())).len(), 1);
}

#[test]
fn a_spurious_loss_restores_the_window_with_the_next_ack() {
    let mut stack = Stack::established("slow-start");
    stack.send(50, 0..10);
    let before = stack.host.window();
    stack.acked(90, 3, 50);
    stack.end(90);
    stack.lost(0);
    stack.host.on_loss(at(90), false);
    assert!(stack.host.window() < before);
    stack.host.on_spurious_loss();
    stack.acked(92, 4, 50);
    stack.end(92);
    assert!(stack.host.window() >= before);
    assert!(!stack.host.path().recovering);
    let undone = stack.events(|event, _| matches!(event, Event::SpuriousLoss).then_some(()));
    assert_eq!(undone.len(), 1);
    stack.host.on_spurious_loss();
    stack.host.wake_up(at(93));
    let undone = stack.events(|event, _| matches!(event, Event::SpuriousLoss).then_some(()));
    assert_eq!(undone.len(), 1, "there is no other reduction to undo");
}

#[test]
fn another_path_leaves_out_the_packets_of_the_old_one() {
    let mut stack = Stack::established("hystart++");
    stack.send(50, 0..10);
    stack.in_flight = 0;
    stack.host.on_path_change(at(60));
    stack.host.on_packet_acked(at(90), packet(3), at(50));
    stack.end(90);
    stack.host.on_mark(at(90), at(50));
    stack.host.on_packet_lost(0, MSS, None);
    stack.host.on_loss(at(90), false);
    assert_eq!(stack.host.path().srtt, None);
    let seen = stack.events(|event, _| match event {
        Event::Begin(Origin::PathChange) => Some("begin"),
        Event::Acked(_) => Some("acked"),
        Event::Lost(_) => Some("lost"),
        Event::Marked { .. } => Some("marked"),
        _ => None,
    });
    assert_eq!(seen, ["begin"]);
}

#[test]
fn packets_of_before_a_rebinding_have_no_event() {
    let mut stack = Stack::established("hystart++");
    stack.send(50, 0..10);
    stack.acked(90, 1, 50);
    stack.end(90);
    stack.host.forget_in_flight();
    stack.in_flight = 0;
    assert_eq!(stack.host.path().pipe, Bytes::ZERO);
    for number in [0, 2] {
        stack.host.on_packet_lost(number, MSS, None);
    }
    stack.send(91, 10..12);
    stack.host.on_mark(at(95), at(50));
    stack.acked(131, 10, 91);
    stack.end(131);
    stack.lost(11);
    stack.host.on_loss(at(131), false);
    let seen = stack.events(|event, path| match event {
        Event::Acked(ack) => Some(("acked", ack.bytes.get(), path.pipe.get())),
        Event::Lost(loss) => Some(("lost", loss.bytes.get(), path.pipe.get())),
        Event::Marked { .. } => Some(("marked", 0, 0)),
        _ => None,
    });
    assert_eq!(seen, [("acked", MSS, 9 * MSS), ("acked", MSS, MSS), ("lost", MSS, 0)]);
}

#[test]
fn lost_packets_without_an_end_are_discarded() {
    let mut stack = Stack::established("slow-start");
    stack.send(50, 0..4);
    stack.acked(90, 3, 50);
    stack.end(90);
    stack.lost(0);
    stack.acked(91, 2, 50);
    stack.end(91);
    stack.lost(1);
    stack.host.on_loss(at(91), false);
    let lost = stack.events(|event, _| match event {
        Event::Lost(loss) => Some(loss.bytes.get()),
        _ => None,
    });
    assert_eq!(lost, [MSS], "the first list has no event");
}

#[test]
fn a_mark_may_come_with_a_newer_packet_that_only_acknowledges() {
    let mut stack = Stack::established("slow-start");
    stack.send(50, 0..4);
    stack.acked(95, 3, 50);
    stack.end(95);
    stack.host.on_mark(at(95), at(55));
    stack.host.on_mark(at(96), at(0));
    let marks = stack.events(|event, _| match event {
        Event::Marked { sent_at } => Some(*sent_at),
        _ => None,
    });
    assert_eq!(marks, [Some(at(50))], "a mark of the handshake has no event");
}

#[test]
fn an_idle_time_asks_the_restart_policy_before_the_packet() {
    let mut stack = Stack::established("slow-start");
    stack.send(50, 0..10);
    for number in 0..10 {
        stack.acked(90, number, 50);
    }
    stack.end(90);
    assert_eq!(stack.host.window(), Bytes::new(20 * MSS));
    assert_eq!(stack.host.before_send(at(3_000), MSS), Permit::Now);
    assert_eq!(stack.host.window(), Bytes::new(10 * MSS), "before anything is sent");
}

#[test]
fn without_a_clock_before_sending_one_packet_escapes() {
    let mut stack = Stack::established("slow-start");
    stack.send(50, 0..10);
    for number in 0..10 {
        stack.acked(90, number, 50);
    }
    stack.end(90);
    stack.host.on_packet_sent(at(3_000), packet(10));
    assert_eq!(stack.host.window(), Bytes::new(10 * MSS));
    assert_eq!(stack.host.path().pipe, Bytes::new(MSS));
    assert_eq!(stack.events(|event, _| matches!(event, Event::Sent(_)).then_some(())).len(), 11);
}

#[test]
fn a_probe_of_the_mtu_is_left_out() {
    let mut stack = Stack::established("slow-start");
    let probe = PacketSent { number: Some(0), bytes: 1_452 };
    stack.host.on_packet_sent(at(50), probe);
    assert_eq!(stack.host.path().pipe, Bytes::ZERO);
    stack.host.on_mtu(1_452);
    stack.host.on_packet_acked(at(90), probe, at(50));
    stack.end(90);
    stack.host.on_mtu(1_452);
    let seen = stack.events(|event, path| match event {
        Event::MssChanged => Some(path.wire.get()),
        Event::Sent(_) | Event::Acked(_) => Some(0),
        _ => None,
    });
    assert_eq!(seen, [1_480]);
}

#[test]
fn an_application_without_data_is_the_limit() {
    let mut stack = Stack::established("slow-start");
    stack.host.set_limit(Limit::App);
    stack.send(50, 0..1);
    stack.acked(90, 0, 50);
    stack.end(90);
    let limits = stack.events(|event, _| match event {
        Event::Acked(ack) => ack.packets.first().map(|packet| packet.limit),
        _ => None,
    });
    assert_eq!(limits, [SendLimit::App]);
}

#[test]
fn a_train_ends_when_its_packets_are_sent() {
    let mut stack = Stack::established("paced");
    let mut sent = 0;
    for micros in (40_000..400_000).step_by(10) {
        let now = Time::ZERO + Span::from_micros(micros);
        while stack.host.before_send(now, MSS) == Permit::Now {
            stack.host.on_packet_sent(now, packet(sent));
            sent += 1;
        }
    }
    assert_eq!(sent, 10, "the first burst has an initial window of packets");
    assert_eq!(stack.host.before_send(at(401), MSS), Permit::WindowFull, "the window holds the train");
    assert_eq!(stack.events(|event, _| matches!(event, Event::Sent(_)).then_some(())).len() as u64, sent);
}

#[test]
#[should_panic(expected = "on_packet_acked without on_ack_end")]
#[cfg(debug_assertions)]
fn a_forgotten_end_of_an_ack_is_found() {
    let mut stack = Stack::established("slow-start");
    stack.send(50, 0..2);
    stack.host.on_packet_acked(at(90), packet(0), at(50));
    stack.host.on_packet_sent(at(90), packet(2));
}

#[test]
fn a_written_trace_is_read_and_keeps_the_laws() {
    let mut stack = Stack::established("hystart++");
    stack.send(50, 0..10);
    for number in 0..10 {
        stack.acked(90 + number, number, 50);
        stack.end(90 + number);
        stack.send(90 + number, 10 + 2 * number..12 + 2 * number);
    }
    let (scheme, restart, law, iw_segments) = Choice::named("hystart++").expect("registered").names();
    let header = Header {
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        scheme: scheme.to_owned(),
        restart: restart.to_owned(),
        avoidance: law.to_owned(),
        iw_segments,
        ssthresh_bytes: None,
        hosts: Hosts::Controller,
        departures: Departures::AtOnce,
    };
    let mut writer = Writer::default();
    let mut text = Writer::header(&header);
    for record in stack.records.0.lock().expect("no panic").iter() {
        text += &writer.record(record);
    }
    let (found, calls) = read(text.as_bytes()).expect("a trace");
    assert_eq!(found, header);
    assert_eq!(check(&found, None, calls).expect("it can be checked").listed(), []);
}

#[test]
fn a_clients_finished_has_no_event_and_leaves_its_room_in_the_window() {
    let mut flow = Stack::established("slow-start");
    let before = flow.host.window();
    flow.host.on_packet_sent(at(40), PacketSent { number: Some(0), bytes: 89 });
    flow.host.on_packet_sent(at(40), PacketSent { number: Some(0), bytes: 1_111 });
    flow.host.on_packet_sent(at(40), PacketSent { number: Some(1), bytes: 1_200 });
    assert_eq!(flow.host.path().nxt, 2_311, "the packets of the 1-RTT space");
    assert_eq!(flow.host.window(), before + Bytes::new(89));
    flow.host.on_packet_acked(at(80), PacketSent { number: Some(0), bytes: 89 }, at(40));
    flow.host.on_ack_end(at(80), AckEnd { in_flight: Some(2_311), app_limited: false });
    assert_eq!((flow.host.window(), flow.host.path().una), (before, 0));
}

#[test]
fn a_small_first_packet_of_data_is_reported_at_its_time() {
    let mut flow = Stack::established("slow-start");
    flow.host.on_packet_sent(at(41), PacketSent { number: Some(0), bytes: 300 });
    assert_eq!(flow.host.path().nxt, 0);
    flow.host.on_packet_sent(at(43), PacketSent { number: Some(1), bytes: 1_200 });
    assert_eq!((flow.host.path().nxt, flow.host.path().last_sent), (1_500, Some(at(43))));
    let sent = flow.events(|event, path| matches!(event, Event::Sent(_)).then_some(path.now));
    assert_eq!(sent, [at(41), at(43)]);
}

#[test]
fn an_undecided_first_packet_is_data_for_any_later_call() {
    let mut flow = Stack::established("slow-start");
    let small = PacketSent { number: Some(0), bytes: 300 };
    flow.host.on_packet_sent(at(41), small);
    assert_eq!(flow.host.before_send(at(41), 11_701), Permit::WindowFull, "the window counts it");
    assert_eq!(flow.host.path().nxt, 0);
    flow.host.on_packet_acked(at(81), small, at(41));
    flow.host.on_ack_end(at(81), AckEnd { in_flight: Some(0), app_limited: true });
    let seen = flow.events(|event, path| match event {
        Event::Sent(_) => Some(("sent", path.now)),
        Event::Acked(ack) if ack.bytes == Bytes::new(300) => Some(("acked", path.now)),
        _ => None,
    });
    assert_eq!(seen, [("sent", at(41)), ("acked", at(81))]);
}

#[test]
fn another_path_forgets_the_room_of_a_clients_finished() {
    let mut flow = Stack::established("slow-start");
    let before = flow.host.window();
    for (number, bytes) in [(0, 89), (0, 1_111)] {
        flow.host.on_packet_sent(at(40), PacketSent { number: Some(number), bytes });
    }
    assert_eq!(flow.host.window(), before + Bytes::new(89));
    flow.host.on_path_change(at(60));
    assert_eq!((flow.host.window(), flow.host.path().pipe), (before, Bytes::ZERO));
}
