//! Rates in slots of time, with a row for each slot of each flow and of each link.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use firstflight::{Span, Time};
use firstflight_measure::Tap;
use firstflight_measure::arithmetic::seconds;
use firstflight_tcp::{EndpointEvent, Role, Segment, Transmit};

use super::run::{NONE, Named, known};
use super::spool::Spool;
use super::table::Cells;
use crate::columns::{Column, real, text, whole};

/// The columns of a table of slots.
pub const SLOT_COLUMNS: &[Column] = &[
    real("time_s", "s", "When the slot begins, since the beginning of the run."),
    text("scheme", "As in the other series; of a link null where flows of several schemes run together."),
    text("population", "As in the other series."),
    whole("seed", "", "The seed of the run."),
    whole("flow", "", "The number of the flow, as in the other series. Null if the row is a link's."),
    text("link", "The link, by the name that `--links` has for it. Null if the row is a flow's."),
    real(
        "rate_bps",
        "bit/s",
        "Over the length of the slot: of a flow the payload that its receiver got in order; of a link what its transmitter sent, \
         headers and all traffic included.",
    ),
];

/// The number of values of a row: the start of its slot, its scheme, its flow, its link, and its bits.
pub(super) const NUMBERS: usize = 5;

/// The observer of one flow.
pub(super) struct SlotTap {
    spool: Arc<Mutex<Spool>>,
    scheme: u64,
    flow: u64,
    length: Span,
    /// The number of the slot of the newest event, and the payload bytes delivered in that slot so far; `None` before the SYN.
    slot: Option<(u64, u64)>,
    /// Payload bytes delivered in all slots.
    delivered: u64,
    failed: Option<io::Error>,
}

impl SlotTap {
    /// Creates the observer of a flow. `scheme` is the index of the scheme's name.
    pub(super) fn new(spool: Arc<Mutex<Spool>>, length: Span, scheme: usize, flow: u32) -> Self {
        let (scheme, flow) = (scheme as u64, flow.into());
        Self { spool, scheme, flow, length, slot: None, delivered: 0, failed: None }
    }

    /// Writes the slots that have ended by `at`.
    fn until(&mut self, at: Time) {
        let now = at.nanos() / self.length.nanos().max(1);
        let Some((from, bytes)) = self.slot else {
            self.slot = Some((now, 0));
            return;
        };
        if from >= now {
            return;
        }
        self.write(from, bytes);
        (from + 1..now).for_each(|silent| self.write(silent, 0));
        self.slot = Some((now, 0));
    }

    fn write(&mut self, slot: u64, bytes: u64) {
        if self.failed.is_none() {
            let row = [slot * self.length.nanos(), self.scheme, self.flow, NONE, bytes * 8];
            self.failed = self.spool.lock().unwrap_or_else(PoisonError::into_inner).add(&row).err();
        }
    }
}

impl Tap for SlotTap {
    fn sent(&mut self, at: Time, _: Role, _: &Transmit, _: u64) {
        self.until(at);
    }

    fn arrived(&mut self, at: Time, _: Role, _: &Segment, _: u64) {
        self.until(at);
    }

    fn event(&mut self, _: Time, _: Role, _: &EndpointEvent) {}

    fn delivered(&mut self, at: Time, bytes: u64) {
        self.until(at);
        if let Some((_, in_slot)) = &mut self.slot {
            *in_slot += bytes.saturating_sub(self.delivered);
        }
        self.delivered = bytes;
    }

    fn finish(&mut self) -> io::Result<()> {
        if let Some((slot, bytes)) = self.slot.take() {
            self.write(slot, bytes);
        }
        self.failed.take().map_or(Ok(()), Err)
    }
}

/// Returns the row of one slot of a link.
pub(super) fn link_row(from: Time, scheme: Option<usize>, link: usize, bits: u64) -> [u64; NUMBERS] {
    [from.nanos(), scheme.map_or(NONE, |scheme| scheme as u64), NONE, link as u64, bits]
}

/// Returns the cells of these rows, by column. `length` is the length of a slot. Rows have the indices of links in `links`.
pub(super) fn cells(named: &Named<'_>, length: Span, links: &[String], numbers: &[u64]) -> Vec<Cells> {
    let rows: Vec<&[u64]> = numbers.chunks_exact(NUMBERS).collect();
    let schemes: Vec<u64> = rows.iter().map(|row| row[1]).collect();
    let [scheme, population, seed] = named.cells(&schemes);
    let link = |row: &&[u64]| usize::try_from(row[3]).ok().and_then(|place| links.get(place)).cloned();
    vec![
        Cells::Real(rows.iter().map(|row| Some(seconds(row[0]))).collect()),
        scheme,
        population,
        seed,
        Cells::Whole(rows.iter().map(|row| known(row[2])).collect()),
        Cells::Text(rows.iter().map(link).collect()),
        Cells::Real(rows.iter().map(|row| bps_of_bits(row[4], length)).collect()),
    ]
}

#[expect(clippy::cast_precision_loss, reason = "the nearest double is what is wanted")]
fn bps_of_bits(bits: u64, length: Span) -> Option<f64> {
    (!length.is_zero()).then(|| bits as f64 * 1e9 / length.nanos() as f64)
}
