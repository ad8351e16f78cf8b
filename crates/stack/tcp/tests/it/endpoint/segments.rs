//! State changes by one segment, and the answer to it.

use core::num::NonZeroU16;

use firstflight::Span;
use firstflight_tcp::{
    Config, EndpointEvent, Flags, Offload, Role, SackBlock, Segment, Stack, Status, Timestamps,
};

use super::connection::{DELAY, dropping};
use super::line::{Line, Plain, Verdict, config, endpoint, millis};
use super::robustness::{after_a_transfer, answers, next};

/// RFC 9293 section 3.10.7.4: `SND.WL1`.
#[test]
fn a_segment_that_left_before_one_that_was_heard_sets_no_window() {
    // The second of three arrives first, with the window unchanged, or with another one.
    for first in [8_000, 7_000] {
        let mut line = after_a_transfer(8_000);
        let mut window_after = |seq, len, window, una| {
            answers(&mut line, &Segment { len, window, ..next(Flags::PSH, seq, una) });
            line.client.info().send_window
        };
        assert_eq!(window_after(101, 100, first, 50_000), u64::from(first));
        assert_eq!(window_after(1, 100, 5_000, 50_000), u64::from(first), "it left before");
        assert_eq!(window_after(201, 100, 6_000, 50_000), 6_000);
        assert_eq!(window_after(201, 100, 8_000, 50_000), 8_000, "the same may be sent again with another");
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

/// A keep-alive of one byte starts before the next byte, which is the SYN's place while there is no data. The window counts from the
/// keep-alive's own ACK; otherwise more data could be sent than any offered window admits.
#[test]
fn the_window_of_what_begins_before_the_stream_counts_from_its_acknowledgement() {
    let mut line = after_a_transfer(8_000);
    line.client.write(1_000);
    answers(&mut line, &Segment { window: 1_000, ..next(Flags::ACK, 1, 50_000) });
    assert_eq!(line.client.snapshot().nxt, 51_000);
    assert_eq!(answers(&mut line, &Segment { len: 1, window: 500, ..next(Flags::ACK, 0, 50_500) }), 1);
    assert_eq!((line.client.snapshot().una, line.client.info().send_window), (50_500, 500));
}

/// RFC 9293 section 3.8.6.2.1.
#[test]
fn data_fitting_a_silly_window_waits_for_growth_or_a_timer() {
    let mut line = after_a_transfer(8_000);
    line.client.write(5_000);
    let window_of = |window| Segment { window, ..next(Flags::ACK, 1, 50_000) };
    assert_eq!(answers(&mut line, &window_of(10)), 0, "half of the largest is 4000");
    let at = line.client.next_timer().expect("it waits not for ever");
    let waits = at.since(line.now);
    assert!((Span::from_millis(100)..=Span::from_secs(1)).contains(&waits), "{waits:?}");
    let mut early = line.client.clone();
    line.now = at;
    line.client.on_timer(at);
    let lengths: Vec<_> = sends(&mut line.client).iter().map(|segment| segment.len).collect();
    assert_eq!(lengths, [10]);
    // Then the next small window.
    assert_eq!(answers(&mut line, &Segment { window: 10, ..next(Flags::ACK, 1, 50_010) }), 0);
    assert!(line.client.next_timer().is_some_and(|next| next > line.now));
    // A full segment, or half of the largest window, does not wait.
    early.on_segment(at, &window_of(1_000));
    assert_eq!(sends(&mut early).iter().map(|segment| segment.len).collect::<Vec<_>>(), [1_000]);
    assert_eq!((line.client.stats().timeouts, line.client.stats().probes), (0, 0));
}

/// A window too small for the waiting data, with offload (Linux `tcp_write_wakeup`): the data that fits is sent after a while, and the
/// window is probed whether or not it is zero.
#[test]
fn a_small_window_is_filled_or_probed_after_a_delay_with_offload() {
    for stack in [Stack::Rfc, Stack::Linux] {
        for window in [0, 500, 894] {
            let host = Config { stack, offload: Some(Offload::default()), ..config() };
            let mut line = Line::new(&host, &Config { receive_buffer: 8_000, ..config() }, DELAY);
            line.client.open(line.now);
            line.client.write(50_000);
            line.run(millis(4_000), |_, _, _| Verdict::Pass);
            line.client.write(1_000);
            assert_eq!(sends(&mut line.client).len(), 1, "{stack:?} {window}");
            line.client.on_segment(line.now, &Segment { window, ..next(Flags::ACK, 1, 51_000) });
            line.client.write(5_000);
            assert_eq!(sends(&mut line.client).len(), 0, "{stack:?} {window}");
            let at = line.client.next_timer().expect("it waits not for ever");
            assert!(at.since(line.now) <= Span::from_secs(1), "{stack:?} {window}");
            line.now = at;
            line.client.on_timer(at);
            let left = sends(&mut line.client);
            let lengths: Vec<_> = left.iter().map(|segment| segment.len).collect();
            assert_eq!(lengths, [window], "{stack:?}");
            assert_eq!(left[0].flags.has(Flags::PSH), window > 0, "{stack:?} {window}");
            // The rest is sent once there is room.
            let end = 51_000 + u32::from(window);
            line.client.on_segment(line.now, &next(Flags::ACK, 1, end));
            let rest: u32 = sends(&mut line.client).iter().map(|segment| u32::from(segment.len)).sum();
            assert_eq!(end + rest, 56_000, "{stack:?} {window}");
        }
    }
}

/// RFC 9293 section 3.8.6: a sender should not time out the connection if data beyond the right window edge is not acknowledged, and must
/// keep it open while a peer with a zero window answers.
#[test]
fn a_peer_with_a_zero_window_that_answers_keeps_the_connection_open() {
    // With a window of one byte that byte has to be acknowledged.
    for (window, answers_come) in [(0, true), (1, true), (5_000, true), (0, false)] {
        let mut line = after_a_transfer(8_000);
        line.client.write(5_000);
        answers(&mut line, &Segment { window: 5_000, ..next(Flags::ACK, 1, 50_000) });
        assert_eq!(line.client.snapshot().nxt, 55_000);
        let shrunk = Segment { window, ..next(Flags::ACK, 1, 50_000) };
        answers(&mut line, &shrunk);
        let mut timeouts = 0;
        while timeouts < 40
            && let Some(at) = line.client.next_timer()
        {
            line.now = at;
            line.client.on_timer(at);
            timeouts += core::iter::from_fn(|| line.client.poll_transmit(at)).count();
            if answers_come {
                answers(&mut line, &shrunk);
            }
        }
        let keeps = answers_come && window == 0;
        assert_eq!(line.client.status() == Status::Open, keeps, "a window of {window}: {timeouts}");
        if keeps {
            answers(&mut line, &next(Flags::ACK, 1, 55_000));
            assert_eq!(line.client.snapshot().una, 55_000);
        }
    }
}

/// RFC 5961 section 5.2: a segment that acknowledges unsent data is ignored as a whole, and does not count as the newest segment either.
#[test]
fn one_forged_segment_does_not_close_the_window_for_ever() {
    let server = Config { receive_buffer: 8_000, reads_at_once: false, ..config() };
    for flags in [Flags::PSH, Flags::ACK] {
        let mut line = Line::new(&config(), &server, DELAY);
        line.client.open(line.now);
        line.client.write(50_000);
        line.run(millis(3_000), |_, _, _| Verdict::Pass);
        let (window, una) = (line.client.info().send_window, line.client.snapshot().una);
        assert_eq!((window, una), (0, 8_000));
        line.client.on_segment(line.now, &Segment { len: 1, window: 0, ..next(flags, 5_001, 17_000) });
        line.server.read(8_000);
        line.run(millis(60_000), |_, _, _| Verdict::Pass);
        assert_eq!(line.client.snapshot().una, 16_000);
    }
}

/// RFC 9293 section 3.10.7.4: SND.WL1 = SEG.SEQ.
#[test]
fn a_window_that_opens_in_what_is_sent_again_is_heard() {
    let server = Config { receive_buffer: 8_000, reads_at_once: false, ..config() };
    let mut line = Line::new(&config(), &server, DELAY);
    line.client.open(line.now);
    line.client.write(20_000);
    line.run(millis(100_000), |_, _, _| Verdict::Pass);
    assert_eq!(line.client.info().send_window, 0);
    line.server.write(100);
    line.run(line.now + DELAY, |_, from_client, _| if from_client { Verdict::Drop } else { Verdict::Pass });
    assert_eq!(line.client.stats().received, 100, "whose ACK is lost");
    line.now = line.server.next_timer().expect("that of what was sent");
    line.server.on_timer(line.now);
    // A retransmission carries the window that opens.
    line.server.read(8_000);
    line.run(line.now + DELAY * 3, |_, _, _| Verdict::Pass);
    assert!(line.client.snapshot().nxt > 8_001, "{:?}", line.client.snapshot());
}

/// RFC 9293 section 3.4: a FIN takes a place in the window as a byte does.
#[test]
fn a_fin_waits_for_the_window_to_have_a_place_for_it() {
    // The offered window is full, zero, or has a place.
    for (bytes, window, leave) in [(8_000, 8_000, 8), (0, 0, 0), (0, 1, 1), (7_999, 8_000, 8)] {
        let mut line = after_a_transfer(8_000);
        answers(&mut line, &Segment { window, ..next(Flags::ACK, 1, 50_000) });
        line.client.write(bytes);
        line.client.shut();
        let sent: Vec<Segment> = core::iter::from_fn(|| line.client.poll_transmit(line.now))
            .map(|transmit| transmit.segment)
            .collect();
        assert_eq!(sent.len(), leave, "{bytes} bytes in a window of {window}");
        let fins = sent.iter().filter(|segment| segment.flags.has(Flags::FIN)).count();
        assert_eq!(fins, usize::from(bytes < u64::from(window)), "{bytes} bytes in a window of {window}");
        if fins > 0 {
            continue;
        }
        let una = all_sent(&line);
        answers(&mut line, &Segment { window: 0, ..next(Flags::ACK, 1, una) });
        // The window is probed, and nothing times out, until it opens.
        let cwnd = line.client.snapshot().cwnd;
        for _ in 0..8 {
            line.now = line.client.next_timer().expect("it asks again");
            line.client.on_timer(line.now);
            let probe = line.client.poll_transmit(line.now).expect("it asks").segment;
            assert!(!probe.flags.has(Flags::FIN) && line.client.poll_transmit(line.now).is_none());
            let una = all_sent(&line);
            answers(&mut line, &Segment { window: 0, ..next(Flags::ACK, 1, una) });
        }
        assert_eq!((line.client.stats().timeouts, line.client.snapshot().cwnd), (0, cwnd));
        let una = all_sent(&line);
        assert_eq!(answers(&mut line, &next(Flags::ACK, 1, una)), 1, "the FIN leaves");
    }
}

/// Returns the ACK number of a peer that has received everything.
fn all_sent(line: &Line) -> u32 {
    u32::try_from(line.client.snapshot().nxt).expect("the stream is short")
}

/// Returns a connection with timestamps, over which nothing was sent yet.
fn with_timestamps() -> Line {
    let config = Config { timestamps: true, ..config() };
    let mut line = Line::new(&config, &config, DELAY);
    line.client.open(line.now);
    line.run(millis(1_000), |_, _, _| Verdict::Pass);
    line
}

/// Returns the client's echo after this segment arrived, if it answers.
fn echo(line: &mut Line, segment: Segment, value: u32) -> Option<u32> {
    let timestamps = Some(Timestamps { value, echo: 50 });
    line.client.on_segment(line.now, &Segment { timestamps, ..segment });
    let answer = line.client.poll_transmit(line.now)?;
    assert_eq!(line.client.poll_transmit(line.now).map(|more| more.segment), None);
    answer.segment.timestamps.map(|timestamps| timestamps.echo)
}

/// RFC 7323 section 5.3: R2 comes before R3, and RFC 5961 section 5.2 before both.
#[test]
fn the_echoed_timestamp_is_never_of_an_ignored_segment() {
    // Plain segments may be predicted.
    for flags in [Flags::PSH, Flags::ACK] {
        let mut line = with_timestamps();
        let data = |seq, una| Segment { len: 100, ..next(flags, seq, una) };
        assert_eq!(echo(&mut line, data(1, 0), 2_000), Some(2_000));
        assert_eq!(echo(&mut line, data(101, 0), 2_001), Some(2_001));
        assert_eq!(echo(&mut line, data(1, 0), 3_000), Some(2_001), "all of it came long before");
        let unsent = Some(2_001);
        assert_eq!(
            echo(&mut line, data(201, 9_999), 0x7000_0000),
            unsent,
            "it acknowledges what was not sent"
        );
        echo(&mut line, next(flags, 201, 9_999), 0x7000_0000);
        assert_eq!(echo(&mut line, data(301, 0), 2_010), unsent, "it comes out of order");
        assert_eq!(echo(&mut line, data(201, 0), 2_005), Some(2_005));
        assert_eq!(echo(&mut line, data(401, 0), 2_004), Some(2_005), "it is too old");
        // A segment that ends at RCV.NXT is processed: it is a retransmission if our ACK was lost.
        assert_eq!(echo(&mut line, data(301, 0), 2_020), Some(2_020));
        assert_eq!(line.client.stats().received, 400);
    }
}

/// RFC 7323 section 3.2 would drop the segment.
#[test]
fn a_segment_without_the_timestamps_agreed_on_is_heard_as_in_linux() {
    let mut line = with_timestamps();
    assert_eq!(answers(&mut line, &Segment { len: 100, ..next(Flags::PSH, 1, 0) }), 1);
    assert_eq!(line.client.stats().received, 100);
}

/// Returns the segments that a host sends until it reports that nothing else may be sent.
fn sends(host: &mut Plain) -> Vec<Segment> {
    let mut all = Vec::new();
    let mut place = Segment::default();
    while let Some(departure) = host.fast().transmit_into(millis(1), &mut place) {
        all.push(place);
        if departure.last {
            break;
        }
    }
    all
}

/// RFC 9293 section 3.10.7.2.
#[test]
fn a_listener_resets_acks_and_accepts_a_following_syn() {
    let mut host = endpoint(Role::Server, &config(), 10);
    let segment = |flags| Segment { seq: 9, ack: 7, flags, window: 1_000, ..Segment::default() };
    for flags in [Flags::ACK, Flags::ACK.with(Flags::SYN), Flags::ACK.with(Flags::FIN)] {
        host.on_segment(millis(1), &segment(flags));
        assert_eq!(sends(&mut host), [Segment { seq: 7, flags: Flags::RST, ..Segment::default() }]);
    }
    for flags in [Flags::RST, Flags::RST.with(Flags::ACK), Flags::FIN, Flags::PSH] {
        host.on_segment(millis(1), &segment(flags));
        assert_eq!(sends(&mut host), []);
    }
    host.on_segment(millis(1), &segment(Flags::SYN));
    let left = sends(&mut host);
    assert!(left.len() == 1 && left[0].flags == Flags::SYN.with(Flags::ACK) && left[0].ack == 10, "{left:?}");
}

/// RFC 9293 sections 3.10.7.3 and 3.10.7.4: <SEQ=SEG.ACK><CTL=RST>.
#[test]
fn an_ack_of_unsent_data_before_establishment_is_reset() {
    let reset = |ack| Segment { seq: ack, flags: Flags::RST, ..Segment::default() };
    let syn = Segment { seq: 0, flags: Flags::SYN, window: 1_000, mss: NonZeroU16::new(1_000), ..reset(0) };
    let ack = |ack| Segment { seq: 1, ack, flags: Flags::ACK, window: 1_000, ..Segment::default() };
    for role in [Role::Client, Role::Server] {
        let mut host = endpoint(role, &config(), 10);
        match role {
            Role::Client => host.open(millis(1)),
            Role::Server => host.on_segment(millis(1), &syn),
        }
        // Even while the SYN or SYN-ACK has not been sent.
        host.on_segment(millis(1), &ack(0));
        let left = sends(&mut host);
        assert!(left.len() == 2 && left.contains(&reset(0)), "{role:?}: {left:?}");
        assert!(left.iter().any(|segment| segment.flags.has(Flags::SYN)), "{role:?}: {left:?}");
        for value in [2, 0x8000_0001, u32::MAX] {
            host.on_segment(millis(1), &ack(value));
            assert_eq!(sends(&mut host), [reset(value)], "{role:?}");
        }
        // A RST is not answered with a RST.
        let mut refused = host.clone();
        refused.on_segment(millis(1), &Segment { flags: Flags::ACK.with(Flags::RST), ..ack(2) });
        assert_eq!(sends(&mut refused), [], "{role:?}");
        let right = match role {
            Role::Client => Segment { ack: 1, flags: syn.flags.with(Flags::ACK), ..syn },
            Role::Server => ack(1),
        };
        host.on_segment(millis(1), &right);
        let happened: Vec<_> = core::iter::from_fn(|| host.poll_event()).collect();
        assert!(happened.contains(&EndpointEvent::Established), "{role:?}: it goes on");
    }
}

/// `SND.WL1` (RFC 9293 section 3.10.7.4) while a loss is repaired, which has separate code paths.
#[test]
fn an_older_ack_during_repair_does_not_set_the_window() {
    let mut line = after_a_transfer(60_000);
    line.client.write(20_000);
    while line.client.poll_transmit(line.now).is_some() {}
    let told = |segments: u32, window: u16| {
        let mut sack = [SackBlock::default(); 4];
        sack[0] = SackBlock { start: 51_001, end: 51_001 + 1_000 * segments };
        Segment { window, sack_count: 1, sack, flags: Flags::ACK, ..next(Flags::ACK, 1, 50_000) }
    };
    for (segments, window) in [(3, 60_000), (4, 50_000)] {
        answers(&mut line, &told(segments, window));
        assert!(line.client.snapshot().recovering);
        assert_eq!(line.client.info().send_window, u64::from(window));
    }
    answers(&mut line, &Segment { len: 100, window: 40_000, ..next(Flags::PSH, 101, 50_000) });
    assert_eq!(line.client.info().send_window, 40_000);
    answers(&mut line, &told(5, 50_000));
    assert_eq!(line.client.info().send_window, 40_000);
    assert_eq!(line.client.info().sacked, 5, "what it tells of is heard");
}

const DAY: u64 = 24 * 3_600 * 1_000;

/// RFC 7323 section 5.5.
#[test]
fn a_timestamp_that_was_heard_24_days_ago_refuses_nothing() {
    for idle in [DAY, 24 * DAY, 25 * DAY, 49 * DAY, 60 * DAY] {
        let mut line = with_timestamps();
        line.client.write(10_000);
        line.run(millis(10_000 + idle), |_, _, _| Verdict::Pass);
        line.client.write(10_000);
        line.run(millis(20_000 + idle), |_, _, _| Verdict::Pass);
        assert_eq!(line.server.stats().received, 20_000, "after {} days", idle / DAY);
        assert_eq!(line.client.stats().retransmissions, 0, "after {} days", idle / DAY);
    }
}

/// The age of a timestamp counts from its arrival; later segments that did not replace it, such as data above a hole, do not renew it.
#[test]
fn timestamps_older_than_24_days_refuse_no_segment() {
    let idle = 30 * DAY;
    for by_client in [true, false] {
        let mut line = with_timestamps();
        line.run(millis(idle), |_, _, _| Verdict::Pass);
        if by_client { &mut line.client } else { &mut line.server }.write(10_000);
        line.run(millis(idle + 10_000), |_, _, _| Verdict::Pass);
        let (writer, reader) =
            if by_client { (&line.client, &line.server) } else { (&line.server, &line.client) };
        assert_eq!((writer.snapshot().una, reader.stats().received), (10_000, 10_000), "{by_client}");
    }
    let mut line = with_timestamps();
    line.client.write(10_000);
    line.run(millis(idle), |_, _, _| Verdict::Pass);
    line.client.write(10_000);
    line.run(millis(idle + 10_000), dropping(vec![10]));
    assert_eq!((line.server.stats().received, line.client.stats().timeouts), (20_000, 0));
}
