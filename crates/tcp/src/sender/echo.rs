//! The round trip by the timestamp that an ACK echoes (RFC 7323 section 4). An ACK of something that was sent again measures
//! none by when its segments left (Karn's algorithm), but the timestamp tells which transmission is answered.

use firstflight::{Avoidance, Span, Startup, Time};

use super::Sender;
use super::interface::AckInput;
use crate::clock::{self, TICK};

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// The round trip by the timestamp that an ACK echoes. The `newest` of the packets that the ACK delivers left then.
    pub(super) fn echoed(&self, now: Time, input: &AckInput<'_>, newest: Option<Time>) -> Option<Span> {
        let (echo, newest) = (echo_of(input)?, newest?);
        // What is answered with a report of a duplicate is that duplicate; the answers to all else may have been lost in an
        // outage since.
        let answered = |end: u64| input.dsack.is_none_or(|(low, high)| low < end && end <= high);
        let answered = self.lists.arrivals.iter().filter(|arrival| answered(arrival.end));
        let times = answered.map(|arrival| arrival.delivered.sent_at);
        if let Some(sent_at) = times.filter(|sent_at| clock::stamp(*sent_at) == echo).max() {
            // One that is answered faster than any round trip left in the same tick as its original.
            return Some(now.since(sent_at)).filter(|rtt| self.rtt.min().is_none_or(|min| *rtt >= min));
        }
        // One that came before all that was delivered in order is answered with the echo of that.
        if input.dsack.is_some() {
            return None;
        }
        // When an earlier transmission left is known to a tick: at its beginning, so that no round trip is too short.
        let since = Span::from_nanos(now.nanos() % TICK.nanos()) + TICK * u64::from(age(now, echo));
        (is_before(echo, clock::stamp(newest)) && since <= now.since(Time::ZERO)).then_some(since)
    }
}

/// Whether what an ACK echoes left before `sent_at`, by more than the tick that both may share.
pub(super) fn echoes_earlier(input: &AckInput<'_>, sent_at: Time) -> bool {
    echo_of(input).is_some_and(|echo| is_before(echo, clock::stamp(sent_at)))
}

/// What is echoed, if the peer echoes anything.
pub(super) fn echo_of(input: &AckInput<'_>) -> Option<u32> {
    input.echo.filter(|echo| *echo != 0)
}

/// Ticks since a timestamp of ours.
pub(super) fn age(now: Time, echo: u32) -> u32 {
    clock::stamp(now).wrapping_sub(echo)
}

/// Whether timestamp `a` is older than `b`, modulo 2^32.
pub(super) fn is_before(a: u32, b: u32) -> bool {
    a.wrapping_sub(b) > u32::MAX / 2
}
