//! Logs and series of runs, as the options of the output ask for them.

use std::io;

use firstflight_lab::PopulationFlow;
use firstflight_measure::Tap;
use firstflight_report::log::{Folders, LoggedFlow, Series, SeriesRun, Taps};
use firstflight_scenario::{Scenario, SchemeChoice, trace_header};

use crate::args::OutputOptions;
use crate::failure::Failure;
use crate::output;
use crate::race::snap;

/// The logs and the series of a command's runs.
pub(crate) struct Logs<'a> {
    scenario: &'a Scenario,
    choices: &'a [SchemeChoice],
    taps: Taps,
    series: Option<Series>,
}

impl<'a> Logs<'a> {
    /// What these options ask for.
    ///
    /// # Errors
    /// A folder that cannot be made, a length of packets that is not allowed.
    pub(crate) fn new(
        scenario: &'a Scenario,
        choices: &'a [SchemeChoice],
        to: &OutputOptions,
        arguments: &[String],
    ) -> Result<Self, Failure> {
        let OutputOptions { pcap, events, qlog, .. } = to.clone();
        let taps = Taps::new(Folders { pcap, events, qlog }, snap(to, arguments)?).map_err(Failure::usage)?;
        let names = || choices.iter().map(|choice| choice.name().to_owned()).collect();
        let series = to.series.as_deref().map(|path| Series::new(path, names()));
        Ok(Self { scenario, choices, taps, series })
    }

    /// Whether anything is written of each flow.
    pub(crate) const fn are_wanted(&self) -> bool {
        self.series.is_some() || self.taps.are_wanted()
    }

    /// The tap of a race's run.
    pub(crate) fn of_run(&self, choice: &SchemeChoice, seed: u64) -> io::Result<Option<Box<dyn Tap>>> {
        let run = SeriesRun { group: self.place(choice), seed, population: String::new() };
        self.tap(choice, &run, 0, choice.name())
    }

    /// The tap of a population's flow.
    pub(crate) fn of_flow(&self, flow: PopulationFlow<'_>) -> io::Result<Option<Box<dyn Tap>>> {
        let PopulationFlow { choice, group, population, seed, flow } = flow;
        let mix =
            if population == "only" { String::new() } else { format!("{}-", population.replace(' ', "-")) };
        let name = format!("{mix}{}-flow{flow:05}", choice.name());
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
            seed: self.scenario.seed,
            scenario_hash: self.scenario.hash(),
            mss: self.scenario.mss,
            packet: self.scenario.packet(),
        }
    }
}
