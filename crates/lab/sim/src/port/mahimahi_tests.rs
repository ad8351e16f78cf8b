//! Transmissions at opportunities compared with mahimahi's rule, written here as a loop over milliseconds.

use std::collections::VecDeque;

use firstflight::{Rate, Span};
use proptest::prelude::*;

use super::*;
use crate::aqm::{CoDelSpec, Discipline};
use crate::packet::FlowKey;
use crate::quantity::QueueLimit;
use crate::spec::LinkSpec;
use crate::trace::RateTrace;

const MS: u64 = 1_000_000;

/// Returns the millisecond at which each packet leaves by mahimahi's rule; `None` for a packet that finds `limit` others in the queue.
/// Packets are (arrival in nanoseconds, IP bytes), in order.
fn by_the_rule(file: &[u32], start: u64, limit: usize, packets: &[(u64, u32)]) -> Vec<Option<u64>> {
    let mut left = vec![None; packets.len()];
    let mut queue: VecDeque<(usize, u32)> = VecDeque::new();
    let mut in_transit: Option<(usize, u32)> = None;
    let period = u64::from(*file.last().expect("a line"));
    let mut arrivals = packets.iter().enumerate().peekable();
    for at in 1..100_000_u64 {
        // A packet that arrives within a millisecond comes after the opportunities of that millisecond.
        while let Some((name, (_, wire))) = arrivals.next_if(|(_, (arrival, _))| arrival / MS < at) {
            if queue.len() < limit {
                queue.push_back((name, wire + 4));
            }
        }
        for line in file {
            // The last line of a period is at the time zero of the next one.
            let inside = at + start;
            let periods = if inside < u64::from(*line) { continue } else { inside - u64::from(*line) };
            if periods % period != 0 {
                continue;
            }
            let mut bytes = 1504;
            while let Some((name, wire)) = in_transit.take().or_else(|| queue.pop_front()) {
                if wire > bytes {
                    in_transit = Some((name, wire - bytes));
                    break;
                }
                bytes -= wire;
                left[name] = Some(at);
                if bytes == 0 {
                    break;
                }
            }
        }
    }
    left
}

/// Returns the same by a port.
fn by_the_port(link: LinkSpec, packets: &[(u64, u32)]) -> Vec<Option<u64>> {
    let mut port = Port::new(&PortSpec::new(link), 1).expect("a link");
    let mut left = vec![None; packets.len()];
    let mut take = |port: &mut Port<usize>, until: Time| {
        while let Some(at) = port.next_event().filter(|at| *at <= until) {
            while let Some(outcome) = port.event(at) {
                if let Outcome::Left(departure) = outcome {
                    assert_eq!(departure.at.nanos() % MS, 0);
                    left[departure.payload] = Some(departure.at.nanos() / MS);
                }
            }
        }
    };
    for (name, (at, wire)) in packets.iter().enumerate() {
        let at = Time::from_nanos(*at);
        take(&mut port, at);
        let bytes = u16::try_from(*wire).expect("a packet");
        let _ = port.enter(at, Arriving::new(bytes, FlowKey { hash: 7, stream: 0 }, name));
    }
    take(&mut port, Time::from_nanos(90_000 * MS));
    left
}

fn link(file: &[u32], start: u64, limit: u32) -> LinkSpec {
    let trace = RateTrace::opportunities(file).expect("a trace").starting_at(Span::from_millis(start));
    LinkSpec {
        rates: Some(trace),
        queue: QueueLimit::Packets(limit),
        ..LinkSpec::new(Some(Rate::from_bps(12_000_000)), Span::ZERO)
    }
}

#[test]
fn full_packets_leave_one_an_opportunity_and_unused_opportunities_are_lost() {
    let file = [2, 2, 5, 9];
    let full = |at| (at, 1500);
    let packets = [full(0), full(1), full(2), full(12 * MS), full(12 * MS), full(20 * MS)];
    let left = by_the_port(link(&file, 0, 100), &packets);
    // The period is 9 ms: opportunities are at 2, 2, 5, 9, 11, 11, 14, 18, 20, 20, 23 ms and so on.
    assert_eq!(left, [2, 2, 5, 14, 18, 23].map(Some));
    assert_eq!(by_the_rule(&file, 0, 100, &packets), left);
}

#[test]
fn small_packets_share_an_opportunity_and_one_that_does_not_fit_continues_at_the_next() {
    let file = [1, 2, 3, 10];
    // 700 + 4 bytes twice leave 96 bytes for the third packet, which ends 608 bytes into the next opportunity.
    let packets = [(0, 700), (0, 700), (0, 700), (0, 40), (0, 1500)];
    let left = by_the_port(link(&file, 0, 100), &packets);
    assert_eq!(left, [1, 1, 2, 2, 3].map(Some));
    assert_eq!(by_the_rule(&file, 0, 100, &packets), left);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Compares packets of all sizes and times, at any start of a trace, in a queue of any limit, with and without a queue discipline that
    /// never drops here.
    #[test]
    fn departures_are_what_the_rule_says(
        gaps in proptest::collection::vec(0_u32..6, 1..12),
        plan in proptest::collection::vec((0_u64..12, 0_u32..4), 1..60),
        start in 0_u64..40,
        limit in prop_oneof![Just(1_000_u32), 1_u32..8],
    ) {
        let mut at = 1;
        let file: Vec<u32> = gaps.iter().map(|gap| { at += gap; at }).collect();
        let mut now = 0;
        let packets: Vec<(u64, u32)> = plan.iter().map(|(wait, size)| {
            now += wait * MS / 3;
            (now, [40, 576, 1500, 4000][*size as usize])
        }).collect();
        let wanted = by_the_rule(&file, start, limit as usize, &packets);
        prop_assert_eq!(&by_the_port(link(&file, start, limit), &packets), &wanted);
        let patient = CoDelSpec { target: Span::from_secs(1_000), interval: Span::from_secs(1_000), ..CoDelSpec::default() };
        let managed = LinkSpec { discipline: Discipline::CoDel(patient), ..link(&file, start, limit) };
        prop_assert_eq!(&by_the_port(managed, &packets), &wanted);
    }
}
