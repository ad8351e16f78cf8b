//! Constant-rate sources whose datagrams come to a link and end at its far end: the link lets them in when it looks, and no
//! packet is made of them.

use std::collections::VecDeque;

use firstflight::Time;

use crate::packet::{DropCause, Packet};
use crate::source::Cbr;
use crate::stats::FlowStats;

/// A datagram that was dropped as it came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DroppedDatagram {
    pub(crate) at: Time,
    pub(crate) packet: Packet,
    pub(crate) cause: DropCause,
}

/// When a datagram comes that does not.
pub(super) const NEVER: Time = Time::MAX;

/// How many datagrams of a source may come before the link looks at them, however much room it has.
pub(super) const FAR: u64 = 2_048;

/// Constant-rate sources whose datagrams come to a link and end at its far end.
#[derive(Clone, Debug, Default)]
pub(super) struct Sources {
    pub(super) list: Vec<Cbr>,
    /// Datagrams that were let in.
    pub(super) let_in: u64,
    /// The datagrams before this instant find room, as long as no more other packets than `room` were ever let in or are
    /// expected.
    pub(super) doubt: Option<Time>,
    pub(super) room: u64,
    /// Datagrams on the link that came in a row, in their order.
    pub(super) rows: VecDeque<Row>,
}

/// Datagrams that are on a link, or were: those of a source as it is heard at the far end.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) source: Cbr,
    /// How many have not been counted at their sink.
    pub(super) left: u64,
}

impl Sources {
    /// Whether there are any.
    #[cfg(test)]
    pub(super) fn are_there(&self) -> bool {
        !self.list.is_empty()
    }

    /// When the next of their datagrams comes, if one does.
    #[inline]
    pub(super) fn next(&self) -> Time {
        let next = match &*self.list {
            [source] => source.next(),
            list => list.iter().filter_map(Cbr::next).min(),
        };
        next.unwrap_or(NEVER)
    }

    /// Whether none is on the link of those that came in a row.
    pub(super) fn have_sunk(&self) -> bool {
        self.rows.is_empty()
    }

    /// Counts what of the rows has reached its sink by `now`.
    pub(super) fn sink_rows(&mut self, now: Time, flows: &mut [FlowStats]) {
        while let Some(row) = self.rows.front_mut()
            && let Some((arrived, _)) = row.source.advance_through(now)
        {
            let arrived = arrived.min(row.left);
            flows[row.source.flow().index()].delivered_bytes += arrived * u64::from(row.source.wire());
            row.left -= arrived;
            if row.left > 0 {
                break;
            }
            self.rows.pop_front();
        }
    }

    /// When the next datagram but `count` comes, or one before it.
    pub(super) fn after(&self, count: u64) -> Option<Time> {
        let each = count / self.list.len().max(1) as u64;
        self.list.iter().filter_map(|source| source.after(each)).min()
    }
}
