//! What of a stack can be chosen by itself.

use firstflight::avoidance::Reno;
use firstflight::restart::Rfc5681;
use firstflight::schemes::{Initial, SlowStart};
use firstflight::{Controller, Span};
use firstflight_tcp::{AckPolicy, Config, Endpoint, Growth, PacedBy, Role, SlowStartCounts, Stack};

use super::line::{Line, Verdict, config, millis};

const DELAY: Span = Span::from_millis(50);

/// The window, in segments, of an application that writes two every second, after so many seconds.
fn window_after(seconds: u64, config: &Config) -> u64 {
    let mut line = Line::new(config, config, DELAY);
    line.client.open(line.now);
    for second in 0..seconds {
        line.client.write(2_000);
        line.run(millis(900 * (second + 1)), |_, _, _| Verdict::Pass);
    }
    line.client.snapshot().cwnd.get() / 1_000
}

/// RFC 5681 and ns-2 widen the window with every ACK; by RFC 7661 section 4.3 and Linux `tcp_is_cwnd_limited` a window that is not
/// used is no evidence.
#[test]
fn a_window_grows_while_the_application_limits_only_if_that_is_chosen() {
    for stack in [Stack::Rfc, Stack::Linux] {
        let grown = |growth| window_after(6, &Config { stack, growth, ..config() });
        let unused = [None, Some(Growth::Validated), Some(Growth::Used)].map(grown);
        assert!(unused.iter().all(|window| *window == unused[0]), "{stack:?}: {unused:?}");
        assert!(grown(Some(Growth::Always)) >= unused[0] + 6, "{stack:?}: {unused:?}");
    }
}

/// RFC 5681 section 3.1 counts an ACK of two segments as one, RFC 9002 section 7.3.1 and Linux `tcp_slow_start` as two.
#[test]
fn slow_start_counts_acks_or_bytes_as_is_chosen() {
    for stack in [Stack::Rfc, Stack::Linux] {
        let after_a_round = |slow_start_counts| {
            let config = Config { stack, slow_start_counts, ack_policy: AckPolicy::Delayed, ..config() };
            let mut line = Line::new(&config, &config, DELAY);
            line.client.open(line.now);
            line.client.write(8_000_000);
            line.run(millis(230), |_, _, _| Verdict::Pass);
            let first = line.client.snapshot().cwnd.get() / 1_000;
            line.run(millis(330), |_, _, _| Verdict::Pass);
            (first, line.client.snapshot().cwnd.get() / 1_000)
        };
        let [acks, bytes, stacks] =
            [Some(SlowStartCounts::Acks), Some(SlowStartCounts::Bytes), None].map(after_a_round);
        assert_eq!(stacks, if stack == Stack::Linux { bytes } else { acks }, "{stack:?}");
        assert!(acks.1 * 3 <= acks.0 * 5, "{stack:?}: half as much again, {acks:?}");
        assert!(bytes.1 * 10 >= bytes.0 * 19, "{stack:?}: twice as much, {bytes:?}");
    }
}

/// Linux's `fq` is a device's; whoever has none paces by the sender's own clock, whatever the stack.
#[test]
fn who_paces_is_not_the_stacks_choice() {
    for stack in [Stack::Rfc, Stack::Linux] {
        let at_once = |pacing| {
            let config = Config { stack, pacing, ..config() };
            let initial = Initial { segments: 10, ssthresh: None };
            let paced = Controller::new(SlowStart::paced(initial), Rfc5681::new(initial), Reno::new());
            let mut line = Line::between(Endpoint::new(Role::Client, &config, paced), &config, DELAY);
            line.client.open(line.now);
            line.run(millis(99), |_, _, _| Verdict::Pass);
            line.client.write(20_000);
            line.run(millis(100), |_, _, _| Verdict::Pass);
            line.client.snapshot().nxt / 1_000
        };
        assert_eq!((at_once(PacedBy::Sender), at_once(PacedBy::Device)), (1, 10), "{stack:?}");
    }
}
