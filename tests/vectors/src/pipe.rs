//! A path with one bottleneck, for scripts whose scheme needs the spacing of ACKs.

use std::collections::{BTreeSet, VecDeque};

use crate::host::{Host, MSS};

/// A path: a bottleneck with a queue without limit, and a constant delay.
pub(crate) struct Pipe {
    /// Microseconds in which the bottleneck sends a packet.
    packet: u64,
    /// Microseconds from the bottleneck to the receiver and back.
    delay: u64,
    /// Packets that one ACK acknowledges.
    pub(crate) every: usize,
    /// Packets that are lost.
    pub(crate) lost: BTreeSet<u64>,
    /// The number of packets that the application still has to send. At zero the application limits the sender. `None` is endless.
    pub(crate) data: Option<u64>,
    /// The share of the bottleneck's rate that other flows leave, in hundredths. They arrive at a constant rate.
    pub(crate) left: u64,
    /// The maximum queue before a packet, in microseconds.
    pub(crate) room: u64,
    /// ACKs arrive at multiples of this number of microseconds.
    pub(crate) held: u64,
    /// The maximum number of packets in flight, as in loss recovery.
    pub(crate) max_flight: u64,
    /// A policer: microseconds for a packet at its rate, and packets in its bucket. It drops packets and delays none.
    pub(crate) policer: Option<(u64, u64)>,
    /// The tokens in the bucket, in microseconds at the policer's rate; `None` is a full bucket.
    tokens: Option<u64>,
    /// When a packet last arrived at the bottleneck.
    last: u64,
    free: u64,
    /// Arrival time of the ACK of each packet that was not lost.
    arrivals: VecDeque<(u64, u64)>,
    next_send: u64,
}

impl Pipe {
    /// Returns an idle path.
    pub(crate) fn new(packet: u64, delay: u64) -> Self {
        Self {
            packet,
            delay,
            every: 1,
            lost: BTreeSet::new(),
            data: None,
            left: 100,
            room: u64::MAX,
            held: 1,
            max_flight: u64::MAX,
            policer: None,
            tokens: None,
            last: 0,
            free: 0,
            arrivals: VecDeque::new(),
            next_send: 0,
        }
    }

    /// Changes the rate of the bottleneck at `now`, for the packets in its queue too.
    pub(crate) fn change_rate(&mut self, now: u64, packet: u64) {
        self.packet = packet;
        self.free = now;
        for (at, _) in self.arrivals.iter_mut().filter(|(at, _)| *at > now + self.delay) {
            self.free += packet;
            *at = self.free + self.delay;
        }
    }

    /// Lets the host send, and delivers its packets and ACKs, until `done`.
    pub(crate) fn run(&mut self, host: &mut Host, mut done: impl FnMut(&Host) -> bool) {
        while !done(host) {
            self.send(host);
            if !self.step(host) {
                return;
            }
        }
    }

    /// Sends the packets that the window and the pacing rate permit now.
    pub(crate) fn send(&mut self, host: &mut Host) {
        let mut count = 0;
        let room = self.room_in_flight(host);
        while count < room
            && (host.pacing().is_none() || self.next_send <= host.now())
            && self.data != Some(0)
        {
            let number = host.sent() + count;
            count += 1;
            self.data = self.data.map(|data| data - 1);
            match self.carry(host.now()) {
                Some(at) if !self.lost.contains(&number) => self.arrivals.push_back((at, number)),
                _ => {
                    self.lost.insert(number);
                }
            }
            if let Some(rate) = host.pacing() {
                self.next_send = self.next_send.max(host.now()) + (MSS * 1_000_000).div_ceil(rate.max(1));
                break;
            }
        }
        if count > 0 {
            host.app_limited(self.data == Some(0));
            host.send(count);
        }
    }

    /// Returns the number of packets that may be sent now.
    fn room_in_flight(&self, host: &Host) -> u64 {
        let window = host.window().min(self.max_flight.saturating_mul(MSS));
        window.saturating_sub(host.in_flight()) / MSS
    }

    /// Carries a packet that is sent now. Returns the arrival of its ACK; `None` if the packet is dropped.
    fn carry(&mut self, now: u64) -> Option<u64> {
        let elapsed = now - self.last;
        // The queue drains by the share that other flows leave.
        let queue = self.free.saturating_sub(self.last).saturating_sub(elapsed * self.left / 100);
        self.last = now;
        self.free = now + queue;
        if let Some((packet, bucket)) = self.policer {
            let tokens = self.tokens.map_or(u64::MAX, |tokens| tokens + elapsed).min(packet * bucket);
            self.tokens = Some(tokens.checked_sub(packet).unwrap_or(tokens));
            if tokens < packet {
                return None;
            }
        }
        if queue > self.room {
            return None;
        }
        self.free += self.packet;
        let at = (self.free + self.delay).div_ceil(self.held) * self.held;
        Some(self.arrivals.back().map_or(at, |(before, _)| at.max(*before)))
    }

    /// Advances to the next event. Returns whether there was one.
    fn step(&mut self, host: &mut Host) -> bool {
        let ack = self.arrivals.get(self.every - 1).or(self.arrivals.back()).map(|(at, _)| *at);
        let sends = host.pacing().is_some() && self.room_in_flight(host) > 0 && self.data != Some(0);
        let send = sends.then(|| self.next_send.max(host.now()));
        let wake = host.wake().filter(|at| *at > host.now());
        let Some(at) = [ack, send, wake].into_iter().flatten().min() else { return false };
        host.at(at);
        if wake == Some(at) {
            host.woken();
        } else if ack == Some(at) {
            let count = self.every.min(self.arrivals.len());
            let numbers: Vec<u64> = self.arrivals.drain(..count).map(|(_, number)| number).collect();
            host.ack(&numbers);
            self.find_losses(host, numbers[count - 1]);
        }
        true
    }

    /// Finds packets lost that are three packets older than one that is acknowledged.
    fn find_losses(&mut self, host: &mut Host, newest: u64) {
        let found: Vec<u64> = self.lost.iter().copied().filter(|lost| lost + 3 <= newest).collect();
        if !found.is_empty() {
            self.lost = self.lost.split_off(&(newest.saturating_sub(2)));
            // An event has consecutive packets, so that its bytes and its end identify them.
            for run in found.chunk_by(|one, next| one + 1 == *next) {
                host.lose(run);
            }
        }
    }
}
