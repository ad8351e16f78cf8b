//! Retransmissions of a SYN or SYN-ACK, and the effects of its loss.

use firstflight::{Span, Time};
use firstflight_tcp::{Config, Flags, Role, Segment, Stack, Status};

use super::line::{Line, Verdict, config, endpoint, millis};

const DELAY: Span = Span::from_millis(50);

/// Returns a line over which the first `lost` SYNs are lost, run for this many `seconds`.
fn after_lost_syns(lost: usize, config: &Config, seconds: u64) -> Line {
    let mut line = Line::new(config, config, DELAY);
    line.client.open(line.now);
    let mut syns = 0;
    line.run(millis(1_000 * seconds), |_, from_client, segment| {
        syns += usize::from(from_client && segment.flags.has(Flags::SYN));
        if syns <= lost { Verdict::Drop } else { Verdict::Pass }
    });
    line
}

/// RFC 6298 section 2.1: before the first RTT sample, as for a SYN, the RTO is the host's setting; section 5.5: it doubles.
#[test]
fn a_syn_is_sent_again_after_the_timeout_that_is_set() {
    let syns = |initial_rto| {
        let config = Config { initial_rto: Span::from_millis(initial_rto), ..config() };
        let line = after_lost_syns(usize::MAX, &config, 8);
        line.log.iter().map(|(at, ..)| at.nanos() / 1_000_000).collect::<Vec<_>>()
    };
    assert_eq!(syns(1_000), [0, 1_000, 3_000, 7_000]);
    assert_eq!(syns(2_000), [0, 2_000, 6_000]);
    assert_eq!(syns(300), [0, 300, 900, 2_100, 4_500]);
}

/// RFC 6298 section 5.7: after a lost SYN the RTO of data is at least 3 s.
#[test]
fn the_timeout_after_a_lost_syn_is_three_seconds_minimum() {
    let timeout = |initial_rto| {
        let config = Config { initial_rto: Span::from_secs(initial_rto), ..config() };
        after_lost_syns(1, &config, 6).client.info().rto
    };
    assert_eq!([1, 5].map(timeout), [3, 5].map(Span::from_secs));
}

/// RFC 5681 section 3.1 reduces the window to one segment after any lost SYN, Linux `tcp_init_transfer` after more than one.
#[test]
fn initial_window_is_one_after_a_lost_syn_or_two_in_linux() {
    let window = |stack, lost| {
        let line = after_lost_syns(lost, &Config { stack, ..config() }, 8);
        line.client.snapshot().cwnd.get() / 1_000
    };
    assert_eq!([0, 1, 2].map(|lost| window(Stack::Rfc, lost)), [10, 1, 1]);
    assert_eq!([0, 1, 2].map(|lost| window(Stack::Linux, lost)), [10, 10, 1]);
}

/// A SYN-ACK is given up after a number of the server's own retries: the peer's SYNs do not count as these.
#[test]
fn repeated_syns_are_answered_without_delaying_the_server_retry() {
    let mut server = endpoint(Role::Server, &config(), 10);
    let syn = Segment { flags: Flags::SYN, window: 60_000, ..Segment::default() };
    let answers = |server: &mut super::line::Plain, now: Time| {
        core::iter::from_fn(|| server.poll_transmit(now)).count()
    };
    for ms in 0..20 {
        server.on_segment(millis(ms), &syn);
        assert_eq!(answers(&mut server, millis(ms)), 1, "each is answered");
    }
    server.on_timer(millis(1_100));
    assert_eq!(answers(&mut server, millis(1_100)), 1, "the server's own first retry");
    assert_eq!(server.status(), Status::Opening);
    let ack = Segment { seq: 1, ack: 1, flags: Flags::ACK, window: 60_000, ..Segment::default() };
    server.on_segment(millis(1_200), &ack);
    assert_eq!(server.status(), Status::Open);
    assert_eq!(server.snapshot().rtt_samples, 0, "which SYN-ACK is acknowledged is not known");
}
