//! The requests of a scenario's clients and their times. The simulator draws them, and hosts carry them out with real packets.

use std::iter::repeat_n;

use firstflight_scenario::topology::Topology;
use firstflight_scenario::{Cross, Goal, Scenario, SchemeChoice};
use firstflight_sim::{Process, Rounds};

use crate::build_network;
use crate::error::RunError;
use crate::flow_group::groups;
use crate::populations::network;

/// Draws the arrivals of a population of one scheme and of its cross traffic of transfers and users, with the scenario's seed. Returns each
/// arrival process, and whether its data flows in the reverse direction.
///
/// # Errors
/// Fails for a scenario without a population, for flows that are listed one by one, and for cross traffic other than arriving transfers.
pub fn arrivals(scenario: &Scenario, choice: &SchemeChoice) -> Result<Vec<(Process, bool)>, RunError> {
    let (Some(population), Topology::Hosts(hosts)) = (&scenario.population, scenario.topology) else {
        return Err(RunError::NoPopulation);
    };
    let groups = groups(scenario, std::slice::from_ref(choice))?;
    let Some(group) = groups.first().filter(|group| group.parts.is_empty()) else {
        return Err(RunError::NoPopulation);
    };
    let network = network(scenario, population, hosts, group)?;
    let beside = scenario.beside.iter().flat_map(|entry| {
        let count = if let Cross::Users { users, .. } = entry.cross { users } else { 1 };
        repeat_n(entry.reverse, count as usize)
    });
    let ways = repeat_n(false, group.processes as usize).chain(beside);
    if !network.flows.is_empty() || network.arrivals.len() != ways.clone().count() {
        return Err(RunError::NoPopulation);
    }
    let process = |(index, (spec, reverse))| (Process::new(index, spec, scenario.seed), reverse);
    Ok((0..).zip(network.arrivals.iter().zip(ways)).map(process).collect())
}

/// Returns the rounds of a scenario's clients; `None` if it has none.
pub fn replies(scenario: &Scenario) -> Option<Rounds> {
    let (Some(rounds), Goal::Size(bytes)) = (scenario.rounds, scenario.goal) else { return None };
    Some(build_network::replies(rounds, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstflight::{Span, Time};
    use firstflight_scenario::Options;

    fn scenario(keys: &[(&str, &str)]) -> Scenario {
        let mut set = Options::default();
        for (key, value) in keys {
            set.set(key, value).expect("an option");
        }
        Scenario::resolve(&set).expect("a scenario")
    }

    const HOSTS: (&str, &str) = ("topology", "dumbbell:hosts=1,ways=onward");

    #[test]
    fn flows_at_instants_and_users_beside_are_the_simulators() {
        let slow_start = SchemeChoice::slow_start();
        let flows = scenario(&[HOSTS, ("arrivals", "at:1s,3s"), ("duration", "9s"), ("warm-up", "none")]);
        let mut asked = arrivals(&flows, &slow_start).expect("two flows");
        let begins: Vec<_> = asked.iter().map(|(process, reverse)| (process.next(), *reverse)).collect();
        assert_eq!(begins, [1, 3].map(|secs| (Some(Time::ZERO + Span::from_secs(secs)), false)));
        let first = asked[0].0.take(Time::ZERO + Span::from_secs(2)).expect("a flow");
        assert_eq!((first.process, asked[0].0.next()), (0, None));
        let users = [
            ("arrivals", "users:2"),
            ("flows", "9"),
            ("size", "10kB"),
            ("sizes", "pareto=1.1"),
            ("cross", "users:3,10kB,pareto=1.1,way=reverse"),
        ];
        let users = scenario(&[&[HOSTS][..], &users].concat());
        let asked = arrivals(&users, &slow_start).expect("users");
        assert_eq!(
            asked.iter().map(|(_, reverse)| *reverse).collect::<Vec<_>>(),
            [false, false, true, true, true]
        );
    }

    #[test]
    fn scenarios_without_a_population_or_with_crossing_rates_have_no_arrivals() {
        let slow_start = SchemeChoice::slow_start();
        assert!(arrivals(&scenario(&[]), &slow_start).is_err());
        let crossed = [HOSTS, ("arrivals", "at:1s"), ("duration", "9s"), ("cross", "1mbit,start=1s")];
        assert!(arrivals(&scenario(&crossed), &slow_start).is_err());
        assert_eq!(replies(&scenario(&[("size", "10kB")])), None);
    }
}
