//! A socket whose peer sends arbitrary segments: the data read is the data that arrived first.

use firstflight::avoidance::Reno;
use firstflight::restart::Rfc5681;
use firstflight::schemes::{Initial, SlowStart};
use firstflight::{Controller, Span, Time};
use firstflight_tcp::bytes::{Settings, Socket};
use firstflight_tcp::{Config, Flags, Role, Segment};
use proptest::prelude::*;

type Plain = Socket<SlowStart, Rfc5681, Reno>;

/// Returns a server that received a SYN with sequence number 0.
fn server(config: &Config) -> Plain {
    let initial = Initial { segments: 10, ssthresh: None };
    let controller = Controller::new(SlowStart::new(initial), Rfc5681::new(initial), Reno::new());
    let mut socket = Socket::new(Role::Server, config, controller, &Settings::default());
    let syn = Segment { flags: Flags::SYN, window: 60_000, sack_permitted: true, ..Segment::default() };
    socket.on_segment(Time::ZERO, &syn, &[]);
    while socket.poll(Time::ZERO).is_some() {}
    socket
}

/// Returns the segment whose first byte is number `start`.
fn segment(start: u16, len: u16, fin: bool) -> Segment {
    let flags = if fin { Flags::ACK.with(Flags::FIN) } else { Flags::ACK };
    Segment { seq: u32::from(start) + 1, ack: 1, len, window: 60_000, flags, ..Segment::default() }
}

#[test]
fn repeated_bytes_do_not_replace_the_first_received_ones() {
    let mut socket = server(&Config::default());
    let mut arrives = |start, payload: &[u8]| {
        let len = u16::try_from(payload.len()).unwrap();
        socket.on_segment(Time::ZERO, &segment(start, len, false), payload);
    };
    arrives(0, b"ab");
    arrives(4, b"ef");
    arrives(0, b"XXcXXXg");
    arrives(3, b"dYY");
    let mut read = [0; 20];
    assert_eq!((socket.read(&mut read), &read[..7]), (7, &b"abcXefg"[..]));
}

#[test]
fn data_beyond_the_window_is_discarded_and_accepted_when_repeated() {
    let mut socket = server(&Config { receive_buffer: 1_000, ..Config::default() });
    socket.on_segment(Time::ZERO, &segment(0, 1_460, false), &[1; 1_460]);
    assert_eq!((socket.readable(), socket.endpoint().missing(0..5_000)), (1_000, None));
    let mut read = [0; 2_000];
    assert_eq!(socket.read(&mut read), 1_000);
    while socket.poll(Time::ZERO).is_some() {}
    socket.on_segment(Time::ZERO, &segment(1_000, 460, false), &[2; 460]);
    assert_eq!((socket.read(&mut read), read[..460] == [2; 460]), (460, true));
}

/// RFC 5961 section 5.2.
#[test]
fn bytes_of_a_segment_that_is_refused_are_not_read() {
    let mut socket = server(&Config::default());
    socket.on_segment(Time::ZERO, &segment(0, 1, false), b"a");
    let never_sent = Segment { ack: 5_000, ..segment(1, 3, false) };
    socket.on_segment(Time::ZERO, &never_sent, b"XXX");
    assert_eq!(socket.readable(), 1);
    socket.on_segment(Time::ZERO, &segment(1, 3, false), b"bcd");
    let mut read = [0; 20];
    assert_eq!((socket.read(&mut read), &read[..4]), (4, &b"abcd"[..]));
}

#[test]
fn an_open_socket_acknowledges_when_its_host_asks() {
    let mut socket = server(&Config::default());
    socket.acknowledge();
    assert!(socket.poll(Time::ZERO).is_none(), "the handshake is not over");
    socket.on_segment(Time::ZERO, &segment(0, 0, false), &[]);
    assert!(socket.poll(Time::ZERO).is_none());
    socket.acknowledge();
    let (transmit, payload) = socket.poll(Time::ZERO).unwrap();
    assert_eq!((transmit.segment.flags, transmit.segment.ack, payload.len()), (Flags::ACK, 1, 0));
    assert!(socket.poll(Time::ZERO).is_none());
}

#[test]
fn a_second_fin_elsewhere_takes_no_place_among_the_bytes() {
    let mut socket = server(&Config::default());
    socket.on_segment(Time::ZERO, &segment(4, 0, true), b"");
    socket.on_segment(Time::ZERO, &segment(0, 2, true), b"ab");
    assert_eq!((socket.readable(), socket.is_at_end()), (2, false));
    socket.on_segment(Time::ZERO, &segment(2, 2, false), b"cd");
    let mut read = [0; 20];
    assert_eq!((socket.read(&mut read), &read[..4], socket.is_at_end()), (4, &b"abcd"[..], true));
}

proptest! {
    #[test]
    fn read_bytes_equal_the_bytes_first_received_at_each_offset(
        buffer in 100u64..2_000,
        steps in proptest::collection::vec((0u16..3_000, 0u16..400, 0u8..40, 0usize..600), 1..120),
    ) {
        let mut socket = server(&Config { receive_buffer: buffer, mss: 100, ..Config::default() });
        let mut arrived: Vec<Option<u8>> = vec![None; 1 << 16];
        let (mut now, mut read, mut value) = (Time::ZERO, 0, 0_u8);
        for (start, len, kind, reads) in steps {
            now = now + Span::from_millis(40);
            // Most segments follow the in-order data, some closely and some with a hole.
            let next = u16::try_from(socket.endpoint().readable_range().end).unwrap();
            let start = next.saturating_sub(50) + if kind < 20 { start % 150 } else { start };
            let segment = segment(start, len, kind == 39);
            value = value.wrapping_add(1);
            let place = socket.endpoint().arriving_range(&segment).unwrap();
            let is_missing = |socket: &Plain, at: u64| socket.endpoint().missing(at..at + 1).is_some();
            let before: Vec<u64> = place.clone().filter(|at| is_missing(&socket, *at)).collect();
            socket.on_segment(now, &segment, &vec![value; usize::from(len)]);
            for at in before.into_iter().filter(|at| !is_missing(&socket, *at)) {
                arrived[usize::try_from(at).unwrap()] = Some(value);
            }
            let mut bytes = vec![0; reads];
            let len = socket.read(&mut bytes);
            for byte in &bytes[..len] {
                // A peer may put its FIN at the offset of data; the byte there is unspecified.
                prop_assert!(arrived[read].is_none_or(|it| it == *byte), "byte {read}");
                prop_assert!(arrived[read].is_some() || socket.endpoint().peer_closed());
                read += 1;
            }
            while let Some((transmit, payload)) = socket.poll(now) {
                prop_assert!(transmit.segment.len == 0 && payload.is_empty());
            }
            let end = socket.endpoint().readable_range().end;
            prop_assert!(socket.readable() <= buffer && end == read as u64 + socket.readable());
        }
    }
}
