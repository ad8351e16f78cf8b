//! Moves packets between two devices over a path, for any kind of device and clock.

use std::io;

use firstflight::{Bytes, Span, Time};
use firstflight_sim::{Arriving, DropCause, FlowKey, Outcome};
use firstflight_wire::{Passing, mark, read_passing, write_quick_start};

use crate::addresses::Side;
use crate::lateness::Lateness;
use crate::link_chain::LinkChain;
use crate::path::Path;
use crate::read_delay::ReadDelay;
use crate::report::{Counts, Report};

/// The source and sink of a host's packets.
pub trait Device {
    /// Reads the next packet of the host into `into`. Returns the packet's length; `None` if there is no packet yet. Does not block.
    ///
    /// # Errors
    /// The device is gone.
    fn read(&mut self, into: &mut [u8]) -> io::Result<Option<usize>>;

    /// Delivers a packet to the host. Returns whether the host accepted it. Does not block.
    ///
    /// # Errors
    /// The device is gone.
    fn write(&mut self, packet: &[u8]) -> io::Result<bool>;
}

/// A monotonic clock, which is zero at the start of the run.
pub trait Clock {
    /// Returns the time since the start of the run.
    fn now(&self) -> Time;
}

/// An observer of every packet at both ends.
pub trait Observer {
    /// Called when a packet of host `from` enters the path. Packets are numbered in order of entry, from zero.
    fn entered(&mut self, number: u64, from: Side, at: Time, bytes: &[u8]);
    /// Called when a packet was delivered to host `to`, with the delivered bytes.
    fn left(&mut self, number: u64, to: Side, at: Time, bytes: &[u8], marked: bool);
    /// Called when a packet was dropped. The cause is `None` if the path delivered it and the host rejected it.
    fn dropped(&mut self, number: u64, at: Time, cause: Option<DropCause>);
}

/// Observes nothing.
impl Observer for () {
    fn entered(&mut self, _: u64, _: Side, _: Time, _: &[u8]) {}
    fn left(&mut self, _: u64, _: Side, _: Time, _: &[u8], _: bool) {}
    fn dropped(&mut self, _: u64, _: Time, _: Option<DropCause>) {}
}

/// Passes events to the observer, if there is one.
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

/// Passes events to both observers.
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

/// The result of one call of [`Relay::turn`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turn {
    /// The number of packets read. If it is not zero, more packets may be waiting.
    pub read: usize,
    /// The time at which the next packet must be delivered, or its fate decided.
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
    /// The devices, by host.
    devices: [D; 2],
    /// The directions of the path, by the host at which they begin.
    chains: [LinkChain<Carried>; 2],
    counts: [Counts; 2],
    path: Shape,
    lateness: Lateness,
    /// The time for which the relay was behind, by the host whose packets wait.
    behind: [ReadDelay; 2],
    observer: O,
    numbered: u64,
    /// Spare buffers to read into, each of the size of the largest packet.
    spare: Vec<Vec<u8>>,
    largest: usize,
}

/// The properties of a path that the report needs.
#[derive(Clone, Debug)]
struct Shape {
    sender: Side,
    bottlenecks: Vec<usize>,
    returns: Vec<usize>,
}

/// The maximum number of packets read from a device before due packets are delivered.
const BATCH: usize = 16;

impl<D: Device, O: Observer> Relay<D, O> {
    /// Makes a relay between the devices of host A and host B. `largest` is the size of the largest packet.
    pub fn new(devices: [D; 2], path: Path<Carried>, largest: usize, observer: O) -> Self {
        let Path { forward, reverse, sender, bottlenecks, returns, rates } = path;
        let (mut chains, mut behind) = ([forward, reverse], rates.map(ReadDelay::new));
        if sender == Side::B {
            chains.reverse();
            behind.reverse();
        }
        let path = Shape { sender, bottlenecks, returns };
        Self {
            devices,
            chains,
            counts: Default::default(),
            path,
            lateness: Lateness::default(),
            behind,
            observer,
            numbered: 0,
            spare: Vec::new(),
            largest,
        }
    }

    /// Delivers due packets, and reads packets from the devices.
    ///
    /// # Errors
    /// A device is gone.
    pub fn turn(&mut self, clock: &impl Clock) -> io::Result<Turn> {
        let mut read = 0;
        for side in Side::BOTH {
            self.deliver(clock)?;
            read += self.take(side, clock)?;
        }
        if read > 0 {
            self.deliver(clock)?;
        }
        let [one, other] = &self.chains;
        Ok(Turn { read, next: Time::earlier(one.next_event(), other.next_event()) })
    }

    /// Returns the number of packets on the path.
    pub fn inside(&self) -> usize {
        self.chains.iter().map(LinkChain::inside).sum()
    }

    /// Returns the devices, by host.
    pub fn devices(&self) -> &[D; 2] {
        &self.devices
    }

    /// Ends the relay at `now`. Returns the report of the run, and the observer.
    pub fn finish(mut self, now: Time) -> (Report, O) {
        let forward = self.path.sender;
        let run = now.since(Time::ZERO);
        let behind = self.behind.iter().map(|one| one.total(now)).max().unwrap_or(Span::ZERO);
        let report = Report {
            duration: run,
            forward: self.counts[forward as usize]
                .report(&self.chains[forward as usize].stats(now), &self.path.bottlenecks),
            reverse: self.counts[forward.other() as usize]
                .report(&self.chains[forward.other() as usize].stats(now), &self.path.returns),
            lateness: self.lateness.report(),
            behind,
            is_late: self.lateness.is_void(),
            is_behind: ReadDelay::is_void(behind, run),
        };
        (report, self.observer)
    }

    /// Reads up to a batch of packets from a device.
    fn take(&mut self, from: Side, clock: &impl Clock) -> io::Result<usize> {
        let began = clock.now();
        let (mut count, mut bytes) = (0, 0);
        while count < BATCH {
            let mut buffer = self.spare.pop().unwrap_or_default();
            buffer.resize(self.largest, 0);
            let Some(length) = self.devices[from as usize].read(&mut buffer)? else {
                self.spare.push(buffer);
                break;
            };
            self.enter(from, clock.now(), buffer, length);
            (count, bytes) = (count + 1, bytes + length as u64);
        }
        self.behind[from as usize].batch(began, clock.now(), Bytes::new(bytes), count == BATCH);
        Ok(count)
    }

    /// Puts a packet of host `from` on the path if its destination is the other host.
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
        self.chains[from as usize].enter(now, packet);
    }

    /// Handles all packets whose delivery or drop is due.
    fn deliver(&mut self, clock: &impl Clock) -> io::Result<()> {
        for from in Side::BOTH {
            let now = clock.now();
            while let Some(outcome) = self.chains[from as usize].event(now) {
                self.end(from, outcome, clock)?;
            }
        }
        Ok(())
    }

    /// Handles the outcome of a packet of host `from`, which left the path or was dropped.
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
                for _ in 0..=usize::from(left.twice) {
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
