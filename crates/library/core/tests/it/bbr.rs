//! BBR's start-up and drain (draft-ietf-ccwg-bbr sections 5.3.1 and 5.3.2), and the cruise that follows.

use firstflight::avoidance::{BbrCruise, ProbeBw, Reno};
use firstflight::registry::{self, AnyScheme};
use firstflight::restart::Rfc5681;
use firstflight::schemes::{Initial, SlowStart};
use firstflight::{
    Ack, Avoidance, Bytes, Cause, Controller, Event, Exit, Pacing, PathEstimate, Phase, Rate, SendLimit, Span,
};

use crate::common::{Flow, MSS, millis, packets};

type BbrFlow<A> = Flow<AnyScheme, Rfc5681, A>;

fn start_with<A: Avoidance>(law: A) -> BbrFlow<A> {
    let initial = Initial { segments: 10, ssthresh: None };
    let entry = registry::scheme("bbr").expect("registered");
    assert_eq!(entry.law, "bbr");
    let scheme = entry.build(initial, &[]).expect("allowed");
    Flow::established(Controller::new(scheme, Rfc5681::new(initial), law), millis(100))
}

fn start() -> BbrFlow<Reno> {
    start_with(Reno::new())
}

fn mbit(mbit: u64) -> Rate {
    Rate::from_bps(mbit * 1_000_000)
}

fn pacing<A: Avoidance>(flow: &BbrFlow<A>) -> Rate {
    match flow.plan().pacing {
        Pacing::Rate { rate, .. } => rate,
        other => panic!("{other:?}"),
    }
}

/// A round in which the delivery rate is `rate`.
fn round<A: Avoidance>(flow: &mut BbrFlow<A>, rate: Rate) {
    flow.delivery_rate = Some(rate);
    flow.fill();
    let count = flow.in_flight();
    flow.wait(millis(100));
    for _ in 0..count {
        flow.ack_with(1, Some(millis(100)));
        if flow.control.phase() == Phase::Avoidance {
            break;
        }
    }
}

#[test]
fn bbr_start_pacing_is_the_gain_times_initial_window_per_round_trip() {
    // 10 packets of 8000 bits in 100 ms, times 2.77.
    assert_eq!(pacing(&start()), Rate::from_bps(2_216_000));
}

#[test]
fn start_up_pacing_follows_the_maximum_rate_and_never_decreases() {
    let mut flow = start();
    round(&mut flow, mbit(8));
    // 8 × 2.77 × 0.99.
    assert_eq!(pacing(&flow), Rate::from_bps(21_938_400));
    let mut slower = flow.clone();
    round(&mut slower, mbit(7));
    assert_eq!(pacing(&slower), Rate::from_bps(21_938_400));
}

#[test]
fn the_window_grows_to_two_bandwidth_delay_products() {
    let mut flow = start();
    for tenths in [10, 13, 17, 22, 28] {
        let rate = Rate::from_bps(tenths * 100_000);
        flow.delivery_rate = Some(rate);
        flow.fill();
        flow.wait(millis(100));
        for _ in 0..flow.in_flight() {
            flow.wait(rate.time_for(Bytes::new(1_000)));
            flow.ack_with(1, Some(millis(100)));
        }
    }
    // 2.8 Mbit/s × 100 ms are 35 packets, and ACKs come two at a time at most.
    assert!((70..=72).contains(&flow.window()), "{}", flow.window());
    let mut grown = start();
    for rate in [8, 16, 32, 64] {
        round(&mut grown, mbit(rate));
    }
    assert_eq!(grown.window(), 160, "doubled each round, below the two products");
}

#[test]
fn the_first_round_doubles_whatever_the_first_rates_are() {
    let mut flow = start();
    // One packet in a round trip is what the first ACKs show of the rate: two products are less than the minimum.
    round(&mut flow, Rate::from_bps(80_000));
    assert_eq!(flow.window(), 19, "an initial window was delivered with the tenth");
}

#[test]
fn three_rounds_of_less_than_a_quarter_more_fill_the_pipe() {
    let mut flow = start();
    for rate in [8, 10, 12, 12] {
        round(&mut flow, mbit(rate));
        assert!(flow.exits().is_empty());
    }
    // 10 is a quarter more than 8, 12 is not a quarter more than 10: rounds one and two; the third decides.
    round(&mut flow, mbit(12));
    // Drained at once or in the rounds that follow.
    for _ in 0..4 {
        if flow.exits().is_empty() {
            round(&mut flow, mbit(12));
        }
    }
    let exit = flow.exits()[0];
    assert_eq!(exit.cause, Cause::RateFlat);
    assert_eq!(exit.learned.rate, Some(mbit(12)));
    // 12 Mbit/s × 100 ms.
    assert!(exit.learned.window <= packets(150), "{exit:?}");
    assert_eq!(exit.learned.ssthresh, Some(exit.learned.window));
    assert_eq!(flow.plan().window, exit.learned.window, "another law takes over with a product");
}

#[test]
fn rounds_ending_with_a_partial_packet_also_fill_the_pipe() {
    let mut flow = start();
    for _ in 0..8 {
        flow.delivery_rate = Some(mbit(8));
        flow.fill();
        flow.wait(millis(100));
        flow.path.una += 1;
        flow.say(&Event::Acked(ack(false)));
        flow.path.una -= 1;
        for _ in 0..flow.in_flight() {
            flow.ack_with(1, Some(millis(100)));
        }
        if flow.control.phase() == Phase::Avoidance {
            break;
        }
    }
    assert_eq!(flow.exits().first().map(|exit| exit.cause), Some(Cause::RateFlat));
}

/// A drain that has just begun, of 8 Mbit/s and 100 ms, with two products in flight.
fn draining() -> BbrFlow<Reno> {
    let mut flow = start();
    flow.delivery_rate = Some(mbit(8));
    for _ in 0..1_000 {
        while flow.in_flight() < 200 {
            flow.send(1);
        }
        flow.wait(millis(1));
        flow.ack_with(1, Some(millis(200)));
        if pacing(&flow) < mbit(8) {
            break;
        }
    }
    flow
}

#[test]
fn drain_paces_at_half_the_rate_until_one_bdp_is_in_flight() {
    let mut flow = draining();
    // 8 × 0.5 × 0.99; the handshake's 100 ms are the minimum RTT.
    assert_eq!(pacing(&flow), Rate::from_bps(3_960_000));
    assert!(flow.exits().is_empty(), "start-up lasts to the end of the drain");
    while flow.in_flight() > 101 {
        flow.ack_with(1, Some(millis(200)));
        assert!(flow.exits().is_empty(), "{}", flow.in_flight());
    }
    flow.ack_with(1, Some(millis(200)));
    assert_eq!(flow.exits()[0].cause, Cause::RateFlat);
    assert_eq!(flow.window(), 100);
}

#[test]
fn data_lost_or_delivered_out_of_order_counts_as_drained() {
    let mut flow = draining();
    flow.path.pipe = packets(101);
    flow.ack_with(1, Some(millis(200)));
    assert!(flow.path.flight > packets(150), "{:?}", flow.path.flight);
    assert_eq!(flow.exits()[0].cause, Cause::RateFlat);
}

#[test]
fn application_limited_rounds_do_not_count_as_flat() {
    let mut flow = start();
    round(&mut flow, mbit(8));
    flow.path.limit = SendLimit::App;
    for _ in 0..6 {
        round(&mut flow, mbit(1));
    }
    assert!(flow.exits().is_empty());
    assert_eq!(pacing(&flow), Rate::from_bps(21_938_400));
}

#[test]
fn a_loss_keeps_the_window_and_does_not_leave() {
    let mut flow = start();
    round(&mut flow, mbit(8));
    flow.fill();
    let window = flow.plan().window;
    flow.lose();
    assert_eq!(flow.plan().window, window);
    assert!(flow.exits().is_empty());
}

/// Rounds in each of which `lost` packets of 50 are lost.
fn lossy(lost: usize, rounds: usize) -> BbrFlow<Reno> {
    let mut flow = start();
    for rate in [8, 16, 32] {
        round(&mut flow, mbit(rate));
    }
    if lost > 0 {
        // One loss that stays under repair throughout.
        flow.fill();
        let nxt = flow.path.nxt;
        flow.path.nxt += 1 << 30;
        flow.lose();
        flow.path.nxt = nxt;
    }
    let mut rate = 32;
    for _ in 0..rounds {
        rate *= 2;
        flow.delivery_rate = Some(mbit(rate));
        flow.fill();
        flow.wait(millis(100));
        let count = flow.in_flight();
        for index in 0..count {
            // The losses are apart: each is a separate range.
            if index % (count / lost.max(1)).max(2) == 0 && index / (count / lost.max(1)).max(2) < lost {
                flow.lose();
            }
            flow.ack_with(1, Some(millis(100)));
        }
    }
    flow
}

#[test]
fn a_round_of_many_losses_in_recovery_fills_the_pipe() {
    let mut flow = lossy(8, 3);
    // The drain.
    flow.ack_with(flow.in_flight(), Some(millis(100)));
    assert_eq!(flow.exits().first().map(|exit| exit.cause), Some(Cause::Loss));
}

#[test]
fn few_losses_are_no_sign_of_a_full_pipe() {
    let flow = lossy(2, 3);
    assert!(flow.exits().is_empty(), "{:?}", flow.exits());
}

#[test]
fn a_timeout_takes_the_window_and_not_the_model() {
    let mut flow = start();
    round(&mut flow, mbit(8));
    flow.time_out(false);
    assert_eq!(flow.exits()[0].cause, Cause::Timeout);
    assert_eq!(flow.control.phase(), Phase::Startup);
    assert_eq!(flow.window(), 1);
    assert_eq!(pacing(&flow), Rate::from_bps(21_938_400));
}

/// ProbeRTT restores at most the window to which the slow start after a timeout has grown.
#[test]
fn a_timeout_in_probe_rtt_discards_the_window_of_before() {
    let mut flow = start_with(ProbeBw::new());
    let mut before = 0;
    for _ in 0..200 {
        round(&mut flow, mbit(8));
        if flow.control.phase() == Phase::Avoidance && flow.window() < before / 2 {
            break;
        }
        before = flow.window();
    }
    assert!(before > 100 && flow.window() < before / 2, "ProbeRTT was reached: {before}, {}", flow.window());
    flow.time_out(false);
    assert_eq!(flow.window(), 1);
    // BBR's window is at least four segments.
    let mut max = 4;
    for _ in 0..3_000 {
        flow.fill();
        flow.wait(millis(1));
        flow.ack_with(1, Some(millis(100)));
        assert!(flow.window() <= max + 2, "{max} to {} by one packet", flow.window());
        max = max.max(flow.window());
    }
    assert_eq!(flow.control.phase(), Phase::Avoidance);
}

#[test]
fn draining_ends_after_three_rounds_at_most() {
    let mut flow = start();
    flow.delivery_rate = Some(mbit(8));
    let mut drained = 0;
    // Two products stay in flight, whatever the plan says.
    for _ in 0..2_000 {
        while flow.in_flight() < 200 {
            flow.send(1);
        }
        flow.wait(millis(1));
        flow.ack_with(1, Some(millis(200)));
        if !flow.exits().is_empty() {
            break;
        }
        drained += usize::from(pacing(&flow) < mbit(8));
    }
    assert!((599..=601).contains(&drained), "{drained} ACKs are not three rounds of 200");
}

fn cruising(window: u64, rate: u64) -> (BbrCruise, BbrFlow<Reno>) {
    let flow = start();
    let mut law = BbrCruise::new();
    let learned =
        PathEstimate { window: packets(window), ssthresh: Some(packets(window)), rate: Some(mbit(rate)) };
    law.enter(&Exit { cause: Cause::RateFlat, learned }, &flow.path);
    (law, flow)
}

#[test]
fn the_cruise_takes_over_with_the_rate_and_window_of_the_exit() {
    let (law, flow) = cruising(100, 8);
    let plan = law.plan(&flow.path);
    assert_eq!(plan.window, packets(100));
    // A phase of gain 1: 99 % of 8 Mbit/s.
    let Pacing::Rate { rate, .. } = plan.pacing else { panic!("{plan:?}") };
    assert_eq!(rate, Rate::from_bps(7_920_000));
}

#[test]
fn the_cruise_keeps_the_greater_of_found_and_observed_rates() {
    let flow = start();
    for (found, kept) in [(8, 7_920_000), (2, 3_960_000)] {
        let mut law = BbrCruise::new();
        law.observe(
            &Event::Acked({
                let mut ack = Ack::unlisted(MSS, 1, false);
                ack.delivery_rate = Some(mbit(4));
                ack
            }),
            &flow.path,
        );
        let learned = PathEstimate { window: packets(100), ssthresh: None, rate: Some(mbit(found)) };
        law.enter(&Exit { cause: Cause::Dispersion, learned }, &flow.path);
        let Pacing::Rate { rate, .. } = law.plan(&flow.path).pacing else { panic!("no rate") };
        assert_eq!(rate, Rate::from_bps(kept), "{found} Mbit/s found");
    }
}

#[test]
fn the_cruise_cycles_through_its_gains_a_round_each() {
    let mut flow = start_with(BbrCruise::new());
    for _ in 0..12 {
        if flow.exits().is_empty() {
            round(&mut flow, mbit(8));
        }
    }
    assert_eq!(flow.control.phase(), Phase::Avoidance);
    let mut seen = Vec::new();
    let mut last = Rate::ZERO;
    for _ in 0..2_000 {
        flow.fill();
        flow.wait(millis(1));
        flow.ack_with(1, Some(millis(100)));
        if pacing(&flow) != last {
            last = pacing(&flow);
            seen.push(last.bps());
        }
    }
    // 8 Mbit/s × 0.99 × 1, 1.25 and 0.75.
    assert_eq!(seen[..4], [7_920_000, 9_900_000, 5_940_000, 7_920_000]);
    // And no more than two products in flight: 200 packets.
    assert_eq!(flow.window(), 200);
}

#[test]
fn a_round_above_2_percent_loss_bounds_the_cruise_until_probing() {
    let (mut law, mut flow) = cruising(200, 8);
    assert_eq!(law.plan(&flow.path).window, packets(200));
    flow.path.delivered += packets(90);
    let packet = [firstflight::LostPacket { packet: 1, bytes: packets(10), tag: firstflight::Tag(0) }];
    law.on(
        &Event::Lost({
            let mut loss = firstflight::Loss::new(&packet);
            loss.opens_episode = true;
            loss
        }),
        &flow.path,
    );
    assert_eq!(law.plan(&flow.path).window, packets(200), "not at once");
    law.on(&Event::Acked(ack(true)), &flow.path);
    // 0.7 of 200; 90 were delivered.
    assert_eq!(law.plan(&flow.path).window, packets(140));
    for _ in 0..5 {
        law.on(&Event::Acked(ack(true)), &flow.path);
    }
    law.on(
        &Event::Acked({
            let mut ack = ack(false);
            ack.growth = packets(100);
            ack
        }),
        &flow.path,
    );
    assert_eq!(law.plan(&flow.path).window, packets(200), "the cycle begins again");
}

fn ack(round_ended: bool) -> firstflight::Ack<'static> {
    let mut ack = firstflight::Ack::of_stream(&[]);
    ack.duplicate = false;
    ack.round_ended = round_ended;
    ack
}

#[test]
fn without_a_rate_the_cruise_keeps_the_window_on_the_ack_clock() {
    let flow = start();
    let mut law = BbrCruise::new();
    let learned = PathEstimate { window: packets(30), ssthresh: None, rate: None };
    law.enter(&Exit { cause: Cause::Threshold, learned }, &flow.path);
    law.on(&Event::Acked(ack(true)), &flow.path);
    assert_eq!(law.plan(&flow.path), firstflight::Plan::ack_clocked(packets(30), None));
}

#[test]
fn a_timeout_of_the_cruise_leaves_slow_start_a_product_to_reach() {
    let (mut law, flow) = cruising(100, 8);
    law.on(&Event::TimedOut { repeated: false }, &flow.path);
    assert_eq!(law.plan(&flow.path).ssthresh.map(|bytes| bytes.packets(MSS)), Some(100));
    assert_eq!(Span::from_millis(100), flow.path.min_rtt.expect("known"));
}

#[test]
fn another_segment_size_before_the_handshake_is_over_changes_the_window() {
    let initial = Initial { segments: 10, ssthresh: None };
    let scheme = registry::scheme("bbr").expect("registered").build(initial, &[]).expect("allowed");
    let mut flow = Flow::new(Controller::new(scheme, Rfc5681::new(initial), Reno::new()));
    flow.path.mss = Bytes::new(536);
    flow.path.wire = Bytes::new(536);
    flow.say(&Event::MssChanged);
    assert_eq!(flow.plan().pacing, Pacing::Hold);
    flow.establish(millis(100), false);
    assert_eq!(flow.plan().window, Bytes::new(5_360));
    let open = flow.plan();
    flow.path.mss = Bytes::new(500);
    flow.say(&Event::MssChanged);
    assert_eq!(flow.plan().window, open.window, "later the window stays");
}

#[test]
fn a_start_up_timeout_under_the_cruise_restarts_with_a_threshold() {
    let initial = Initial { segments: 10, ssthresh: None };
    let control = Controller::new(SlowStart::new(initial), Rfc5681::new(initial), BbrCruise::new());
    let mut flow = Flow::established(control, millis(100));
    flow.delivery_rate = Some(mbit(8));
    flow.round(millis(100), 1, Span::ZERO);
    flow.fill();
    flow.wait(Span::from_secs(1));
    flow.time_out(false);
    assert_eq!((flow.control.phase(), flow.window()), (Phase::Startup, 1));
    // 8 Mbit/s over 100 ms.
    assert_eq!(flow.plan().ssthresh, Some(packets(100)));
}
