//! The results of an emulated run, as text and as JSON.

use std::ffi::OsString;
use std::io;
use std::time::Duration;

use firstflight::Span;
use firstflight_emulate::linux::{Done, Ended, Ending};
use firstflight_emulate::{A, B, DirectionReport, LatenessReport, Side};
use firstflight_export::json;
use firstflight_measure::VERSION;
use firstflight_report::human;
use firstflight_scenario::Scenario;
use firstflight_scenario::keys::key;
use serde::Serialize;

use super::beside::Asked;

/// A run with its settings and results.
pub(super) struct Reported<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) sender: Side,
    /// The congestion control that was set as the sending host's default.
    pub(super) congestion_control: Option<&'a str>,
    /// The connections that requested a rate; `None` if Quick-Start was not attached.
    pub(super) quick_start: Option<Vec<Asked>>,
    pub(super) commands: &'a [Vec<OsString>; 2],
    pub(super) done: &'a Done,
}

/// The line of JSON for a run.
#[derive(Serialize)]
struct Line<'a> {
    version: &'a str,
    /// Every key of the path, as in the canonical text of a scenario.
    path: serde_json::Map<String, serde_json::Value>,
    seed: u64,
    sender: &'a str,
    /// The congestion control that was set as the sending host's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    congestion_control: Option<&'a str>,
    /// The connections that requested a rate; `None` if Quick-Start was not attached.
    #[serde(skip_serializing_if = "Option::is_none")]
    quick_start: Option<&'a [Asked]>,
    /// Whether the run is invalid because packets were too late, were lost outside the path, or waited too long for the relay.
    void: bool,
    /// The time of the path's clock zero, in nanoseconds since 1970. Times in the log count from it.
    began_unix_ns: u64,
    duration_s: f64,
    /// The cause of the run's end: command, duration, limit or interrupt.
    ended_by: &'a str,
    /// Whether the relay had a real-time priority.
    real_time: bool,
    a: HostLine,
    b: HostLine,
    forward: &'a DirectionReport,
    reverse: &'a DirectionReport,
    lateness: &'a LatenessReport,
    /// The time for which the path had nothing to send because packets waited for the relay.
    behind_s: f64,
    /// The time for which a process of this machine waited for a processor; `None` if the kernel does not count it.
    processor_wait_s: Option<f64>,
}

/// The command of a host, and how it ended.
#[derive(Serialize)]
struct HostLine {
    address: String,
    command: Vec<String>,
    exit_code: Option<i32>,
    signal: Option<i32>,
    /// Whether the program asked the command to terminate.
    terminated: bool,
    /// Packets lost outside the path: the host's interface dropped them because they were not relayed in time.
    unread: u64,
}

impl Reported<'_> {
    /// Returns the run as one line of JSON.
    pub(super) fn json(&self) -> io::Result<String> {
        let report = &self.done.report;
        json::line(&Line {
            version: VERSION,
            path: self.settings().map(|(key, text)| (key.to_owned(), text.into())).collect(),
            seed: self.scenario.seed,
            sender: self.sender.name(),
            congestion_control: self.congestion_control,
            quick_start: self.quick_start.as_deref(),
            void: self.done.is_void(),
            began_unix_ns: self.done.began,
            duration_s: self.seconds(),
            ended_by: self.ended_by(),
            real_time: self.done.is_real_time,
            a: self.host(Side::A),
            b: self.host(Side::B),
            forward: &report.forward,
            reverse: &report.reverse,
            lateness: &report.lateness,
            behind_s: seconds(report.behind),
            processor_wait_s: self.done.processor_wait.map(seconds),
        })
    }

    /// Returns the keys of the path, including those that were not given.
    fn settings(&self) -> impl Iterator<Item = (&'static str, String)> {
        let of_the_path =
            |name: &str| key(name).is_some_and(|key| key.real) && !["duration", "limit"].contains(&name);
        self.scenario.settings().into_iter().filter(move |(name, _)| of_the_path(name))
    }

    fn seconds(&self) -> f64 {
        seconds(self.done.report.duration)
    }

    fn ended_by(&self) -> &'static str {
        match self.done.ending {
            Ending::Command => "command",
            Ending::Duration => "duration",
            Ending::Limit => "limit",
            Ending::Interrupted => "interrupt",
        }
    }

    fn host(&self, side: Side) -> HostLine {
        let ended = self.done.ended[side as usize];
        HostLine {
            address: side.host().v4.to_string(),
            command: self.commands[side as usize]
                .iter()
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
            exit_code: ended.and_then(|ended| match ended {
                Ended::Exited(code) => Some(code),
                Ended::Signalled(_) => None,
            }),
            signal: ended.and_then(|ended| match ended {
                Ended::Exited(_) => None,
                Ended::Signalled(signal) => Some(signal),
            }),
            unread: self.done.unread[side as usize],
            terminated: match side {
                Side::A => self.done.ending != Ending::Command,
                Side::B => self.done.is_b_terminated,
            },
        }
    }

    /// Returns the run as a table.
    pub(super) fn text(&self) -> String {
        let report = &self.done.report;
        let mut text = String::from("\n");
        let path: Vec<_> = self.settings().map(|(key, value)| format!("{key} {value}")).collect();
        let path = path.join(", ");
        let (from, to) = (self.sender.name(), self.sender.other().name());
        let mut line = |line: String| text.extend([firstflight_trace::in_a_line(&line), "\n".to_owned()]);
        line(format!("Path: {path}; {from} to {to}; {}", human::seconds(self.seconds())));
        if let Some(name) = self.congestion_control {
            line(format!("Congestion control of {from}: {name}"));
        }
        for side in Side::BOTH {
            line(format!("{}: {}", side.name(), self.told_of(side)));
        }
        for asked in self.quick_start.iter().flatten() {
            line(asked.line());
        }
        let ways = [&report.forward, &report.reverse];
        let row = |name: &str, cell: &dyn Fn(&DirectionReport) -> String| {
            format!("{name:<26}{:>16}{:>16}", cell(ways[0]), cell(ways[1]))
        };
        line(format!("{:<26}{:>16}{:>16}", "", format!("{from} to {to}"), format!("{to} to {from}")));
        line(row("packets in", &|way| human::count(way.packets_in)));
        line(row("packets out", &|way| human::count(way.packets_out)));
        line(row("bytes out", &|way| human::count(way.bytes_out)));
        line(row("rate", &|way| way.rate_bps.map_or_else(|| "-".to_owned(), human::rate)));
        line(row("busiest second", &|way| {
            way.busiest_second_bps.map_or_else(|| "-".to_owned(), human::rate)
        }));
        line(row("dropped by a queue", &|way| human::count(way.dropped.queue)));
        line(row("dropped by the policer", &|way| human::count(way.dropped.policer)));
        line(row("lost at random", &|way| human::count(way.dropped.random)));
        line(row("not taken by the host", &|way| human::count(way.dropped.host)));
        line(row("on the path at the end", &|way| human::count(way.inside)));
        line(row("marked", &|way| human::count(way.marked)));
        line(row("peak queue, packets", &|way| human::count(u64::from(way.peak_queue_packets))));
        line(row("peak queue, bytes", &|way| human::count(way.peak_queue_bytes)));
        line(row("minimum delay", &|way| millis(way.base_delay_ms)));
        line(row("most delay", &|way| millis(way.peak_delay_ms)));
        if report.forward.cross_dropped > 0 {
            line(row("cross traffic dropped", &|way| human::count(way.cross_dropped)));
        }
        if report.forward.quick_start_asked > 0 {
            line(row("Quick-Start asked", &|way| human::count(way.quick_start_asked)));
            line(row("Quick-Start approved", &|way| {
                human::count(way.quick_start_granted + way.quick_start_reduced)
            }));
        }
        if report.forward.astray + report.reverse.astray > 0 {
            line(row("for no host", &|way| human::count(way.astray)));
        }
        if self.done.unread != [0, 0] {
            let [a, b] = self.done.unread;
            line(format!(
                "INVALID: lost outside the path, because they were not relayed in time: {a} packets of A, {b} of B"
            ));
        }
        let LatenessReport { packets, mean_us, p50_us, p99_us, max_us, .. } = &report.lateness;
        if *packets > 0 {
            line(format!(
                "Late in µs: mean {mean_us:.1}, median {p50_us:.1}, 99 % under {p99_us:.1}, at most {max_us:.1}{}{}",
                if self.done.is_real_time { "" } else { "; without real-time priority" },
                if report.is_late { ". INVALID" } else { "" },
            ));
            if report.is_behind {
                line(format!(
                    "INVALID: packets waited for the relay for {:.3} s, and the path had nothing to send",
                    seconds(report.behind)
                ));
            }
            let counts = report.lateness.histogram.iter();
            let counts: Vec<_> = counts.map(|(bound, count)| format!("<{bound}: {count}")).collect();
            line(format!("  {}", counts.join("  ")));
        }
        if let Some(wait) = self.done.processor_wait.filter(|_| self.done.is_crowded()) {
            line(format!(
                "Processes of this machine waited for a processor for {:.0} % of the time: the programs may have sent less than the path carries",
                100.0 * seconds(wait) / self.seconds()
            ));
        }
        text
    }

    fn told_of(&self, side: Side) -> String {
        let HostLine { address, command, terminated, .. } = self.host(side);
        let ended = match self.done.ended[side as usize] {
            None if command.is_empty() => "no command".to_owned(),
            None if terminated => "killed, since it did not end when asked to".to_owned(),
            None => "did not end".to_owned(),
            Some(_) if terminated => "asked to end".to_owned(),
            Some(Ended::Exited(code)) => format!("status {code}"),
            Some(Ended::Signalled(signal)) => format!("ended by signal {signal}"),
        };
        let command = command.join(" ");
        let mut shown: String = command.chars().take(60).collect();
        if shown.len() < command.len() {
            shown.push('…');
        }
        if shown.is_empty() { format!("{address}, {ended}") } else { format!("{address}, {ended}; {shown}") }
    }
}

fn millis(ms: Option<f64>) -> String {
    ms.map_or_else(|| "-".to_owned(), |ms| format!("{ms:.3} ms"))
}

/// Returns the text that `--shell` prints: how to get a shell at host B. `process` is the first process of that host.
pub(super) fn invitation(process: u32) -> String {
    let (a, b) = (A.v4, B.v4);
    let users = |process: &str| std::fs::read_link(format!("/proc/{process}/ns/user")).ok();
    // The user namespace is entered only if it differs from the current one.
    let user =
        if users("self") == users(&process.to_string()) { "" } else { " --user --preserve-credentials" };
    format!(
        "This shell is host A, {a}. For a shell at host B, {b}, say in another terminal:\n  \
         nsenter --target {process}{user} --net --pid --mount sh\nThe path ends with this shell.\n"
    )
}

/// Returns a span in seconds.
pub(super) fn seconds(span: Span) -> f64 {
    Duration::from_nanos(span.nanos()).as_secs_f64()
}
