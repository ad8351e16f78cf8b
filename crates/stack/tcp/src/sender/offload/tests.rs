use super::*;

const MSS: u64 = 1_000;

/// Returns the state of a connection with a window of `cwnd` segments, nothing sent, and an RTT of 100 ms.
fn fresh(cwnd: u64) -> Situation {
    Situation {
        now: Time::from_nanos(0),
        mss: MSS,
        una: 0,
        nxt: 0,
        window_edge: 100_000,
        window: 100_000,
        window_greatest: 100_000,
        cwnd,
        in_flight: 0,
        srtt: Some(Span::from_millis(100)),
        min_rtt: Some(Span::from_millis(100)),
        rate: Some(Rate::from_bps(1)),
        head_sent: None,
        recovering: false,
        fin: false,
        probing: false,
        one_by_one: false,
        on_a_clock: false,
    }
}

/// Sends all segments that may be sent. Returns their lengths, as negative numbers for segments with PSH.
fn send(queue: &mut Queue, at: &mut Situation) -> Vec<i64> {
    let mut sent = Vec::new();
    while let Ok(len) = queue.next(at) {
        at.nxt += len;
        at.in_flight += 1;
        let length = i64::try_from(len).unwrap();
        sent.push(if queue.sent(at.now, at.nxt, MSS, len) { -length } else { length });
    }
    sent
}

#[test]
fn push_is_set_at_the_end_of_writes_and_multi_segment_bursts() {
    let mut queue = Queue::new(Offload { min_segments: 4, window_divisor: 3, buffer_follows_window: false });
    queue.write(5_500);
    let mut at = fresh(20);
    assert_eq!(send(&mut queue, &mut at), [1_000, 1_000, 1_000, -1_000, 1_000, -500]);
}

#[test]
fn a_window_holds_at_least_two_bursts() {
    let mut queue = Queue::new(Offload { min_segments: 40, window_divisor: 3, buffer_follows_window: false });
    queue.write(60_000);
    let mut at = fresh(6);
    assert_eq!(send(&mut queue, &mut at), [1_000, 1_000, -1_000, 1_000, 1_000, -1_000]);
    assert_eq!(queue.next(&at), Err(Limit::Window));
}

#[test]
fn one_segment_at_a_time_leaves_without_push() {
    let mut queue = Queue::new(Offload::default());
    queue.write(9_000);
    assert_eq!(send(&mut queue, &mut fresh(2)), [1_000, 1_000]);
}

#[test]
fn a_small_segment_waits_for_a_small_one_that_is_out() {
    let mut queue = Queue::new(Offload::default());
    let mut at = fresh(10);
    queue.write(100);
    assert_eq!(send(&mut queue, &mut at), [-100]);
    queue.write(100);
    queue.write(100);
    assert_eq!(send(&mut queue, &mut at), []);
    at.una = 100;
    at.in_flight = 0;
    assert_eq!(send(&mut queue, &mut at), [-200]);
    queue.nagle = false;
    queue.write(10);
    assert_eq!(send(&mut queue, &mut at), [-10]);
}

#[test]
fn data_beyond_half_of_the_peer_window_is_pushed_midway() {
    let mut queue = Queue::new(Offload::default());
    queue.write(100_000);
    let mut at = Situation { window_greatest: 32_896, ..fresh(2) };
    send(&mut queue, &mut at);
    // The buffers have 16 segments. While the first was filled, two segments at its head were sent, and two more were added.
    assert_eq!(
        queue.buffers.iter().map(|buffer| (buffer.end, buffer.push)).take(3).collect::<Vec<_>>(),
        [(18_000, true), (34_000, true), (50_000, false)]
    );
}

#[test]
fn a_burst_waits_for_an_imminent_ack_only_within_a_millisecond() {
    let mut queue = Queue::new(Offload { min_segments: 4, window_divisor: 3, buffer_follows_window: false });
    queue.write(60_000);
    let mut at = fresh(10);
    at.head_sent = Some(at.now);
    send(&mut queue, &mut at);
    // A segment is acknowledged after an RTT, and 200 µs later another one.
    at.now = at.now + Span::from_millis(100);
    (at.una, at.in_flight, at.cwnd) = (1_000, 9, 11);
    assert_eq!(send(&mut queue, &mut at), [1_000, -1_000]);
    at.now = at.now + Span::from_micros(200);
    (at.una, at.in_flight, at.cwnd) = (2_000, 10, 12);
    assert_eq!(send(&mut queue, &mut at), []);
    at.now = at.now + Span::from_millis(1);
    assert_eq!(send(&mut queue, &mut at), [1_000, -1_000]);
}

#[test]
fn retransmissions_leave_in_bursts_of_their_original_buffer() {
    let mut queue = Queue::new(Offload::default());
    queue.write(8_000);
    let mut at = fresh(10);
    assert_eq!(send(&mut queue, &mut at), [1_000, -1_000, 1_000, -1_000, 1_000, -1_000, 1_000, -1_000]);
    // The second segment of the first buffer was SACKed.
    queue.cut(1_000);
    at.in_flight = 0;
    assert!(!queue.resent(&at, 0, 1_000));
    assert!(!queue.resent(&at, 2_000, 3_000));
    assert!(queue.resent(&at, 3_000, 4_000));
    // With a window of one segment, the last segment has the PSH of the write.
    at.in_flight = 9;
    assert!(!queue.resent(&at, 6_000, 7_000));
    assert!(queue.resent(&at, 7_000, 8_000));
}

#[test]
fn beyond_the_limit_a_write_waits_until_a_third_is_free() {
    let mut queue = Queue::new(Offload::default());
    queue.set_limit(50_000);
    queue.write(200_000);
    let mut at = fresh(10);
    send(&mut queue, &mut at);
    let waits = queue.unqueued_bytes();
    assert!(waits > 0);
    at.una = 10_000;
    queue.take_in_all(&at);
    assert_eq!(queue.unqueued_bytes(), waits);
    at.una = queue.end - 33_000;
    at.nxt = at.nxt.max(at.una);
    queue.take_in_all(&at);
    assert!(queue.unqueued_bytes() < waits);
    queue.drop_unqueued();
    assert_eq!(queue.unqueued_bytes(), 0);
}

#[test]
fn data_waiting_for_memory_does_not_use_room_in_the_last_buffer() {
    let mut queue = Queue::new(Offload::default());
    queue.set_limit(20_000);
    queue.write(56_000);
    let mut at = Situation { window_greatest: 64_000, ..fresh(10) };
    send(&mut queue, &mut at);
    let waits = queue.unqueued_bytes();
    assert!(waits > 0);
    (at.una, at.in_flight, at.cwnd) = (10_000, 0, 20);
    send(&mut queue, &mut at);
    assert_eq!(
        queue.unqueued_bytes(),
        waits,
        "30 KB that wait to be acknowledged are more than a third of 20 KB"
    );
}

#[test]
fn a_tail_loss_probe_is_one_segment_whatever_the_window() {
    let mut queue = Queue::new(Offload::default());
    queue.write(15_000);
    let mut at = fresh(10);
    send(&mut queue, &mut at);
    assert_eq!(queue.next(&at), Err(Limit::Window));
    at.probing = true;
    assert_eq!(queue.next(&at), Ok(1_000));
}

#[test]
fn a_send_buffer_grows_with_the_window_and_never_shrinks() {
    let mut queue = Queue::new(Offload::of_an_endless_buffer());
    queue.write(1_000_000);
    let mut at = fresh(40);
    assert_eq!(send(&mut queue, &mut at).len(), 40);
    // A loss has halved the window, and the peer reports that all data sent after it was delivered.
    (at.cwnd, at.recovering) = (20, true);
    let mut rounds = 0;
    while {
        at.in_flight = 0;
        !send(&mut queue, &mut at).is_empty()
    } {
        rounds += 1;
    }
    // The limit is twice the maximum window, plus the rest of a buffer of sixteen segments.
    assert!((80..96).contains(&(at.nxt / MSS)), "{} bytes are out after {rounds} rounds", at.nxt);
}
