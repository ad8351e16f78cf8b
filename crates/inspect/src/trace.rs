//! What of a sender is drawn, if it is to be drawn.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::series::Series;

/// The time series of one sender. Times are nanoseconds of the capture's clock; places are payload bytes from the
/// first, and may lie below zero, at zero, where the beginning is not in the capture. A series has its first 16,384 points, and of
/// those behind them what draws the same picture.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Packets with payload: when, first byte, bytes, whether sent again.
    pub sends: Vec<(u64, u64, u64, bool)>,
    /// Cumulative acknowledgements.
    pub acks: Vec<(u64, u64)>,
    /// Bytes in flight after every change.
    pub flight: Vec<(u64, u64)>,
    /// The receiver's window in bytes whenever it changed.
    pub window: Vec<(u64, u64)>,
    /// Round-trip samples: when, nanoseconds.
    pub rtts: Vec<(u64, u64)>,
    /// Retransmissions' episodes: from, until when if they ended. Of very many, those closer than can be seen are one.
    pub recoveries: Vec<(u64, Option<u64>)>,
    /// Instants worth a mark: when, what kind ([`Trace::KINDS`]), in words. Of very many, those closer than can be seen are one.
    pub marks: Vec<(u64, &'static str, String)>,
}

impl Trace {
    /// Data again after an idle time.
    pub(crate) const RESTART: &'static str = "restart";
    /// Data again after a silence.
    pub(crate) const TIMEOUT: &'static str = "timeout";
    /// The kinds of marks that there are.
    pub const KINDS: [&'static str; 2] = [Self::RESTART, Self::TIMEOUT];
}

/// Episodes and marks of each kind kept while a capture is read.
const MOST: usize = 4_096;

/// A trace being made, in bounded space.
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

/// The kind of a mark, by its name.
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
    /// An instant worth a mark.
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

    /// A repair begins.
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

    /// The repair ends.
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

/// From the first to the last.
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
