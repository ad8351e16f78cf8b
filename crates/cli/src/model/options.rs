//! The options of each model, which follow from its description.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, Subcommand, value_parser};
use firstflight_model::{MODELS, Model, Parameter};

use crate::keys::text;

/// `firstflight model`, without a name or with one.
#[derive(Args, Debug)]
#[command(disable_help_subcommand = true)]
pub(crate) struct ModelCommand {
    #[command(subcommand)]
    pub(super) request: Option<Request>,
}

/// A model with the parameters that were given, and the requested form of the output.
#[derive(Debug)]
pub(crate) struct Request {
    pub(super) model: &'static Model,
    /// The parameters that were given, each with its text.
    pub(super) given: Vec<(&'static str, String)>,
    pub(super) sweep: Option<String>,
    pub(super) points: Option<String>,
    pub(super) columns: Option<String>,
    pub(super) wide: bool,
    pub(super) json: bool,
    pub(super) csv: bool,
    pub(super) svg: Option<PathBuf>,
}

const SWEEP: &str = "sweep";
const POINTS: &str = "points";
const COLUMNS: &str = "columns";
const WIDE: &str = "wide";
const JSON: &str = "json";
const CSV: &str = "csv";
const SVG: &str = "svg";

impl Subcommand for Request {
    fn augment_subcommands(command: Command) -> Command {
        command.subcommands(MODELS.iter().map(subcommand))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        MODELS.iter().any(|model| model.name == name)
    }
}

impl FromArgMatches for Request {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let found = matches
            .subcommand()
            .and_then(|(name, matches)| Some((MODELS.iter().find(|model| model.name == name)?, matches)));
        let Some((model, matches)) = found else {
            return Err(clap::Error::new(ErrorKind::MissingSubcommand));
        };
        let text = |name: &str| matches.try_get_one::<String>(name).ok().flatten().cloned();
        let given = model.parameters.iter().filter_map(|one| Some((one.name, text(one.name)?))).collect();
        Ok(Self {
            model,
            given,
            sweep: text(SWEEP),
            points: text(POINTS),
            columns: text(COLUMNS),
            wide: matches!(matches.try_get_one::<bool>(WIDE), Ok(Some(true))),
            json: matches.get_flag(JSON),
            csv: matches.get_flag(CSV),
            svg: matches.try_get_one::<PathBuf>(SVG).ok().flatten().cloned(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn subcommand(model: &'static Model) -> Command {
    let command = Command::new(model.name)
        .about(model.summary)
        .long_about(format!("{}: {}.", model.source, model.summary))
        .args(model.parameters.iter().map(option));
    let command = if model.parameters.is_empty() { command } else { command.args(of_sweeps()) };
    let flag =
        |name, help| Arg::new(name).long(name).action(ArgAction::SetTrue).help(help).help_heading("Output");
    command
        .arg(
            flag(JSON, "One JSON object a row on standard output, one a line, and nothing else")
                .conflicts_with(CSV),
        )
        .arg(flag(CSV, "Rows as CSV on standard output"))
}

fn option(parameter: &'static Parameter) -> Arg {
    let unless = parameter.default.unwrap_or(parameter.unset);
    text(parameter.name, parameter.kind.placeholder())
        .help(format!("{} [{unless}]", capital(parameter.help)))
        .help_heading("Parameters")
}

fn of_sweeps() -> [Arg; 5] {
    [
        text(SWEEP, "NAME=FROM..TO")
            .help("A row for each value of one parameter: size=1kB..10MB, or a list, rtt=10ms,100ms")
            .help_heading("Output"),
        text(POINTS, "N")
            .requires(SWEEP)
            .help("Values of a range [ten a decade; of shares, 20 in equal steps]")
            .help_heading("Output"),
        text(COLUMNS, "NAMES")
            .help("Columns of the table, and curves of the drawing, by their names in --json")
            .help_heading("Output"),
        Arg::new(WIDE)
            .long(WIDE)
            .action(ArgAction::SetTrue)
            .conflicts_with_all([COLUMNS, JSON, CSV])
            .help("Show every column of the table, whatever the terminal's width")
            .help_heading("Output"),
        Arg::new(SVG)
            .long(SVG)
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .requires(SWEEP)
            .help("Draw the sweep as a curve")
            .help_heading("Output"),
    ]
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}
