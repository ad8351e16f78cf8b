//! Checks that no connection stalls for longer than a timer explains.

use firstflight_measure::Recording;
use firstflight_scenario::Scenario;

use super::witness::{Seen, Turn};

const SECOND: u64 = 1_000_000_000;
/// Maximum RTO of the endpoint (RFC 6298 section 2.5).
const MOST: u64 = 60 * SECOND;
/// RFC 4782 section 4.7.2 and RFC 6298 section 5.7: the first timeout of a SYN with a request, or after a lost SYN.
const FIRST: u64 = 3 * SECOND;

/// Checks that the time between two consecutive events of the flow is at most the largest possible RTO. By RFC 6298 that is SRTT plus four
/// times RTTVAR, neither above the maximum RTT so far, doubled for every timeout since the last sample (Karn's algorithm: an ACK of a
/// retransmission gives no sample). A SYN is given up before its own RTO needs a bound. An application may also be silent.
pub(crate) fn no_gap_without_a_timer(
    path: &Scenario,
    seen: &Seen,
    recording: &Recording,
) -> Result<(), String> {
    let least = path.min_rto.nanos();
    let silence = match (path.rounds, path.app) {
        (Some(rounds), _) => rounds.idle.nanos() + 4 * rounds.spread.map_or(0, firstflight::Span::nanos),
        (None, Some(app)) => app.period.nanos(),
        (None, None) => 0,
    };
    let mut samples = recording.rtts.iter().peekable();
    let (mut greatest, mut backoff) = (None, 0_u32);
    // How often the timeout had been doubled when the timer was set, and whether a sample existed then. An ACK that does not advance does
    // not set the timer, whether or not its SACK blocks give a sample.
    let (mut doubled, mut measured) = (0_u32, false);
    let mut before = None;
    for (at, turn) in seen.turns() {
        // Samples of this very instant may belong to a later one of several ACKs.
        while let Some((_, rtt)) = samples.next_if(|(when, _)| when < at) {
            greatest = greatest.max(Some(*rtt));
            backoff = 0;
        }
        let estimate = greatest.map_or(FIRST, |rtt: u64| rtt + (4 * rtt).max(SECOND / 5));
        let base = if measured { estimate } else { estimate.max(FIRST) };
        let most = if greatest.is_some() { MOST.max(least) } else { u64::MAX / 2 };
        let timeout = base.max(least).saturating_mul(1 << doubled.min(16)).min(most);
        let allowed = timeout + silence + path.timer_noise.map_or(0, firstflight::Span::nanos);
        if let Some(before) = before
            && at - before > allowed
        {
            return Err(format!(
                "nothing happened from {before} to {at} ns; {allowed} ns is the most allowed"
            ));
        }
        before = Some(*at);
        match turn {
            Turn::TimedOut => {
                backoff += 1;
                doubled = backoff;
            }
            Turn::Advanced => (doubled, measured) = (backoff, greatest.is_some()),
            Turn::Sampled => {
                // Whether or not the endpoint treated it as a sample.
                backoff = 0;
                (doubled, measured) =
                    (0, greatest.is_some() || samples.peek().is_some_and(|(when, _)| when <= at));
            }
            Turn::Other => {}
        }
    }
    Ok(())
}
