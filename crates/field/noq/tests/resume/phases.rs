use std::time::{Duration, Instant};

use firstflight_noq::resume::{Outcome, Phase, Phases, Saved};
use proptest::prelude::*;

const MTU: u64 = 1200;
const IW: u64 = 12_000;
const RTT: Duration = Duration::from_millis(40);

/// A host without a network, whose inner controller is in slow start.
struct Host {
    phases: Phases,
    now: Instant,
    inner: u64,
    flight: Vec<(Instant, u64)>,
    next: u64,
}

impl Host {
    fn new(window: u64, saved_rtt: Duration) -> Self {
        let saved = Saved { window, rtt: saved_rtt, at: 0 };
        let phases = Phases::new(Some(saved), IW, 1200);
        Self { phases, now: start(), inner: IW, flight: Vec::new(), next: 0 }
    }

    fn window(&self) -> u64 {
        self.phases.window(self.inner)
    }

    fn fill(&mut self) {
        while (self.flight.len() as u64 + 1) * MTU <= self.window() {
            self.send();
        }
        self.phases.on_window_limited();
    }

    fn send(&mut self) {
        self.phases.on_sent(self.now, MTU, self.next);
        self.flight.push((self.now, self.next));
        self.next += 1;
    }

    /// Acknowledges the oldest packets in one frame.
    fn ack(&mut self, packets: usize, app_limited: bool) {
        for (sent, number) in self.flight.drain(..packets).collect::<Vec<_>>() {
            self.phases.on_acked(self.now, sent, MTU, number, app_limited);
            let before = self.inner;
            self.inner += MTU;
            self.phases.on_inner_window(before, self.inner);
        }
        let flight = self.flight.len() as u64 * MTU;
        self.phases.on_end_acks(self.now, flight, app_limited, self.inner, || true);
    }

    fn lose(&mut self) {
        let (sent, _) = self.flight.remove(0);
        self.phases.on_lost(MTU);
        let before = self.inner;
        self.inner /= 2;
        self.phases.on_congestion(self.now, sent, false, before, self.inner);
    }

    /// Sends and acknowledges the initial window after `rtt`.
    fn initial(&mut self, rtt: Duration) {
        self.fill();
        self.now += rtt;
        self.ack(10, false);
    }
}

#[allow(clippy::disallowed_methods, reason = "an Instant has no other constructor; only differences count")]
fn start() -> Instant {
    Instant::now()
}

#[test]
fn the_jump_is_half_of_the_saved_window_paced_over_a_round_trip() {
    let mut host = Host::new(400 * MTU, RTT);
    host.initial(RTT);
    assert_eq!((host.phases.phase(), host.window()), (Phase::Unvalidated, 200 * MTU));
    host.send();
    assert_eq!(host.phases.pacing_rate(None), Some(200 * MTU * 25));
}

#[test]
fn an_rtt_of_half_or_above_ten_times_the_saved_rtt_prevents_the_jump() {
    for (saved, jumps) in
        [(RTT * 2, false), (Duration::from_micros(79_999), true), (RTT / 10, true), (RTT / 11, false)]
    {
        let mut host = Host::new(400 * MTU, saved);
        host.initial(RTT);
        assert_eq!(host.phases.phase() == Phase::Unvalidated, jumps, "{saved:?}");
        assert_eq!(host.phases.outcome() == Outcome::RttNotValidated, !jumps);
    }
}

#[test]
fn a_loss_in_the_initial_window_prevents_the_jump() {
    let mut host = Host::new(400 * MTU, RTT);
    host.fill();
    host.now += RTT;
    host.lose();
    host.ack(9, false);
    assert_eq!((host.phases.outcome(), host.window()), (Outcome::CongestionBeforeJump, host.inner));
}

#[test]
fn the_jump_waits_until_the_window_is_the_limit() {
    let mut host = Host::new(400 * MTU, RTT);
    host.fill();
    host.now += RTT;
    host.ack(10, true);
    assert_eq!((host.phases.phase(), host.window()), (Phase::Reconnaissance, host.inner));
}

#[test]
fn a_sent_and_acknowledged_jump_is_validated_and_keeps_its_window() {
    let mut host = Host::new(400 * MTU, RTT);
    host.initial(RTT);
    host.fill();
    assert_eq!((host.phases.phase(), host.window()), (Phase::Validating, 200 * MTU));
    host.now += RTT;
    host.ack(200, false);
    assert_eq!(host.phases.outcome(), Outcome::Validated);
    assert_eq!(host.window(), 400 * MTU);
}

#[test]
fn a_sender_without_data_returns_to_the_used_window() {
    let mut host = Host::new(400 * MTU, RTT);
    host.initial(RTT);
    host.send();
    host.now += RTT;
    host.ack(1, true);
    assert_eq!(host.phases.outcome(), Outcome::RateLimited);
    assert_eq!(host.window(), IW);
}

#[test]
fn a_loss_in_the_jump_halves_the_pipe_and_holds_the_window() {
    let mut host = Host::new(400 * MTU, RTT);
    host.initial(RTT);
    host.fill();
    host.now += RTT;
    host.ack(50, false);
    host.lose();
    // PipeSize is the flight at the jump, zero here, and the bytes acknowledged since.
    assert_eq!((host.phases.phase(), host.window()), (Phase::SafeRetreat, 25 * MTU));
    host.ack(100, false);
    assert_eq!(host.window(), 25 * MTU);
    host.ack(49, false);
    assert_eq!((host.phases.phase(), host.phases.outcome()), (Phase::Normal, Outcome::Retreated));
    assert!(host.phases.ssthresh().is_some_and(|ssthresh| ssthresh <= 199 * MTU / 2));
}

#[test]
fn a_loss_that_the_validating_ack_shows_revokes_the_validation() {
    let mut host = Host::new(400 * MTU, RTT);
    host.initial(RTT);
    host.fill();
    host.now += RTT;
    let lost = host.flight.remove(0);
    host.ack(199, false);
    host.flight.push(lost);
    host.lose();
    assert_eq!((host.phases.phase(), host.phases.outcome()), (Phase::SafeRetreat, Outcome::Retreated));
    assert_eq!(host.window(), 199 * MTU / 2);
}

#[test]
fn a_loss_that_the_last_ack_before_the_jump_shows_prevents_it() {
    let mut host = Host::new(400 * MTU, RTT);
    host.fill();
    host.flight.push(host.flight[0]);
    host.now += RTT;
    host.ack(10, false);
    host.lose();
    assert_eq!((host.phases.outcome(), host.window()), (Outcome::CongestionBeforeJump, host.inner));
}

#[test]
fn another_episode_in_the_retreat_reduces_the_window_again() {
    let mut host = Host::new(400 * MTU, RTT);
    host.initial(RTT);
    host.fill();
    host.now += RTT;
    host.ack(50, false);
    host.lose();
    host.lose();
    assert_eq!(host.window(), 25 * MTU, "one episode");
    host.now += RTT;
    host.flight.clear();
    host.send();
    host.now += RTT;
    host.lose();
    assert_eq!((host.phases.phase(), host.window()), (Phase::SafeRetreat, 25 * MTU / 2));
}

#[test]
fn a_new_path_ends_the_jump_in_a_retreat() {
    let mut host = Host::new(400 * MTU, RTT);
    host.initial(RTT);
    host.fill();
    host.phases.on_path_change();
    assert_eq!((host.phases.phase(), host.phases.outcome()), (Phase::Normal, Outcome::PathChanged));
}

#[test]
fn persistent_congestion_ends_careful_resume() {
    let mut host = Host::new(400 * MTU, RTT);
    host.initial(RTT);
    host.fill();
    host.phases.on_congestion(host.now, host.now, true, host.inner, 2 * MTU);
    host.inner = 2 * MTU;
    assert_eq!((host.phases.outcome(), host.window()), (Outcome::PersistentCongestion, 2 * MTU));
}

#[test]
fn a_jump_of_at_most_twice_the_window_is_left_out() {
    for (saved, outcome) in [(80, Outcome::NoGain), (82, Outcome::Pending)] {
        let mut host = Host::new(saved * MTU, RTT);
        host.initial(RTT);
        assert_eq!(host.phases.outcome(), outcome);
    }
}

#[test]
fn a_smaller_rtt_while_unvalidated_is_a_change_of_the_path() {
    let mut host = Host::new(400 * MTU, RTT);
    host.initial(RTT);
    host.send();
    host.now += RTT / 2;
    host.ack(1, false);
    assert_eq!((host.phases.phase(), host.phases.outcome()), (Phase::SafeRetreat, Outcome::PathChanged));
}

#[test]
fn congestion_after_validation_reduces_the_window_as_the_inner_controller_does() {
    let mut host = Host::new(400 * MTU, RTT);
    host.initial(RTT);
    host.fill();
    host.now += RTT;
    host.ack(200, false);
    assert_eq!(host.window(), 400 * MTU);
    host.fill();
    host.now += RTT;
    host.lose();
    assert_eq!(host.window(), 200 * MTU);
}

proptest! {
    #[test]
    fn the_window_is_at_most_the_jump_while_unvalidated_and_a_loss_retreats(
        saved in 50_u64..2000,
        steps in prop::collection::vec((0_u8..3, 1_usize..30, 0_u64..20), 1..80),
    ) {
        let mut host = Host::new(saved * MTU, RTT);
        for (step, count, wait) in steps {
            host.now += Duration::from_millis(wait);
            match step {
                0 => host.fill(),
                1 => { let count = count.min(host.flight.len()); host.ack(count, false); }
                _ if host.flight.is_empty() => {}
                _ => {
                    let before = host.phases.phase();
                    let window = host.window();
                    host.lose();
                    if matches!(before, Phase::Unvalidated | Phase::Validating) {
                        let revoked = host.phases.outcome() == Outcome::CongestionBeforeJump;
                        prop_assert!(revoked || host.phases.phase() == Phase::SafeRetreat);
                        prop_assert!(host.window() <= window);
                    }
                }
            }
            if host.phases.phase() == Phase::Unvalidated {
                prop_assert!(host.window() <= saved * MTU / 2);
            }
            prop_assert!(host.window() > 0);
        }
    }
}
