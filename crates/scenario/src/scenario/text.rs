//! A scenario as text: canonical, hashed, as a command, in words.

use firstflight::Bytes;

use firstflight_sim::Batch;
use firstflight_tcp::Stack;

use super::{Goal, Rounds, Scenario, Writes, highest};
use crate::bottleneck::{show_ack_aggregation, show_policer, show_queue, show_rate_trace};
use crate::population::Population;
use crate::quantity::{self, QueueSize, show_bytes, show_rate, show_span};
use crate::routers::QuickStartRouter;
use crate::topology::Topology;
use crate::words;

/// Settings that are there or not.
const FLAGS: [&str; 3] = ["timestamps", "ecn", "mixed"];

impl Scenario {
    /// Every option that determines a run but for scheme and seed, as (key, text), in a fixed order. Setting
    /// them gives this scenario again.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        let or_inf = |bytes: Option<Bytes>| bytes.map_or_else(|| "inf".to_owned(), show_bytes);
        let mut settings = vec![
            ("rate", show_rate(self.rate)),
            ("rtt", show_span(self.rtt)),
            ("queue", show_queue(self.queue, self.aqm.as_ref())),
            ("cross", self.cross.to_string()),
            ("mss", self.mss.to_string()),
            match self.goal {
                Goal::Size(bytes) => ("size", show_bytes(bytes)),
                Goal::Duration(duration) => ("duration", show_span(duration)),
            },
        ];
        settings.extend(self.is_sized().then(|| ("limit", show_span(self.limit))));
        settings.push(("ack", words::ack_name(self.ack).to_owned()));
        if let Some(Rounds { count, idle, spread, clients }) = self.rounds {
            settings.extend([
                ("rounds", count.to_string()),
                ("idle", show_span(idle)),
                ("spread", spread.map_or_else(|| "none".to_owned(), show_span)),
                ("clients", clients.to_string()),
            ]);
        }
        if let Some(Population { flows, arrivals, sizes, warm_up, mixed }) = self.population {
            settings.extend([("flows", flows.to_string()), ("arrivals", arrivals.to_string())]);
            settings.extend(self.is_sized().then(|| ("sizes", sizes.to_string())));
            let warm_up = if warm_up.is_zero() { "none".to_owned() } else { show_span(warm_up) };
            settings.extend([("warm-up", warm_up), ("mixed", mixed.to_string())]);
        }
        let app = |app: Writes| ("app", format!("{},{}", show_bytes(app.bytes), show_span(app.period)));
        settings.extend(self.app.map(app));
        settings.extend(self.avoidance.map(|law| ("avoidance", law.to_owned())));
        settings.extend([
            ("recovery", words::recovery_name(self.recovery).to_owned()),
            ("restart", self.restart.to_string()),
            ("ssthresh", or_inf(self.ssthresh)),
            ("iw", format!("{}p", self.iw)),
            ("rwnd", show_bytes(self.rwnd)),
            ("min-rto", show_span(self.min_rto)),
            ("timestamps", self.timestamps.to_string()),
            ("loss", self.loss.to_string()),
            ("jitter", self.jitter.map_or_else(|| "none".to_owned(), show_span)),
            ("access-rate", show_rate(self.access_rate)),
        ]);
        // Links between hosts are alike in both directions.
        if self.population.is_none() {
            let share = self.reverse_rtt_share.to_string();
            settings.extend([("reverse-rate", show_rate(self.reverse_rate)), ("reverse-rtt-share", share)]);
        }
        settings.push(("qs-hops", self.qs_hops.to_string()));
        settings.extend(self.policer.as_ref().map(|policer| ("policer", show_policer(policer))));
        settings.extend(self.rate_trace.as_ref().map(|trace| ("rate-trace", show_rate_trace(trace))));
        let aggregation = self.ack_aggregation;
        settings.extend(aggregation.map(|batch| ("ack-aggregation", show_ack_aggregation(batch))));
        settings.extend(self.ecn.then(|| ("ecn", true.to_string())));
        settings.extend(words::stack_if_not_rfc(self.stack).map(|stack| ("stack", stack.to_owned())));
        let router = Some(self.qs_router).filter(|router| *router != QuickStartRouter::default());
        settings.extend(router.map(|router| ("qs-router", router.to_string())));
        let topology = Some(self.topology).filter(|topology| *topology != Topology::Single);
        settings.extend(topology.map(|topology| ("topology", topology.to_string())));
        settings.extend(self.reverse_queue.map(|queue| ("reverse-queue", queue.to_string())));
        settings
    }

    /// The canonical text: a scenario file that gives this scenario again, seed and schemes aside.
    pub fn canonical(&self) -> String {
        self.settings().into_iter().fold(String::new(), |text, (key, value)| {
            let quoted = if FLAGS.contains(&key) { value } else { format!("\"{value}\"") };
            text + key + " = " + &quoted + "\n"
        })
    }

    /// The hash of the canonical text: FNV-1a of 64 bits, 16 hexadecimal digits. Seed, runs and schemes are not
    /// in it: a row names them beside it.
    pub fn hash(&self) -> String {
        format!("{:016x}", fnv_1a(self.canonical().as_bytes()))
    }

    /// The command that makes the race again, with nothing left to defaults. `program` is the name of a command that knows the
    /// schemes, and `schemes` the list as [`crate::show_choices`] writes it.
    pub fn command(&self, program: &str, schemes: &str) -> String {
        let options: String = self
            .settings()
            .into_iter()
            .map(|(key, value)| match (key, value.as_str()) {
                (flag, "true") if FLAGS.contains(&flag) => format!(" --{flag}"),
                (flag, _) if FLAGS.contains(&flag) => String::new(),
                _ => format!(" --{key} {}", quote(&value)),
            })
            .collect();
        let (schemes, runs, seed) = (quote(schemes), self.runs, self.seed);
        format!("{program} race{options} --schemes {schemes} --runs {runs} --seed {seed}")
    }

    fn describe_rounds(&self, bytes: Bytes) -> String {
        let Some(Rounds { count, idle, clients, .. }) = self.rounds else { return String::new() };
        let clients = if clients == 1 { String::new() } else { format!(" to each of {clients} clients") };
        let (bytes, idle) = (quantity::humane_bytes(bytes), quantity::humane_span(idle));
        format!("{count} rounds of {bytes}{clients}, {idle} idle between")
    }

    /// The way back, if it is slower than the bottleneck or may overflow.
    fn describe_way_back(&self) -> String {
        let rate = Some(self.reverse_rate).filter(|rate| *rate < self.rate);
        let rate = rate.map(|rate| format!(", {} back", quantity::humane_rate(rate)));
        let queue = self.reverse_queue.map(|queue| match queue {
            QueueSize::Packets(packets) => format!(", queue back of {}", some_packets(packets)),
            QueueSize::Bytes(bytes) => format!(", queue back of {}", quantity::humane_bytes(bytes)),
            QueueSize::Bdp(share) => format!(", queue back of {share} BDP"),
        });
        rate.unwrap_or_default() + &queue.unwrap_or_default()
    }

    /// The access links, if they are no faster than the bottleneck: then what is called so is none.
    fn describe_access(&self) -> String {
        let rate = highest(self.rate_trace.as_ref()).unwrap_or(self.rate);
        let links = if self.population.is_some() { "links" } else { "link" };
        if self.access_rate > rate {
            return String::new();
        }
        format!(", access {links} of {}", quantity::humane_rate(self.access_rate))
    }

    /// The path in words, for titles.
    pub fn describe(&self) -> String {
        let queue = match self.queue {
            QueueSize::Packets(packets) => some_packets(packets),
            QueueSize::Bytes(bytes) => quantity::humane_bytes(bytes),
            QueueSize::Bdp(share) => format!("{share} BDP"),
        };
        let kind = self.aqm.map_or("drop-tail", |aqm| aqm.kind.title());
        let marks = if self.ecn && self.aqm.is_some_and(|aqm| aqm.ecn) { " that marks" } else { "" };
        let cross = self.topology.describe_cross(&self.cross.describe());
        let hops = self.topology.describe();
        let goal = match self.goal {
            Goal::Size(bytes) if self.rounds.is_some() => self.describe_rounds(bytes),
            Goal::Size(bytes) => match self.population {
                Some(flows) => flows.describe(Some(bytes)),
                None => format!("{} to transfer", quantity::humane_bytes(bytes)),
            },
            Goal::Duration(span) => {
                let flows = self.population.map_or_else(String::new, |flows| flows.describe(None) + ", for ");
                flows + &quantity::humane_span(span)
            }
        };
        let app = self.app.map_or_else(String::new, |app| {
            let (bytes, period) = (quantity::humane_bytes(app.bytes), quantity::humane_span(app.period));
            format!(", written {bytes} every {period}")
        });
        let rate = match highest(self.rate_trace.as_ref()) {
            Some(highest) => format!("a rate along a trace, {} at most", quantity::humane_rate(highest)),
            None => quantity::humane_rate(self.rate),
        };
        let policer = self.policer.map_or_else(String::new, |policer| {
            let (rate, burst) = (quantity::humane_rate(policer.rate), quantity::humane_bytes(policer.burst));
            format!(", policed to {rate} and {burst}")
        });
        let access = self.describe_access();
        let acks = match self.ack_aggregation {
            None => String::new(),
            Some(Batch::Every(span)) => format!(", ACKs released every {}", quantity::humane_span(span)),
            Some(Batch::Of { packets, .. }) => format!(", ACKs released {packets} at a time"),
        };
        let back = if self.population.is_some() { String::new() } else { self.describe_way_back() };
        let stack = match self.stack {
            Stack::Rfc => "",
            Stack::Linux => ", Linux's senders",
        };
        let jitter = self.jitter.map_or_else(String::new, |jitter| {
            format!(", up to {} of jitter", quantity::humane_span(jitter))
        });
        let is_lossy = self.loss.times(1_000_000_000) != Some(0);
        let loss =
            if is_lossy { format!(", random loss of {}", self.loss.in_percent()) } else { String::new() };
        format!(
            "{hops}{rate}{policer}{access}, {} base RTT{jitter}{loss}, {kind} queue of {queue}{marks}, {cross}{back}{acks}, \
             {}-byte packets, {goal}{app}{stack}",
            quantity::humane_span(self.rtt),
            self.packet(),
        )
    }
}

/// FNV-1a of 64 bits (RFC 9923).
pub fn fnv_1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Quotes a word for a POSIX shell where that is needed.
fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=:,./+%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn some_packets(count: u32) -> String {
    format!("{count} packet{}", if count == 1 { "" } else { "s" })
}
