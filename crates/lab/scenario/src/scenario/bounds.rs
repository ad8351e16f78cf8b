//! Rejects scenarios that would run practically forever: writes that never end, and timed events that outnumber the packets.

use firstflight::{Bytes, Rate, Span};

use super::{Goal, Scenario, ScenarioError, ScenarioFault, highest};
use crate::keywords::Cross;
use crate::quantity::{show_rate, show_span};

/// The longest duration that [`crate::quantity::span`] reads. Every periodic activity must end within it.
const LONGEST: Span = Span::from_secs(1_000 * 3_600);

/// The maximum number of transfers of cross traffic in a run that they overload. A transfer needs 2 kB of memory. It needs about 15 µs of
/// processor time in each of two runs: one with the measured flow and one without it (bench/log.md).
const MAX_TRANSFERS: u64 = 250_000;

/// The maximum mean rate of datagram sources, in multiples of the bottleneck's rate.
const MAX_TIMES: u64 = 1_000;

impl Scenario {
    /// Returns an error for an application that would write for longer than the longest duration, for transfers that pile up without bound,
    /// for on/off traffic that switches more often than packets are sent, and for datagrams that the bottleneck would nearly all drop.
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
        self.piles_up_within_bounds()?;
        let fastest = highest(self.rate_trace.as_ref()).map_or(self.rate, |highest| highest.max(self.rate));
        self.traffic().try_for_each(|entry| {
            let fastest = if entry.reverse { self.rate_of(&entry) } else { fastest };
            self.turns_no_faster_than_packets(entry.cross, fastest)?;
            offers_no_flood(entry.cross, fastest)
        })
    }

    /// Returns an error if transfers of cross traffic arrive faster than they finish and the run may last until there are too many. The
    /// measured flow may last until the limit.
    fn piles_up_within_bounds(&self) -> Result<(), ScenarioError> {
        if !self.piles_up() {
            return Ok(());
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a float saturates, and rates are positive"
        )]
        let per_second = self.transfers_per_second().ceil() as u64;
        let (seconds, millis) =
            (MAX_TRANSFERS / per_second.max(1), MAX_TRANSFERS * 1_000 / per_second.max(1));
        let most = if seconds > 0 { Span::from_secs(seconds) } else { Span::from_millis(millis) };
        if self.limit <= most {
            return Ok(());
        }
        let (limit, most) = (show_span(self.limit), show_span(most));
        let key = if self.is_sized() { "limit" } else { "duration" };
        Err(ScenarioFault::PilesUp { per_second, limit, transfers: MAX_TRANSFERS, most }.of(key))
    }

    /// Returns an error for on/off traffic that is too fast. A source whose period is shorter than one of its packets sends no packet in
    /// most periods. If a period is shorter than one packet at the bottleneck, the queue sees only the mean rate. Each switch is an event
    /// of the simulation.
    fn turns_no_faster_than_packets(&self, cross: Cross, fastest: Rate) -> Result<(), ScenarioError> {
        let Cross::OnOff { rate, on, off, pareto } = cross else { return Ok(()) };
        let packet = fastest.min(rate).time_for(Bytes::new(u64::from(self.packet())));
        // With a Pareto distribution, the minimum period must be long enough, because most periods are close to the minimum.
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
        let of = if pareto.is_some() { "at the minimum of its distribution" } else { "in the mean" };
        Err(ScenarioFault::TurnsTooOften { turn, of, packet: show_span(packet) }.of("cross"))
    }
}

/// Returns an error for datagrams that arrive more than a thousand times as fast as the bottleneck sends. The bottleneck would drop nearly
/// all of them, and the simulator would simulate each.
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
    if offered.bps() <= fastest.bps().saturating_mul(MAX_TIMES) {
        return Ok(());
    }
    let (offered, fastest) = (show_rate(offered), show_rate(fastest));
    Err(ScenarioFault::Flood { offered, times: MAX_TIMES, fastest }.of("cross"))
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
    fn transfers_that_pile_up_beyond_a_bound_are_refused() {
        // With its headers, a transfer of one kilobyte has 8,219 bits, so that 2 Mbit/s are 244 transfers per second.
        let beside = |cross, more: &[(&'static str, &'static str)]| {
            [&[("rate", "1mbit"), ("rtt", "40ms"), ("cross", cross)][..], more].concat()
        };
        assert_eq!(
            refused(&beside("poisson:2mbit,1kB", &[])),
            "limit: cross traffic begins 244 transfers a second, more than the path carries, and may do so for 1h; at most 250000 \
             are simulated: at most 1024s is allowed, or a lower load"
        );
        assert!(resolve(&beside("poisson:2mbit,1kB", &[("limit", "1024s")])).is_ok());
        assert!(refused(&beside("poisson:2mbit,1kB", &[("duration", "2h")])).starts_with("duration: "));
        assert!(resolve(&beside("poisson:900kbit,1kB", &[])).is_ok(), "the path carries these");
        assert!(resolve(&beside("poisson:2mbit,1kB,stop=1h", &[])).is_ok(), "these stop");
        let web = [("rate", "1gbit"), ("rtt", "40ms"), ("cross", "web:80%;web:80%")];
        assert!(refused(&web).starts_with("limit: cross traffic begins 3"), "{}", refused(&web));
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
        // If the source is faster than the bottleneck, the limit is the time of a packet at the bottleneck.
        assert!(resolve(&of("onoff:1gbit,1us,1199us")).is_ok());
        assert!(refused(&of("onoff:1gbit,1us,1198us")).contains("the 1200us that one packet takes"));
        // The minimum of a Pareto distribution with the exponent 1.5 is a third of its mean.
        assert!(resolve(&of("onoff:8mbit,1500us,3001us,pareto=1.5")).is_ok());
        assert!(
            refused(&of("onoff:8mbit,1500us,2ms,pareto=1.5")).contains("at the minimum of its distribution")
        );
        assert!(refused(&of("onoff:8mbit,1h,1h,pareto=1.0000000001")).starts_with("cross: "));
        // With a rate trace, the highest rate determines the limit.
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
        // For on/off traffic, the mean rate determines the limit.
        assert!(resolve(&of("onoff:10gbit,10ms,90ms")).is_ok());
        assert!(refused(&of("onoff:10gbit,11ms,89ms")).starts_with("cross: 1100mbit, more"));
        let trace = [("rate-trace", "0s=1kbit,1s=1gbit"), ("cross", "1tbit")];
        assert!(resolve(&trace).is_ok());
    }
}
