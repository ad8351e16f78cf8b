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
    free: u64,
    /// Arrival time of the ACK of each packet that was not lost.
    arrivals: VecDeque<(u64, u64)>,
    next_send: u64,
}

impl Pipe {
    /// Returns an idle path.
    pub(crate) fn new(packet: u64, delay: u64) -> Self {
        let (lost, arrivals) = (BTreeSet::new(), VecDeque::new());
        Self { packet, delay, every: 1, lost, data: None, free: 0, arrivals, next_send: 0 }
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
    fn send(&mut self, host: &mut Host) {
        let mut count = 0;
        let room = host.window().saturating_sub(host.in_flight()) / MSS;
        while count < room
            && (host.pacing().is_none() || self.next_send <= host.now())
            && self.data != Some(0)
        {
            let number = host.sent() + count;
            count += 1;
            self.data = self.data.map(|data| data - 1);
            self.free = self.free.max(host.now()) + self.packet;
            if !self.lost.contains(&number) {
                self.arrivals.push_back((self.free + self.delay, number));
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

    /// Advances to the next event. Returns whether there was one.
    fn step(&mut self, host: &mut Host) -> bool {
        let ack = self.arrivals.get(self.every - 1).or(self.arrivals.back()).map(|(at, _)| *at);
        let sends = host.pacing().is_some() && host.may_send() && self.data != Some(0);
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
            host.lose(&found);
        }
    }
}
