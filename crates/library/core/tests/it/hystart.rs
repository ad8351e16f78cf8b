//! HyStart, Algorithm 1 of its paper.

use firstflight::avoidance::Reno;
use firstflight::registry::{self, AnyScheme, Value};
use firstflight::restart::Rfc5681;
use firstflight::schemes::{HyStart, Initial};
use firstflight::{Avoidance, Bytes, Cause, Controller, Event, Exit, Origin, Path, Phase, Plan, Span};

use crate::common::{Flow, millis, packets};

type HyFlow = Flow<AnyScheme, Rfc5681, Reno>;

fn start(segments: u32, settings: &[(&str, Value)], rtt: Span) -> HyFlow {
    let initial = Initial { segments, ssthresh: None };
    let entry = registry::scheme("hystart").expect("registered");
    let scheme = entry.build(initial, settings).expect("allowed");
    Flow::established(Controller::new(scheme, Rfc5681::new(initial), Reno::new()), rtt)
}

/// ACKs this far apart are no train.
const SPARSE: Span = Span::from_millis(3);
const DENSE: Span = Span::from_millis(1);

/// Returns whether a flow exits whose first round had a delay of 100 ms and whose second round has the delay
/// `second`.
fn leaves_at(second: u64, settings: &[(&str, Value)]) -> bool {
    let mut flow = start(10, settings, millis(100));
    flow.round(millis(100), 1, SPARSE);
    flow.round(millis(second), 1, SPARSE);
    match flow.exits().as_slice() {
        [] => false,
        [exit] => exit.cause == Cause::Delay,
        more => panic!("{more:?}"),
    }
}

#[test]
fn a_rise_of_a_sixteenth_of_the_delay_leaves_by_delay() {
    assert!(!leaves_at(106, &[]));
    assert!(leaves_at(107, &[]));
}

#[test]
fn the_delay_exit_occurs_at_the_eighth_sample_with_the_current_window() {
    let mut flow = start(10, &[], millis(100));
    flow.round(millis(100), 1, SPARSE);
    flow.round(millis(150), 1, SPARSE);
    let exit = flow.exits()[0];
    // Twenty after the first round, and seven ACKs more.
    assert_eq!(exit.learned.window, packets(27));
    assert_eq!(exit.learned.ssthresh, Some(packets(27)));
    assert_eq!(flow.control.phase(), Phase::Avoidance);
}

#[test]
fn delays_after_the_eighth_sample_do_not_count() {
    // If 90 ms were the previous round's delay, 106 ms would be a rise by more than a sixteenth.
    let mut flow = start(10, &[], millis(100));
    flow.fill();
    flow.wait(millis(100));
    for sample in 0..10 {
        flow.ack_with(1, Some(millis(if sample < 8 { 100 } else { 90 })));
        flow.wait(SPARSE);
    }
    flow.round(millis(106), 1, SPARSE);
    assert!(flow.exits().is_empty());
}

#[test]
fn the_minimum_of_eight_is_compared_or_their_average_if_so_set() {
    let early_exit = |settings: &[(&str, Value)]| {
        let mut flow = start(10, settings, millis(100));
        flow.round(millis(100), 1, SPARSE);
        flow.fill();
        flow.wait(millis(100));
        for sample in 0..8 {
            flow.ack_with(1, Some(millis(if sample == 0 { 100 } else { 110 })));
            flow.wait(SPARSE);
        }
        !flow.exits().is_empty()
    };
    assert!(!early_exit(&[]));
    assert!(early_exit(&[("statistic", Value::Word("average"))]));
}

#[test]
fn delay_must_rise_by_two_ten_millisecond_ticks_at_100_hz() {
    let hz = [("hz", Value::Count(100))];
    assert!(!leaves_at(110, &hz));
    assert!(leaves_at(111, &hz), "111 ms are 12 ticks, rounded up");
}

#[test]
fn an_ack_train_as_long_as_half_the_least_round_trip_leaves() {
    let mut flow = start(10, &[], millis(100));
    for _ in 0..3 {
        flow.round(millis(100), 1, DENSE);
    }
    assert!(flow.exits().is_empty(), "40 ACKs span 39 ms");
    flow.round(millis(100), 1, DENSE);
    let exit = flow.exits()[0];
    assert_eq!(exit.cause, Cause::AckTrain);
    // The 51st ACK of the round arrives 50 ms after the first; the fifty before it grew the window from 80.
    assert_eq!(exit.learned.window, packets(130));
}

#[test]
fn acks_more_than_two_milliseconds_apart_are_no_train() {
    let mut flow = start(10, &[], millis(100));
    for _ in 0..6 {
        flow.round(millis(100), 1, SPARSE);
    }
    assert!(flow.exits().is_empty());
}

#[test]
fn a_late_ack_ends_the_train_of_its_round() {
    let mut flow = start(80, &[], millis(100));
    flow.fill();
    flow.wait(millis(100));
    for ack in 0..80 {
        flow.ack_with(1, Some(millis(100)));
        flow.wait(if ack == 20 { SPARSE } else { DENSE });
    }
    assert!(flow.exits().is_empty());
}

#[test]
fn an_exit_found_below_sixteen_segments_waits_for_sixteen() {
    let mut flow = start(6, &[], millis(10));
    flow.round(millis(10), 1, DENSE);
    assert!(flow.exits().is_empty(), "found at eleven segments");
    flow.round(millis(10), 1, SPARSE);
    assert_eq!((flow.exits()[0].cause, flow.exits()[0].learned.window), (Cause::AckTrain, packets(16)));
}

#[test]
fn each_exit_can_be_switched_off() {
    assert!(!leaves_at(150, &[("exits", Value::Word("train"))]));
    let mut flow = start(80, &[("exits", Value::Word("delay"))], millis(100));
    flow.round(millis(100), 1, DENSE);
    assert!(flow.exits().is_empty());
}

/// A law that lets slow start continue without a threshold after a timeout.
#[derive(Clone, Default)]
struct NoThreshold(Bytes);

impl Avoidance for NoThreshold {
    fn enter(&mut self, exit: &Exit, _path: &Path) {
        self.0 = exit.learned.window;
    }

    fn on(&mut self, _event: &Event<'_>, _path: &Path) {}

    fn forget_path(&mut self) {}

    fn plan(&self, _path: &Path) -> Plan {
        Plan::ack_clocked(self.0, None)
    }
}

#[test]
fn a_timeout_forgets_the_least_delay_and_what_was_found() {
    let initial = Initial { segments: 6, ssthresh: None };
    let control = Controller::new(HyStart::new(initial), Rfc5681::new(initial), NoThreshold::default());
    let mut flow = Flow::established(control, millis(10));
    flow.round(millis(10), 1, DENSE);
    assert!(flow.exits().is_empty(), "found at eleven segments, below sixteen");
    flow.fill();
    flow.wait(Span::from_secs(1));
    flow.time_out(false);
    flow.ack_with(flow.in_flight(), None);
    // The delay is now 100 ms: the 31 ms that the ACKs of 32 segments take are no long train.
    for _ in 0..5 {
        flow.round(millis(100), 1, DENSE);
    }
    assert_eq!(flow.window(), 64);
    let causes: Vec<Cause> = flow.exits().iter().map(|exit| exit.cause).collect();
    assert_eq!(causes, [Cause::Timeout]);
}

#[test]
fn another_path_is_not_compared_with_the_delays_of_the_old_one() {
    for statistic in ["minimum", "average"] {
        let mut flow = start(10, &[("statistic", Value::Word(statistic))], millis(100));
        flow.round(millis(100), 1, SPARSE);
        flow.fill();
        flow.wait(millis(300));
        // Four samples of the old path in the round that is under way.
        for _ in 0..4 {
            flow.ack_with(1, Some(millis(100)));
        }
        flow.say(&Event::Begin(Origin::PathChange));
        let exits = flow.exits().len();
        while flow.in_flight() > 0 {
            flow.wait(SPARSE);
            flow.ack_with(1, Some(millis(300)));
        }
        for _ in 0..3 {
            flow.round(millis(300), 1, SPARSE);
        }
        assert_eq!(flow.exits().len(), exits, "{statistic}: 300 ms is what this path takes");
    }
}

/// Algorithm 1's timeout keeps `curRTT`, and the round that slow start then begins makes it `lastRTT`.
#[test]
fn after_a_timeout_the_round_before_it_is_still_the_last_one() {
    let initial = Initial { segments: 20, ssthresh: None };
    let control = Controller::new(HyStart::new(initial), Rfc5681::new(initial), NoThreshold::default());
    let mut flow = Flow::established(control, millis(100));
    flow.fill();
    flow.wait(millis(100));
    for _ in 0..8 {
        flow.wait(SPARSE);
        flow.ack_with(1, Some(millis(100)));
    }
    flow.time_out(false);
    // Timestamps reveal the delays of retransmitted packets; eight of 300 ms are 200 ms above the previous round's.
    while flow.in_flight() > 0 {
        flow.wait(SPARSE);
        flow.ack_with(1, Some(millis(300)));
    }
    while flow.exits().len() < 2 {
        flow.round(millis(300), 1, SPARSE);
    }
    let exit = flow.exits()[1];
    assert_eq!((exit.cause, exit.learned.window), (Cause::Delay, packets(16)));
}
