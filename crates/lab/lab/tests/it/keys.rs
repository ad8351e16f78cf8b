//! Effects of the path's keys on a run.

use firstflight_lab::{How, race, record};
use firstflight_measure::Row;
use firstflight_scenario::{Options, Scenario, controller_of, parse_choices};
use firstflight_trace::read;

type Given<'a> = &'a [(&'a str, &'a str)];

fn scenario(given: Given<'_>) -> Scenario {
    let mut options = Options::default();
    for (key, text) in given {
        options.set(key, text).expect(text);
    }
    Scenario::resolve(&options).expect("a scenario")
}

fn rows(path: Given<'_>, more: Given<'_>) -> Vec<Row> {
    let choices = parse_choices("slow-start").expect("a scheme");
    let results = race(&scenario(&[path, more].concat()), &choices, &How::default()).expect("a race");
    results.into_iter().flat_map(|result| result.rows).collect()
}

fn row(path: Given<'_>, more: Given<'_>) -> Row {
    rows(path, more).remove(0)
}

fn fct(row: &Row) -> f64 {
    row.fct_s.flatten().expect("it finishes")
}

/// Returns the trace of a run of slow start.
fn trace(path: Given<'_>, more: Given<'_>) -> String {
    let choices = parse_choices("slow-start").expect("a scheme");
    record(&scenario(&[path, more].concat()), &choices[0], 1).expect("a run")
}

#[test]
fn ack_loss_removes_acks_without_removing_data() {
    let path = [("rate", "10mbit"), ("rtt", "20ms"), ("size", "300kB"), ("queue", "1000p"), ("ack", "every")];
    let acks = |more| trace(&path, more).lines().filter(|line| line.contains("\"acked\"")).count();
    let (all, fewer) = (acks(&[]), acks(&[("ack-loss", "20%")]));
    assert!(fewer * 10 < all * 9 && fewer * 10 > all * 7, "{fewer} of {all}");
    let row = row(&path, &[("ack-loss", "20%")]);
    assert_eq!(row.packets_lost, 0);
    assert!(row.fct_s.flatten() >= row.ideal_fct_s.flatten(), "{row:?}");
}

#[test]
fn a_slow_receiver_access_link_becomes_the_bottleneck_also_in_the_ideal() {
    let path = [("rate", "100mbit"), ("rtt", "40ms"), ("size", "1MB")];
    let slow = row(&path, &[("receiver-access-rate", "10mbit"), ("queue", "1000p")]);
    let cost = slow.cost.flatten().expect("a cost");
    assert!((1.0..1.5).contains(&cost), "{cost}");
    let alone = row(&[("rate", "10mbit")], &[path[1], path[2], ("queue", "1000p")]);
    let ideal = |row: &Row| row.ideal_fct_s.flatten().expect("an ideal");
    assert!((ideal(&slow) - ideal(&alone)).abs() < 2e-6, "{} {}", ideal(&slow), ideal(&alone));
    assert!((fct(&slow) - fct(&alone)).abs() < 0.02, "{} {}", fct(&slow), fct(&alone));
    // The access link's queue is as large as the bottleneck's, and drops.
    let lossy = row(&path, &[("receiver-access-rate", "10mbit"), ("queue", "30p")]);
    assert!(lossy.packets_lost > 0);
    // A fast link only adds its transmission time of a packet.
    let fast = row(&path, &[("receiver-access-rate", "10gbit")]);
    assert!((fct(&fast) - fct(&row(&path, &[]))).abs() < 1e-3);
}

#[test]
fn the_first_timeout_is_what_is_said() {
    // The first lost SYN or SYN-ACK costs the initial timeout, and the next one twice that.
    let path = [("rate", "10mbit"), ("rtt", "40ms"), ("size", "1p"), ("loss", "20%"), ("runs", "30")];
    let (one, three) = (rows(&path, &[]), rows(&path, &[("initial-rto", "3s")]));
    let later: Vec<f64> = one.iter().zip(&three).map(|(one, three)| fct(three) - fct(one)).collect();
    assert!(later.iter().any(|later| (later - 2.0).abs() < 1e-6), "{later:?}");
    assert!(later.iter().any(|later| later.abs() < 1e-9), "{later:?}");
}

#[test]
fn the_least_timeout_is_under_the_timeout_or_under_its_variation() {
    let path = [("rate", "10mbit"), ("rtt", "100ms"), ("size", "5p"), ("loss", "20%"), ("runs", "40")];
    let of = |more| rows(&path, more);
    let (stack, timeout) = (of(&[]), of(&[("rto-floor", "timeout")]));
    let variation = of(&[("rto-floor", "variation")]);
    assert!(stack.iter().zip(&timeout).all(|(stack, timeout)| stack.fct_s == timeout.fct_s));
    // Where the timeout is one RTT longer, the retransmission comes that much later.
    let later = timeout.iter().zip(&variation).filter(|(timeout, _)| timeout.timeouts > 0);
    let later: Vec<f64> = later.map(|(timeout, variation)| fct(variation) - fct(timeout)).collect();
    assert!(later.iter().any(|later| (0.09..0.12).contains(later)), "{later:?}");
}

#[test]
fn growth_while_the_application_limits_is_as_said_and_replays() {
    let path = [("rate", "20mbit"), ("rtt", "50ms"), ("size", "400p"), ("app", "20p,100ms"), ("iw", "2p")];
    let of = |rule| trace(&path, &[("app-limited-growth", rule)]);
    let traces = ["stack", "rfc7661", "linux", "ns2"].map(of);
    let record = |text: &str| text.split_once('\n').map(|(_, record)| record.to_owned()).expect("a header");
    assert_eq!(record(&traces[0]), record(&traces[1]), "the RFCs' stack goes by RFC 7661");
    assert_ne!(record(&traces[1]), record(&traces[2]));
    assert_ne!(record(&traces[1]), record(&traces[3]));
    for text in &traces {
        let (header, mut calls) = read(text.as_bytes()).expect("a header");
        let mut controller = controller_of(&header).expect("its controller");
        while let Some(record) = calls.next_call().expect("a line") {
            let (plan, notes) = controller.replay(&record.call, &record.path);
            assert_eq!((plan, notes), (record.plan, record.notes), "{} line {}", header.scheme, calls.line());
        }
    }
}

#[test]
fn slow_start_that_counts_bytes_doubles_under_delayed_acks() {
    let path =
        [("rate", "100mbit"), ("rtt", "80ms"), ("size", "1MB"), ("ack", "delayed"), ("queue", "2000p")];
    let (acks, bytes) = (row(&path, &[]), row(&path, &[("slow-start-counts", "bytes")]));
    assert!(fct(&bytes) + 0.08 < fct(&acks), "{} {}", fct(&bytes), fct(&acks));
}

/// On the path of HyStart's section 3, slow start continues above the limit, and the flight stays at about the BDP: the queue neither fills
/// nor empties.
#[test]
fn freebsd_inflight_limit_holds_the_sender_near_the_bdp() {
    let path =
        [("rate", "100mbit"), ("rtt", "240ms"), ("queue", "1bdp"), ("duration", "30s"), ("mss", "1448")];
    let (none, limited) = (row(&path, &[]), row(&path, &[("inflight-limit", "freebsd")]));
    assert!(none.packets_lost > 1_000, "slow start overshoots: {}", none.packets_lost);
    assert_eq!((limited.packets_lost, limited.timeouts), (0, 0), "the limit does not");
    assert!(limited.queue_peak_packets * 2 < none.queue_peak_packets, "{limited:?}");
    assert!((20.0..200.0).contains(&limited.queue_mean_packets), "{limited:?}");
    assert!(limited.throughput_bps > 0.8 * 100e6, "{limited:?}");
}

#[test]
fn inflight_limit_is_off_by_default_and_below_ten_milliseconds_rtt() {
    let far = [("rate", "100mbit"), ("rtt", "80ms"), ("size", "300kB")];
    assert_eq!(trace(&far, &[]), trace(&far, &[("inflight-limit", "none")]));
    assert_ne!(trace(&far, &[]), trace(&far, &[("inflight-limit", "freebsd")]));
    // The kernel's own threshold.
    let near = [("rate", "100mbit"), ("rtt", "5ms"), ("size", "1MB"), ("ack", "every"), ("queue", "5000p")];
    assert_eq!(trace(&near, &[]), trace(&near, &[("inflight-limit", "freebsd")]));
}

#[test]
fn a_pacing_timer_groups_paced_packets_without_changing_ack_clocked_ones() {
    let path = [("rate", "100mbit"), ("rtt", "40ms"), ("size", "3MB"), ("queue", "1000p"), ("ack", "every")];
    let of = |scheme: &str, more: Given<'_>| {
        let choices = parse_choices(scheme).expect("a scheme");
        let results =
            race(&scenario(&[&path[..], more].concat()), &choices, &How::default()).expect("a race");
        results.into_iter().flat_map(|result| result.rows).next().expect("a row")
    };
    let clocked = |more: Given<'_>| of("slow-start", more);
    assert_eq!(fct(&clocked(&[])).to_bits(), fct(&clocked(&[("pacing-timer", "1ms")])).to_bits());
    assert_eq!(fct(&clocked(&[])).to_bits(), fct(&clocked(&[("gso", "64kB")])).to_bits());
    let paced = |more: Given<'_>| of("slow-start-paced", more);
    let exact = paced(&[]);
    for rough in
        [&[("pacing-timer", "5ms")][..], &[("gso", "64kB")], &[("pacing-timer", "50us"), ("gso", "64kB")]]
    {
        let row = paced(rough);
        assert_ne!(fct(&row).to_bits(), fct(&exact).to_bits(), "{rough:?}");
        // Packets wait for at most one tick in each round trip.
        assert!(fct(&row) < fct(&exact) * 1.2, "{rough:?}: {} against {}", fct(&row), fct(&exact));
        assert_eq!((row.packets_lost, row.timeouts), (0, 0), "{rough:?}");
    }
    // Until the third round trip pacing is slower than the bottleneck, so only bursts cause queues.
    let queue = |more: Given<'_>| paced(&[&[("size", "100kB")], more].concat()).queue_peak_packets;
    let (smooth, rough) = (queue(&[]), queue(&[("pacing-timer", "5ms")]));
    assert!(rough >= smooth + 3, "{smooth} {rough}");
}

/// A packet takes 1.2 µs. Timers are late by up to sixteen packets, in which ACKs arrive. The profile `shared` of leap takes packets that are
/// late by more than three for packets that waited, and grows as slow start does.
#[test]
fn late_timers_take_no_pacing_rate() {
    let path = [("rate", "10gbit"), ("rtt", "4ms"), ("size", "40MB"), ("queue", "2bdp")];
    for scheme in ["slow-start-paced", "leap:profile=alone"] {
        let of = |noise| {
            let path = scenario(&[&path[..], &[("timer-noise", noise)]].concat());
            let choices = parse_choices(scheme).expect("a scheme");
            fct(&race(&path, &choices, &How::default()).expect("a race")[0].rows[0])
        };
        let (exact, late) = (of("none"), of("20us"));
        assert!((late / exact - 1.0).abs() < 0.05, "{scheme}: {late} against {exact}");
    }
}

#[test]
fn jitter_on_the_way_back_delays_acks_and_no_data() {
    let path = [("rate", "10mbit"), ("rtt", "40ms"), ("size", "300kB"), ("queue", "1000p")];
    let (calm, jittery) = (row(&path, &[]), row(&path, &[("reverse-jitter", "20ms")]));
    assert!(fct(&jittery) > fct(&calm));
    assert_eq!(jittery.packets_lost, 0);
    // One round trip carries all data, so only the SYN-ACK's delay counts.
    let short = [("rate", "10mbit"), ("rtt", "40ms"), ("size", "1p")];
    let late = fct(&row(&short, &[("reverse-jitter", "20ms")])) - fct(&row(&short, &[]));
    assert!((0.0..=0.02).contains(&late), "{late}");
}
