//! The stream bytes that a segment carries, and their place.

use firstflight::{Span, Time};
use firstflight_tcp::{Config, Flags, Role, Segment};

use super::line::{config, endpoint};

/// Exchanges the handshake and more than 2^32 bytes, without any delay, and compares both sides' offsets of every segment.
#[test]
fn offsets_go_on_past_four_gigabytes_while_sequence_numbers_come_round() {
    const WRITTEN: u64 = (1 << 32) + 3_000_000;
    let config =
        Config { mss: 65_000, initial_sequence: u32::MAX - 1_000_000, receive_buffer: 1 << 24, ..config() };
    let mut client = endpoint(Role::Client, &config, 10);
    let mut server = endpoint(Role::Server, &config, 10);
    let mut now = Time::ZERO;
    client.open(now);
    client.write(WRITTEN);
    client.shut();
    let (mut sent, mut wrapped) = (0, 0);
    while !server.peer_closed() {
        now = now + Span::from_millis(1);
        while let Some(transmit) = client.poll_transmit(now) {
            let (segment, range) = (&transmit.segment, transmit.range());
            if segment.len > 0 {
                assert_eq!((range.start, range.end), (sent, sent + u64::from(segment.len)));
                assert_eq!(server.arriving_range(segment), Some(range.clone()));
                assert_eq!(server.missing(range.clone()), Some(range.clone()));
                wrapped += u64::from(segment.seq < 65_000);
                sent = range.end;
            }
            server.on_segment(now, segment);
            assert_eq!(server.missing(range), None);
            while let Some(answer) = server.poll_transmit(now) {
                client.on_segment(now, &answer.segment);
            }
        }
        client.on_timer(now);
        server.on_timer(now);
    }
    assert_eq!((sent, wrapped > 1), (WRITTEN, true));
    assert_eq!(server.readable_range(), WRITTEN..WRITTEN, "it reads at once");
}

#[test]
fn missing_ranges_are_the_unreceived_parts_of_the_window() {
    let slow = Config { receive_buffer: 10_000, reads_at_once: false, ..config() };
    let mut server = endpoint(Role::Server, &slow, 10);
    let data =
        |seq, len| Segment { seq, ack: 1, len, window: 9_000, flags: Flags::ACK, ..Segment::default() };
    assert_eq!(server.arriving_range(&data(1, 5)), None, "before the SYN there is no stream");
    let syn = Segment { flags: Flags::SYN, window: 9_000, ..Segment::default() };
    server.on_segment(Time::ZERO, &syn);
    while server.poll_transmit(Time::ZERO).is_some() {}
    assert_eq!(server.arriving_range(&syn), None);
    for segment in [data(1, 0), data(101, 100), data(501, 100), data(1, 50), data(3_001, 1_000)] {
        server.on_segment(Time::ZERO, &segment);
    }
    assert_eq!(server.missing(0..100_000), Some(50..100));
    assert_eq!(server.missing(100..100_000), Some(200..500));
    assert_eq!(server.missing(150..550), Some(200..500));
    assert_eq!(server.missing(520..700), Some(600..700));
    assert_eq!(server.missing(3_500..100_000), Some(4_000..10_000), "the window ends there");
    assert_eq!((server.missing(0..50), server.missing(510..590)), (None, None));
    assert_eq!(server.readable_range(), 0..50);
    server.read(20);
    assert_eq!(server.readable_range(), 20..50);
}
