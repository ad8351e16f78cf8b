//! Options of a path that have no effect. They are not an error, but the program reports them to the user.

use super::Scenario;
use crate::asking::asks_routers;
use crate::choice::SchemeChoice;
use crate::keywords::QuickStartHops;
use crate::routers::{AccessRouters, QuickStartRouter};

impl Scenario {
    /// Returns a line for each option that has no effect in a race of these schemes. Examples are a queue that marks packets although no
    /// flow uses ECN, and Quick-Start routers although no scheme requests a rate. There is also a line if the arrivals of a population
    /// overload the path, so that no steady state exists.
    pub fn ineffective(&self, choices: &[SchemeChoice]) -> Vec<String> {
        let mut lines = Vec::new();
        if self.aqm.is_some_and(|aqm| aqm.ecn) && !self.ecn {
            lines.push(
                "queue: it is to mark, and no flow uses ECN: it drops instead; ecn has flows use it"
                    .to_owned(),
            );
        }
        if self
            .population
            .as_ref()
            .is_some_and(|population| population.last_arrival().is_some() && population.overloads)
        {
            lines.push(
                "arrivals: they offer more than the path carries, so that no steady state exists: there is no warm-up, and the last \
                 measured flow is the last arrival"
                    .to_owned(),
            );
        }
        if !choices.iter().any(|choice| asks_routers(self, choice)) {
            let set = [
                ("qs-hops", self.qs_hops != QuickStartHops::default()),
                ("qs-router", self.qs_router != QuickStartRouter::default()),
                ("qs-access", self.qs_access != AccessRouters::default()),
            ];
            let keys = set.into_iter().filter(|(_, is_set)| *is_set).map(|(key, _)| key);
            lines.extend(keys.map(|key| {
                format!(
                    "{key}: no scheme here asks routers for a rate, so nothing comes of it; the scheme and the restart policy \
                     quick-start do"
                )
            }));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;
    use crate::{over_restarts, parse_choices};

    fn said(options: &[(&str, &str)], schemes: &str) -> Vec<String> {
        let mut set = Options::default();
        for (key, text) in [("rate", "10mbit")].iter().chain(options) {
            set.set(key, text).expect(text);
        }
        let choices = over_restarts(parse_choices(schemes).expect(schemes), &set).expect("policies");
        Scenario::resolve(&set).expect("a scenario").ineffective(&choices)
    }

    #[test]
    fn a_marking_queue_without_ecn_flows_is_reported_to_drop() {
        let line = "queue: it is to mark, and no flow uses ECN: it drops instead; ecn has flows use it";
        for queue in ["codel:100p,ecn", "red:100p,ecn", "pie:100p,ecn", "fq-codel:100p,ecn"] {
            assert_eq!(said(&[("queue", queue)], "slow-start"), [line]);
            assert_eq!(said(&[("queue", queue), ("ecn", "true")], "slow-start"), [""; 0]);
        }
        assert_eq!(said(&[("queue", "codel:100p")], "slow-start"), [""; 0]);
        assert_eq!(said(&[("ecn", "true")], "slow-start"), [""; 0], "it may be asked of every path");
    }

    #[test]
    fn an_overloading_population_is_noted_to_have_no_warm_up() {
        let dumbbell = [("topology", "dumbbell:hosts=10"), ("flows", "100"), ("size", "1MB")];
        let given = |arrivals: &'static str| [&dumbbell[..], &[("arrivals", arrivals)]].concat();
        // Half of the transfers cross the bottleneck in one direction, which is a load of 4.1 Mbit/s, and then of 12.3 Mbit/s.
        assert_eq!(said(&given("poisson:1"), "slow-start"), [""; 0]);
        let found = said(&given("poisson:3"), "slow-start");
        assert!(found.len() == 1 && found[0].starts_with("arrivals: they offer more"), "{found:?}");
    }

    #[test]
    fn routers_that_nobody_asks_for_a_rate_are_said_to_do_nothing() {
        let hops = [("qs-hops", "none")];
        let found = said(&hops, "slow-start,paced");
        assert!(
            found.len() == 1 && found[0].starts_with("qs-hops: no scheme here asks routers"),
            "{found:?}"
        );
        assert_eq!(said(&hops, "slow-start,quick-start"), [""; 0]);
        assert_eq!(said(&[("qs-hops", "none"), ("restart", "quick-start")], "slow-start"), [""; 0]);
        assert_eq!(said(&[], "slow-start"), [""; 0]);
    }
}
