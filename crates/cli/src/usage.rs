//! Converts the command line to arguments, or to an error of one line.

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory, FromArgMatches};
use firstflight::registry::Registry;
use firstflight_scenario::suggest::{COMMANDS, meant, meant_option};

use crate::args::Cli;
use crate::build;
use crate::failure::{Failure, Place};
use crate::help;
use crate::model;

/// The name of the command with the built-in schemes.
const PROGRAM: &str = "firstflight";

/// The option that `--version` takes.
const VERBOSE: &str = "--verbose";

/// The result of parsing the command line.
pub(crate) enum Usage {
    /// The arguments of a command.
    Command(Box<Cli>),
    /// Text that was requested instead, for example help.
    Text(String),
}

/// The command line, as given and as errors show it.
pub(crate) struct CommandLine {
    /// The arguments as given, with the program's name first.
    pub(crate) given: Vec<OsString>,
    /// The arguments, preceded by the bare name of the program.
    pub(crate) shown: Vec<String>,
}

impl CommandLine {
    /// Returns this process's command line. A command with user-defined schemes is shown under the name of its program file, so that a
    /// report shows a command that has these schemes.
    pub(crate) fn of_process(registry: Registry) -> Self {
        let given: Vec<_> = std::env::args_os().collect();
        let own = given.first().filter(|_| registry != Registry::builtin()).map(Path::new);
        let own = own.and_then(Path::file_stem).map(|name| name.to_string_lossy().into_owned());
        let program = own.unwrap_or_else(|| PROGRAM.to_owned());
        let rest = given.iter().skip(1).map(|argument| argument.to_string_lossy().into_owned());
        let shown = std::iter::once(program).chain(rest).collect();
        Self { given, shown }
    }

    /// Returns a command line whose first argument is the name of the program as it is shown.
    pub(crate) fn new(given: Vec<OsString>) -> Self {
        let shown = given.iter().map(|argument| argument.to_string_lossy().into_owned()).collect();
        Self { given, shown }
    }

    /// Checks whether the command is called by this name.
    pub(crate) fn is_command(&self, name: &str) -> bool {
        self.shown.get(1).is_some_and(|command| command == name)
    }

    /// Returns the name of the program without its folder.
    pub(crate) fn program(&self) -> &str {
        self.shown.first().map_or(PROGRAM, String::as_str)
    }
}

/// Parses the command line.
pub(crate) fn parse(line: &CommandLine) -> Result<Usage, Failure> {
    // The short and the full help are two commands. They differ only in the text they show, not in the arguments they parse.
    let is_short = line.given.iter().any(|argument| argument == "-h");
    let with_help = if is_short { help::short } else { help::whole };
    let matches = with_help(Cli::command(), line.program()).try_get_matches_from(&line.given);
    let cli = matches.and_then(|matches| {
        Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut Cli::command()))
    });
    match cli {
        Ok(cli) if cli.verbose => {
            let message = "--verbose is for --version: `firstflight --version --verbose`".to_owned();
            Err(Failure::usage(message).at(Place::argument(&line.shown, VERBOSE)))
        }
        Ok(cli) => Ok(Usage::Command(Box::new(cli))),
        Err(error) => match error.kind() {
            ErrorKind::DisplayVersion if line.given.iter().any(|argument| argument == VERBOSE) => {
                Ok(Usage::Text(format!("{}{}", error.render(), build::described())))
            }
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ok(Usage::Text(error.render().to_string())),
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand
                if line.given.len() < 2 =>
            {
                Ok(Usage::Text(welcome(line.program())))
            }
            ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
                let there = commands_of(&command_of(&line.shown));
                Err(Failure::usage(format!("no command given; there are {there}")))
            }
            _ => Err(explain(&error, &line.shown)),
        },
    }
}

/// Returns the text of the command line without a command.
fn welcome(program: &str) -> String {
    let first = [
        ("demo", "all schemes over the built-in path"),
        ("race --rate 20mbit --rtt 60ms", "all schemes over your path"),
        ("doctor", "what works on this machine"),
    ];
    let lines =
        first.map(|(command, purpose)| format!("  {:<41}   {purpose}\n", format!("{program} {command}")));
    format!(
        "How should a TCP or QUIC connection start? This program runs start-up schemes\n\
         over a path, simulated or real, and reports which is best, and why.\n\n{}\n\
         All commands: {program} --help\n",
        lines.concat()
    )
}

fn explain(error: &clap::Error, arguments: &[String]) -> Failure {
    if let Some(name) = text(error, ContextKind::InvalidSubcommand) {
        let near = |known: &Command| {
            let names = known.get_subcommands().map(Command::get_name);
            let aliases = known.get_subcommands().flat_map(Command::get_all_aliases);
            meant(&name, COMMANDS, names.chain(aliases).collect::<Vec<_>>())
        };
        let message = if arguments.get(1).is_some_and(|command| command == "model") {
            let all = || format!("there are {}", model::names());
            let hint = near(&command_of(arguments)).unwrap_or_else(all);
            format!("unknown model `{name}`; {hint}")
        } else {
            let here = command_of(arguments);
            let hint = near(&here).unwrap_or_else(|| format!("there are {}", commands_of(&here)));
            format!("unknown command `{name}`; {hint}")
        };
        return Failure::usage(message).at(Place::argument(arguments, &name));
    }
    let argument = text(error, ContextKind::InvalidArg).unwrap_or_default();
    // Clap names an option together with the name of its value: `--rate <RATE>`.
    let option = argument.split_whitespace().next().unwrap_or_default().to_owned();
    let value = text(error, ContextKind::InvalidValue).unwrap_or_default();
    let message = match error.kind() {
        ErrorKind::UnknownArgument if option.starts_with('-') => unknown_option(&option, arguments),
        ErrorKind::UnknownArgument => unexpected(&argument, arguments),
        ErrorKind::InvalidValue if value.is_empty() => format!("{argument}: a value is missing"),
        ErrorKind::TooManyValues => format!("{option} takes no value, and `{value}` is one"),
        ErrorKind::InvalidValue => {
            let known = texts(error, ContextKind::ValidValue);
            let all = || format!("there are {}", known.join(", "));
            let hint = meant(&value, &[], known.iter().map(String::as_str)).unwrap_or_else(all);
            format!("{argument}: `{value}` is not known; {hint}")
        }
        _ => rendered(error),
    };
    let place = Place::argument(arguments, if value.is_empty() { &option } else { &value });
    Failure::usage(message).at(place)
}

/// Returns the error for an unexpected argument. If the argument follows an option that prints to standard output, the error takes the
/// argument for a file and shows how to redirect the output there.
fn unexpected(argument: &str, arguments: &[String]) -> String {
    let before = arguments.iter().zip(arguments.iter().skip(1)).find(|(_, next)| *next == argument);
    match before.map(|(before, _)| before.as_str()) {
        Some(printed @ ("--json" | "--csv")) => {
            format!("{printed} prints to standard output: `{printed} > {argument}` writes the file")
        }
        _ => format!("`{argument}` was not expected here"),
    }
}

/// Returns the error for an option that the command does not have. It names the option that was probably intended, or the commands that
/// have the option.
fn unknown_option(option: &str, arguments: &[String]) -> String {
    // For `-rate`, clap reports only the first letter.
    let is_it = |argument: &&String| argument.starts_with(option) && !argument.starts_with("--");
    let whole = if option.starts_with("--") { None } else { arguments.iter().find(is_it) };
    let option = whole.map_or(option, |whole| whole.split('=').next().unwrap_or(whole));
    let name = option.trim_start_matches('-');
    let command = command_of(arguments);
    let known = options(&command);
    if let Some(hint) = meant_option(name, known.iter().map(String::as_str)) {
        return format!("unknown option `{option}`; {hint}");
    }
    let root = Cli::command();
    let others = root.get_subcommands().filter(|other| options(other).iter().any(|known| known == name));
    let others: Vec<_> = others.map(|other| format!("`{}`", other.get_name())).collect();
    if others.is_empty() {
        let path: Vec<_> = std::iter::once(root.get_name()).chain(path(arguments)).collect();
        return format!("unknown option `{option}`; `{} --help` lists all", path.join(" "));
    }
    format!("unknown option `{option}` here; it is one of {}", others.join(" and "))
}

/// Returns the names of the subcommands on the command line.
fn path(arguments: &[String]) -> Vec<&str> {
    let (mut command, mut path) = (Cli::command(), Vec::new());
    for argument in arguments.iter().skip(1) {
        let Some(next) = command.find_subcommand(argument).cloned() else { break };
        path.push(argument.as_str());
        command = next;
    }
    path
}

/// Returns the innermost subcommand on the command line.
fn command_of(arguments: &[String]) -> Command {
    let descend = |command: Command, name: &str| command.find_subcommand(name).cloned().unwrap_or(command);
    path(arguments).into_iter().fold(Cli::command(), descend)
}

/// Returns the long names of a command's options.
fn options(command: &Command) -> Vec<String> {
    let own = command.get_arguments().filter_map(|option| option.get_long().map(str::to_owned));
    own.chain(["help".to_owned()]).collect()
}

/// Returns the first paragraph of clap's message, without its `error:`.
fn rendered(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let text = text.split("\n\nUsage:").next().unwrap_or_default();
    let text = text.split("\n\nFor more").next().unwrap_or_default();
    text.trim_start_matches("error:").trim().to_owned()
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    texts(error, kind).into_iter().next()
}

fn texts(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    }
}

fn commands_of(command: &Command) -> String {
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
