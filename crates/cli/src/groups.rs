//! The commands in groups, as the help and the manual list them.

use std::fmt::Write as _;

use clap::Command;
use firstflight_report::prose;

use crate::output;

/// The groups, each with its heading and the names of its commands.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Simulate", &["race", "run", "sweep", "score", "diff"]),
    ("Measure", &["inspect", "probe", "reflect", "watch"]),
    ("Real paths", &["emulate", "compare", "serve", "get", "put", "kernel"]),
    ("Reproduce", &["paper", "model", "replay", "packetdrill"]),
    ("About", &["demo", "doctor", "schemes", "paths", "man", "completions", "help"]),
];

/// The maximum width of the help.
pub(crate) const WIDTH: usize = 100;

/// Returns the groups of a command's subcommands, each with its heading.
pub(crate) fn groups(command: &Command) -> impl Iterator<Item = (&'static str, Vec<&Command>)> {
    let find = |name: &&str| command.get_subcommands().find(|below| below.get_name() == *name);
    GROUPS.into_iter().map(move |(heading, names)| (heading, names.iter().filter_map(find).collect()))
}

/// Returns the description of a command in one line.
pub(crate) fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

/// Returns a description without the clauses at its end that make it longer than `room`.
fn fitting(about: &str, room: usize) -> &str {
    let is_whole = about.chars().count() <= room;
    let mut clauses = about.match_indices([';', ':', ',']).map(|(at, _)| about.get(..at).unwrap_or(about));
    let fits = |clause: &&str| clause.chars().count() <= room;
    if is_whole { about } else { clauses.rfind(fits).unwrap_or(about) }
}

/// Returns the command with its subcommands listed in groups. Clap has groups of options only. The short help has a line for each command.
pub(crate) fn grouped(command: Command, is_short: bool) -> Command {
    let width = output::stdout_width().map_or(WIDTH, |width| width.min(WIDTH));
    // Clap adds the command `help` when it builds a command.
    let mut built = command.clone();
    built.build();
    let wide = groups(&built).flat_map(|(_, group)| group).map(|below| below.get_name().len()).max();
    let wide = wide.unwrap_or(0);
    let mut list = String::new();
    for (heading, group) in groups(&built) {
        // Writing to a string cannot fail.
        let _ = writeln!(list, "{heading}:");
        // A short help names the other helps below.
        for below in group.into_iter().filter(|below| !is_short || below.get_name() != "help") {
            let about = about(below);
            let about = if is_short { fitting(&about, width.saturating_sub(wide + 4)) } else { &about };
            let line = format!("  {:<wide$}  {about}", below.get_name());
            let _ = writeln!(list, "{}", prose::fold(&line, Some(width), wide + 2));
        }
        list.push_str(if is_short { "" } else { "\n" });
    }
    list.push_str(if is_short { "\n" } else { "" });
    command.help_template(format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}Options:\n{{options}}{{after-help}}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use crate::doctor::PARTS;
    use clap::CommandFactory as _;

    #[test]
    fn every_command_is_in_one_group() {
        let mut command = Cli::command();
        command.build();
        let mut shown: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        shown.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, shown);
    }

    #[test]
    fn every_command_except_those_about_the_program_is_in_one_part_of_doctor() {
        let about = GROUPS.iter().find(|(heading, _)| *heading == "About").expect("a group").1;
        let commands = GROUPS.iter().flat_map(|(_, names)| names.iter().copied());
        let mut wanted: Vec<&str> = commands.filter(|name| !about.contains(name)).collect();
        let mut tried: Vec<&str> = PARTS.iter().flat_map(|part| part.commands.iter().copied()).collect();
        wanted.sort_unstable();
        tried.sort_unstable();
        assert_eq!(tried, wanted);
    }
}
