//! Logs and series of runs, as the options of the output ask for them.

use std::io;

use firstflight::Span;
use firstflight_lab::{LinkSlot, PopulationFlow};
use firstflight_measure::Tap;
use firstflight_report::log::{Folders, LoggedEnd, LoggedFlow, Series, SeriesRun, Slots, Taps};
use firstflight_scenario::{NamedLink, Scenario, SchemeChoice, quantity, trace_header};

use crate::args::OutputOptions;
use crate::failure::{Failure, Place};
use crate::output;
use crate::race::snap;

/// The logs and the series of a command's runs.
pub(crate) struct Logs<'a> {
    scenario: &'a Scenario,
    choices: &'a [SchemeChoice],
    taps: Taps,
    series: Option<Series>,
    slot: Option<Span>,
}

impl<'a> Logs<'a> {
    /// What these options ask for.
    ///
    /// # Errors
    /// A folder that cannot be made, a length of packets or of slots that is not allowed.
    pub(crate) fn new(
        scenario: &'a Scenario,
        choices: &'a [SchemeChoice],
        to: &OutputOptions,
        arguments: &[String],
    ) -> Result<Self, Failure> {
        let OutputOptions { pcap, events, qlog, .. } = to.clone();
        let taps = Taps::new(Folders { pcap, events, qlog }, snap(to.snap.as_deref(), arguments)?)
            .map_err(Failure::usage)?;
        let names = || choices.iter().map(|choice| choice.name().to_owned()).collect();
        let slot = slot(to, arguments)?;
        let links = || scenario.slot_links().iter().map(NamedLink::to_string).collect();
        let slots = slot.map(|length| Slots { length, links: links() });
        let series = to.series.as_deref().map(|path| Series::new(path, names(), slots));
        Ok(Self { scenario, choices, taps, series, slot })
    }

    /// Whether anything is written of each flow.
    pub(crate) const fn are_wanted(&self) -> bool {
        self.series.is_some() || self.taps.are_wanted()
    }

    /// How long the slots are in which rates are wanted, if they are.
    pub(crate) const fn slot(&self) -> Option<Span> {
        self.slot
    }

    /// Takes what a link sent in a slot.
    pub(crate) fn take_slot(&self, slot: LinkSlot<'_>) -> io::Result<()> {
        let LinkSlot { choice, group, population, seed, link, from, bits } = slot;
        let scheme = choice.map(|choice| self.place(choice));
        let group = if population.is_empty() { scheme.unwrap_or(group) } else { group };
        let run = SeriesRun { group, seed, population: population.to_owned() };
        self.series.as_ref().map_or(Ok(()), |series| series.link_slot(&run, scheme, link, (from, bits)))
    }

    /// The tap of a race's run.
    pub(crate) fn of_run(&self, choice: &SchemeChoice, seed: u64) -> io::Result<Option<Box<dyn Tap>>> {
        let first = self.scenario.clients_of(choice).ok().and_then(|clients| clients.first().copied());
        self.of_client(choice, seed, first.unwrap_or(0))
    }

    /// The tap of a client of rounds. Clients count from zero.
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

    /// The tap of a population's flow.
    pub(crate) fn of_flow(&self, flow: PopulationFlow<'_>) -> io::Result<Option<Box<dyn Tap>>> {
        let PopulationFlow { choice, group, population, seed, flow } = flow;
        let mix =
            if population == "only" { String::new() } else { format!("{}-", population.replace(' ', "-")) };
        let name = format!("{mix}{}{}", choice.name(), of_flow(flow));
        self.tap(choice, &SeriesRun { group, seed, population: population.to_owned() }, flow, &name)
    }

    /// Writes the series, and says what failed of the logs.
    ///
    /// # Errors
    /// The first file that could not be written.
    pub(crate) fn finish(self, to: &OutputOptions) -> Result<(), Failure> {
        if let Some(series) = self.series {
            series.finish().map_err(Failure::write)?;
            to.series.iter().for_each(|path| output::say_written(path));
        }
        self.taps.failure().map_or(Ok(()), |error| Err(Failure::write(error)))
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

    /// What logs say of a flow.
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

/// The end of the name of a flow's logs.
fn of_flow(flow: u32) -> String {
    format!("-flow{flow:05}")
}

/// The name of the logs of a flow of a scheme, among those that rows call `population`; without one among a race's clients.
/// Only a flow beyond the first hundred thousand has a longer one.
pub(crate) fn flow_name(population: &str, choice: &SchemeChoice) -> String {
    match population {
        "" | "only" => format!("{}{}", choice.name(), of_flow(0)),
        mix => format!("{}-{}{}", mix.replace(' ', "-"), choice.name(), of_flow(0)),
    }
}

/// How long a slot of the series is, if that was said.
fn slot(to: &OutputOptions, arguments: &[String]) -> Result<Option<Span>, Failure> {
    let Some(text) = &to.slot else { return Ok(None) };
    let length = quantity::span(text).map_err(|error| {
        Failure::usage(format!("--slot: {error}")).at(Place::value(arguments, "--slot", text))
    })?;
    Ok(Some(length))
}
