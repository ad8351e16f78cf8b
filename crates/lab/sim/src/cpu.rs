//! A host's processor. Segments that arrive wait for it. The processing time of a segment includes the walks over the host's packet lists.
//!
//! The lists are those of Linux before 2.6.15 (`net/ipv4/tcp_input.c`): `tcp_sacktag_write_queue` walks the retransmission queue from its
//! head to the end of each SACK block, `tcp_clean_rtx_queue` frees the packets that an ACK acknowledges, and `tcp_data_queue` walks the
//! out-of-order queue from its tail to the position of a segment. Marking and retransmission resume at the position where they stopped, as
//! since 2.6.15. With hints the blocks of an ACK are sorted and walked over once, as in 2.6.24.

use std::collections::VecDeque;

use firstflight::{Span, Time};
use firstflight_tcp::{Flags, MAX_SACK_BLOCKS, Role, SackBlock, Segment};

/// The processor of each TCP host of a network. The two ends of a flow have one each, which no other flow uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CpuSpec {
    /// Whether SACK processing caches its position: one walk per ACK, resumed at the last position if only the first block grew.
    pub hints: bool,
    /// Time to look at one packet of a list, to free it or to retransmit it.
    pub packet: Span,
    /// Time to handle a segment that arrives, without list walks, including all packets sent in response.
    pub segment: Span,
}

/// A function of the kernel that takes a processor's time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Function {
    /// Finding the packets of SACK blocks in the retransmission queue: `tcp_sacktag_write_queue`.
    Sacktag,
    /// Freeing packets that are acknowledged: `tcp_clean_rtx_queue`.
    Clean,
    /// Sending packets again: `tcp_fastretrans_alert`.
    Fastretrans,
    /// Finding the position of a segment in the out-of-order queue, and removing in-order segments from it: `tcp_data_queue`.
    DataQueue,
    /// All other work: the time of a segment apart from lists, and the walk of a timeout over the retransmission queue.
    Other,
}

impl Function {
    /// All functions.
    pub const ALL: [Self; 5] = [Self::Sacktag, Self::Clean, Self::Fastretrans, Self::DataQueue, Self::Other];
}

const SECOND: u64 = 1_000_000_000;

/// The work that a processor has done so far.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CpuStats {
    /// Nanoseconds by function, in the order of [`Function`].
    nanos: [u64; Function::ALL.len()],
    /// Busy nanoseconds of each second of the run.
    seconds: Vec<u64>,
    /// Maximum number of segments that waited at once, including the one in service.
    pub waiting_most: u32,
}

impl CpuStats {
    /// Returns the nanoseconds of work for `function`.
    pub fn nanos(&self, function: Function) -> u64 {
        self.nanos[function as usize]
    }

    /// Returns the nanoseconds of work for all functions together.
    pub fn busy(&self) -> u64 {
        self.nanos.iter().sum()
    }

    /// Returns the nanoseconds of work in the busiest second of the run, at most one second.
    pub fn busiest_second(&self) -> u64 {
        self.seconds.iter().copied().max().unwrap_or(0)
    }

    fn add(&mut self, from: Time, function: Function, nanos: u64) {
        self.nanos[function as usize] += nanos;
        let (mut at, mut left) = (from.nanos(), nanos);
        while left > 0 {
            let second = usize::try_from(at / SECOND).unwrap_or(usize::MAX);
            if second >= self.seconds.len() {
                self.seconds.resize(second + 1, 0);
            }
            let part = left.min(SECOND - at % SECOND);
            self.seconds[second] += part;
            at += part;
            left -= part;
        }
    }
}

/// The processors of a flow's two hosts.
#[derive(Clone, Debug)]
pub(crate) struct Processors {
    /// Payload bytes of a full segment.
    mss: u64,
    client: Cpu,
    server: Cpu,
}

impl Processors {
    pub(crate) fn new(spec: CpuSpec, mss: u16) -> Self {
        Self { mss: u64::from(mss).max(1), client: Cpu::new(spec), server: Cpu::new(spec) }
    }

    /// Returns the work of the processor of `side`.
    pub(crate) fn stats(&self, side: Role) -> &CpuStats {
        match side {
            Role::Client => self.client.stats(),
            Role::Server => self.server.stats(),
        }
    }

    /// Returns the payload bytes of a full segment.
    pub(crate) fn mss(&self) -> u64 {
        self.mss
    }

    pub(crate) fn of(&mut self, side: Role) -> &mut Cpu {
        match side {
            Role::Client => &mut self.client,
            Role::Server => &mut self.server,
        }
    }
}

/// The processor of a host. It handles one segment after the other, each to its end.
#[derive(Clone, Debug)]
pub(crate) struct Cpu {
    spec: CpuSpec,
    /// Segments that arrived and are not handled yet, the one in service first.
    waiting: VecDeque<Segment>,
    /// Completion time of the segment in service.
    done: Option<Time>,
    /// The instant until which the processor is busy.
    free: Time,
    /// The highest acknowledgement handled.
    acknowledged: Option<u32>,
    /// The blocks of the newest ACK, the others empty.
    blocks: [SackBlock; MAX_SACK_BLOCKS],
    /// Position where the walk over the first block of the newest ACK ended; `None` once a packet was freed.
    hint: Option<u32>,
    stats: CpuStats,
}

impl Cpu {
    pub(crate) fn new(spec: CpuSpec) -> Self {
        Self {
            spec,
            waiting: VecDeque::new(),
            done: None,
            free: Time::ZERO,
            acknowledged: None,
            blocks: [SackBlock::default(); MAX_SACK_BLOCKS],
            hint: None,
            stats: CpuStats::default(),
        }
    }

    pub(crate) fn stats(&self) -> &CpuStats {
        &self.stats
    }

    /// Returns the completion time of the segment in service, if there is one.
    pub(crate) fn done(&self) -> Option<Time> {
        self.done
    }

    /// Queues a segment that arrived.
    pub(crate) fn queue(&mut self, segment: Segment) {
        self.waiting.push_back(segment);
        let waiting = u32::try_from(self.waiting.len()).unwrap_or(u32::MAX);
        self.stats.waiting_most = self.stats.waiting_most.max(waiting);
    }

    /// Returns the segment to be served next, if the processor is idle.
    pub(crate) fn next(&self) -> Option<&Segment> {
        self.waiting.front().filter(|_| self.done.is_none())
    }

    /// Starts to serve the next segment. `queued` is the number of packets of the out-of-order queue that the host looks at for it.
    pub(crate) fn begin(&mut self, now: Time, mss: u64, queued: u64) {
        let Some(segment) = self.waiting.front().copied() else { return };
        self.free = self.free.max(now);
        self.spend(Function::Other, self.spec.segment.nanos());
        let [marked, freed] = self.retransmission_queue(&segment, mss.max(1));
        self.walk(Function::Sacktag, marked);
        self.walk(Function::Clean, freed);
        self.walk(Function::DataQueue, queued);
        self.done = Some(self.free);
    }

    /// Removes and returns the segment in service, if it is complete by `now`.
    pub(crate) fn take(&mut self, now: Time) -> Option<Segment> {
        self.done.filter(|done| *done <= now)?;
        self.done = None;
        self.waiting.pop_front()
    }

    /// Adds a walk over this many packets of a list, after all pending work.
    pub(crate) fn walk(&mut self, function: Function, packets: u64) {
        self.spend(function, self.spec.packet.nanos().saturating_mul(packets));
    }

    fn spend(&mut self, function: Function, nanos: u64) {
        self.stats.add(self.free, function, nanos);
        self.free = self.free.after_nanos(nanos);
    }

    /// Returns the number of packets of the retransmission queue that the host looks at for an ACK, and the number that it frees. The queue
    /// has a packet per `mss` bytes, and begins where the last ACK ended. The walk for a block ends at the first packet beyond the block.
    fn retransmission_queue(&mut self, segment: &Segment, mss: u64) -> [u64; 2] {
        if !segment.flags.has(Flags::ACK) {
            return [0, 0];
        }
        let head = *self.acknowledged.get_or_insert(segment.ack);
        let packets = |end: u32| ahead(end, head).div_ceil(mss);
        let blocks = segment.sack_blocks();
        let marked = if self.spec.hints {
            self.once(blocks, packets)
        } else {
            blocks.iter().map(|block| packets(block.end) + 1).sum()
        };
        let freed = packets(segment.ack);
        if ahead(segment.ack, head) > 0 {
            self.acknowledged = Some(segment.ack);
            self.hint = None;
        }
        [marked, freed]
    }

    /// Returns the number of packets that a single walk for all `blocks` visits: those up to the highest end, and one after each block. If
    /// only the first block has grown since the last walk, the walk continues from the position where that walk stopped.
    fn once(&mut self, blocks: &[SackBlock], packets: impl Fn(u32) -> u64) -> u64 {
        let Some(first) = blocks.first() else { return 0 };
        let mut known = self.blocks.iter().zip(blocks).enumerate();
        let grew = known.all(|(at, (old, new))| old.start == new.start && (at == 0 || old.end == new.end));
        let marked = if grew {
            packets(first.end).saturating_sub(self.hint.map_or(0, &packets)) + 1
        } else {
            let furthest = blocks.iter().map(|block| packets(block.end)).max().unwrap_or(0);
            furthest + blocks.len() as u64
        };
        self.blocks = [SackBlock::default(); MAX_SACK_BLOCKS];
        self.blocks.iter_mut().zip(blocks).for_each(|(slot, block)| *slot = *block);
        self.hint = Some(first.end);
        marked
    }
}

/// Returns how far a sequence number is ahead of another; zero if it is not ahead.
fn ahead(sequence: u32, of: u32) -> u64 {
    let distance = sequence.wrapping_sub(of);
    if distance > u32::MAX / 2 { 0 } else { u64::from(distance) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: CpuSpec =
        CpuSpec { hints: false, packet: Span::from_nanos(10), segment: Span::from_nanos(1_000) };

    fn ack(ack: u32, blocks: &[(u32, u32)]) -> Segment {
        let mut segment = Segment { ack, flags: Flags::ACK, ..Segment::default() };
        for (slot, (start, end)) in segment.sack.iter_mut().zip(blocks) {
            *slot = SackBlock { start: *start, end: *end };
        }
        segment.sack_count = u8::try_from(blocks.len()).unwrap();
        segment
    }

    /// Returns the processing time of each of these segments, which arrive at once, in nanoseconds.
    fn times(segments: &[Segment]) -> (Vec<u64>, CpuStats) {
        times_of(SPEC, segments)
    }

    fn times_of(spec: CpuSpec, segments: &[Segment]) -> (Vec<u64>, CpuStats) {
        let mut cpu = Cpu::new(spec);
        for segment in segments {
            cpu.queue(*segment);
        }
        let (mut now, mut times) = (Time::from_nanos(5_000), Vec::new());
        while cpu.next().is_some() {
            cpu.begin(now, 100, 0);
            let done = cpu.done().unwrap();
            times.push(done.since(now).nanos());
            now = done;
            assert!(cpu.take(now).is_some());
        }
        (times, cpu.stats().clone())
    }

    #[test]
    fn sack_processing_walks_from_the_head_per_block_and_frees_acked_packets() {
        let (times, stats) = times(&[
            ack(u32::MAX - 49, &[]),
            ack(u32::MAX - 49, &[(950, 1_050), (450, 650)]),
            ack(150, &[(950, 1_050)]),
        ]);
        // The queue's head is 50 bytes below zero. The walks visit 11 packets up to 1050 and 7 up to 650, and the packet beyond each.
        assert_eq!(times, [1_000, 1_000 + 10 * (12 + 8), 1_000 + 10 * (12 + 2)]);
        assert_eq!(stats.nanos(Function::Sacktag), 10 * (12 + 8 + 12));
        assert_eq!(stats.nanos(Function::Clean), 20);
        assert_eq!(stats.busy(), times.iter().sum::<u64>());
        assert_eq!(stats.waiting_most, 3);
    }

    #[test]
    fn a_block_below_the_head_has_one_packet_looked_at() {
        let (times, _) = times(&[ack(5_000, &[]), ack(5_000, &[(1_000, 1_100)])]);
        assert_eq!(times, [1_000, 1_010]);
    }

    #[test]
    fn hints_combine_walks_of_all_blocks_and_resume_at_the_last_end() {
        let (times, _) = times_of(
            CpuSpec { hints: true, ..SPEC },
            &[
                ack(0, &[(900, 1_000), (400, 600)]),
                ack(0, &[(900, 1_200), (400, 600)]),
                ack(0, &[(900, 1_200), (400, 700)]),
                ack(100, &[(900, 1_300), (400, 700)]),
                ack(100, &[(900, 1_400), (400, 700)]),
                ack(100, &[(1_500, 1_600), (900, 1_400), (400, 700)]),
            ],
        );
        // The walks: up to 1000, and beyond two blocks; from 1000 to 1200, and one beyond; from the head, because the second block grew;
        // from 1200 to 1300, one beyond and one freed; from the new head, because the freed packet removed the hint; from the head.
        let packets = [10 + 2, 2 + 1, 12 + 2, 1 + 1 + 1, 13 + 1, 15 + 3];
        assert_eq!(times, packets.map(|packets| 1_000 + 10 * packets));
    }

    #[test]
    fn work_counts_in_the_seconds_in_which_it_is_done() {
        let mut stats = CpuStats::default();
        stats.add(Time::from_nanos(SECOND - 10), Function::Other, 30);
        stats.add(Time::from_nanos(3 * SECOND), Function::Sacktag, 2 * SECOND + 5);
        assert_eq!(stats.seconds, [10, 20, 0, SECOND, SECOND, 5]);
        assert_eq!(stats.busiest_second(), SECOND);
    }
}
