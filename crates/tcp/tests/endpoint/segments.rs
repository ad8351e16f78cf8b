//! What one segment may change, and what it is answered with.

use crate::robustness::{after_a_transfer, answers, next};
use firstflight_tcp::{Flags, Segment};

/// RFC 9293 section 3.10.7.4: `SND.WL1`.
#[test]
fn a_segment_that_left_before_one_that_was_heard_sets_no_window() {
    // The second of three comes first, with the window as it was, or another.
    for first in [8_000, 7_000] {
        let mut line = after_a_transfer(8_000);
        let mut window_after = |seq, len, window, una| {
            answers(&mut line, &Segment { len, window, ..next(Flags::PSH, seq, una) });
            line.client.info().send_window
        };
        assert_eq!(window_after(101, 100, first, 50_000), u64::from(first));
        assert_eq!(window_after(1, 100, 5_000, 50_000), u64::from(first), "it left before");
        assert_eq!(window_after(201, 100, 6_000, 50_000), 6_000);
        assert_eq!(window_after(201, 100, 8_000, 50_000), 6_000, "it came before");
        assert_eq!(window_after(301, 0, 5_500, 50_000), 5_500);
        assert_eq!(window_after(301, 0, 5_400, 50_000), 5_400, "the peer may shrink it");
        line.client.write(1_000);
        line.client.poll_transmit(line.now);
        let mut window_after = |seq, window, una| {
            answers(&mut line, &Segment { len: 100, window, ..next(Flags::PSH, seq, una) });
            line.client.info().send_window
        };
        assert_eq!(window_after(201, 4_000, 50_500), 4_000, "what acknowledges more left later, as in Linux");
        assert_eq!(window_after(401, 3_000, 51_000), 3_000);
        assert_eq!(window_after(301, 2_000, 51_000), 3_000);
    }
}
