//! The rate at which data arrives at the receiver.

use crate::interface::{Ack, Path};
use crate::units::{Bytes, Rate, Span, Time};

/// The newest delivery rate and the mean rate of the last whole round trip, in IP bits per second.
///
/// The newest sample alone is too low behind a policer: it drops most packets at some instants, and few over a round trip.
#[derive(Clone, Debug, Default)]
pub(super) struct Delivery {
    newest: Option<Rate>,
    of_round: Option<Rate>,
    /// When the present round trip began, and [`Path::delivered`] then.
    began: Option<(Time, Bytes)>,
}

impl Delivery {
    /// Records an ACK.
    pub(super) fn acked(&mut self, ack: &Ack<'_>, path: &Path) {
        let wire = |payload: Rate| payload.scale(path.wire.get(), path.mss.get());
        if let Some(rate) = ack.delivery_rate {
            self.newest = Some(wire(rate));
        }
        let (began, before) = *self.began.get_or_insert((path.now, path.delivered));
        let elapsed = path.now.since(began);
        if elapsed >= path.min_rtt.unwrap_or(Span::MAX) {
            self.of_round = (path.delivered - before).per(elapsed).map(wire);
            self.began = Some((path.now, path.delivered));
        }
    }

    /// Returns the greater of the two rates; `None` before the first sample.
    pub(super) fn rate(&self) -> Option<Rate> {
        self.newest.max(self.of_round)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_newest_sample_does_not_hide_the_rate_of_the_round_trip() {
        const MSS: Bytes = Bytes::new(1000);
        let mut delivery = Delivery::default();
        for millis in 0..=40 {
            let path = Path {
                min_rtt: Some(Span::from_millis(40)),
                delivered: MSS * millis,
                ..Path::new(Time::ZERO + Span::from_millis(millis), MSS, MSS)
            };
            let ack = Ack { delivery_rate: Some(Rate::from_bps(1_000_000)), ..Ack::of_stream(&[]) };
            delivery.acked(&ack, &path);
        }
        assert_eq!(delivery.rate(), Some(Rate::from_bps(8_000_000)));
    }
}
