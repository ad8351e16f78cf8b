//! The keys of the two endpoints, and of the avoidance law and the restart policy that follow a scheme there.

use firstflight::Span;
use firstflight_tcp::{InflightLimit, LimitedTransmit};

use super::read::{self, put, set};
use super::row::{Exclusion, Heading, Key, Need, row};
use crate::host_cpu::HostCpu;
use crate::keywords;
use crate::kind::Kind;
use crate::quantity::{self, show_bytes, show_span};
use crate::restart;
use crate::scenario::Scenario;

const END: Key = row(Heading::Endpoints);

/// The retransmission timeout before the first round-trip sample (RFC 6298 section 2.1).
const INITIAL_RTO: Span = Span::from_secs(1);

/// The condition for a key of CPU times: the key that selects the operations that take CPU time on a host.
const OF_CPU: Need =
    Need { other: "host-cpu", without: "a host's CPU takes no time; say what for with host-cpu=list" };

pub(super) const KEYS: &[Key] = &[
    Key {
        name: "avoidance",
        heading: Heading::Schemes,
        kind: Kind::Text("LAW"),
        brief: "Law after start-up: reno, bbr, own, … [cubic]",
        help: "Avoidance law of all schemes: reno, reno-acks, cubic, cubic-linux, vegas, vegas-linux, westwood, bbr; own for each scheme's \
               own",
        default: Some("cubic"),
        built_in: Some("reno"),
        examples: &["own", "vegas"],
        schemes: true,
        place: 20,
        parse: |options, text| {
            let law = match text.trim() {
                OWN_LAW => Ok(None),
                law => keywords::avoidance(options.registry, law).map(Some),
            };
            set(&mut options.avoidance, law)
        },
        show: |path| Some(path.avoidance.unwrap_or(OWN_LAW).to_owned()),
        ..END
    },
    Key {
        name: "recovery",
        kind: Kind::Word(&keywords::RECOVERY_NAMES),
        placeholder: "RECOVERY",
        help: "Loss recovery",
        default: Some("rack"),
        examples: &["sack", "newreno"],
        schemes: true,
        place: 21,
        parse: |options, text| set(&mut options.recovery, keywords::recovery(text)),
        show: |path| Some(keywords::recovery_name(path.recovery).to_owned()),
        ..END
    },
    Key {
        name: "stack",
        kind: Kind::Word(&keywords::STACK_NAMES),
        placeholder: "STACK",
        help: "Whose sender it is: TCP of the simulator, by the RFCs or as in Linux where they differ, or a QUIC stack",
        default: Some("rfc"),
        examples: &["linux", "noq", "quinn"],
        schemes: true,
        place: 38,
        parse: |options, text| {
            let (stack, quic) = keywords::stack(text)?;
            (options.stack, options.quic) = (Some(stack), quic);
            Ok(())
        },
        show: |path| keywords::stack_of_row(path.stack, path.quic).map(str::to_owned),
        title: |path| match path.quic {
            Some(quic) => Some(format!("in {}", quic.name())),
            None => keywords::stack_if_not_rfc(path.stack).map(|_| "Linux's senders".to_owned()),
        },
        ..END
    },
    Key {
        name: "app-limited-growth",
        kind: Kind::Word(&keywords::GROWTH_NAMES),
        placeholder: "RULE",
        help: "Rule for growing the window while the application limits it",
        default: Some("stack"),
        examples: &["ns2", "linux", "rfc7661"],
        schemes: true,
        place: 49,
        parse: |options, text| put(&mut options.plain.growth, keywords::growth(text)),
        show: |path| path.growth.map(|growth| keywords::growth_name(Some(growth)).to_owned()),
        title: |path| {
            let growth = path.growth?;
            Some(format!("app-limited growth of {}", keywords::growth_name(Some(growth))))
        },
        ..END
    },
    Key {
        name: "limited-transmit",
        kind: Kind::Word(&keywords::LIMITED_TRANSMIT_NAMES),
        placeholder: "RULE",
        help: "What the first two duplicate ACKs send without SACK: only new data (RFC 3042), or after a timeout also the next \
               retransmission (ns-2)",
        default: Some("rfc3042"),
        examples: &["ns2"],
        schemes: true,
        place: 56,
        parse: |options, text| put(&mut options.plain.limited_transmit, keywords::limited_transmit(text)),
        show: |path| ns2_limited_transmit(path).map(str::to_owned),
        title: |path| ns2_limited_transmit(path).map(|_| "limited transmit of ns-2".to_owned()),
        ..END
    },
    Key {
        name: "slow-start-counts",
        kind: Kind::Word(&keywords::COUNT_NAMES),
        placeholder: "UNIT",
        help: "What widens the window in slow start: each ACK by a segment at most, or the bytes that ACKs acknowledge",
        default: Some("stack"),
        examples: &["bytes", "acks"],
        schemes: true,
        place: 50,
        parse: |options, text| put(&mut options.plain.slow_start_counts, keywords::slow_start_counts(text)),
        show: |path| {
            path.slow_start_counts.map(|counts| keywords::slow_start_counts_name(Some(counts)).to_owned())
        },
        title: |path| {
            let counts = keywords::slow_start_counts_name(Some(path.slow_start_counts?));
            Some(format!("slow start counts {counts}"))
        },
        ..END
    },
    Key {
        name: "restart",
        heading: Heading::Schemes,
        kind: Kind::Text("POLICIES"),
        help: "Restart policies after idling, a row each: all, or of rfc5681, ssr, nssr, rbp-rate, rbp-cwnd, cwv, \
               quick-start, with parameters as NAME/k=v",
        default: Some("rfc5681"),
        examples: &["nssr", "rbp-rate/after=cut"],
        schemes: true,
        place: 22,
        parse: |options, text| {
            let policies = restart::parse(options.registry, text);
            set(&mut options.restart, policies)
        },
        show: |path| Some(path.restart.to_string()),
        ..END
    },
    Key {
        name: "ack",
        kind: Kind::Word(&keywords::ACK_NAMES),
        placeholder: "POLICY",
        brief: "Receiver: every, delayed, linux, … [delayed]",
        help: "When the receiver acknowledges: every:N[,TIME], every N full segments or after a time (25ms), or as one of these",
        default: Some("delayed"),
        built_in: Some("every"),
        examples: &["linux", "every:8", "every:16,10ms"],
        place: 9,
        parse: |options, text| {
            let (policy, delay) = keywords::ack_and_delay(text)?;
            (options.ack, options.plain.ack_delay) = (Some(policy), delay);
            Ok(())
        },
        show: |path| {
            let delay = path.ack_delay.map(|delay| format!(",{}", quantity::show_span(delay)));
            Some(keywords::ack_name(path.ack) + &delay.unwrap_or_default())
        },
        ..END
    },
    Key {
        name: "iw",
        kind: Kind::Packets,
        brief: "Initial window [10p]",
        help: "Initial window, such as 10p",
        default: Some("10p"),
        built_in: Some("2p"),
        unset: "built-in path: 2p; else 10p, of segments above 1460 bytes no more than 14,600 bytes or 2p",
        examples: &["4p"],
        schemes: true,
        place: 24,
        parse: |options, text| set(&mut options.iw, read::iw(text)),
        show: |path| Some(format!("{}p", path.iw)),
        ..END
    },
    Key {
        name: "ssthresh",
        kind: Kind::Size,
        placeholder: "SIZE",
        help: "Initial slow-start threshold, such as 20000p",
        default: Some("inf"),
        built_in: Some("19200kB"),
        unset: "built-in path: 20000p; else inf, which is arbitrarily high",
        examples: &["64kB"],
        schemes: true,
        place: 23,
        parse: |options, text| set(&mut options.ssthresh, keywords::ssthresh(text)),
        show: |path| Some(path.ssthresh.map_or_else(|| "inf".to_owned(), show_bytes)),
        ..END
    },
    Key {
        name: "rwnd",
        kind: Kind::Size,
        placeholder: "SIZE",
        help: "Receive buffer, such as 64kB",
        unset: "inf, which is more than any window",
        examples: &["64kB"],
        place: 25,
        parse: |options, text| put(&mut options.rwnd, read::rwnd(text)),
        show: |path| Some(show_bytes(path.rwnd)),
        ..END
    },
    Key {
        name: "inflight-limit",
        kind: Kind::Word(&keywords::INFLIGHT_LIMIT_NAMES),
        placeholder: "RULE",
        help: "Limit of the flight in addition to the windows: none, or FreeBSD's net.inet.tcp.inflight, the measured bandwidth times the \
               round trip",
        default: Some("none"),
        examples: &["freebsd"],
        schemes: true,
        place: 55,
        parse: |options, text| put(&mut options.plain.inflight_limit, keywords::inflight_limit(text)),
        show: |path| {
            let limit = Some(path.inflight_limit).filter(|limit| *limit != InflightLimit::None)?;
            Some(keywords::inflight_limit_name(limit).to_owned())
        },
        title: |path| {
            let limit = Some(path.inflight_limit).filter(|limit| *limit != InflightLimit::None)?;
            Some(format!("flight limited as in {}", keywords::inflight_limit_name(limit)))
        },
        ..END
    },
    Key {
        name: "min-rto",
        kind: Kind::Span,
        help: "Minimum retransmission timeout, such as 200ms",
        default: Some("1s"),
        unset: "1s; with --stack linux 200ms",
        examples: &["200ms"],
        schemes: true,
        place: 26,
        parse: |options, text| set(&mut options.min_rto, quantity::span(text)),
        show: |path| Some(show_span(path.min_rto)),
        ..END
    },
    Key {
        name: "rto-floor",
        kind: Kind::Word(&keywords::RTO_FLOOR_NAMES),
        placeholder: "BOUND",
        help: "What --min-rto bounds: the timeout (RFC 6298), its addition to the round-trip time (Linux), or the timeout alone (ns2)",
        default: Some("stack"),
        examples: &["variation", "timeout"],
        schemes: true,
        place: 48,
        parse: |options, text| put(&mut options.plain.rto_floor, keywords::rto_floor(text)),
        show: |path| path.rto_floor.map(|floor| keywords::rto_floor_name(Some(floor)).to_owned()),
        title: |path| {
            path.rto_floor
                .map(|floor| format!("min-rto bounds the {}", keywords::rto_floor_name(Some(floor))))
        },
        ..END
    },
    Key {
        name: "initial-rto",
        kind: Kind::Span,
        help: "Retransmission timeout before the first round-trip sample, such as 3s; of data at least --min-rto where that bounds the \
               timeout",
        default: Some("1s"),
        examples: &["3s"],
        place: 47,
        parse: |options, text| put(&mut options.plain.initial_rto, quantity::span(text)),
        show: |path| (path.initial_rto != INITIAL_RTO).then(|| show_span(path.initial_rto)),
        title: |path| {
            let rto = Some(path.initial_rto).filter(|rto| *rto != INITIAL_RTO)?;
            Some(format!("initial RTO of {}", quantity::humane_span(rto)))
        },
        ..END
    },
    Key {
        name: "sack-blocks",
        kind: Kind::Word(&keywords::BLOCK_NAMES),
        placeholder: "BLOCKS",
        help: "What the receiver says of data above a hole where SACK was agreed on",
        default: Some("sent"),
        examples: &["withheld"],
        place: 53,
        parse: |options, text| put(&mut options.plain.sack_blocks, keywords::sack_blocks(text)),
        show: |path| (!path.sack_blocks).then(|| "withheld".to_owned()),
        title: |path| (!path.sack_blocks).then(|| "a receiver without SACK blocks".to_owned()),
        ..END
    },
    Key {
        name: "host-cpu",
        kind: Kind::Word(&keywords::HOST_CPU_NAMES),
        placeholder: "MODEL",
        help: "What a host's CPU takes time for: nothing, or a list of packets walked for SACK blocks and for what arrives out of \
               order, with hints once for all blocks of an ACK",
        default: Some("none"),
        examples: &["list", "list-hints"],
        place: 59,
        parse: |options, text| put(&mut options.plain.host_cpu, keywords::host_cpu(text)),
        show: |path| {
            (path.host_cpu != HostCpu::None).then(|| keywords::host_cpu_name(path.host_cpu).to_owned())
        },
        title: |path| {
            let costs = [path.cpu_packet, path.cpu_segment].map(quantity::humane_span);
            let [packet, segment] = costs;
            let hints = if path.host_cpu == HostCpu::ListHints { " with hints" } else { "" };
            let list =
                format!("hosts whose CPU takes {segment} a segment and {packet} a packet of a list{hints}");
            (path.host_cpu != HostCpu::None).then_some(list)
        },
        ..END
    },
    Key {
        name: "cpu-packet",
        kind: Kind::Span,
        help: "What looking at one packet of a list takes a host's CPU, such as 2ns",
        default: Some("2ns"),
        examples: &["11ns"],
        needs: Some(OF_CPU),
        place: 60,
        parse: |options, text| put(&mut options.plain.cpu_packet, quantity::span(text)),
        show: |path| (path.cpu_packet != HostCpu::PACKET).then(|| show_span(path.cpu_packet)),
        ..END
    },
    Key {
        name: "cpu-segment",
        kind: Kind::Span,
        help: "What a segment that arrives takes a host's CPU apart from lists, such as 150ns",
        default: Some("150ns"),
        examples: &["2us"],
        needs: Some(OF_CPU),
        place: 61,
        parse: |options, text| put(&mut options.plain.cpu_segment, quantity::span(text)),
        show: |path| (path.cpu_segment != HostCpu::SEGMENT).then(|| show_span(path.cpu_segment)),
        ..END
    },
    Key {
        name: "pacing-timer",
        kind: Kind::Span,
        help: "Grain of the timer by which a sender's packets leave, such as 1ms: packets that a timer releases wait for the next tick, \
               packets that an ACK releases only if others already wait",
        default: Some("none"),
        examples: &["1ms", "50us"],
        excludes: &[Exclusion { other: "host-cpu", why: SLOW_OR_ROUGH, except: &[] }],
        place: 65,
        parse: |options, text| put(&mut options.plain.pacing_timer, read::span_or_none(text)),
        show: |path| path.pacing_timer.map(show_span),
        title: |path| {
            Some(format!("transmissions by a timer of {}", quantity::humane_span(path.pacing_timer?)))
        },
        ..END
    },
    Key {
        name: "timer-noise",
        kind: Kind::Span,
        help: "Bound of the lateness of a sender's timers, and so of paced packets, such as 20us: uniform from 0, drawn by the seed",
        default: Some("none"),
        unset: "with other flows on your own path 20us; else none",
        examples: &["20us", "1ms"],
        excludes: &[
            Exclusion { other: "host-cpu", why: NOISE_OR_MODEL, except: &[] },
            Exclusion { other: "pacing-timer", why: NOISE_OR_MODEL, except: &[] },
            Exclusion { other: "gso", why: NOISE_OR_MODEL, except: &[] },
        ],
        place: 68,
        parse: |options, text| set(&mut options.timer_noise, read::timer_noise(text)),
        show: |path| match path.timer_noise {
            Some(bound) => Some(show_span(bound)),
            None => path.has_usual_noise().then(|| "none".to_owned()),
        },
        title: |path| Some(format!("timers up to {} late", quantity::humane_span(path.timer_noise?))),
        ..END
    },
    Key {
        name: "gso",
        kind: Kind::Size,
        help: "Bursts of segmentation offload: what a sender's timer lets leave gathers to this many IP bytes, or for 1 ms, such as 64kB",
        default: Some("none"),
        examples: &["64kB"],
        excludes: &[Exclusion { other: "host-cpu", why: SLOW_OR_ROUGH, except: &[] }],
        place: 66,
        parse: |options, text| put(&mut options.plain.gso, read::gso(text)),
        show: |path| path.gso.map(show_bytes),
        title: |path| Some(format!("transmissions in bursts of up to {}", quantity::humane_bytes(path.gso?))),
        ..END
    },
    Key {
        name: "timestamps",
        kind: Kind::FLAG,
        help: "Use TCP timestamps, 12 bytes a packet",
        default: Some("false"),
        examples: &["true"],
        place: 27,
        parse: |options, text| put(&mut options.plain.timestamps, read::boolean(text)),
        show: |path| Some(path.timestamps.to_string()),
        ..END
    },
    Key {
        name: "ecn",
        kind: Kind::FLAG,
        help: "Use ECN on all TCP flows",
        default: Some("false"),
        examples: &["true"],
        place: 37,
        parse: |options, text| put(&mut options.plain.ecn, read::boolean(text)),
        show: |path| path.ecn.then(|| true.to_string()),
        ..END
    },
];

/// Why timers have no noise if the host has its own timing model.
const NOISE_OR_MODEL: &str = "the model of the sender's host says when packets leave";

/// The word that leaves the avoidance law to each scheme.
const OWN_LAW: &str = "own";

/// Why a host whose operations take CPU time sends at exact times.
const SLOW_OR_ROUGH: &str = "a host's CPU takes time, or its packets wait below it, not both";

/// Returns the keyword of the rule of limited transmit; `None` if it is RFC 3042's rule, the default.
fn ns2_limited_transmit(path: &Scenario) -> Option<&'static str> {
    (path.limited_transmit != LimitedTransmit::default())
        .then(|| keywords::limited_transmit_name(path.limited_transmit))
}
