//! Completions and the manual page, made from the command line itself.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Cli;
use crate::failure::Failure;

/// The completions for `shell`.
pub(crate) fn completions(shell: Shell, program: &str) -> Result<String, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), program, &mut text);
    String::from_utf8(text).map_err(Failure::write)
}

/// The manual page: the command, then each of its commands.
pub(crate) fn manual(program: &str) -> Result<String, Failure> {
    let mut text = Vec::new();
    let command = Cli::command().display_name(program).bin_name(program);
    clap_mangen::Man::new(command.clone()).render(&mut text).map_err(Failure::write)?;
    for subcommand in command.get_subcommands() {
        let name = format!("{program} {}", subcommand.get_name());
        let subcommand = subcommand.clone().display_name(name.clone()).bin_name(name);
        clap_mangen::Man::new(subcommand).render(&mut text).map_err(Failure::write)?;
    }
    String::from_utf8(text).map_err(Failure::write)
}
