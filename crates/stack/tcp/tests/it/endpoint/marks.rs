//! ECN marks together with losses, probes and timeouts: each marked window of data causes one reduction (RFC 3168 section 6.1.2).

use firstflight::Span;
use firstflight_tcp::{AckPolicy, Config, Ecn, EndpointEvent, Flags, Recovery, Segment, Stack};

use super::connection::DELAY;
use super::line::{Line, Verdict, config, millis};
use super::robustness::next;

fn with_marks() -> Config {
    Config { ecn: true, ..config() }
}

/// Removes the sequence number from the list. Returns whether it was there.
fn once(list: &mut Vec<u32>, seq: u32) -> bool {
    let place = list.iter().position(|listed| *listed == seq);
    place.map(|place| list.remove(place)).is_some()
}

/// Drops or marks the client's data segments that begin at these sequence numbers, each the first time.
fn judge(
    mut lost: Vec<u32>,
    mut marked: Vec<u32>,
) -> impl FnMut(firstflight::Time, bool, &Segment) -> Verdict {
    move |_, client, segment| {
        if !client || segment.len == 0 {
            Verdict::Pass
        } else if once(&mut lost, segment.seq) {
            Verdict::Drop
        } else if segment.ecn != Ecn::NotCapable && once(&mut marked, segment.seq) {
            Verdict::Change(Segment { ecn: Ecn::Ce, ..*segment })
        } else {
            Verdict::Pass
        }
    }
}

#[test]
fn a_mark_is_answered_after_a_window_with_mark_and_probe() {
    for lost in [vec![], vec![9_001]] {
        let mut line = Line::new(&with_marks(), &with_marks(), DELAY);
        line.client.open(line.now);
        line.client.write(10_000);
        let probes = lost.len() as u64;
        let mut judge = judge(lost, vec![4_001, 11_001]);
        line.run(millis(800), &mut judge);
        assert_eq!((line.reductions(), line.client.stats().probes), (1, probes));
        line.client.write(8_000);
        line.run(millis(3_000), &mut judge);
        assert_eq!(line.reductions(), 2, "{probes}");
    }
}

#[test]
fn a_probe_repaired_loss_is_answered_even_after_a_marked_window() {
    for marked in [vec![], vec![4_001]] {
        let marks = marked.len();
        let server = Config { ack_policy: AckPolicy::Delayed, ..with_marks() };
        let mut line = Line::new(&with_marks(), &server, DELAY);
        line.client.open(line.now);
        line.client.write(10_000);
        let mut judge = judge(vec![10_001], marked);
        line.run(millis(500), &mut judge);
        assert_eq!((line.reductions(), line.client.snapshot().una), (marks, 10_000));
        // It is sent after the reduction, and is lost.
        line.client.write(1_000);
        while line.client.stats().probes == 0 {
            line.run(line.now + Span::from_millis(1), &mut judge);
        }
        // One ACK covers the probe and this segment.
        line.client.write(1_000);
        line.run(line.now + DELAY * 3, &mut judge);
        assert_eq!((line.reductions(), line.client.snapshot().una), (1 + marks, 12_000));
    }
}

/// Returns the number of reductions in a transfer in which a segment is lost, its repair is late, and others are marked.
fn reduced(config: &Config, lost: Option<u32>, repair: Option<u64>, marks: &[u32]) -> usize {
    let mut line = Line::new(config, config, DELAY);
    line.client.open(line.now);
    line.client.write(400_000);
    let (number, mut again) = (|index: u32| index * 1_000 + 1, 0);
    let lost = lost.map(number);
    let mut judge = judge(lost.into_iter().collect(), marks.iter().copied().map(number).collect());
    line.run(millis(8_000), |now, client, segment| {
        again += u32::from(client && segment.len > 0 && Some(segment.seq) == lost);
        match repair {
            Some(late) if again == 2 && Some(segment.seq) == lost => Verdict::Delay(Span::from_millis(late)),
            _ => judge(now, client, segment),
        }
    });
    assert_eq!(line.server.stats().received, 400_000);
    line.reductions()
}

#[test]
fn a_mark_in_the_next_window_is_answered_despite_a_loss_repair() {
    for stack in [Stack::Rfc, Stack::Linux] {
        let config = Config { stack, ..with_marks() };
        for lost in (32..75).step_by(3) {
            for second in (66..130).step_by(2) {
                let without = reduced(&config, None, None, &[31, second]);
                let with = reduced(&config, Some(lost), None, &[31, second]);
                assert!(with >= without, "{stack:?}: {lost} lost, {second} marked, {with} for {without}");
            }
        }
    }
}

#[test]
fn a_mark_of_data_sent_during_repair_is_answered_after_it() {
    for stack in [Stack::Rfc, Stack::Linux] {
        let config = Config { stack, ..with_marks() };
        for marked in 92..105 {
            for late in [None, Some(60)] {
                let told = format!("{stack:?} {marked} {late:?}");
                assert_eq!(reduced(&config, Some(40), late, &[]), 1, "{told}");
                assert_eq!(reduced(&config, Some(40), late, &[marked]), 2, "{told}");
            }
        }
    }
}

/// Its `pipe_` counts retransmissions, except the first.
#[test]
fn marks_make_no_room_in_the_pipe_of_ns_2() {
    let in_a_round_trip = |marks: Vec<u32>| {
        let host = Config { recovery: Recovery::Ns2Sack1, ..with_marks() };
        let mut line = Line::new(&host, &host, DELAY);
        line.client.open(line.now);
        line.client.write(400_000);
        let lost = (30..60).step_by(2).map(|index| index * 1_000 + 1).collect();
        line.run(millis(450), judge(lost, marks));
        let began = |what: &EndpointEvent| matches!(what, EndpointEvent::RecoveryBegan { .. });
        let began = line.events.iter().find(|(_, what)| began(what)).expect("a repair").0;
        line.data().iter().filter(|(at, _)| (began..began + DELAY * 2).contains(at)).count()
    };
    assert_eq!(in_a_round_trip(vec![37_001]), in_a_round_trip(vec![]));
}

/// Linux lowers the window by PRR, which does nothing while nothing is delivered.
#[test]
fn a_mark_on_an_ack_that_delivers_nothing_closes_no_window() {
    let host = Config { stack: Stack::Linux, ..with_marks() };
    let mut line = Line::new(&host, &host, DELAY);
    line.client.open(line.now);
    line.client.write(50_000);
    line.run(millis(4_000), |_, _, _| Verdict::Pass);
    line.client.write(20_000);
    while line.client.poll_transmit(line.now).is_some() {}
    line.client.on_segment(line.now, &Segment { window: 60_000, ..next(Flags::ACK, 1, 51_000) });
    let before = line.client.snapshot();
    line.client.on_segment(line.now, &Segment { window: 60_000, ..next(Flags::ECE, 1, 51_000) });
    let after = line.client.snapshot();
    assert_eq!(after.cwnd, before.cwnd);
    assert!(
        after.ssthresh.is_some_and(|ssthresh| ssthresh < before.cwnd),
        "it is on its way to half of what is in flight"
    );
}
