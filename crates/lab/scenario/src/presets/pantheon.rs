//! The calibrated emulators of Pantheon.

use super::row::{Preset, Source};

const SOURCE: Source = Source {
    name: "Pantheon",
    address: "https://github.com/StanfordSNR/observatory",
    file: "src/scripts/experiments.yml",
    commit: "84f9454890d25cc7d480eb8272c9e375bccaa8b5",
    licence: "no licence file",
    notes: &[
        "Pantheon calibrated the figures so that its emulator behaves as the path that it measured.",
        "Each direction has the rate and half of the RTT. The queue is of the data's direction; the reverse path has no limit.",
        "The source also limits the direction of the data only, and counts the queue in packets.",
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

const POISSON: &str = "In the source packets are delivered at the times of a Poisson process of this mean rate. Here the rate is constant, \
                       which is not the same path: queues build up less often.";

pub(super) const PRESETS: &[Preset] = &[
    Preset {
        name: "pantheon-nepal-india",
        title: "Nepal to AWS India",
        entry: "scenario 1",
        queue: "14 packets",
        words: &[
            ("rate", "570kbit"),
            ("reverse-rate", "570kbit"),
            ("rtt", "56ms"),
            ("queue", "14p"),
            ("loss", "4.77%"),
        ],
        notes: &[POISSON, "The loss is in the direction of the data."],
        ..PRESET
    },
    Preset {
        name: "pantheon-mexico-california",
        title: "Mexico, mobile, to AWS California",
        entry: "scenario 2",
        queue: "130 packets",
        words: &[("rate", "2640kbit"), ("reverse-rate", "2640kbit"), ("rtt", "176ms"), ("queue", "130p")],
        notes: &[POISSON],
        ..PRESET
    },
    Preset {
        name: "pantheon-brazil-colombia",
        title: "AWS Brazil to Colombia, mobile",
        entry: "scenario 3",
        queue: "426 packets",
        words: &[("rate", "3040kbit"), ("reverse-rate", "3040kbit"), ("rtt", "260ms"), ("queue", "426p")],
        notes: &[POISSON],
        ..PRESET
    },
    Preset {
        name: "pantheon-india-wired",
        title: "India to AWS India",
        entry: "scenario 4",
        queue: "173 packets",
        words: &[("rate", "100420kbit"), ("reverse-rate", "100420kbit"), ("rtt", "54ms"), ("queue", "173p")],
        ..PRESET
    },
    Preset {
        name: "pantheon-korea-china",
        title: "AWS Korea to China",
        entry: "scenario 5",
        queue: "94 packets",
        words: &[
            ("rate", "77720kbit"),
            ("reverse-rate", "77720kbit"),
            ("rtt", "102ms"),
            ("queue", "94p"),
            ("loss", "0.06%"),
        ],
        notes: &["The loss is in the direction of the data."],
        ..PRESET
    },
    Preset {
        name: "pantheon-california-mexico",
        title: "AWS California to Mexico",
        entry: "scenario 6",
        queue: "450 packets",
        words: &[("rate", "114680kbit"), ("reverse-rate", "114680kbit"), ("rtt", "90ms"), ("queue", "450p")],
        ..PRESET
    },
];
