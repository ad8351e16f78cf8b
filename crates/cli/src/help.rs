//! The help of each command: a short one that fits a screen (`-h`), and the full one with examples (`--help`).

use clap::{Arg, Command};
use firstflight_scenario::keys::{Key, key};

use crate::examples::{self, PROGRAM};
use crate::groups::grouped;
use crate::keys::SCHEMES;

/// Arguments other than keys, each with its line in the short help of the commands that have it.
const BRIEF: [(&str, &str); 19] = [
    ("scenario", "A file, as in scenarios/; options take its place"),
    (SCHEMES, "all, or NAME[:k=v…],…; -NAME takes one away [all]"),
    ("jobs", "Runs at a time [the number of processors]"),
    ("json", "Print only JSON, one line for each row"),
    ("report", "Write a page that opens offline"),
    ("pcap", "Write captures of both ends"),
    ("captures", "pcap or pcapng, also gzip; - is standard input"),
    ("filter", "Only senders such as bytes_sent>1MB or port=443"),
    ("summary", "Print only the summary over all senders"),
    ("as_race", "Print the race over the path that each sender saw"),
    ("seen_at", "The captures' place: sender, receiver or address"),
    ("separate", "Treat each file as a separate capture"),
    ("all", "Show short and small senders too"),
    ("shell", "A shell at host A instead of commands"),
    ("habitats", "Some of sim-rfc, live-rfc, sim-linux, live-linux, kernel, kernel-bpf"),
    ("log", "Write each packet and its fate as pcapng"),
    ("scheme", "The scheme, with parameters as in race --schemes"),
    ("handover", "Who takes over after start-up"),
    ("name", "The name to register [the scheme's own]"),
];

/// The lines of the short help of one command, each as (command, argument, line).
const OWN: [(&str, &str, &str); 53] = [
    ("score", "folder", "The folder that `sweep --out` wrote"),
    ("score", "partial", "Score the parts that are there, even if some are missing"),
    ("score", "of", "Only paths that meet these, as in loss<=0.1%,cross=none"),
    ("score", "full", "Print every table: each class by itself"),
    ("score", "conditions", "Fail unless this holds, as in leap.cost_median<=1.6"),
    ("diff", "before", "A file of rows, or the folder of a sweep"),
    ("diff", "after", "The same, after"),
    ("diff", "numbers", "Compare these numbers, as in cost,su_loss"),
    ("diff", "full", "Show equal numbers too"),
    ("diff", "conditions", "Fail unless this holds, as in cost<=baseline*1.05"),
    ("serve", "folder", "The folder"),
    ("serve", "uploads", "Take files from `put`, instead of sending files"),
    ("serve", "force", "With --uploads: replace files that are there"),
    ("serve", "schemes", "Schemes, a port each [hystart++:avoidance=cubic]"),
    ("serve", "bind", "The address to listen at"),
    ("serve", "port", "The first UDP port"),
    ("serve", "timeout", "How long to wait for a silent peer"),
    ("serve", "pcap", "Write a capture of each connection"),
    ("get", "from", "Files; a path that ends in / is a folder"),
    ("get", "list", "Print what is in the folders, and fetch nothing"),
    ("get", "output", "The file, or the folder to write into; - is stdout"),
    ("get", "force", "Replace files that are there"),
    ("get", "timeout", "How long to wait for a silent peer"),
    ("get", "pcap", "Write a capture of the connection"),
    ("put", "files", "Files and folders to send"),
    ("put", "to", "The server, and the path there [the file's name]"),
    ("put", "schemes", "Schemes, a copy each [hystart++:avoidance=cubic]"),
    ("put", "timeout", "How long to wait for a silent peer"),
    ("put", "pcap", "Write a capture of each connection"),
    ("probe", "peer", "A real path: where `reflect` or `serve` listens"),
    ("probe", "by", "Who reports arrivals: any, reflector or acks [any]"),
    ("probe", "timeout", "How long the peer may take to answer [5s]"),
    ("probe", "probe", "bracket, paper, program or gap:TIME [bracket]"),
    ("probe", "each_train", "Print every train's row instead"),
    ("probe", "figure", "Write gap difference over source gap as SVG"),
    ("emulate", "duration", "How long the run lasts [as long as host A's command]"),
    ("emulate", "cross", "Cross traffic: 40mbit or onoff:RATE,ON,OFF [none]"),
    ("emulate", "json", "Print only JSON, one line"),
    ("compare", "size", "Bytes to transfer [2MB]"),
    ("compare", "cross", "Cross traffic: 40mbit or onoff:RATE,ON,OFF [none]"),
    ("inspect", "wide", "Show every column"),
    ("inspect", "columns", "Show these columns, by their names in --json"),
    ("inspect", "csv", "Print CSV"),
    ("inspect", "parquet", "Write Parquet"),
    ("watch", "compare", "Compare two files of --parquet instead"),
    ("watch", "json", "Print only JSON, a line for each start-up"),
    ("watch", "summary", "Print only the summary in the end"),
    ("watch", "parquet", "Write Parquet"),
    ("watch", "openmetrics", "Keep a text of OpenMetrics up to date"),
    ("watch", "duration", "How long it lasts [until it is interrupted]"),
    ("watch", "port", "Only sockets of this port of this machine"),
    ("watch", "netns", "Only the network namespace of this file"),
    ("watch", "loopback", "Connections of this machine with itself too"),
];

/// Commands that have too many options for their short help, which lists only the options that are used often.
const LONG: [&str; 12] = [
    "race", "run", "score", "diff", "probe", "inspect", "emulate", "compare", "serve", "get", "put", "watch",
];

const EXIT_STATUS: &str = "Exit status: 0 done; 1 a check failed; 2 usage or input, outputs that cannot be opened \
    included; 3 writing failed midway; 130 interrupted.";

/// Returns the command with its short help.
pub(crate) fn short(command: Command, program: &str) -> Command {
    let command = grouped(command, true)
        .after_help(format!("Help of a command: {program} race -h; all of it: {program} race --help"));
    command.mut_subcommands(|command| {
        let name = command.get_name().to_owned();
        let more = format!("All options and examples: {program} {name} --help");
        let command = if LONG.contains(&name.as_str()) {
            command.mut_args(|option| shorten(&name, option))
        } else {
            command
        };
        let text = noted(&command, &more);
        command.after_help(text).mut_subcommands(|below| below_short(&name, below, program))
    })
}

/// Returns the command of a subcommand with its short help, for example of `kernel run`, which has the options of `emulate`.
fn below_short(above: &str, command: Command, program: &str) -> Command {
    if above != "kernel" || command.get_name() != "run" {
        return command;
    }
    let command = command.mut_args(|option| shorten("emulate", option));
    let text = noted(&command, &format!("All options: {program} kernel run --help"));
    command.after_help(text)
}

/// Returns the notes that a command shows below its options, with `text` appended.
fn noted(command: &Command, text: &str) -> String {
    command.get_after_help().map_or_else(|| text.to_owned(), |note| format!("{note}\n\n{text}"))
}

/// Returns the option with its line of the short help. An option without a line is hidden.
fn shorten(command: &str, option: Arg) -> Arg {
    let name = option.get_id().as_str();
    let own = OWN.iter().find(|(of, brief, _)| *of == command && *brief == name).map(|(.., line)| *line);
    let brief = BRIEF.iter().find(|(brief, _)| *brief == name).map(|(_, line)| *line);
    match own.or(brief).or(key(name).map(|key: &Key| key.brief)).filter(|line| !line.is_empty()) {
        Some(line) => option.help(line),
        None => option.hide(true),
    }
}

/// Returns the command with its full help.
pub(crate) fn whole(command: Command, program: &str) -> Command {
    let own = format!("{}\n{EXIT_STATUS}", shown(PROGRAM, program));
    let command = grouped(command, false).after_help(own);
    command.mut_subcommands(|command| {
        let text = noted(&command, &shown(command.get_name(), program));
        command.after_help(text)
    })
}

/// Formats the examples of a command as a section of its help.
fn shown(command: &str, program: &str) -> String {
    let each =
        |(line, says): &examples::Example| format!("  {says}\n    {}\n", line.replacen(PROGRAM, program, 1));
    let examples: String = examples::of(command).iter().map(each).collect();
    if examples.is_empty() { examples } else { format!("Examples:\n{examples}") }
}
