use firstflight::{Rate, Span, Time};
use firstflight_scenario::Options;
use firstflight_sim::{Arriving, FlowKey, Outcome};

use super::*;

fn scenario(keys: &[(&str, &str)]) -> Scenario {
    let mut options = Options::default();
    for (key, text) in keys {
        options.set(key, text).expect(text);
    }
    Scenario::resolve(&options).expect("a scenario")
}

fn path(keys: &[(&str, &str)]) -> Result<Path<u32>, PathError> {
    Path::new(&scenario(keys), Side::A)
}

/// Returns the time at which the last of `packets` packets leaves the path, if all enter it at time zero.
fn last(chain: &mut LinkChain<u32>, packets: u32) -> Span {
    (0..packets).for_each(|number| chain.enter(Time::ZERO, Arriving::new(1_500, FlowKey::hashed(1), number)));
    let left = std::iter::from_fn(|| chain.event(Time::from_nanos(60_000_000_000)));
    let at = left.filter_map(|outcome| match outcome {
        Outcome::Left(left) => Some(left.at),
        Outcome::Dropped(_) => None,
    });
    at.last().expect("a packet").since(Time::ZERO)
}

#[test]
fn the_links_are_those_of_a_race() {
    let mut single = path(&[("rate", "12mbit"), ("rtt", "40ms"), ("queue", "100p")]).expect("a path");
    assert_eq!((&single.bottlenecks, &single.returns), (&vec![1], &vec![0]));
    // A packet takes 0.1 ms on the access link and 1 ms on the bottleneck.
    assert_eq!(last(&mut single.forward, 10), Span::from_micros(20_000 + 100 + 10_000));
    assert_eq!(last(&mut single.reverse, 10), Span::from_micros(20_000 + 10 * 100));
}

#[test]
fn the_ways_may_differ() {
    let keys =
        [("rate", "12mbit"), ("rtt", "40ms"), ("reverse-rate", "1.2mbit"), ("reverse-rtt-share", "0.25")];
    let mut path = path(&keys).expect("a path");
    assert_eq!(last(&mut path.forward, 1), Span::from_micros(30_000 + 1_100));
    assert_eq!(last(&mut path.reverse, 1), Span::from_micros(10_000 + 10_000));
}

#[test]
fn hops_share_the_delay_and_each_may_be_crossed() {
    let keys = [("rate", "12mbit"), ("rtt", "40ms"), ("topology", "parking-lot:hops=4"), ("cross", "6mbit")];
    let mut path = path(&keys).expect("a path");
    assert_eq!(path.bottlenecks, [1, 2, 3, 4]);
    assert!(last(&mut path.forward, 1) >= Span::from_micros(20_000 + 100 + 4_000));
    let carried = path.forward.stats(Time::from_nanos(60_000_000_000));
    // Cross traffic of 6 Mbit/s in packets of 1500 bytes has 500 packets per second.
    assert!(carried[1..].iter().all(|link| (30_000..=30_002).contains(&link.packets)), "{carried:?}");
}

#[test]
fn keys_that_need_simulated_hosts_are_refused_by_name() {
    for (keys, key) in [
        ([("cross", "tcp:2"), ("topology", "single")], "cross"),
        ([("cross", "web:20%"), ("topology", "single")], "cross"),
        ([("cross", "5mbit"), ("topology", "parking-lot:hops=3,cross=through")], "topology"),
    ] {
        let all = [&keys[..], &[("rate", "20mbit")]].concat();
        let error = path(&all).expect_err(key);
        assert_eq!(error.key(), Some(key));
        assert!(error.to_string().starts_with(key), "{error}");
    }
    assert!(path(&[("rate", "20mbit"), ("topology", "parking-lot:hops=3,cross=through")]).is_ok());
}

#[test]
fn cross_traffic_and_traces_are_as_in_a_race() {
    let keys = [("rate", "12mbit"), ("rtt", "2ms"), ("queue", "9p"), ("rate-trace", "0s=12mbit,5ms=1.2mbit")];
    let mut path = path(&keys).expect("a path");
    assert!(last(&mut path.forward, 8) > Span::from_millis(30));
    assert_eq!(scenario(&keys).rate, Rate::from_bps(12_000_000));
}

#[test]
fn what_a_race_does_to_packets_is_done_to_real_ones() {
    let order = |keys: &[(&str, &str)]| {
        let all = [&[("rate", "12mbit"), ("rtt", "2ms"), ("queue", "2000p")], keys].concat();
        let mut chain = path(&all).expect("a path").forward;
        (0..1_000)
            .for_each(|number| chain.enter(Time::ZERO, Arriving::new(1_500, FlowKey::hashed(1), number)));
        let left = std::iter::from_fn(|| chain.event(Time::from_nanos(60_000_000_000)));
        let left = left.filter_map(|outcome| match outcome {
            Outcome::Left(left) => Some((left.payload, left.at.since(Time::ZERO), left.twice)),
            Outcome::Dropped(_) => None,
        });
        left.collect::<Vec<_>>()
    };
    let plain = order(&[]);
    assert!(plain.iter().map(|(number, ..)| *number).eq(0..1_000));
    let late = |left: &[(u32, Span, bool)]| left.windows(2).filter(|pair| pair[1].0 < pair[0].0).count();
    let displaced = order(&[("reorder", "5%,3p")]);
    assert_eq!((displaced.len(), late(&plain)), (1_000, 0));
    assert!((30..=70).contains(&late(&displaced)), "{}", late(&displaced));
    assert!((30..=70).contains(&late(&order(&[("reorder", "5%,2500us")]))));
    let twice = order(&[("duplicate", "5%")]);
    assert!((30..=70).contains(&twice.iter().filter(|(.., twice)| *twice).count()));
    assert!(twice.iter().zip(&plain).all(|(with, without)| (with.0, with.1) == (without.0, without.1)));
    // The outage begins during a transmission, which goes on after it.
    let silent = order(&[("outage", "100500us..400500us")]);
    assert!(silent.iter().zip(&plain).all(|(with, without)| {
        let gap = with.1 - without.1;
        gap == if without.1 > Span::from_micros(101_500) { Span::from_millis(300) } else { Span::ZERO }
    }));
    let framed = order(&[("aggregation", "8,50ms")]);
    assert!(framed.chunks(8).all(|frame| frame.iter().all(|one| one.1 == frame[0].1)));
    let lost = 1_000 - order(&[("loss", "gemodel:2%,20%")]).len();
    assert!((40..=160).contains(&lost), "{lost}");
}

#[test]
fn mahimahis_opportunities_drive_real_packets_as_its_rule_says() {
    let file = std::env::temp_dir().join(format!("firstflight-emulate-{}", std::process::id()));
    std::fs::write(&file, "2\n2\n5\n9\n").expect("a file");
    let name = file.to_str().expect("a name").to_owned();
    let keys = [
        ("rate", "12mbit"),
        ("rtt", "2ms"),
        ("access-rate", "100gbit"),
        ("queue", "100p"),
        ("rate-trace", &name),
    ];
    let mut path = path(&keys).expect("a path");
    std::fs::remove_file(&file).expect("the file");
    // Two full packets and two of 700 bytes arrive at once, a packet after 12 ms, and one at the opportunity of 20 ms.
    let packets = [(0, 1_500), (0, 1_500), (0, 700), (0, 700), (12, 1_500), (20, 1_500)];
    let mut left = Vec::new();
    let mut take = |chain: &mut LinkChain<u32>, until: Time| {
        while let Some(at) = chain.next_event().filter(|at| *at <= until) {
            while let Some(outcome) = chain.event(at) {
                let Outcome::Left(packet) = outcome else { panic!("a drop") };
                // Half of the round trip follows the bottleneck.
                left.push((packet.payload, (packet.at.nanos() - 1_000_000) / 1_000_000));
            }
        }
    };
    for (number, (at, bytes)) in (0..).zip(packets) {
        let at = Time::from_nanos(at * 1_000_000);
        take(&mut path.forward, at);
        path.forward.enter(at, Arriving::new(bytes, FlowKey::hashed(1), number));
    }
    take(&mut path.forward, Time::from_nanos(1_000_000_000));
    // The period is 9 ms: opportunities are at 2, 2, 5, 9, 11, 11, 14, 18, 20, 20 and 23 ms. The two small packets share that of 5 ms.
    assert_eq!(left, [(0, 2), (1, 2), (2, 5), (3, 5), (4, 14), (5, 23)]);
}

#[test]
fn a_delay_over_time_is_that_of_a_race() {
    let keys = [("rate", "12mbit"), ("rtt", "40ms"), ("delay-trace", "0s=0,5ms=30ms")];
    let mut path = path(&keys).expect("a path");
    assert_eq!(last(&mut path.forward, 3), Span::from_micros(20_000 + 100 + 3_000));
    path = self::path(&keys).expect("a path");
    assert_eq!(last(&mut path.forward, 10), Span::from_micros(20_000 + 100 + 10_000 + 30_000));
}
