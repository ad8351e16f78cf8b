//! Shell completions and manual pages, generated from the definition of the command line.

use std::fs;
use std::io;
use std::path::Path;

use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use firstflight_export::write_whole;
use firstflight_measure::VERSION;
use firstflight_scenario::suggest::{COMMANDS, meant};

use crate::args::Cli;
use crate::examples::{self, PROGRAM};
use crate::failure::{Failure, Place};
use crate::groups::{about, groups};
use crate::options::Man as Asked;
use crate::output;
use crate::targets::check_folder;
use crate::usage::CommandLine;

/// Returns the completions for `shell`.
pub(crate) fn completions(shell: Shell, program: &str) -> Result<String, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), program, &mut text);
    String::from_utf8(text).map_err(Failure::write)
}

/// Prints a manual page, or writes all of them into a folder (`firstflight man`).
pub(crate) fn manual(asked: &Asked, line: &CommandLine) -> Result<(), Failure> {
    let root = root(line.program());
    if let Some(folder) = &asked.dir {
        return write_all(&root, folder, &line.shown);
    }
    let mut command = &root;
    for name in &asked.command {
        command = command.find_subcommand(name).ok_or_else(|| unknown(command, name, &line.shown))?;
    }
    output::print_bytes(page(command, &root).map_err(Failure::write)?.as_bytes())
}

/// Returns the whole command. Its subcommands have the names of their pages, such as `firstflight-race`.
fn root(program: &str) -> Command {
    let mut root = Cli::command().display_name(program).bin_name(program).disable_help_subcommand(true);
    root.build();
    root
}

fn unknown(command: &Command, name: &str, arguments: &[String]) -> Failure {
    let known: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    let hint = meant(name, COMMANDS, known.iter().copied()).unwrap_or_else(|| match known.as_slice() {
        [] => format!("{} has one page", page_name(command)),
        known => format!("there are {}", known.join(", ")),
    });
    Failure::usage(format!("there is no page `{name}`; {hint}")).at(Place::argument(arguments, name))
}

fn write_all(root: &Command, folder: &Path, arguments: &[String]) -> Result<(), Failure> {
    let shown = folder.to_string_lossy();
    let refuse = |error: io::Error| {
        let message = format!("--dir: cannot write into {}: {error}", folder.display());
        Failure::usage(message).at(Place::value(arguments, "--dir", &shown))
    };
    check_folder(folder).map_err(refuse)?;
    fs::create_dir_all(folder).map_err(refuse)?;
    let commands = all(root);
    for command in &commands {
        let text = page(command, root).map_err(Failure::write)?;
        write_whole(&folder.join(format!("{}.1", page_name(command))), text.as_bytes())
            .map_err(Failure::write)?;
    }
    output::say(&format!("wrote {} pages into {}", commands.len(), folder.display()));
    Ok(())
}

/// Returns a command and all its subcommands that the help shows, at any depth.
fn all(command: &Command) -> Vec<&Command> {
    std::iter::once(command).chain(command.get_subcommands().flat_map(all)).collect()
}

fn page_name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

/// Returns the manual page of a command.
fn page(command: &Command, root: &Command) -> Result<String, io::Error> {
    let program = page_name(root);
    let man = Man::new(command.clone()).source(format!("{program} {VERSION}")).manual("Firstflight");
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    let mut rest = Roff::new();
    let is_root = page_name(command) == program;
    if is_root {
        add_groups(&mut rest, command);
    } else if command.has_subcommands() {
        man.render_subcommands_section(&mut text)?;
    }
    add_examples(&mut rest, command, root);
    if is_root {
        add_exit_status(&mut rest);
    }
    add_see_also(&mut rest, command, root);
    rest.to_writer(&mut text)?;
    String::from_utf8(text).map_err(io::Error::other)
}

/// Adds the section of the subcommands, in their groups.
fn add_groups(roff: &mut Roff, command: &Command) {
    roff.control("SH", ["SUBCOMMANDS"]);
    for (heading, group) in groups(command) {
        roff.control("SS", [heading]);
        for below in group {
            let name = format!("{}(1)", page_name(below));
            roff.control("TP", []).text([roman(name)]).text([roman(about(below))]);
        }
    }
}

fn add_examples(roff: &mut Roff, command: &Command, root: &Command) {
    let program = page_name(root);
    // The page of a subcommand has the names of both commands: `kernel run` does not show the examples of `run`.
    let name = match page_name(command).strip_prefix(program) {
        Some("") => PROGRAM,
        below => below.and_then(|below| below.strip_prefix('-')).unwrap_or_default(),
    };
    let own = examples::of(name);
    if own.is_empty() {
        return;
    }
    roff.control("SH", ["EXAMPLES"]);
    for (line, says) in own {
        roff.control("TP", []).text([roman(*says)]);
        roff.text([bold(line.replacen(PROGRAM, program, 1))]);
    }
}

fn add_exit_status(roff: &mut Roff) {
    roff.control("SH", ["EXIT STATUS"]);
    for (status, means) in [
        ("0", "Done; also when the reader of standard output closed it early."),
        ("1", "A check failed."),
        ("2", "The command line or an input is wrong, or an output cannot be opened."),
        ("3", "Writing failed midway."),
        (
            "130",
            "Interrupted. Rows of finished runs are printed and marked, no file is written, and a message says what is missing.",
        ),
    ] {
        roff.control("TP", []).text([bold(status)]).text([roman(means)]);
    }
}

/// Lists the related pages: the parent command, the parent's other commands, and the subcommands.
fn add_see_also(roff: &mut Roff, command: &Command, root: &Command) {
    let own = page_name(command);
    let is_around = |other: &&Command| {
        let (name, of) = (page_name(other), |below: &str, above: &str| {
            below.strip_prefix(above).is_some_and(|rest| rest.starts_with('-'))
        });
        name != own
            && (of(own, name) || of(name, own) || root.get_subcommands().any(|sub| page_name(sub) == name))
    };
    let pages: Vec<_> = all(root).into_iter().filter(is_around).map(page_name).collect();
    roff.control("SH", ["SEE ALSO"]);
    let last = pages.len().saturating_sub(1);
    let named =
        |(index, name): (usize, &&str)| [bold(*name), roman(if index == last { "(1)" } else { "(1), " })];
    roff.text(pages.iter().enumerate().flat_map(named).collect::<Vec<_>>());
}
