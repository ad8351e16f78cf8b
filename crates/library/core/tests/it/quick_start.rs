//! Quick-Start (RFC 4782 section 4) around slow start, and around other schemes.

use firstflight::avoidance::Reno;
use firstflight::registry;
use firstflight::restart::Rfc5681;
use firstflight::schemes::{
    Adaptive, Bbr, HyStart, Initial, PacketPair, QuickStart, QuickStartConfig, SlowStart,
};
use firstflight::{
    Advice, Ask, Bytes, Cause, Controller, Event, Pacing, Phase, Rate, RateCode, Span, Startup,
};

use crate::common::{Flow, MSS, micros, millis, packets};

type Asking<S> = Flow<QuickStart<S>, QuickStart<Rfc5681>, Reno>;

/// 5.12 Mbit/s: 64 packets of 1000 bytes in 100 ms.
const RATE: Rate = Rate::from_bps(5_120_000);
const RTT: Span = Span::from_millis(100);
const IW: Initial = Initial { segments: 3, ssthresh: None };

fn fixed() -> QuickStartConfig {
    QuickStartConfig { request: RateCode::up(RATE), ..QuickStartConfig::default() }
}

fn flow_around<S: Startup>(inner: S, config: QuickStartConfig) -> Asking<S> {
    let restart = QuickStart::new(Rfc5681::new(IW), config);
    Flow::new(Controller::new(QuickStart::new(inner, config), restart, Reno::new()))
}

fn flow(config: QuickStartConfig) -> Asking<SlowStart> {
    flow_around(SlowStart::new(IW), config)
}

fn answer<S: Startup>(flow: &mut Asking<S>, approved: Option<Rate>) {
    flow.say(&Event::Advice(Advice::QuickStart { approved }));
}

/// A connection whose request was answered with the SYN-ACK.
fn answered(config: QuickStartConfig, approved: Option<Rate>) -> Asking<SlowStart> {
    let mut flow = flow(config);
    flow.say(&Event::Asked(true));
    flow.establish(RTT, false);
    answer(&mut flow, approved);
    flow
}

fn asked<S: Startup>(flow: &Asking<S>) -> Option<Rate> {
    match flow.plan().ask {
        Some(Ask::QuickStart { rate }) => Some(rate),
        Some(Ask::ReportApproved { .. }) | None => None,
    }
}

fn reported<S: Startup>(flow: &Asking<S>) -> Option<Rate> {
    match flow.plan().ask {
        Some(Ask::ReportApproved { rate }) => Some(rate),
        Some(Ask::QuickStart { .. }) | None => None,
    }
}

#[test]
fn quick_start_requests_until_the_host_has_asked() {
    let mut flow = flow(fixed());
    assert_eq!(asked(&flow), Some(RATE));
    flow.say(&Event::Asked(true));
    assert_eq!(asked(&flow), None);
}

#[test]
fn a_request_without_a_set_rate_is_the_backlog_over_100_ms() {
    let mut flow = flow(QuickStartConfig::default());
    assert_eq!(asked(&flow), Some(RateCode::MAX.rate()), "the host does not know what is ready");
    // 50 kB in 100 ms are 4 Mbit/s, rounded up.
    flow.path.backlog = Some(packets(50));
    assert_eq!(asked(&flow), Some(RATE));
    // With 40 bytes of headers for each 1000 of payload it is just above 5.12 for 62 packets.
    flow.path.backlog = Some(packets(62));
    flow.path.wire = MSS + Bytes::new(40);
    assert_eq!(asked(&flow), Some(RATE * 2));
}

#[test]
fn choice_22_nothing_is_asked_for_what_the_initial_window_holds() {
    let mut flow = flow(fixed());
    flow.path.backlog = Some(packets(3));
    assert_eq!(asked(&flow), None);
    flow.path.backlog = Some(packets(3) + Bytes::new(1));
    assert_eq!(asked(&flow), Some(RATE));
    let mut eager = flow_around(SlowStart::new(IW), QuickStartConfig { skips_small: false, ..fixed() });
    eager.path.backlog = Some(packets(3));
    assert_eq!(asked(&eager), Some(RATE));
    eager.path.backlog = Some(Bytes::ZERO);
    assert_eq!(asked(&eager), None, "a host without data does not ask");
}

#[test]
fn an_approved_rate_fills_its_round_trip_paced_and_is_reported() {
    let flow = answered(fixed(), Some(RATE));
    let plan = flow.plan();
    assert_eq!(plan.window, packets(64));
    assert_eq!(plan.pacing, Pacing::Rate { rate: RATE, burst: MSS });
    assert_eq!(reported(&flow), Some(RATE));
}

#[test]
fn the_window_counts_headers() {
    let mut flow = flow(fixed());
    flow.path.mss = Bytes::new(1_460);
    flow.path.wire = Bytes::new(1_500);
    flow.say(&Event::Asked(true));
    flow.establish(RTT, false);
    answer(&mut flow, Some(RATE));
    // 5.12 Mbit/s x 0.1 s / 1500 B = 42.67.
    assert_eq!(flow.window(), 42);
    // The unit vector of choice-18: 17 sent by the first ACK make a window of 17.
    flow.send(17);
    flow.wait(RTT);
    flow.ack(1);
    assert_eq!(flow.plan().window, Bytes::new(1_460) * 17);
}

#[test]
fn the_first_ack_ends_the_pacing_and_leaves_what_was_sent() {
    let mut flow = answered(fixed(), Some(RATE));
    flow.say(&Event::Asked(true));
    assert_eq!(reported(&flow), None);
    flow.send(17);
    flow.wait(RTT);
    flow.ack(1);
    assert_eq!((flow.window(), flow.plan().pacing), (17, Pacing::AckClock));
    assert_eq!(flow.plan().ssthresh, Some(packets(128)), "twice the window approved");
    flow.fill();
    flow.ack(1);
    assert_eq!(flow.window(), 18, "slow start goes on");
}

#[test]
fn choice_18_the_whole_window_can_be_kept() {
    let mut flow = answered(QuickStartConfig { window_is_sent: false, ..fixed() }, Some(RATE));
    flow.send(17);
    flow.wait(RTT);
    flow.ack(1);
    assert_eq!(flow.window(), 64);
}

#[test]
fn little_sent_leaves_no_less_than_the_window_before() {
    let mut flow = answered(fixed(), Some(RATE));
    flow.send(1);
    flow.wait(RTT);
    flow.ack(1);
    assert_eq!(flow.window(), 3);
}

#[test]
fn slow_start_afterwards_ends_at_twice_the_window_and_says_the_rate() {
    let mut flow = answered(fixed(), Some(RATE));
    flow.clocked(RTT, micros(800), millis(400));
    let exit = flow.exits()[0];
    assert_eq!((exit.cause, exit.learned.rate), (Cause::Threshold, Some(RATE)));
    assert_eq!(exit.learned.window, packets(128));
}

#[test]
fn without_approval_it_is_the_scheme_inside_and_no_rate_is_reported() {
    let mut flow = answered(fixed(), None);
    assert_eq!(reported(&flow), Some(Rate::ZERO));
    let plan = flow.plan();
    assert_eq!((plan.window, plan.pacing, plan.ssthresh), (packets(3), Pacing::AckClock, None));
    flow.say(&Event::Asked(true));
    let without = Controller::new(SlowStart::new(IW), Rfc5681::new(IW), Reno::new());
    let mut without = Flow::established(without, RTT);
    for _ in 0..4 {
        flow.round(RTT, 1, micros(10));
        without.round(RTT, 1, micros(10));
        assert_eq!(flow.plan(), without.plan());
    }
}

#[test]
fn an_approved_rate_within_the_current_window_is_reported_and_unused() {
    // 160 kbit/s are 2 packets in 100 ms.
    let flow = answered(fixed(), Some(Rate::from_bps(160_000)));
    assert_eq!((flow.window(), flow.plan().pacing), (3, Pacing::AckClock));
    assert_eq!(reported(&flow), Some(Rate::from_bps(160_000)));
}

#[test]
fn an_approval_lapses_after_a_round_trip_without_data() {
    let mut flow = answered(fixed(), Some(RATE));
    flow.wait(RTT);
    assert_eq!(flow.window(), 64);
    flow.wait(Span::from_nanos(1));
    assert_eq!(flow.window(), 3);
    flow.send(1);
    assert_eq!((flow.window(), flow.plan().pacing), (3, Pacing::AckClock));
}

/// Returns a connection that sent 40 packets at the rate, of which `count` were acknowledged one by one.
fn after_acks(count: u32) -> Asking<SlowStart> {
    let mut flow = answered(fixed(), Some(RATE));
    flow.send(40);
    flow.wait(RTT);
    for _ in 0..count {
        flow.ack(1);
    }
    flow
}

/// RFC 4782 section 4.6.
#[test]
fn a_loss_leaves_the_slow_start_window_and_half_the_delivered_threshold() {
    let mut flow = after_acks(20);
    assert_eq!(flow.window(), 40 + 19);
    flow.lose();
    // 3 of the initial window, whose ACKs would have made it 6 by now; half of 20 delivered.
    assert_eq!((flow.window(), flow.plan().ssthresh), (6, Some(packets(10))));
    assert_eq!(flow.control.phase(), Phase::Startup);
}

#[test]
fn a_packet_lost_when_few_were_delivered_ends_start_up() {
    let mut flow = after_acks(4);
    flow.lose();
    assert_eq!((flow.window(), flow.plan().ssthresh), (6, Some(packets(2))));
    assert_eq!(flow.exits()[0].cause, Cause::Loss, "the window is past the threshold");
}

#[test]
fn slow_start_after_an_early_loss_continues_to_half_the_delivered_packets() {
    let mut flow = answered(QuickStartConfig { window_is_sent: false, ..fixed() }, Some(RATE));
    flow.send(40);
    flow.wait(RTT);
    flow.ack(20);
    // One ACK for 20 packets grows slow start by one.
    flow.lose();
    assert_eq!((flow.window(), flow.plan().ssthresh), (4, Some(packets(10))));
    assert_eq!(flow.control.phase(), Phase::Startup);
    flow.ack(20);
    assert_eq!(flow.window(), 5);
    flow.round(RTT, 1, micros(10));
    assert_eq!(flow.exits()[0].learned.window, packets(10));
    assert_eq!(flow.exits()[0].learned.rate, None, "the rate did not serve");
}

#[test]
fn a_loss_before_any_delivery_is_answered_with_two_segments() {
    let mut flow = answered(fixed(), Some(RATE));
    flow.send(40);
    flow.lose();
    assert_eq!((flow.window(), flow.plan().ssthresh), (3, Some(packets(2))));
}

#[test]
fn a_loss_of_later_packets_is_the_scheme_insides() {
    let mut flow = answered(fixed(), Some(RATE));
    flow.send(10);
    flow.wait(RTT);
    flow.ack(1);
    flow.fill();
    flow.ack(9);
    flow.lose();
    assert_eq!(flow.exits()[0].cause, Cause::Loss);
}

#[test]
fn a_mark_counts_as_a_loss_until_later_packets_are_acknowledged() {
    let mut flow = answered(fixed(), Some(RATE));
    flow.send(40);
    flow.wait(RTT);
    flow.ack(40);
    let mut later = flow.clone();
    flow.say(&Event::Marked { sent_at: None });
    assert_eq!(flow.plan().ssthresh, Some(packets(20)));
    assert_eq!(flow.exits(), []);
    later.fill();
    later.ack(1);
    later.say(&Event::Marked { sent_at: None });
    assert_eq!(later.exits()[0].cause, Cause::Mark);
}

#[test]
fn a_timeout_sets_the_threshold_to_half_the_delivered_packets() {
    let mut flow = answered(fixed(), Some(RATE));
    flow.send(40);
    flow.wait(RTT);
    flow.ack(10);
    flow.time_out(false);
    assert_eq!((flow.window(), flow.plan().ssthresh), (1, Some(packets(5))));
    assert_eq!(asked(&flow), None);
    assert_eq!(flow.exits()[0].cause, Cause::Timeout);
}

#[test]
fn a_loss_that_did_not_happen_gives_the_window_back() {
    let mut flow = answered(fixed(), Some(RATE));
    flow.send(40);
    flow.wait(RTT);
    flow.ack(1);
    let before = flow.plan();
    flow.lose();
    flow.say(&Event::SpuriousLoss);
    assert_eq!(flow.plan(), before);
}

#[test]
fn choice_20_growth_above_a_hundred_segments_is_limited_only_when_configured() {
    let grown = |limited| {
        let config = QuickStartConfig { limited, twice: false, ..fixed() };
        let mut flow = answered(config, Some(RATE * 2));
        flow.send(128);
        flow.wait(RTT);
        flow.ack(1);
        assert_eq!(flow.window(), 128);
        flow.ack_with(127, None);
        assert_eq!(flow.window(), 129, "one ACK, and max_ssthresh is the window approved");
        flow.round(RTT, 1, micros(10));
        flow.window()
    };
    // K = int(129 / 64) = 2 beyond 128.
    assert_eq!(grown(true), 129 + 129 / 2);
    assert_eq!(grown(false), 129 + 129);
}

fn idle(flow: &mut Asking<SlowStart>) {
    flow.wait(Span::from_secs(10));
    flow.path.backlog = Some(packets(1_000));
    assert!(flow.before_new_data());
}

#[test]
fn after_an_idle_time_it_asks_again_on_the_restart_window() {
    let mut flow = answered(fixed(), None);
    flow.say(&Event::Asked(true));
    flow.round(RTT, 1, micros(10));
    idle(&mut flow);
    assert_eq!((asked(&flow), flow.window()), (Some(RATE), 3));
    flow.say(&Event::Asked(true));
    flow.fill();
    flow.wait(RTT);
    flow.ack(1);
    answer(&mut flow, Some(RATE));
    assert_eq!(flow.window(), 64);
    flow.send(60);
    flow.ack(2);
    assert_eq!(flow.window(), 64, "acknowledgements of older packets change nothing");
    flow.wait(RTT);
    flow.ack(1);
    assert_eq!(flow.window(), 60);
    flow.lose();
    assert!(flow.window() <= 32, "in mid-connection at most half of what was approved");
}

#[test]
fn choice_19_a_denied_connection_asks_again_after_idle_or_never() {
    let asks_again = |retries, approved| {
        let mut flow = answered(QuickStartConfig { retries, ..fixed() }, approved);
        flow.say(&Event::Asked(true));
        flow.round(RTT, 1, micros(10));
        idle(&mut flow);
        asked(&flow).is_some()
    };
    assert!(asks_again(true, None));
    assert!(!asks_again(false, None));
    assert!(!asks_again(false, Some(Rate::ZERO)), "a rate of zero denies");
    assert!(asks_again(false, Some(RATE)), "it was not denied");
}

/// Returns the rate requested after an idle time that follows an approval and `then`, and the window before the idle
/// time.
fn asked_again(then: impl Fn(&mut Asking<SlowStart>)) -> (Option<Rate>, u64) {
    let mut flow = answered(QuickStartConfig { request: RateCode::MAX, ..fixed() }, Some(RATE));
    flow.say(&Event::Asked(true));
    flow.clocked(RTT, micros(800), millis(450));
    assert_eq!(flow.exits()[0].cause, Cause::Threshold, "of Quick-Start itself");
    then(&mut flow);
    while flow.in_flight() > 0 {
        flow.ack_with(10, Some(RTT));
    }
    let window = flow.window();
    idle(&mut flow);
    (asked(&flow), window)
}

/// RFC 4782 section 4.8: the ceiling applies to a connection that has met congestion; the threshold that Quick-Start
/// itself sets is no congestion.
#[test]
fn after_congestion_it_asks_for_no_more_than_the_window_was() {
    assert_eq!(asked_again(|_| ()).0, Some(RateCode::MAX.rate()), "there was no congestion");
    let congestions: [fn(&mut Asking<SlowStart>); 3] =
        [|flow| flow.lose(), |flow| flow.say(&Event::Marked { sent_at: None }), |flow| flow.time_out(false)];
    for congestion in congestions {
        let (asked, window) = asked_again(congestion);
        let max = packets(window).per(RTT).expect("a round trip");
        assert_eq!(asked, Some(RateCode::down(max).rate()));
    }
    let undone = |flow: &mut Asking<SlowStart>| {
        flow.lose();
        flow.say(&Event::SpuriousLoss);
    };
    assert_eq!(asked_again(undone).0, Some(RateCode::MAX.rate()), "nor was there here");
}

#[test]
fn the_restart_policy_does_not_ask_after_a_loss_at_approved_rate() {
    let mut flow = answered(fixed(), Some(RATE));
    flow.say(&Event::Asked(true));
    flow.send(20);
    flow.lose();
    while flow.in_flight() > 0 {
        flow.ack(10);
    }
    idle(&mut flow);
    assert_eq!(asked(&flow), None);
}

#[test]
fn a_host_that_cannot_ask_leaves_the_scheme_inside_alone() {
    let mut flow = flow(fixed());
    flow.say(&Event::Asked(false));
    assert_eq!(asked(&flow), None);
    flow.establish(RTT, false);
    answer(&mut flow, Some(RATE));
    assert_eq!(flow.window(), 3, "an approval that nobody asked for");
}

#[test]
fn another_scheme_inside_goes_on_from_what_was_sent() {
    let mut flow = flow_around(HyStart::new(IW), fixed());
    flow.say(&Event::Asked(true));
    flow.establish(RTT, false);
    answer(&mut flow, Some(RATE));
    flow.send(20);
    flow.wait(RTT);
    flow.ack(1);
    assert_eq!(flow.window(), 20);
    flow.ack(1);
    assert_eq!(flow.window(), 21);
}

/// Every scheme that can be inside works with all of Quick-Start, whatever it does with the window.
#[test]
fn quick_start_can_wrap_every_plain_scheme() {
    let entry = registry::scheme("quick-start").expect("registered");
    let around = entry.parameter("around").expect("a parameter").kind;
    for inside in registry::schemes().iter().filter(|inside| inside.name != "quick-start") {
        let name = around.word(inside.name).expect(inside.name);
        let scheme = entry.build(IW, &[("around", name)]).expect(inside.name);
        let mut flow = Flow::new(Controller::new(scheme, Rfc5681::new(IW), Reno::new()));
        flow.say(&Event::Asked(true));
        flow.establish(RTT, false);
        flow.say(&Event::Advice(Advice::QuickStart { approved: Some(RATE) }));
        assert_eq!(flow.plan().pacing, Pacing::Rate { rate: RATE, burst: MSS }, "{}", inside.name);
        flow.send(20);
        flow.wait(RTT);
        flow.ack(1);
        assert!(!matches!(flow.plan().ask, Some(Ask::QuickStart { .. })), "{}", inside.name);
        assert!(flow.window() <= 64, "{}", inside.name);
    }
}

#[test]
fn around_slow_start_its_state_just_fits_a_sockets_private_area() {
    let size = Controller::<QuickStart<SlowStart>, Rfc5681, Reno>::STATE_SIZE;
    // Linux's private area of a socket.
    assert_eq!(size, 104);
}

/// Returns the window after 40 packets sent at the approved rate, as their first ACK leaves it.
fn sent_around<S: Startup>(inner: S) -> Asking<S> {
    let mut flow = flow_around(inner, fixed());
    flow.say(&Event::Asked(true));
    flow.establish(RTT, false);
    answer(&mut flow, Some(RATE));
    flow.say(&Event::Asked(true));
    flow.send(40);
    flow.wait(RTT);
    flow.ack(1);
    flow
}

/// RFC 4782 section 4.4.
#[test]
fn adaptive_start_inside_continues_from_sent_data_up_to_twice_approved_window() {
    let mut flow = sent_around(Adaptive::new(IW));
    assert_eq!((flow.window(), flow.plan().ssthresh), (40, Some(packets(128))));
    flow.ack(1);
    assert_eq!(flow.window(), 41);
    for _ in 0..18 {
        flow.ack(1);
    }
    flow.lose();
    assert_eq!(flow.window(), 6, "what would have been without");
}

/// RFC 4782 section 4.4.
#[test]
fn bbr_inside_continues_from_sent_data_and_paces_like_an_initial_window() {
    let mut flow = sent_around(Bbr::new(IW));
    assert_eq!(flow.window(), 40);
    let Pacing::Rate { rate, .. } = flow.plan().pacing else { panic!("it paces") };
    // 40 packets of 8000 bits in 100 ms, times 2.77.
    assert_eq!(rate, Rate::from_bps(8_864_000));
    for _ in 0..19 {
        flow.ack(1);
    }
    flow.lose();
    assert_eq!(flow.window(), 6, "what would have been without");
}

/// A packet of 1000 bytes at [`RATE`].
const GAP: Span = Span::from_nanos(1_562_500);

/// Quick-Start itself spaces the packets sent at the approved rate.
#[test]
fn packet_pair_inside_ignores_gaps_paced_at_the_approved_rate() {
    let mut flow = flow_around(PacketPair::new(IW), QuickStartConfig { twice: false, ..fixed() });
    flow.say(&Event::Asked(true));
    flow.establish(RTT, false);
    let mut refused = flow.clone();
    answer(&mut flow, Some(RATE));
    for _ in 0..20 {
        flow.send(1);
        flow.wait(GAP);
    }
    flow.wait(RTT - GAP * 20);
    for _ in 0..8 {
        flow.ack_with(1, Some(RTT));
        flow.wait(GAP);
    }
    assert_eq!(flow.plan().ssthresh, None);
    // Packets sent in a burst are measured as usual.
    answer(&mut refused, None);
    refused.send(3);
    refused.wait(RTT);
    for _ in 0..3 {
        refused.ack_with(1, Some(RTT));
        refused.wait(micros(1_000));
    }
    assert_eq!(refused.plan().ssthresh, Some(packets(100)));
}

#[test]
fn after_an_idle_time_the_first_packet_asks_or_none() {
    let mut flow = answered(QuickStartConfig::default(), None);
    flow.round(RTT, 1, Span::ZERO);
    flow.wait(Span::from_secs(3));
    flow.path.backlog = Some(packets(2));
    assert!(flow.before_new_data());
    assert_eq!(asked(&flow), None, "the window holds what is ready");
    flow.send(2);
    flow.path.backlog = Some(packets(1_000));
    assert_eq!(asked(&flow), None, "two packets are on their way");
    flow.wait(RTT);
    flow.ack(2);
    assert_eq!(asked(&flow), None, "the ACK clock is back");
}
