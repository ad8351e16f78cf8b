//! From the command line to arguments, or to one clear line.

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};
use firstflight::registry::Registry;

use crate::args::{Cli, NOT_BUILT};
use crate::failure::{Failure, Place};
use crate::model;

/// The command with the built-in schemes.
const PROGRAM: &str = "firstflight";

/// What the command line came to.
pub(crate) enum Usage {
    /// A command.
    Command(Box<Cli>),
    /// Text that was asked for, such as help.
    Text(String),
}

/// The command line as it came, and as it is shown in errors.
pub(crate) struct CommandLine {
    given: Vec<OsString>,
    /// With the bare name of the program first.
    pub(crate) shown: Vec<String>,
}

impl CommandLine {
    /// This process's. A command with schemes of its own goes by the name of its file, so that a report shows a command that
    /// knows them.
    pub(crate) fn of_process(registry: Registry) -> Self {
        let given: Vec<_> = std::env::args_os().collect();
        let own = given.first().filter(|_| registry != Registry::builtin()).map(Path::new);
        let own = own.and_then(Path::file_stem).map(|name| name.to_string_lossy().into_owned());
        let program = own.unwrap_or_else(|| PROGRAM.to_owned());
        let rest = given.iter().skip(1).map(|argument| argument.to_string_lossy().into_owned());
        let shown = std::iter::once(program).chain(rest).collect();
        Self { given, shown }
    }

    /// The bare name of the program.
    pub(crate) fn program(&self) -> &str {
        self.shown.first().map_or(PROGRAM, String::as_str)
    }
}

/// Parses the command line.
pub(crate) fn parse(line: &CommandLine) -> Result<Usage, Failure> {
    match Cli::try_parse_from(&line.given) {
        Ok(cli) => Ok(Usage::Command(Box::new(cli))),
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ok(Usage::Text(error.render().to_string())),
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
                Err(Failure::usage(format!("no command given; there are {}", commands())))
            }
            _ => Err(explain(&error, &line.shown)),
        },
    }
}

fn explain(error: &clap::Error, arguments: &[String]) -> Failure {
    if let Some(name) = text(error, ContextKind::InvalidSubcommand) {
        let tip = || suggestion(text(error, ContextKind::SuggestedSubcommand));
        let message = if arguments.get(1).is_some_and(|command| command == "model") {
            format!("unknown model `{name}`{}; there are {}", tip(), model::names())
        } else if NOT_BUILT.contains(&name.as_str()) {
            format!("`{name}` is not built yet; there are {}", commands())
        } else {
            format!("unknown command `{name}`{}; there are {}", tip(), commands())
        };
        return Failure::usage(message).at(Place::argument(arguments, &name));
    }
    let argument = text(error, ContextKind::InvalidArg).unwrap_or_default();
    // Clap names an option together with its value: `--rate <RATE>`.
    let option = argument.split_whitespace().next().unwrap_or_default().to_owned();
    let value = text(error, ContextKind::InvalidValue).unwrap_or_default();
    let message = match error.kind() {
        ErrorKind::UnknownArgument if option.starts_with('-') => {
            let tip = text(error, ContextKind::SuggestedArg);
            format!("unknown option `{option}`{}", suggestion(tip))
        }
        ErrorKind::UnknownArgument => format!("`{argument}` was not expected here"),
        ErrorKind::InvalidValue if value.is_empty() => format!("{argument}: a value is missing"),
        _ => rendered(error),
    };
    let place = Place::argument(arguments, if value.is_empty() { &option } else { &value });
    Failure::usage(message).at(place)
}

fn suggestion(closest: Option<String>) -> String {
    closest.map_or_else(String::new, |closest| format!("; did you mean `{closest}`?"))
}

/// Clap's own words: the first paragraph, without its `error:`.
fn rendered(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let text = text.split("\n\nUsage:").next().unwrap_or_default();
    let text = text.split("\n\nFor more").next().unwrap_or_default();
    text.trim_start_matches("error:").trim().to_owned()
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => texts.first().cloned(),
        _ => None,
    }
}

fn commands() -> String {
    let command = Cli::command();
    let names: Vec<_> =
        command.get_subcommands().map(|command| format!("`{}`", command.get_name())).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
