//! Transmission times under real connections, in virtual time.

use std::sync::Arc;
use std::time::Duration;

use firstflight::avoidance::Reno;
use firstflight::restart::Nssr;
use firstflight::{Bytes, Controller, Event, Pacing, Path, Plan, Rate, Span, Startup, Step, Tag};
use firstflight_noq::{Choice, Factory};

use crate::net::{Net, Options};
use crate::simulated::{Link, Records, breaches, events};

/// The same plan for ever once the handshake is over.
#[derive(Clone, Copy, Debug)]
struct Fixed(Pacing, Tag);

impl Startup for Fixed {
    fn on(&mut self, event: &Event<'_>, _: &Path) -> Step {
        if matches!(event, Event::TrainCut(_)) {
            self.1 = Tag(self.1.0 + 1);
        }
        Step::Stay
    }

    fn plan(&self, _: &Path) -> Plan {
        Plan { pacing: self.0, tag: self.1, ..Plan::ack_clocked(Bytes::new(400_000), None) }
    }
}

/// Returns the transmission times of full packets in two transfers with an idle time between.
fn departures(pacing: Pacing) -> [Vec<u64>; 2] {
    let factory = Factory::of(Controller::new(Fixed(pacing, Tag(1)), Nssr, Reno::new()));
    let mut net = Net::new(Arc::new(factory), Link::default(), Options::default());
    net.run_for(Duration::from_millis(500));
    [200_000, 100_000].map(|bytes| {
        net.departures.clear();
        net.transfer(bytes);
        net.run_for(Duration::from_secs(3));
        net.departures.iter().filter(|(_, size)| *size == 1_200).map(|(at, _)| *at).collect()
    })
}

fn gaps(times: &[u64]) -> Vec<u64> {
    times.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[test]
fn a_rate_is_exact_from_the_first_packet_and_after_idle() {
    for mbit in [2, 20, 100, 1_000] {
        let rate = Rate::from_bps(mbit * 1_000_000);
        let due = rate.time_for(Bytes::new(1_228)).nanos();
        for (transfer, times) in
            departures(Pacing::Rate { rate, burst: Bytes::new(1_228) }).iter().enumerate()
        {
            let gaps = gaps(times);
            assert!(gaps.len() > 70, "transfer {transfer}");
            let off = gaps.iter().map(|gap| gap.abs_diff(due)).max().expect("gaps");
            // An ACK or a timer during a wait costs up to a byte, and the first gap after a pause two.
            let bytes = rate.time_for(Bytes::new(8)).nanos();
            assert!(off <= 1_000 + bytes, "{mbit} Mbit/s, transfer {transfer}: {due}, {gaps:?}");
        }
    }
}

#[test]
fn the_ack_clock_is_not_paced() {
    let [first, second] = departures(Pacing::AckClock);
    for times in [first, second] {
        let burst = times.iter().take_while(|at| **at < times[0] + 80 * 600).count();
        assert!(burst >= 80, "{burst} packets at 16 Gbit/s, of {}", times.len());
    }
}

#[test]
fn gaps_of_trains_are_exact_within_a_microsecond_or_three_bytes() {
    for micros in [10, 48, 96, 240, 480, 960, 1_700, 5_000] {
        let gap = Span::from_micros(micros);
        let [times, _] = departures_of_train(gap);
        let gaps = gaps(&times);
        assert_eq!(gaps.len(), 31, "32 packets, then hold");
        let off = |gaps: &[u64]| gaps.iter().map(|is| is.abs_diff(gap.nanos())).max().unwrap_or(0);
        // At first nothing arrives. From then on each poll of noq's bucket costs less than a byte.
        let quiet = times.iter().filter(|at| **at < times[0] + 18_000_000).count() - 1;
        assert!(off(&gaps[..quiet]) <= 1_000, "{micros} us: {gaps:?}");
        let bytes = gap.nanos() * 3 / 1_200;
        assert!(off(&gaps[quiet..]) <= bytes.max(1_000), "{micros} us: {gaps:?}");
    }
}

/// Returns the transmission times of a train of 32 packets, and those after it.
fn departures_of_train(gap: Span) -> [Vec<u64>; 2] {
    let pacing = Pacing::Train { packets: 32, gap };
    let factory = Factory::of(Controller::new(Fixed(pacing, Tag(1)), Nssr, Reno::new()));
    let mut net = Net::new(Arc::new(factory), Link::default(), Options::default());
    net.run_for(Duration::from_millis(500));
    net.departures.clear();
    net.write(100_000);
    net.run_for(Duration::from_millis(30 + gap.nanos() * 32 / 1_000_000));
    let train = net.full_departures();
    net.departures.clear();
    net.run_for(Duration::from_millis(10));
    [train, net.full_departures()]
}

#[test]
fn paced_start_sends_its_trains_with_exact_gaps() {
    let records = Arc::<Records>::default();
    let choice = Choice::named("paced").expect("registered");
    let factory = Factory::in_virtual_time(&choice).expect("trains are exact").observer(records.clone());
    let link = Link { byte_nanos: 400, ..Link::default() };
    let options = Options { dense_acks: true, ..Options::default() };
    let mut net = Net::new(Arc::new(factory), link, options);
    net.transfer(2_000_000);
    let records = records.take();
    assert_eq!(breaches(&records), Vec::<String>::new());
    let mut trains = 0;
    let sent = events(&records, |event, path| match event {
        Event::Sent(sent) => Some((sent.tag, path.now.nanos())),
        _ => None,
    });
    let plans: Vec<(Tag, Span)> = records
        .iter()
        .filter_map(|record| match record.plan.pacing {
            Pacing::Train { gap, .. } if !gap.is_zero() => Some((record.plan.tag, gap)),
            _ => None,
        })
        .collect();
    let mut tags: Vec<(Tag, Span)> = plans;
    tags.dedup();
    for (tag, gap) in tags {
        let times: Vec<u64> = sent.iter().filter(|(of, _)| *of == tag).map(|(_, at)| *at).collect();
        let gaps = gaps(&times);
        trains += usize::from(gaps.len() > 2);
        let off = gaps.iter().map(|is| is.abs_diff(gap.nanos())).max().unwrap_or(0);
        // An ACK during a gap costs less than a byte, and the next packet is back on schedule: a byte takes 414 ns at 497 us.
        assert!(off <= 1_500, "train {tag:?} of {gap:?}: {gaps:?}");
    }
    assert!(trains > 1, "several trains with a gap");
}
