//! A wrong command line gets one clear line, exit 2, and no partial output.

use firstflight::registry;

use crate::common::{folder, names, refused, run, status, stderr, stdout, text};

/// A race short enough to run in every test.
const SHORT: [&str; 7] = ["race", "--rate", "10mbit", "--rtt", "20ms", "--size", "50kB"];

fn short(more: &[&'static str]) -> Vec<&'static str> {
    SHORT.iter().chain(more).copied().collect()
}

#[test]
fn a_rate_of_zero_is_refused() {
    let line = refused(&["race", "--rate", "0mbit"]);
    assert!(line.contains("--rate") && line.contains("`0mbit`"), "{line}");
}

#[test]
fn negative_and_non_finite_quantities_are_refused() {
    for (option, value) in [
        ("--rate", "-5mbit"),
        ("--rate", "nan"),
        ("--rtt", "-80ms"),
        ("--rtt", "inf"),
        ("--size", "0B"),
        ("--duration", "0s"),
        ("--duration", "-1s"),
        ("--packet", "0B"),
        ("--iw", "0p"),
        ("--runs", "0"),
        ("--jobs", "0"),
        ("--loss", "101%"),
        ("--jitter", "-1ms"),
    ] {
        let line = refused(&["race", option, value]);
        assert!(line.contains(option) && line.contains(&format!("`{value}`")), "{option} {value}: {line}");
    }
}

#[test]
fn a_queue_without_a_known_unit_is_refused_with_what_is_allowed() {
    let line = refused(&["race", "--queue", "12x"]);
    assert!(line.contains("--queue") && line.contains("`12x`") && line.contains("bdp"), "{line}");
}

#[test]
fn the_caret_points_at_the_value() {
    let output = run(&["race", "--queue", "12x"]);
    assert!(
        stderr(&output).ends_with("\n  | firstflight race --queue 12x\n  |                          ^^^\n"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn an_unknown_scheme_is_refused_with_the_closest_one() {
    let line = refused(&["race", "--schemes", "slow-start,hystrat"]);
    assert!(line.contains("`hystrat`") && line.contains("`hystart`"), "{line}");
}

#[test]
fn an_unknown_parameter_is_refused_by_name() {
    let line = refused(&["race", "--schemes", "limited:max-sstresh=50"]);
    assert!(line.contains("max-sstresh") && line.contains("max-ssthresh"), "{line}");
}

#[test]
fn an_unknown_option_is_refused_with_the_closest_one() {
    let line = refused(&["race", "--rtte", "80ms"]);
    assert!(line.contains("`--rtte`") && line.contains("`--rtt`"), "{line}");
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    for pair in [["--mss", "1460", "--packet", "1500B"], ["--size", "1MB", "--duration", "5s"]] {
        refused(&[&["race"], &pair[..]].concat());
    }
    refused(&["race", "--json", "--csv"]);
}

#[test]
fn a_report_that_cannot_be_written_is_refused_before_anything_runs() {
    let place = folder("unwritable-report");
    let missing = place.join("missing").join("report.html");
    let line = refused(&[&SHORT[..], &["--report", text(&missing)]].concat());
    assert!(line.contains("missing/report.html"), "{line}");
    let line = refused(&[&SHORT[..], &["--report", text(&place)]].concat());
    assert!(line.contains(text(&place)), "{line}");
    assert_eq!(names(&place), Vec::<String>::new());
}

#[test]
fn an_unwritable_parquet_file_or_folder_is_refused_before_the_run() {
    let place = folder("unwritable-others");
    let file = place.join("file");
    std::fs::write(&file, "kept").expect("a file");
    let inside = file.join("inside");
    for option in ["--parquet", "--pcap", "--events", "--qlog"] {
        let line = refused(&[&SHORT[..], &[option, text(&inside)]].concat());
        assert!(line.contains("file/inside"), "{option}: {line}");
    }
    assert_eq!(names(&place), ["file"]);
    assert_eq!(std::fs::read_to_string(&file).expect("still there"), "kept");
}

#[test]
fn a_refused_race_leaves_an_earlier_report_alone() {
    let place = folder("refused-keeps-report");
    let report = place.join("report.html");
    std::fs::write(&report, "an earlier one").expect("a file");
    refused(&["race", "--rate", "0mbit", "--report", text(&report)]);
    assert_eq!(std::fs::read_to_string(&report).expect("still there"), "an earlier one");
    assert_eq!(names(&place), ["report.html"]);
}

#[test]
fn a_typo_in_a_scenario_is_shown_in_its_line() {
    let place = folder("typo");
    let scenario = place.join("typo.toml");
    std::fs::write(&scenario, "rate = \"10mbit\"\nqeue = \"10p\"\n").expect("a file");
    let line = refused(&["run", text(&scenario)]);
    assert!(line.contains("`qeue`") && line.contains("`queue`"), "{line}");
    let err = stderr(&run(&["run", text(&scenario)]));
    assert!(err.contains("typo.toml:2:1\n  | qeue = \"10p\"\n  | ^^^^\n"), "{err}");
}

#[test]
fn a_wrong_value_in_a_scenario_is_shown_in_its_line() {
    let place = folder("wrong-value");
    let scenario = place.join("zero.toml");
    std::fs::write(&scenario, "rtt = \"20ms\"\nrate = \"0mbit\"\n").expect("a file");
    let line = refused(&["run", text(&scenario)]);
    assert!(line.contains("`0mbit`"), "{line}");
    let err = stderr(&run(&["run", text(&scenario)]));
    assert!(err.contains("zero.toml:2:8\n"), "{err}");
}

#[test]
fn a_scenario_that_is_not_there_or_not_toml_is_refused() {
    let place = folder("no-scenario");
    let line = refused(&["run", text(&place.join("none.toml"))]);
    assert!(line.contains("none.toml"), "{line}");
    let broken = place.join("broken.toml");
    std::fs::write(&broken, "rate = [\n").expect("a file");
    refused(&["run", text(&broken)]);
    std::fs::write(&broken, b"rate = \"\xff\"\n").expect("a file");
    refused(&["run", text(&broken)]);
    refused(&["run", text(&place)]);
}

#[test]
fn help_version_completions_and_the_manual_are_printed() {
    for arguments in
        [&["--help"][..], &["race", "--help"], &["--version"], &["completions", "bash"], &["man"]]
    {
        let output = run(arguments);
        assert_eq!((status(&output), stderr(&output)), (0, String::new()), "{arguments:?}");
        assert!(stdout(&output).contains("firstflight"), "{arguments:?}");
    }
}

/// Returns the entries `names` of `firstflight schemes --json`.
fn listed(names: &[&str]) -> Vec<serde_json::Value> {
    let json = stdout(&run(&[&["schemes", "--json"], names].concat()));
    json.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect()
}

#[test]
fn schemes_lists_every_scheme_policy_and_law_with_its_source() {
    let table = stdout(&run(&["schemes"]));
    let all = listed(&[]);
    let kinds = [
        ("scheme", registry::schemes().iter().map(|entry| entry.name).collect::<Vec<_>>()),
        ("restart", registry::restarts().iter().map(|entry| entry.name).collect()),
        ("avoidance", registry::laws().iter().map(|entry| entry.name).collect()),
    ];
    assert_eq!(all.len(), kinds.iter().map(|(_, names)| names.len()).sum::<usize>());
    for (kind, names) in kinds {
        for name in names {
            assert!(table.lines().any(|line| line.starts_with(&format!("{name} "))), "{name} in {table}");
            let object = all.iter().find(|object| object["kind"] == kind && object["name"] == *name);
            let object = object.unwrap_or_else(|| panic!("{kind} {name}"));
            for key in ["source", "summary"] {
                assert!(object[key].as_str().is_some_and(|text| !text.is_empty()), "{key} of {object}");
            }
            assert!(object["state_bytes"].as_u64().is_some_and(|bytes| bytes > 0), "{object}");
            assert!(object["parameters"].is_array() && object["needs"].is_array(), "{object}");
            assert_eq!(object["avoidance"].is_string(), kind == "scheme", "{object}");
        }
    }
    let scale = &listed(&["rbp-rate"])[0]["parameters"][0];
    for key in ["name", "default", "range", "help"] {
        assert!(scale[key].as_str().is_some_and(|text| !text.is_empty()), "{key} of {scale}");
    }
}

#[test]
fn schemes_shows_one_by_its_name_and_a_kind_by_its() {
    let names = |asked| -> Vec<String> {
        let name = |one: &serde_json::Value| format!("{} {}", one["kind"], one["name"]).replace('"', "");
        listed(&[asked]).iter().map(name).collect()
    };
    assert_eq!(names("paced"), ["scheme paced"]);
    assert_eq!(names("vegas"), ["scheme vegas", "avoidance vegas"]);
    assert_eq!(names("restart").len(), registry::restarts().len());
    let text = stdout(&run(&["schemes", "cubic"]));
    assert!(text.starts_with("Avoidance laws") && !text.contains("hystart"), "{text}");
    let line = refused(&["schemes", "pacd"]);
    assert!(line.contains("`pacd`") && line.contains("is `paced` meant?"), "{line}");
    let line = refused(&["schemes", "xxxxxxxxxxxx"]);
    assert!(line.contains("lists all"), "{line}");
}

#[test]
fn invalid_topologies_and_routers_are_refused_with_allowed_values() {
    for (option, value, found, allowed) in [
        ("--topology", "parking-lot", "parking-lot", "`parking-lot:hops=3`"),
        ("--topology", "parking-lot:hops=3,cross=7", "7", "the one hop"),
        ("--topology", "parking-lot:hops=0", "`0`", "at most 100"),
        ("--qs-router", "treshold=95%", "treshold=95%", "`threshold=95%`"),
        ("--qs-router", "threshold=120%", "`120%`", "`threshold=95%`"),
        ("--qs-router", "weight=10%", "weight=10%", "`weight=10%` with ewma"),
        ("--reverse-queue", "1bdp", "1bdp", "`100p` or `64kB`"),
        ("--reverse-queue", "0p", "`0p`", "`100p` or `64kB`"),
    ] {
        let line = refused(&["race", option, value]);
        assert!(
            line.contains(option) && line.contains(found) && line.contains(allowed),
            "{option} {value}: {line}"
        );
        let place = folder("no-sense").join("scenario.toml");
        std::fs::write(&place, format!("{} = \"{value}\"\n", option.trim_start_matches('-')))
            .expect("a file");
        let line = refused(&["run", text(&place)]);
        assert!(line.contains(found) && line.contains(allowed), "{option} {value}: {line}");
    }
}

#[test]
fn help_manual_and_completions_name_every_option_of_a_scenario() {
    let texts =
        [&["race", "--help"][..], &["man", "race"], &["completions", "bash"]].map(|of| stdout(&run(of)));
    for key in firstflight_scenario::keys::names() {
        for text in &texts {
            // The manual page writes hyphens with a backslash.
            assert!(text.replace('\\', "").contains(&format!("--{key}")), "{key}");
        }
    }
}

#[test]
fn command_options_in_a_scenario_file_are_refused_with_the_option_name() {
    let place = folder("options-of-the-command").join("path.toml");
    let help = stdout(&run(&["run", "--help"]));
    let options = help.split_whitespace().filter_map(|word| word.strip_prefix("--"));
    let names: Vec<&str> = options.map(|word| word.trim_end_matches([',', '.', ']', ')', ':'])).collect();
    let own = names.iter().filter(|name| {
        firstflight_scenario::keys::key(name).is_none() && !["help", "version", "schemes"].contains(name)
    });
    let mut count = 0;
    for name in own {
        std::fs::write(&place, format!("rate = \"1mbit\"\n{name} = 1\n")).expect("a file");
        let line = refused(&["run", text(&place)]);
        assert!(
            line.contains(&format!("`{name}` is an option of the command; say --{name} there")),
            "{line}"
        );
        count += 1;
    }
    assert!(count >= 13, "{names:?}");
}

#[test]
fn the_short_race_of_these_tests_is_a_valid_one() {
    let output = run(&short(&["--schemes", "slow-start", "--json"]));
    assert_eq!((status(&output), stderr(&output)), (0, String::new()));
}

#[test]
fn a_command_below_another_is_named_by_those_around_it() {
    let line = refused(&["kernel", "lod"]);
    assert!(line.ends_with("unknown command `lod`; is `load` meant?"), "{line}");
    let line = refused(&["kernel"]);
    assert!(
        line.ends_with("no command given; there are `load`, `list`, `unload`, `undo`, `router`, `run`"),
        "{line}"
    );
}

#[cfg(not(feature = "kernel"))]
#[test]
fn without_the_feature_every_command_of_kernel_says_how_it_is_built() {
    for words in [
        &["kernel", "list"][..],
        &["kernel", "load", "hystart"],
        &["kernel", "unload", "ff_hystart"],
        &["kernel", "run", "hystart", "--", "true", "--", "true"],
    ] {
        let line = refused(words);
        assert!(line.contains("`make kernel`") && line.contains("--features kernel"), "{line}");
    }
}

#[test]
fn the_version_is_one_line_and_with_verbose_the_build_follows() {
    let line = format!("firstflight {}\n", env!("CARGO_PKG_VERSION"));
    for version in ["--version", "-V"] {
        assert_eq!(stdout(&run(&[version])), line);
        for both in [[version, "--verbose"], ["--verbose", version]] {
            let output = run(&both);
            let shown = stdout(&output);
            assert_eq!(status(&output), 0, "{}", stderr(&output));
            let rest = shown.strip_prefix(&line).expect("the version first");
            let names: Vec<_> = rest.lines().filter_map(|line| line.split_whitespace().next()).collect();
            assert_eq!(names, ["commit", "target", "features", "objects", "rustc"], "{shown}");
            let target = format!("target    {}-", std::env::consts::ARCH);
            assert!(rest.contains(&target), "{shown}");
        }
    }
}

#[test]
fn verbose_without_version_is_refused() {
    let line = refused(&["--verbose", "schemes"]);
    assert!(line.contains("`firstflight --version --verbose`"), "{line}");
}
