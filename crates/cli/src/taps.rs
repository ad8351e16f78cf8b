//! The logs and series of runs that the output options request.

use std::io;

use firstflight::Span;
use firstflight_export::log::{Folders, LoggedEnd, LoggedFlow, Series, SeriesRun, Slots, Taps};
use firstflight_lab::{LinkSlot, PopulationFlow};
use firstflight_measure::Tap;
use firstflight_scenario::{NamedLink, Scenario, SchemeChoice, quantity, trace_header};

use crate::failure::{Failure, Place};
use crate::options::OutputOptions;
use crate::output;
use crate::targets::snap;

/// The logs and the series of a command's runs.
pub(crate) struct Logs<'a> {
    scenario: &'a Scenario,
    choices: &'a [SchemeChoice],
    taps: Taps,
    series: Option<Series>,
    slot: Option<Span>,
}

impl<'a> Logs<'a> {
    /// Creates the logs and series that these options request.
    ///
    /// # Errors
    /// Fails if a folder cannot be created, or if a length of packets or slots is not allowed.
    pub(crate) fn new(
        scenario: &'a Scenario,
        choices: &'a [SchemeChoice],
        to: &OutputOptions,
        arguments: &[String],
    ) -> Result<Self, Failure> {
        let OutputOptions { pcap, events, qlog, qlog_schema, .. } = to.clone();
        let folders = Folders { pcap, events, qlog, qlog_schema: qlog_schema.unwrap_or_default() };
        let taps = Taps::new(folders, snap(to.snap.as_deref(), arguments)?).map_err(Failure::usage)?;
        let names = || choices.iter().map(|choice| choice.name().to_owned()).collect();
        let slot = slot(to, arguments)?;
        let links = || scenario.slot_links().iter().map(NamedLink::to_string).collect();
        let slots = slot.map(|length| Slots { length, links: links() });
        let series = to.series.as_deref().map(|path| Series::new(path, names(), slots));
        Ok(Self { scenario, choices, taps, series, slot })
    }

    /// Returns whether any log of single flows is written.
    pub(crate) const fn are_wanted(&self) -> bool {
        self.series.is_some() || self.taps.are_wanted()
    }

    /// Returns the length of the slots for which rates are requested; `None` if no rates are.
    pub(crate) const fn slot(&self) -> Option<Span> {
        self.slot
    }

    /// Records the bits that a link sent in a slot.
    pub(crate) fn take_slot(&self, slot: LinkSlot<'_>) -> io::Result<()> {
        let LinkSlot { choice, group, population, seed, link, from, bits } = slot;
        let scheme = choice.map(|choice| self.place(choice));
        let group = if population.is_empty() { scheme.unwrap_or(group) } else { group };
        let run = SeriesRun { group, seed, population: population.to_owned() };
        self.series.as_ref().map_or(Ok(()), |series| series.link_slot(&run, scheme, link, (from, bits)))
    }

    /// Returns the observer that writes the logs of a race's run; `None` if it has none.
    pub(crate) fn of_run(&self, choice: &SchemeChoice, seed: u64) -> io::Result<Option<Box<dyn Tap>>> {
        let first = self.scenario.clients_of(choice).ok().and_then(|clients| clients.first().copied());
        self.of_client(choice, seed, first.unwrap_or(0))
    }

    /// Returns the observer that writes the logs of a client of rounds; `None` if it has none. Clients are numbered from zero.
    pub(crate) fn of_client(
        &self,
        choice: &SchemeChoice,
        seed: u64,
        client: u32,
    ) -> io::Result<Option<Box<dyn Tap>>> {
        let run = SeriesRun { group: self.place(choice), seed, population: String::new() };
        let has_several = self.scenario.rounds.is_some_and(|rounds| rounds.clients > 1);
        let flow = if has_several { of_flow(client) } else { String::new() };
        self.tap(choice, &run, client, &format!("{}{flow}", choice.name()))
    }

    /// Returns the observer that writes the logs of a population's flow; `None` if it has none.
    pub(crate) fn of_flow(&self, flow: PopulationFlow<'_>) -> io::Result<Option<Box<dyn Tap>>> {
        let PopulationFlow { choice, group, population, seed, flow } = flow;
        let mix =
            if population == "only" { String::new() } else { format!("{}-", population.replace(' ', "-")) };
        let name = format!("{mix}{}{}", choice.name(), of_flow(flow));
        self.tap(choice, &SeriesRun { group, seed, population: population.to_owned() }, flow, &name)
    }

    /// Writes the series of all runs if the results are complete, and reports the first failure of the logs.
    ///
    /// # Errors
    /// Returns the failure of the first file that could not be written.
    pub(crate) fn finish(self, to: &OutputOptions, is_whole: bool) -> Result<(), Failure> {
        let series = self.series.filter(|_| is_whole).map_or(Ok(()), |series| {
            series.finish().map(|()| to.series.iter().for_each(|path| output::say_written(path)))
        });
        // A series that lacks rows is not written. The failure of its observer is the reason.
        let failure = self.taps.failure().map_or(series, Err);
        failure.map_err(Failure::write)
    }

    fn place(&self, choice: &SchemeChoice) -> usize {
        self.choices.iter().position(|one| one.name() == choice.name()).unwrap_or(0)
    }

    fn tap(
        &self,
        choice: &SchemeChoice,
        run: &SeriesRun,
        flow: u32,
        name: &str,
    ) -> io::Result<Option<Box<dyn Tap>>> {
        let is_first = run.seed == self.scenario.seed && self.taps.are_wanted();
        let mut taps = if is_first { self.taps.logs(&self.logged(choice, name, flow)) } else { Vec::new() };
        if let Some(series) = &self.series {
            taps.push(series.tap(run, self.place(choice), flow)?);
        }
        Ok(self.taps.join(taps))
    }

    /// Returns the facts about a flow that its logs have at the start.
    fn logged(&self, choice: &SchemeChoice, name: &str, flow: u32) -> LoggedFlow {
        LoggedFlow {
            name: name.to_owned(),
            flow,
            description: self.scenario.describe(),
            header: trace_header(self.scenario, choice),
            run: Some((self.scenario.seed, self.scenario.hash())),
            began: None,
            end: LoggedEnd::Sender,
            mss: self.scenario.mss,
            packet: self.scenario.packet(),
        }
    }
}

/// Returns the suffix of the names of a flow's logs.
fn of_flow(flow: u32) -> String {
    format!("-flow{flow:05}")
}

/// Returns the name of the logs of a flow of a scheme. `population` is the population's name in rows; empty for the clients of a race. The
/// name is longer only for flows beyond the first hundred thousand.
pub(crate) fn flow_name(population: &str, choice: &SchemeChoice) -> String {
    match population {
        "" | "only" => format!("{}{}", choice.name(), of_flow(0)),
        mix => format!("{}-{}{}", mix.replace(' ', "-"), choice.name(), of_flow(0)),
    }
}

/// Returns the length of the series' slots; `None` if it was not given.
fn slot(to: &OutputOptions, arguments: &[String]) -> Result<Option<Span>, Failure> {
    let Some(text) = &to.slot else { return Ok(None) };
    let length = quantity::span(text).map_err(|error| {
        Failure::usage(format!("--slot: {error}")).at(Place::value(arguments, "--slot", text))
    })?;
    Ok(Some(length))
}
