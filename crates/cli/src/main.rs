//! The `firstflight` command: arguments, progress and exit codes. Everything else is a library below it.

mod args;
mod captures;
mod documents;
mod drawings;
mod events;
mod excerpt;
mod failure;
mod inspect;
mod interrupt;
mod model;
mod order;
mod output;
mod packetdrill;
mod population;
mod progress;
mod qlogs;
mod race;
mod replay;
mod results;
mod schemes;
mod score;
mod sweep;
mod taps;
mod targets;
mod usage;

use std::process::ExitCode;

use crate::args::Command;
use crate::failure::Failure;
use crate::usage::{CommandLine, Usage};

fn main() -> ExitCode {
    match carry_out(&CommandLine::of_process()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::say(&failure.to_string());
            ExitCode::from(failure.code() as u8)
        }
    }
}

fn carry_out(line: &CommandLine) -> Result<(), Failure> {
    let cli = match usage::parse(line)? {
        Usage::Text(text) => return output::print(&text),
        Usage::Command(cli) => cli,
    };
    match cli.command {
        Command::Schemes(schemes) => output::print(&schemes::list(&schemes, &line.shown)?),
        Command::Model(command) => model::answer(&command, &line.shown),
        Command::Race(options) => race::from_options(&options, &line.shown),
        Command::Run(file) => race::from_file(&file, &line.shown),
        Command::Sweep(command) => sweep::sweep(&command, &line.shown),
        Command::Score(command) => score::score(&command, &line.shown),
        Command::Replay(command) => replay::replay(&command),
        Command::Packetdrill(scripts) => packetdrill::run(&scripts.files),
        Command::Inspect(options) => inspect::inspect(&options, &line.shown),
        Command::Completions { shell } => output::print(&documents::completions(shell)?),
        Command::Man => output::print(&documents::manual()?),
    }
}
