//! The keys of what a path does to packets: their order and number, silences, frames.

use super::path::BOTH_WAYS;
use super::read::{self, put};
use super::row::{Heading, Key, row};
use crate::bottleneck::{self, show_ack_aggregation};
use crate::kind::Kind;
use crate::outage::{Outages, outages};
use crate::quantity::QuantityError;
use crate::reorder::{Reordering, reordering};

const PATH: Key = row(Heading::Path);

pub(super) const KEYS: &[Key] = &[
    Key {
        name: "reorder",
        kind: Kind::Text("SHARE,BY"),
        help: "Displaces a share of the packets at the end of the forward path: 2%,3p lets 3 later ones overtake each, or arrive \
               without them after at most 20ms (or 2%,3p,TIME); 1%,5ms lets each arrive 5 ms later",
        default: Some("none"),
        examples: &["0.02,3p,20ms", "0.01,5ms"],
        excludes: &[BOTH_WAYS],
        real: true,
        place: 71,
        parse: |options, text| put(&mut options.plain.reorder, reordering(text)),
        show: |path| Some(path.reorder?.to_string()),
        title: |path| path.reorder.map(Reordering::describe),
        ..PATH
    },
    Key {
        name: "duplicate",
        kind: Kind::Share,
        help: "Share of the packets that arrive twice at the end of the forward path, both copies at once, such as 1%",
        default: Some("0"),
        examples: &["0.01"],
        excludes: &[BOTH_WAYS],
        real: true,
        place: 73,
        parse: |options, text| {
            const ALLOWED: &str = "the share of duplicates is a fraction below 1, as in `1%` or `0.01`";
            let share = read::loss(text).map_err(|error| QuantityError { allowed: ALLOWED.into(), ..error });
            put(&mut options.plain.duplicate, share)
        },
        show: |path| (!path.duplicate.is_zero()).then(|| path.duplicate.to_string()),
        title: |path| {
            let share = Some(path.duplicate).filter(|share| !share.is_zero())?;
            Some(format!("{} arriving twice", share.in_percent()))
        },
        ..PATH
    },
    Key {
        name: "outage",
        kind: Kind::Text("TIMES"),
        help: "Silences of the bottleneck, in which it sends nothing and its queue waits: 2s..4s,7s..8s, or 200ms,every=2s\
               [,start=TIME]. A packet in transmission pauses. Times are since the simulation began, as of --rate-trace, and it \
               repeats up to --limit",
        default: Some("none"),
        examples: &["2s..4s", "200ms,every=2s", "200ms,every=2s,start=500ms"],
        real: true,
        place: 72,
        parse: |options, text| put(&mut options.plain.outage, outages(text)),
        show: |path| path.outage.as_ref().map(Outages::to_string),
        title: |path| path.outage.as_ref().map(Outages::describe),
        ..PATH
    },
    Key {
        name: "aggregation",
        kind: Kind::SpanOrCount,
        help: "Releases packets in frames at the end of the forward path, as Wi-Fi does: at an interval (4ms), or of a number \
               (16) that waits for 20ms at most (or 16,TIME)",
        default: Some("none"),
        examples: &["4ms", "16,5ms"],
        excludes: &[BOTH_WAYS],
        real: true,
        place: 74,
        parse: |options, text| put(&mut options.plain.aggregation, bottleneck::aggregation(text)),
        show: |path| path.aggregation.map(show_ack_aggregation),
        title: |path| path.aggregation.map(bottleneck::describe_aggregation),
        ..PATH
    },
];
