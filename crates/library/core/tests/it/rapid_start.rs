//! Rapid Start, by the sections of draft-kazuho-ccwg-rapid-start-02.

use firstflight::avoidance::Cubic;
use firstflight::registry::{self, AnyScheme, Value};
use firstflight::restart::Rfc5681;
use firstflight::schemes::Initial;
use firstflight::{Cause, Controller, Event, Origin, Pacing, Span};

use crate::common::{Flow, MSS, millis, packets};

type RapidFlow = Flow<AnyScheme, Rfc5681, Cubic>;

const RTT: Span = Span::from_millis(80);

fn start_with(settings: &[(&str, Value)], rtt: Span) -> RapidFlow {
    let initial = Initial { segments: 10, ssthresh: None };
    let entry = registry::scheme("rapid-start").expect("registered");
    assert_eq!(entry.law, "cubic");
    let scheme = entry.build(initial, settings).expect("allowed");
    Flow::established(Controller::new(scheme, Rfc5681::new(initial), Cubic::new()), rtt)
}

fn start() -> RapidFlow {
    start_with(&[], RTT)
}

fn rate(flow: &RapidFlow) -> u64 {
    let Pacing::Rate { rate, burst } = flow.plan().pacing else { panic!("{:?}", flow.plan()) };
    assert_eq!(burst, MSS);
    rate.bps()
}

/// Runs one round trip: each packet in flight is acknowledged separately, and the data that its ACK releases is sent
/// at once.
fn round(flow: &mut RapidFlow, rtt: Span) {
    flow.fill();
    flow.wait(rtt);
    for _ in 0..flow.in_flight() {
        flow.ack_with(1, Some(rtt));
        flow.fill();
    }
}

/// The share of `whole` in hundredths, rounded down.
fn percent(part: u64, whole: u64) -> u64 {
    part * 100 / whole
}

#[test]
fn the_first_flight_is_two_initial_windows_paced_over_a_round_trip() {
    let flow = start();
    assert_eq!(flow.window(), 20);
    // 20 packets of 1000 bytes in 80 ms.
    assert_eq!(rate(&flow), 2_000_000);
    let one = start_with(&[("initial", Value::Count(1))], RTT);
    assert_eq!((one.window(), rate(&one)), (10, 1_000_000));
}

#[test]
fn the_window_triples_in_a_round_trip_while_the_delay_stays() {
    let mut flow = start();
    for window in [60, 180, 540] {
        round(&mut flow, RTT);
        assert_eq!(flow.window(), window);
    }
    // Three windows a round trip.
    assert_eq!(rate(&flow), 540 * 8_000 * 3 * 1_000 / 80);
}

#[test]
fn the_window_doubles_when_the_round_minimum_rtt_exceeds_the_threshold() {
    // The lesser of 4 ms and a tenth more: of 80 ms 84, of 20 ms 22.
    for (rtt, at, above) in [(millis(80), millis(84), millis(85)), (millis(20), millis(22), millis(23))] {
        let grown = |sample| {
            let mut flow = start_with(&[], rtt);
            round(&mut flow, rtt);
            round(&mut flow, sample);
            flow.window()
        };
        assert_eq!((grown(at), grown(above)), (180, 120), "{rtt:?}");
    }
}

#[test]
fn one_sample_below_the_threshold_covers_the_rest_of_its_round() {
    let mut flow = start();
    round(&mut flow, RTT);
    flow.fill();
    flow.wait(RTT);
    flow.ack_with(1, Some(RTT));
    for _ in 0..59 {
        flow.fill();
        flow.ack_with(1, Some(millis(200)));
    }
    assert_eq!(flow.window(), 180);
}

#[test]
fn bytes_count_and_not_acks() {
    let mut flow = start();
    flow.round(RTT, 20, Span::ZERO);
    assert_eq!(flow.window(), 60);
}

/// Runs three rounds, then loses of a flight of 540 packets every packet except the last `kept` of each `of`.
fn lose_of_a_flight(settings: &[(&str, Value)], lost: usize, kept: usize) -> (u64, RapidFlow) {
    let mut flow = start_with(settings, RTT);
    for _ in 0..3 {
        round(&mut flow, RTT);
    }
    flow.fill();
    let before = flow.window();
    flow.wait(RTT);
    // One loss starts recovery. Losses and arrivals alternate until the flight is accounted for.
    let turns = usize::try_from(before).expect("a window of packets") / (lost + kept).max(1);
    for _ in 0..turns {
        for _ in 0..lost {
            flow.lose();
        }
        flow.ack_with(kept, None);
    }
    (before, flow)
}

#[test]
fn at_the_first_loss_the_window_falls_by_the_silence_factor() {
    let mut flow = start();
    round(&mut flow, RTT);
    flow.fill();
    flow.wait(RTT);
    flow.lose();
    // Nine tenths of 60 packets, less nine tenths of the one that was lost.
    let window = flow.plan().window;
    assert!(window <= packets(54) - MSS * 9 / 10 && window > packets(53) - MSS, "{window:?}");
    assert!(flow.exits().is_empty(), "the repair is the start-up's");
}

#[test]
fn the_window_after_repair_is_beta_of_delivered_data_for_any_loss() {
    for (settings, beta) in [(&[][..], 70), (&[("beta", Value::Count(50))], 50)] {
        for (lost, kept) in [(1, 9), (1, 2), (1, 1)] {
            let (before, flow) = lose_of_a_flight(settings, lost, kept);
            let delivered = before * kept as u64 / (lost + kept) as u64;
            let share = percent(flow.window(), delivered);
            assert!(share.abs_diff(beta) <= 2, "{lost} lost for {kept} that came: {share} % of {delivered}");
        }
    }
}

#[test]
fn the_window_falls_to_a_third_of_beta_at_most() {
    let (before, flow) = lose_of_a_flight(&[], 9, 1);
    assert_eq!(flow.window(), (before * 70).div_euclid(300));
}

#[test]
fn the_window_stays_at_beta_initial_windows() {
    let mut flow = start();
    flow.fill();
    flow.wait(RTT);
    for _ in 0..18 {
        flow.lose();
    }
    // 20 packets: a third of beta would be 4.
    assert_eq!(flow.window(), 7);
}

#[test]
fn the_law_takes_over_after_the_first_repair_without_another_reduction() {
    let (_, mut flow) = lose_of_a_flight(&[], 1, 9);
    let left = flow.window();
    flow.path.recovering = false;
    flow.ack(1);
    let exits = flow.exits();
    assert_eq!(exits.len(), 1);
    assert_eq!((exits[0].cause, exits[0].learned.ssthresh), (Cause::Loss, Some(exits[0].learned.window)));
    assert!(left.abs_diff(flow.window()) <= 1, "{left} and {}", flow.window());
}

#[test]
fn a_mark_leaves_beta_of_the_window() {
    let mut flow = start();
    round(&mut flow, RTT);
    flow.say(&Event::Marked { sent_at: None });
    assert_eq!((flow.exits()[0].cause, flow.window()), (Cause::Mark, 42));
}

#[test]
fn after_a_timeout_it_is_plain_slow_start() {
    let mut flow = start();
    round(&mut flow, RTT);
    flow.fill();
    flow.time_out(false);
    let began =
        flow.notes.iter().any(|note| matches!(note, firstflight::Note::Began(Origin::AfterTimeout { .. })));
    assert!(began && flow.exits()[0].cause == Cause::Timeout);
    assert_eq!((flow.window(), flow.plan().pacing), (1, Pacing::AckClock));
}

#[test]
fn a_loss_that_did_not_happen_gives_the_growth_back() {
    let mut flow = start();
    round(&mut flow, RTT);
    flow.fill();
    flow.wait(RTT);
    flow.lose();
    assert!(flow.window() < 60);
    flow.path.recovering = false;
    flow.say(&Event::SpuriousLoss);
    assert_eq!(flow.window(), 60);
}
