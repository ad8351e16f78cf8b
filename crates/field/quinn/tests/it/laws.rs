//! The laws of hosts, on traces recorded within real connections.

use std::sync::Arc;
use std::time::Duration;

use firstflight::{Call, Event, Note, Span, TraceRecord};
use firstflight_quinn::{Choice, Factory, OFFERS};

use crate::net::Net;
use crate::simulated::{Fate, Link, Records, breaches, events};

/// Runs a transfer of each of these sizes, with 3 s of silence after each. Returns the records and the network.
fn run(scheme: &str, link: Link, transfers: &[usize]) -> (Vec<TraceRecord>, Net) {
    let records = Arc::<Records>::default();
    let factory = Factory::named(scheme).expect("quinn can run it").observer(records.clone());
    let mut net = Net::new(Arc::new(factory), link);
    for bytes in transfers {
        net.transfer(*bytes);
        net.run_for(Duration::from_secs(3));
    }
    (records.take(), net)
}

/// 20 Mbit/s, 40 ms and a queue of 50 packets.
fn narrow() -> Link {
    Link { byte_nanos: 400, queue: Duration::from_millis(24), ..Link::default() }
}

#[test]
fn a_transfer_with_losses_and_idle_times_keeps_the_laws() {
    for scheme in ["slow-start", "hystart", "search", "limited", "vegas"] {
        let (records, net) = run(scheme, narrow(), &[2_000_000, 300_000]);
        assert_eq!(breaches(&records), Vec::<String>::new(), "{scheme}");
        let losses = events(&records, |event, _| matches!(event, Event::Lost(_)).then_some(()));
        assert!(scheme != "slow-start" || net.link.dropped > 0 && !losses.is_empty());
        let restarts = records.iter().filter(|record| matches!(record.call, Call::NewData)).count();
        assert_eq!(restarts, 1, "{scheme} restarts once");
    }
}

#[test]
fn a_mark_reduces_the_window_once() {
    let fate = |index| if (60..70).contains(&index) { Fate::Marked } else { Fate::Passes };
    let (records, _) = run("slow-start", Link { fate, ..narrow() }, &[200_000]);
    assert_eq!(breaches(&records), Vec::<String>::new());
    let reduced = records.iter().flat_map(|record| &record.notes);
    assert_eq!(reduced.filter(|note| matches!(note, Note::Reduced { .. })).count(), 1);
}

#[test]
fn the_first_sample_is_the_round_trip_and_not_an_older_estimate() {
    let (records, _) = run("slow-start", Link::default(), &[100_000]);
    let samples = events(&records, |event, _| match event {
        Event::Acked(ack) => ack.rtt.map(|sample| sample.rtt),
        Event::Established { rtt, .. } => *rtt,
        _ => None,
    });
    assert_eq!(samples[0], Span::from_millis(40));
    assert!(samples.iter().all(|rtt| *rtt <= Span::from_millis(66)), "{samples:?}");
}

#[test]
fn another_controller_decides_alike_on_the_recorded_events() {
    let (records, _) = run("search", narrow(), &[2_000_000, 300_000]);
    let mut fresh = Choice::named("search").expect("registered").build(OFFERS).expect("quinn can run it");
    for (index, record) in records.iter().enumerate() {
        let (plan, notes) = fresh.replay(&record.call, &record.path);
        assert_eq!((plan, notes), (record.plan, record.notes.clone()), "call {index}");
    }
}

#[test]
fn what_quinn_cannot_do_is_refused_by_name() {
    for scheme in ["leap", "hystart++", "paced", "suss", "careful-resume", "quick-start", "bbr"] {
        let refused = Factory::named(scheme).expect_err("refused").to_string();
        assert!(refused.starts_with(&format!("{scheme} needs ")), "{refused}");
        assert!(refused.ends_with("which quinn 0.11 cannot give"), "{refused}");
    }
}
