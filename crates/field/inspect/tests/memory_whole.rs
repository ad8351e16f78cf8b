//! A connection that was opened, used and closed takes no more memory than one that was only opened. The test needs a separate process,
//! because it counts the pages of the process.

#[path = "made/held.rs"]
mod held;
#[expect(dead_code, reason = "the other tests make more of it")]
mod made;

use held::{CONSTANT, PER_CONNECTION, held, segment};
use made::{ACK, From, SYN, Segment};

/// Whole connections, one after the other.
#[test]
fn a_whole_connection_takes_no_more_than_a_connection_may() {
    const EACH: u32 = 14;
    let mss = vec![2, 4, 5, 180, 1, 3, 3, 7, 4, 2, 1, 1];
    let (whole, tally) = held(20_000 * EACH, |number| {
        // The same ends, another sequence number each time.
        let (from, step) = (number / EACH * 100_000 + 1, number % EACH);
        let said =
            |flags, at: u32, heard: u32, len| segment(From::Client, flags, from + at, from + heard, len);
        let heard =
            |flags, at: u32, said: u32, len| segment(From::Server, flags, from + at, from + said, len);
        match step {
            0 => Segment { options: mss.clone(), ..segment(From::Client, SYN, from, 0, 0) },
            1 => Segment { options: mss.clone(), ..heard(SYN | ACK, 0, 1, 0) },
            2 => said(ACK, 1, 1, 0),
            3 => said(ACK, 1, 1, 30),
            4 => heard(ACK, 1, 31, 0),
            5..10 => heard(ACK, 1 + (step - 5) * 14, 31, 14),
            10 => said(ACK, 31, 71, 0),
            11 => heard(ACK | 1, 71, 31, 0),
            12 => said(ACK | 1, 31, 72, 0),
            _ => heard(ACK, 72, 32, 0),
        }
    });
    assert_eq!(tally.tcp, u64::from(20_000 * EACH));
    let most = 20_000 * PER_CONNECTION + CONSTANT;
    assert!(whole < most, "{whole} bytes, {most} allowed");
    println!("20 000 whole connections {whole} bytes");
}
