//! The restart policies against their sources.

use firstflight::avoidance::Reno;
use firstflight::registry::{self, AnyRestart, Value};
use firstflight::schemes::{Initial, SlowStart};
use firstflight::{
    Cause, Controller, Event, Note, Origin, Pacing, Path, PathEstimate, Phase, SendLimit, Span, Startup, Step,
};

use crate::common::{Flow, MSS, millis, packets};

type Resting = Flow<SlowStart, AnyRestart, Reno>;

const RTT: Span = Span::from_millis(100);

fn policy(name: &str, settings: &[(&str, Value)]) -> AnyRestart {
    let entry = registry::restart(name).expect("registered");
    entry.build(Initial { segments: 4, ssthresh: None }, settings).expect("allowed")
}

fn flow(ssthresh: Option<u64>, name: &str, settings: &[(&str, Value)]) -> Resting {
    let initial = Initial { segments: 4, ssthresh: ssthresh.map(packets) };
    Flow::established(Controller::new(SlowStart::new(initial), policy(name, settings), Reno::new()), RTT)
}

/// In avoidance with a window of 16 packets, which was full, and idle for a minute.
fn rested(name: &str, settings: &[(&str, Value)]) -> Resting {
    let mut flow = flow(Some(16), name, settings);
    flow.round(RTT, 1, Span::ZERO);
    flow.round(RTT, 1, Span::ZERO);
    assert_eq!((flow.control.phase(), flow.window()), (Phase::Avoidance, 16));
    flow.wait(Span::from_secs(60));
    assert!(flow.before_new_data());
    flow
}

fn percent(percent: u32) -> Value {
    Value::Fraction { ppm: percent * 10_000 }
}

fn last_cause(flow: &Resting) -> Cause {
    flow.exits().last().expect("an exit").cause
}

/// Returns the plan of a policy that begins on a path with these numbers.
fn planned(name: &str, settings: &[(&str, Value)], window: u64, rtt: Span) -> (u64, Option<(u32, Span)>) {
    let mut flow = flow(None, name, settings);
    flow.path.srtt = Some(rtt);
    flow.path.latest_rtt = Some(rtt);
    let mut policy = policy(name, settings);
    let was = PathEstimate { window: packets(window), ssthresh: None, rate: None };
    let begin = Event::Begin(Origin::AfterIdle { idle: Span::from_secs(60), was });
    let step = policy.on(&begin, &flow.path);
    assert_eq!(step, Step::Stay);
    let plan = policy.plan(&flow.path);
    let train = match plan.pacing {
        Pacing::Train { packets, gap } => Some((packets, gap)),
        _ => None,
    };
    (plan.window.packets(MSS), train)
}

/// The state of a connection whose newest round trip carried `sent` packets and took `rtt`.
fn measured(policy: &mut AnyRestart, sent: u64, rtt: Span) -> Path {
    let initial = Initial { segments: 4, ssthresh: None };
    let other = registry::restart("nssr").expect("registered").build(initial, &[]).expect("allowed");
    let flow: Resting = Flow::established(Controller::new(SlowStart::new(initial), other, Reno::new()), rtt);
    let path = flow.path;
    policy.observe(
        &Event::Acked({
            let mut ack = firstflight::Ack::unlisted(MSS, 1, false);
            ack.rtt = Some(firstflight::RttSample { rtt, handshake: false });
            ack.round_ended = true;
            ack.round_sent = packets(sent);
            ack.growth = MSS;
            ack
        }),
        &path,
    );
    path
}

fn paced(settings: &[(&str, Value)], sent: u64, carried: Span, window: u64, rtt: Span) -> (u32, Span) {
    let mut policy = policy("rbp-rate", settings);
    let mut path = measured(&mut policy, sent, carried);
    path.srtt = Some(rtt);
    path.latest_rtt = Some(rtt);
    let was = PathEstimate { window: packets(window), ssthresh: None, rate: None };
    policy.on(&Event::Begin(Origin::AfterIdle { idle: Span::from_secs(60), was }), &path);
    match policy.plan(&path).pacing {
        Pacing::Train { packets, gap } => (packets, gap),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_window_is_paced_scaled_and_spread_over_a_round_trip() {
    // cwnd 8, RTT 100 ms, scale .75: six segments, 16.7 ms apart.
    let (window, train) = planned("rbp-cwnd", &[], 8, RTT);
    assert_eq!((window, train), (8, Some((6, RTT / 6))));
}

#[test]
fn the_last_round_trip_rate_is_paced_within_the_paper_bounds() {
    // 32 kB/s and 150 ms carry 4.8 segments of 1 kB: 4.8 packets of 1000 B in 150 ms are 24 in 750 ms.
    let of = |settings: &[(&str, Value)], window| paced(settings, 24, millis(750), window, millis(150));
    assert_eq!(of(&[("scale", percent(100))], 20), (4, millis(150) / 4));
    let nearest = [("scale", percent(100)), ("rounding", Value::Word("nearest"))];
    assert_eq!(of(&nearest, 20), (5, millis(30)));
    assert_eq!(of(&[("scale", percent(100))], 3), (3, millis(50)));
    assert_eq!(of(&[("scale", percent(10))], 20), (2, millis(75)), "a receiver answers two segments at once");
    assert_eq!(of(&[("scale", percent(100))], 1).0, 2);
}

#[test]
fn packets_sent_in_one_round_trip_are_paced_in_one() {
    for sent in [2, 3, 5, 17] {
        for micros in [1, 33, 204_333] {
            let rtt = Span::from_micros(micros);
            assert_eq!(
                paced(&[("scale", percent(100))], sent, rtt, 100, rtt).0,
                u32::try_from(sent).unwrap()
            );
        }
    }
}

#[test]
fn pacing_stops_at_the_first_ack_and_the_law_continues_its_window() {
    let mut flow = rested("rbp-cwnd", &[("burst", Value::Count(0))]);
    assert_eq!(flow.control.phase(), Phase::Restart);
    assert!(matches!(flow.plan().pacing, Pacing::Train { packets: 12, .. }));
    flow.send(12);
    flow.wait(RTT);
    flow.ack(2);
    assert_eq!((flow.control.phase(), flow.window()), (Phase::Avoidance, 16));
    assert_eq!((last_cause(&flow), flow.plan().pacing), (Cause::Resumed, Pacing::AckClock));
}

#[test]
fn a_kept_window_opens_by_the_burst_an_ack() {
    let mut flow = rested("rbp-rate", &[("scale", percent(10))]);
    assert!(matches!(flow.plan().pacing, Pacing::Train { packets: 2, .. }));
    flow.path.backlog = Some(packets(100));
    flow.send(2);
    flow.wait(RTT);
    flow.ack(1);
    assert_eq!((flow.control.phase(), flow.window()), (Phase::Restart, 5), "one in flight and four");
    flow.fill();
    flow.ack(1);
    assert_eq!(flow.window(), 8);
    flow.fill();
    flow.ack(1);
    flow.fill();
    flow.ack(1);
    flow.fill();
    flow.ack(1);
    assert_eq!((flow.control.phase(), flow.window()), (Phase::Avoidance, 16));
}

#[test]
fn choice_24_without_a_burst_the_first_ack_opens_the_whole_window() {
    let mut flow = rested("rbp-rate", &[("scale", percent(10)), ("burst", Value::Count(0))]);
    flow.path.backlog = Some(packets(100));
    flow.send(2);
    flow.wait(RTT);
    flow.ack(1);
    assert_eq!((flow.control.phase(), flow.window()), (Phase::Avoidance, 16));
}

#[test]
fn the_window_is_optionally_cut_to_the_paced_or_sent_packets() {
    let of = |after: &'static str, scale| {
        let settings = [("after", Value::Word(after)), ("scale", percent(scale))];
        let mut flow = rested("rbp-cwnd", &settings);
        flow.send(3);
        flow.wait(RTT);
        flow.ack(2);
        (flow.window(), flow.control.phase())
    };
    // The start-up scheme leads back to the threshold; the ACK itself counts.
    assert_eq!(of("cut", 50), (8, Phase::Startup));
    // Slow start from there to the threshold; the ACK itself counts.
    assert_eq!(of("sent", 50), (3, Phase::Restart));
}

#[test]
fn a_train_without_enough_data_continues_when_data_is_available() {
    let mut flow = rested("rbp-cwnd", &[]);
    let first = flow.plan();
    flow.send(5);
    flow.train_cut(first.tag);
    let second = flow.plan();
    assert_ne!(second.tag, first.tag);
    assert!(matches!(second.pacing, Pacing::Train { packets: 7, .. }), "{:?}", second.pacing);
    flow.train_cut(first.tag);
    assert_eq!(flow.plan(), second, "a train that is over is not cut again");
}

#[test]
fn an_estimate_expires_and_then_it_is_slow_start() {
    let settings = [("expires", Value::Span(Span::from_secs(30)))];
    let flow = rested("rbp-cwnd", &settings);
    assert_eq!((flow.window(), flow.plan().pacing), (4, Pacing::AckClock));
    let mut new = flow_without_samples();
    new.wait(Span::from_secs(60));
    assert!(new.before_new_data());
    assert_eq!((new.window(), new.plan().pacing), (4, Pacing::AckClock), "no rate is known");
}

/// Data was acknowledged, but no round trip could be measured.
fn flow_without_samples() -> Resting {
    let mut flow = flow(None, "rbp-rate", &[]);
    flow.send(2);
    flow.wait(RTT);
    flow.ack_with(2, None);
    flow
}

#[test]
fn a_loss_while_pacing_is_the_laws_to_answer() {
    let mut flow = rested("rbp-cwnd", &[]);
    flow.send(12);
    flow.wait(RTT);
    flow.lose();
    assert_eq!((last_cause(&flow), flow.window()), (Cause::Loss, 6));
    assert_eq!(flow.control.phase(), Phase::Avoidance);
}

#[test]
fn without_slow_start_restart_nothing_changes() {
    let flow = rested("nssr", &[]);
    assert_eq!((flow.control.phase(), flow.window()), (Phase::Avoidance, 16));
    assert_eq!(last_cause(&flow), Cause::Resumed);
}

#[test]
fn a_start_up_that_was_interrupted_goes_on_after_the_restart() {
    let mut flow = flow(None, "nssr", &[]);
    flow.round(RTT, 1, Span::ZERO);
    flow.wait(Span::from_secs(60));
    assert!(flow.before_new_data());
    assert_eq!((flow.control.phase(), flow.window()), (Phase::Startup, 8));
    assert_eq!(flow.notes.last(), Some(&Note::Continued));
    flow.round(RTT, 1, Span::ZERO);
    assert_eq!(flow.window(), 16, "and still doubles");
}

#[test]
fn reductions_before_an_idle_time_are_not_undone_afterwards() {
    let mut flow = flow(Some(16), "nssr", &[]);
    flow.round(RTT, 1, Span::ZERO);
    flow.fill();
    flow.wait(RTT);
    flow.lose();
    flow.ack(8);
    flow.wait(Span::from_secs(60));
    assert!(flow.before_new_data());
    let window = flow.window();
    flow.say(&Event::SpuriousLoss);
    assert_eq!(flow.window(), window);
}

#[test]
fn slow_start_restart_begins_with_one_segment_and_keeps_the_threshold() {
    let flow = rested("ssr", &[]);
    assert_eq!((flow.window(), flow.plan().ssthresh), (1, Some(packets(16))));
    assert_eq!(rested("ssr", &[("window", Value::Word("restart"))]).window(), 4);
}

#[test]
fn a_received_request_prevents_restart_when_idle_counts_from_receipt() {
    let mut flow = flow(Some(16), "ssr", &[("since", Value::Word("received"))]);
    flow.round(RTT, 1, Span::ZERO);
    flow.round(RTT, 1, Span::ZERO);
    flow.path.last_received = Some(flow.path.now);
    flow.wait(Span::from_secs(60));
    let quiet = flow.clone();
    flow.path.last_received = Some(flow.path.now);
    assert!(flow.before_new_data());
    assert_eq!((flow.control.phase(), flow.window()), (Phase::Avoidance, 16));
    let mut quiet = quiet;
    assert!(quiet.before_new_data());
    assert_eq!(quiet.window(), 1);
}

/// Returns the window and threshold after an idle time of `timeouts` timeouts of one second each.
fn decayed(rule: &'static str, window: u64, ssthresh: u64, timeouts: u64) -> (u64, u64) {
    let mut policy = policy("cwv", &[("rule", Value::Word(rule))]);
    let path = flow(None, "cwv", &[]).path;
    let was = PathEstimate { window: packets(window), ssthresh: Some(packets(ssthresh)), rate: None };
    let idle = path.rto * timeouts;
    let step = policy.on(&Event::Begin(Origin::AfterIdle { idle, was }), &path);
    assert_eq!(step, Step::Stay);
    let plan = policy.plan(&path);
    (plan.window.packets(MSS), plan.ssthresh.expect("a threshold").packets(MSS))
}

#[test]
fn a_timeouts_idleness_halves_the_window_and_the_threshold_remembers_three_quarters() {
    // RFC 2861: cwnd 80, ssthresh 40, three timeouts.
    assert_eq!(decayed("rfc2861", 80, 40, 3), (10, 60));
    assert_eq!(decayed("rfc2861", 80, 70, 1), (40, 70));
    assert_eq!(decayed("rfc2861", 80, 40, 100), (1, 60), "at least one segment");
    assert_eq!(decayed("linux", 80, 40, 3), (20, 60));
    assert_eq!(decayed("linux", 80, 40, 100), (4, 60), "at least the restart window");
}

/// Returns the window and the threshold after the first reduction by a rule, and the number of RTTs since the window
/// was full. `used` packets of the window are sent every 100 ms.
fn worth(rule: &'static str, window: u64, used: u64) -> (u64, u64, u64) {
    let mut policy = policy("cwv", &[("rule", Value::Word(rule))]);
    let mut path = flow(None, "cwv", &[]).path;
    path.cwnd = packets(window);
    let mut send = |path: &Path| policy.observe(&Event::Sent(one_packet()), path);
    path.flight = packets(window - 1);
    assert_eq!(send(&path), None, "it is full");
    for round in 1..100 {
        path.now = path.now + RTT;
        for packet in 0..used {
            path.flight = packets(packet);
            if let Some(learned) = send(&path) {
                let ssthresh = learned.ssthresh.expect("a threshold");
                return (learned.window.packets(MSS), ssthresh.packets(MSS), round);
            }
        }
    }
    (window, 0, 0)
}

fn one_packet() -> firstflight::Sent {
    firstflight::Sent { packet: 0, bytes: MSS, tag: firstflight::Tag(0), retransmission: false }
}

#[test]
fn a_partially_used_window_loses_half_of_its_unused_part_per_timeout() {
    // RFC 2861 section 3.1, of the round trips up to the timeout of a second.
    let rfc = |used| worth("rfc2861", 40, used);
    assert_eq!(rfc(20), (30, 30, 10));
    assert_eq!(rfc(4), (22, 30, 10));
    assert_eq!(rfc(2), (21, 30, 10));
    assert_eq!(rfc(40), (40, 0, 0), "one that is filled keeps its worth");
}

/// Linux `tcp_cwnd_validate`, `tcp_cwnd_application_limited`.
#[test]
fn linux_halves_the_unused_part_of_a_window_used_up_to_half() {
    let linux = |used| worth("linux", 40, used);
    assert_eq!(linux(20), (30, 30, 10));
    assert_eq!(linux(4), (22, 30, 10));
    assert_eq!(linux(2), (22, 30, 10), "the restart window counts as used");
    assert_eq!(linux(21), (40, 0, 0), "one that slow start may widen keeps its worth");
}

/// Linux `tcp_cwnd_application_limited`: an application that sends little but steadily ends at the restart window.
#[test]
fn a_barely_used_window_in_linux_decays_to_the_restart_window() {
    let mut flow = flow(None, "cwv", &[("rule", Value::Word("linux"))]);
    for _ in 0..6 {
        flow.round(RTT, 1, Span::ZERO);
    }
    let full = flow.window();
    assert!(full > 100, "{full}");
    flow.path.limit = SendLimit::App;
    flow.path.backlog = Some(firstflight::Bytes::ZERO);
    let mut windows = Vec::new();
    for _ in 0..200 {
        flow.send(2);
        flow.wait(RTT);
        flow.ack(2);
        windows.push(flow.window());
        windows.dedup();
    }
    assert_eq!(windows.last(), Some(&4), "{windows:?}");
    assert!(
        windows.windows(2).all(|pair| pair[1] >= pair[0] / 2),
        "by halves of the difference: {windows:?}"
    );
}

#[test]
fn slow_start_or_avoidance_continues_with_the_decayed_window() {
    for (ssthresh, phase) in [(16, Phase::Avoidance), (39, Phase::Startup)] {
        let mut flow = flow(Some(ssthresh), "cwv", &[("rule", Value::Word("rfc2861"))]);
        while flow.window() < 40 {
            flow.round(RTT, 1, Span::ZERO);
        }
        let full = flow.window();
        for _ in 0..11 {
            flow.send(20);
            flow.wait(RTT);
            flow.ack(20);
        }
        let worth = u64::midpoint(full, 20);
        assert!((worth..worth + 3).contains(&flow.window()), "{} of {full}", flow.window());
        assert_eq!(flow.control.phase(), phase, "below the threshold a slow start leads back");
    }
}

#[test]
fn a_window_is_kept_unvalidated_paced_and_frozen() {
    let mut flow = rested("cwv", &[]);
    assert_eq!((flow.control.phase(), flow.window()), (Phase::Restart, 16));
    assert!(matches!(flow.plan().pacing, Pacing::Rate { rate, .. } if rate.over(RTT) == packets(16)));
    for _ in 0..5 {
        flow.send(4);
        flow.wait(RTT);
        for _ in 0..4 {
            flow.ack(1);
        }
        assert_eq!(
            (flow.control.phase(), flow.window()),
            (Phase::Restart, 16),
            "four of sixteen prove nothing"
        );
    }
}

#[test]
fn half_of_the_window_in_a_round_trip_validates_it() {
    let mut flow = rested("cwv", &[("pacing", Value::Word("none"))]);
    assert_eq!(flow.plan().pacing, Pacing::AckClock);
    for _ in 0..3 {
        flow.send(8);
        flow.wait(RTT);
        flow.ack(8);
    }
    assert_eq!((flow.control.phase(), flow.window()), (Phase::Avoidance, 16));
    assert_eq!(last_cause(&flow), Cause::Resumed);
}

#[test]
fn a_loss_before_validation_leaves_half_of_what_was_in_use() {
    let mut flow = rested("cwv", &[]);
    flow.send(6);
    flow.wait(RTT);
    flow.lose();
    assert_eq!((last_cause(&flow), flow.window(), flow.plan().ssthresh), (Cause::Loss, 3, Some(packets(3))));
}

#[test]
fn five_minutes_without_validation_halve_the_window() {
    let mut flow = rested("cwv", &[]);
    // A minute already.
    for _ in 0..2 {
        flow.send(2);
        flow.wait(RTT);
        flow.ack(2);
        flow.wait(Span::from_secs(110));
        assert!(flow.before_new_data());
        assert_eq!(flow.window(), 16);
    }
    flow.send(2);
    flow.wait(RTT);
    flow.ack(2);
    flow.wait(Span::from_secs(110));
    assert!(flow.before_new_data());
    assert_eq!((flow.window(), flow.plan().ssthresh), (8, Some(packets(16))), "and slow start from there");
}

#[test]
fn every_parameter_default_is_allowed_and_names_are_unique() {
    let initial = Initial { segments: 4, ssthresh: None };
    for (index, entry) in registry::restarts().iter().enumerate() {
        assert!(registry::restarts()[..index].iter().all(|before| before.name != entry.name));
        for parameter in entry.parameters {
            assert!(parameter.kind.allows(parameter.default), "{}/{}", entry.name, parameter.name);
            assert!(entry.build(initial, &[(parameter.name, parameter.default)]).is_ok());
        }
    }
}

#[test]
fn the_sizes_are_those_that_the_page_lists() {
    use firstflight::restart::{Cwv, Nssr, Rbp, Ssr};
    assert_eq!([size_of::<Ssr>(), size_of::<Nssr>(), size_of::<Rbp>(), size_of::<Cwv>()], [16, 0, 96, 80]);
}

/// RFC 2861 section 3.1: win = min(cwnd, receiver's declared max window), and that is halved.
#[test]
fn rfc_2861_halves_only_the_part_within_the_receive_window() {
    let halved = |rule| {
        let mut policy = policy("cwv", &[("rule", Value::Word(rule))]);
        let mut path = flow(None, "cwv", &[]).path;
        path.rwnd = packets(40);
        let was = PathEstimate { window: packets(80), ssthresh: Some(packets(30)), rate: None };
        let idle = path.rto + millis(1);
        policy.on(&Event::Begin(Origin::AfterIdle { idle, was }), &path);
        let plan = policy.plan(&path);
        (plan.window.packets(MSS), plan.ssthresh.map(|bytes| bytes.packets(MSS)))
    };
    assert_eq!(halved("rfc2861"), (20, Some(60)), "the threshold is of cwnd");
    assert_eq!(halved("linux"), (40, Some(60)), "tcp_cwnd_restart knows no such bound");
}

/// RFC 2861 section 3.1: `T_prev` is the present when a connection begins.
#[test]
fn a_connection_that_begins_late_has_not_left_its_window_unfilled_before() {
    // The first second of the clock is over when it begins, and the timeout is as long.
    let mut flow = flow(None, "cwv", &[("rule", Value::Word("rfc2861"))]);
    flow.send(1);
    assert_eq!(flow.window(), 4);
}

/// A start-up that holds its own window takes the policy's too.
#[test]
fn adaptive_start_and_bbr_go_on_with_what_the_window_is_worth() {
    for name in ["adaptive", "bbr"] {
        let initial = Initial { segments: 40, ssthresh: None };
        let scheme = registry::scheme(name).expect("registered").build(initial, &[]).expect("allowed");
        let policy = policy("cwv", &[("rule", Value::Word("rfc2861"))]);
        let mut flow = Flow::established(Controller::new(scheme, policy, Reno::new()), RTT);
        flow.round(RTT, 40, Span::ZERO);
        flow.path.limit = SendLimit::App;
        flow.send(10);
        let full = flow.window();
        for _ in 0..11 {
            flow.wait(RTT);
            flow.ack(10);
            flow.send(10);
        }
        assert_eq!(flow.control.phase(), Phase::Startup, "{name}");
        let worth = u64::midpoint(full, 10);
        assert!((worth..worth + 3).contains(&flow.window()), "{name}: {} of {full}", flow.window());
    }
}

#[test]
fn neither_the_rate_nor_the_opening_window_of_another_path_is_paced() {
    let mut flow = rested("rbp-rate", &[]);
    let Pacing::Train { packets: train, .. } = flow.plan().pacing else { panic!("a train") };
    flow.send(train as usize);
    flow.wait(RTT);
    flow.ack(1);
    assert_eq!(flow.control.phase(), Phase::Restart, "the window opens");
    flow.ack(flow.in_flight());
    flow.say(&Event::Begin(Origin::PathChange));
    flow.wait(Span::from_secs(60));
    assert!(flow.before_new_data());
    assert_eq!(
        (flow.control.phase(), flow.plan().pacing, flow.window()),
        (Phase::Restart, Pacing::AckClock, 4)
    );
}

#[test]
fn unvalidated_time_on_another_path_does_not_count() {
    let window_after = |new_path: bool| {
        let mut flow = rested("cwv", &[("nvp", Value::Span(Span::from_secs(70)))]);
        flow.send(1);
        flow.wait(RTT);
        flow.ack(1);
        assert_eq!(flow.control.phase(), Phase::Restart, "not validated yet");
        if new_path {
            flow.say(&Event::Begin(Origin::PathChange));
            flow.say(&Event::Advice(firstflight::Advice::Window {
                window: packets(16),
                ssthresh: Some(packets(16)),
            }));
        }
        flow.wait(Span::from_secs(30));
        assert!(flow.before_new_data());
        flow.window()
    };
    assert_eq!((window_after(false), window_after(true)), (8, 16));
}
