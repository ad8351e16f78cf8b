use firstflight::Time;
use proptest::prelude::*;

use super::{Due, Incoming, Receiver};
use crate::config::{AckPolicy, Config};

/// RFC 5681 section 4.2, RFC 9293 section 3.8.6.3, and Linux `__tcp_ack_snd_check`.
#[test]
fn what_is_more_than_a_full_segment_is_acknowledged_at_once() {
    for policy in [AckPolicy::Delayed, AckPolicy::Linux, AckPolicy::FreeBsd, AckPolicy::WindowsXp] {
        let mut receiver = Receiver::new(&Config { ack_policy: policy, ..Config::default() });
        receiver.establish(1_000, true);
        receiver.set_quick_ack(false);
        let mut due = |len| {
            receiver.take_next(Time::ZERO, len);
            let due = receiver.due;
            if due == Due::Now {
                receiver.acknowledged();
            }
            due
        };
        // A full segment waits, and the short end of a transfer does not.
        assert_eq!([due(1_000), due(1)], [Due::Later, Due::Now], "{policy:?}");
        assert_eq!([due(1_000), due(1_000)], [Due::Later, Due::Now], "{policy:?}");
        assert_eq!([due(400), due(600), due(1)], [Due::Later, Due::Later, Due::Now], "{policy:?}");
    }
}

proptest! {
    /// It is made only when something has changed.
    #[test]
    fn the_window_offered_is_what_it_would_be_if_it_were_made_anew(
        receive_buffer in 0u64..200_000,
        shift in 0u8..5,
        steps in prop::collection::vec((0u8..5, 0u64..4_000), 1..60),
    ) {
        let config = Config { receive_buffer, reads_at_once: false, ..Config::default() };
        let mut receiver = Receiver::new(&config);
        receiver.establish(1_000, true);
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
            let window = anew.new_window(shift);
            prop_assert_eq!((receiver.window(shift), receiver.edge), (window, anew.edge));
        }
    }
}
