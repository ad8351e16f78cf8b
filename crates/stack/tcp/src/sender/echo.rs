//! RTT samples from the timestamp that an ACK echoes (RFC 7323 section 4). If retransmitted data is acknowledged, transmission times give
//! no sample (Karn's algorithm). The timestamp shows which transmission is acknowledged.

use firstflight::{Avoidance, Span, Startup, Time};

use super::Sender;
use super::interface::AckInput;
use crate::clock::{self, TICK};

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// Returns the RTT that an ACK's timestamp echo shows, if it shows one. `newest` is the transmission time of the newest packet that the
    /// ACK delivers.
    pub(super) fn echoed(&self, now: Time, input: &AckInput<'_>, newest: Option<Time>) -> Option<Span> {
        let (echo, newest) = (echo_of(input)?, newest?);
        // A DSACK is the answer to the duplicate that it reports. The answers to all other data may have been lost in an earlier outage.
        let answered = |end: u64| input.dsack.is_none_or(|(low, high)| low < end && end <= high);
        let answered = self.scratch.arrivals.iter().filter(|arrival| answered(arrival.end));
        let times = answered.map(|arrival| arrival.delivered.sent_at);
        if let Some(sent_at) = times.filter(|sent_at| clock::stamp(*sent_at) == echo).max() {
            // If the RTT would be below the minimum, the transmission was sent in the same tick as the original, which was acknowledged.
            return Some(now.since(sent_at)).filter(|rtt| self.rtt.min().is_none_or(|min| *rtt >= min));
        }
        // If a duplicate is below data delivered in order, its ACK has the echo of that data.
        if input.dsack.is_some() {
            return None;
        }
        // The transmission time of an earlier transmission is known only to a tick. The beginning of the tick is used, so that no sample is
        // too short.
        let since = Span::from_nanos(now.nanos() % TICK.nanos()) + TICK * u64::from(age(now, echo));
        (is_before(echo, clock::stamp(newest)) && since <= now.since(Time::ZERO)).then_some(since)
    }
}

/// Checks whether an ACK echoes a timestamp from before `sent_at`. Returns false if both are in the same tick.
pub(super) fn echoes_earlier(input: &AckInput<'_>, sent_at: Time) -> bool {
    echo_of(input).is_some_and(|echo| is_before(echo, clock::stamp(sent_at)))
}

/// Returns the echoed timestamp; `None` if the peer does not echo one.
pub(super) fn echo_of(input: &AckInput<'_>) -> Option<u32> {
    input.echo.filter(|echo| *echo != 0)
}

/// Returns the number of ticks since a timestamp of this side.
pub(super) fn age(now: Time, echo: u32) -> u32 {
    clock::stamp(now).wrapping_sub(echo)
}

/// Checks whether the timestamp `a` is older than `b`, modulo 2^32.
pub(super) fn is_before(a: u32, b: u32) -> bool {
    a.wrapping_sub(b) > u32::MAX / 2
}
