use super::*;
use firstflight::{Cause, Origin};

/// Returns the sequence number of an offset. The initial sequence number is two before the wrap.
fn sequence_number(offset: u64) -> u32 {
    u32::MAX.wrapping_add(u32::try_from(offset % (1 << 32)).expect("32 bits"))
}

#[test]
fn sequence_numbers_unwrap_past_four_gigabytes() {
    let mut sequence = Sequence::default();
    let syn = Segment { seq: u32::MAX - 1, flags: Flags::SYN, ..Segment::default() };
    assert_eq!(sequence.sent(&syn), 0);
    let mut offset = 0u64;
    for _ in 0..200_000 {
        let seq = sequence_number(offset);
        let data = Segment { seq, len: 60_000, flags: Flags::ACK, ..Segment::default() };
        assert_eq!(sequence.sent(&data), offset);
        offset += 60_000;
    }
    assert!(offset > 2 << 32, "the test must wrap");
    // A retransmission of old data and the ACK of it have offsets far below the newest one.
    let old = offset - 1_000_000_000;
    let seq = sequence_number(old);
    assert_eq!(sequence.offset(seq), old);
}

fn observer() -> Observer {
    Observer::new(
        FlowId(0),
        Surroundings::new(&[LinkId(0)], at(100)),
        (Span::from_millis(1), 1000),
        Watching { full: true, ..Watching::default() },
    )
}

fn snapshot(phase: Phase, cwnd: u64, ssthresh: Option<u64>, recovering: bool) -> Snapshot {
    Snapshot {
        phase,
        cwnd: Bytes::new(cwnd),
        ssthresh: ssthresh.map(Bytes::new),
        in_flight: Bytes::ZERO,
        srtt: None,
        latest_rtt: None,
        min_rtt: None,
        rtt_samples: 0,
        recovering,
        una: 0,
        nxt: 0,
        train: None,
    }
}

fn at(nanos: u64) -> Time {
    Time::from_nanos(nanos)
}

fn data(observer: &mut Observer, when: u64, seq: u32, retransmission: bool) {
    let segment = Segment { seq, len: 1000, flags: Flags::ACK, ..Segment::default() };
    let bytes = Bytes::new(1000);
    let sent = firstflight::Sent { packet: 0, bytes, tag: firstflight::Tag(0), retransmission };
    observer.sent(at(when), FlowId(0), Role::Client, 0, &segment, Some(&sent));
}

fn happen(observer: &mut Observer, when: u64, note: Note) {
    let snapshot = || snapshot(Phase::Startup, 0, None, false);
    observer.event(at(when), FlowId(0), Role::Client, &EndpointEvent::Control(note), snapshot);
}

fn exit(cause: Cause) -> Note {
    let learned = firstflight::PathEstimate::default();
    Note::Exited {
        exit: firstflight::Exit { cause, learned },
        phase: Phase::Startup,
        cwnd: Bytes::new(9000),
        flight: Bytes::new(8000),
    }
}

fn state(observer: &mut Observer, when: u64, snapshot: Snapshot) {
    observer.state(at(when), FlowId(0), Role::Client, || snapshot);
}

#[test]
fn su_time_ends_when_avoidance_first_governs_new_data() {
    let mut observer = observer();
    let avoidance = |cwnd, recovering| snapshot(Phase::Avoidance, cwnd, Some(4000), recovering);
    data(&mut observer, 200, 0, false);
    state(&mut observer, 200, snapshot(Phase::Startup, 2000, None, false));
    happen(&mut observer, 300, exit(Cause::Loss));
    // None of these ends su-time: new data in recovery, new data below the threshold, and a retransmission.
    data(&mut observer, 300, 1000, false);
    state(&mut observer, 300, avoidance(4000, true));
    data(&mut observer, 400, 2000, false);
    state(&mut observer, 400, avoidance(3000, false));
    data(&mut observer, 500, 0, true);
    state(&mut observer, 500, avoidance(4000, false));
    assert_eq!(observer.evidence.su_end, None);
    data(&mut observer, 600, 3000, false);
    state(&mut observer, 600, avoidance(4000, false));
    data(&mut observer, 700, 4000, false);
    state(&mut observer, 700, avoidance(5000, false));
    assert_eq!(observer.evidence.su_end, Some(600));
}

#[test]
fn an_undone_exit_does_not_stand_and_start_up_goes_on() {
    let mut observer = observer();
    happen(&mut observer, 300, Note::Reduced { from: Bytes::new(9000) });
    happen(&mut observer, 300, exit(Cause::Timeout));
    happen(&mut observer, 350, exit(Cause::Threshold));
    data(&mut observer, 400, 0, false);
    state(&mut observer, 400, snapshot(Phase::Avoidance, 5000, Some(4000), false));
    assert_eq!((observer.evidence.su_end, observer.evidence.exits.len()), (Some(400), 2));
    happen(&mut observer, 500, Note::Undone { exit: true });
    assert_eq!(observer.evidence.su_end, None);
    assert_eq!((observer.evidence.exits.len(), observer.evidence.cuts.len()), (0, 0));
    happen(&mut observer, 600, exit(Cause::Delay));
    assert_eq!(observer.evidence.exits[0].cause, Cause::Delay);
}

#[test]
fn an_undone_exit_after_start_up_leaves_su_time_unchanged() {
    let mut observer = observer();
    happen(&mut observer, 300, exit(Cause::Delay));
    data(&mut observer, 400, 0, false);
    state(&mut observer, 400, snapshot(Phase::Avoidance, 5000, Some(4000), false));
    // A timeout starts a slow start, and a second timeout ends it. Both were spurious.
    happen(&mut observer, 9000, Note::Reduced { from: Bytes::new(9000) });
    happen(&mut observer, 9300, exit(Cause::Timeout));
    happen(&mut observer, 9900, Note::Undone { exit: true });
    data(&mut observer, 10_000, 1000, false);
    state(&mut observer, 10_000, snapshot(Phase::Avoidance, 9000, Some(4000), false));
    assert_eq!((observer.evidence.su_end, observer.evidence.exits.len()), (Some(400), 1));
}

#[test]
fn events_after_closing_a_flow_are_excluded_from_its_evidence() {
    let mut observer = observer();
    observer.queue(at(150), LinkId(0), Bytes::new(10_000), 10);
    data(&mut observer, 160, 0, false);
    let (evidence, mut rest) = observer.close(200);
    data(&mut rest, 210, 1000, false);
    rest.queue(at(220), LinkId(0), Bytes::new(20_000), 20);
    assert_eq!((evidence.recording.sends.len(), evidence.recording.ended_at), (1, 200));
    assert_eq!((evidence.queue_peak, evidence.queue_packet_nanos), (10, 500));
    assert!(rest.finish().is_ok());
}

#[test]
fn the_queue_is_measured_over_the_flows_life_only() {
    let mut observer = observer();
    observer.queue(at(10), LinkId(0), Bytes::new(50_000), 50);
    observer.queue(at(60), LinkId(0), Bytes::new(4_000), 4);
    observer.queue(at(150), LinkId(0), Bytes::new(10_000), 10);
    observer.queue(at(150), LinkId(1), Bytes::new(90_000), 90);
    observer.queue(at(160), LinkId(0), Bytes::ZERO, 0);
    let (evidence, _) = observer.close(200);
    assert_eq!(evidence.queue_peak, 10);
    assert_eq!(evidence.queue_packet_nanos, 50 * 4 + 10 * 10);
    assert_eq!(evidence.recording.queue[0], (100, 4));
}

#[test]
fn every_rtt_sample_is_recorded_even_if_equal_to_the_previous() {
    let mut observer = observer();
    let sampled = |rtt_samples, rtt| Snapshot {
        latest_rtt: Some(Span::from_nanos(rtt)),
        rtt_samples,
        ..snapshot(Phase::Startup, 0, None, false)
    };
    // A transmission between two ACKs adds no RTT sample.
    for (when, samples, rtt) in
        [(200, 1, 80), (210, 1, 80), (220, 2, 80), (230, 3, 80), (240, 3, 80), (250, 4, 90)]
    {
        state(&mut observer, when, sampled(samples, rtt));
    }
    assert_eq!(observer.evidence.recording.rtts, [(200, 80), (220, 80), (230, 80), (250, 90)]);
}

#[test]
fn data_after_an_idle_time_is_marked() {
    let mut observer = observer();
    let was = firstflight::PathEstimate::default();
    happen(&mut observer, 900, Note::Began(Origin::AfterIdle { idle: Span::from_millis(1500), was }));
    let marks = &observer.evidence.recording.marks;
    assert_eq!(marks.len(), 1);
    assert_eq!(
        (marks[0].at, marks[0].kind.as_str(), marks[0].text.as_str()),
        (900, "restart", "data again after 1.500 s")
    );
}
