//! Checks that a qlog of any bytes gives connections, or an error of one line.

use firstflight_inspect::{Found, QuicLog};
use firstflight_qlog::{Event, QlogError, Summary, read};

use crate::capture::numbers_are_numbers;
use crate::readers::is_one_line;

/// Reads a qlog of any bytes, and analyses its connections. The result does not depend on whether the analysis draws. Every packet that is
/// acknowledged or lost was sent before, and times do not go back.
pub fn qlog_reader(data: &[u8]) {
    let (summary, found) = match analysed(data, false) {
        Ok(read) => read,
        Err(error) => {
            assert!(matches!(error, QlogError::Format(_)), "bytes in memory can be read: {error}");
            return is_one_line(&error.to_string());
        }
    };
    summary.early.iter().for_each(|why| is_one_line(why));
    found.iter().for_each(numbers_are_numbers);
    for connection in &summary.connections {
        connection.notes.lines().iter().for_each(|line| is_one_line(line));
        assert!(connection.notes.acked <= connection.notes.packets);
    }
    let (_, drawn) = analysed(data, true).expect("the same bytes are read again");
    assert_eq!(found, drawn);
}

fn analysed(data: &[u8], is_drawn: bool) -> Result<(Summary, Vec<Found>), QlogError> {
    let mut logs: Vec<QuicLog> = Vec::new();
    let mut last: Vec<u64> = Vec::new();
    let mut in_flight: Vec<i64> = Vec::new();
    let summary = read(data, &mut |index: usize, at: u64, event: &Event<'_>| {
        while logs.len() <= index {
            logs.push(QuicLog::new(is_drawn));
            last.push(0);
            in_flight.push(0);
        }
        assert!(last[index] <= at, "time goes back from {} to {at}", last[index]);
        last[index] = at;
        match event {
            Event::Sent(packet) => {
                assert_eq!(packet.sent_at, at);
                in_flight[index] += 1;
            }
            Event::Acked { packets, spurious, .. } => {
                assert!(!packets.is_empty() && packets.is_sorted_by_key(|packet| packet.number));
                assert!(packets.iter().all(|packet| packet.sent_at <= at) && *spurious <= packets.len());
                in_flight[index] -= packets.len().cast_signed() as i64 - spurious.cast_signed() as i64;
            }
            Event::Lost(packets) => {
                assert!(!packets.is_empty() && packets.is_sorted_by_key(|packet| packet.number));
                in_flight[index] -= packets.len().cast_signed() as i64;
            }
            _ => {}
        }
        assert!(in_flight[index] >= 0, "more packets came back than were sent");
        logs[index].event(at, event);
    })?;
    logs.resize_with(summary.connections.len(), || QuicLog::new(is_drawn));
    let is_cut = summary.early.is_some();
    let finished = logs.into_iter().zip(&summary.connections).enumerate();
    let found =
        finished.map(|(number, (log, connection))| log.finish(number, connection, is_cut).found).collect();
    Ok((summary, found))
}
