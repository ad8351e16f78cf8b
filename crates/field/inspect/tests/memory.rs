//! Captures may be larger than memory: the memory used grows with the connections and with the data in flight, not with the packets.
//! Measured by the system's count of this process's pages, sampled as the capture is read.

#[path = "made/held.rs"]
mod held;
#[expect(dead_code, reason = "the other tests make more of it")]
mod made;

use held::{CONSTANT, PER_CONNECTION, held, segment};
use made::{ACK, From, SYN};

#[test]
fn memory_grows_with_connections_and_flight_and_not_with_packets() {
    // Acknowledged two by two, 64 segments in flight.
    let (transfer, tally) = held(400_000, |number| {
        let sent = |count: u32| 1001 + count * 20;
        if number % 3 < 2 {
            segment(From::Client, ACK, sent(number / 3 * 2 + number % 3), 501, 20)
        } else {
            segment(From::Server, ACK, 501, sent((number / 3 * 2).saturating_sub(64)), 0)
        }
    });
    assert_eq!(tally.tcp, 400_000);
    assert!(transfer < CONSTANT, "a transfer: {transfer} bytes");

    // The same segment repeated, without an answer.
    let (repeats, _) = held(1_000_000, |_| segment(From::Client, ACK, 1001, 501, 20));
    assert!(repeats < CONSTANT, "repeats: {repeats} bytes");

    // A connection with every packet: the same ends, another sequence number.
    let (flood, tally) = held(20_000, |number| segment(From::Client, SYN, number * 7 + 1, 0, 0));
    assert_eq!(tally.tcp, 20_000);
    let most = 20_000 * PER_CONNECTION + CONSTANT;
    assert!(flood < most, "a flood: {flood} bytes, {most} allowed");
    println!("a transfer {transfer}, repeats {repeats}, a flood of 20 000 connections {flood} bytes");
}
