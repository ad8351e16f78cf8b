//! A queue for each flow, each under `CoDel`. Queues are served round-robin by bytes, new ones first (RFC 8290).
//!
//! Follows RFC 8290 section 4: flows are hashed to `flows` queues; a queue that was empty joins the list of new queues;
//! a queue gets `quantum` bytes of credit in each round of service. When all queues together exceed the limit, half of
//! the largest queue by bytes is dropped from its head, at most 64 packets (section 4.1, as in Linux). Each `CoDel`
//! uses the bytes of its queue only. The hash is salted by the seed, as a kernel's is at boot. The two directions of a
//! flow are two flows.

use std::collections::VecDeque;

use firstflight::Time;

use super::codel::{CoDelSpec, Control};
use super::queue::{Arrival, Fifo, Outbox, Waiting};
use crate::fault::DisciplineFault;
use crate::packet::FlowKey;
use crate::quantity::QueueLimit;
use crate::random::{Stream, mix};

/// Maximum number of packets dropped at once when the limit is exceeded.
const DROP_BATCH: usize = 64;

/// Parameters of `FQ-CoDel`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FqCoDelSpec {
    /// The parameters of `CoDel` for every queue.
    pub codel: CoDelSpec,
    /// Number of queues.
    pub flows: u32,
    /// Bytes of credit that a queue gets in each round of service.
    pub quantum: u32,
}

impl Default for FqCoDelSpec {
    /// Returns 1024 queues and a quantum of 1514 bytes (RFC 8290 sections 5.2.4 and 5.2.5).
    fn default() -> Self {
        Self { codel: CoDelSpec::default(), flows: 1_024, quantum: 1_514 }
    }
}

impl FqCoDelSpec {
    pub(crate) fn check(&self) -> Result<(), DisciplineFault> {
        if self.flows == 0 || self.quantum == 0 {
            return Err(DisciplineFault::NoQueues);
        }
        self.codel.check()
    }
}

#[derive(Clone, Debug, Default)]
struct FlowQueue {
    queue: Fifo,
    control: Control,
    credit: i64,
    /// Whether the queue is on one of the lists.
    listed: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct FqCoDel {
    spec: FqCoDelSpec,
    limit: QueueLimit,
    salt: u64,
    flows: Vec<FlowQueue>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    packets: u32,
    bytes: u64,
}

impl FqCoDel {
    pub(super) fn new(spec: FqCoDelSpec, limit: QueueLimit, mut stream: Stream) -> Self {
        Self {
            spec,
            limit,
            salt: stream.bits(),
            flows: vec![FlowQueue::default(); spec.flows as usize],
            new: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
            bytes: 0,
        }
    }

    pub(super) fn arrive(&mut self, arrival: Arrival, waiting: Waiting, out: &mut Outbox) {
        let place = self.classify(waiting.flow);
        self.packets += 1;
        self.bytes += u64::from(waiting.wire());
        let Some(flow) = self.flows.get_mut(place) else { return };
        flow.queue.push(waiting);
        if !flow.listed {
            flow.listed = true;
            flow.credit = i64::from(self.spec.quantum);
            self.new.push_back(place);
        }
        while arrival.idle_since.is_none() && self.is_over() {
            self.cut_fattest(out);
        }
    }

    pub(super) fn depart(&mut self, now: Time, out: &mut Outbox) -> Option<Waiting> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let place = *list.front()?;
            let flow = &mut self.flows[place];
            if flow.credit <= 0 {
                flow.credit += i64::from(self.spec.quantum);
                list.pop_front();
                self.old.push_back(place);
                continue;
            }
            let before = (flow.queue.len(), flow.queue.bytes);
            let head = flow.control.depart(now, self.spec.codel, &mut flow.queue, out);
            self.packets -= before.0 - flow.queue.len();
            self.bytes -= before.1 - flow.queue.bytes;
            if let Some(waiting) = head {
                flow.credit -= i64::from(waiting.wire());
                return Some(waiting);
            }
            list.pop_front();
            // A new queue that ran empty goes through the old list once, so that it cannot starve the others.
            if is_new && !self.old.is_empty() {
                self.old.push_back(place);
            } else {
                flow.listed = false;
            }
        }
    }

    pub(super) fn packets(&self) -> u32 {
        self.packets
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    fn classify(&self, flow: FlowKey) -> usize {
        let hash = mix(flow.hash ^ self.salt);
        usize::try_from((u128::from(hash) * self.flows.len() as u128) >> 64).unwrap_or(0)
    }

    /// Returns whether the waiting packets exceed the limit. The packet in transmission counts as well: see
    /// [`QueueLimit::Packets`].
    fn is_over(&self) -> bool {
        match self.limit {
            QueueLimit::Unlimited => false,
            QueueLimit::Packets(limit) => self.packets + 1 > limit,
            QueueLimit::Bytes(limit) => self.bytes > limit.get(),
        }
    }

    /// Drops half of the largest queue by bytes, from its head.
    fn cut_fattest(&mut self, out: &mut Outbox) {
        let fattest = self.flows.iter_mut().rev().max_by_key(|flow| flow.queue.bytes);
        let Some(flow) = fattest else { return };
        let threshold = flow.queue.bytes / 2;
        let (mut dropped, mut bytes) = (0, 0);
        while dropped == 0 || (dropped < DROP_BATCH && bytes < threshold) {
            let Some(waiting) = flow.queue.pop() else { break };
            bytes += u64::from(waiting.wire());
            dropped += 1;
            out.dropped.push_back(waiting.descriptor);
        }
        let drops = u32::try_from(dropped).unwrap_or(u32::MAX);
        flow.control.note_drops(drops);
        self.packets -= drops;
        self.bytes -= bytes;
    }
}

#[cfg(test)]
mod tests {
    use firstflight::Bytes;

    use super::super::tests::{name, of_flow, stream};
    use super::*;

    fn fq(limit: QueueLimit) -> FqCoDel {
        FqCoDel::new(FqCoDelSpec::default(), limit, stream())
    }

    fn busy() -> Arrival {
        Arrival { now: Time::ZERO, room: true, idle_since: None, rate: None }
    }

    fn offer(fq: &mut FqCoDel, flow: u32, numbers: std::ops::Range<u64>, wire: u32) -> Outbox {
        let mut out = Outbox::default();
        for number in numbers {
            fq.arrive(busy(), of_flow(flow, number, wire), &mut out);
        }
        out
    }

    fn order(fq: &mut FqCoDel) -> Vec<(u32, u64)> {
        std::iter::from_fn(|| fq.depart(Time::ZERO, &mut Outbox::default()))
            .map(|waiting| name(waiting.descriptor))
            .collect()
    }

    #[test]
    fn flows_take_turns_by_the_byte() {
        let mut fq = fq(QueueLimit::Unlimited);
        offer(&mut fq, 1, 0..4, 1_000);
        offer(&mut fq, 2, 0..4, 500);
        // A flow may send 1514 bytes in a round of service, and the last packet may exceed that. Two packets of 1000
        // bytes exceed it by 486, so the next credit is 1028. Before each of four packets of 500 bytes the credit is
        // 1514, 1014, 514 and 14, so all four leave in the first round.
        let expected = [(1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (2, 3), (1, 2), (1, 3)];
        assert_eq!(order(&mut fq), expected);
        assert_eq!((fq.packets(), fq.bytes()), (0, 0));
    }

    #[test]
    fn a_new_flow_goes_first_and_then_waits_its_turn() {
        let mut fq = fq(QueueLimit::Unlimited);
        let next = |fq: &mut FqCoDel| {
            fq.depart(Time::ZERO, &mut Outbox::default()).map(|waiting| name(waiting.descriptor))
        };
        offer(&mut fq, 1, 0..40, 100);
        // In the first round of a new flow 16 packets leave, and exceed the credit by 86. Then the flow is an old one,
        // with 1428 bytes of credit.
        for number in 0..17 {
            assert_eq!(next(&mut fq), Some((1, number)));
        }
        offer(&mut fq, 2, 0..1, 100);
        assert_eq!(next(&mut fq), Some((2, 0)));
        assert_eq!(next(&mut fq), Some((1, 17)));
        // The queue ran empty, but it has to pass through the old list before it may be new again.
        offer(&mut fq, 2, 1..2, 100);
        assert!(fq.new.is_empty());
        for number in 18..31 {
            assert_eq!(next(&mut fq), Some((1, number)));
        }
        assert_eq!(next(&mut fq), Some((2, 1)));
    }

    #[test]
    fn over_the_limit_half_of_the_fattest_flow_goes_from_its_head() {
        let mut fq = fq(QueueLimit::Packets(101));
        assert!(offer(&mut fq, 1, 0..40, 1_500).dropped.is_empty());
        assert!(offer(&mut fq, 2, 0..60, 1_200).dropped.is_empty());
        // 100 packets wait and one is in transmission. Flow 2 has 72 000 bytes: 30 of its packets are half of them.
        let out = offer(&mut fq, 1, 40..41, 1_500);
        let dropped: Vec<(u32, u64)> = out.dropped.iter().map(|descriptor| name(*descriptor)).collect();
        assert_eq!(dropped, (0..30).map(|number| (2, number)).collect::<Vec<_>>());
        assert_eq!((fq.packets(), fq.bytes()), (71, 41 * 1_500 + 30 * 1_200));
        let mut fq = self::fq(QueueLimit::Bytes(Bytes::new(300_000)));
        let out = offer(&mut fq, 1, 0..201, 1_500);
        assert_eq!(out.dropped.len(), DROP_BATCH);
    }

    #[test]
    fn a_limit_of_one_still_carries_what_finds_the_transmitter_idle() {
        let mut fq = fq(QueueLimit::Packets(1));
        let mut out = Outbox::default();
        fq.arrive(Arrival { idle_since: Some(Time::ZERO), ..busy() }, of_flow(1, 0, 1_500), &mut out);
        assert_eq!(fq.packets(), 1);
        assert!(fq.depart(Time::ZERO, &mut out).is_some());
        fq.arrive(busy(), of_flow(1, 1, 1_500), &mut out);
        assert_eq!((fq.packets(), out.dropped.len()), (0, 1));
    }

    #[test]
    fn the_hash_spreads_flows_evenly_and_the_seed_moves_it() {
        let salted = |salt| FqCoDel { salt, ..fq(QueueLimit::Unlimited) };
        let places = |fq: &FqCoDel| -> Vec<usize> {
            (0..1_024).map(|flow| fq.classify(of_flow(flow, 0, 1).flow)).collect()
        };
        let (one, other) = (places(&salted(1)), places(&salted(2)));
        assert_ne!(one, other);
        let mut used = one;
        used.sort_unstable();
        used.dedup();
        // Of 1024 places, 1 - 1/e are hit: 647, standard deviation about 10.
        assert!(used.len().abs_diff(647) < 50, "{}", used.len());
    }
}
