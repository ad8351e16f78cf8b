//! The earliest times at which any sender's bits can arrive: the stream is a fluid that passes consecutive servers without avoidable delay.
//!
//! A server is a link or a policer. A link carries up to its rate and queues the rest. A policer drops packets beyond its rate, but its
//! bucket lets a burst pass. A sender that knows the policer sends excess packets later, so here the fluid waits instead of being dropped.
//! The arithmetic is exact at every whole nanosecond: amounts are in bits times 10^9, which is the unit of a rate in bit/s times
//! nanoseconds.

use std::iter;

use crate::available::{Steps, step};

/// A server that the stream passes.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    /// The rate that other traffic leaves, in bits per second, as steps. If other traffic exceeds the server's rate, it is negative and
    /// draws from the bucket.
    pub(crate) left: Vec<(u64, i64)>,
    /// The burst that may pass beyond the rate, in bits times 10^9: a policer's bucket, which is full when the stream starts. Zero for a
    /// link.
    pub(crate) bucket: u128,
}

/// Returns the stream that a link of rate `bps` makes of bursts, as steps in bits per second. Bursts are in order of time, in bits times
/// 10^9.
pub(crate) fn sent(lumps: &[(u64, u128)], bps: u64) -> Vec<(u64, u64)> {
    let left = vec![(0, i64::try_from(bps).unwrap_or(i64::MAX))];
    sweep(lumps, &[], &Server { left, bucket: 0 })
}

/// Returns the stream that leaves a server, given the arriving stream. Both are steps in bits per second, zero before the first step.
pub(crate) fn through(arriving: &Steps, server: &Server) -> Vec<(u64, u64)> {
    sweep(&[], arriving, server)
}

/// Returns a stream at the far end of a wire with this delay.
pub(crate) fn after(mut stream: Vec<(u64, u64)>, delay: u64) -> Vec<(u64, u64)> {
    for (at, _) in &mut stream {
        *at = at.saturating_add(delay);
    }
    stream
}

/// Returns the output stream of the server. Between two changes of input, [`State::piece`] computes it.
fn sweep(lumps: &[(u64, u128)], arriving: &Steps, server: &Server) -> Vec<(u64, u64)> {
    let firsts = [lumps.first().map(|lump| lump.0), arriving.first().map(|step| step.0)];
    let Some(begin) = firsts.into_iter().flatten().min() else { return Vec::new() };
    let changes = lumps.iter().map(|(at, _)| *at).chain(arriving.iter().map(|(at, _)| *at));
    let changes = changes.chain(server.left.iter().map(|(at, _)| *at).filter(|at| *at > begin));
    let mut times: Vec<u64> = changes.collect();
    times.sort_unstable();
    times.dedup();
    let ends = times.iter().skip(1).copied().chain([u64::MAX]);
    let (mut lumps, mut arriving) = (lumps.iter().peekable(), arriving.iter().peekable());
    let mut left = server.left.iter().peekable();
    let (mut comes, mut rate) = (0, server.left.first().map_or(0, |(_, bps)| *bps));
    let most = i128::try_from(server.bucket).unwrap_or(i128::MAX);
    let mut leaving = Vec::with_capacity(times.len());
    let mut state = State { at: begin, in_hand: most, most };
    for (at, end) in times.iter().copied().zip(ends) {
        comes = iter::from_fn(|| arriving.next_if(|step| step.0 <= at)).last().map_or(comes, |step| step.1);
        rate = iter::from_fn(|| left.next_if(|step| step.0 <= at)).last().map_or(rate, |step| step.1);
        let lump: u128 = iter::from_fn(|| lumps.next_if(|lump| lump.0 <= at)).map(|lump| lump.1).sum();
        state.in_hand = state.in_hand.saturating_sub(i128::try_from(lump).unwrap_or(i128::MAX));
        while state.at < end {
            state.piece(end, (comes, rate), &mut leaving);
        }
    }
    leaving
}

/// The state of a server at an instant.
struct State {
    /// The instant up to which the output is known.
    at: u64,
    /// The amount in the bucket. If negative, the amount that waits in the queue.
    in_hand: i128,
    /// The bucket's capacity.
    most: i128,
}

impl State {
    /// Advances until the bucket or the queue is empty, at most to `end`. Until then the stream arrives at rate `comes`, and other traffic
    /// leaves the rate `rate` to it.
    fn piece(&mut self, end: u64, (comes, rate): (u64, i64), leaving: &mut Vec<(u64, u64)>) {
        let (arrives, net) = (i128::from(comes), i128::from(rate));
        let carries = net.max(0);
        let waits = self.in_hand < 0 || self.in_hand == 0 && arrives > net;
        // The output rate, and the change of `in_hand` per nanosecond.
        let (leaves, change) = if waits { (carries, carries - arrives) } else { (arrives, net - arrives) };
        let runs_out = if waits { change > 0 } else { change < 0 };
        let span = i128::from(end - self.at);
        let whole = if runs_out { (self.in_hand / -change).min(span) } else { span };
        if whole > 0 {
            step(leaving, self.at, to_rate(leaves));
            self.at += u64::try_from(whole).unwrap_or(u64::MAX);
            self.in_hand = self.in_hand.saturating_add(change.saturating_mul(whole)).min(self.most);
        }
        if self.at == end || self.in_hand == 0 {
            return;
        }
        // The bucket or the queue empties within this nanosecond.
        let leaves = match waits {
            true => arrives - self.in_hand,
            false if net >= 0 => net + self.in_hand,
            // The stream and the other traffic share what is left in the bucket.
            false => (arrives * self.in_hand + (arrives - net - 1)) / (arrives - net),
        };
        step(leaving, self.at, to_rate(leaves));
        self.at += 1;
        self.in_hand = if waits { self.in_hand + change } else { leaves - arrives }.min(self.most);
    }
}

fn to_rate(bps: i128) -> u64 {
    u64::try_from(bps).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::available::carried;

    /// The rate in bits per second that carries one byte per nanosecond.
    const GIGABYTE: u64 = 8_000_000_000;
    const BYTE: u128 = 8_000_000_000;

    fn link(steps: &[(u64, u64)]) -> Server {
        Server { left: steps.iter().map(|(at, bps)| (*at, bps.cast_signed())).collect(), bucket: 0 }
    }

    #[test]
    fn lumps_leave_one_after_the_other_at_the_rate_of_the_link() {
        let gone = sent(&[(10, 100 * BYTE), (50, 100 * BYTE), (300, BYTE)], GIGABYTE);
        assert_eq!(gone, [(10, GIGABYTE), (210, 0), (300, GIGABYTE), (301, 0)]);
        // At a third of a byte per nanosecond, 100 bytes take 300 nanoseconds. The rest is sent in part of the next nanosecond.
        let gone = sent(&[(0, 100 * BYTE)], 3 * GIGABYTE / 2 + 1);
        assert_eq!(carried(&gone, 0, 1_000), 100 * BYTE);
        assert_eq!(sent(&[], GIGABYTE), []);
    }

    #[test]
    fn excess_arrivals_wait_and_leave_when_the_link_has_capacity() {
        let arriving = [(0, GIGABYTE), (100, 0)];
        assert_eq!(through(&arriving, &link(&[(0, 2 * GIGABYTE)])), arriving);
        let half = through(&arriving, &link(&[(0, GIGABYTE / 2)]));
        assert_eq!(half, [(0, GIGABYTE / 2), (200, 0)]);
        // The link has an outage, and twice the rate after it.
        let outage = through(&arriving, &link(&[(0, GIGABYTE), (40, 0), (90, 2 * GIGABYTE)]));
        assert_eq!(outage, [(0, GIGABYTE), (40, 0), (90, 2 * GIGABYTE), (120, 0)]);
        assert_eq!(after(outage, 7), [(7, GIGABYTE), (47, 0), (97, 2 * GIGABYTE), (127, 0)]);
    }

    #[test]
    fn a_bucket_lets_a_burst_through_and_then_the_rate() {
        // The bucket is full with 60 bytes and refills at half a byte per nanosecond. Of an arrival of a byte per nanosecond, 120 bytes
        // pass at once.
        let policer = Server { left: vec![(0, GIGABYTE.cast_signed() / 2)], bucket: 60 * BYTE };
        let arriving = [(10, GIGABYTE), (210, 0)];
        assert_eq!(through(&arriving, &policer), [(10, GIGABYTE), (130, GIGABYTE / 2), (290, 0)]);
        // In a pause the bucket refills up to its capacity.
        let arriving = [(10, GIGABYTE), (130, 0), (1_000, GIGABYTE)];
        let passed = through(&arriving, &policer);
        assert_eq!(passed, [(10, GIGABYTE), (130, 0), (1_000, GIGABYTE), (1_120, GIGABYTE / 2)]);
    }

    #[test]
    fn others_that_offer_more_than_a_policer_lets_through_empty_its_bucket() {
        // The other traffic draws half a byte per nanosecond from the bucket, and the stream draws one byte: 60 bytes last 40 nanoseconds.
        let policer = Server { left: vec![(0, -GIGABYTE.cast_signed() / 2)], bucket: 60 * BYTE };
        assert_eq!(through(&[(0, GIGABYTE)], &policer), [(0, GIGABYTE), (40, 0)]);
        // A server without a bucket makes the stream wait.
        let empty = Server { bucket: 0, ..policer };
        assert_eq!(through(&[(0, 0), (10, GIGABYTE)], &empty), [(0, 0)]);
    }

    fn steps(most: u64) -> impl Strategy<Value = Vec<(u64, u64)>> {
        proptest::collection::vec((1_u64..200, 0..most), 1..10).prop_map(|steps| {
            let mut at = 0;
            let mut step = |(wait, rate)| {
                at += wait;
                (at, rate)
            };
            steps.into_iter().map(&mut step).collect()
        })
    }

    proptest! {
        /// Compares the service with network calculus. The amount served by `t` is a minimum over all `s`: the arrivals by `s`, plus what
        /// the server carries from `s` to `t`, plus the bucket.
        #[test]
        fn departures_agree_with_min_plus_algebra(
            arriving in steps(40), left in steps(30), bucket in 0_u64..3_000,
        ) {
            let server = Server { bucket: u128::from(bucket), ..link(&left) };
            let left_by = through(&arriving, &server);
            let begin = arriving[0].0;
            let came = |at: u64| if at <= begin { 0 } else { carried(&arriving, begin, at) };
            for t in (begin..begin + 2_500).step_by(7) {
                let by = |s: u64| came(s) + carried(&left, s, t) + u128::from(bucket);
                let wanted = (begin..=t).map(by).min().expect("an instant").min(came(t));
                prop_assert_eq!(carried(&left_by, left_by[0].0, t), wanted, "by {}", t);
            }
        }
    }
}
