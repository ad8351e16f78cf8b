//! The text forms of a scenario: canonical text, hash, command and words.

use firstflight::Bytes;
use firstflight_measure::WINDOW_FIELDS;
use firstflight_sim::Batch;

use super::{Goal, Rounds, Scenario, fnv_1a, highest};
use crate::keys::{Heading, Key, keys};
use crate::keywords;
use crate::named_link::show_links;
use crate::quantity::{self, QueueSize};
use crate::script::ScriptedFlow;
use crate::traces::TraceOrigin;
use crate::windows::{Window, show_windows};

impl Scenario {
    /// Returns every key that determines a run, except scheme and seed, with its text. The order is that of [`crate::keys::Key::place`]. If
    /// these keys are set, the result is this scenario again.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        self.shown().map(|(key, text)| (key.name, text)).collect()
    }

    fn shown(&self) -> impl Iterator<Item = (&'static Key, String)> {
        let of_the_path = keys().filter(|key| key.heading != Heading::Runs);
        let mut shown: Vec<_> = of_the_path.filter_map(|key| Some((key, (key.show)(self)?))).collect();
        shown.sort_unstable_by_key(|(key, _)| key.place);
        shown.into_iter()
    }

    /// Returns the canonical text: a scenario file that describes this scenario, without seed and schemes.
    pub fn canonical(&self) -> String {
        self.shown().fold(String::new(), |text, (key, value)| {
            let quoted = if key.is_flag() { value } else { format!("\"{value}\"") };
            text + key.name + " = " + &quoted + "\n"
        })
    }

    /// Returns the hash of the canonical text: 64-bit FNV-1a as 16 hexadecimal digits. The text has no seed, runs or schemes, so a row
    /// states these in addition to the hash.
    pub fn hash(&self) -> String {
        format!("{:016x}", fnv_1a(self.canonical().as_bytes()))
    }

    /// Returns the command that repeats the race, with every key explicit. `program` is a command that knows the schemes, and `schemes` is
    /// the list as [`crate::show_choices`] writes it.
    pub fn command(&self, program: &str, schemes: &str) -> String {
        let option = |(key, value): (&Key, String)| match (key.is_flag(), value.as_str()) {
            (true, "true") => format!(" --{}", key.name),
            (true, _) => String::new(),
            (false, value) => format!(" --{} {}", key.name, quote(value)),
        };
        let options: String = self.shown().map(option).collect();
        let (schemes, runs, seed) = (quote(schemes), self.runs, self.seed);
        let windows =
            show_windows(&self.windows).map_or_else(String::new, |text| format!(" --windows {text}"));
        let links =
            show_links(&self.measured_links).map_or_else(String::new, |text| format!(" --links {text}"));
        format!("{program} race{options} --schemes {schemes} --runs {runs} --seed {seed}{windows}{links}")
    }

    /// Returns the names of the fields that the measuring windows add to each row, in the order of the row.
    pub fn window_fields(&self) -> Vec<String> {
        let of_window = |window: &Window| {
            let links =
                self.measured_links.iter().map(|link| format!("{}_{}", window.suffix(), link.suffix()));
            std::iter::once(window.suffix()).chain(links).collect::<Vec<_>>()
        };
        let suffixes = self.windows.iter().flat_map(of_window);
        suffixes.flat_map(|suffix| WINDOW_FIELDS.map(|stem| format!("{stem}_{suffix}"))).collect()
    }

    /// Returns the first few flows of the script in words; `None` without a script.
    pub(crate) fn describe_script(&self) -> Option<String> {
        const FEW: usize = 4;
        if self.rounds.is_some() && !self.script.is_empty() {
            return Some(format!("clients: {}", self.describe_clients()));
        }
        let flow = |flow: &ScriptedFlow| {
            let scheme = flow.scheme.clone().unwrap_or_else(|| "the row's scheme".to_owned());
            let policy = flow.restart.as_ref().map(|policy| format!(" with {policy}"));
            let size = self.size_of(flow).map(|size| format!(" of {}", quantity::humane_bytes(size)));
            let start =
                if flow.start.is_zero() { "0 s".to_owned() } else { quantity::humane_span(flow.start) };
            let end = flow.end.map(|end| format!(" until {}", quantity::humane_span(end)));
            let parts = [policy, size, Some(format!(" at {start}")), end];
            parts.into_iter().flatten().fold(scheme, |all, part| all + &part)
        };
        let mut said: Vec<String> = self.script.iter().take(FEW).map(flow).collect();
        let more = self.script.len().saturating_sub(FEW);
        if more > 0 {
            said.push(format!("{more} more"));
        }
        (!said.is_empty()).then(|| said.join("; "))
    }

    /// Returns the number of clients of rounds that have each scheme, in words.
    fn describe_clients(&self) -> String {
        let mut kinds: Vec<(String, usize)> = Vec::new();
        for flow in &self.script {
            let policy = flow.restart.as_ref().map(|policy| format!(" with {policy}"));
            let acks = flow.ack.map(|ack| format!(" with ACKs {}", keywords::ack_name(ack)));
            let parts = [flow.scheme.clone(), policy, acks];
            let said: String = parts.into_iter().flatten().collect();
            match kinds.iter_mut().find(|(kind, _)| *kind == said) {
                Some((_, count)) => *count += 1,
                None => kinds.push((said, 1)),
            }
        }
        kinds.iter().map(|(kind, count)| format!("{count} of {kind}")).collect::<Vec<_>>().join(", ")
    }

    fn describe_rounds(&self, bytes: Bytes) -> String {
        let Some(Rounds { count, idle, clients, .. }) = self.rounds else { return String::new() };
        let clients = if clients == 1 { String::new() } else { format!(" to each of {clients} clients") };
        let (bytes, idle) = (quantity::humane_bytes(bytes), quantity::humane_span(idle));
        format!("{count} rounds of {bytes}{clients}, {idle} idle between")
    }

    /// Returns the reverse path in words; empty unless it is slower than the bottleneck or its queue is limited.
    fn describe_reverse(&self) -> String {
        let is_told =
            self.reverse_rate < self.rate || self.population.is_some() && self.reverse_rate != self.rate;
        let rate = Some(self.reverse_rate).filter(|_| is_told);
        let rate = rate.map(|rate| format!(", {} back", quantity::humane_rate(rate)));
        let queue = self.reverse_queue.map(|queue| match queue {
            QueueSize::Packets(packets) => format!(", queue back of {}", some_packets(packets)),
            QueueSize::Bytes(bytes) => format!(", queue back of {}", quantity::humane_bytes(bytes)),
            QueueSize::Bdp(share) => format!(", queue back of {share} BDP"),
        });
        rate.unwrap_or_default() + &queue.unwrap_or_default()
    }

    /// Returns the access links in words; empty unless they may be the real bottleneck because they are no faster than the bottleneck.
    fn describe_access(&self) -> String {
        let rate = highest(self.rate_trace.as_ref()).unwrap_or(self.rate);
        let links = if self.population.is_some() { "links" } else { "link" };
        if self.access_rate > rate {
            return String::new();
        }
        format!(", access {links} of {}", quantity::humane_rate(self.access_rate))
    }

    /// Returns the path in words, for titles.
    pub fn describe(&self) -> String {
        let queue = match self.queue {
            QueueSize::Packets(packets) => some_packets(packets),
            QueueSize::Bytes(bytes) => quantity::humane_bytes(bytes),
            QueueSize::Bdp(share) => format!("{share} BDP"),
        };
        let kind = self.aqm.map_or("drop-tail", |aqm| aqm.kind.title());
        let marks = if self.ecn && self.aqm.is_some_and(|aqm| aqm.ecn) { " that marks" } else { "" };
        let cross = self.describe_traffic();
        let hops = self.topology.describe();
        let goal = match self.goal {
            _ if let Some(probe) = self.probe => probe.describe(),
            Goal::Size(bytes) if self.rounds.is_some() => self.describe_rounds(bytes),
            Goal::Size(bytes) => match &self.population {
                Some(flows) if !self.script.is_empty() => some_flows(flows.flows),
                Some(flows) => flows.describe(Some(bytes)),
                None => format!("{} to transfer", quantity::humane_bytes(bytes)),
            },
            Goal::Duration(span) => {
                let flows = self.population.as_ref();
                let flows = flows.map_or_else(String::new, |flows| match self.script.as_slice() {
                    [] => flows.describe(None) + ", for ",
                    script => some_flows(u32::try_from(script.len()).unwrap_or(u32::MAX)) + ", for ",
                });
                flows + &quantity::humane_span(span)
            }
        };
        let app = self.app.map_or_else(String::new, |app| {
            let (bytes, period) = (quantity::humane_bytes(app.bytes), quantity::humane_span(app.period));
            format!(", written {bytes} every {period}")
        });
        let synthetic = self.rate_origin.as_ref().and_then(TraceOrigin::synthetic);
        let rate = match highest(self.rate_trace.as_ref()) {
            Some(_) if synthetic.is_some() => format!("a synthetic rate {}", synthetic.unwrap_or_default()),
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
        let back = self.describe_reverse();
        let titles = keys().filter_map(|key| (key.title)(self));
        let more = titles.fold(String::new(), |more, title| more + ", " + &title);
        let jitter = self.jitter.map_or_else(String::new, |jitter| {
            format!(", up to {} of jitter", quantity::humane_span(jitter))
        });
        let is_lossy = self.loss.times(1_000_000_000) != Some(0);
        let loss =
            if is_lossy { format!(", random loss of {}", self.loss.in_percent()) } else { String::new() };
        format!(
            "{hops}{rate}{policer}{access}, {} base RTT{jitter}{loss}, {kind} queue of {queue}{marks}, {cross}{back}{acks}, \
             {}-byte packets, {goal}{app}{more}",
            quantity::humane_span(self.rtt),
            self.packet(),
        )
    }
}

/// Quotes a word for a POSIX shell if it needs quotes.
pub fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=:,./+%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn some_flows(count: u32) -> String {
    format!("{count} flow{}", if count == 1 { "" } else { "s" })
}

fn some_packets(count: u32) -> String {
    format!("{count} packet{}", if count == 1 { "" } else { "s" })
}
