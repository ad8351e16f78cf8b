//! Trains of Paced Start over a real endpoint.

use firstflight::avoidance::Reno;
use firstflight::restart::Rfc5681;
use firstflight::schemes::{Initial, Paced};
use firstflight::{Cause, Controller, Note};
use firstflight_tcp::{Config, Endpoint, EndpointEvent, Recovery, Role};

use super::connection::{DELAY, dropping};
use super::line::{Line, config, millis};

/// Returns the first exit, and the timeouts and probes until then, if the last packet of the first burst is lost.
fn with_a_lost_tail(recovery: Recovery) -> (Cause, u64, u64) {
    let config = Config { recovery, ..config() };
    let initial = Initial { segments: 10, ssthresh: None };
    let restart = Rfc5681::new(initial);
    let control = Controller::new(Paced::practical(initial), restart, Reno::new());
    let mut line = Line::between(Endpoint::new(Role::Client, &config, control), &config, DELAY);
    line.client.open(line.now);
    line.client.write(100_000);
    line.run(millis(60_000), dropping(vec![9]));
    assert_eq!(line.server.stats().received, 100_000);
    let exit = line.events.iter().find_map(|(_, what)| match what {
        EndpointEvent::Control(Note::Exited { exit, .. }) => Some(exit.cause),
        _ => None,
    });
    let stats = line.client.stats();
    (exit.expect("an exit"), stats.timeouts, stats.probes)
}

#[test]
fn choice_9_a_lost_train_tail_is_found_by_probe_or_timeout() {
    assert_eq!(with_a_lost_tail(Recovery::Rack), (Cause::Loss, 0, 1));
    assert_eq!(with_a_lost_tail(Recovery::Sack), (Cause::Timeout, 1, 0));
    assert_eq!(with_a_lost_tail(Recovery::NewReno), (Cause::Timeout, 1, 0));
}
