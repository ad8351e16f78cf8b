//! Words of other programs and papers, and the texts that mean the same here.
//!
//! The words are in lower case with `-` for `_`. Each answer completes a sentence that begins with "write". The names of this program are
//! in backquotes.

use super::Elsewhere;

/// Words for options and keys.
pub const OPTIONS: Elsewhere = &[
    (&["bandwidth", "bw", "btlbw", "bitrate", "capacity", "speed", "throughput", "link-rate"], "`rate`"),
    (
        &["delay", "latency", "owd", "one-way-delay", "prop-delay", "propagation-delay"],
        "`rtt`, which is both ways: twice a delay of one way",
    ),
    (&["base-rtt", "min-rtt", "rttmin", "ping", "round-trip-time"], "`rtt`"),
    (
        &["buffer", "buf", "buffer-size", "bufsize", "queue-size", "queue-limit", "qlen", "qdisc", "aqm"],
        "`queue`",
    ),
    (
        &["cc", "cca", "ccs", "congestion", "congestion-control", "algorithm", "algorithms", "tcp"],
        "`schemes` for the start-up, `avoidance` for the law after it",
    ),
    (&["startup", "start-up", "slow-start"], "`schemes`"),
    (&["loss-rate", "lossrate", "packet-loss", "plr", "drop-rate", "error-rate"], "`loss`"),
    (&["initcwnd", "init-cwnd", "icwnd", "iwnd", "initial-cwnd", "initial-window", "cwnd"], "`iw`"),
    (&["initrwnd", "rcvbuf", "rcvwnd", "rmem", "rwin", "receive-window", "receive-buffer"], "`rwnd`"),
    (&["initial-ssthresh", "init-ssthresh", "ss-thresh"], "`ssthresh`"),
    (&["mtu", "packet-size"], "`packet`"),
    (
        &["trace", "bandwidth-trace", "bw-trace", "trace-file"],
        "`rate-trace`, a file with one TIME RATE a line",
    ),
    (&["bytes", "file-size", "filesize", "flow-size", "transfer", "transfer-size", "volume"], "`size`"),
    (&["time", "runtime", "seconds"], "`duration`"),
    (
        &["repeat", "repeats", "repetitions", "reps", "iterations", "trials", "seeds"],
        "`runs`, each with a separate seed",
    ),
    (&["threads", "parallel", "cores", "workers", "processes"], "`jobs`"),
    (&["cross-traffic", "background", "background-traffic", "competing"], "`cross`"),
    (&["delack", "delayed-ack", "delayed-acks", "ack-policy"], "`ack`"),
    (&["rto-min", "minrto", "rto"], "`min-rto`"),
    (&["rtoinit", "rto-init", "init-rto"], "`initial-rto`"),
    (&["sack", "rack", "loss-recovery"], "`recovery`"),
    (&["tcp-timestamps", "ts"], "`timestamps`"),
    (&["policing", "shaper", "token-bucket"], "`policer`"),
    (
        &["preset", "profile", "network", "network-profile", "throttling"],
        "`path`, with a name from the list that the command paths prints",
    ),
    (&["html", "page"], "`report`"),
    (&["svg", "plot", "graph", "png"], "`figure`"),
    (&["pcapng", "capture", "captures", "tcpdump"], "`pcap`"),
    (&["output", "out", "format"], "`report`, `json`, `csv` or `parquet`"),
];

/// Words for start-up schemes.
pub const SCHEMES: Elsewhere = &[
    (&["standard", "default", "ss", "slowstart", "classic", "rfc5681"], "`slow-start`"),
    (&["reno", "newreno", "new-reno", "tcp-reno", "tcp-newreno"], "`slow-start:avoidance=reno`"),
    (&["cubic", "tcp-cubic"], "`hystart-linux`, whose law is CUBIC, or `slow-start:avoidance=cubic`"),
    (&["westwood", "westwood+", "astart", "adaptive-start"], "`adaptive`"),
    (&["bbr3", "bbrv3"], "`bbr:avoidance=bbr`, which is BBRv3"),
    (
        &["bbr1", "bbr2", "bbrv1", "bbrv2", "tcp-bbr"],
        "`bbr:avoidance=bbr`, which is BBRv3: earlier versions are not here",
    ),
    (&["hystartpp", "hystart-pp", "hystart-plus-plus", "hystartplusplus", "rfc9406"], "`hystart++`"),
    (&["limited-slow-start", "lss", "rfc3742"], "`limited`"),
    (&["paced-slow-start", "pacing"], "`slow-start-paced`"),
    (&["paced-start", "past"], "`paced`"),
    (&["quickstart", "qs", "rfc4782"], "`quick-start`"),
    (&["cr", "resume", "careful", "rfc9959"], "`careful-resume`"),
    (&["hoe", "packet-train"], "`packet-pair`"),
    (&["iw10", "rfc6928"], "`slow-start:iw=10p`"),
];

/// Words for queues.
pub const QUEUES: Elsewhere = &[
    (
        &["pfifo", "bfifo", "fifo", "pfifo-fast", "droptail", "drop-tail", "tail-drop", "taildrop"],
        "the limit alone for a drop-tail queue, as in `1000p` or `64kB`",
    ),
    (&["cake", "fq", "fq-pie", "sfq", "fqcodel"], "`fq-codel:1000p`, the nearest queue here"),
];

/// Words for cross traffic.
pub const TRAFFIC: Elsewhere = &[
    (&["cbr", "udp", "constant"], "the rate alone for a constant bit rate, as in `40mbit`"),
    (&["ftp", "bulk", "flows", "iperf"], "`tcp:1` for a bulk flow"),
    (&["on-off", "burst", "bursty"], "`onoff:40mbit,1s,1s` for datagrams in periods"),
    (&["http"], "`web:30%` for web pages"),
];

/// Words for avoidance laws.
pub const LAWS: Elsewhere = &[
    (&["newreno", "new-reno", "tcp-reno", "aimd"], "`reno`"),
    (&["bbr3", "bbrv3"], "`bbr`, which is BBRv3"),
    (&["bbr1", "bbr2", "bbrv1", "bbrv2"], "`bbr`, which is BBRv3: earlier versions are not here"),
    (&["westwood+"], "`westwood`"),
];

/// Words for loss recoveries.
pub const RECOVERIES: Elsewhere = &[
    (&["tlp", "rack-tlp", "racktlp", "rfc8985"], "`rack`"),
    (&["rfc6675", "prr"], "`sack`"),
    (&["new-reno", "rfc6582"], "`newreno`"),
];

/// Words for when receivers acknowledge.
pub const RECEIVERS: Elsewhere = &[
    (&["1", "none", "off", "immediate", "quickack", "per-packet"], "`every`"),
    (&["2", "delack", "delayed-ack"], "`delayed`"),
];

/// Words for commands.
pub const COMMANDS: Elsewhere = &[
    (&["simulate", "sim", "compare", "start", "bench"], "`race`"),
    (&["list", "algorithms", "ls"], "`schemes`"),
    (&["analyze", "analyse", "read", "pcap", "capture"], "`inspect`"),
    (&["presets", "networks", "profiles", "path"], "`paths`"),
    (&["grid", "batch"], "`sweep`"),
    (&["completion", "complete"], "`completions`"),
    (&["manual", "manpage"], "`man`"),
];
