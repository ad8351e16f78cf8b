//! Parts of a stack that can be chosen separately.

use firstflight::avoidance::Reno;
use firstflight::restart::Rfc5681;
use firstflight::schemes::{Initial, SlowStart};
use firstflight::{Controller, Span};
use firstflight_tcp::{
    AckPolicy, Config, Endpoint, EndpointEvent, Growth, LimitedTransmit, PacedBy, Recovery, Role,
    SlowStartCounts, Stack,
};

use super::connection::dropping;
use super::line::{Line, Verdict, config, endpoint, millis};

const DELAY: Span = Span::from_millis(50);

/// Returns the window, in segments, of an application that writes two segments every second, after this many seconds.
fn window_after(seconds: u64, config: &Config) -> u64 {
    let mut line = Line::new(config, config, DELAY);
    line.client.open(line.now);
    for second in 0..seconds {
        line.client.write(2_000);
        line.run(millis(900 * (second + 1)), |_, _, _| Verdict::Pass);
    }
    line.client.snapshot().cwnd.get() / 1_000
}

/// RFC 5681 and ns-2 widen the window with every ACK; by RFC 7661 section 4.3 and Linux `tcp_is_cwnd_limited` an unused window is no
/// evidence.
#[test]
fn a_window_grows_while_the_application_limits_only_if_that_is_chosen() {
    for stack in [Stack::Rfc, Stack::Linux] {
        let grown = |growth| window_after(6, &Config { stack, growth, ..config() });
        let unused = [None, Some(Growth::Validated), Some(Growth::Used)].map(grown);
        assert!(unused.iter().all(|window| *window == unused[0]), "{stack:?}: {unused:?}");
        assert!(grown(Some(Growth::Always)) >= unused[0] + 6, "{stack:?}: {unused:?}");
    }
}

/// The window of ns-2's Vegas grows while at most three of its segments are unused after an ACK. With writes of two segments it grows to
/// five: the first ACK leaves one in flight. In a long transfer it grows as without the rule.
#[test]
fn ns2_vegas_growth_widens_a_nearly_full_window() {
    let config = |growth| Config { growth, recovery: Recovery::Reno, sack: false, ..config() };
    let small = |growth| {
        let mut line = Line::between(endpoint(Role::Client, &config(growth), 1), &config(None), DELAY);
        line.client.open(line.now);
        for second in 0..20 {
            line.client.write(2_000);
            line.run(millis(900 * (second + 1)), |_, _, _| Verdict::Pass);
        }
        line.client.snapshot().cwnd.get() / 1_000
    };
    assert_eq!([Some(Growth::NearlyFull), Some(Growth::Always)].map(small), [5, 41]);
    let long = |growth| {
        let mut line = Line::new(&config(growth), &config(None), DELAY);
        line.client.open(line.now);
        line.client.write(8_000_000);
        line.run(millis(450), |_, _, _| Verdict::Pass);
        line.client.snapshot().cwnd
    };
    assert_eq!(long(Some(Growth::NearlyFull)), long(Some(Growth::Always)));
}

/// ns-2 halves its window at a loss (`TcpAgent::slowdown`), RFC 5681 the flight. The last segments of a write leave a flight below the
/// window.
#[test]
fn ns2_reno_growth_halves_the_window_at_a_loss_where_the_application_limits() {
    let halved = |growth| {
        let config = Config { growth, recovery: Recovery::Reno, sack: false, ..config() };
        let mut line = Line::new(&config, &config, DELAY);
        line.client.open(line.now);
        line.client.write(40_000);
        line.run(millis(5_000), |_, _, _| Verdict::Pass);
        line.client.write(5_000);
        line.run(millis(15_000), dropping(vec![40]));
        line.client.snapshot().cwnd.get() / 1_000
    };
    let [flight, window] = [Some(Growth::Always), Some(Growth::AlwaysHalved)].map(halved);
    assert!(window > flight * 2, "{flight} {window}");
}

/// Returns how many segments are sent in each of the first round trips after the timeout of a transfer that lost every second segment of
/// its last window.
fn rounds_after_the_timeout(recovery: Recovery, limited_transmit: LimitedTransmit) -> Vec<usize> {
    let config = Config { recovery, sack: false, limited_transmit, ..config() };
    let mut line = Line::new(&config, &config, DELAY);
    line.client.open(line.now);
    line.client.write(70_000);
    line.run(millis(20_000), dropping((30..70).step_by(2).chain([30]).collect()));
    let timed_out = line.events.iter().find(|(_, what)| *what == EndpointEvent::TimedOut);
    let (begin, _) = *timed_out.expect("a timeout");
    let in_round = |round: u64| {
        let from = begin + DELAY * (2 * round);
        line.data().iter().filter(|(at, _)| *at >= from && *at < from + DELAY * 2).count()
    };
    (0..3).map(in_round).collect()
}

/// In RFC 3042 the first two duplicate ACKs send new data, and in RFC 5681 section 3.1 slow start counts newly acknowledged data:
/// duplicates of data that the receiver holds send nothing after a timeout. `TcpAgent::send_one` of ns-2 sends the next retransmission.
#[test]
fn duplicates_after_a_timeout_retransmit_only_with_the_ns2_rule() {
    for recovery in [Recovery::NewReno, Recovery::Reno] {
        assert_eq!(rounds_after_the_timeout(recovery, LimitedTransmit::New), [1, 2, 3], "{recovery:?}");
        assert_eq!(rounds_after_the_timeout(recovery, LimitedTransmit::Next), [1, 2, 4], "{recovery:?}");
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

/// Linux's `fq` belongs to a device; a host without one paces by the sender's clock, with any stack.
#[test]
fn pacing_responsibility_is_independent_of_the_stack() {
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
