//! Measures harm until it is over. The runs with and without the flow continue past the flow's last byte, until others deliver equally much
//! in both ([`firstflight_measure::harm`]).

use std::fmt;

use firstflight::{Span, Time};
use firstflight_measure::HarmFields;
use firstflight_measure::harm::{Comparison, Harm, Reading, horizon, step};
use firstflight_scenario::{Goal, Scenario};
use firstflight_sim::{FlowId, Recorder};
use rayon::prelude::*;

use crate::advance;
use crate::build_network::{AnySim, clients, flow_start};
use crate::error::RunError;
use crate::others::{cross_totals, others};

/// Checks whether the scenario's rows report harm until it is over. This requires that the flow ends with a last byte, and that there is
/// other traffic.
pub(crate) fn has_harm(scenario: &Scenario) -> bool {
    matches!(scenario.goal, Goal::Size(_)) && scenario.has_cross()
}

/// A run that has reached the end of its measured flow and is continued for harm.
#[derive(Clone)]
pub(crate) struct Afterwards {
    pub(crate) sim: AnySim<()>,
    /// The instant at which the flow ended.
    pub(crate) end: Time,
    /// Payload bytes that the measured flows carried.
    pub(crate) carried: u64,
}

impl fmt::Debug for Afterwards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Afterwards").field("end", &self.end).finish_non_exhaustive()
    }
}

/// The instants at which others' deliveries are read. They are one step apart, from the flow's start on, and at most a horizon after the
/// end of a run with the flow.
#[derive(Clone, Debug)]
pub(crate) struct Instants {
    start: Time,
    pub(crate) step: Span,
    /// The spans with instants, each from the end of a run to its horizon.
    spans: Vec<(Time, Time)>,
    clients: usize,
}

impl Instants {
    /// Creates the instants for runs whose flows end at `ends`.
    pub(crate) fn new(scenario: &Scenario, ends: &[u64]) -> Self {
        let rtt = scenario.rtt.nanos();
        let horizon = Span::from_nanos(horizon(rtt));
        let spans = ends.iter().map(|end| Time::from_nanos(*end)).map(|end| (end, end + horizon)).collect();
        let step = Span::from_nanos(step(rtt));
        Self { start: flow_start(scenario), step, spans, clients: clients(scenario) }
    }

    /// Returns the first instant at `at` or later, even if it is outside the spans.
    fn at_or_after(&self, at: Time) -> Time {
        let since = at.nanos().saturating_sub(self.start.nanos());
        self.start + self.step * since.div_ceil(self.step.nanos().max(1))
    }

    /// Returns the first instant at `at` or later that is inside a span.
    fn next(&self, at: Time) -> Option<Time> {
        let of = |(from, until): &(Time, Time)| {
            Some(self.at_or_after(at.max(*from))).filter(|instant| instant <= until)
        };
        self.spans.iter().filter_map(of).min()
    }
}

/// The deliveries of others in the run without the flow, read at the instants.
#[derive(Clone, Debug)]
pub(crate) struct Readings {
    pub(crate) instants: Instants,
    read: Vec<(Time, u64)>,
}

impl Readings {
    pub(crate) fn new(instants: Instants) -> Self {
        Self { instants, read: Vec::new() }
    }

    /// Returns the next instant at which the run must be read.
    pub(crate) fn due(&self) -> Option<Time> {
        let after = self.read.last().map_or(Time::ZERO, |(at, _)| *at + Span::from_nanos(1));
        self.instants.next(after)
    }

    /// Reads the deliveries of others. The run must have reached the next instant and finished all its events.
    pub(crate) fn read<W: Recorder>(&mut self, sim: &AnySim<W>, at: Time) {
        self.read.push((at, cross_totals(sim, self.instants.clients).delivered));
    }

    /// Returns the bytes that others had delivered at an instant; `None` if the run was not read at that instant.
    fn delivered(&self, at: Time) -> Option<u64> {
        let place = self.read.binary_search_by_key(&at, |(at, _)| *at).ok()?;
        self.read.get(place).map(|(_, delivered)| *delivered)
    }
}

/// The run of the seed without the flow, continued after the ends of the runs with the flow.
pub(crate) struct Reference {
    pub(crate) sim: AnySim<()>,
    pub(crate) readings: Readings,
    /// The bytes that others had delivered at the flow's start.
    pub(crate) at_start: u64,
}

/// The number of instants at which the run without the flow is read in one call of [`Reference::read_on`].
const BATCH: usize = 16;

impl Reference {
    /// Continues the run over the next instants. Returns whether there were any.
    fn read_on(&mut self, interrupted: &dyn Fn() -> bool) -> Result<bool, RunError> {
        for index in 0..BATCH {
            let Some(at) = self.readings.due() else { return Ok(index > 0) };
            advance::step(&mut self.sim, (self.readings.instants.step, at), interrupted)?;
            self.readings.read(&self.sim, at);
        }
        Ok(true)
    }
}

/// A run with the flow, under comparison with the run without the flow.
struct Compared {
    run: Afterwards,
    comparison: Comparison,
    /// The next instant at which both runs are read.
    next: Time,
    horizon: Time,
    /// The fields of the row; `None` until the comparison ends.
    fields: Option<HarmFields>,
}

impl Compared {
    fn new(scenario: &Scenario, run: Afterwards, instants: &Instants) -> Self {
        let next = instants.at_or_after(run.end.max(run.sim.now()));
        let horizon = run.end + Span::from_nanos(horizon(scenario.rtt.nanos()));
        let comparison = Comparison::new(u64::from(scenario.packet()));
        Self { run, comparison, next, horizon, fields: None }
    }

    /// Compares at all instants at which the run without the flow has been read.
    fn go_on(&mut self, reference: &Reference, interrupted: &dyn Fn() -> bool) -> Result<(), RunError> {
        let instants = &reference.readings.instants;
        while self.fields.is_none() {
            if self.next > self.horizon {
                self.fields = Some(self.until(self.comparison.newest(), false, reference));
                break;
            }
            let Some(without) = reference.readings.delivered(self.next) else { break };
            advance::step(&mut self.run.sim, (instants.step, self.next), interrupted)?;
            let with = cross_totals(&self.run.sim, instants.clients).delivered;
            let over = self.comparison.add(Reading { at: self.next.nanos(), with, without });
            self.fields = over.map(|over| self.until(Some(over), true, reference));
            self.next = self.next + instants.step;
        }
        Ok(())
    }

    /// Returns the fields of the row for harm up to `reading`. `is_over` says whether harm was over there; if not, it is the reading at the
    /// horizon.
    fn until(&self, reading: Option<Reading>, is_over: bool, reference: &Reference) -> HarmFields {
        let Some(reading) = reading else { return HarmFields::UNDEFINED };
        let over = is_over.then(|| reading.at.saturating_sub(self.run.end.nanos()));
        let would = reading.without.saturating_sub(reference.at_start);
        let harm = Harm { reading, would, carried: self.run.carried, over };
        harm.fields(self.others_fct_ratio(reading.at, reference))
    }

    /// Returns the mean completion time of others' transfers that started between the flow's start and `until`, over the mean of the same
    /// transfers in the run without the flow. Counts only transfers that have finished by now in both runs. `None` if there are none.
    #[expect(clippy::cast_precision_loss, reason = "the nearest double is what is wanted")]
    fn others_fct_ratio(&self, until: u64, reference: &Reference) -> Option<f64> {
        let (instants, now) = (&reference.readings.instants, self.next.nanos());
        let in_time = |at: u64| (instants.start.nanos()..=until).contains(&at);
        let (mut with, mut without) = (0u128, 0u128);
        for id in others(&self.run.sim, instants.clients) {
            let both = transfer(&self.run.sim, id).zip(transfer(&reference.sim, id));
            let Some(((began, one), (same, other))) = both else { continue };
            if began == same && in_time(began) && one.max(other) <= now {
                with += u128::from(one - began);
                without += u128::from(other - began);
            }
        }
        (without > 0).then(|| with as f64 / without as f64)
    }
}

/// Returns when an arriving transfer started and finished, in nanoseconds; `None` if it did not, or if it did not arrive during the run.
fn transfer(sim: &AnySim<()>, id: FlowId) -> Option<(u64, u64)> {
    sim.arrived(id)?;
    let flow = sim.flow(id)?;
    Some((flow.started?.nanos(), flow.finished()?.nanos()))
}

/// Returns the fields for each of the runs, in their order. A run that met its limit is `None`, because it has no end from which to count
/// harm.
///
/// # Errors
/// Fails after an interrupt.
pub(crate) fn until_over(
    scenario: &Scenario,
    runs: Vec<Option<Afterwards>>,
    reference: Option<Reference>,
    interrupted: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<HarmFields>, RunError> {
    let Some(mut reference) = reference else { return Ok(vec![HarmFields::UNDEFINED; runs.len()]) };
    let instants = reference.readings.instants.clone();
    let compared = |run: Option<Afterwards>| run.map(|run| Compared::new(scenario, run, &instants));
    let mut runs: Vec<Option<Compared>> = runs.into_iter().map(compared).collect();
    let is_open = |run: &Option<Compared>| run.as_ref().is_some_and(|run| run.fields.is_none());
    let mut goes_on = true;
    while goes_on && runs.iter().any(is_open) {
        let read = defined(reference.read_on(&|| interrupted()))?;
        goes_on = read == Some(true);
        runs.par_iter_mut().try_for_each(|place| go_on(place, &reference, &|| interrupted()))?;
    }
    let fields = |run: Option<Compared>| run.and_then(|run| run.fields).unwrap_or(HarmFields::UNDEFINED);
    Ok(runs.into_iter().map(fields).collect())
}

/// Continues one of the runs, and sets it to `None` if it needs too many events.
fn go_on(
    place: &mut Option<Compared>,
    reference: &Reference,
    interrupted: &dyn Fn() -> bool,
) -> Result<(), RunError> {
    let Some(run) = place.as_mut().filter(|run| run.fields.is_none()) else { return Ok(()) };
    if defined(run.go_on(reference, interrupted))?.is_none() {
        *place = None;
    }
    Ok(())
}

/// Returns `None` for a run that needs too many events after the flow's end. The row of that run lacks only the fields about harm.
fn defined<T>(result: Result<T, RunError>) -> Result<Option<T>, RunError> {
    match result {
        Err(RunError::TooMuchWork { .. }) => Ok(None),
        other => other.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build_network::{RunNetwork, measured};
    use crate::{How, race};
    use firstflight_scenario::{Options, SchemeChoice, parse_choices};
    use firstflight_sim::Sim;

    fn scenario(options: &[(&str, &str)]) -> Scenario {
        let mut set = Options::default();
        for (key, text) in options {
            set.set(key, text).expect(text);
        }
        Scenario::resolve(&set).expect("a scenario")
    }

    /// Returns the bytes that others have delivered at each instant from 15 to 20 s after the flow's start, read twice a second.
    fn counted(scenario: &Scenario, choice: Option<&SchemeChoice>, seed: u64) -> Vec<u64> {
        let mut built = RunNetwork::new(scenario, choice).expect("a network");
        if choice.is_none() {
            measured(scenario).for_each(|flow| built.network.mute(flow));
        }
        let mut sim = Sim::new(&built.network, seed, ()).expect("a run");
        let mut after = |half_seconds: u64| {
            sim.run(built.start + Span::from_millis(500 * half_seconds));
            others(&sim, 1).filter_map(|id| sim.flow(id)).map(|flow| flow.delivered_bytes).sum()
        };
        (30..=40).map(&mut after).collect()
    }

    /// Compares the two ways to count harm in `runs` runs of `scheme` next to `cross`. Returns for each run `harm_bytes`, and the bytes
    /// that the neighbour lacks 15 to 20 s after the flow's start. This is the median of several readings, because a neighbour that repairs
    /// losses or probes holds bytes back for a moment.
    fn harms(cross: &str, scheme: &str, runs: &str) -> Vec<[i64; 2]> {
        let path = [("rate", "50mbit"), ("rtt", "40ms"), ("size", "2MB"), ("avoidance", "own")];
        let path = scenario(&[&path[..], &[("cross", cross), ("runs", runs)]].concat());
        let choices = parse_choices(scheme).expect("a scheme");
        let rows = race(&path, &choices, &How::default()).expect("a race").remove(0).rows;
        let of = |row: &firstflight_measure::Row| {
            assert!(
                cross == BBR || row.harm.harm_over_s.flatten().is_some(),
                "CUBIC recovers by the horizon: {row:?}"
            );
            let [without, with] = [None, Some(&choices[0])].map(|choice| counted(&path, choice, row.seed));
            let mut lacks: Vec<i64> = without
                .iter()
                .zip(&with)
                .map(|(without, with)| without.cast_signed() - with.cast_signed())
                .collect();
            lacks.sort_unstable();
            [row.harm.harm_bytes.flatten().expect("it ended"), lacks[lacks.len() / 2]]
        };
        rows.iter().map(of).collect()
    }

    const CUBIC: &str = "tcp:1,hystart-linux,cubic";
    const BBR: &str = "tcp:1,bbr,bbr";

    #[test]
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    fn harm_is_what_the_same_runs_have_up_to_twenty_seconds() {
        for scheme in ["hystart++", "bbr"] {
            for [harm, counted] in harms(CUBIC, scheme, "6") {
                let ratio = harm as f64 / counted as f64;
                assert!((ratio - 1.0).abs() < 0.1, "{scheme}: {harm} {counted}");
            }
        }
    }

    /// `FIRSTFLIGHT_HARM=1` compares the means of six schemes next to two neighbours, each of twelve ages.
    #[test]
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    fn estimated_harm_to_two_neighbours_matches_twenty_seconds_of_counting() {
        let is_long = std::env::var_os("FIRSTFLIGHT_HARM").is_some();
        let (schemes, runs): (&[&str], &str) = if is_long {
            (&["slow-start", "hystart-linux", "suss", "rapid-start", "leap", "bbr"], "12")
        } else {
            (&["leap"], "4")
        };
        let mut wrong = Vec::new();
        for (name, cross) in [("CUBIC", CUBIC), ("BBRv3", BBR)] {
            for scheme in schemes {
                let both = harms(cross, scheme, runs);
                let mean = |side: usize| {
                    both.iter().map(|pair| pair[side] as f64).sum::<f64>() / both.len() as f64 / 2e6
                };
                let line = format!("{scheme} next to {name}: {:.3} and {:.3} B/B", mean(0), mean(1));
                std::println!("{line}");
                if (mean(0) / mean(1) - 1.0).abs() > 0.1 {
                    wrong.push(format!("{line}: {both:?}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn instants_are_steps_from_the_start_within_spans() {
        let path = scenario(&[("rtt", "1ms"), ("size", "1MB"), ("cross", "tcp:1")]);
        let start = flow_start(&path);
        let ms = |ms: u64| start + Span::from_millis(ms);
        let instants = Instants::new(&path, &[ms(25).nanos(), ms(30_000).nanos()]);
        assert_eq!(instants.next(Time::ZERO), Some(ms(30)));
        assert_eq!(instants.next(ms(31)), Some(ms(40)));
        assert_eq!(instants.next(ms(10_021)), Some(ms(30_000)), "the first horizon is at 10.025 s");
        assert_eq!(instants.next(ms(40_001)), None);
    }
}
