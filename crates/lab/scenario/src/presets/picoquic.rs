//! The paths of tests of QUIC stacks: picoquic's simulator, and a case of noq.

use super::row::{Preset, Source};

const SOURCE: Source = Source {
    name: "picoquic's simulator",
    address: "https://github.com/private-octopus/picoquic",
    file: "picoquictest/cc_compete_test.c, picohttp/picoquic_ns.c",
    commit: "d199d45be8690dfa8653e214733243524112e3c0",
    licence: "MIT",
    notes: &[
        "The source states the queue as a time, for each direction; it is the bytes that the rate of this direction delivers in this time.",
        "Half of the RTT is on the reverse path.",
    ],
};

const NOQ: Source = Source {
    name: "noq",
    address: "https://github.com/n0-computer/noq/issues/819",
    file: "a comment of 21 September 2026",
    commit: "",
    licence: "none stated",
    notes: &[],
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

const ONE_DIRECTION: &str = "In the source both directions change; here the bottleneck changes, and the reverse path keeps its rate. The times \
                             are from the start of the connection.";
const BYTES_STAY: &str =
    "The queue has the bytes of the highest rate throughout; in the source its bytes follow the rate.";

pub(super) const PRESETS: &[Preset] = &[
    Preset {
        name: "picoquic-blackhole",
        title: "A silence from 2 to 4 s",
        entry: "cc_ns_blackhole_test",
        queue: "80 ms",
        words: &[
            ("rate", "10mbit"),
            ("reverse-rate", "10mbit"),
            ("rtt", "80ms"),
            ("queue", "100kB"),
            ("reverse-queue", "100kB"),
            ("rate-trace", "0s=10mbit,2s=0,4s=10mbit"),
        ],
        notes: &[ONE_DIRECTION],
        ..PRESET
    },
    Preset {
        name: "picoquic-drop-and-back",
        title: "Half of the rate from 1.5 to 3.5 s",
        entry: "cc_ns_drop_and_back_test",
        queue: "80 ms",
        words: &[
            ("rate", "10mbit"),
            ("reverse-rate", "10mbit"),
            ("rtt", "80ms"),
            ("queue", "100kB"),
            ("reverse-queue", "100kB"),
            ("rate-trace", "0s=10mbit,1500ms=5mbit,3500ms=10mbit"),
        ],
        notes: &[ONE_DIRECTION, BYTES_STAY],
        ..PRESET
    },
    Preset {
        name: "picoquic-low-and-up",
        title: "Half of the rate until 2.5 s",
        entry: "cc_ns_low_and_up_test",
        queue: "80 ms",
        words: &[
            ("rate", "10mbit"),
            ("reverse-rate", "10mbit"),
            ("rtt", "80ms"),
            ("queue", "100kB"),
            ("reverse-queue", "100kB"),
            ("rate-trace", "0s=5mbit,2500ms=10mbit"),
        ],
        notes: &[ONE_DIRECTION, BYTES_STAY],
        ..PRESET
    },
    Preset {
        name: "picoquic-asymmetric",
        title: "Ten times the rate of the reverse path, a long RTT",
        entry: "cc_ns_asym_test",
        queue: "600 ms",
        words: &[
            ("rate", "10mbit"),
            ("reverse-rate", "1mbit"),
            ("rtt", "600ms"),
            ("queue", "750kB"),
            ("reverse-queue", "75kB"),
        ],
        ..PRESET
    },
    Preset {
        name: "picoquic-media",
        title: "The path of the tests with media streams",
        entry: "cc_ns_media_test",
        queue: "100 ms",
        words: &[
            ("rate", "100mbit"),
            ("reverse-rate", "100mbit"),
            ("rtt", "30ms"),
            ("queue", "1250kB"),
            ("reverse-queue", "1250kB"),
        ],
        ..PRESET
    },
    Preset {
        name: "picoquic-satellite",
        title: "Geostationary satellite",
        entry: "cc_ns_satellite_test",
        queue: "600 ms",
        words: &[
            ("rate", "50mbit"),
            ("reverse-rate", "50mbit"),
            ("rtt", "600ms"),
            ("queue", "3750kB"),
            ("reverse-queue", "3750kB"),
        ],
        ..PRESET
    },
    Preset {
        name: "noq-i819",
        title: "Jitter of a quarter of the RTT in each direction",
        source: &NOQ,
        entry: "issue 819",
        words: &[("rtt", "20ms"), ("jitter", "5ms"), ("reverse-jitter", "5ms")],
        notes: &[
            "The source states 10 ms and a jitter of 5 ms in one direction, and a transfer of 100 MB, which --size says. Here each packet has \
             up to 5 ms more in either direction, and the order is kept.",
            "The source states no rate, no queue and no loss; rate and queue are the defaults, 100mbit and 1bdp.",
        ],
        ..PRESET
    },
];
