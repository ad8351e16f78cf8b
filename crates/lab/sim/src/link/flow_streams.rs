//! The random streams of the flows on a link.

use std::collections::BTreeMap;

use crate::random::Stream;

/// The random streams of flows, by the flow's number.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowStreams {
    /// Streams of the flows from number zero on without a gap.
    first: Vec<Stream>,
    /// Streams of the flows whose numbers are far beyond the others.
    far: BTreeMap<usize, Stream>,
}

/// Number of streams to fill a gap from which a flow's number counts as far beyond the others.
const GAP: usize = 1 << 10;

impl FlowStreams {
    /// Returns the stream of a flow. Streams are created when they are first needed, because flows may be added
    /// during a run.
    pub(super) fn of(&mut self, flow: usize, make: impl Fn(u32) -> Stream) -> &mut Stream {
        let new = |flow: usize| make(u32::try_from(flow).unwrap_or(u32::MAX));
        let Self { first, far } = self;
        if flow >= first.len() + GAP {
            return far.entry(flow).or_insert_with(|| new(flow));
        }
        while first.len() <= flow {
            let next = first.len();
            first.push(far.remove(&next).unwrap_or_else(|| new(next)));
        }
        &mut first[flow]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    #[test]
    fn flow_streams_are_independent_of_order_and_use_memory_per_flow() {
        let new = |minor| Stream::new(7, Purpose::Loss, 0, minor);
        let mut streams = FlowStreams::default();
        let mut draws = vec![Vec::new(); 4_000];
        for flow in [3, 3_000, 2_000, 20_000_000, 3, 3_000, 900, 1_900, 2_000, 2_900, 3_000, 20_000_000] {
            let bits = streams.of(flow, new).bits();
            draws[flow % 4_000].push((flow, bits));
        }
        for (flow, bits) in draws.iter().flatten() {
            let place = draws[flow % 4_000].iter().position(|draw| draw == &(*flow, *bits));
            let mut alone = new(u32::try_from(*flow).expect("small"));
            let expected = (0..=place.expect("drawn")).map(|_| alone.bits()).last();
            assert_eq!(Some(*bits), expected, "{flow}");
        }
        assert!(streams.first.len() + streams.far.len() < 4_000, "not one for each of 20 000 000");
    }
}
