use std::vec::Vec;

use crate::{Bytes, Rate};
use proptest::prelude::*;

use super::*;
use crate::probe::control::Control;

extern crate std;

/// A FIFO link shared with constant-rate traffic. Times are in nanoseconds; each packet of both kinds takes `GAP`.
struct Link {
    /// Time at which the link is free.
    free: u64,
    /// Arrival time of the next packet of other traffic, and the spacing of these packets.
    other: (u64, u64),
}

const GAP: u64 = 1_000_000;
const WIRE: Bytes = Bytes::new(1_000);
const CAPACITY: u64 = 8_000_000;
/// RTT without queueing, in nanoseconds.
const RTT: u64 = 40_000_000;

impl Link {
    /// Creates a link of which other traffic uses `share` thousandths.
    fn with(share: u64) -> Self {
        Self { free: 0, other: (0, (GAP * 1_000).checked_div(share).unwrap_or(u64::MAX)) }
    }

    fn carry(&mut self, at: u64) -> u64 {
        while self.other.0 <= at {
            self.free = self.free.max(self.other.0) + GAP;
            self.other.0 = self.other.0.saturating_add(self.other.1);
        }
        self.free = self.free.max(at) + GAP;
        self.free
    }
}

/// Runs a probe over a link that drops the packets `lost` of each train.
fn probe(setting: Setting, link: &mut Link, lost: &[u16]) -> (Estimate, Vec<Measured>) {
    let mut prober = Prober::new(setting).expect("a setting");
    let (mut now, mut trains) = (1_000_000_000, Vec::new());
    while let Some(train) = prober.plan().train {
        let mut arrivals = Vec::new();
        for packet in 0..train.packets {
            let at = now + train.gap.nanos() * u64::from(packet);
            assert_eq!(prober.on(&Event::Sent { train: train.number, packet }, Time::from_nanos(at)), None);
            let came = link.carry(at + RTT / 2);
            if !lost.contains(&packet) {
                arrivals.push((packet, came));
            }
        }
        let mut measured = None;
        for (packet, came) in arrivals {
            let at = Time::from_nanos(came);
            let event = Event::Arrived { train: train.number, packet, at };
            now = now.max(came + RTT / 2);
            measured = measured.or(prober.on(&event, Time::from_nanos(now)));
        }
        if measured.is_none() {
            let wake = prober.plan().wake.expect("all have left").nanos();
            now = now.max(wake);
            measured = prober.on(&Event::Woken, Time::from_nanos(now));
        }
        trains.push(measured.expect("the train is over"));
    }
    (*prober.estimate(), trains)
}

fn bps(rate: Option<Rate>) -> u64 {
    rate.expect("a rate").bps()
}

#[test]
fn a_bracketed_turning_point_is_within_the_tolerance_at_any_share() {
    for share in [0, 100, 250, 400, 500, 600, 750, 800, 900] {
        let (estimate, trains) = probe(Setting::of(Control::Bracket, WIRE), &mut Link::with(share), &[]);
        let available = CAPACITY * (1_000 - share) / 1_000;
        assert_eq!(bps(estimate.capacity), CAPACITY, "of {share}");
        let ptr = bps(estimate.ptr);
        assert!(ptr.abs_diff(available) * 100 <= available * 14, "{ptr} of {available}: {trains:#?}");
        let (low, high) = (bps(estimate.low), bps(estimate.high));
        // The error is at most one packet in 15 gaps.
        assert!(
            low * 93 <= available * 100 && available * 93 <= high * 100,
            "{low} to {high} of {available}"
        );
        assert!(estimate.trains <= 10 && estimate.packets <= 160, "{estimate:?}");
    }
}

#[test]
fn paper_gaps_start_at_half_the_capacity_gap_and_grow_by_eighths() {
    let (estimate, trains) = probe(Setting::of(Control::Paper, WIRE), &mut Link::with(360), &[]);
    let asked: Vec<u64> = trains.iter().map(|train| train.asked.nanos()).collect();
    assert_eq!(asked[..4], [0, 500_000, 625_000, 750_000]);
    assert_eq!(estimate.ending, Some(Ending::Turned));
    let last = trains.last().expect("a train");
    assert_eq!(last.verdict, Verdict::Equal);
    let (left, came) = (last.departures.nanos(), last.arrivals.nanos());
    assert!(came - left < came / 10, "grown from {left} to {came}");
    assert_eq!(estimate.ptr, last.arrival_rate(WIRE));
}

#[test]
fn the_program_stops_at_the_second_equal_gap_and_reports_the_first() {
    let (estimate, trains) = probe(Setting::of(Control::Program, WIRE), &mut Link::with(0), &[]);
    let of_gap = |gap: u64| trains.iter().filter(|train| train.asked.nanos() == gap).count();
    assert_eq!([0, 750_000, 1_000_000, 1_250_000].map(of_gap), [3, 3, 3, 3]);
    assert_eq!((estimate.trains, estimate.packets), (12, 720));
    assert_eq!(bps(estimate.ptr), CAPACITY);
    assert_eq!(estimate.source_gap, Some(Span::from_nanos(1_000_000)));
}

/// The increased gaps are those that hold another packet: 9 of 25 at 36 % other traffic.
#[test]
fn igi_takes_the_increased_gaps_from_the_capacity() {
    let gap = Span::from_nanos(GAP * 25 / 16);
    let setting = Setting { packets: 101, ..Setting::of(Control::Gap(gap), WIRE) };
    let (estimate, _) = probe(setting, &mut Link::with(360), &[]);
    assert!(bps(estimate.igi).abs_diff(CAPACITY * 64 / 100) < CAPACITY / 100, "{estimate:?}");
    assert_eq!(estimate.ending, Some(Ending::Tested));
}

#[test]
fn gaps_beside_a_lost_packet_are_not_counted() {
    let (estimate, trains) = probe(Setting::of(Control::Bracket, WIRE), &mut Link::with(500), &[4, 8]);
    assert!(trains.iter().all(|train| (train.gaps, train.lost) == (11, 2)), "{trains:?}");
    assert_eq!(estimate.lost, 2 * u32::from(estimate.trains));
    assert!(bps(estimate.ptr).abs_diff(CAPACITY / 2) < CAPACITY / 14, "{estimate:?}");
}

#[test]
fn a_path_that_delivers_little_ends_the_probing() {
    let every_other: Vec<u16> = (0..16).step_by(2).collect();
    let (estimate, trains) = probe(Setting::of(Control::Bracket, WIRE), &mut Link::with(0), &every_other);
    assert_eq!((estimate.ending, trains.len()), (Some(Ending::Void), 2));
    assert_eq!((estimate.capacity, estimate.ptr), (None, None));
}

#[test]
fn traffic_that_fills_the_link_has_no_turning_point() {
    let (estimate, _) = probe(Setting::of(Control::Bracket, WIRE), &mut Link::with(1_000), &[]);
    assert_eq!((estimate.ending, estimate.ptr), (Some(Ending::Trains), None));
}

#[test]
fn a_few_packets_that_come_together_do_not_make_the_capacity() {
    let mut log = Log::default();
    let mut at = 0;
    for packet in 0..32_u16 {
        log.left(packet, Time::ZERO);
        at += if packet % 10 == 9 { 3_000 } else { GAP + u64::from(packet) * 1_000 };
        log.came(packet, Time::from_nanos(at));
    }
    let gap = log.capacity_gap().expect("gaps").nanos();
    assert!(gap.abs_diff(GAP) < GAP / 20, "{gap}");
}

#[test]
fn an_impossible_setting_is_refused() {
    let setting = Setting::of(Control::Paper, WIRE);
    for (setting, fault) in [
        (Setting { packets: 2, ..setting }, Faulty::Packets),
        (Setting { packets: 257, ..setting }, Faulty::Packets),
        (Setting { most_trains: 0, ..setting }, Faulty::Trains),
        (Setting { repeats: 0, ..setting }, Faulty::Trains),
        (Setting { wire: Bytes::ZERO, ..setting }, Faulty::Wire),
        (Setting { tolerance_ppm: 1_000_000, ..setting }, Faulty::Tolerance),
    ] {
        assert_eq!(Prober::new(setting).err(), Some(fault));
    }
}

proptest! {
    /// The prober accepts any reports of a host in any order, and ends after at most the allowed number of trains.
    #[test]
    fn whatever_comes_the_trains_are_bounded(
        which in 0usize..4,
        events in proptest::collection::vec((0u8..3, 0u16..6, 0u16..6, any::<u64>(), any::<u64>()), 0..400),
    ) {
        let control = [Control::Bracket, Control::Paper, Control::Program, Control::Gap(Span::MAX)][which];
        let setting = Setting { packets: 4, most_trains: 5, ..Setting::of(control, WIRE) };
        let mut prober = Prober::new(setting).expect("a setting");
        let mut trains = 0;
        for (kind, train, packet, at, now) in events {
            let (at, now) = (Time::from_nanos(at.min(u64::MAX - 1)), Time::from_nanos(now.min(u64::MAX - 1)));
            let train = prober.plan().train.map_or(train, |own| own.number.wrapping_add(train / 4));
            let event = match kind {
                0 => Event::Sent { train, packet },
                1 => Event::Arrived { train, packet, at },
                _ => Event::Woken,
            };
            trains += u16::from(prober.on(&event, now).is_some());
            prop_assert!(trains <= 5);
            prop_assert_eq!(prober.estimate().trains, trains);
            prop_assert_eq!(prober.plan().train.is_none(), prober.estimate().ending.is_some());
        }
    }
}
