//! Time series of a sender, for plots.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::series::Series;

/// The time series of one sender. Times are in nanoseconds of the capture's clock. Positions are payload bytes counted from the first one.
/// If the capture lacks the beginning of the stream, positions below zero are shown as zero. A series has its first 16,384 points, and a
/// selection of later points that draws the same picture.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Packets with payload: time, position of the first byte, number of bytes, and whether it is a retransmission.
    pub sends: Vec<(u64, u64, u64, bool)>,
    /// Cumulative acknowledgements: time, and acknowledged position.
    pub acks: Vec<(u64, u64)>,
    /// Bytes in flight after every change: time, and bytes.
    pub flight: Vec<(u64, u64)>,
    /// The receiver's window after every change: time, and bytes.
    pub window: Vec<(u64, u64)>,
    /// RTT samples: time, and RTT in nanoseconds.
    pub rtts: Vec<(u64, u64)>,
    /// Recoveries: beginning and, if it ended, end. If there are very many, recoveries too close to be distinguished in a plot are merged.
    pub recoveries: Vec<(u64, Option<u64>)>,
    /// Instants that are marked in plots: time, kind (one of [`Trace::KINDS`]) and text. If there are very many, marks too close to be
    /// distinguished are merged.
    pub marks: Vec<(u64, &'static str, String)>,
}

impl Trace {
    /// Kind of a mark: data after an idle time.
    pub(crate) const RESTART: &'static str = "restart";
    /// Kind of a mark: a retransmission after a silence.
    pub(crate) const TIMEOUT: &'static str = "timeout";
    /// The kinds of marks.
    pub const KINDS: [&'static str; 2] = [Self::RESTART, Self::TIMEOUT];
}

/// Maximum number of recoveries, and of marks of each kind, kept while a capture is read.
const MOST: usize = 4_096;

/// A trace while it is recorded, in bounded space.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Tracing {
    pub(crate) sends: Series<(u64, u64, u64, bool)>,
    pub(crate) acks: Series<(u64, u64)>,
    pub(crate) flight: Series<(u64, u64)>,
    pub(crate) window: Series<(u64, u64)>,
    pub(crate) rtts: Series<(u64, u64)>,
    recoveries: Vec<(u64, Option<u64>)>,
    marks: Vec<(u64, Kind, String)>,
}

/// The kind of a mark. It is serialized as its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Kind(&'static str);

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.0 == Trace::TIMEOUT).serialize(serializer)
    }
}

impl<'a> Deserialize<'a> for Kind {
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<Self, D::Error> {
        let is_timeout = bool::deserialize(deserializer)?;
        Ok(Self(if is_timeout { Trace::TIMEOUT } else { Trace::RESTART }))
    }
}

impl Tracing {
    /// Adds an instant that is marked in plots.
    pub(crate) fn mark(&mut self, at: u64, kind: &'static str, text: String) {
        self.marks.push((at, Kind(kind), text));
        let mut apart = span(&self.marks, |mark| mark.0) / MOST as u64;
        while self.marks.len() > MOST {
            apart = apart.saturating_mul(2).max(1);
            self.marks.dedup_by(|next, last| next.1 == last.1 && next.0.saturating_sub(last.0) < apart);
            if apart == u64::MAX {
                self.marks.truncate(MOST);
            }
        }
    }

    /// Records that a recovery begins.
    pub(crate) fn begin_recovery(&mut self, at: u64) {
        let mut apart = span(&self.recoveries, |episode| episode.0) / MOST as u64;
        while self.recoveries.len() >= MOST {
            apart = apart.saturating_mul(2).max(1);
            self.recoveries.dedup_by(|next, last| {
                let is_close = last.1.is_some_and(|end| next.0.saturating_sub(end) < apart);
                if is_close {
                    last.1 = next.1;
                }
                is_close
            });
            if apart == u64::MAX {
                self.recoveries.truncate(MOST - 1);
            }
        }
        self.recoveries.push((at, None));
    }

    /// Records that the recovery ends.
    pub(crate) fn end_recovery(&mut self, at: u64) {
        if let Some((_, end @ None)) = self.recoveries.last_mut() {
            *end = Some(at);
        }
    }

    pub(crate) fn into_trace(self) -> Trace {
        Trace {
            sends: self.sends.into_points(),
            acks: self.acks.into_points(),
            flight: self.flight.into_points(),
            window: self.window.into_points(),
            rtts: self.rtts.into_points(),
            recoveries: self.recoveries,
            marks: self.marks.into_iter().map(|(at, kind, text)| (at, kind.0, text)).collect(),
        }
    }
}

/// Returns the time from the first element to the last; 0 for an empty list.
fn span<T>(list: &[T], at: impl Fn(&T) -> u64) -> u64 {
    let (Some(one), Some(other)) = (list.first(), list.last()) else { return 0 };
    at(other).saturating_sub(at(one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_repairs_without_end_are_thinned_to_some_thousands() {
        let mut tracing = Tracing::default();
        for at in 0..100_000_u64 {
            tracing.mark(at * 1_000, Trace::RESTART, String::new());
            tracing.begin_recovery(at * 1_000);
            tracing.end_recovery(at * 1_000 + 500);
        }
        let trace = tracing.into_trace();
        assert!((1_000..=MOST).contains(&trace.marks.len()), "{}", trace.marks.len());
        assert!((1_000..=MOST).contains(&trace.recoveries.len()), "{}", trace.recoveries.len());
        assert_eq!(trace.recoveries.last(), Some(&(99_999_000, Some(99_999_500))));
    }
}
