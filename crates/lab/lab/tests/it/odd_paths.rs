//! Every scheme finishes on paths with extreme values, and keeps the laws there.

use firstflight::registry::{self, Kind};
use firstflight_scenario::{Options, Scenario};

use crate::laws::{Ending, keep_the_laws};

/// Every scheme with its own law; Quick-Start around others; every law after slow start.
fn everybody() -> String {
    let inside = registry::scheme("quick-start").and_then(|entry| entry.parameter("around")).map(|p| p.kind);
    let Some(Kind::Word(inside)) = inside else { panic!("quick-start is around schemes") };
    let laws = registry::laws().iter().map(|law| law.name);
    let mut list = vec!["all".to_owned()];
    list.extend(inside.iter().map(|inside| format!("quick-start:around={inside},as=quick-start-{inside}")));
    list.extend(laws.map(|law| format!("slow-start:avoidance={law},as=slow-start-{law}")));
    list.join(",")
}

fn all_finish(options: &[(&str, &str)]) {
    let mut set = Options::default();
    for (key, text) in options {
        set.set(key, text).expect(text);
    }
    let path = Scenario::resolve(&set).expect("a path");
    let race = || keep_the_laws(&path, &everybody()).unwrap_or_else(|fault| panic!("{fault}"));
    let verdicts = race();
    assert!(verdicts.len() > registry::schemes().len());
    let unfinished: Vec<_> = verdicts.iter().filter(|(_, ending, _)| *ending != Ending::Whole).collect();
    assert!(unfinished.is_empty(), "unfinished: {unfinished:?}");
    assert_eq!(verdicts, race(), "the same seed makes the same bytes");
}

#[test]
fn a_slow_and_long_path() {
    all_finish(&[("rate", "1mbit"), ("rtt", "500ms"), ("size", "300kB")]);
}

#[test]
fn a_fast_and_short_path() {
    all_finish(&[("rate", "10gbit"), ("rtt", "1ms"), ("size", "5MB")]);
}

#[test]
fn a_buffer_of_one_packet() {
    all_finish(&[("rate", "10mbit"), ("rtt", "40ms"), ("queue", "1p"), ("size", "300kB")]);
}

#[test]
fn one_packet_in_twenty_is_lost() {
    all_finish(&[("rate", "10mbit"), ("rtt", "40ms"), ("loss", "5%"), ("size", "500kB")]);
}

/// 3000 bytes of bandwidth-delay product.
#[test]
fn a_path_of_two_packets() {
    all_finish(&[("rate", "1mbit"), ("rtt", "24ms"), ("size", "300kB")]);
}

#[test]
fn delayed_acks() {
    for ack in ["delayed", "linux", "freebsd", "windows-xp"] {
        all_finish(&[("rate", "10mbit"), ("rtt", "40ms"), ("ack", ack), ("size", "300kB")]);
    }
}

/// The receiver keeps a hundred ranges, and CoDel drops one in two of the queued packets.
#[test]
fn a_receiver_that_discards_what_it_cannot_list() {
    let ends = [("ack", "windows-xp"), ("mss", "1111"), ("iw", "1p")];
    let path = [("rate", "20mbit"), ("rtt", "100ms"), ("queue", "codel:53p"), ("size", "1056kB")];
    all_finish(&[path.as_slice(), ends.as_slice()].concat());
    let mut set = Options::default();
    for (key, text) in path.iter().chain(&ends) {
        set.set(key, text).expect(text);
    }
    let path = Scenario::resolve(&set).expect("a path");
    keep_the_laws(&path, "paced:first=1000").expect("a train of a thousand loses hundreds in turn");
}

#[test]
fn a_receive_window_of_ten_packets() {
    all_finish(&[("rate", "10mbit"), ("rtt", "80ms"), ("rwnd", "10p"), ("size", "300kB")]);
}

/// The application writes 30 kB every two seconds: each write finds the connection idle for longer than its timeout.
#[test]
fn an_application_that_stops_and_goes() {
    all_finish(&[("rate", "10mbit"), ("rtt", "40ms"), ("app", "30kB,2s"), ("size", "300kB")]);
    // 25 writes of less than the window, each of which comes before the timeout.
    all_finish(&[("rate", "10mbit"), ("rtt", "40ms"), ("app", "12kB,100ms"), ("size", "300kB")]);
}
