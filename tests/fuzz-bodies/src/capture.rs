//! Checks that a capture of any bytes gives an inspection, or an error of one line that names a byte of the file.

use std::io::{self, Read};

use firstflight_capture::ReadError;
use firstflight_inspect::{Found, Inspected, Inspection, inspect};

use crate::readers::is_one_line;

/// A reader that returns a file in pieces.
struct Pieces<'a> {
    left: &'a [u8],
    size: usize,
}

/// Inspects a capture file of any bytes. The result must depend neither on whether the inspection draws nor on the sizes of the pieces in
/// which the file is read.
pub fn capture_reader(data: &[u8]) {
    let inspection = match inspect(data, false) {
        Ok(inspection) => inspection,
        Err(error) => return names_a_byte(&error, data),
    };
    counts_add_up(&inspection, data);
    for Inspected { found, .. } in &inspection.senders {
        numbers_are_numbers(found);
        assert!(found.began_at_s >= 0.0, "a capture's clock counts from 1970: {found:?}");
    }

    let pieces = Pieces { left: data, size: 1 + data.len() % 37 };
    let again = inspect(pieces, true).expect("the same bytes are read again");
    assert_eq!((inspection.tally, inspection.cut), (again.tally, again.cut));
    assert_eq!(inspection.senders.len(), again.senders.len());
    for (one, other) in inspection.senders.iter().zip(&again.senders) {
        assert_eq!(one.found, other.found);
        assert!(one.drawn.is_none() && other.drawn.is_some(), "drawn if it was asked for");
    }
}

fn names_a_byte(error: &ReadError, data: &[u8]) {
    let line = error.to_string();
    is_one_line(&line);
    let ReadError::Format { at, .. } = error else { panic!("bytes in memory can be read: {line}") };
    assert!(*at <= data.len() as u64, "{line}; the file has {} bytes", data.len());
}

/// Checks that the inspection either follows each packet or counts it as left out, and that it reads no byte beyond the file.
fn counts_add_up(inspection: &Inspection, data: &[u8]) {
    let tally = inspection.tally;
    let left_out = tally.other + tally.fragments + tally.cut + tally.malformed + tally.unknown_link;
    assert_eq!(tally.packets, tally.tcp + left_out);
    assert!(tally.bytes <= data.len() as u64, "{tally:?} of {} bytes", data.len());
    if let Some(cut) = inspection.cut {
        assert!(cut.found < cut.needed, "{cut:?} is whole");
        assert_eq!(cut.at + cut.found, data.len() as u64, "the file ends where it is cut");
    } else {
        assert_eq!(tally.bytes, data.len() as u64, "the file was read to its end");
    }
}

/// Checks that every number is finite, none is negative, and shares are between zero and one.
pub(crate) fn numbers_are_numbers(found: &Found) {
    let rounds = found.rounds.iter().flat_map(|round| {
        let times = [Some(round.began_s), round.length_s, round.growth, round.segments_per_ack];
        times.into_iter().chain([round.spread, round.back_to_back])
    });
    let restarts = found
        .idle_restarts
        .iter()
        .flat_map(|restart| [Some(restart.at_s), Some(restart.idle_s), restart.spread]);
    // The clock of a qlog may count from an instant after its first event.
    assert!(found.began_at_s.is_finite(), "{found:?}");
    let own = [
        Some(found.duration_s),
        found.handshake_rtt_s,
        found.rtt_to_sender_s,
        found.rtt_to_receiver_s,
        found.min_rtt_s,
        found.throughput_bps,
        found.exit_time_s,
        found.later_rate_bps,
        found.time_to_90pct_s,
    ];
    for number in own.into_iter().chain(rounds).chain(restarts).flatten() {
        assert!(number.is_finite() && number >= 0.0, "{number} in {found:?}");
    }
    let shares = [found.initial_window_spread, found.back_to_back, found.ack_triggered];
    for share in shares.into_iter().flatten() {
        assert!((0.0..=1.0).contains(&share), "a share of {share} in {found:?}");
    }
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (piece, left) = self.left.split_at(self.size.min(buffer.len()).min(self.left.len()));
        buffer[..piece.len()].copy_from_slice(piece);
        self.left = left;
        Ok(piece.len())
    }
}
