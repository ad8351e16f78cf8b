//! The paths of quicly's simulator.

use super::row::{Preset, Source};

const SOURCE: Source = Source {
    name: "quicly's simulator",
    address: "https://github.com/h2o/quicly",
    file: "t/simulator-gnuplot.pl",
    commit: "186772843ee80a0a9210ed15792fc6cc6b75ffac",
    licence: "MIT",
    notes: &[
        "The source states the queue as a time; it is the bytes that the rate delivers in this time, as in the source's simulator.",
        "The source's simulator delays and limits one direction only; here half of the RTT is on the reverse path, which no queue limits.",
        "The rate is the rate of IP packets here, and of UDP payloads in the source.",
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

const GUESSED: &str = "The source does not say where the figures are from.";
const MEASURED: &str =
    "The source states the queue as a difference of two RTTs, the second of which is the RTT here.";

pub(super) const PRESETS: &[Preset] = &[
    Preset {
        name: "quicly-dsl",
        title: "DSL",
        entry: "DSL",
        queue: "50 ms",
        words: &[("rate", "30mbit"), ("rtt", "30ms"), ("queue", "187500B")],
        notes: &[GUESSED],
        ..PRESET
    },
    Preset {
        name: "quicly-home-wifi",
        title: "Wi-Fi at home",
        entry: "Home_WiFi",
        queue: "15 ms",
        words: &[("rate", "100mbit"), ("rtt", "25ms"), ("queue", "187500B")],
        notes: &[GUESSED],
        ..PRESET
    },
    Preset {
        name: "quicly-public",
        title: "Public network with bufferbloat",
        entry: "Public",
        queue: "200 ms",
        words: &[("rate", "20mbit"), ("rtt", "40ms"), ("queue", "500kB")],
        notes: &[GUESSED],
        ..PRESET
    },
    Preset {
        name: "quicly-corporate-wifi",
        title: "Wi-Fi of a company",
        entry: "Corporate_WiFi",
        queue: "20 ms",
        words: &[("rate", "500mbit"), ("rtt", "10ms"), ("queue", "1250kB")],
        notes: &[GUESSED],
        ..PRESET
    },
    Preset {
        name: "quicly-lte",
        aliases: &["lte"],
        title: "LTE",
        entry: "LTE",
        queue: "120 ms",
        words: &[("rate", "30mbit"), ("rtt", "60ms"), ("queue", "450kB")],
        notes: &[GUESSED, "The rate is constant, unlike the rate of a radio link."],
        ..PRESET
    },
    Preset {
        name: "quicly-5g",
        aliases: &["5g"],
        title: "5G",
        entry: "5G",
        queue: "80 ms",
        words: &[("rate", "100mbit"), ("rtt", "40ms"), ("queue", "1MB")],
        notes: &[GUESSED, "The rate is constant, unlike the rate of a radio link."],
        ..PRESET
    },
    Preset {
        name: "quicly-leo",
        aliases: &["leo"],
        title: "Satellite in a low orbit",
        entry: "LEO",
        queue: "80 ms",
        words: &[("rate", "50mbit"), ("rtt", "40ms"), ("queue", "500kB")],
        notes: &[GUESSED, "Rate and RTT are constant, although they change with the satellite."],
        ..PRESET
    },
    Preset {
        name: "quicly-geo",
        aliases: &["geo"],
        title: "Geostationary satellite",
        entry: "GEO",
        queue: "600 ms",
        words: &[("rate", "50mbit"), ("rtt", "600ms"), ("queue", "3750kB")],
        notes: &[GUESSED],
        ..PRESET
    },
    Preset {
        name: "quicly-docomo-office",
        title: "Mobile network of DoCoMo in an office",
        entry: "DoCoMo@Office",
        queue: "217 ms",
        words: &[("rate", "140mbit"), ("rtt", "28ms"), ("queue", "3797500B")],
        notes: &[MEASURED],
        ..PRESET
    },
    Preset {
        name: "quicly-au-office",
        title: "Mobile network of au in an office",
        entry: "au@Office",
        queue: "233 ms",
        words: &[("rate", "440mbit"), ("rtt", "20ms"), ("queue", "12815kB")],
        notes: &[MEASURED],
        ..PRESET
    },
    Preset {
        name: "quicly-wifi-office",
        title: "Wi-Fi in an office",
        entry: "WiFi@Office",
        queue: "11 ms",
        words: &[("rate", "710mbit"), ("rtt", "4ms"), ("queue", "976250B")],
        notes: &[MEASURED],
        ..PRESET
    },
    Preset {
        name: "quicly-docomo-mall",
        title: "Mobile network of DoCoMo in a mall",
        entry: "DoCoMo@mall",
        queue: "300 ms",
        words: &[("rate", "38mbit"), ("rtt", "41ms"), ("queue", "1425kB")],
        notes: &[MEASURED],
        ..PRESET
    },
    Preset {
        name: "quicly-congested",
        title: "Congested path",
        entry: "congested",
        queue: "400 ms",
        words: &[("rate", "1mbit"), ("rtt", "200ms"), ("queue", "50kB")],
        notes: &[GUESSED],
        ..PRESET
    },
];
