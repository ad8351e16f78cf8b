//! The warm-up: the part of a run before the measured flow starts, which does not depend on the scheme.
//!
//! The other traffic has its own random numbers, and the scheme has no effect before its SYN is sent. The network is therefore run up to
//! that instant once for each seed. Every scheme's run, and the run without the flow, continues from a clone. The results are identical to
//! those of runs from the start. Tests compare them with [`crate::run()`] and [`crate::run_without`], which share nothing.

use firstflight::Time;
use firstflight_scenario::cross_entries::Beside;
use firstflight_scenario::keywords::Cross;
use firstflight_scenario::{Scenario, SchemeChoice, asks_routers};
use firstflight_sim::{Sim, Traffic};

use crate::advance::advance;
use crate::build_network::{AnySim, RunNetwork, asks, measured};
use crate::error::RunError;
use crate::harm::Readings;
use crate::observe::{Surroundings, Watching};
use crate::run::{Counted, Outcome, count, has_on_off, measure};

/// A network in its state just before the measured flow starts.
#[derive(Clone)]
pub(crate) struct WarmUp(AnySim<Surroundings>);

impl WarmUp {
    /// Creates the common warm-up of `choices` for one seed; `None` if they cannot share one, or if it would save no time.
    ///
    /// # Errors
    /// Fails as [`crate::run()`] does.
    pub(crate) fn new(
        scenario: &Scenario,
        choices: &[SchemeChoice],
        seed: u64,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Option<Self>, RunError> {
        // Without other traffic, the flow starts at once. With traffic of constant rate, it starts so early that a clone saves nothing.
        let takes_long = |entry: Beside| entry.start.is_none() && !matches!(entry.cross, Cross::Cbr(_));
        if !scenario.traffic().any(takes_long) {
            return Ok(None);
        }
        // The other flows use the scenario's restart policy. If that policy asks routers, the routers affect the other traffic.
        let asking = choices.iter().find(|choice| asks_routers(scenario, choice));
        if asking.is_some() && scenario.restart.asks_routers() {
            return Ok(None);
        }
        let scenario = &*scenario.at_seed(seed);
        let built = RunNetwork::new(scenario, asking)?;
        let mut sim = Sim::new(&built.network, seed, built.surroundings())?;
        let before = Time::from_nanos(built.start.nanos().saturating_sub(1));
        advance(&mut sim, before, interrupted)?;
        Ok(Some(Self(sim)))
    }

    /// Continues with the flow. The result is that of [`crate::run()`] for the seed.
    ///
    /// # Errors
    /// Fails as [`crate::run()`] does.
    pub(crate) fn run(
        &self,
        scenario: &Scenario,
        choice: &SchemeChoice,
        watching: Watching,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Outcome, RunError> {
        let built = RunNetwork::new(scenario, Some(choice))?;
        let mut sim = self.0.clone();
        if !asks(scenario, choice)? {
            sim.remove_routers();
        }
        for (id, flow) in measured(scenario).zip(&built.network.flows) {
            match &flow.traffic {
                Traffic::Tcp(spec) => sim.set_ends(id, spec)?,
                Traffic::Foreign(spec) => sim.set_foreign(id, spec)?,
                Traffic::Cbr(_) | Traffic::OnOff(_) | Traffic::Probe(_) => {}
            }
        }
        measure(sim, &built, (scenario, choice), watching, interrupted)
    }

    /// Continues without the flow. The results are those of [`crate::run_without`] for the seed. Also reads the run at the instants of
    /// `readings`.
    ///
    /// # Errors
    /// Fails as [`crate::run_without`] does.
    pub(crate) fn run_without(
        self,
        scenario: &Scenario,
        wanted: (&[u64], Option<&mut Readings>),
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Counted, RunError> {
        let (built, mut sim) = (RunNetwork::new(scenario, None)?, self.0);
        sim.remove_routers();
        for id in measured(scenario) {
            sim.mute(id)?;
        }
        if has_on_off(scenario) {
            return count(sim, &built, scenario, wanted, &Surroundings::offers, interrupted);
        }
        count(sim.watched_by(|_| ()), &built, scenario, wanted, &|()| &[], interrupted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstflight_scenario::{Options, parse_choices};

    fn has_warm_up(options: &[(&str, &str)], schemes: &str) -> bool {
        let mut set = Options::default();
        for (key, text) in options {
            set.set(key, text).expect(text);
        }
        let scenario = Scenario::resolve(&set).expect("a scenario");
        let choices = parse_choices(schemes).expect(schemes);
        WarmUp::new(&scenario, &choices, 1, &|| false).expect("a warm-up").is_some()
    }

    #[test]
    fn flows_that_begin_after_others_have_a_warm_up_in_common() {
        let beside =
            |cross| has_warm_up(&[("rate", "2mbit"), ("rtt", "10ms"), ("cross", cross)], "quick-start,paced");
        for cross in ["tcp:1", "onoff:1mbit,1s,1s", "poisson:1,10kB", "web:10%"] {
            assert!(beside(cross), "{cross}");
        }
        assert!(!beside("none") && !beside("1mbit"));
    }

    #[test]
    fn schemes_that_ask_routers_share_no_warm_up_with_others() {
        let given =
            [("rate", "2mbit"), ("rtt", "10ms"), ("cross", "poisson:1,10kB"), ("restart", "quick-start")];
        assert!(!has_warm_up(&given, "slow-start,slow-start:restart=rfc5681,as=not"));
        assert!(
            has_warm_up(&given, "slow-start:restart=rfc5681"),
            "nobody measured asks, so no router is there"
        );
    }

    #[test]
    fn a_warm_up_ends_when_the_user_interrupts() {
        let mut set = Options::default();
        set.set("cross", "tcp:1").expect("cross traffic");
        let scenario = Scenario::resolve(&set).expect("a scenario");
        let stopped = WarmUp::new(&scenario, &parse_choices("paced").expect("a scheme"), 1, &|| true);
        assert!(matches!(stopped, Err(RunError::Interrupted)));
    }
}
