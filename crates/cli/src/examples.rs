//! The examples of each command, which its full help and its manual page show. Tests run them.

/// A command line and its purpose.
pub(crate) type Example = (&'static str, &'static str);

/// The program's name in the examples.
pub(crate) const PROGRAM: &str = "firstflight";

/// Returns the examples of a command, which is given as `firstflight`, `race` or `model quick-start`.
pub(crate) fn of(command: &str) -> &'static [Example] {
    EXAMPLES.iter().find(|(name, _)| *name == command).map_or(&[], |(_, examples)| examples)
}

/// The examples of each command. An example comes after the examples that write the files it reads.
pub(crate) const EXAMPLES: &[(&str, &[Example])] = &[
    (
        PROGRAM,
        &[
            ("firstflight race --rate 20mbit --rtt 60ms", "Which start-up is best over this path?"),
            ("firstflight race --rate 20mbit --rtt 60ms --report race.html", "The same, drawn."),
            ("firstflight schemes", "What there is to race."),
            ("firstflight help race", "All options of a command, and its examples."),
        ],
    ),
    (
        "race",
        &[
            (
                "firstflight race --rate 20mbit --rtt 60ms --queue 0.5bdp --size 200kB",
                "All schemes over a path of your own.",
            ),
            (
                "firstflight race --path quicly-leo --size 2MB",
                "Over a path by name; other options change it.",
            ),
            (
                "firstflight race --rtt 30ms --schemes slow-start,hystart++,paced:first=4",
                "Three schemes, one with a parameter.",
            ),
            ("firstflight race --rate 10mbit --schemes all,-vegas,-bbr", "All schemes but two."),
            (
                "firstflight race --rate 50mbit --rtt 40ms --loss 0.1% --runs 5 --seed 7",
                "Means of five runs, with intervals.",
            ),
            (
                "firstflight race --rate 20mbit --cross tcp:2 --queue fq-codel:1000p",
                "With two bulk flows, through a managed queue.",
            ),
            (
                "firstflight race --rate 2mbit --size 24kB --rounds 3 --restart all",
                "Restart policies after idle times.",
            ),
            (
                "firstflight race --rate 20mbit --pcap captures --events events --csv",
                "Captures and event logs of each scheme, and rows as CSV.",
            ),
            (
                "firstflight race --jitter 1ms --runs 5 --each-run --parquet before.parquet",
                "A row of each run, for `diff` with a later result.",
            ),
            (
                "firstflight race --jitter 1ms --runs 5 --each-run --parquet after.parquet",
                "The later result.",
            ),
        ],
    ),
    (
        "run",
        &[
            ("firstflight run scenarios/asymmetric.toml", "The race that a file describes."),
            (
                "firstflight run scenarios/asymmetric.toml --rate 50mbit --schemes -paced",
                "Over it another rate, and without one of its schemes.",
            ),
            (
                "firstflight run scenarios/asymmetric.toml --duration 2s --json",
                "The option takes the place of the file's size.",
            ),
            (
                "firstflight run scenarios/dumbbell.toml --flows 50 --warm-up none --csv",
                "Fifty flows between hosts instead of thousands.",
            ),
        ],
    ),
    (
        "sweep",
        &[
            (
                "firstflight sweep scenarios/grid.toml --show 17",
                "The command that races one path of a sweep.",
            ),
            (
                "firstflight sweep scenarios/grid.toml --out grid --shard 1/100",
                "A hundredth of it; the same command goes on where it stopped.",
            ),
            (
                "firstflight sweep scenarios/grid.toml --out grid --slurm 500",
                "A script that races it as 500 tasks of Slurm.",
            ),
        ],
    ),
    (
        "diff",
        &[
            ("firstflight diff before.parquet after.parquet", "What changed."),
            (
                "firstflight diff before.parquet after.parquet --assert 'loss<=baseline'",
                "Fail if a scheme loses more.",
            ),
        ],
    ),
    (
        "score",
        &[
            ("firstflight score grid --partial", "What the parts that are there say."),
            ("firstflight score grid --partial --report score.html", "The same, drawn."),
        ],
    ),
    (
        "schemes",
        &[
            ("firstflight schemes", "All schemes, restart policies and avoidance laws."),
            ("firstflight schemes paced", "One, with its parameters."),
            ("firstflight schemes restart --json", "All restart policies, for a program."),
        ],
    ),
    (
        "paths",
        &[
            ("firstflight paths", "All paths that have a name, by their source."),
            ("firstflight paths quicly-leo", "One, with its keys, source and notes."),
            ("firstflight paths --json", "All of them, for a program."),
        ],
    ),
    (
        "replay",
        &[
            ("firstflight replay events/paced.jsonl", "Does the scheme decide again as recorded?"),
            (
                "firstflight replay events/paced.jsonl --scheme hystart",
                "What another scheme would have decided.",
            ),
        ],
    ),
    (
        "paper",
        &[
            ("firstflight paper list", "The papers' figures, and how many of their claims hold."),
            ("firstflight paper run rbp/figure-6", "The values of a figure, and its claims."),
            ("firstflight paper check rbp/figure-6 --json", "What became of its claims, for a program."),
        ],
    ),
    (
        "model",
        &[
            ("firstflight model", "The models that there are."),
            ("firstflight model quick-start --size 250kB", "One, for a transfer."),
            (
                "firstflight model quick-start --sweep size=10kB..10MB --csv",
                "The same over a range of sizes.",
            ),
        ],
    ),
    (
        "packetdrill",
        &[("firstflight packetdrill my-test.pkt", "Does our endpoint do what the script wants?")],
    ),
    (
        "inspect",
        &[
            ("firstflight inspect captures/paced-server.pcapng", "How its connections started."),
            ("firstflight inspect captures/paced-server.pcapng --json", "The same, a JSON object a line."),
            ("firstflight inspect captures/paced-server.pcapng --summary", "All senders together."),
            (
                "firstflight inspect captures/paced-client.pcapng --filter port=5001 --csv",
                "Senders to or from a port, as rows.",
            ),
            (
                "firstflight inspect captures/paced-client.pcapng --as-race",
                "The race of all schemes over the path that was seen.",
            ),
        ],
    ),
    (
        "emulate",
        &[
            (
                "firstflight emulate --rtt 40ms -- iperf3 -c {B} -t 5 -- iperf3 -s -1",
                "An upload between two programs.",
            ),
            ("firstflight emulate --rate 20mbit --rtt 40ms --shell", "A shell at one end of a path."),
        ],
    ),
    (
        "serve",
        &[
            (
                "firstflight serve . --schemes hystart++,paced",
                "The files of this folder, by one start-up on port 4433 and another on 4434.",
            ),
            ("firstflight serve . --uploads --force", "Files into this folder, over those that are there."),
        ],
    ),
    (
        "get",
        &[
            (
                "firstflight get 127.0.0.1:4433/file --output here",
                "A file from `serve`, compared by SHA-256.",
            ),
            ("firstflight get 127.0.0.1:4433/ --list", "What is served."),
            (
                "firstflight get 127.0.0.1:4433/sub/ 127.0.0.1:4433/file",
                "A folder, with all that is in it, and a file.",
            ),
        ],
    ),
    (
        "put",
        &[
            (
                "firstflight put file 127.0.0.1:4433 --schemes slow-start,hystart++ --json",
                "A file to `serve --uploads` by two start-ups, with a row for each.",
            ),
            ("firstflight put sub a b 127.0.0.1:4433", "A folder, with all that is in it, and two files."),
        ],
    ),
    (
        "probe",
        &[
            (
                "firstflight probe --rate 10mbit --rtt 40ms --cross 3.6mbit",
                "What is available, by trains, and in truth.",
            ),
            (
                "firstflight probe --rate 10mbit --cross 3.6mbit --probe paper --runs 20",
                "PTR's published loop, 20 times.",
            ),
            (
                "firstflight probe --rate 10mbit --cross 3.6mbit --figure gaps.svg",
                "Gap difference over source gap.",
            ),
            (
                "firstflight probe 127.0.0.1:4432 --runs 5",
                "A real path, five times, to where `firstflight reflect` runs.",
            ),
            (
                "firstflight probe 127.0.0.1:4433 --each-train --csv",
                "By the ACKs of `firstflight serve` alone; each train as CSV.",
            ),
        ],
    ),
    (
        "reflect",
        &[(
            "firstflight reflect --bind 0.0.0.0",
            "The far end of probings, at every address of this machine.",
        )],
    ),
    (
        "compare",
        &[
            (
                "firstflight compare --rate 20mbit --rtt 40ms --schemes slow-start,paced",
                "Two schemes simulated, on sockets, and in this kernel's TCP.",
            ),
            (
                "firstflight compare --rtt 40ms --schemes hystart++ --runs 5 --csv",
                "Medians of five runs, with the minimum and the maximum, as CSV.",
            ),
            (
                "firstflight compare --rtt 40ms --habitats sim-rfc,sim-linux",
                "The simulator's two stacks, which needs no rights.",
            ),
        ],
    ),
    (
        "watch",
        &[
            ("firstflight watch", "The start-ups of this machine, until Ctrl-C; then the report."),
            (
                "firstflight watch --port 443 --rows rows.jsonl --listen 127.0.0.1:9099",
                "A server's, as rows and as metrics.",
            ),
            (
                "firstflight watch --compare rows.jsonl --groups cubic,ff_hystart_pp",
                "Which of two that ran at the same time is better for users.",
            ),
            (
                "firstflight watch --compare before.parquet after.parquet",
                "What a deployment changed; needs neither root nor the feature `kernel`.",
            ),
        ],
    ),
    (
        "kernel",
        &[
            ("firstflight kernel list", "What is loaded, and what can be."),
            (
                "firstflight kernel load hystart++",
                "A scheme for as long as the command runs; sockets may choose it.",
            ),
            (
                "firstflight kernel load limited --handover reno --pin",
                "One that stays when the command has ended.",
            ),
            (
                "firstflight kernel load hystart++ --to 192.0.2.0/24 --share 5%",
                "For new connections with 5% of the peers in a prefix.",
            ),
            ("firstflight kernel undo", "Takes back all of it."),
            (
                "firstflight kernel run hystart --rtt 40ms -- iperf3 -c {B} -- iperf3 -s -1",
                "Programs at the ends of a path, with a scheme at the sender.",
            ),
        ],
    ),
    (
        "demo",
        &[
            ("firstflight demo", "All schemes, in seconds."),
            ("firstflight demo --report demo.html", "The same, drawn."),
        ],
    ),
    (
        "doctor",
        &[
            ("firstflight doctor", "What works here as this user."),
            ("firstflight doctor --json", "The same for a program."),
        ],
    ),
    ("completions", &[("firstflight completions bash", "To be put where the shell looks for completions.")]),
    (
        "man",
        &[
            ("firstflight man race", "The page of a command, for `man -l -`."),
            ("firstflight man --dir man1", "All pages, for a folder of the manual's section 1."),
        ],
    ),
];

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::args::Cli;

    #[test]
    fn every_command_has_examples_and_every_example_is_of_its_command() {
        for command in Cli::command().get_subcommands() {
            assert!(!of(command.get_name()).is_empty(), "{}", command.get_name());
        }
        for (name, examples) in EXAMPLES {
            for (line, says) in *examples {
                let words: Vec<&str> = line.split_whitespace().collect();
                assert_eq!(words[0], PROGRAM, "{line}");
                assert!(*name == PROGRAM || words[1] == *name, "{line}");
                assert!(
                    says.ends_with(['.', '?']) && line.len() <= 76,
                    "{line}: clap would break it at 80 columns"
                );
                if words[1] != "help" {
                    Cli::try_parse_from(&words).unwrap_or_else(|error| panic!("{line}: {error}"));
                }
            }
        }
    }
}
