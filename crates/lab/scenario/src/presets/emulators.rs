//! The paths of emulators of networks: Facebook's Augmented Traffic Control.

use super::row::{Preset, Source};

const SOURCE: Source = Source {
    name: "Augmented Traffic Control (ATC)",
    address: "https://github.com/facebookarchive/augmented-traffic-control",
    file: "utils/profiles/*.json",
    commit: "575720854de4f609b6209028857ec8d81efcf654",
    licence: "BSD-3-Clause",
    notes: &[
        "The source states a rate, a delay and a loss for each direction. The RTT is the sum of the delays.",
        "The source states no queue. The queue of 1,000 packets in each direction is the default of Linux's netem, with which ATC delays.",
        "ATC also drops packets that exceed the rate by more than 12,000 bytes, unless it is started with --dont-drop-packets. The profiles \
         do not state this and the preset leaves it out; --policer adds it, with the rate and 12kB.",
    ],
};

const PRESET: Preset = Preset {
    name: "",
    aliases: &[],
    title: "",
    source: &SOURCE,
    entry: "",
    queue: "",
    words: &[],
    notes: &[],
};

pub(super) const PRESETS: &[Preset] = &[
    Preset {
        name: "atc-3g-average",
        title: "3G, average",
        entry: "3G-Average",
        words: &[
            ("rate", "780kbit"),
            ("reverse-rate", "330kbit"),
            ("rtt", "200ms"),
            ("queue", "1000p"),
            ("reverse-queue", "1000p"),
        ],
        ..PRESET
    },
    Preset {
        name: "atc-3g-good",
        title: "3G, good",
        entry: "3G-Good",
        words: &[
            ("rate", "850kbit"),
            ("reverse-rate", "420kbit"),
            ("rtt", "190ms"),
            ("reverse-rtt-share", "0.526315789"),
            ("queue", "1000p"),
            ("reverse-queue", "1000p"),
        ],
        notes: &["Of the RTT, 100 ms are on the reverse path."],
        ..PRESET
    },
    Preset {
        name: "atc-edge-average",
        title: "EDGE, average",
        entry: "Edge-Average",
        words: &[
            ("rate", "240kbit"),
            ("reverse-rate", "200kbit"),
            ("rtt", "840ms"),
            ("reverse-rtt-share", "0.523809524"),
            ("queue", "1000p"),
            ("reverse-queue", "1000p"),
        ],
        notes: &["Of the RTT, 440 ms are on the reverse path."],
        ..PRESET
    },
    Preset {
        name: "atc-edge-good",
        title: "EDGE, good",
        entry: "Edge-Good",
        words: &[
            ("rate", "250kbit"),
            ("reverse-rate", "200kbit"),
            ("rtt", "720ms"),
            ("reverse-rtt-share", "0.513888889"),
            ("queue", "1000p"),
            ("reverse-queue", "1000p"),
        ],
        notes: &["Of the RTT, 370 ms are on the reverse path."],
        ..PRESET
    },
    Preset {
        name: "atc-edge-lossy",
        title: "EDGE, lossy",
        entry: "Edge-Lossy",
        words: &[
            ("rate", "240kbit"),
            ("reverse-rate", "200kbit"),
            ("rtt", "840ms"),
            ("reverse-rtt-share", "0.523809524"),
            ("queue", "1000p"),
            ("reverse-queue", "1000p"),
            ("loss", "1%"),
            ("ack-loss", "1%"),
        ],
        notes: &["Of the RTT, 440 ms are on the reverse path."],
        ..PRESET
    },
    Preset {
        name: "atc-2g-urban",
        title: "2G in a town of a developing country",
        entry: "2G-DevelopingUrban",
        words: &[
            ("rate", "35kbit"),
            ("reverse-rate", "32kbit"),
            ("rtt", "1300ms"),
            ("queue", "1000p"),
            ("reverse-queue", "1000p"),
        ],
        ..PRESET
    },
    Preset {
        name: "atc-2g-rural",
        title: "2G in the country of a developing country",
        entry: "2G-DevelopingRural",
        words: &[
            ("rate", "20kbit"),
            ("reverse-rate", "18kbit"),
            ("rtt", "1300ms"),
            ("queue", "1000p"),
            ("reverse-queue", "1000p"),
            ("loss", "2%"),
            ("ack-loss", "2%"),
        ],
        ..PRESET
    },
    Preset {
        name: "atc-cable",
        title: "Cable",
        entry: "Cable",
        words: &[
            ("rate", "6mbit"),
            ("reverse-rate", "1mbit"),
            ("rtt", "4ms"),
            ("queue", "1000p"),
            ("reverse-queue", "1000p"),
        ],
        ..PRESET
    },
    Preset {
        name: "atc-dsl",
        title: "DSL",
        entry: "DSL",
        words: &[
            ("rate", "2mbit"),
            ("reverse-rate", "256kbit"),
            ("rtt", "10ms"),
            ("queue", "1000p"),
            ("reverse-queue", "1000p"),
        ],
        ..PRESET
    },
];
