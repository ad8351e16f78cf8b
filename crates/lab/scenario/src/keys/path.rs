//! The keys of the links, and of the traffic over them.

use firstflight::Span;

use super::read::{self, put, set};
use super::row::{Exclusion, Heading, Key, Need, row};
use crate::bottleneck::{self, show_ack_aggregation, show_policer, show_queue, show_rate_trace};
use crate::cross_entries;
use crate::gemodel::Gemodel;
use crate::keywords::{self, Packet};
use crate::kind::Kind;
use crate::population::{self, Population};
use crate::probing;
use crate::quantity::{self, show_bytes, show_rate, show_span};
use crate::routers::{self, AccessRouters, QuickStartRouter};
use crate::scenario::{Goal, HALF, Scenario};
use crate::script;
use crate::topology::{self, Topology};
use crate::traces;

const PATH: Key = row(Heading::Path);

/// A key of rounds.
const OF_ROUNDS: Key = Key {
    needs: Some(Need { other: "rounds", without: "there are no rounds; say how many with rounds" }),
    ..PATH
};

/// A key of a population. Sweeps do not take it, because a sweep's rows are of single flows.
const OF_FLOWS: Key = Key {
    needs: Some(Need {
        other: "flows",
        without: "there is no population; say how many flows are measured with flows, or when each comes with arrivals=at:…",
    }),
    sweeps: false,
    ..PATH
};

/// Why a script excludes the keys that generate a population.
const SCRIPTED: &str = "every flow is said by itself, when it comes and how large it is too";

/// Excludes another key, whatever the values of the two.
pub(super) const fn never(other: &'static str, why: &'static str) -> Exclusion {
    Exclusion { other, why, except: &[] }
}

/// Excludes `flows`, because ACKs and data of a population share every link.
pub(super) const BOTH_WAYS: Exclusion =
    never("flows", "the flows' ACKs and data share the links between hosts");

/// Returns the population, if its flows are not listed one by one.
fn drawn(path: &Scenario) -> Option<&Population> {
    path.population.as_ref().filter(|_| path.script.is_empty())
}

fn or_none(span: Option<Span>) -> String {
    span.map_or_else(|| "none".to_owned(), show_span)
}

pub(super) const KEYS: &[Key] = &[
    Key {
        name: "rate",
        kind: Kind::Rate,
        brief: "Bottleneck rate [100mbit]",
        help: "Bottleneck rate, such as 100mbit",
        default: Some("100mbit"),
        examples: &["20mbit", "1500kbit"],
        real: true,
        place: 1,
        parse: |options, text| set(&mut options.rate, quantity::rate(text)),
        show: |path| Some(show_rate(path.rate)),
        ..PATH
    },
    Key {
        name: "rtt",
        kind: Kind::Span,
        brief: "Base round-trip time, both ways together [80ms]",
        help: "Base round-trip time, such as 80ms",
        default: Some("80ms"),
        examples: &["20ms", "7500us"],
        real: true,
        place: 2,
        parse: |options, text| set(&mut options.rtt, quantity::span(text)),
        show: |path| Some(show_span(path.rtt)),
        ..PATH
    },
    Key {
        name: "queue",
        kind: Kind::Queue,
        brief: "Queue: 1000p, 64kB, 0.3bdp, fq-codel:1000p [1bdp]",
        help: "Queue at the bottleneck: 1000p, 64kB or 0.3bdp, or managed, as in red:100p, codel:1000p, \
               fq-codel:1000p, pie:1000p, with `,ecn` to mark; of packets the one in transmission counts, of bytes \
               it does not",
        default: Some("1bdp"),
        built_in: Some("1000p"),
        examples: &["999p", "64kB", "0.3bdp", "codel:1000p,target=10ms,ecn"],
        real: true,
        place: 3,
        parse: |options, text| {
            let (limit, aqm) = bottleneck::queue(text)?;
            (options.queue, options.plain.aqm) = (Some(limit), aqm);
            Ok(())
        },
        show: |path| Some(show_queue(path.queue, path.aqm.as_ref())),
        ..PATH
    },
    Key {
        name: "cross",
        kind: Kind::Text("TRAFFIC"),
        brief: "Cross traffic: 40mbit, tcp:4, web:30% [none]",
        help: "Cross traffic: none, a CBR rate, cubic:N, bbr:N, reno:N, tcp:N[,SCHEME][,LAW], onoff:RATE,ON,OFF, poisson:PER-SECOND,SIZE, \
               poisson:RATE,SIZE, users:N,SIZE or web:LOAD, with start=TIME, stop=TIME, way=reverse, rtt=TIME[..TIME], rwnd=SIZE, \
               and of what arrives scheme=SCHEME, law=LAW; given again, or behind a `;`, another",
        default: Some("none"),
        built_in: Some("40mbit"),
        examples: &[
            "5mbit",
            "tcp:3",
            "tcp:2,hystart,cubic",
            "onoff:40mbit,1s,1s,pareto=1.5",
            "5mbit;tcp:1,start=2s,stop=5s,way=reverse",
        ],
        real: true,
        repeats: true,
        place: 4,
        parse: |options, text| {
            let (steady, others) = cross_entries::entries(options.registry, text)?;
            (options.cross, options.plain.beside) = (Some(steady), others);
            Ok(())
        },
        show: |path| Some(cross_entries::show(path.cross, &path.beside)),
        ..PATH
    },
    Key {
        name: "mss",
        kind: Kind::Size,
        help: "Payload of a full segment; the IP packet is 40 bytes more",
        default: Some("1460"),
        unset: "1460",
        built_in: Some("960"),
        examples: &["536", "8960"],
        excludes: &[never("packet", "either says how large packets are")],
        real: true,
        place: 5,
        parse: |options, text| set(&mut options.packet, read::mss(text).map(Packet::Mss)),
        show: |path| Some(path.mss.to_string()),
        ..PATH
    },
    Key {
        name: "packet",
        kind: Kind::Size,
        help: "IP bytes of a full packet, instead of --mss",
        built_in: Some("1000B"),
        examples: &["576B"],
        real: true,
        place: 42,
        parse: |options, text| set(&mut options.packet, read::packet(text).map(Packet::Ip)),
        // The canonical text has the MSS instead.
        show: |_| None,
        ..PATH
    },
    Key {
        name: "size",
        kind: Kind::Size,
        brief: "Bytes to transfer [1MB]",
        help: "Bytes to transfer; runs until the last is delivered",
        default: Some("1MB"),
        unset: "1MB; with --rounds 24kB; built-in path: --duration",
        examples: &["64kB"],
        excludes: &[never("duration", "a sized run ends with its last byte; bound it with limit")],
        place: 6,
        parse: |options, text| set(&mut options.size, quantity::amount(text)),
        show: |path| match path.goal {
            Goal::Size(bytes) => Some(show_bytes(bytes)),
            Goal::Duration(_) => None,
        },
        ..PATH
    },
    Key {
        name: "rounds",
        kind: Kind::Count(100_000),
        help: "Rounds: in each a reply of --size on every client's connection; compares restart policies",
        default: Some("none"),
        examples: &["3"],
        excludes: &[
            never("duration", "rounds end with the last reply; bound them with limit"),
            never("app", "a round's reply is written at once"),
            never("flows", "a flow carries one transfer"),
        ],
        place: 10,
        parse: |options, text| {
            const ALLOWED: &str = "rounds are a whole number from 1 to 100000, or none";
            put(&mut options.rounds, read::count_or_none(text, 100_000, ALLOWED))
        },
        show: |path| Some(path.rounds?.count.to_string()),
        ..PATH
    },
    Key {
        name: "idle",
        kind: Kind::Span,
        help: "Idle time between rounds; 0 begins a round as the one before ends",
        default: Some("120s"),
        examples: &["5s"],
        place: 11,
        parse: |options, text| set(&mut options.idle, read::span_or_zero(text)),
        show: |path| Some(show_span(path.rounds?.idle)),
        ..OF_ROUNDS
    },
    Key {
        name: "spread",
        kind: Kind::Span,
        help: "How far a client's reply may be from its round's centre, or none",
        default: Some("none"),
        unset: "none; with several clients 1500ms",
        examples: &["1500ms"],
        place: 12,
        parse: |options, text| set(&mut options.spread, read::span_or_none(text)),
        show: |path| Some(or_none(path.rounds?.spread)),
        ..OF_ROUNDS
    },
    Key {
        name: "clients",
        kind: Kind::Count(1_000),
        help: "Clients with rounds, all with the same scheme; with a scheme each they are said by flow",
        default: Some("1"),
        examples: &["10"],
        excludes: &[never("flow", "with rounds each flow is a client")],
        place: 13,
        parse: |options, text| {
            set(&mut options.clients, read::count(text, 1_000, "clients are a whole number from 1 to 1000"))
        },
        // With a script, the number of its flows determines the number of clients.
        show: |path| path.rounds.filter(|_| path.script.is_empty()).map(|rounds| rounds.clients.to_string()),
        ..OF_ROUNDS
    },
    Key {
        name: "flow",
        kind: Kind::Text("FLOW"),
        help: "A flow said by itself, any of scheme=NAME[:k=v,…], start=TIME, size=BYTES or end=TIME, from=ROUTER/PLACE, to=ROUTER/PLACE, \
               ack=POLICY, restart=POLICY; given again, or behind a `;`, another; with rounds a client of scheme, ack and restart; in a \
               file [[flow]]",
        default: Some("none"),
        examples: &["start=0s;start=10s,end=40s,scheme=hystart", "start=0s,size=64kB,from=1/0,ack=linux"],
        excludes: &[
            never("arrivals", SCRIPTED),
            never("sizes", SCRIPTED),
            never("warm-up", SCRIPTED),
            never("mixed", SCRIPTED),
            never("mixed-share", SCRIPTED),
            never("app", "a flow's application writes all at once"),
            never("flows", SCRIPTED),
        ],
        sweeps: false,
        repeats: true,
        place: 51,
        parse: |options, text| put(&mut options.plain.script, script::script(options.registry, text)),
        show: |path| (!path.script.is_empty()).then(|| script::show_script(&path.script)),
        title: Scenario::describe_script,
        ..PATH
    },
    Key {
        name: "flows",
        kind: Kind::Count(1_000_000),
        help: "Number of measured flows between the hosts of a dumbbell or a parking lot, instead of one flow",
        default: Some("none"),
        examples: &["2000"],
        sweeps: false,
        place: 14,
        parse: |options, text| {
            const ALLOWED: &str = "flows are a whole number from 1 to 1000000, or none";
            put(&mut options.flows, read::count_or_none(text, 1_000_000, ALLOWED))
        },
        show: |path| Some(drawn(path)?.flows.to_string()),
        ..PATH
    },
    Key {
        name: "arrivals",
        kind: Kind::Text("WHEN"),
        help: "Arrivals of the flows: poisson:PER-SECOND, every:TIME, users:N, who wait for web pages, or at:TIME,TIME,…, which says their \
               number too",
        default: Some("poisson:20"),
        unset: "with --flows: poisson:20",
        examples: &["every:5s"],
        place: 15,
        parse: |options, text| set(&mut options.arrivals, population::arrivals(text)),
        show: |path| Some(drawn(path)?.arrivals.to_string()),
        ..OF_FLOWS
    },
    Key {
        name: "sizes",
        kind: Kind::Text("LAW"),
        help: "Distribution of the flows' sizes around --size: fixed, exponential, lognormal=SIGMA or pareto=SHAPE",
        default: Some("fixed"),
        examples: &["exponential", "lognormal=1.3"],
        excludes: &[never("duration", "with a duration flows go on until it ends")],
        place: 16,
        parse: |options, text| set(&mut options.sizes, population::sizes(text)),
        show: |path| Some(drawn(path).filter(|_| path.is_sized())?.sizes.to_string()),
        ..OF_FLOWS
    },
    Key {
        name: "warm-up",
        kind: Kind::Span,
        help: "Warm-up time: flows that arrive in it are not measured; or none",
        unset: "with poisson: 10s or 100 RTTs; else none",
        default: Some("10s"),
        examples: &["1s", "none"],
        place: 17,
        parse: |options, text| set(&mut options.warm_up, read::span_or_none(text)),
        show: |path| Some(or_none(Some(drawn(path)?.warm_up).filter(|span| !span.is_zero()))),
        ..OF_FLOWS
    },
    Key {
        name: "mixed",
        kind: Kind::FLAG,
        help: "Adds a population in which each flow takes one of the schemes at random",
        default: Some("false"),
        examples: &["true"],
        place: 18,
        parse: |options, text| put(&mut options.mixed, read::boolean(text)),
        show: |path| Some(drawn(path)?.mixed.to_string()),
        ..OF_FLOWS
    },
    Key {
        name: "mixed-share",
        kind: Kind::Share,
        help: "Adds a population in which this share of the flows takes the first scheme, and the other schemes share the rest equally, \
               such as 5%",
        unset: "equal shares",
        default: None,
        examples: &["5%"],
        place: 82,
        parse: |options, text| set(&mut options.mixed_share, read::mixed_share(text)),
        show: |path| drawn(path)?.mixed_share.map(population::show_permille),
        ..OF_FLOWS
    },
    Key {
        name: "app",
        kind: Kind::Text("SIZE,TIME"),
        help: "Periodic writes of the application: size and interval, as in 64kB,200ms, or all at once",
        default: Some("all"),
        examples: &["64kB,200ms"],
        excludes: &[never("flows", "a flow's application writes all at once")],
        place: 19,
        parse: |options, text| put(&mut options.app, keywords::app(text)),
        show: |path| path.app.map(|app| format!("{},{}", show_bytes(app.bytes), show_span(app.period))),
        ..PATH
    },
    Key {
        name: "duration",
        kind: Kind::Span,
        brief: "How long to send, instead of --size",
        help: "How long to send, instead of --size",
        built_in: Some("50s"),
        examples: &["5s"],
        real: true,
        place: 7,
        parse: |options, text| set(&mut options.duration, quantity::span(text)),
        show: |path| match path.goal {
            Goal::Size(_) => None,
            Goal::Duration(duration) => Some(show_span(duration)),
        },
        ..PATH
    },
    Key {
        name: "limit",
        kind: Kind::Span,
        help: "The longest simulated time of a transfer with --size",
        default: Some("1h"),
        examples: &["60s"],
        excludes: &[never("duration", LIMIT_AND_DURATION)],
        real: true,
        place: 8,
        parse: |options, text| set(&mut options.limit, quantity::span(text)),
        show: |path| path.is_sized().then(|| show_span(path.limit)),
        ..PATH
    },
    Key {
        name: "access-rate",
        kind: Kind::Rate,
        help: "Access link's rate",
        unset: "ten times the bottleneck",
        examples: &["50mbit"],
        real: true,
        place: 30,
        parse: |options, text| set(&mut options.access_rate, quantity::rate(text)),
        show: |path| Some(show_rate(path.access_rate)),
        ..PATH
    },
    Key {
        name: "receiver-access-rate",
        kind: Kind::Rate,
        help: "Rate of each receiver's access link, behind the last bottleneck and with a queue like its, or none, which is no \
               such link; with --flows of the link to each host, none being the access rate and no queue that overflows",
        default: Some("none"),
        examples: &["50mbit"],
        real: true,
        place: 46,
        parse: |options, text| put(&mut options.plain.receiver_access_rate, read::rate_or_none(text)),
        show: |path| path.receiver_access_rate.map(show_rate),
        title: |path| {
            let rate = path.receiver_access_rate?;
            let link = if path.population.is_some() { "links to hosts" } else { "receiver's access link" };
            Some(format!("{link} of {}", quantity::humane_rate(rate)))
        },
        ..PATH
    },
    Key {
        name: "reverse-rate",
        kind: Kind::Rate,
        help: "Rate of the reverse path; with --flows of the links from the last router to the first",
        unset: "the access rate, or with --flows the bottleneck's",
        examples: &["1mbit"],
        real: true,
        place: 31,
        parse: |options, text| set(&mut options.reverse_rate, quantity::rate(text)),
        show: |path| {
            let is_own = path.population.is_none() || path.reverse_rate != path.rate;
            is_own.then(|| show_rate(path.reverse_rate))
        },
        ..PATH
    },
    Key {
        name: "reverse-queue",
        kind: Kind::Text("SIZE"),
        help: "Queue of the reverse path: 100p, 64kB, or none, which never overflows; with --flows none is as --queue",
        default: Some("none"),
        examples: &["100p", "64kB"],
        real: true,
        place: 41,
        parse: |options, text| put(&mut options.plain.reverse_queue, read::reverse_queue(text)),
        show: |path| Some(path.reverse_queue?.to_string()),
        ..PATH
    },
    Key {
        name: "reverse-rtt-share",
        kind: Kind::Share,
        help: "Share of the base RTT on the reverse path, from 0 to 1",
        default: Some("0.5"),
        examples: &["0.25"],
        real: true,
        place: 32,
        parse: |options, text| put(&mut options.plain.reverse_rtt_share, quantity::fraction(text)),
        show: |path| {
            let share = path.reverse_rtt_share;
            (path.population.is_none() || share != HALF).then(|| share.to_string())
        },
        ..PATH
    },
    Key {
        name: "loss",
        kind: Kind::Share,
        brief: "Random loss, such as 2% [0]",
        placeholder: "LOSS",
        help: "Random loss, such as 2%, or bursty loss with netem's numbers: gemodel:P[,R[,1-H[,1-K]]], each with %, as \
               gemodel:1%,10% or netem's own `gemodel 1% 10%`",
        default: Some("0"),
        examples: &["0.02", "gemodel:1%,10%,70%,0.1%"],
        real: true,
        place: 28,
        parse: |options, text| {
            let plain = &mut options.plain;
            read::any_loss(text, (&mut plain.loss, &mut plain.loss_bursts))
        },
        show: |path| {
            Some(path.loss_bursts.map_or_else(|| path.loss.to_string(), |bursts| bursts.to_string()))
        },
        title: |path| path.loss_bursts.map(Gemodel::describe),
        ..PATH
    },
    Key {
        name: "ack-loss",
        kind: Kind::Share,
        placeholder: "LOSS",
        help: "Random or bursty loss as of --loss, on each link of the reverse path; with --flows 0 is as --loss",
        default: Some("0"),
        examples: &["0.2", "gemodel:5%,50%,100%,0%"],
        real: true,
        place: 45,
        parse: |options, text| {
            let plain = &mut options.plain;
            read::any_loss(text, (&mut plain.ack_loss, &mut plain.ack_loss_bursts))
        },
        show: |path| match path.ack_loss_bursts {
            Some(bursts) => Some(bursts.to_string()),
            None => (!path.ack_loss.is_zero()).then(|| path.ack_loss.to_string()),
        },
        title: |path| {
            if let Some(bursts) = path.ack_loss_bursts {
                return Some(bursts.describe() + " on the way back");
            }
            let loss = Some(path.ack_loss).filter(|loss| !loss.is_zero())?;
            Some(format!("random loss of {} on the way back", loss.in_percent()))
        },
        ..PATH
    },
    Key {
        name: "jitter",
        kind: Kind::Span,
        brief: "Random extra delay of a packet, at most this [none]",
        help: "Random extra delay of a packet, at most this; order is kept",
        default: Some("none"),
        examples: &["2ms"],
        real: true,
        place: 29,
        parse: |options, text| put(&mut options.plain.jitter, read::span_or_none(text)),
        show: |path| Some(or_none(path.jitter)),
        ..PATH
    },
    Key {
        name: "reverse-jitter",
        kind: Kind::Span,
        help: "Random extra delay of a packet on each link of the reverse path, at most this; order is kept",
        default: Some("none"),
        examples: &["2ms"],
        excludes: &[BOTH_WAYS],
        real: true,
        place: 67,
        parse: |options, text| put(&mut options.plain.reverse_jitter, read::span_or_none(text)),
        show: |path| path.reverse_jitter.map(show_span),
        title: |path| {
            Some(format!("jitter of up to {} on the way back", quantity::humane_span(path.reverse_jitter?)))
        },
        ..PATH
    },
    Key {
        name: "policer",
        kind: Kind::Text("RATE,BURST"),
        help: "Polices what enters the bottleneck, as in 20mbit,64kB",
        default: Some("none"),
        examples: &["20mbit,64kB"],
        real: true,
        place: 34,
        parse: |options, text| put(&mut options.plain.policer, bottleneck::policer(text)),
        show: |path| path.policer.as_ref().map(show_policer),
        ..PATH
    },
    Key {
        name: "rate-trace",
        kind: Kind::Text("FILE"),
        brief: "Rate over time: 0s=100mbit,5s=20mbit, or a file",
        help: "The bottleneck's rate over time: 0s=100mbit,5s=20mbit, a file (one `TIME RATE` a line, mahimahi's lines of \
               milliseconds, netem-trace's JSON), or synthetic lte or leo; then any of loop, loop=TIME, once, start=TIME, \
               start=random. Times are since the simulation began; with cross traffic the flow begins later",
        default: Some("none"),
        unset: "none, which is --rate throughout",
        examples: &[
            "0s=10mbit,2s=0,3s=20mbit",
            "0s=10mbit,2s=20mbit,loop=3s,start=1s",
            "0s=10mbit,1s=20mbit,start=random",
            "lte:mean=5030kbit,silent=0.016,sigma=0.6",
            "leo:min=50mbit,max=250mbit,slot=15s",
        ],
        real: true,
        place: 35,
        parse: |options, text| {
            if text.trim() == "none" {
                (options.plain.rate_trace, options.plain.rate_origin, options.rate_trace_file) =
                    (None, None, None);
                return Ok(());
            }
            let given = traces::rates(text)?;
            (options.plain.rate_trace, options.plain.rate_origin) = (Some(given.trace), given.origin);
            options.rate_trace_file = given.file;
            Ok(())
        },
        show: |path| match &path.rate_origin {
            Some(origin) => Some(origin.text.clone()),
            None => path.rate_trace.as_ref().map(show_rate_trace),
        },
        ..PATH
    },
    Key {
        name: "ack-aggregation",
        kind: Kind::SpanOrCount,
        help: "Releases ACKs in batches: at an interval (5ms) or by number (16)",
        default: Some("none"),
        examples: &["5ms", "16,20ms"],
        excludes: &[BOTH_WAYS],
        real: true,
        place: 36,
        parse: |options, text| put(&mut options.plain.ack_aggregation, bottleneck::ack_aggregation(text)),
        show: |path| path.ack_aggregation.map(show_ack_aggregation),
        ..PATH
    },
    Key {
        name: "qs-hops",
        kind: Kind::Text("HOPS"),
        help: "Routers that take part in Quick-Start: all, none, or how many of the first, the sender's own before its \
               access link among them; with --flows counted along the row, in both directions",
        default: Some("all"),
        examples: &["2", "none"],
        real: true,
        place: 33,
        parse: |options, text| put(&mut options.plain.qs_hops, keywords::quick_start_hops(text)),
        show: |path| Some(path.qs_hops.to_string()),
        ..PATH
    },
    Key {
        name: "qs-router",
        kind: Kind::Text("SETTINGS"),
        help: "What those routers do before links between routers, any of: threshold=95%,interval=100ms, \
               estimator=interval|ewma|peak,weight=10%, intervals=N,reduction=yes|no,rtt-max=500ms or slots=N,ring=oldest|sum",
        unset: "the first of each; peak over rtt-max",
        examples: &[
            "threshold=0.95,interval=100ms,estimator=ewma,weight=0.1,reduction=no,slots=2,ring=oldest",
        ],
        real: true,
        place: 39,
        parse: |options, text| put(&mut options.plain.qs_router, routers::quick_start_router(text)),
        show: |path| (path.qs_router != QuickStartRouter::default()).then(|| path.qs_router.to_string()),
        ..PATH
    },
    Key {
        name: "qs-access",
        kind: Kind::Text("SETTINGS"),
        help: "What those routers do before hosts' access links: approve up to the link's capacity whatever its load, \
               approve all, or settings as of --qs-router",
        default: Some("capacity"),
        examples: &[
            "all",
            "threshold=0.95,interval=100ms,estimator=interval,reduction=yes,rtt-max=500ms,ring=oldest",
        ],
        real: true,
        place: 52,
        parse: |options, text| put(&mut options.plain.qs_access, routers::access_routers(text)),
        show: |path| (path.qs_access != AccessRouters::default()).then(|| path.qs_access.to_string()),
        ..PATH
    },
    Key {
        name: "topology",
        kind: Kind::Text("LINKS"),
        help: "Links: single, or parking-lot:hops=N[,cross=each|through|HOP], bottlenecks in series that share --rtt, each as --rate, \
               --queue and the like say, with its own --cross (each), or all with one; for --flows dumbbell:hosts=N or \
               parking-lot:hops=N,hosts=N, alike in both directions unless --reverse-rate and the like say otherwise, with ways=onward if \
               all flows go one way",
        default: Some("single"),
        examples: &["parking-lot:hops=3,cross=through"],
        real: true,
        place: 40,
        parse: |options, text| put(&mut options.plain.topology, topology::topology(text)),
        show: |path| (path.topology != Topology::Single).then(|| path.topology.to_string()),
        ..PATH
    },
    Key {
        name: "probe",
        kind: Kind::Text("HOW"),
        help: "Send trains that measure the available bandwidth, instead of flows: bracket, paper, program or gap:TIME, then any of \
               packets=N,repeats=N,trains=N,tolerance=SHARE,slack=TIME",
        default: Some("none"),
        examples: &["paper,packets=60", "gap:300us"],
        excludes: &[
            never("flow", TRAINS),
            never("flows", TRAINS),
            never("rounds", TRAINS),
            never("app", TRAINS),
        ],
        sweeps: false,
        place: 57,
        parse: |options, text| put(&mut options.plain.probe, probing::probe(text)),
        show: |path| path.probe.map(|probe| probe.to_string()),
        ..PATH
    },
];

/// Why a probing excludes the keys that describe flows.
const TRAINS: &str = "a probing sends trains, and ends when it knows the turning point";

/// Why a run with a duration does not accept a limit, whether or not the duration is given explicitly.
pub(crate) const LIMIT_AND_DURATION: &str = "a run with a duration ends with it; limit bounds a size";
