//! The keys for the number of runs and for their measurements. They change no run, and results list them separately from the scenario.

use super::read::{self, put};
use super::row::{Heading, Key, row};
use crate::kind::Kind;
use crate::named_link::{links, show_links};
use crate::windows::{show_windows, windows};

const RUN: Key = row(Heading::Runs);

pub(super) const KEYS: &[Key] = &[
    Key {
        name: "runs",
        kind: Kind::Count(1_000_000),
        brief: "Runs of each scheme, each with its seed [1]",
        help: "Runs of each scheme, each with its own seed; fields become means, each with its FIELD_ci95",
        default: Some("1"),
        examples: &["3"],
        place: 44,
        parse: |options, text| put(&mut options.plain.runs, read::runs(text)),
        show: |path| Some(path.runs.to_string()),
        ..RUN
    },
    Key {
        name: "seed",
        kind: Kind::Count(u64::MAX),
        help: "First seed",
        default: Some("1"),
        examples: &["7"],
        real: true,
        place: 43,
        parse: |options, text| put(&mut options.plain.seed, read::seed(text)),
        show: |path| Some(path.seed.to_string()),
        ..RUN
    },
    Key {
        name: "windows",
        kind: Kind::Text("TIME..TIME,..."),
        help: "Windows of time whose utilisation, goodput and drops each row has too, as in 10s..70s",
        default: Some("none"),
        examples: &["0s..1s,200ms..500ms"],
        place: 54,
        parse: |options, text| put(&mut options.plain.windows, windows(text)),
        show: |path| show_windows(&path.windows),
        ..RUN
    },
    Key {
        name: "links",
        kind: Kind::Text("LINK,..."),
        help: "Links that windows and slots measure in addition to the bottleneck, as in reverse:1,from:0/0",
        default: Some("none"),
        examples: &["forward:1,reverse:1,from:0/0"],
        place: 58,
        parse: |options, text| put(&mut options.plain.measured_links, links(text)),
        show: |path| show_links(&path.measured_links),
        ..RUN
    },
];
