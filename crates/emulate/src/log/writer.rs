//! The log as pcapng. A packet's record at its sender's tap waits until it is known what became of the packet, so that the
//! record can say so and stands in order of time.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write};

use firstflight::Time;
use firstflight_sim::DropCause;
use firstflight_wire::{Direction, Passed, RawCapture, Tap};

use crate::addresses::Side;

/// Writes a log.
pub struct Writer<W: Write> {
    capture: RawCapture<W>,
    /// The time zero of the run, in nanoseconds since 1970.
    epoch: u64,
    /// Records that are not written yet, in order of time.
    waiting: VecDeque<Waiting>,
    /// How many records were written before the first of them.
    written: u64,
    /// By number of the packet: the place of its record among all records, if its fate is not known.
    undecided: BTreeMap<u64, u64>,
}

struct Waiting {
    tap: Side,
    direction: Direction,
    at: Time,
    bytes: Box<[u8]>,
    comment: String,
    is_decided: bool,
}

pub(super) const TAPS: &[Tap<'static>] = &[
    Tap { name: "A", description: "host A, 10.0.0.1", snap_length: None },
    Tap { name: "B", description: "host B, 10.0.0.2", snap_length: None },
];

impl<W: Write> Writer<W> {
    /// Begins a log on `out`. `epoch` is the time zero of the run, in nanoseconds since 1970.
    ///
    /// # Errors
    /// When the headers cannot be written.
    pub fn new(out: W, epoch: u64) -> io::Result<Self> {
        Ok(Self {
            capture: RawCapture::new(out, TAPS)?,
            epoch,
            waiting: VecDeque::new(),
            written: 0,
            undecided: BTreeMap::new(),
        })
    }

    /// A packet of host `from` entered the path.
    ///
    /// # Errors
    /// When the log cannot be written.
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

    /// The packet was delivered to host `to`, as `bytes`.
    ///
    /// # Errors
    /// When the log cannot be written.
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

    /// The packet was dropped; without a cause, the host did not take it.
    ///
    /// # Errors
    /// When the log cannot be written.
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

    /// Records are missing: of a packet on the path, nothing more may come.
    ///
    /// # Errors
    /// When the log cannot be written.
    pub fn gap(&mut self) -> io::Result<()> {
        self.decide_all("unknown, since the disk was too slow for the log")
    }

    /// Ends the log. Packets whose fate is not known are told to have been on the path.
    ///
    /// # Errors
    /// When the log cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.decide_all("on the path when the run ended")?;
        self.capture.finish()
    }

    /// Nothing more will be known of the packets whose fate is not known.
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

    /// Writes the records before the first one that is undecided.
    fn write(&mut self) -> io::Result<()> {
        while let Some(first) = self.waiting.pop_front_if(|first| first.is_decided) {
            self.written += 1;
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
