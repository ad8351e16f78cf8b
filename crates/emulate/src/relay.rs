//! Moves packets between two devices over a path, whatever the devices and the clock are.

use std::io;

use firstflight::Time;
use firstflight_sim::{Arriving, DropCause, FlowKey, Outcome};
use firstflight_wire::{Passing, mark, read_passing, write_quick_start};

use crate::addresses::Side;
use crate::lateness::Lateness;
use crate::path::Path;
use crate::report::{Counts, Report};
use crate::way::Way;

/// Where a host's packets come from and go to.
pub trait Device {
    /// Reads the next packet of the host into `into`; returns its length, or `None` if there is none yet. Does not block.
    ///
    /// # Errors
    /// When the device is gone.
    fn read(&mut self, into: &mut [u8]) -> io::Result<Option<usize>>;

    /// Delivers a packet to the host; returns whether the host took it. Does not block.
    ///
    /// # Errors
    /// When the device is gone.
    fn write(&mut self, packet: &[u8]) -> io::Result<bool>;
}

/// A clock that does not go back. Its zero is the start of the run.
pub trait Clock {
    /// The time.
    fn now(&self) -> Time;
}

/// Hears of every packet at both ends.
pub trait Observer {
    /// A packet of host `from` entered the path. Packets are numbered in order of entry, from zero.
    fn entered(&mut self, number: u64, from: Side, at: Time, bytes: &[u8]);
    /// A packet was delivered to host `to`, as `bytes`.
    fn left(&mut self, number: u64, to: Side, at: Time, bytes: &[u8], marked: bool);
    /// A packet was dropped; `None` if the path delivered it and the host did not take it.
    fn dropped(&mut self, number: u64, at: Time, cause: Option<DropCause>);
}

/// Nobody hears.
impl Observer for () {
    fn entered(&mut self, _: u64, _: Side, _: Time, _: &[u8]) {}
    fn left(&mut self, _: u64, _: Side, _: Time, _: &[u8], _: bool) {}
    fn dropped(&mut self, _: u64, _: Time, _: Option<DropCause>) {}
}

/// The observer hears if there is one.
impl<O: Observer> Observer for Option<O> {
    fn entered(&mut self, number: u64, from: Side, at: Time, bytes: &[u8]) {
        if let Some(observer) = self {
            observer.entered(number, from, at, bytes);
        }
    }

    fn left(&mut self, number: u64, to: Side, at: Time, bytes: &[u8], marked: bool) {
        if let Some(observer) = self {
            observer.left(number, to, at, bytes, marked);
        }
    }

    fn dropped(&mut self, number: u64, at: Time, cause: Option<DropCause>) {
        if let Some(observer) = self {
            observer.dropped(number, at, cause);
        }
    }
}

/// Both hear.
impl<O: Observer, P: Observer> Observer for (O, P) {
    fn entered(&mut self, number: u64, from: Side, at: Time, bytes: &[u8]) {
        self.0.entered(number, from, at, bytes);
        self.1.entered(number, from, at, bytes);
    }

    fn left(&mut self, number: u64, to: Side, at: Time, bytes: &[u8], marked: bool) {
        self.0.left(number, to, at, bytes, marked);
        self.1.left(number, to, at, bytes, marked);
    }

    fn dropped(&mut self, number: u64, at: Time, cause: Option<DropCause>) {
        self.0.dropped(number, at, cause);
        self.1.dropped(number, at, cause);
    }
}

/// What a turn of the relay came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turn {
    /// Packets read. After a turn that read some, there may be more.
    pub read: usize,
    /// When the next packet is to be delivered, or decided on.
    pub next: Option<Time>,
}

/// A packet on the path.
#[derive(Clone, Debug)]
pub struct Carried {
    number: u64,
    entered: Time,
    buffer: Vec<u8>,
    length: usize,
}

/// Moves packets between two devices over a path.
#[derive(Debug)]
pub struct Relay<D, O> {
    /// By host.
    devices: [D; 2],
    /// By the host at which they begin.
    ways: [Way<Carried>; 2],
    counts: [Counts; 2],
    path: Shape,
    lateness: Lateness,
    observer: O,
    numbered: u64,
    /// Buffers to read into, each of the size of the largest packet.
    spare: Vec<Vec<u8>>,
    largest: usize,
}

/// What of a path the report needs.
#[derive(Clone, Debug)]
struct Shape {
    sender: Side,
    bottlenecks: Vec<usize>,
    returns: Vec<usize>,
}

/// Packets read from a device before what is due is delivered.
const BATCH: usize = 16;

impl<D: Device, O: Observer> Relay<D, O> {
    /// A relay between the devices of host A and host B. `largest` is the size of the largest packet.
    pub fn new(devices: [D; 2], path: Path<Carried>, largest: usize, observer: O) -> Self {
        let Path { forward, reverse, sender, bottlenecks, returns } = path;
        let ways = match sender {
            Side::A => [forward, reverse],
            Side::B => [reverse, forward],
        };
        let path = Shape { sender, bottlenecks, returns };
        Self {
            devices,
            ways,
            counts: Default::default(),
            path,
            lateness: Lateness::default(),
            observer,
            numbered: 0,
            spare: Vec::new(),
            largest,
        }
    }

    /// Delivers what is due, and takes in what the devices have.
    ///
    /// # Errors
    /// When a device is gone.
    pub fn turn(&mut self, clock: &impl Clock) -> io::Result<Turn> {
        let mut read = 0;
        for side in Side::BOTH {
            self.deliver(clock)?;
            read += self.take(side, clock)?;
        }
        if read > 0 {
            self.deliver(clock)?;
        }
        let [one, other] = &self.ways;
        Ok(Turn { read, next: Time::earlier(one.next_event(), other.next_event()) })
    }

    /// How many packets are on the path.
    pub fn inside(&self) -> usize {
        self.ways.iter().map(Way::inside).sum()
    }

    /// The devices.
    pub fn devices(&self) -> &[D; 2] {
        &self.devices
    }

    /// What the run came to by `now`, and the observer.
    pub fn finish(mut self, now: Time) -> (Report, O) {
        let forward = self.path.sender;
        let report = Report {
            duration: now.since(Time::ZERO),
            forward: self.counts[forward as usize]
                .report(&self.ways[forward as usize].stats(now), &self.path.bottlenecks),
            reverse: self.counts[forward.other() as usize]
                .report(&self.ways[forward.other() as usize].stats(now), &self.path.returns),
            lateness: self.lateness.report(),
            is_void: self.lateness.is_void(),
        };
        (report, self.observer)
    }

    /// Takes in what a device has, up to a batch.
    fn take(&mut self, from: Side, clock: &impl Clock) -> io::Result<usize> {
        for count in 0..BATCH {
            let mut buffer = self.spare.pop().unwrap_or_default();
            buffer.resize(self.largest, 0);
            let Some(length) = self.devices[from as usize].read(&mut buffer)? else {
                self.spare.push(buffer);
                return Ok(count);
            };
            self.enter(from, clock.now(), buffer, length);
        }
        Ok(BATCH)
    }

    /// A packet of host `from` enters the path, if it is for the other host.
    fn enter(&mut self, from: Side, now: Time, buffer: Vec<u8>, length: usize) {
        let bytes = buffer.get(..length).unwrap_or_default();
        let passing = read_passing(bytes).filter(|passing| from.other().host().has(passing.destination));
        let Some(Passing { length, flow, ecn, quick_start, .. }) = passing else {
            self.counts[from as usize].astray += 1;
            self.spare.push(buffer);
            return;
        };
        let number = self.numbered;
        self.numbered += 1;
        self.counts[from as usize].enters(u64::from(length));
        self.observer.entered(number, from, now, bytes);
        let payload = Carried { number, entered: now, buffer, length: usize::from(length) };
        let packet = Arriving { bytes: length, flow: FlowKey::hashed(flow), ecn, quick_start, payload };
        self.ways[from as usize].enter(now, packet);
    }

    /// Delivers what is due.
    fn deliver(&mut self, clock: &impl Clock) -> io::Result<()> {
        for from in Side::BOTH {
            let now = clock.now();
            while let Some(outcome) = self.ways[from as usize].event(now) {
                self.end(from, outcome, clock)?;
            }
        }
        Ok(())
    }

    /// A packet of host `from` has left the path, or was dropped.
    fn end(&mut self, from: Side, outcome: Outcome<Carried>, clock: &impl Clock) -> io::Result<()> {
        let counts = &mut self.counts[from as usize];
        let buffer = match outcome {
            Outcome::Dropped(dropped) => {
                counts.drops(Some(dropped.cause));
                self.observer.dropped(dropped.payload.number, dropped.at, Some(dropped.cause));
                dropped.payload.buffer
            }
            Outcome::Left(left) => {
                let Carried { number, entered, mut buffer, length } = left.payload;
                let packet = buffer.get_mut(..length).unwrap_or_default();
                if left.marked {
                    mark(packet);
                }
                if let Some(option) = left.quick_start {
                    write_quick_start(packet, option);
                }
                let is_taken = self.devices[from.other() as usize].write(packet)?;
                let now = clock.now();
                self.lateness.record(now.since(left.at));
                if is_taken {
                    counts.delivers(length as u64, now, now.since(entered), left.marked);
                    self.observer.left(number, from.other(), now, packet, left.marked);
                } else {
                    counts.drops(None);
                    self.observer.dropped(number, now, None);
                }
                buffer
            }
        };
        self.spare.push(buffer);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
