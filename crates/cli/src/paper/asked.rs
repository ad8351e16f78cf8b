//! The requested figures and claims, and their runs.

use std::path::PathBuf;

use clap::Args;
use firstflight::registry::Registry;
use firstflight_papers::{
    CheckError, Claim, ClaimResult, Figure, FigureResult, HABITATS, Ledger, LedgerError, Row, RunsError,
    Settings, Status,
};

use super::habitat;
use crate::failure::{Failure, Place};
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::reading;

/// Where the ledger is.
#[derive(Args, Debug)]
pub(super) struct From {
    /// Read the ledger from this folder, PAPER/FIGURE.toml [the ledger within the command].
    #[arg(long, value_name = "DIR")]
    ledger: Option<PathBuf>,
}

impl From {
    /// Returns the files of figures if the ledger is read from a folder; empty otherwise.
    pub(super) fn files(&self, asked: &AskedFor<'_>) -> Vec<PathBuf> {
        let file = |folder: &PathBuf, figure: &Figure| folder.join(format!("{}.toml", figure.name()));
        self.ledger
            .iter()
            .flat_map(|folder| asked.figures().map(move |figure| file(folder, figure)))
            .collect()
    }
}

#[derive(Args, Debug)]
pub(super) struct HowToRun {
    #[command(flatten)]
    pub(super) from: From,
    /// Print only JSON, one line for each claim.
    #[arg(long)]
    pub(super) json: bool,
    /// Write the figures with their claims: one HTML file that opens offline.
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
    /// Runs at a time; results do not depend on it [the number of processors].
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(super) jobs: Option<String>,
    /// Run the figures that have this habitat there: live, on UDP sockets over emulated paths, or kernel, with nginx in this machine's
    /// TCP over them; both need root [simulator].
    #[arg(long, value_name = "NAME")]
    pub(super) habitat: Option<String>,
}

/// The requested figures.
pub(super) struct AskedFor<'a>(pub(super) Vec<AskedFigure<'a>>);

/// A requested figure, and the names of its requested claims, or `None` if all are requested.
pub(super) type AskedFigure<'a> = (&'a Figure, Option<Vec<String>>);

/// Returns the requested claims of a figure, each with its result.
pub(super) fn pairs_of<'p, 'a, 'r>(
    (figure, only): &'p AskedFigure<'a>,
    result: &'r FigureResult,
) -> impl Iterator<Item = (&'a Claim, &'r ClaimResult)> + use<'p, 'a, 'r> {
    let pairs = figure.claims.iter().zip(&result.claims);
    pairs.filter(move |(claim, _)| only.as_ref().is_none_or(|only| only.contains(&claim.id)))
}

impl<'a> AskedFor<'a> {
    pub(super) fn figures(&self) -> impl Iterator<Item = &'a Figure> {
        self.0.iter().map(|(figure, _)| *figure)
    }

    /// Checks whether `ids` request a row of the papers. They may name its paper, or a figure that reproduces it.
    pub(super) fn has(&self, row: &Row, ids: &[String]) -> bool {
        ids.is_empty()
            || ids.iter().any(|id| id.trim().trim_end_matches('/') == row.paper())
            || row.files.iter().any(|file| self.figures().any(|figure| figure.name() == *file))
    }

    /// Returns the requested figures, each with its requested claims.
    pub(super) fn claims(&self) -> impl Iterator<Item = (&'a Figure, Vec<&'a Claim>)> {
        self.0.iter().map(|(figure, only)| {
            let is_asked = |claim: &&Claim| only.as_ref().is_none_or(|only| only.contains(&claim.id));
            (*figure, figure.claims.iter().filter(is_asked).collect())
        })
    }

    /// Returns the requested claims, each with its result.
    pub(super) fn pairs<'r>(
        &self,
        results: &'r [FigureResult],
    ) -> impl Iterator<Item = (&'a Claim, &'r ClaimResult)> {
        self.0.iter().zip(results).flat_map(|(asked, result)| pairs_of(asked, result))
    }

    /// Returns the identifiers of the requested claims that are recorded as holding and whose results are otherwise.
    pub(super) fn not_as_recorded(&self, results: &[FigureResult]) -> Vec<String> {
        let lost = self
            .pairs(results)
            .filter(|(claim, result)| claim.status == Status::Holds && !result.is_as_recorded(claim));
        lost.map(|(_, result)| result.id.clone()).collect()
    }
}

pub(super) fn asked<'a>(
    ledger: &'a Ledger,
    ids: &[String],
    arguments: &[String],
) -> Result<AskedFor<'a>, Failure> {
    let mut found: Vec<(&Figure, Option<&str>)> = Vec::new();
    for id in ids {
        let more =
            ledger.find(id).map_err(|error| Failure::usage(error).at(Place::argument(arguments, id)))?;
        found.extend(more);
    }
    let mut asked = Vec::new();
    for figure in &ledger.figures {
        let of_figure: Vec<Option<&str>> =
            found.iter().filter(|(one, _)| std::ptr::eq(*one, figure)).map(|(_, claim)| *claim).collect();
        if ids.is_empty() || of_figure.contains(&None) {
            asked.push((figure, None));
        } else if !of_figure.is_empty() {
            asked.push((figure, Some(of_figure.into_iter().flatten().map(str::to_owned).collect())));
        }
    }
    Ok(AskedFor(asked))
}

/// Returns the requested figures; with `fast`, only those that every build checks.
pub(super) fn asked_of<'a>(
    ledger: &'a Ledger,
    ids: &[String],
    fast: bool,
    arguments: &[String],
) -> Result<AskedFor<'a>, Failure> {
    let mut asked = asked(ledger, ids, arguments)?;
    if fast {
        asked.0.retain(|(figure, _)| figure.fast);
        if asked.0.is_empty() {
            let message = "--fast: none of these figures has `fast = true`, so nothing would be checked";
            return Err(Failure::usage(message).at(Place::argument(arguments, "--fast")));
        }
    }
    Ok(asked)
}

/// Returns the ledger, with its figures set to run in the requested habitat (the environment in which schemes run).
pub(super) fn ledger_of(how: &HowToRun, registry: Registry, arguments: &[String]) -> Result<Ledger, Failure> {
    let ledger = ledger(&how.from, registry, arguments)?;
    let Some(name) = &how.habitat else { return Ok(ledger) };
    if !HABITATS.contains(&name.as_str()) {
        let message = format!("--habitat: there is no `{name}`; there are {}", HABITATS.join(", "));
        return Err(Failure::usage(message).at(Place::value(arguments, "--habitat", name)));
    }
    Ok(ledger.in_habitat(name))
}

pub(super) fn ledger(from: &From, registry: Registry, arguments: &[String]) -> Result<Ledger, Failure> {
    let ledger = match &from.ledger {
        None => Ledger::embedded(registry),
        Some(folder) => Ledger::read(registry, folder),
    };
    ledger.map_err(|error| match &error {
        LedgerError::File { name, text, error: fault } => {
            let place = Place::text(name, text, fault.span.start, fault.span.end);
            Failure::usage(&error).at(place)
        }
        LedgerError::Empty { path } => {
            let place = Place::value(arguments, "--ledger", &path.to_string_lossy());
            Failure::usage(format!("--ledger: {error}")).at(place)
        }
        LedgerError::Read { .. } | LedgerError::Name { .. } => Failure::usage(&error),
    })
}

/// Makes runs with the settings of the command line.
pub(super) fn made<T>(
    how: &HowToRun,
    arguments: &[String],
    work: impl FnOnce(&Settings<'_>) -> Result<T, CheckError>,
) -> Result<T, Failure> {
    let jobs = reading::jobs(how.jobs.as_deref(), arguments)?;
    let interrupt = Interrupt::listen();
    let progress = Progress::new(0);
    let settings = Settings {
        jobs,
        progress: &|done, total, name| progress.show_of(done, total, name),
        interrupted: &|| interrupt.happened(),
        habitat: how.habitat.as_deref().and_then(habitat::of),
    };
    let results = work(&settings);
    drop(progress);
    results.map_err(|error| match error {
        CheckError::Runs(RunsError::Interrupted) => interrupted(),
        error => Failure::usage(error),
    })
}

/// Returns the failure after an interrupt.
pub(super) fn interrupted() -> Failure {
    Failure::interrupted("interrupted; nothing was checked")
}

/// Returns the results as JSON, an object a line.
pub(super) fn lines<T: serde::Serialize>(results: &[T]) -> Result<String, Failure> {
    results.iter().map(|one| firstflight_export::json::line(one).map_err(Failure::write)).collect()
}
