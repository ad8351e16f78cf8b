//! Constant-rate sources whose datagrams enter and leave the network at one link. The link admits their datagrams
//! when it processes arrivals, without a packet for each.

use std::collections::VecDeque;

use firstflight::Time;

use crate::packet::{DropCause, Packet};
use crate::source::Cbr;
use crate::stats::FlowStats;

/// A datagram that was dropped on arrival.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DroppedDatagram {
    pub(crate) at: Time,
    pub(crate) packet: Packet,
    pub(crate) cause: DropCause,
}

/// The arrival of a datagram that never comes.
pub(super) const NEVER: Time = Time::MAX;

/// Maximum number of datagrams of a source that may arrive before the link processes them, however much room it has.
pub(super) const FAR: u64 = 2_048;

/// The constant-rate sources of a link.
#[derive(Clone, Debug, Default)]
pub(super) struct Sources {
    pub(super) list: Vec<Cbr>,
    /// Number of datagrams admitted so far.
    pub(super) admitted: u64,
    /// The arrival before which every datagram finds room, as long as at most `room` other packets were ever admitted
    /// or announced.
    pub(super) doubt: Option<Time>,
    pub(super) room: u64,
    /// Rows of consecutive datagrams on the link, in order.
    pub(super) rows: VecDeque<Row>,
}

/// A row of consecutive datagrams on a link. Its source is shifted in time to the arrival of datagrams at the far end.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) source: Cbr,
    /// Number of datagrams not counted at the sink yet.
    pub(super) left: u64,
}

impl Sources {
    /// Returns whether the link has sources.
    #[cfg(test)]
    pub(super) fn are_there(&self) -> bool {
        !self.list.is_empty()
    }

    /// Returns when the next datagram arrives; [`NEVER`] if none does.
    #[inline]
    pub(super) fn next(&self) -> Time {
        let next = match &*self.list {
            [source] => source.next(),
            list => list.iter().filter_map(Cbr::next).min(),
        };
        next.unwrap_or(NEVER)
    }

    /// Returns whether no row of datagrams is on the link.
    pub(super) fn have_sunk(&self) -> bool {
        self.rows.is_empty()
    }

    /// Counts the datagrams that have reached the sink by `now`.
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

    /// Returns when the datagram after the next `count` arrives, or an earlier datagram.
    pub(super) fn after(&self, count: u64) -> Option<Time> {
        let each = count / self.list.len().max(1) as u64;
        self.list.iter().filter_map(|source| source.after(each)).min()
    }
}
