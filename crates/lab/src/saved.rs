//! The values that an earlier connection over the path saved for Careful Resume (RFC 9959 section 3.1).

use firstflight::registry::Value;
use firstflight::{Bytes, Span};
use firstflight_measure::Recording;
use firstflight_scenario::{SAVED_RTT, SAVED_WINDOW, Scenario, SchemeChoice};

use crate::error::RunError;
use crate::run::run;

/// The choice with the values that an earlier connection saved, if it resumes and its values are not set. The earlier
/// connection is slow start over the path, with the choice's options and the seed after the race's last one. One earlier
/// connection serves all runs, so that every row states the same values. Other choices are returned unchanged.
///
/// # Errors
/// As [`run`].
pub fn resumed(
    scenario: &Scenario,
    choice: &SchemeChoice,
    interrupted: &dyn Fn() -> bool,
) -> Result<SchemeChoice, RunError> {
    let mut choice = choice.clone();
    if !choice.lacks_saved() {
        return Ok(choice);
    }
    let seed = scenario.seed.wrapping_add(u64::from(scenario.runs));
    let outcome = run(scenario, &choice.slow_start_instead(), seed, true, None, interrupted)?;
    if let Some((window, rtt)) = observed(&outcome.evidence.recording) {
        choice.set_default(SAVED_WINDOW, Value::Bytes(window));
        choice.set_default(SAVED_RTT, Value::Span(rtt));
    }
    Ok(choice)
}

/// The values that a connection saves, by section 3.1. `saved_cwnd` is the data acknowledged in the last round trip,
/// cumulatively or selectively: the data that left in the round trip before and was not dropped. `saved_rtt` is the least
/// round-trip time. `None` if nothing was acknowledged.
fn observed(recording: &Recording) -> Option<(Bytes, Span)> {
    let (end, _) = *recording.acks.last()?;
    let rtt = recording.rtts.iter().take_while(|(at, _)| *at <= end).last()?.1;
    let least = recording.rtts.iter().map(|(_, rtt)| *rtt).min()?;
    let until = end.saturating_sub(rtt);
    let from = until.saturating_sub(rtt);
    let in_time = |at: u64| from < at && at <= until;
    let sent = recording.sends.iter().filter(|send| in_time(send.at)).map(|send| u64::from(send.len));
    let dropped = recording.drops.iter().filter(|drop| in_time(drop.sent_at)).map(|drop| u64::from(drop.len));
    let acked = sent.sum::<u64>().saturating_sub(dropped.sum());
    Some((Bytes::new(acked), Span::from_nanos(least)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstflight_measure::{Drop, Send};

    fn send(at: u64) -> Send {
        Send { at, offset: at, len: 1_000, retransmission: false }
    }

    #[test]
    fn what_was_acknowledged_in_the_last_round_trip_is_saved_with_the_least_round_trip_time() {
        // The last ACK arrives at 200 and the round-trip time is 50: the data that left after 100 and up to 150, less the
        // losses.
        let recording = Recording {
            acks: vec![(130, 1_000), (200, 9_000)],
            rtts: vec![(90, 40), (160, 50), (210, 99)],
            sends: [100, 101, 120, 150, 151].map(send).to_vec(),
            drops: vec![
                Drop { at: 130, sent_at: 120, offset: 120, len: 1_000, by_queue: true },
                Drop { at: 160, sent_at: 151, offset: 151, len: 1_000, by_queue: true },
            ],
            ..Recording::default()
        };
        assert_eq!(observed(&recording), Some((Bytes::new(2_000), Span::from_nanos(40))));
        assert_eq!(observed(&Recording::default()), None);
    }
}
