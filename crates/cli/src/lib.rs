//! The `firstflight` command: its arguments, progress and exit codes. The rest is in the libraries that it uses.
//!
//! A command with a user's own schemes takes three lines. It passes [`main_with`] a [`Registry`] that has the schemes, and every subcommand
//! then accepts their names. `examples/own-scheme` is an example, and `docs/guide/own-scheme.md` explains it.

mod args;
mod build;
mod captures;
mod checks;
mod clock;
mod columns;
mod compare;
mod contest;
mod demo;
mod diff;
mod doctor;
mod documents;
mod drawings;
mod earlier;
mod emulate;
mod examples;
mod excerpt;
mod failure;
mod figures;
mod flow_drawings;
mod formats;
mod groups;
mod help;
mod inspect;
mod interrupt;
mod kernel;
mod keys;
mod lines;
mod model;
mod options;
mod output;
mod packetdrill;
mod paper;
mod partial;
mod paths;
mod pictures;
mod population;
mod probe;
mod progress;
mod quic;
mod race;
mod reading;
mod reflect;
mod replay;
mod results;
mod schemes;
mod score;
mod session;
mod sweep;
mod taps;
mod targets;
mod transfer;
mod usage;
mod watch;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use firstflight::registry::Registry;
use firstflight_export::parquet;

use crate::args::Command;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::usage::{CommandLine, Usage};

pub use crate::session::{Done, Output, Session};

/// Carries out this process's command line with the schemes, restart policies and laws of `registry`. Returns the exit code. If an entry of
/// the registry has an invalid name, prints one error and returns 2.
pub fn main_with(registry: Registry) -> ExitCode {
    ExitCode::from(main_of(registry, &CommandLine::of_process(registry)))
}

/// Carries out a command line with the schemes, restart policies and laws of `registry`, as [`main_with`] does, in a process of another
/// program. `arguments` begins with the name that errors and results show. `program` has the words that start this program again: its file,
/// and the arguments before those of a command. Returns the exit code.
pub fn main_inside(registry: Registry, arguments: Vec<OsString>, program: Vec<OsString>) -> u8 {
    firstflight_emulate::own_program::set(program);
    main_of(registry, &CommandLine::new(arguments))
}

/// The end of a command that another program carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The exit code: 0 done; 1 a check failed; 2 wrong input; 3 writing failed; 130 interrupted.
    pub code: u8,
    /// The error: what, where and what is allowed, with the place marked below. Empty if there is none.
    pub error: String,
}

/// Carries out a command line in the session of another program. `arguments` begins with the name that errors and results show. The
/// command's results are in [`Session::take_output`].
///
/// Commands that handle real packets, sockets or the kernel change this process, and are refused; [`main_inside`] carries them out.
pub fn carry_out_in(session: &Arc<Session>, registry: Registry, arguments: Vec<OsString>) -> Ended {
    let entered = session::enter(session);
    let line = CommandLine::new(arguments);
    let ended = carry_out(registry, &line);
    drop(entered);
    match ended {
        Ok(()) => Ended { code: 0, error: String::new() },
        Err(failure) => Ended { code: failure.code() as u8, error: failure.shown(None) },
    }
}

fn main_of(registry: Registry, line: &CommandLine) -> u8 {
    parquet::silence_reader();
    if let Some(code) = compare::inside(&line.given).or_else(|| emulate::inside(&line.given)) {
        return code;
    }
    Interrupt::prepare();
    match carry_out(registry, line) {
        Ok(()) => 0,
        Err(failure) => {
            output::say_as_it_is(&failure.shown(output::stderr_width()));
            failure.code() as u8
        }
    }
}

fn carry_out(registry: Registry, line: &CommandLine) -> Result<(), Failure> {
    registry.check().map_err(Failure::usage)?;
    let cli = match usage::parse(line)? {
        Usage::Text(text) => return output::print(&text),
        Usage::Command(cli) => cli,
    };
    if session::current().is_some() && !cli.command.is_pure() {
        let name = line.shown.get(1).map_or("", String::as_str);
        return Err(Failure::usage(format!(
            "`{name}` uses real packets, sockets or the kernel; start it as a command: `python -m firstflight {name}`"
        )));
    }
    match cli.command {
        Command::Schemes(schemes) => output::print(&schemes::list(&schemes, registry, &line.shown)?),
        Command::Paths(asked) => output::print(&paths::list(&asked, line.program(), &line.shown)?),
        Command::Model(command) => model::answer(&command, &line.shown),
        Command::Race(options) => race::from_options(&options, registry, &line.shown),
        Command::Run(file) => race::from_file(&file, registry, &line.shown),
        Command::Sweep(command) => sweep::sweep(&command, registry, &line.shown),
        Command::Score(command) => score::score(&command, registry, &line.shown),
        Command::Diff(command) => diff::diff(&command, &line.shown),
        Command::Replay(command) => replay::replay(&command, registry),
        Command::Paper(command) => paper::paper(&command, registry, &line.shown),
        Command::Probe(options) => probe::from_options(&options, registry, &line.shown),
        Command::Reflect(asked) => reflect::reflect(&asked),
        Command::Packetdrill(scripts) => packetdrill::run(&scripts),
        Command::Inspect(options) => inspect::inspect(&options, &line.shown),
        Command::Emulate(options) => emulate::emulate(&options, registry, &line.shown),
        Command::Compare(options) => compare::compare(&options, registry, &line.shown),
        Command::Serve(asked) => {
            let asked = if line.is_command(args::SERVE_UPLOADS) { asked.uploads() } else { *asked };
            transfer::serve(&asked, registry, &line.shown)
        }
        Command::Get(asked) => transfer::get(&asked, registry, &line.shown),
        Command::Put(asked) => transfer::put(&asked, registry, &line.shown),
        Command::Kernel(command) => kernel::kernel(&command, registry, &line.shown),
        Command::Watch(options) => watch::watch(&options, &line.shown),
        Command::Completions { shell } => {
            output::print_bytes(documents::completions(shell, line.program())?.as_bytes())
        }
        Command::Man(asked) => documents::manual(&asked, line),
        Command::Demo(asked) => {
            let race = CommandLine { given: asked.race(line.program()), shown: line.shown.clone() };
            carry_out(registry, &race)?;
            output::say(&format!("your own path: {} race --rate 20mbit --rtt 60ms", line.program()));
            Ok(())
        }
        Command::Doctor(asked) => doctor::doctor(&asked),
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
