//! States of flows over time, with a row for each change of a flow's state.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use firstflight::{Bytes, Time};
use firstflight_measure::Tap;
use firstflight_measure::arithmetic::seconds;
use firstflight_tcp::{Role, Segment, Snapshot, Transmit};

use super::run::{NONE, Named, known};
use super::spool::Spool;
use super::table::Cells;
use crate::columns::{Column, real, text, whole};

/// The columns of a table of states.
pub const SERIES_COLUMNS: &[Column] = &[
    real("time_s", "s", "When, since the beginning of the run."),
    text("scheme", "The name of the row: the label, or the scheme with its parameters."),
    text(
        "population",
        "Which flows the flow ran with, as in the rows of populations: only, mixed, scripted, or with and a scheme. Null in a race.",
    ),
    whole("seed", "", "The seed of the run."),
    whole(
        "flow",
        "",
        "The number of the flow in order of arrival, from zero. In a race zero is the measured flow; with rounds it is the number of the \
         client.",
    ),
    whole("cwnd_bytes", "bytes", "The window in force."),
    whole("ssthresh_bytes", "bytes", "The slow-start threshold. Null if it is arbitrarily high."),
    whole("flight_bytes", "bytes", "Payload sent and not acknowledged in order (RFC 5681)."),
    whole(
        "pipe_bytes",
        "bytes",
        "The sender's estimate of payload in the network: sent, less delivered, less lost, plus retransmitted (RFC 6675).",
    ),
    real("rtt_s", "s", "The newest round-trip sample. Null before the first."),
    whole("queue_packets", "packets", "The queue at the flow's bottleneck; of several, the longest queue."),
    whole("delivered_bytes", "bytes", "Payload that the receiver has in order."),
];

/// The number of values of a row.
pub(super) const NUMBERS: usize = 10;

/// One row of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Row {
    at: u64,
    scheme: u64,
    flow: u64,
    cwnd: u64,
    ssthresh: u64,
    flight: u64,
    pipe: u64,
    rtt: u64,
    queue: u64,
    delivered: u64,
}

impl Row {
    fn numbers(&self) -> [u64; NUMBERS] {
        let Self { at, scheme, flow, cwnd, ssthresh, flight, pipe, rtt, queue, delivered } = *self;
        [at, scheme, flow, cwnd, ssthresh, flight, pipe, rtt, queue, delivered]
    }

    /// Creates a row from its values; `None` if there are too few or too many.
    fn of(numbers: &[u64]) -> Option<Self> {
        let [at, scheme, flow, cwnd, ssthresh, flight, pipe, rtt, queue, delivered] = *numbers else {
            return None;
        };
        Some(Self { at, scheme, flow, cwnd, ssthresh, flight, pipe, rtt, queue, delivered })
    }
}

/// The observer of one flow.
pub(super) struct StateTap {
    spool: Arc<Mutex<Spool>>,
    /// The next row. Some of its values are not known yet.
    row: Row,
    last: Option<Row>,
    failed: Option<io::Error>,
}

impl StateTap {
    /// Creates the observer of a flow. `scheme` is the index of the scheme's name.
    pub(super) fn new(spool: Arc<Mutex<Spool>>, scheme: usize, flow: u32) -> Self {
        let row = Row { scheme: scheme as u64, flow: flow.into(), ..Row::default() };
        Self { spool, row, last: None, failed: None }
    }
}

impl Tap for StateTap {
    fn sent(&mut self, _: Time, _: Role, _: &Transmit, _: u64) {}

    fn arrived(&mut self, _: Time, _: Role, _: &Segment, _: u64) {}

    fn event(&mut self, _: Time, _: Role, _: &firstflight_tcp::EndpointEvent) {}

    fn wants_state(&self) -> bool {
        true
    }

    fn surroundings(&mut self, (at, delivered): (Time, u64), queue: u32) {
        self.row.at = at.nanos();
        self.row.delivered = delivered;
        self.row.queue = queue.into();
    }

    fn state(&mut self, at: Time, snapshot: &Snapshot) {
        let row = Row {
            at: 0,
            cwnd: snapshot.cwnd.get(),
            ssthresh: snapshot.ssthresh.map_or(NONE, Bytes::get),
            flight: snapshot.nxt.saturating_sub(snapshot.una),
            pipe: snapshot.in_flight.get(),
            rtt: snapshot.latest_rtt.map_or(NONE, firstflight::Span::nanos),
            ..self.row
        };
        if self.last == Some(row) || self.failed.is_some() {
            return;
        }
        self.last = Some(row);
        let mut spool = self.spool.lock().unwrap_or_else(PoisonError::into_inner);
        self.failed = spool.add(&Row { at: at.nanos(), ..row }.numbers()).err();
    }

    fn finish(&mut self) -> io::Result<()> {
        // The last row has the data that was delivered since the previous row. Its ACK did not arrive before the end of the run.
        if let Some(last) =
            self.last.filter(|last| last.delivered < self.row.delivered && self.failed.is_none())
        {
            let row = Row { at: self.row.at, delivered: self.row.delivered, ..last };
            self.failed = self.spool.lock().unwrap_or_else(PoisonError::into_inner).add(&row.numbers()).err();
        }
        self.failed.take().map_or(Ok(()), Err)
    }
}

/// Returns the cells of these rows, by column.
pub(super) fn cells(named: &Named<'_>, numbers: &[u64]) -> Vec<Cells> {
    let rows: Vec<Row> = numbers.chunks_exact(NUMBERS).filter_map(Row::of).collect();
    let whole = |of: fn(&Row) -> u64| Cells::Whole(rows.iter().map(|row| known(of(row))).collect());
    let schemes: Vec<u64> = rows.iter().map(|row| row.scheme).collect();
    let [scheme, population, seed] = named.cells(&schemes);
    vec![
        Cells::Real(rows.iter().map(|row| Some(seconds(row.at))).collect()),
        scheme,
        population,
        seed,
        whole(|row| row.flow),
        whole(|row| row.cwnd),
        whole(|row| row.ssthresh),
        whole(|row| row.flight),
        whole(|row| row.pipe),
        Cells::Real(rows.iter().map(|row| known(row.rtt).map(seconds)).collect()),
        whole(|row| row.queue),
        whole(|row| row.delivered),
    ]
}
