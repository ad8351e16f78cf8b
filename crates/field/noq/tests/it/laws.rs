//! The laws of hosts, on traces recorded within real connections.

use std::sync::Arc;
use std::time::Duration;

use firstflight::{Bytes, Call, Event, Note, SendLimit, Span, TraceRecord};
use firstflight_noq::{Choice, Factory, OFFERS};

use crate::net::{Net, Options};
use crate::simulated::{Fate, Link, Records, breaches, events};

/// Runs a transfer of each of these sizes, with 3 s of silence after each. Returns the records and the network.
fn run(scheme: &str, link: Link, options: Options, transfers: &[usize]) -> (Vec<TraceRecord>, Net) {
    let records = Arc::<Records>::default();
    let factory = Factory::named(scheme).expect("noq can run it").observer(records.clone());
    let mut net = Net::new(Arc::new(factory), link, options);
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

fn losses(records: &[TraceRecord]) -> usize {
    events(records, |event, _| matches!(event, Event::Lost(_)).then_some(())).len()
}

#[test]
fn a_transfer_with_losses_and_idle_times_keeps_the_laws() {
    for scheme in ["slow-start", "hystart", "hystart++", "search", "leap", "suss", "rapid-start"] {
        let (records, net) = run(scheme, narrow(), Options::default(), &[2_000_000, 300_000]);
        assert_eq!(breaches(&records), Vec::<String>::new(), "{scheme}");
        assert!(scheme != "slow-start" || net.link.dropped > 0 && losses(&records) > 0);
        let restarts = records.iter().filter(|record| matches!(record.call, Call::NewData)).count();
        assert_eq!(restarts, 1, "{scheme} restarts once");
    }
}

#[test]
fn reordering_keeps_the_laws_and_undoes_the_reduction() {
    let fate = |index| if index == 60 { Fate::Late(Duration::from_millis(12)) } else { Fate::Passes };
    let (records, _) = run("slow-start", Link { fate, ..narrow() }, Options::default(), &[600_000]);
    assert_eq!(breaches(&records), Vec::<String>::new());
    let undone = records.iter().flat_map(|record| &record.notes);
    assert!(undone.filter(|note| matches!(note, Note::Undone { .. })).count() > 0, "the loss was spurious");
}

#[test]
fn a_mark_reduces_the_window_once() {
    let fate = |index| if (60..70).contains(&index) { Fate::Marked } else { Fate::Passes };
    let (records, _) = run("slow-start", Link { fate, ..narrow() }, Options::default(), &[200_000]);
    assert_eq!(breaches(&records), Vec::<String>::new());
    let marks = events(&records, |event, _| matches!(event, Event::Marked { .. }).then_some(()));
    assert!(marks.len() > 1, "several ACKs report marks");
    let reduced = records.iter().flat_map(|record| &record.notes);
    assert_eq!(reduced.filter(|note| matches!(note, Note::Reduced { .. })).count(), 1);
}

#[test]
fn a_new_mtu_keeps_the_laws() {
    let options = Options { mtu_discovery: true, ..Options::default() };
    let (records, _) = run("hystart++", narrow(), options, &[3_000_000]);
    assert_eq!(breaches(&records), Vec::<String>::new());
    let sizes = events(&records, |event, path| matches!(event, Event::MssChanged).then_some(path.mss));
    assert!(sizes.last().is_some_and(|mss| *mss > Bytes::new(1_400)), "{sizes:?}");
}

#[test]
fn samples_of_the_handshake_are_left_out() {
    let (records, _) = run("slow-start", Link::default(), Options::default(), &[100_000]);
    let samples = events(&records, |event, _| match event {
        Event::Acked(ack) => ack.rtt.map(|sample| sample.rtt),
        Event::Established { rtt, .. } => *rtt,
        _ => None,
    });
    assert_eq!(samples[0], Span::from_millis(40), "the first ACK of the handshake");
    let late = samples.iter().filter(|rtt| **rtt > Span::from_millis(66)).count();
    assert_eq!(late, 0, "no sample is longer than the RTT and the delay of an ACK: {samples:?}");
}

#[test]
fn a_round_ends_with_a_packet_sent_after_it_began() {
    let (records, _) = run("slow-start", Link::default(), Options::default(), &[400_000]);
    let mut began = 0;
    let mut rounds = 0;
    for record in &records {
        let Call::On(event) = &record.call else { continue };
        if let Event::Acked(ack) = event.event() {
            let newest = ack.newest_packet().expect("listed");
            assert!(record.path.una > 0 && record.path.una <= record.path.nxt);
            if record.path.una > began {
                (began, rounds) = (record.path.nxt, rounds + 1);
            }
            assert_eq!(newest.sent_at + ack.rtt.expect("in order").rtt, record.path.now);
        }
    }
    assert!((4..=9).contains(&rounds), "400 kB from ten packets are about five rounds: {rounds}");
}

#[test]
fn the_delivery_rate_is_that_of_the_bottleneck() {
    let (records, _) = run("hystart++", narrow(), Options::default(), &[1_500_000]);
    let rates = events(&records, |event, _| match event {
        Event::Acked(ack) if ack.newest_packet()?.limit != SendLimit::App => ack.delivery_rate,
        _ => None,
    });
    let most = rates.iter().map(|rate| rate.bps()).max().expect("samples");
    assert!((18_000_000..=20_500_000).contains(&most), "{most} bit/s at a bottleneck of 20 Mbit/s");
}

#[test]
fn another_controller_decides_alike_on_the_recorded_events() {
    for scheme in ["hystart++", "leap", "suss"] {
        let (records, _) = run(scheme, narrow(), Options::default(), &[2_000_000, 300_000]);
        let choice = Choice::named(scheme).expect("registered");
        let mut fresh = choice.build(OFFERS).expect("noq can run it");
        for (index, record) in records.iter().enumerate() {
            let (plan, notes) = fresh.replay(&record.call, &record.path);
            assert_eq!((plan, notes), (record.plan, record.notes.clone()), "{scheme}, call {index}");
        }
    }
}

#[test]
fn what_noq_cannot_do_is_refused_by_name() {
    let refused = |scheme| Factory::named(scheme).expect_err("refused").to_string();
    assert!(refused("paced").starts_with("paced needs trains with exact gaps, which noq on sockets"));
    assert!(refused("quick-start").contains("quick-start needs"));
    assert!(refused("fast-start").starts_with("no scheme is named \"fast-start\"; the names are"));
}
