//! The `firstflight` command: arguments, progress and exit codes. Everything else is a library below it.
//!
//! A command with schemes of a user's own is three lines: [`main_with`] is given a [`Registry`] that has them, and every
//! subcommand takes their names. `examples/own-scheme` is such a command, and `docs/own-scheme.md` explains it.

mod args;
mod captures;
mod columns;
mod compare;
mod documents;
mod drawings;
mod emulate;
mod examples;
mod excerpt;
mod failure;
mod flow_drawings;
mod help;
mod inspect;
mod interrupt;
mod kernel;
mod keys;
mod model;
mod output;
mod packetdrill;
mod paper;
mod population;
mod probe;
mod progress;
mod race;
mod reading;
mod replay;
mod results;
mod schemes;
mod score;
mod sweep;
mod taps;
mod targets;
mod transfer;
mod usage;
mod watch;

use std::process::ExitCode;

use firstflight::registry::Registry;

use crate::args::Command;
use crate::failure::Failure;
use crate::usage::{CommandLine, Usage};

/// Carries out this process's command line with the schemes, restart policies and laws of `registry`, and answers with the
/// exit code. An entry of the registry that cannot be named is one error, and exit code 2.
pub fn main_with(registry: Registry) -> ExitCode {
    if let Some(code) = compare::inside().or_else(emulate::inside) {
        return code;
    }
    match carry_out(registry, &CommandLine::of_process(registry)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::say_as_it_is(&failure.shown(output::stderr_width()));
            ExitCode::from(failure.code() as u8)
        }
    }
}

fn carry_out(registry: Registry, line: &CommandLine) -> Result<(), Failure> {
    registry.check().map_err(Failure::usage)?;
    let cli = match usage::parse(line)? {
        Usage::Text(text) => return output::print(&text),
        Usage::Command(cli) => cli,
    };
    match cli.command {
        Command::Schemes(schemes) => output::print(&schemes::list(&schemes, registry, &line.shown)?),
        Command::Model(command) => model::answer(&command, &line.shown),
        Command::Race(options) => race::from_options(&options, registry, &line.shown),
        Command::Run(file) => race::from_file(&file, registry, &line.shown),
        Command::Sweep(command) => sweep::sweep(&command, registry, &line.shown),
        Command::Score(command) => score::score(&command, registry, &line.shown),
        Command::Replay(command) => replay::replay(&command, registry),
        Command::Paper(command) => paper::paper(&command, registry, &line.shown),
        Command::Probe(options) => probe::from_options(&options, registry, &line.shown),
        Command::Reflect(asked) => probe::live::reflect(&asked),
        Command::Packetdrill(scripts) => packetdrill::run(&scripts.files),
        Command::Inspect(options) => inspect::inspect(&options, &line.shown),
        Command::Emulate(options) => emulate::emulate(&options, registry, &line.shown),
        Command::Compare(options) => compare::compare(&options, registry, &line.shown),
        Command::Serve(asked) => transfer::serve(&asked, registry, &line.shown),
        Command::Get(asked) => transfer::get(&asked, registry, &line.shown),
        Command::Send(asked) => transfer::send(&asked, registry, &line.shown),
        Command::Receive(asked) => transfer::receive(&asked, registry, &line.shown),
        Command::Kernel(command) => kernel::kernel(&command, registry, &line.shown),
        Command::Watch(options) => watch::watch(&options, &line.shown),
        Command::Completions { shell } => output::print(&documents::completions(shell, line.program())?),
        Command::Man(asked) => documents::manual(&asked, line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstflight::registry::SchemeEntry;

    #[test]
    fn an_entry_that_cannot_be_named_is_one_error_before_anything_else() {
        let twin = Registry::builtin().scheme("limited").copied().expect("built in");
        let entries: &'static [SchemeEntry] = Box::leak(Box::new([twin]));
        let registry = Registry::builtin().with_schemes(entries);
        let failure = carry_out(registry, &CommandLine::of_process(registry)).expect_err("two of a name");
        assert_eq!(failure.code() as u8, 2);
        assert_eq!(
            failure.to_string(),
            "error: the scheme `limited` cannot be registered: there is another scheme of this name\n"
        );
    }
}
