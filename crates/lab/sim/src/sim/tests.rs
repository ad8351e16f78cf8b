//! Tests of how hosts handle segments that no simulated host sends.

use firstflight::avoidance::Reno;
use firstflight::schemes::{Initial, SlowStart};
use firstflight::{Controller, Sent, Span};
use firstflight_tcp::{Config, Flags, Segment};

use super::*;
use crate::packet::Label;
use crate::spec::LinkSpec;

/// Segments that the client sends.
#[derive(Default)]
struct Log(Vec<Segment>);

impl Recorder for Log {
    fn sent(&mut self, _: Time, _: FlowId, side: Role, _: u64, segment: &Segment, _: Option<&Sent>) {
        if side == Role::Client {
            self.0.push(*segment);
        }
    }
}

/// RFC 9293 section 3.10.7.3.
#[test]
fn a_host_in_syn_sent_resets_an_ack_of_unsent_data() {
    let initial = Initial { segments: 10, ssthresh: None };
    let controller = Controller::new(SlowStart::new(initial), SlowStart::new(initial), Reno::new());
    let config = Config::default();
    let application = Application::Sized(1_000);
    let spec = TcpSpec { client: config, server: config, controller, application };
    let way = LinkSpec::new(None, Span::from_millis(10));
    let mut network = Network::new(vec![way.clone(), way]);
    let flow = network.add(Flow {
        forward: vec![LinkId(0)],
        reverse: vec![LinkId(1)],
        start: Time::ZERO,
        start_spread: Span::ZERO,
        traffic: Traffic::Tcp(Box::new(spec)),
        muted: false,
    });
    let mut sim = Sim::new(&network, 1, Log::default()).expect("a possible network");
    let now = Time::ZERO + Span::from_millis(1);
    sim.run(now);
    let stray = Segment { ack: 7_777, flags: Flags::ACK, ..Segment::default() };
    *sim.fabric.next_segment() = stray;
    let from = Role::Server;
    let (retransmission, is_data, asks) = (false, false, false);
    let label = Label { flow, from, retransmission, number: 0, wire: 40, is_data, asks };
    sim.fabric.send_segment(now, label, &mut sim.recorder);
    let stop = sim.run_until_ended(flow, now + Span::from_secs(1));
    let sent: Vec<_> =
        sim.recorder.0.iter().map(|segment| (segment.flags, segment.seq, segment.len)).collect();
    assert_eq!(sent[..2], [(Flags::SYN, 0, 0), (Flags::RST, 7_777, 0)]);
    assert_eq!(stop, Stop::Finished, "the connection goes on");
}
