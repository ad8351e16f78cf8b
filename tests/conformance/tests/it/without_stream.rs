//! A host without a stream (QUIC): `una` counts acknowledged bytes, `nxt` sent bytes, and the flight is the pipe.

use firstflight::{
    Ack, Bytes, Call, Delivered, Event, Loss, LostPacket, Origin, OwnedEvent, Path, Plan, RttSample,
    SendLimit, Sent, Span, Tag, Time, TraceRecord,
};
use firstflight_conformance::{Breach, Conformance, Law};

const SIZE: Bytes = Bytes::new(1_200);
const WINDOW: Bytes = Bytes::new(12_000);

struct Host {
    path: Path,
    left: Vec<Path>,
    conformance: Conformance,
    line: usize,
    lists: bool,
}

impl Host {
    fn new(lists: bool) -> Self {
        let mut path = Path::new(Time::from_nanos(1), SIZE, SIZE + Bytes::new(28));
        path.cwnd = WINDOW;
        path.rwnd = Bytes::new(1 << 30);
        path.limit = SendLimit::Window;
        let mut host = Self { path, left: Vec::new(), conformance: Conformance::new(), line: 1, lists };
        host.say(&Event::Begin(Origin::Fresh));
        host.say(&Event::Established { rtt: None, syn_lost: false });
        host
    }

    fn say(&mut self, event: &Event<'_>) {
        self.line += 1;
        let call = Call::On(OwnedEvent::new(event));
        let plan = Plan::ack_clocked(WINDOW, None);
        let record = TraceRecord { call, path: self.path, plan, notes: Vec::new(), judged: None };
        self.conformance.check_record(self.line, &record);
    }

    fn send(&mut self) {
        let packet = self.left.len() as u64;
        self.say(&Event::Sent(Sent { packet, bytes: SIZE, tag: Tag(0), retransmission: false }));
        self.left.push(self.path);
        self.path.nxt += SIZE.get();
        self.carry(self.path.pipe + SIZE);
        self.path.last_sent = Some(self.path.now);
    }

    fn carry(&mut self, bytes: Bytes) {
        (self.path.pipe, self.path.flight) = (bytes, bytes);
    }

    fn wait(&mut self) {
        self.path.now = self.path.now + Span::from_millis(10);
    }

    /// Acknowledges packets in any order, because there is no stream order.
    fn acknowledge(&mut self, packet: usize) {
        let rtt = self.take_in(packet);
        self.tell_acked(packet, rtt);
    }

    fn take_in(&mut self, packet: usize) -> Span {
        let rtt = self.path.now.since(self.left[packet].now);
        self.path.una += SIZE.get();
        self.path.delivered += SIZE;
        self.path.latest_rtt = Some(rtt);
        self.path.min_rtt = Some(self.path.min_rtt.map_or(rtt, |least| least.min(rtt)));
        self.carry(self.path.pipe - SIZE);
        rtt
    }

    fn tell_acked(&mut self, packet: usize, rtt: Span) {
        self.path.last_received = Some(self.path.now);
        let sent = self.left[packet];
        let delivered = [Delivered {
            packet: packet as u64,
            bytes: SIZE,
            sent_at: sent.now,
            tag: Tag(0),
            delivered_at_send: sent.delivered,
            limit: sent.limit,
            retransmitted: false,
            selectively: false,
        }];
        let rtt = Some(RttSample { rtt, handshake: false });
        let ack = if self.lists { Ack::of_stream(&delivered) } else { Ack::unlisted(SIZE, 1, false) };
        self.say(&Event::Acked({
            let mut ack = ack;
            ack.rtt = rtt;
            ack
        }));
    }

    fn lose(&mut self, packet: u64) {
        self.carry(self.path.pipe - SIZE);
        let packets = [LostPacket { packet, bytes: SIZE, tag: Tag(0) }];
        let loss = if self.lists { Loss::new(&packets) } else { Loss::of(SIZE) };
        self.say(&Event::Lost(loss));
    }

    fn verdict(self) -> Vec<Breach> {
        self.conformance.finish().listed().to_vec()
    }
}

/// Sends ten packets, which are acknowledged in another order, one of them after it was declared lost.
fn flight(lists: bool) -> Host {
    let mut host = Host::new(lists);
    for _ in 0..10 {
        host.send();
    }
    host.wait();
    for packet in [0, 3, 2, 1] {
        host.acknowledge(packet);
    }
    host.lose(4);
    host.lose(5);
    host.send();
    host.wait();
    host.acknowledge(10);
    host
}

#[test]
fn a_host_without_a_stream_is_not_refused_for_that() {
    assert_eq!(flight(true).verdict(), []);
    assert_eq!(flight(false).verdict(), []);
}

#[test]
fn a_host_without_a_stream_is_bound_by_the_laws() {
    let mut host = flight(true);
    host.acknowledge(2);
    let line = host.line;
    let breach = host.verdict().remove(0);
    assert_eq!((breach.law, breach.line), (Law::AckedInFlight, line));

    let mut host = flight(true);
    host.path.flight += SIZE;
    host.wait();
    host.say(&Event::Woken);
    let laws: Vec<Law> = host.verdict().iter().map(|breach| breach.law).collect();
    assert_eq!(laws, [Law::Woken, Law::Flight]);
}

#[test]
fn effects_of_an_ack_may_precede_it_only_at_its_instant() {
    let ahead = |waits: bool| {
        let mut host = flight(true);
        let rtt = host.take_in(6);
        host.lose(7);
        let line = host.line;
        if waits {
            host.wait();
        }
        host.tell_acked(6, rtt);
        let breaches: Vec<_> =
            host.verdict().into_iter().map(|breach| (breach.law, breach.line - line)).collect();
        breaches
    };
    assert_eq!(ahead(false), []);
    assert_eq!(ahead(true), [(Law::Una, 0), (Law::Delivered, 0), (Law::Rtt, 0)]);
}
