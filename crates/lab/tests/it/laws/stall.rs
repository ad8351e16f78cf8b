//! No connection stands still for longer than a timer explains.

use firstflight_measure::Recording;
use firstflight_scenario::Scenario;

use super::witness::{Seen, Turn};

const SECOND: u64 = 1_000_000_000;
/// RFC 6298 section 2.5, as the endpoint has it.
const MOST: u64 = 60 * SECOND;
/// RFC 4782 section 4.7.2 and RFC 6298 section 5.7: the first timeout of a SYN with a request, or after a lost SYN.
const FIRST: u64 = 3 * SECOND;

/// From any event of the flow to its next goes by no more than the retransmission timeout can be: by RFC 6298 with no
/// sample above the greatest RTT measured so far, a fifth of it smoothed and four fifths variation, doubled for every
/// timeout since there was a sample (Karn's algorithm: an ACK of what was sent again is none). A SYN is given up before its own
/// needs a bound. An application may be silent besides.
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
    // How often the timeout was doubled when the timer was set, and whether there was a sample then: an ACK that does not
    // advance leaves it as it was, with a sample by what it SACKs or without.
    let (mut doubled, mut measured) = (0_u32, false);
    let mut before = None;
    for (at, turn) in seen.turns() {
        // Those of this very instant may come with a later one of several ACKs.
        while let Some((_, rtt)) = samples.next_if(|(when, _)| when < at) {
            greatest = greatest.max(Some(*rtt));
            backoff = 0;
        }
        let estimate = greatest.map_or(FIRST, |rtt: u64| rtt + (4 * rtt).max(SECOND / 5));
        let base = if measured { estimate } else { estimate.max(FIRST) };
        let most = if greatest.is_some() { MOST.max(least) } else { u64::MAX / 2 };
        let timeout = base.max(least).saturating_mul(1 << doubled.min(16)).min(most);
        let allowed = timeout + silence;
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
                // Whether the endpoint took it for one or not.
                backoff = 0;
                (doubled, measured) =
                    (0, greatest.is_some() || samples.peek().is_some_and(|(when, _)| when <= at));
            }
            Turn::Other => {}
        }
    }
    Ok(())
}
