//! Statements of the RFCs, tested on two endpoints and a line.

use super::line::{Line, Verdict, config, millis};
use firstflight::{Bytes, Span};
use firstflight_tcp::{AckPolicy, Config, EndpointEvent, Flags, Recovery, Segment, Stack};
use proptest::prelude::*;

pub(crate) const DELAY: Span = Span::from_millis(50);

fn line(config: &Config) -> Line {
    Line::new(config, config, DELAY)
}

/// Drops the first transmission of the given full segments.
pub(crate) fn dropping(which: Vec<u32>) -> impl FnMut(firstflight::Time, bool, &Segment) -> Verdict {
    let mut left = which;
    move |_, from_client, segment| {
        if from_client && segment.len > 0 {
            let index = (segment.seq - 1) / 1_000;
            if let Some(at) = left.iter().position(|dropped| *dropped == index) {
                left.remove(at);
                return Verdict::Drop;
            }
        }
        Verdict::Pass
    }
}

fn transfer(line: &mut Line, segments: u64) {
    line.client.open(line.now);
    line.client.write(segments * 1_000);
    line.client.shut();
    line.server.shut();
}

#[test]
fn the_handshake_agrees_on_the_smaller_mss_and_data_follows() {
    let small = Config { mss: 500, ..config() };
    let mut line = Line::new(&config(), &small, DELAY);
    transfer(&mut line, 2);
    line.run(millis(99), |_, _, _| Verdict::Pass);
    let flags: Vec<Flags> = line.log.iter().map(|(_, _, segment)| segment.flags).collect();
    assert_eq!(flags, [Flags::SYN, Flags::SYN.with(Flags::ACK)]);
    line.run(millis(100), |_, _, _| Verdict::Pass);
    let lens: Vec<u16> = line.log[2..].iter().map(|(_, _, segment)| segment.len).collect();
    assert_eq!(lens, [500, 500, 500, 500]);
}

#[test]
fn the_first_fin_sender_enters_time_wait_even_if_answered_by_fin() {
    // TCP_TIME_WAIT and TCP_CLOSE.
    let (time_wait, closed) = (6, 7);
    let mut line = line(&config());
    transfer(&mut line, 0);
    line.run(millis(1_000), |_, _, _| Verdict::Pass);
    assert_eq!((line.client.info().state, line.server.info().state), (time_wait, closed));
}

#[test]
fn slow_start_doubles_each_round_trip_and_everything_arrives_and_closes() {
    let mut line = line(&config());
    transfer(&mut line, 70);
    line.run(millis(5_000), |_, _, _| Verdict::Pass);
    assert_eq!(line.server.stats().received, 70_000);
    let rounds: Vec<usize> = (1..4)
        .map(|round| {
            let from = millis(100 * round);
            line.data().iter().filter(|(at, _)| *at >= from && *at < from + DELAY * 2).count()
        })
        .collect();
    assert_eq!(rounds, [10, 20, 40]);
    assert_eq!(line.happened(&EndpointEvent::Closed), 1);
    assert_eq!(line.client.stats().retransmissions, 0);
    assert_eq!(line.client.next_timer(), None);
}

#[test]
fn one_loss_is_repaired_in_a_round_trip_by_every_recovery() {
    use Recovery::{NewReno, NewRenoSteady, Ns2Sack1, Rack, Reno, Sack};
    for recovery in [Rack, Sack, NewReno, NewRenoSteady, Reno, Ns2Sack1] {
        let mut line = line(&Config { recovery, sack: recovery.uses_sack(), ..config() });
        transfer(&mut line, 60);
        line.run(millis(20_000), dropping(vec![12]));
        assert_eq!(line.server.stats().received, 60_000, "{recovery:?}");
        assert_eq!(line.client.stats().retransmissions, 1, "{recovery:?}");
        assert_eq!(line.client.stats().timeouts, 0, "{recovery:?}");
        assert_eq!(line.happened(&EndpointEvent::RecoveryEnded), 1, "{recovery:?}");
        let again: Vec<_> = line.data().into_iter().filter(|(_, index)| *index == 12).collect();
        assert_eq!(again.len(), 2);
        assert_eq!(again[1].0, again[0].0 + DELAY * 2, "{recovery:?}: at the third duplicate ACK");
    }
}

#[test]
fn a_loss_halves_all_that_was_sent_and_not_cumulatively_acknowledged() {
    use Recovery::{NewReno, NewRenoSteady, Rack, Reno, Sack};
    for recovery in [Rack, Sack, NewReno, NewRenoSteady, Reno] {
        let mut line = line(&Config { recovery, sack: recovery.uses_sack(), ..config() });
        line.client.open(line.now);
        line.client.write(10_000);
        line.run(millis(1_000), dropping(vec![0]));
        assert_eq!(line.client.stats().timeouts, 0, "{recovery:?}");
        // RFC 5681 section 2 and equation 4: selectively acknowledged data counts.
        assert_eq!(line.client.snapshot().ssthresh, Some(Bytes::new(5_000)), "{recovery:?}");
    }
}

#[test]
fn vegas_sends_again_at_the_first_duplicate_ack_of_an_overdue_segment() {
    // One segment is lost and one follows, at once or 40 ms later: there is one duplicate ACK, and RFC 5681 waits for two more. On a path
    // that was steady for a while a segment is overdue after little more than an RTT.
    let run = |recovery: Recovery, later: u64| {
        let mut line = line(&Config { recovery, sack: recovery.uses_sack(), ..config() });
        for step in 0..30 {
            line.client.write(2_000);
            if step == 0 {
                line.client.open(line.now);
            }
            line.run(millis(400 * (step + 1)), dropping(vec![]));
        }
        let mut lose_first = dropping(vec![60]);
        line.client.write(1_000);
        line.run(millis(12_000 + later), &mut lose_first);
        line.client.write(1_000);
        line.run(millis(30_000), &mut lose_first);
        assert_eq!(line.server.stats().received, 62_000, "{recovery:?}");
        (line.client.stats().timeouts, line.client.stats().retransmissions)
    };
    assert_eq!(run(Recovery::Reno, 40), (1, 1));
    assert_eq!(run(Recovery::Vegas, 40), (0, 1));
    assert_eq!(run(Recovery::Vegas, 0).0, 1, "not overdue");
}

#[test]
fn vegas_looks_for_a_second_loss_at_the_first_new_ack() {
    // Two segments of a window are lost, the second so close to its end that too few duplicate ACKs follow for it.
    let run = |recovery: Recovery| {
        let mut line = line(&Config { recovery, sack: recovery.uses_sack(), ..config() });
        transfer(&mut line, 60);
        line.run(millis(20_000), dropping(vec![50, 59]));
        assert_eq!(line.server.stats().received, 60_000, "{recovery:?}");
        line.client.stats().timeouts
    };
    assert_eq!(run(Recovery::Reno), 1);
    assert_eq!(run(Recovery::Vegas), 0);
}

#[test]
fn newreno_repairs_a_hole_a_round_trip_and_sack_all_at_once() {
    let lost = vec![12, 14, 16, 18];
    let span = |recovery: Recovery| {
        let mut line = line(&Config { recovery, sack: recovery.uses_sack(), ..config() });
        transfer(&mut line, 80);
        line.run(millis(20_000), dropping(lost.clone()));
        assert_eq!(line.server.stats().received, 80_000, "{recovery:?}");
        assert_eq!(line.client.stats().timeouts, 0, "{recovery:?}");
        let at = |event: fn(&EndpointEvent) -> bool| {
            line.events.iter().find(|(_, what)| event(what)).map(|(at, _)| *at).expect("it happens")
        };
        let began = at(|what| matches!(what, EndpointEvent::RecoveryBegan { .. }));
        let ended = at(|what| matches!(what, EndpointEvent::RecoveryEnded));
        ended.since(began).nanos() / (DELAY * 2).nanos()
    };
    assert_eq!(span(Recovery::NewReno), 4);
    assert_eq!(span(Recovery::NewRenoSteady), 4);
    assert_eq!(span(Recovery::Rack), 1);
    assert_eq!(span(Recovery::Sack), 1);
}

#[test]
fn lost_retransmissions_are_detected_by_rack_and_time_out_in_rfc_6675() {
    let run = |recovery| {
        let mut line = line(&Config { recovery, ..config() });
        transfer(&mut line, 300);
        line.run(millis(60_000), dropping(vec![40, 40]));
        assert_eq!(line.server.stats().received, 300_000);
        line.client.stats().timeouts
    };
    assert_eq!(run(Recovery::Rack), 0);
    assert_eq!(run(Recovery::Sack), 1);
    assert_eq!(run(Recovery::Ns2Sack1), 1);
}

#[test]
fn a_lost_tail_is_probed_after_two_round_trips_plus_ack_delay() {
    let mut line = line(&config());
    transfer(&mut line, 10);
    line.run(millis(20_000), dropping(vec![9]));
    assert_eq!(line.client.stats().timeouts, 0);
    assert_eq!(line.client.stats().probes, 1);
    let again: Vec<_> = line.data().into_iter().filter(|(_, index)| *index == 9).collect();
    let waited = again[1].0.since(again[0].0);
    // One segment, for the ACK of those before it; its FIN does not make it two (RFC 8985 section 7.2).
    assert_eq!(waited, DELAY * 2 + Span::from_millis(200 + 200));
}

#[test]
fn a_tail_probe_reduces_the_window_only_if_it_repaired_a_loss() {
    let reductions = |lost: Vec<u32>, late: bool| {
        let mut line = line(&config());
        line.client.open(line.now);
        line.client.write(10_000);
        let mut drop = dropping(lost);
        let mut hold = |at: firstflight::Time, from_client: bool, segment: &Segment| {
            let last = from_client && segment.len > 0 && segment.seq == 9_001;
            if late && last && at < millis(150) {
                return Verdict::Delay(Span::from_millis(600));
            }
            drop(at, from_client, segment)
        };
        line.run(millis(900), &mut hold);
        assert_eq!(line.client.stats().probes, 1);
        line.client.write(3_000);
        line.run(millis(2_000), &mut hold);
        assert_eq!(line.server.stats().received, 13_000);
        line.reductions()
    };
    assert_eq!(reductions(vec![9], false), 1);
    assert_eq!(reductions(vec![], true), 0);
}

#[test]
fn the_timer_backs_off_without_answers_and_the_connection_aborts() {
    let mut line = line(&config());
    transfer(&mut line, 5);
    line.run(millis(3_600_000), |at, _, _| if at < millis(90) { Verdict::Pass } else { Verdict::Drop });
    assert_eq!(line.happened(&EndpointEvent::Aborted), 1);
    let again: Vec<_> = line.data().into_iter().filter(|(_, index)| *index == 0).map(|(at, _)| at).collect();
    let waits: Vec<u64> =
        again.windows(2).map(|pair| pair[1].since(pair[0]).nanos() / 1_000_000_000).collect();
    assert_eq!(&waits[..7], [1, 2, 4, 8, 16, 32, 60]);
}

#[test]
fn blocks_of_a_lost_ack_are_learned_from_the_next() {
    let mut line = line(&config());
    transfer(&mut line, 80);
    let mut lose = dropping(vec![12, 14, 16]);
    // Only the ACK triggered by segment 15 reports two blocks.
    line.run(millis(20_000), |at, from_client, segment| {
        if segment.sack_count == 2 { Verdict::Drop } else { lose(at, from_client, segment) }
    });
    assert_eq!(line.server.stats().received, 80_000);
    assert_eq!((line.client.stats().retransmissions, line.client.stats().timeouts), (3, 0));
}

#[test]
fn a_spurious_repair_is_undone_by_the_echoed_original_timestamp() {
    let mut line = line(&Config { timestamps: true, ..config() });
    transfer(&mut line, 80);
    // One segment arrives after its retransmission was sent, and before that arrives; a later one is lost, so that the repair is not over.
    let mut data = 0;
    line.run(millis(20_000), |_, from_client, segment| {
        if !from_client || segment.len == 0 {
            return Verdict::Pass;
        }
        data += 1;
        match data {
            13 => Verdict::Delay(DELAY * 3 / 2),
            15 => Verdict::Drop,
            _ => Verdict::Pass,
        }
    });
    assert_eq!(line.server.stats().received, 80_000);
    assert_eq!((line.client.stats().retransmissions, line.client.stats().undone), (2, 1));
}

/// RFC 6675 section 5: losses are found by the SACKs above them, whatever was undone before.
#[test]
fn losses_after_an_undone_repair_are_repaired_once_and_immediately() {
    let config = Config { timestamps: true, recovery: Recovery::Sack, tail_loss_probe: false, ..config() };
    let mut line = line(&config);
    transfer(&mut line, 400);
    let (mut data, mut late, mut holes) = (0, 0, Vec::new());
    line.run(millis(20_000), |_, from_client, segment| {
        if !from_client || segment.len == 0 {
            return Verdict::Pass;
        }
        data += 1;
        match data {
            41 => {
                late = segment.seq;
                Verdict::Delay(DELAY * 3 / 2)
            }
            43 | 47 | 50 | 55 | 60 => {
                holes.push(segment.seq);
                Verdict::Drop
            }
            _ => Verdict::Pass,
        }
    });
    let stats = line.client.stats();
    assert_eq!((stats.undone, stats.timeouts), (1, 0));
    let times = |seq| line.log.iter().filter(|(_, client, segment)| *client && segment.seq == seq).count();
    assert!(times(late) == 2 && holes.iter().all(|hole| times(*hole) == 2), "each once more");
}

#[test]
fn a_timeout_that_was_spurious_is_undone() {
    let config = Config { min_rto: Span::from_millis(200), ..config() };
    let mut line = line(&config);
    transfer(&mut line, 400);
    // All segments sent in one round trip are delayed by half a second, then arrive in order.
    let mut extra_until = |at: firstflight::Time, from_client: bool, _: &Segment| {
        if from_client && at >= millis(350) && at < millis(900) {
            Verdict::Delay(millis(900).since(at))
        } else {
            Verdict::Pass
        }
    };
    line.run(millis(20_000), &mut extra_until);
    assert_eq!(line.server.stats().received, 400_000);
    assert!(line.client.stats().timeouts >= 1);
    assert!(line.client.stats().undone >= 1);
}

/// RFC 6298 section 5, Karn's algorithm: an ACK of retransmitted data is no sample, and does not end the backoff.
#[test]
fn an_rtt_above_the_timeout_causes_only_a_few_spurious_timeouts() {
    let mut line = line(&Config { min_rto: Span::from_millis(200), ..config() });
    line.client.open(line.now);
    let mut written = 0;
    // A segment per second, each delayed by one and a half seconds more than the handshake was.
    for second in 1..60 {
        line.client.write(1_000);
        written += 1_000;
        line.run(millis(1_000 * second), |_, from_client, segment| {
            if from_client && segment.len > 0 {
                Verdict::Delay(Span::from_millis(1_500))
            } else {
                Verdict::Pass
            }
        });
    }
    line.run(millis(90_000), |_, _, _| Verdict::Pass);
    assert_eq!(line.server.stats().received, written);
    let timeouts = line.client.stats().timeouts;
    assert!((1..=6).contains(&timeouts), "{timeouts} timeouts");
}

/// RFC 7323 section 4: the echoed timestamp shows which transmission is answered, so that Karn's algorithm is not needed.
#[test]
fn an_ack_of_retransmitted_data_with_timestamps_gives_an_rtt_sample() {
    for (recovery, stack) in
        [(Recovery::Rack, Stack::Rfc), (Recovery::NewReno, Stack::Rfc), (Recovery::Rack, Stack::Linux)]
    {
        let rules = Config { recovery, sack: recovery.uses_sack(), stack, ..config() };
        let mut line = line(&Config { timestamps: true, tail_loss_probe: false, ..rules });
        line.client.open(line.now);
        line.client.write(1_000);
        line.run(millis(20_000), dropping(vec![0, 0]));
        let (info, snapshot) = (line.client.info(), line.client.snapshot());
        assert_eq!((info.timeouts_in_a_row, info.backoff, snapshot.rtt_samples), (0, 0, 2), "{rules:?}");
        assert_eq!(snapshot.latest_rtt, Some(DELAY * 2), "{rules:?}");
    }
}

/// If the echo is the original's, the RTT sample is the original's.
#[test]
fn with_timestamps_no_timeout_comes_too_soon_once_there_was_an_answer() {
    for stack in [Stack::Rfc, Stack::Linux] {
        let rules = Config { timestamps: true, frto: false, tail_loss_probe: false, stack, ..config() };
        let mut line = line(&Config { min_rto: Span::from_millis(200), ..rules });
        line.client.open(line.now);
        for write in 1..20 {
            line.client.write(1_000);
            line.run(millis(4_000 * write), |_, from_client, segment| {
                if from_client && segment.len > 0 {
                    Verdict::Delay(Span::from_millis(1_400))
                } else {
                    Verdict::Pass
                }
            });
        }
        let (stats, latest) = (line.client.stats(), line.client.snapshot().latest_rtt);
        assert_eq!((stats.timeouts, latest), (2, Some(Span::from_millis(1_500))), "{rules:?}");
    }
}

/// Data retransmitted because its ACKs were lost is a duplicate, answered with the timestamp of the original.
#[test]
fn an_outage_that_took_the_acks_is_no_round_trip() {
    for segments in [1, 5] {
        let mut line = line(&Config { timestamps: true, ..config() });
        line.client.open(line.now);
        line.client.write(50_000);
        line.run(millis(5_000), |_, _, _| Verdict::Pass);
        line.client.write(segments * 1_000);
        line.run(millis(36_000), |_, from_client, segment| {
            if !from_client && segment.ack > 50_001 { Verdict::Drop } else { Verdict::Pass }
        });
        assert_eq!(line.client.snapshot().una, 50_000);
        line.run(millis(80_000), |_, _, _| Verdict::Pass);
        let snapshot = line.client.snapshot();
        assert_eq!(snapshot.una, 50_000 + segments * 1_000);
        assert_eq!(snapshot.latest_rtt, Some(DELAY * 2), "{segments} segments");
    }
}

#[test]
fn delayed_acks_cover_two_segments_and_the_last_after_the_timer() {
    let mut line = line(&Config { ack_policy: AckPolicy::Delayed, ..config() });
    line.client.open(line.now);
    line.client.write(5_000);
    line.run(millis(3_000), |_, _, _| Verdict::Pass);
    let acks: Vec<_> = line
        .log
        .iter()
        .filter(|(_, from_client, segment)| !from_client && !segment.flags.has(Flags::SYN))
        .map(|(at, _, segment)| (*at, segment.ack - 1))
        .collect();
    assert_eq!(acks, [(millis(150), 2_000), (millis(150), 4_000), (millis(350), 5_000)]);
}

#[test]
fn a_closed_window_is_probed_and_opens_again() {
    let slow = Config { receive_buffer: 8_000, reads_at_once: false, ..config() };
    let mut line = Line::new(&config(), &slow, DELAY);
    line.client.open(line.now);
    line.client.write(20_000);
    line.run(millis(10_000), |_, _, _| Verdict::Pass);
    assert_eq!(line.server.stats().received, 8_000);
    let probes = line
        .log
        .iter()
        .filter(|(at, from_client, segment)| *from_client && segment.len == 0 && *at > millis(300))
        .count();
    assert!(probes >= 3, "{probes} probes");
    for _ in 0..20 {
        line.server.read(8_000);
        let until = line.now + Span::from_millis(500);
        line.run(until, |_, _, _| Verdict::Pass);
    }
    assert_eq!(line.server.stats().received, 20_000);
}

#[test]
fn data_never_exceeds_the_window_offered() {
    let small = Config { receive_buffer: 10_000, ..config() };
    let mut line = Line::new(&config(), &small, DELAY);
    transfer(&mut line, 100);
    line.run(millis(60_000), |_, _, _| Verdict::Pass);
    assert_eq!(line.server.stats().received, 100_000);
    let mut edge = 0u32;
    for (_, from_client, segment) in &line.log {
        if *from_client && segment.len > 0 {
            assert!(segment.seq + u32::from(segment.len) <= edge, "beyond the edge {edge}");
        } else if !from_client {
            edge = edge.max(segment.ack + u32::from(segment.window));
        }
    }
}

#[test]
fn an_ack_of_data_never_sent_is_answered_and_changes_nothing() {
    let mut line = line(&config());
    line.client.open(line.now);
    line.client.write(5_000);
    line.run(millis(120), |_, _, _| Verdict::Pass);
    let before = line.client.snapshot();
    let forged = Segment { seq: 1, ack: 500_000, window: 60_000, flags: Flags::ACK, ..Segment::default() };
    line.client.on_segment(line.now, &forged);
    assert_eq!(line.client.snapshot(), before);
    let answer = line.client.poll_transmit(line.now).expect("an unacceptable ACK is answered");
    assert_eq!(answer.segment.len, 0);
}

#[test]
fn a_lost_syn_is_retransmitted_after_a_second_with_window_one() {
    let mut line = line(&config());
    transfer(&mut line, 4);
    let mut first = true;
    line.run(
        millis(1_101),
        move |_, _, _| {
            if core::mem::take(&mut first) { Verdict::Drop } else { Verdict::Pass }
        },
    );
    assert_eq!(line.data().len(), 1, "RFC 5681 section 3.1");
    assert_eq!(line.data()[0].0, millis(1_100));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Every byte arrives under any losses, and the connection closes.
    #[test]
    fn everything_arrives_whatever_is_lost(
        seed: u64,
        loss in 0u64..25,
        segments in 1u64..200,
        recovery in prop::sample::select(vec![
            Recovery::Rack, Recovery::Sack, Recovery::NewReno,
            Recovery::NewRenoSteady, Recovery::Reno, Recovery::Vegas, Recovery::Ns2Sack1,
        ]),
        policy in prop::sample::select(vec![
            AckPolicy::Every, AckPolicy::Delayed, AckPolicy::Linux, AckPolicy::FreeBsd, AckPolicy::WindowsXp,
            AckPolicy::Packets(1), AckPolicy::Packets(8),
        ]),
        timestamps: bool,
        sack_blocks: bool,
        jitter in 0u64..40,
    ) {
        let config = Config {
            recovery, timestamps, sack_blocks, ack_policy: policy, sack: recovery.uses_sack(),
            min_rto: Span::from_millis(200), ..config()
        };
        let mut line = line(&config);
        // Fifteen unanswered repetitions, after which a connection is given up, occur if a quarter of the packets is lost in both
        // directions.
        line.client.set_user_timeout(Span::from_secs(100_000), false);
        line.server.set_user_timeout(Span::from_secs(100_000), false);
        transfer(&mut line, segments);
        let mut state = seed | 1;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        };
        // Hours: without SACK an ACK's timestamp may belong to data sent before a timeout, and the next timeout is then a minute later.
        line.run(millis(100_000_000), move |_, _, segment| {
            if random() % 100 < loss && !segment.flags.has(Flags::SYN) {
                Verdict::Drop
            } else {
                Verdict::Delay(Span::from_millis(random() % (jitter + 1)))
            }
        });
        prop_assert_eq!(line.server.stats().received, segments * 1_000);
        prop_assert_eq!(line.happened(&EndpointEvent::Closed), 1);
        prop_assert!(line.client.snapshot().in_flight.is_zero());
    }
}
