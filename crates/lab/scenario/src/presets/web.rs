//! The paths with which tools for web pages throttle: Lighthouse, Chrome's developer tools, and `WebPageTest`.

use super::row::{Preset, Source};

const NO_QUEUE: &str = "The source has no queue and no loss, because it delays requests or models them; the queue is the default, 1bdp.";

const LIGHTHOUSE: Source = Source {
    name: "Lighthouse",
    address: "https://github.com/GoogleChrome/lighthouse",
    file: "core/config/constants.js",
    commit: "7ac9485dfdaf21e794c11333b4873f62cdb5d4c5",
    licence: "Apache-2.0",
    notes: &["A kilobit is 1,000 bits.", NO_QUEUE],
};

const DEVTOOLS: Source = Source {
    name: "Puppeteer and Chrome's DevTools",
    address: "https://github.com/puppeteer/puppeteer",
    file: "packages/puppeteer-core/src/cdp/PredefinedNetworkConditions.ts",
    commit: "38b7a2cf2feb66d00514f91a82b99d1bb514300a",
    licence: "Apache-2.0",
    notes: &[
        "The figures are the source's base values. The tools multiply them, because they delay whole requests instead of packets.",
        NO_QUEUE,
    ],
};

const WEBPAGETEST: Source = Source {
    name: "WebPageTest",
    address: "https://github.com/catchpoint/WebPageTest",
    file: "www/settings/connectivity.ini.sample",
    commit: "0c6c27a053d02b635dffb5c0e8a9db2acdb95499",
    licence: "PolyForm Shield 1.0.0",
    notes: &[
        "The source states no queue. The queue of 50 packets in each direction is the default of dummynet, with which WebPageTest's agents \
         shape traffic.",
        "Half of the RTT is on the reverse path.",
    ],
};

const OF_LIGHTHOUSE: Preset = Preset {
    name: "",
    aliases: &[],
    title: "",
    source: &LIGHTHOUSE,
    entry: "",
    queue: "",
    words: &[],
    notes: &[],
};

const OF_DEVTOOLS: Preset = Preset { source: &DEVTOOLS, ..OF_LIGHTHOUSE };

/// The queue is the queue of dummynet.
const OF_WEBPAGETEST: Preset = Preset { source: &WEBPAGETEST, ..OF_LIGHTHOUSE };

pub(super) const PRESETS: &[Preset] = &[
    Preset {
        name: "lighthouse-slow-4g",
        title: "Slow 4G, Lighthouse's default for phones",
        entry: "mobileSlow4G",
        words: &[("rate", "1638.4kbit"), ("reverse-rate", "750kbit"), ("rtt", "150ms")],
        notes: &[
            "The rate is the source's 1.6 * 1024 kbit/s. The source compares it with the 75th percentile of 4G.",
        ],
        ..OF_LIGHTHOUSE
    },
    Preset {
        name: "lighthouse-3g",
        title: "3G",
        entry: "mobileRegular3G",
        words: &[("rate", "700kbit"), ("reverse-rate", "700kbit"), ("rtt", "300ms")],
        ..OF_LIGHTHOUSE
    },
    Preset {
        name: "lighthouse-desktop",
        title: "Desktop",
        entry: "desktopDense4G",
        words: &[("rate", "10240kbit"), ("rtt", "40ms")],
        notes: &[
            "The rate is the source's 10 * 1024 kbit/s. The source has no rate of uploads; the reverse path has the default, ten times the \
             rate.",
        ],
        ..OF_LIGHTHOUSE
    },
    Preset {
        name: "devtools-3g",
        aliases: &["devtools-slow-3g"],
        title: "3G, in older versions Slow 3G",
        entry: "Slow 3G",
        words: &[("rate", "500kbit"), ("reverse-rate", "500kbit"), ("rtt", "400ms")],
        notes: &["The tools use 0.8 of the rates, and a latency of 5 times the RTT."],
        ..OF_DEVTOOLS
    },
    Preset {
        name: "devtools-slow-4g",
        aliases: &["devtools-fast-3g"],
        title: "Slow 4G, in older versions Fast 3G",
        entry: "Slow 4G",
        words: &[("rate", "1600kbit"), ("reverse-rate", "750kbit"), ("rtt", "150ms")],
        notes: &["The tools use 0.9 of the rates, and a latency of 3.75 times the RTT."],
        ..OF_DEVTOOLS
    },
    Preset {
        name: "devtools-fast-4g",
        title: "Fast 4G",
        entry: "Fast 4G",
        words: &[("rate", "9mbit"), ("reverse-rate", "1500kbit"), ("rtt", "60ms")],
        notes: &["The tools use 0.9 of the rates, and a latency of 2.75 times the RTT."],
        ..OF_DEVTOOLS
    },
    Preset {
        name: "wpt-cable",
        title: "Cable",
        entry: "Cable",
        words: &[
            ("rate", "5mbit"),
            ("reverse-rate", "1mbit"),
            ("rtt", "28ms"),
            ("queue", "50p"),
            ("reverse-queue", "50p"),
        ],
        ..OF_WEBPAGETEST
    },
    Preset {
        name: "wpt-dsl",
        title: "DSL",
        entry: "DSL",
        words: &[
            ("rate", "1500kbit"),
            ("reverse-rate", "384kbit"),
            ("rtt", "50ms"),
            ("queue", "50p"),
            ("reverse-queue", "50p"),
        ],
        ..OF_WEBPAGETEST
    },
    Preset {
        name: "wpt-fios",
        title: "Fibre",
        entry: "FIOS",
        words: &[
            ("rate", "20mbit"),
            ("reverse-rate", "5mbit"),
            ("rtt", "4ms"),
            ("queue", "50p"),
            ("reverse-queue", "50p"),
        ],
        ..OF_WEBPAGETEST
    },
    Preset {
        name: "wpt-dial",
        title: "Modem of 56 kbit/s",
        entry: "Dial",
        words: &[
            ("rate", "49kbit"),
            ("reverse-rate", "30kbit"),
            ("rtt", "120ms"),
            ("queue", "50p"),
            ("reverse-queue", "50p"),
        ],
        ..OF_WEBPAGETEST
    },
    Preset {
        name: "wpt-3g",
        title: "Mobile 3G",
        entry: "3G",
        words: &[
            ("rate", "1600kbit"),
            ("reverse-rate", "768kbit"),
            ("rtt", "300ms"),
            ("queue", "50p"),
            ("reverse-queue", "50p"),
        ],
        notes: &[
            "Older versions of the source have 2,048 and 1,024 kbit/s and an RTT of 150 ms under this name.",
        ],
        ..OF_WEBPAGETEST
    },
    Preset {
        name: "wpt-3g-fast",
        title: "Mobile 3G, fast",
        entry: "3GFast",
        words: &[
            ("rate", "1600kbit"),
            ("reverse-rate", "768kbit"),
            ("rtt", "150ms"),
            ("queue", "50p"),
            ("reverse-queue", "50p"),
        ],
        ..OF_WEBPAGETEST
    },
    Preset {
        name: "wpt-3g-slow",
        title: "Mobile 3G, slow",
        entry: "3GSlow",
        words: &[
            ("rate", "780kbit"),
            ("reverse-rate", "330kbit"),
            ("rtt", "200ms"),
            ("queue", "50p"),
            ("reverse-queue", "50p"),
        ],
        ..OF_WEBPAGETEST
    },
    Preset {
        name: "wpt-edge",
        title: "Mobile EDGE",
        entry: "Edge",
        words: &[
            ("rate", "240kbit"),
            ("reverse-rate", "200kbit"),
            ("rtt", "840ms"),
            ("queue", "50p"),
            ("reverse-queue", "50p"),
        ],
        ..OF_WEBPAGETEST
    },
    Preset {
        name: "wpt-2g",
        title: "Mobile 2G",
        entry: "2G",
        words: &[
            ("rate", "35kbit"),
            ("reverse-rate", "32kbit"),
            ("rtt", "1300ms"),
            ("queue", "50p"),
            ("reverse-queue", "50p"),
        ],
        ..OF_WEBPAGETEST
    },
];
