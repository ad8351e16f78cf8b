//! Times of a capture that go back: by little, and the packets are sorted; by much, and the step is reported.

use firstflight_inspect::{Found, Inspection, inspect};

use crate::made::{self, DAY, Frame, MS, PLAIN, frames, packet, pcap, upload};

const HOUR: u64 = 3_600_000 * MS;

fn read(frames: &[Frame]) -> Inspection {
    inspect(&pcap(PLAIN, frames)[..], false).expect("a capture")
}

fn only(inspection: Inspection) -> Found {
    assert_eq!(inspection.senders.len(), 1);
    inspection.senders.into_iter().next().expect("a sender").found
}

/// Returns the upload with the clock set back by this much before each of these packets.
fn set_back(by: u64, before: &[usize]) -> Vec<Frame> {
    let mut frames = frames(101, false, false);
    for &first in before {
        frames.iter_mut().skip(first).for_each(|(at, _)| *at -= by);
    }
    frames
}

#[test]
fn packets_of_several_queues_are_put_in_the_order_of_their_times() {
    let frames = frames(101, false, false);
    let (whole, plain) = (read(&frames), only(read(&frames)));
    // Each acknowledgement precedes its data in the file, because another queue was emptied first.
    let mut mixed = frames.clone();
    mixed.iter_mut().skip(6).for_each(|(at, _)| *at -= 38 * MS);
    let sorted = only(read(&mixed));
    mixed.swap(5, 6);
    mixed.swap(4, 5);
    let inspection = read(&mixed);
    assert_eq!((inspection.tally.times.sorted, inspection.tally.times.set_back), (2, 0));
    assert_eq!(only(inspection), sorted);
    assert_eq!(
        (sorted.unseen_bytes, sorted.retransmitted_segments.unwrap()),
        (0, plain.retransmitted_segments.unwrap())
    );
    assert_eq!(whole.tally.times, firstflight_inspect::Times::default());
}

#[test]
fn a_clock_set_back_is_reported_and_measurements_across_it_are_undefined() {
    let plain = only(read(&frames(101, false, false)));
    for by in [HOUR, 20 * MS] {
        let inspection = read(&set_back(by, &[9]));
        let times = inspection.tally.times;
        assert_eq!((times.sorted, times.set_back), (0, 1));
        assert!((by.saturating_sub(40 * MS)..=by).contains(&times.farthest_back), "{times:?}");
        let found = only(inspection);
        for field in ["throughput_bps", "later_rate_bps", "time_to_90pct_s"] {
            assert!(found.undefined[field].contains("clock"), "{field}: {:?}", found.undefined);
        }
        assert_eq!(found.throughput_bps, None);
        // Values that do not span the step are unchanged.
        assert_eq!(found.handshake_rtt_s, plain.handshake_rtt_s);
        assert_eq!((found.min_rtt_s, found.began_at_s), (plain.min_rtt_s, plain.began_at_s));
        assert_eq!(found.retransmitted_segments.unwrap(), plain.retransmitted_segments.unwrap());
        assert!(
            found.duration_s >= 0.1 && found.duration_s < plain.duration_s + 1e-6,
            "{}",
            found.duration_s
        );
    }
}

#[test]
fn a_handshake_across_a_clock_step_has_no_defined_duration() {
    let found = only(read(&set_back(HOUR, &[1])));
    assert_eq!((found.handshake_rtt_s, found.vantage, found.exit_cause), (None, None, None));
    for field in ["handshake_rtt_s", "vantage", "initial_window_segments"] {
        assert!(found.undefined[field].contains("clock"), "{field}: {:?}", found.undefined);
    }
}

#[test]
fn captures_one_behind_the_other_are_as_they_would_be_alone() {
    let later = frames(101, false, false);
    let other = |segment| made::Segment { seq: 77_000_000, ..segment };
    let syn = (DAY - HOUR, packet(&other(upload()[0].1.clone()), false));
    let inspection = read(&[&later[..], &[syn]].concat());
    assert_eq!((inspection.tally.times.set_back, inspection.senders.len()), (1, 2));
    let [first, second] = [0, 1].map(|at| &inspection.senders[at].found);
    assert_eq!(first, &only(read(&later)));
    assert!((second.began_at_s - first.began_at_s + 3600.0).abs() < 1e-3, "{}", second.began_at_s);
}

#[test]
fn one_packet_with_a_wrong_time_does_not_make_a_connection_long() {
    let plain = only(read(&frames(101, false, false)));
    for wrong in [0, DAY + 1000 * HOUR] {
        let mut frames = frames(101, false, false);
        frames[8].0 = wrong;
        let inspection = read(&frames);
        let times = inspection.tally.times;
        assert_eq!((times.wrong, times.set_back), (1, 0), "{wrong}");
        let found = only(inspection);
        assert!((found.duration_s - plain.duration_s).abs() < 1e-6, "{wrong}: {}", found.duration_s);
        assert_eq!(found.idle_restarts_total, 0);
        assert_eq!(found.timeouts_suspected.unwrap(), plain.timeouts_suspected.unwrap());
    }
}

#[test]
fn a_capture_that_begins_at_time_zero_begins_there() {
    let frames: Vec<_> = frames(101, false, false).into_iter().map(|(at, frame)| (at - DAY, frame)).collect();
    let found = only(read(&frames));
    assert!(found.began_at_s.abs() < 1e-9 && (found.duration_s - 0.161).abs() < 1e-9, "{}", found.duration_s);
}
