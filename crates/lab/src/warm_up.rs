//! The warm-up: what happens on a path before the measured flow begins, which is the same whoever is measured.
//!
//! The others have random numbers of their own, and nobody's choice of a scheme matters before its SYN leaves. So the
//! network is run up to that instant once for a seed, and every scheme's run, and the one without the flow, goes on from
//! a clone. What comes out is the same to the bit as from the beginning: tests hold it against [`crate::run()`] and
//! [`crate::run_without`], which share nothing.

use firstflight::Time;
use firstflight_scenario::words::Cross;
use firstflight_scenario::{Scenario, SchemeChoice, asks_routers};
use firstflight_sim::{Sim, Traffic};

use crate::build_network::{RunNetwork, measured};
use crate::error::RunError;
use crate::observe::{Surroundings, Watching};
use crate::run::{AnySim, Outcome, Without, advance, count, measure};

/// A network in which everything has happened that does before the measured flow begins.
#[derive(Clone)]
pub(crate) struct WarmUp(AnySim<Surroundings>);

impl WarmUp {
    /// The warm-up of `choices` with one seed; `None` where they have none in common that is worth keeping.
    ///
    /// # Errors
    /// As [`crate::run()`].
    pub(crate) fn new(
        scenario: &Scenario,
        choices: &[SchemeChoice],
        seed: u64,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Option<Self>, RunError> {
        match scenario.cross {
            // The flow begins at once, or so early that it is not worth it.
            Cross::None | Cross::Cbr(_) => return Ok(None),
            Cross::Tcp(_) | Cross::OnOff { .. } | Cross::Poisson { .. } | Cross::Web(_) => {}
        }
        // The others restart as the scenario says. If they ask routers, those do more than look on.
        let asking = choices.iter().find(|choice| asks_routers(scenario, choice));
        if asking.is_some() && scenario.restart.asks_routers() {
            return Ok(None);
        }
        let built = RunNetwork::new(scenario, asking)?;
        let mut sim = Sim::new(&built.network, seed, built.surroundings())?;
        let before = Time::from_nanos(built.start.nanos().saturating_sub(1));
        advance(&mut sim, before, interrupted)?;
        Ok(Some(Self(sim)))
    }

    /// Goes on with the flow: what [`crate::run()`] gives for the seed.
    ///
    /// # Errors
    /// As there.
    pub(crate) fn run(
        &self,
        scenario: &Scenario,
        choice: &SchemeChoice,
        watching: Watching,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Outcome, RunError> {
        let built = RunNetwork::new(scenario, Some(choice))?;
        let mut sim = self.0.clone();
        if !asks_routers(scenario, choice) {
            sim.remove_routers();
        }
        for (id, flow) in measured(scenario).zip(&built.network.flows) {
            if let Traffic::Tcp(spec) = &flow.traffic {
                sim.set_ends(id, spec)?;
            }
        }
        measure(sim, &built, (scenario, choice), watching, interrupted)
    }

    /// Goes on without the flow: what [`crate::run_without`] gives for the seed.
    ///
    /// # Errors
    /// As there.
    pub(crate) fn run_without(
        self,
        scenario: &Scenario,
        ends: &[u64],
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Without, RunError> {
        let (built, mut sim) = (RunNetwork::new(scenario, None)?, self.0);
        sim.remove_routers();
        for id in measured(scenario) {
            sim.mute(id)?;
        }
        if matches!(scenario.cross, Cross::OnOff { .. }) {
            return count(sim, &built, scenario, ends, &Surroundings::offers, interrupted);
        }
        count(sim.watched_by(|_| ()), &built, scenario, ends, &|()| &[], interrupted)
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
    fn others_that_may_ask_routers_share_nothing_with_who_does_not_mind_them() {
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
