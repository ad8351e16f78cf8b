use firstflight::{Span, Time};
use proptest::prelude::*;

use super::{Due, Incoming, Receiver};
use crate::config::{AckPolicy, Config};

/// RFC 5681 section 4.2, RFC 9293 section 3.8.6.3, and Linux `__tcp_ack_snd_check` require this.
#[test]
fn data_beyond_a_full_segment_is_acknowledged_immediately() {
    for policy in [AckPolicy::Delayed, AckPolicy::Linux, AckPolicy::FreeBsd, AckPolicy::WindowsXp] {
        let mut receiver = Receiver::new(&Config { ack_policy: policy, ..Config::default() });
        receiver.establish(1_000, true, 0);
        receiver.set_quick_ack(false);
        let mut due = |len| {
            receiver.take_next(Time::ZERO, len);
            let due = receiver.due;
            if due == Due::Now {
                receiver.acknowledged();
            }
            due
        };
        // A full segment waits, and a short last segment after it is acknowledged at once.
        assert_eq!([due(1_000), due(1)], [Due::Later, Due::Now], "{policy:?}");
        assert_eq!([due(1_000), due(1_000)], [Due::Later, Due::Now], "{policy:?}");
        assert_eq!([due(400), due(600), due(1)], [Due::Later, Due::Later, Due::Now], "{policy:?}");
    }
}

#[test]
fn every_so_many_full_segments_are_acknowledged_and_fewer_after_the_delay() {
    for (delay, waits) in [(None, Span::from_millis(25)), (Some(Span::from_millis(3)), Span::from_millis(3))]
    {
        let policy = AckPolicy::Packets(4);
        let mut receiver =
            Receiver::new(&Config { ack_policy: policy, ack_delay: delay, ..Config::default() });
        receiver.establish(1_000, true, 0);
        let mut due = |len| {
            receiver.take_next(Time::ZERO, len);
            let due = (receiver.due, receiver.delayed_at);
            if due.0 == Due::Now {
                receiver.acknowledged();
            }
            due
        };
        let later = (Due::Later, Some(Time::ZERO + waits));
        for _ in 0..3 {
            assert_eq!([due(1_000), due(1_000), due(1_000)], [later; 3]);
            assert_eq!(due(1_000).0, Due::Now);
        }
        // A small segment counts by its bytes.
        assert_eq!([due(1_000), due(1_000), due(1_000), due(999)], [later; 4]);
        assert_eq!(due(1).0, Due::Now);
    }
    let mut receiver = Receiver::new(&Config { ack_policy: AckPolicy::Packets(1), ..Config::default() });
    receiver.establish(1_000, true, 0);
    receiver.take_next(Time::ZERO, 1_000);
    assert_eq!(receiver.due, Due::Now);
}

fn receiver() -> Receiver {
    let mut receiver = Receiver::new(&Config { ecn: true, receive_buffer: 10_000, ..Config::default() });
    receiver.establish(1_000, true, 0);
    receiver
}

fn arrives(receiver: &mut Receiver, start: u64, len: u64, ce: bool) {
    receiver.on_data(Time::ZERO, &Incoming { start, len, fin: false, ce, cwr: false, closing: false });
}

/// RFC 2883 section 4.1 and Linux `tcp_data_queue` report only the part that arrived before.
#[test]
fn only_the_already_received_part_of_a_segment_is_reported() {
    let mut receiver = receiver();
    arrives(&mut receiver, 0, 1_000, false);
    receiver.acknowledged();
    arrives(&mut receiver, 600, 1_000, false);
    let mut blocks = Vec::new();
    receiver.take_blocks(4, |_, block| blocks.push(block));
    assert_eq!((blocks, receiver.next()), (vec![(600, 1_000)], 1_600));
    // A segment may also cover data that arrived above a hole.
    arrives(&mut receiver, 2_000, 500, false);
    arrives(&mut receiver, 1_500, 1_200, false);
    let mut blocks = Vec::new();
    receiver.take_blocks(4, |_, block| blocks.push(block));
    assert_eq!((blocks, receiver.next()), (vec![(1_500, 1_600)], 2_700));
}

/// RFC 3168 section 6.1.5 requires this; Linux checks the data that it queues.
#[test]
fn a_mark_on_what_is_outside_of_the_window_is_not_echoed() {
    let mut receiver = receiver();
    arrives(&mut receiver, 0, 1_000, false);
    receiver.window();
    arrives(&mut receiver, 0, 1_000, true);
    assert!(!receiver.ece(), "it came before");
    arrives(&mut receiver, 11_000, 1_000, true);
    assert!(!receiver.ece(), "it lies beyond the window");
    for start in [500, 1_500, 10_500] {
        let mut receiver = receiver.clone();
        arrives(&mut receiver, start, 1_000, true);
        assert!(receiver.ece(), "{start}: a part of it is inside");
    }
}

proptest! {
    /// The window field is computed only when something has changed.
    #[test]
    fn the_offered_window_equals_a_freshly_computed_one(
        receive_buffer in 0u64..200_000,
        shift in 0u8..5,
        steps in prop::collection::vec((0u8..5, 0u64..4_000), 1..60),
    ) {
        let config = Config { receive_buffer, reads_at_once: false, ..Config::default() };
        let mut receiver = Receiver::new(&config);
        receiver.establish(1_000, true, shift);
        for (what, number) in steps {
            match what {
                0 => {
                    if receiver.takes_next(number) {
                        receiver.take_next(Time::ZERO, number);
                    }
                }
                1 => {
                    receiver.read(number);
                }
                2 => receiver.acknowledged(),
                _ => {
                    let start = receiver.next() + if what == 3 { 0 } else { number };
                    let (fin, ce, cwr, closing) = (false, false, false, false);
                    receiver.on_data(Time::ZERO, &Incoming { start, len: number / 3, fin, ce, cwr, closing });
                }
            }
            let mut anew = receiver.clone();
            let window = anew.new_window();
            prop_assert_eq!((receiver.window(), receiver.edge), (window, anew.edge));
        }
    }
}

/// RFC 7323 section 2.3: the offered window is a multiple of the scale's unit.
#[test]
fn unread_data_exceeds_the_buffer_by_one_scale_unit_at_maximum() {
    for len in [1, 7, 1_000] {
        let config = Config { receive_buffer: 300_000, reads_at_once: false, ..Config::default() };
        let mut receiver = Receiver::new(&config);
        let shift = 3;
        receiver.establish(1_000, true, shift);
        let mut offered = u64::from(receiver.window()) << shift;
        while offered >= len && receiver.unread() < 400_000 {
            let next = receiver.next();
            arrives(&mut receiver, next, len, false);
            offered = u64::from(receiver.window()) << shift;
        }
        assert!(receiver.unread() <= 300_000 + 8, "{} unread of segments of {len}", receiver.unread());
        assert!(receiver.unread() > 300_000 - len, "{} unread of segments of {len}", receiver.unread());
    }
}

/// RFC 9293 section 3.8.6.2.2: if the unit of the scale exceeds the free buffer, the window is offered as zero. It is offered again once
/// half of the buffer is free.
#[test]
fn a_reader_opens_a_window_that_the_scale_rounded_to_nothing() {
    let config = Config { receive_buffer: 2_000, reads_at_once: false, ..Config::default() };
    let mut receiver = Receiver::new(&config);
    receiver.establish(1_000, true, 14);
    assert_eq!(receiver.window(), 1);
    arrives(&mut receiver, 0, 2_000, false);
    assert_eq!(receiver.window(), 0);
    receiver.acknowledged();
    let reads = (1..=200).find(|_| receiver.read(10) == 0 || receiver.ack_due());
    assert_eq!((reads, receiver.window()), (Some(100), 1));
}
