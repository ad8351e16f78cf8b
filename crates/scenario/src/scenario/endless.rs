//! Refuses scenarios that would run practically for ever: writes that never end, and timed events that outnumber the
//! packets.

use firstflight::{Bytes, Rate, Span};

use super::{Goal, Scenario, ScenarioError, ScenarioFault, highest};
use crate::quantity::{show_rate, show_span};
use crate::words::Cross;

/// The longest duration ([`crate::quantity::span`]). Everything that a clock drives ends within it.
const LONGEST: Span = Span::from_secs(1_000 * 3_600);

/// The highest mean rate that datagram sources may offer, in multiples of the bottleneck's rate.
const MOST_TIMES: u64 = 1_000;

impl Scenario {
    /// Refuses an application that would write for longer than the longest duration, on-off traffic that switches more
    /// often than packets leave, and datagrams of which hardly any pass the bottleneck.
    pub(super) fn ends(&self) -> Result<(), ScenarioError> {
        let by_the_clock = match (self.goal, self.app, self.rounds) {
            (Goal::Size(size), Some(app), _) => {
                let count = app.count(size).saturating_sub(1);
                Some(("app", "writes", count, app.period))
            }
            (_, _, Some(rounds)) => {
                let period = rounds.idle + rounds.spread.unwrap_or(Span::ZERO) * 2;
                Some(("rounds", "idle times", u64::from(rounds.count), period))
            }
            _ => self.population.as_ref().map(|population| {
                ("arrivals", "flows", u64::from(population.flows), population.arrivals.mean_gap())
            }),
        };
        match by_the_clock {
            Some((key, what, count, apart)) if apart * count > LONGEST => {
                return Err(ScenarioFault::NeverDone { what, count, apart: show_span(apart) }.of(key));
            }
            _ => {}
        }
        let fastest = highest(self.rate_trace.as_ref()).map_or(self.rate, |highest| highest.max(self.rate));
        self.traffic().try_for_each(|entry| {
            let fastest = if entry.reverse { self.rate_of(&entry) } else { fastest };
            self.turns_no_faster_than_packets(entry.cross, fastest)?;
            offers_no_flood(entry.cross, fastest)
        })
    }

    /// Refuses on-off traffic that is too fast. A source whose period is shorter than one of its packets sends none in most
    /// periods. A queue cannot tell a period shorter than one packet at the bottleneck from the mean. Each switch is an
    /// event of the simulation.
    fn turns_no_faster_than_packets(&self, cross: Cross, fastest: Rate) -> Result<(), ScenarioError> {
        let Cross::OnOff { rate, on, off, pareto } = cross else { return Ok(()) };
        let packet = fastest.min(rate).time_for(Bytes::new(u64::from(self.packet())));
        // For a Pareto distribution the least period must be long enough, because most periods are close to it.
        let share = pareto.map_or(1.0, |shape| 1.0 - 1.0 / shape.to_f64());
        #[expect(clippy::cast_precision_loss, reason = "the nearest double is what is wanted")]
        let (turn, wanted) = ((on + off).nanos() as f64 * share, packet.nanos() as f64);
        if turn >= wanted {
            return Ok(());
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "no more than it was, and not under zero"
        )]
        let turn = show_span(Span::from_nanos(turn as u64));
        let of = if pareto.is_some() { "at the least of its distribution" } else { "in the mean" };
        Err(ScenarioFault::TurnsTooOften { turn, of, packet: show_span(packet) }.of("cross"))
    }
}

/// Refuses datagrams that arrive more than a thousand times as fast as the bottleneck sends. Nearly all of them would
/// be dropped, and each would be simulated.
fn offers_no_flood(cross: Cross, fastest: Rate) -> Result<(), ScenarioError> {
    let offered = match cross {
        Cross::Cbr(rate) => rate,
        Cross::OnOff { rate, on, off, .. } => {
            let cycle = u128::from((on + off).nanos()).max(1);
            let mean = u128::from(rate.bps()) * u128::from(on.nanos()) / cycle;
            u64::try_from(mean).map_or(rate, Rate::from_bps)
        }
        _ => return Ok(()),
    };
    if offered.bps() <= fastest.bps().saturating_mul(MOST_TIMES) {
        return Ok(());
    }
    let (offered, fastest) = (show_rate(offered), show_rate(fastest));
    Err(ScenarioFault::Flood { offered, times: MOST_TIMES, fastest }.of("cross"))
}

#[cfg(test)]
mod tests {
    use crate::options::Options;

    use super::*;

    fn resolve(options: &[(&str, &str)]) -> Result<Scenario, ScenarioError> {
        let mut set = Options::default();
        for (key, text) in options {
            set.set(key, text).expect(text);
        }
        Scenario::resolve(&set)
    }

    fn refused(options: &[(&str, &str)]) -> String {
        resolve(options).expect_err("it never ends").to_string()
    }

    #[test]
    fn an_application_that_writes_for_longer_than_any_duration_is_refused() {
        assert_eq!(
            refused(&[("app", "1B,1h"), ("size", "1002B")]),
            "app: 1001 writes that are 1h apart take more than 1000h, the longest duration; fewer or closer ones are wanted"
        );
        assert!(resolve(&[("app", "1B,1h"), ("size", "1001B")]).is_ok());
        assert!(refused(&[("app", "1B,1000h"), ("size", "100000B")]).starts_with("app: 99999 writes"));
        // A run with a duration ends by itself.
        assert!(resolve(&[("app", "1B,1h"), ("duration", "10s")]).is_ok());
    }

    #[test]
    fn rounds_that_idle_for_longer_than_any_duration_are_refused() {
        assert_eq!(
            refused(&[("rounds", "100000"), ("idle", "1000h")]),
            "rounds: 100000 idle times that are 1000h apart take more than 1000h, the longest duration; fewer or closer ones are \
             wanted"
        );
        assert!(resolve(&[("rounds", "10"), ("idle", "100h")]).is_ok());
        assert!(refused(&[("rounds", "10"), ("idle", "100h"), ("spread", "1ns")]).contains("10 idle times"));
    }

    #[test]
    fn flows_that_come_for_longer_than_any_duration_are_refused() {
        let hosts = [("topology", "dumbbell:hosts=2"), ("size", "10kB")];
        let of = |flows, arrivals| [&hosts[..], &[("flows", flows), ("arrivals", arrivals)]].concat();
        assert!(
            refused(&of("11", "every:100h")).starts_with("arrivals: 11 flows that are 100h apart take more")
        );
        assert!(resolve(&of("10", "every:100h")).is_ok());
        assert!(refused(&of("2", "poisson:0.000000001")).starts_with("arrivals: 2 flows"));
    }

    #[test]
    fn cross_traffic_that_turns_more_often_than_packets_leave_is_refused() {
        let path = [("rate", "10mbit"), ("rtt", "20ms"), ("mss", "1460")];
        let of = |cross| [&path[..], &[("cross", cross)]].concat();
        assert_eq!(
            refused(&of("onoff:8mbit,1ns,1ns")),
            "cross: on and off within 2ns in the mean, less than the 1500us that one packet takes; at least that is wanted, or \
             the mean as a constant rate"
        );
        assert!(resolve(&of("onoff:8mbit,750us,750us")).is_ok());
        assert!(refused(&of("onoff:8mbit,750us,749us")).contains("1499us in the mean"));
        // If the source is faster than the bottleneck, a packet takes its time at the bottleneck.
        assert!(resolve(&of("onoff:1gbit,1us,1199us")).is_ok());
        assert!(refused(&of("onoff:1gbit,1us,1198us")).contains("the 1200us that one packet takes"));
        // The least of a Pareto distribution of exponent 1.5 is a third of the mean.
        assert!(resolve(&of("onoff:8mbit,1500us,3001us,pareto=1.5")).is_ok());
        assert!(
            refused(&of("onoff:8mbit,1500us,2ms,pareto=1.5")).contains("at the least of its distribution")
        );
        assert!(refused(&of("onoff:8mbit,1h,1h,pareto=1.0000000001")).starts_with("cross: "));
        // The fastest rate of a trace counts.
        let trace = [("rate-trace", "0s=1mbit,1s=100mbit"), ("cross", "onoff:1gbit,60us,60us")];
        assert!(resolve(&trace).is_ok());
    }
    #[test]
    fn datagrams_of_which_hardly_any_gets_through_are_refused() {
        let path = [("rate", "1mbit"), ("rtt", "20ms")];
        let of = |cross| [&path[..], &[("cross", cross)]].concat();
        assert_eq!(
            refused(&of("10tbit")),
            "cross: 10000gbit, more than 1000 times the bottleneck's 1mbit; at most that is wanted, which leaves as little of it to \
             others"
        );
        assert!(resolve(&of("1gbit")).is_ok());
        // The mean of on-off traffic counts.
        assert!(resolve(&of("onoff:10gbit,10ms,90ms")).is_ok());
        assert!(refused(&of("onoff:10gbit,11ms,89ms")).starts_with("cross: 1100mbit, more"));
        let trace = [("rate-trace", "0s=1kbit,1s=1gbit"), ("cross", "1tbit")];
        assert!(resolve(&trace).is_ok());
    }
}
