//! A controller in your own stack: docs/guide/embedding.md explains it.

use firstflight::{Ack, Bytes, Controller, Event, Note, Origin, Pacer, Path, RttSample, Sent, Span, Time};
use firstflight::{avoidance::Cubic, restart::Rfc5681, schemes::HyStartPlus, schemes::Initial};

fn main() {
    let (mss, wire, base) = (Bytes::new(1_460), Bytes::new(1_500), Span::from_millis(50));
    let initial = Initial { segments: 10, ssthresh: None };
    let mut control = Controller::new(HyStartPlus::new(initial), Rfc5681::new(initial), Cubic::new());
    let (mut path, mut pacer) = (Path::new(Time::ZERO, mss, wire), Pacer::new());
    control.on(&Event::Begin(Origin::Fresh), &path);
    path.sampled(base);
    control.on(&Event::Established { rtt: Some(base), syn_lost: false }, &path);
    let (mut left, mut delivered) = (Vec::new(), Time::ZERO);
    for acked in 0..2_000 {
        loop {
            let plan = control.plan(&path);
            pacer.adopt(&plan);
            path.cwnd = plan.window;
            if path.pipe + mss > plan.window || pacer.ready_at(wire, false).is_none_or(|at| at > path.now) {
                break;
            }
            let sent = Sent { packet: left.len() as u64, bytes: mss, tag: plan.tag, retransmission: false };
            control.on(&Event::Sent(sent), &path);
            pacer.sent(path.now, wire);
            left.push(path.now); // Here your stack sends the packet.
            path.sent(mss);
        }
        // Here your stack waits for an ACK; the toy path delivers a packet a millisecond.
        delivered = delivered.max(left[acked]) + Span::from_millis(1);
        path.now = delivered + base;
        let rtt = path.now.since(left[acked]);
        let mut ack = Ack::unlisted(mss, 1, false);
        ack.rtt = Some(RttSample { rtt, handshake: false });
        path.acked(&ack);
        control.on(&Event::Acked(ack), &path);
        if let Some(Note::Exited { exit, .. }) = control.take_note() {
            println!("{:?}: {} at {}", path.now, exit.cause.name(), exit.learned.window.get());
        }
    }
}
