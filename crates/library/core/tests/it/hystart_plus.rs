//! HyStart++ against RFC 9406.

use firstflight::avoidance::Reno;
use firstflight::registry::{self, AnyScheme, Value};
use firstflight::restart::Rfc5681;
use firstflight::schemes::Initial;
use firstflight::{Bytes, Cause, Controller, Event, Origin, Pacing, Phase, Span};

use crate::common::{Flow, MSS, millis, packets};

type HyFlow = Flow<AnyScheme, Rfc5681, Reno>;

fn start(segments: u32, settings: &[(&str, Value)]) -> HyFlow {
    let initial = Initial { segments, ssthresh: None };
    let entry = registry::scheme("hystart++").expect("registered");
    let scheme = entry.build(initial, settings).expect("allowed");
    Flow::established(Controller::new(scheme, Rfc5681::new(initial), Reno::new()), millis(100))
}

const SPACING: Span = Span::from_millis(1);

/// Ten segments, whose round has 100 ms.
fn after_a_round(settings: &[(&str, Value)]) -> HyFlow {
    let mut flow = start(10, settings);
    flow.round(millis(100), 1, SPACING);
    assert_eq!(flow.window(), 20);
    flow
}

#[test]
fn a_delay_rise_of_one_eighth_slows_growth_to_a_quarter() {
    let grown = |rtt| {
        let mut flow = after_a_round(&[]);
        flow.round(rtt, 1, SPACING);
        flow.plan().window - packets(20)
    };
    assert_eq!(grown(Span::from_micros(112_499)), packets(20));
    // The test follows the eighth ACK's growth: eight whole segments and twelve quarters.
    assert_eq!(grown(Span::from_micros(112_500)), packets(8) + MSS * 12 / 4);
}

#[test]
fn fewer_than_eight_samples_in_a_round_say_nothing() {
    let mut flow = after_a_round(&[]);
    flow.fill();
    flow.wait(millis(100));
    for _ in 0..7 {
        flow.ack_with(1, Some(millis(200)));
    }
    flow.ack_with(13, None);
    assert_eq!(flow.plan().window, packets(20 + 7 + 8), "L = 8 segments for the last ACK");
}

#[test]
fn the_least_of_all_samples_counts_not_only_of_the_first_eight() {
    let mut flow = start(20, &[]);
    flow.fill();
    flow.wait(millis(100));
    for sample in 0..20 {
        flow.ack_with(1, Some(millis(if sample == 10 { 100 } else { 130 })));
    }
    let window = flow.window();
    flow.round(millis(120), 1, SPACING);
    // 120 ms is a rise over 100 ms: if only the early ones counted, or the last, growth would have continued.
    assert!(flow.window() < 2 * window, "{}", flow.window());
}

#[test]
fn growth_resumes_when_the_delay_falls_below_the_css_entry_delay() {
    let resumed = |rtt: Span, settings: &[(&str, Value)]| {
        let mut flow = after_a_round(settings);
        flow.round(millis(130), 1, SPACING);
        let window = flow.plan().window;
        let acks = window.packets(MSS);
        flow.round(rtt, 1, SPACING);
        flow.plan().window - window > packets(acks / 2)
    };
    assert!(resumed(millis(129), &[]));
    assert!(!resumed(millis(130), &[]));
    // neqo's reading: below the previous round's minimum and the threshold, 112.5 ms.
    let last_min = [("baseline", Value::Word("last-min"))];
    assert!(!resumed(millis(129), &last_min));
    assert!(resumed(millis(112), &last_min));
}

#[test]
fn css_lasts_five_rounds_including_the_one_it_begins_in() {
    let rounds_of = |settings: &[(&str, Value)]| {
        let mut flow = after_a_round(settings);
        let mut rounds = 0;
        while flow.exits().is_empty() {
            flow.round(millis(130), 1, SPACING);
            rounds += 1;
            assert!(rounds < 50, "never left");
        }
        let exit = flow.exits()[0];
        assert_eq!(exit.cause, Cause::CssEnd);
        assert_eq!(exit.learned.ssthresh, Some(exit.learned.window));
        assert_eq!(flow.control.phase(), Phase::Avoidance);
        rounds
    };
    // A round ends with the first ACK of the next: the sixth since the rise.
    assert_eq!(rounds_of(&[]), 6);
    assert_eq!(rounds_of(&[("rounds", Value::Count(2))]), 3);
}

#[test]
fn rounds_are_counted_anew_after_growth_resumed() {
    let mut flow = after_a_round(&[]);
    for _ in 0..3 {
        flow.round(millis(130), 1, SPACING);
    }
    flow.round(millis(100), 1, SPACING);
    for _ in 0..5 {
        flow.round(millis(130), 1, SPACING);
        assert!(flow.exits().is_empty());
    }
    flow.round(millis(130), 1, SPACING);
    assert_eq!(flow.exits()[0].cause, Cause::CssEnd);
}

#[test]
fn a_loss_in_either_state_leaves_with_the_normal_response() {
    for css in [false, true] {
        let mut flow = after_a_round(&[]);
        if css {
            flow.round(millis(130), 1, SPACING);
        }
        flow.fill();
        let flight = flow.path.flight;
        flow.lose();
        assert_eq!(flow.exits()[0].cause, Cause::Loss);
        assert_eq!(flow.plan().window, flight / 2);
    }
}

#[test]
fn after_a_timeout_it_is_plain_slow_start() {
    let mut flow = after_a_round(&[]);
    flow.round(millis(100), 1, SPACING);
    flow.fill();
    flow.time_out(false);
    assert_eq!(flow.window(), 1);
    flow.ack_with(flow.in_flight(), None);
    assert_eq!(flow.plan().window, packets(2), "L = 1 after a timeout (RFC 3465 section 2.3)");
    // Delays that rise without end do not matter any more.
    let mut rtt = millis(100);
    while flow.exits().len() < 2 {
        flow.round(rtt, 1, SPACING);
        rtt = rtt.scale(3, 2);
    }
    assert_eq!(flow.exits()[1].cause, Cause::Threshold);
}

#[test]
fn one_ack_counts_for_eight_segments_or_for_all_when_paced() {
    let grown = |settings: &[(&str, Value)]| {
        let mut flow = start(40, settings);
        flow.fill();
        flow.wait(millis(100));
        flow.ack_with(40, Some(millis(100)));
        (flow.plan().window - packets(40), matches!(flow.plan().pacing, Pacing::Rate { .. }))
    };
    let paced = ("paced", Value::Word("yes"));
    assert_eq!(grown(&[]), (packets(8), false));
    assert_eq!(grown(&[paced]), (packets(40), true));
    assert_eq!(grown(&[("l", Value::Count(2))]), (packets(2), false));
    assert_eq!(grown(&[paced, ("l", Value::Count(4))]), (packets(4), true));
}

#[test]
fn the_growth_divisor_can_be_set() {
    let mut flow = after_a_round(&[("divisor", Value::Count(2))]);
    flow.round(millis(130), 1, SPACING);
    assert_eq!(flow.plan().window, packets(28) + Bytes::new(6_000));
}

#[test]
fn css_division_remainder_can_be_truncated() {
    let grown = |division| {
        let settings = [("divisor", Value::Count(3)), ("division", Value::Word(division))];
        let mut flow = after_a_round(&settings);
        flow.round(millis(130), 1, SPACING);
        flow.plan().window - packets(28)
    };
    // Twelve ACKs of a thousand bytes.
    assert_eq!([grown("carry"), grown("truncate")], [4_000, 12 * 333].map(Bytes::new));
}

#[test]
fn on_another_path_it_starts_anew() {
    let mut flow = after_a_round(&[]);
    flow.fill();
    flow.time_out(false);
    flow.say(&Event::Begin(Origin::PathChange));
    assert_eq!(flow.window(), 10);
    flow.ack_with(flow.in_flight(), None);
    flow.round(millis(300), 1, SPACING);
    let window = flow.plan().window;
    flow.round(millis(300), 1, SPACING);
    assert_eq!(flow.plan().window, window * 2, "300 ms is no rise over what another path had");
    for _ in 0..6 {
        flow.round(millis(350), 1, SPACING);
    }
    assert_eq!(flow.exits().last().map(|exit| exit.cause), Some(Cause::CssEnd));
}
