//! Constant-rate sources whose datagrams enter and leave the network at one link. The link admits their datagrams when
//! it looks, without a packet for each.

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

/// How many datagrams of a source may arrive before the link looks, however much room it has.
pub(super) const FAR: u64 = 2_048;

/// The constant-rate sources of a link.
#[derive(Clone, Debug, Default)]
pub(super) struct Sources {
    pub(super) list: Vec<Cbr>,
    /// Datagrams admitted so far.
    pub(super) admitted: u64,
    /// Datagrams before `doubt` find room as long as no more than `room` other packets were ever admitted or announced.
    pub(super) doubt: Option<Time>,
    pub(super) room: u64,
    /// Rows of datagrams on the link, in order.
    pub(super) rows: VecDeque<Row>,
}

/// A row of datagrams on a link. Its source is shifted in time, to when the far end hears it.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) source: Cbr,
    /// How many datagrams are not counted at the sink yet.
    pub(super) left: u64,
}

impl Sources {
    /// Whether the link has sources.
    #[cfg(test)]
    pub(super) fn are_there(&self) -> bool {
        !self.list.is_empty()
    }

    /// When the next datagram arrives; [`NEVER`] if none does.
    #[inline]
    pub(super) fn next(&self) -> Time {
        let next = match &*self.list {
            [source] => source.next(),
            list => list.iter().filter_map(Cbr::next).min(),
        };
        next.unwrap_or(NEVER)
    }

    /// Whether no row is on the link.
    pub(super) fn have_sunk(&self) -> bool {
        self.rows.is_empty()
    }

    /// Counts the datagrams of rows that have reached the sink by `now`.
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

    /// When the datagram after the next `count` arrives, or one before it.
    pub(super) fn after(&self, count: u64) -> Option<Time> {
        let each = count / self.list.len().max(1) as u64;
        self.list.iter().filter_map(|source| source.after(each)).min()
    }
}
