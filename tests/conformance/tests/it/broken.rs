//! Each law is broken in one place of a good record.

use firstflight::{
    Advice, Bytes, Call, Delivered, Event, Judged, LostPacket, Pacing, Plan, Rate, Sent, Span, Tag, Time,
    TraceRecord,
};
use firstflight_conformance::Law;

use super::record::Record;

const ONE: Bytes = Bytes::new(1);

/// Breaks a law. Returns the index of the call at which the breach is detected.
fn break_law(law: Law, record: &mut Record) -> usize {
    let ack = record.find(0, |event, _| matches!(event, Event::Acked(_)));
    match law {
        Law::Begin => {
            record.calls.remove(0);
            0
        }
        Law::Established => record.say(ack, &Event::Established { rtt: None, syn_lost: false }),
        Law::Time => {
            let second = record.find(new_data(record, 0) + 1, |event, _| matches!(event, Event::Sent(_)));
            let path = &mut record.calls[second].1.path;
            path.now = before(path.now);
            second
        }
        Law::MssChanged => path(record, ack, |record| record.path.mss += ONE),
        Law::Cwnd => path(record, ack, |record| record.path.cwnd += ONE),
        Law::Wake => path(record, ack, |record| record.path.wake = Some(record.path.now)),
        Law::Woken => record.say(ack, &Event::Woken),
        Law::PacketNumbers => send(record, ack, |sent| sent.packet += 1),
        Law::Tag => send(record, ack, |sent| sent.tag = Tag(7)),
        Law::Backlog => {
            let sent = new_data(record, ack);
            path(record, sent, |record| record.path.backlog = Some(Bytes::ZERO))
        }
        Law::Hold => {
            let sent = new_data(record, ack);
            record.calls[sent - 1].1.plan.pacing = Pacing::Hold;
            sent
        }
        Law::Window => {
            let sent = new_data(record, ack);
            record.calls[sent - 1].1.plan.window = ONE;
            path(record, sent, |record| record.path.cwnd = ONE)
        }
        Law::Rate => {
            let first = new_data(record, ack);
            let second = new_data(record, first + 1);
            assert_eq!(second, first + 1, "nothing changes the rate between them");
            path(record, second, |record| record.path.now = before(record.path.now))
        }
        Law::Train => {
            let spread = |plan: &Plan| matches!(plan.pacing, Pacing::Train { gap, .. } if !gap.is_zero());
            let first =
                record.find(0, |event, record| matches!(event, Event::Sent(_)) && spread(&record.plan));
            let second = new_data(record, first + 1);
            path(record, second, |record| record.path.now = before(record.path.now))
        }
        Law::TrainCut => record.say(ack, &Event::TrainCut(Tag(9))),
        Law::NewData => record.insert(ack, Call::NewData),
        Law::Idle => {
            let restart = record.calls.iter().position(|(_, record)| matches!(record.call, Call::NewData));
            let restart = restart.expect("a restart");
            record.calls[restart].1.call = Call::Plan;
            new_data(record, restart)
        }
        Law::LastSent => path(record, ack, |record| record.path.last_sent = Some(record.path.now)),
        Law::LastReceived => {
            path(record, ack, |record| record.path.last_received = Some(before(record.path.now)))
        }
        Law::Retransmission => {
            let first = new_data(record, 0);
            let Event::Sent(sent) = record.heard(first).event() else { unreachable!("it is found so") };
            record.set(first, &Event::Sent(Sent { retransmission: true, ..sent }));
            first
        }
        Law::SpuriousLoss => record.say(ack, &Event::SpuriousLoss),
        Law::TimedOut => record.say(ack, &Event::TimedOut { repeated: true }),
        Law::Marked => {
            let first = record.say(ack, &Event::Marked { sent_at: None });
            record.say(first, &Event::Marked { sent_at: None })
        }
        Law::Asked => record.say(ack, &Event::Asked(true)),
        Law::Advice => {
            let approved = Some(Rate::from_bps(80_000));
            record.say(ack, &Event::Advice(Advice::QuickStart { approved }))
        }
        Law::LostInFlight | Law::LostBytes => break_loss(law, record),
        _ => break_ack(law, record, ack),
    }
}

fn break_loss(law: Law, record: &mut Record) -> usize {
    let index = record.find(0, |event, _| matches!(event, Event::Lost(_)));
    let heard = record.heard(index);
    let Event::Lost(loss) = heard.event() else { unreachable!("it is found so") };
    let mut packets = loss.packets.to_vec();
    if law == Law::LostInFlight {
        packets[0] = LostPacket { packet: 0, ..packets[0] };
        (packets[0].tag, packets[0].bytes) = (Tag(0), loss.packets[0].bytes);
    }
    let ranges = loss.ranges + if law == Law::LostBytes { 100 } else { 0 };
    record.change_loss(index, |loss| (loss.packets, loss.ranges) = (leaked(packets), ranges));
    index
}

/// Breaks a law on the values of an ACK or of its path. If the pipe would also reveal the breach, it uses an ACK during a repair.
fn break_ack(law: Law, record: &mut Record, first: usize) -> usize {
    let lost = record.find(0, |event, _| matches!(event, Event::Lost(_)));
    let selective =
        record.find(lost, |event, _| matches!(event, Event::Acked(ack) if ack.advanced.is_zero()));
    let on = record.find(selective, |event, _| matches!(event, Event::Acked(ack) if !ack.advanced.is_zero()));
    match law {
        Law::PacketAsSent => packets(record, first, |packets| packets[0].tag = Tag(7)),
        Law::AckedInFlight => packets(record, first, |packets| packets[0].packet = 9_999),
        Law::AckOrder => {
            let two = record.find(0, |event, _| matches!(event, Event::Acked(ack) if ack.packets.len() > 1));
            packets(record, two, |packets| packets.swap(0, 1))
        }
        Law::AckBytes => {
            record.change_ack(selective, |ack| ack.bytes -= ONE);
            path(record, selective, |record| record.path.delivered -= ONE)
        }
        Law::AckSacked => ack(record, selective, |ack| ack.sacked += ONE),
        Law::AckSegments => ack(record, first, |ack| ack.segments += 1),
        Law::AckAdvanced => {
            record.change_ack(first, |ack| ack.advanced += ONE);
            path(record, first, |record| {
                record.path.una += 1;
                record.path.flight -= ONE;
                record.path.pipe -= ONE;
            })
        }
        Law::Duplicate => ack(record, selective, |ack| ack.duplicate = false),
        Law::Una => path(record, on, |record| {
            record.path.una -= 1;
            record.path.flight += ONE;
        }),
        Law::Nxt => path(record, on, |record| {
            record.path.nxt += 5;
            record.path.flight += Bytes::new(5);
        }),
        Law::Delivered => path(record, first, |record| record.path.delivered += ONE),
        Law::Flight => path(record, first, |record| record.path.flight += ONE),
        Law::Pipe => path(record, first, |record| record.path.pipe -= ONE),
        Law::Rtt => path(record, first, |record| record.path.latest_rtt = Some(Span::from_secs(9))),
        Law::RttSample => {
            record.change_ack(first, |ack| ack.rtt.as_mut().expect("a sample").rtt = Span::ZERO);
            path(record, first, |record| {
                (record.path.latest_rtt, record.path.min_rtt) = (Some(Span::ZERO), Some(Span::ZERO));
            })
        }
        Law::Judged => path(record, first, |record| {
            let growth = Bytes::new(123_456);
            record.judged = Some(Judged::Acked { round_ended: false, round_sent: Bytes::ZERO, growth });
        }),
        _ => unreachable!("{law:?} is broken elsewhere"),
    }
}

/// Returns the first new data sent from call `from` on.
fn new_data(record: &Record, from: usize) -> usize {
    record.find(from, |event, _| matches!(event, Event::Sent(sent) if !sent.retransmission))
}

fn before(at: Time) -> Time {
    Time::from_nanos(at.nanos() - 1)
}

fn path(record: &mut Record, index: usize, change: impl FnOnce(&mut TraceRecord)) -> usize {
    change(&mut record.calls[index].1);
    index
}

fn ack(record: &mut Record, index: usize, change: impl FnOnce(&mut firstflight::Ack<'_>)) -> usize {
    record.change_ack(index, change);
    index
}

fn send(record: &mut Record, from: usize, change: impl FnOnce(&mut Sent)) -> usize {
    let index = new_data(record, from);
    let Event::Sent(mut sent) = record.heard(index).event() else { unreachable!("it is found so") };
    change(&mut sent);
    record.set(index, &Event::Sent(sent));
    index
}

fn packets(record: &mut Record, index: usize, change: impl FnOnce(&mut Vec<Delivered>)) -> usize {
    let heard = record.heard(index);
    let Event::Acked(ack) = heard.event() else { panic!("it is no ACK") };
    let mut packets = ack.packets.to_vec();
    change(&mut packets);
    record.change_ack(index, |ack| ack.packets = leaked(packets));
    index
}

/// Leaks a list, because records live as long as a test.
fn leaked<T>(list: Vec<T>) -> &'static [T] {
    Box::leak(list.into_boxed_slice())
}

/// Returns a record to which the law applies.
fn good(law: Law) -> Record {
    match law {
        Law::Rate => Record::golden("slow-start-paced"),
        Law::Train => Record::golden("paced"),
        Law::Idle => Record::golden("restart-rfc5681"),
        Law::Judged => Record::golden("slow-start").judged(),
        _ => Record::golden("slow-start"),
    }
}

#[test]
fn a_packet_more_than_a_train_has_breaks_the_law_of_trains() {
    let mut record = Record::golden("paced");
    let begins = record.find(0, |_, record| matches!(record.plan.pacing, Pacing::Train { .. }));
    for (_, record) in &mut record.calls[begins..] {
        if let Pacing::Train { packets, .. } = &mut record.plan.pacing {
            *packets -= 1;
        }
    }
    let first = record.verdict().listed()[0].clone();
    assert_eq!(first.law, Law::Train);
    assert!(
        first.what.ends_with("leaves with new data; 0 packets of train 2 are to leave"),
        "{}",
        first.what
    );
}

#[test]
fn a_record_breaking_one_law_is_reported_with_law_and_line() {
    for &law in Law::ALL {
        let mut record = good(law);
        assert_eq!(record.verdict().listed(), [], "{}", law.name());
        let index = break_law(law, &mut record);
        let line = record.calls[index].0;
        let verdict = record.verdict();
        let first = verdict.listed().first().unwrap_or_else(|| panic!("{} is not seen", law.name()));
        assert_eq!((first.law, first.line), (law, line), "{}: {:#?}", law.name(), verdict.listed());
        let others = verdict.listed().iter().filter(|other| other.line == line && other.law != law);
        assert_eq!(others.count(), 0, "{}: {:#?}", law.name(), verdict.listed());
    }
}
