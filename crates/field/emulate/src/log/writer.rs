//! Writes the packet log as pcapng. A packet's record at its sender is held back until the packet's fate is known. The record then contains
//! the fate, and records are in order of time.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write};

use firstflight::Time;
use firstflight_capture::{Direction, PacketWriter, Passed, Tap};
use firstflight_sim::DropCause;

use crate::addresses::Side;

/// Writes a packet log.
pub struct Writer<W: Write> {
    capture: PacketWriter<W>,
    /// The time of the run's start, in nanoseconds since 1970.
    epoch: u64,
    /// Records that are not written yet, in order of time.
    waiting: VecDeque<Waiting>,
    /// The number of records already written, which is the index of the first waiting record.
    written: u64,
    /// Packets whose fate is not known. The key is the packet number, and the value the index of the packet's record among all records.
    undecided: BTreeMap<u64, u64>,
    /// The time of the newest record.
    last: Time,
}

/// The gaps of a log.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Lacks {
    /// The number of records that were lost because the disk was too slow.
    pub missed: u64,
    /// Whether an interrupt ended the run.
    pub is_interrupted: bool,
}

struct Waiting {
    tap: Side,
    direction: Direction,
    at: Time,
    bytes: Box<[u8]>,
    comment: String,
    is_decided: bool,
}

/// The comment in the log of a run that an interrupt ended.
const INTERRUPTED: &str = "the run was interrupted: what would have come later is missing";

pub(super) const TAPS: &[Tap<'static>] = &[
    Tap { name: "A", description: "host A, 10.0.0.1", snap_length: None },
    Tap { name: "B", description: "host B, 10.0.0.2", snap_length: None },
];

impl<W: Write> Writer<W> {
    /// Starts a log on `out`. `epoch` is the time of the run's start, in nanoseconds since 1970.
    ///
    /// # Errors
    /// The headers cannot be written.
    pub fn new(out: W, epoch: u64) -> io::Result<Self> {
        Ok(Self {
            capture: PacketWriter::new(out, TAPS)?,
            epoch,
            waiting: VecDeque::new(),
            written: 0,
            undecided: BTreeMap::new(),
            last: Time::ZERO,
        })
    }

    /// Records that a packet of host `from` entered the path.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn entered(&mut self, number: u64, from: Side, at: Time, bytes: Box<[u8]>) -> io::Result<()> {
        self.undecided.insert(number, self.written + self.waiting.len() as u64);
        self.waiting.push_back(Waiting {
            tap: from,
            direction: Direction::Outbound,
            at,
            bytes,
            comment: String::new(),
            is_decided: false,
        });
        Ok(())
    }

    /// Records that the packet was delivered to host `to` with these bytes.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn left(
        &mut self,
        number: u64,
        to: Side,
        at: Time,
        bytes: Box<[u8]>,
        marked: bool,
    ) -> io::Result<()> {
        self.waiting.push_back(Waiting {
            tap: to,
            direction: Direction::Inbound,
            at,
            bytes,
            comment: if marked { "marked by the queue".to_owned() } else { String::new() },
            is_decided: true,
        });
        self.decide(number, |_| String::new())
    }

    /// Records that the packet was dropped. A `cause` of `None` means that the host rejected it.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn dropped(&mut self, number: u64, at: Time, cause: Option<DropCause>) -> io::Result<()> {
        self.decide(number, |entered| {
            let what = match cause {
                Some(DropCause::Queue) => "dropped by the queue",
                Some(DropCause::Policer) => "dropped by the policer",
                Some(DropCause::Random) => "lost at random",
                None => "not taken by the host",
            };
            let after = at.nanos_since(entered);
            format!("{what} after {}.{:06} ms", after / 1_000_000, after % 1_000_000)
        })
    }

    /// Marks the fates of all packets on the path as unknown, because records are missing.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn gap(&mut self) -> io::Result<()> {
        self.decide_all("unknown, since the disk was too slow for the log")
    }

    /// Ends the log. Packets whose fate is not known are marked as on the path. If the log lacks something, the statistics of both
    /// interfaces describe it.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn finish(mut self, lacks: Lacks) -> io::Result<W> {
        self.decide_all("on the path when the run ended")?;
        if lacks != Lacks::default() {
            let comment =
                if lacks.is_interrupted { INTERRUPTED } else { "the disk was too slow for the log" };
            for tap in [Side::A, Side::B] {
                // A missing record belongs to an unknown interface, so the first interface gets the whole number.
                let missed = if tap == Side::A { lacks.missed } else { 0 };
                self.capture.statistics(tap as u32, self.epoch + self.last.nanos(), missed, comment)?;
            }
        }
        self.capture.finish()
    }

    /// Writes all packets whose fate is not known, with this comment instead of a fate.
    fn decide_all(&mut self, comment: &str) -> io::Result<()> {
        self.undecided.clear();
        for waiting in self.waiting.iter_mut().filter(|waiting| !waiting.is_decided) {
            waiting.is_decided = true;
            comment.clone_into(&mut waiting.comment);
        }
        self.write()
    }

    fn decide(&mut self, number: u64, comment: impl FnOnce(Time) -> String) -> io::Result<()> {
        let place =
            self.undecided.remove(&number).and_then(|place| usize::try_from(place - self.written).ok());
        if let Some(waiting) = place.and_then(|place| self.waiting.get_mut(place)) {
            waiting.comment = comment(waiting.at);
            waiting.is_decided = true;
        }
        self.write()
    }

    /// Writes the records that precede the first record without a known fate.
    fn write(&mut self) -> io::Result<()> {
        while let Some(first) = self.waiting.pop_front_if(|first| first.is_decided) {
            self.written += 1;
            self.last = first.at;
            self.capture.packet(&Passed {
                tap: first.tap as u32,
                at: self.epoch + first.at.nanos(),
                direction: first.direction,
                bytes: &first.bytes,
                comment: &first.comment,
            })?;
        }
        Ok(())
    }
}
