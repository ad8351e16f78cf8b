//! A log of every packet at both ends in pcapng format. A separate thread writes it, so that the disk cannot delay packets.
//!
//! The log has two interfaces, one at each host. A packet is in the log at the sender when it enters the path, before any queue, and at the
//! receiver when it is delivered, after all queues. A packet that the path dropped is in the log only at the sender, with a comment that
//! names the cause.

mod writer;

use std::fs::File;
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};

use firstflight::Time;
use firstflight_sim::DropCause;

use crate::addresses::Side;
use crate::relay::Observer;
pub use writer::{Lacks, Writer};

/// Passes packets to the thread that writes the log.
#[derive(Debug)]
pub struct Log {
    batch: Vec<Record>,
    /// The time of the first record of the batch.
    since: Time,
    to: SyncSender<Vec<Record>>,
    writer: JoinHandle<io::Result<Writer<File>>>,
    /// The number of records that were lost because the disk was too slow.
    missed: u64,
}

/// A record of the log.
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
    /// Shows that records are missing.
    Gap,
}

/// The number of records that are passed to the writer at once.
const BATCH: usize = 256;
/// The maximum number of batches that wait for the disk. They hold some hundred megabytes of packets.
const WAITING: usize = 512;
/// The maximum time in nanoseconds for which a record waits for its batch to fill.
const PATIENCE: u64 = 50_000_000;

impl Log {
    /// Starts a log in `file`. `epoch` is the time of the run's start, in nanoseconds since 1970.
    ///
    /// # Errors
    /// The headers cannot be written, or no thread can be started.
    pub fn new(file: File, epoch: u64) -> io::Result<Self> {
        let writer = Writer::new(file, epoch)?;
        let (to, from) = sync_channel(WAITING);
        let writer = thread::Builder::new().name("log".to_owned()).spawn(move || write(writer, &from))?;
        Ok(Self { batch: Vec::with_capacity(BATCH), since: Time::ZERO, to, writer, missed: 0 })
    }

    /// Ends the log. `is_interrupted` is whether an interrupt ended the run, which the log records. Returns the number of records that the
    /// log lacks because the disk was too slow.
    ///
    /// # Errors
    /// The log could not be written.
    pub fn finish(mut self, is_interrupted: bool) -> io::Result<u64> {
        // The run is over, so a wait for the disk delays no packet. If the writer has failed, the reason is returned below.
        let _ = self.to.send(std::mem::take(&mut self.batch));
        drop(self.to);
        let panicked = |_| io::Error::other("the thread of the log panicked");
        let writer = self.writer.join().map_err(panicked)??;
        writer.finish(Lacks { missed: self.missed, is_interrupted })?;
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
fn write(mut writer: Writer<File>, from: &Receiver<Vec<Record>>) -> io::Result<Writer<File>> {
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
    Ok(writer)
}

#[cfg(test)]
mod tests;
