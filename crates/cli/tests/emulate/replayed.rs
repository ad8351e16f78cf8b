//! A path treats real packets like the simulator's links treat packets that arrive at the same instants.

use std::collections::BTreeMap;
use std::fs::File;
use std::net::IpAddr;

use firstflight::{Span, Time};
use firstflight_capture::Reader;
use firstflight_emulate::{B, Path, Side};
use firstflight_scenario::{Options, Scenario};
use firstflight_sim::{Arriving, FlowKey, Outcome};
use firstflight_wire::read_passing;

use crate::common::{folder, stderr, text};
use crate::machine::can_run;
use crate::setting::{number, run};

/// The packets of a log that went to host B: those that entered, with their instants, and those that were delivered.
struct Recorded {
    entered: Vec<(u64, Vec<u8>)>,
    delivered: Vec<Vec<u8>>,
}

fn recorded(log: &std::path::Path) -> Recorded {
    let mut capture = Reader::new(File::open(log).expect("a log")).expect("a log");
    let mut found = Recorded { entered: Vec::new(), delivered: Vec::new() };
    while let Some(frame) = capture.next_frame().expect("a whole log") {
        let to_b = read_passing(frame.data).is_some_and(|packet| packet.destination == IpAddr::V4(B.v4));
        match frame.interface {
            0 if to_b => found.entered.push((frame.at, frame.data.to_vec())),
            1 if to_b => found.delivered.push(frame.data.to_vec()),
            _ => {}
        }
    }
    found
}

/// Returns the packets that the path delivers if packets enter at these instants, in order, and the number that it drops or marks.
fn replayed(options: &str, entered: &[(u64, Vec<u8>)], began: u64) -> (Vec<Vec<u8>>, usize) {
    let mut given = Options::default();
    let words: Vec<&str> = options.split_whitespace().collect();
    for pair in words.chunks(2) {
        given.set(pair[0].trim_start_matches("--"), pair[1]).expect("an option");
    }
    let scenario = Scenario::resolve(&given).expect("a scenario");
    let mut way = Path::<usize>::new(&scenario, Side::A).expect("a path").forward;
    let mut outcomes = Vec::new();
    for (number, (at, bytes)) in entered.iter().enumerate() {
        let now = Time::ZERO + Span::from_nanos(at - began);
        outcomes.extend(std::iter::from_fn(|| way.event(now)));
        let seen = read_passing(bytes).expect("a packet");
        let flow = FlowKey::hashed(seen.flow);
        way.enter(now, Arriving { ecn: seen.ecn, ..Arriving::new(seen.length, flow, number) });
    }
    let end = Time::ZERO + Span::from_secs(600);
    while let Some(next) = way.next_event().filter(|next| *next < end) {
        outcomes.extend(std::iter::from_fn(|| way.event(next)));
    }
    let (mut delivered, mut signals) = (Vec::new(), 0);
    for outcome in outcomes {
        match outcome {
            Outcome::Left(left) => {
                let mut bytes = entered[left.payload].1.clone();
                if left.marked {
                    signals += 1;
                    firstflight_wire::mark(&mut bytes);
                }
                delivered.push(bytes);
            }
            Outcome::Dropped(_) => signals += 1,
        }
    }
    (delivered, signals)
}

#[test]
fn the_same_packets_are_dropped_as_in_the_simulator() {
    if !can_run("replayed::the_same_packets_are_dropped_as_in_the_simulator", &["iperf3", "sysctl"]) {
        return;
    }
    let folder = folder("emulate-replayed");
    let paths = BTreeMap::from([
        ("drop-tail", "--rate 20mbit --rtt 20ms --queue 30p"),
        ("bytes", "--rate 50mbit --rtt 10ms --queue 64kB"),
        ("codel", "--rate 20mbit --rtt 20ms --queue codel:200p"),
        ("fq-codel", "--rate 20mbit --rtt 20ms --queue fq-codel:200p,ecn"),
        ("pie", "--rate 20mbit --rtt 20ms --queue pie:200p"),
        ("red", "--rate 20mbit --rtt 20ms --queue red:60p --seed 7"),
        ("policer", "--rate 50mbit --rtt 20ms --policer 20mbit,30kB"),
        ("lossy", "--rate 20mbit --rtt 20ms --queue 30p --loss 1% --jitter 2ms --seed 3"),
        ("trace", "--rtt 20ms --queue 30p --rate-trace 0s=10mbit,400ms=40mbit,800ms=5mbit"),
        ("crossed", "--rate 20mbit --rtt 20ms --queue 30p --cross onoff:15mbit,100ms,100ms"),
        ("hops", "--rate 20mbit --rtt 20ms --queue 30p --topology parking-lot:hops=3 --cross 5mbit"),
    ]);
    for (name, options) in paths {
        let log = folder.join(format!("{name}.pcapng"));
        let client = "sysctl -qw net.ipv4.tcp_ecn=1; exec iperf3 -c {B} -P 3 -t 1 -C cubic";
        let server = "sysctl -qw net.ipv4.tcp_ecn=1; exec iperf3 -s -1";
        let (output, result) = run(&format!("{options} --log {}", text(&log)), client, server);
        let Recorded { entered, delivered } = recorded(&log);
        assert_eq!(entered.len() as u64, number(&result, "/forward/packets_in"), "{name}");
        assert_eq!(delivered.len() as u64, number(&result, "/forward/packets_out"), "{name}");
        let (wanted, signals) = replayed(options, &entered, number(&result, "/began_unix_ns"));
        assert!(signals > 0, "{name} drops and marks nothing: {}", stderr(&output));
        // Packets on the path at the end of the run were not delivered.
        assert!(wanted.len() >= delivered.len() && wanted.len() <= delivered.len() + 500, "{name}");
        let first = delivered.iter().zip(&wanted).position(|(found, wanted)| found != wanted);
        assert_eq!(first, None, "{name}: of {} packets", delivered.len());
    }
}
