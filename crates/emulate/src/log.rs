//! A log of every packet at both ends: pcapng, written by a thread of its own so that no disk delays a packet.
//!
//! The log has a tap at each host. A packet stands in it at its sender's tap as it enters the path, before any queue, and at
//! its receiver's tap as it is delivered, behind all queues. A packet that the path dropped stands at its sender's tap only, with
//! a comment that says what dropped it.

mod writer;

use std::fs::File;
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};

use firstflight::Time;
use firstflight_sim::DropCause;

use crate::addresses::Side;
use crate::relay::Observer;
pub use writer::Writer;

/// Hands packets to the thread that writes the log.
#[derive(Debug)]
pub struct Log {
    batch: Vec<Record>,
    /// When the first record of the batch came.
    since: Time,
    to: SyncSender<Vec<Record>>,
    writer: JoinHandle<io::Result<()>>,
    /// Records that the disk was too slow for.
    missed: u64,
}

/// What is to be logged.
#[derive(Debug)]
enum Record {
    Entered {
        number: u64,
        from: Side,
        at: Time,
        bytes: Box<[u8]>,
    },
    Left {
        to: Side,
        number: u64,
        at: Time,
        bytes: Box<[u8]>,
        marked: bool,
    },
    Dropped {
        number: u64,
        at: Time,
        cause: Option<DropCause>,
    },
    /// Records are missing.
    Gap,
}

/// Records handed over at once.
const BATCH: usize = 256;
/// Batches that may wait for the disk: some hundred megabytes of packets.
const WAITING: usize = 512;
/// How long a record waits for its batch to fill, in nanoseconds.
const PATIENCE: u64 = 50_000_000;

impl Log {
    /// Begins a log in `file`. `epoch` is the time zero of the run, in nanoseconds since 1970.
    ///
    /// # Errors
    /// When the headers cannot be written, or there is no thread to be had.
    pub fn new(file: File, epoch: u64) -> io::Result<Self> {
        let writer = Writer::new(file, epoch)?;
        let (to, from) = sync_channel(WAITING);
        let writer = thread::Builder::new().name("log".to_owned()).spawn(move || write(writer, &from))?;
        Ok(Self { batch: Vec::with_capacity(BATCH), since: Time::ZERO, to, writer, missed: 0 })
    }

    /// Ends the log. Returns how many records it lacks because the disk was too slow.
    ///
    /// # Errors
    /// When the log could not be written.
    pub fn finish(mut self) -> io::Result<u64> {
        // The run is over: the disk may take its time. A writer that has failed says why below.
        let _ = self.to.send(std::mem::take(&mut self.batch));
        drop(self.to);
        self.writer.join().map_err(|_| io::Error::other("the thread of the log panicked"))??;
        Ok(self.missed)
    }

    fn record(&mut self, at: Time, record: Record) {
        if self.batch.is_empty() {
            self.since = at;
        }
        self.batch.push(record);
        if self.batch.len() >= BATCH || at.nanos_since(self.since) >= PATIENCE {
            let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
            match self.to.try_send(batch) {
                Ok(()) | Err(TrySendError::Disconnected(_)) => {}
                Err(TrySendError::Full(batch)) => {
                    let records = batch.iter().filter(|record| !matches!(record, Record::Gap));
                    self.missed += records.count() as u64;
                    self.batch.push(Record::Gap);
                }
            }
        }
    }
}

impl Observer for Log {
    fn entered(&mut self, number: u64, from: Side, at: Time, bytes: &[u8]) {
        self.record(at, Record::Entered { number, from, at, bytes: bytes.into() });
    }

    fn left(&mut self, number: u64, to: Side, at: Time, bytes: &[u8], marked: bool) {
        self.record(at, Record::Left { to, number, at, bytes: bytes.into(), marked });
    }

    fn dropped(&mut self, number: u64, at: Time, cause: Option<DropCause>) {
        self.record(at, Record::Dropped { number, at, cause });
    }
}

/// Writes records until there are no more.
fn write(mut writer: Writer<File>, from: &Receiver<Vec<Record>>) -> io::Result<()> {
    while let Ok(batch) = from.recv() {
        for record in batch {
            match record {
                Record::Entered { number, from, at, bytes } => writer.entered(number, from, at, bytes),
                Record::Left { to, at, bytes, marked, number } => writer.left(number, to, at, bytes, marked),
                Record::Dropped { number, at, cause } => writer.dropped(number, at, cause),
                Record::Gap => writer.gap(),
            }?;
        }
    }
    writer.finish().map(drop)
}

#[cfg(test)]
mod tests;
