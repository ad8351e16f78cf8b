//! Flows that run together: a population of one scheme, a mixed one, or a script with the schemes of its flows.

use firstflight::registry::{AnyController, AnyLaw, AnyRestart, AnyScheme};
use firstflight::{Span, Time};
use firstflight_measure::ideal::ENDLESS;
use firstflight_scenario::population::ArrivalProcess;
use firstflight_scenario::script::ScriptedFlow;
use firstflight_scenario::{Scenario, SchemeChoice, controller, sender_config};
use firstflight_sim::{Arrivals, Arrived, Content, Ends, Gap, ParkingLot, Sizes, Ways};
use firstflight_tcp::Config;

use crate::error::RunError;

/// Flows that run together.
pub(crate) struct Group {
    /// The schemes of these flows.
    pub(crate) mix: Vec<SchemeChoice>,
    /// The group's name in rows: `only`, `mixed`, `scripted`, or `with NAME` for a script with the row's scheme NAME.
    pub(crate) population: String,
    /// For each flow of a script, the index of its scheme in `mix`; empty without a script.
    pub(crate) parts: Vec<usize>,
    /// The index in `mix` of each choice that an arrival may draw, all equally likely. A scheme with a larger share has more choices.
    pub(crate) draws: Vec<usize>,
    /// The number of arrival processes of the group's flows. The arrival processes of cross traffic come after these.
    pub(crate) processes: u32,
}

/// Returns the groups of a scenario. A script in which a flow has the row's scheme is one group for each of `choices`; any other script is
/// one group.
///
/// # Errors
/// Fails for a script in which a flow has no scheme.
pub(crate) fn groups(scenario: &Scenario, choices: &[SchemeChoice]) -> Result<Vec<Group>, RunError> {
    if scenario.script.is_empty() {
        let group = |mix: &[SchemeChoice], population: &str, draws: Vec<usize>| Group {
            mix: mix.to_vec(),
            population: population.to_owned(),
            parts: Vec::new(),
            draws,
            processes: processes(scenario),
        };
        let share = scenario.population.as_ref().and_then(|population| population.mixed_share);
        let is_mixed = scenario.population.as_ref().is_some_and(|population| population.mixed);
        let alone = choices.chunks(1).map(|mix| group(mix, "only", vec![0]));
        let mixed = || group(choices, "mixed", draws(choices.len(), share.map(usize::from)));
        return Ok(alone.chain(is_mixed.then(mixed)).collect());
    }
    if !scenario.has_row_scheme() {
        return Ok(vec![scripted(scenario, None)?]);
    }
    choices.iter().map(|row| scripted(scenario, Some(row))).collect()
}

/// Returns the number of groups of flows that [`crate::populations()`] runs with each seed.
///
/// # Errors
/// Fails if a flow of a script cannot have its scheme.
pub fn group_count(scenario: &Scenario, choices: &[SchemeChoice]) -> Result<usize, RunError> {
    Ok(groups(scenario, choices)?.len())
}

/// Returns the schemes of all flows that [`crate::populations()`] runs, each once. These are `choices`, or a script's own schemes.
///
/// # Errors
/// Fails if a flow of a script cannot have its scheme.
pub fn cast_of(scenario: &Scenario, choices: &[SchemeChoice]) -> Result<Vec<SchemeChoice>, RunError> {
    let mut cast: Vec<SchemeChoice> = Vec::new();
    for choice in groups(scenario, choices)?.into_iter().flat_map(|group| group.mix) {
        if !cast.iter().any(|one| one.name() == choice.name()) {
            cast.push(choice);
        }
    }
    Ok(cast)
}

fn scripted(scenario: &Scenario, row: Option<&SchemeChoice>) -> Result<Group, RunError> {
    let cast = scenario.cast(row)?;
    let population = match row {
        _ if cast.choices.len() == 1 => "only".to_owned(),
        Some(row) => format!("with {}", row.name()),
        None => "scripted".to_owned(),
    };
    let parts = cast.parts.iter().map(|part| part.choice).collect();
    let draws = (0..cast.choices.len()).collect();
    Ok(Group { mix: cast.choices, population, parts, draws, processes: processes(scenario) })
}

/// Returns the schemes that an arrival of a mixed population may draw. With a share, in thousandths, so many of the draws are the first
/// scheme, and all others have equal numbers.
fn draws(schemes: usize, share: Option<usize>) -> Vec<usize> {
    let Some(share) = share.filter(|_| schemes > 1) else { return (0..schemes).collect() };
    let (first, other) = (share * (schemes - 1), 1000 - share);
    let divisor = greatest_common_divisor(first, other);
    let of = |scheme: usize| std::iter::repeat_n(scheme, if scheme == 0 { first } else { other } / divisor);
    (0..schemes).flat_map(of).collect()
}

fn greatest_common_divisor(one: usize, other: usize) -> usize {
    if other == 0 { one } else { greatest_common_divisor(other, one % other) }
}

/// Returns the number of arrival processes of a scenario's flows.
fn processes(scenario: &Scenario) -> u32 {
    let each = match scenario.population.as_ref().map(|population| &population.arrivals) {
        Some(ArrivalProcess::At(instants)) => instants.len(),
        Some(ArrivalProcess::Users(users)) => *users as usize,
        _ => 1,
    };
    u32::try_from(if scenario.script.is_empty() { each } else { scenario.script.len() }).unwrap_or(u32::MAX)
}

impl Group {
    /// Returns the place in the mix of a flow's scheme; `None` if the flow is cross traffic.
    pub(crate) fn place(&self, arrived: Arrived) -> Option<usize> {
        let own = arrived.process < self.processes;
        own.then(|| {
            let drawn =
                || self.draws.get(arrived.choice as usize).copied().unwrap_or(arrived.choice as usize);
            self.parts.get(arrived.process as usize).copied().unwrap_or_else(drawn)
        })
    }
}

/// Returns a script's flows between their hosts. Each is an arrival process with one arrival.
///
/// # Errors
/// Fails if a scheme cannot be built.
pub(crate) fn arrivals(
    scenario: &Scenario,
    group: &Group,
    lot: &ParkingLot,
) -> Result<Vec<Arrivals<AnyScheme, AnyRestart, AnyLaw>>, RunError> {
    let hosts = scenario.script_hosts();
    let flows = scenario.script.iter().zip(&group.parts).zip(hosts);
    let process = |((flow, part), (from, to)): ((&ScriptedFlow, &usize), _)| {
        let (ack, ack_delay) = flow.ack.map_or((scenario.ack, scenario.ack_delay), |ack| (ack, None));
        let path = Scenario { ack, ack_delay, ..scenario.clone() };
        let (config, controller) = ends(&path, &group.mix[*part])?;
        Ok(Arrivals {
            ways: Ways::Listed(lot.route(from, to).into_iter().collect()),
            start: Time::ZERO + flow.start,
            stop: None,
            most: Some(1),
            gap: Gap::Constant(Span::from_secs(1)),
            until: flow.end.map(|end| Time::ZERO + end),
            content: Content::Transfer(Sizes::Fixed(
                scenario.size_of(flow).map_or(ENDLESS, firstflight::Bytes::get),
            )),
            mix: vec![Ends { client: config, server: config, controller }],
        })
    };
    flows.map(process).collect()
}

/// Returns the configuration and the controller of a flow of a scheme.
///
/// # Errors
/// Fails if the scheme cannot be built.
pub(crate) fn ends(scenario: &Scenario, choice: &SchemeChoice) -> Result<(Config, AnyController), RunError> {
    let own = scenario.for_scheme(choice);
    Ok((sender_config(&own), controller(&own, choice)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_scheme_has_its_share_of_the_draws() {
        let share = |schemes, permille| {
            let draws = draws(schemes, Some(permille));
            let count = |scheme: usize| draws.iter().filter(|draw| **draw == scheme).count();
            ((0..schemes).map(count).collect::<Vec<_>>(), draws.len())
        };
        assert_eq!(share(2, 50), (vec![1, 19], 20));
        assert_eq!(share(3, 50), (vec![2, 19, 19], 40));
        assert_eq!(share(2, 1), (vec![1, 999], 1000));
        assert_eq!(draws(3, None), [0, 1, 2], "equal shares");
    }
}
