//! The replay of a qlog to a scheme, in open loop: the scheme gets the packets that the log's own controller sent, with their
//! acknowledgements and losses, and its decisions change nothing.

use std::cmp::Reverse;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use firstflight::registry::Registry;
use firstflight::{Bytes, Span, Time, TraceRecord};
use firstflight_inspect::QuicLog;
use firstflight_qlog::{self as qlog, Carries, Connection, Event, Packet, Space, State, Summary};
use firstflight_quic::{AckEnd, AnyHost, ExitReport, Host, Limit, Observer, PacketSent, Settings};
use firstflight_report::prose;
use firstflight_scenario::ByName;
use firstflight_trace::{Departures, FORMAT, Header, Hosts};

use super::options::Replay;
use super::shown::Shown;
use crate::captures::{self, Input};
use crate::excerpt;
use crate::failure::Failure;
use crate::output;
use crate::session;

/// The initial window in packets if the log does not have it (RFC 9002 section 7.2).
const INITIAL_WINDOW: u32 = 10;

/// What the first reading of the file finds.
#[derive(Clone, Copy, Default)]
struct Found {
    /// Bytes of the data sent, and of the largest packet with data.
    bytes: u64,
    mtu: u64,
    /// Time of the first packet with data, in nanoseconds.
    first_at: Option<u64>,
    /// The first congestion window in the log.
    window: Option<u64>,
}

/// The connection that is replayed: the one of the file that sent most.
struct Chosen {
    index: usize,
    found: Found,
    summary: Summary,
    log: QuicLog,
}

impl Chosen {
    fn connection(&self) -> &Connection {
        &self.summary.connections[self.index]
    }
}

/// Replays the connection of the file that sent most.
pub(super) fn replay(replay: &Replay, first: Input, registry: Registry) -> Result<(), Failure> {
    let path = &replay.events;
    if captures::is_stdin(path) {
        return Err(Failure::usage("a qlog is read twice: give its file instead of standard input"));
    }
    let Some(scheme) = &replay.scheme else {
        return Err(Failure::usage(format!(
            "{}: a qlog has no recorded scheme; choose one with --scheme",
            excerpt::name(path)
        )));
    };
    let name = captures::shown(path);
    let chosen = choose(path, &name, first)?;
    notes(&name, &chosen.summary, chosen.connection());
    let Found { mtu, window, .. } = chosen.found;
    let header = header(scheme, mtu, window, registry)?;
    let controller =
        registry.controller_of(&header).map_err(|error| Failure::usage(format!("--scheme: {error}")))?;
    let said = format!(
        "open loop: {name} has the packets of its own controller, {}; the decisions change nothing",
        excerpt::message(&chosen.connection().title)
    );
    let shown = if replay.json {
        output::say(&format!("note: {said}\n"));
        Shown::trace(&header, false)
    } else {
        output::print(&(prose::fold(&said, output::stdout_width(), 2) + "\n"))?;
        Shown::text(&header, replay.all, false)
    };
    let recorder = Arc::new(Recorder::default());
    let settings = Settings { mtu: Bytes::new(mtu), ..Settings::default() };
    let host = Host::observed(controller, settings, Time::ZERO, Some(recorder.clone()));
    let feed = Feed { host, window: None, in_flight: 0, is_idle: false, lost_at: None, collapsed_at: None };
    let (calls, exit) = run(path, chosen.index, feed, &recorder, shown)?;
    if replay.json {
        return Ok(());
    }
    let last =
        format!("{calls} calls in open loop; {}; {}", decided(scheme, exit.as_ref()), of_the_log(chosen));
    session::text("title", || said);
    session::text("verdict", || last.clone());
    output::print(&(prose::fold(&last, output::stdout_width(), 2) + "\n"))
}

/// Reads the file for the first time, and chooses a connection.
fn choose(path: &Path, name: &str, first: Input) -> Result<Chosen, Failure> {
    let mut found: Vec<Found> = Vec::new();
    let mut logs: Vec<QuicLog> = Vec::new();
    let summary = qlog::read(first, &mut |index: usize, at: u64, event: &Event<'_>| {
        while found.len() <= index {
            found.push(Found::default());
            logs.push(QuicLog::new(false));
        }
        logs[index].event(at, event);
        let found = &mut found[index];
        match event {
            Event::Sent(packet) if packet.space == Space::Application => {
                found.bytes += packet.bytes;
                found.mtu = found.mtu.max(packet.bytes);
                if packet.carries != Carries::Control {
                    found.first_at.get_or_insert(at);
                }
            }
            Event::Metrics(metrics) => found.window = found.window.or(metrics.window),
            _ => {}
        }
    })
    .map_err(|error| captures::unreadable(path, &error))?;
    let largest = (0..found.len()).max_by_key(|index| (found[*index].bytes, Reverse(*index)));
    match largest.filter(|index| found[*index].bytes > 0) {
        Some(index) => Ok(Chosen { index, found: found[index], summary, log: logs.swap_remove(index) }),
        None => Err(Failure::check(format!(
            "{name}: the log has no packets with data, so there is nothing to replay"
        ))),
    }
}

/// Reads the file for the second time, and shows the decisions. Returns the number of calls and the first exit.
fn run(
    path: &Path,
    chosen: usize,
    mut feed: Feed,
    recorder: &Recorder,
    mut shown: Shown,
) -> Result<(u64, Option<ExitReport>), Failure> {
    let mut failure = None;
    let mut calls = 0;
    let mut exit = None;
    let mut show = || {
        let Records { calls: records, exit: first } = recorder.take();
        exit = exit.or(first);
        for record in records {
            calls += 1;
            if let Err(error) = shown.add(&record) {
                failure.get_or_insert(error);
            }
        }
        failure.is_none()
    };
    let mut is_shown = true;
    qlog::read(captures::opened(path)?, &mut |index: usize, at: u64, event: &Event<'_>| {
        if index == chosen && is_shown {
            feed.event(Time::ZERO + Span::from_nanos(at), event);
            is_shown = show();
        }
    })
    .map_err(|error| captures::unreadable(path, &error))?;
    feed.report_loss();
    show();
    failure.map_or(Ok(()), Err)?;
    shown.finish()?;
    Ok((calls, exit))
}

/// Returns the end of the scheme's start-up, in words.
fn decided(scheme: &str, exit: Option<&ExitReport>) -> String {
    match exit {
        Some(ExitReport { at, exit, window, .. }) => format!(
            "{scheme} leaves start-up at {} s by {}, with a window of {} B",
            seconds(at.nanos()),
            exit.cause.name(),
            window.get()
        ),
        None => format!("{scheme} does not leave start-up"),
    }
}

/// Returns the end of the start-up of the log's controller, in words.
fn of_the_log(chosen: Chosen) -> String {
    let Chosen { index, found, summary, log } = chosen;
    let log = log.finish(1, &summary.connections[index], summary.early.is_some()).found;
    match (log.exit_cause, log.exit_time_s, found.first_at) {
        (Some(cause), Some(time), Some(first)) => {
            let window = log.exit_window_bytes.map(|bytes| format!(", with a window of {bytes} B"));
            let since = Duration::try_from_secs_f64(time).unwrap_or_default().as_nanos();
            let at = seconds(first.saturating_add(u64::try_from(since).unwrap_or(u64::MAX)));
            let by = log.exit_shown_by.unwrap_or("packets");
            format!(
                "the log's controller at {at} s by {cause}{} (shown by its {by})",
                window.unwrap_or_default()
            )
        }
        (Some("none"), ..) => "the log's controller does not".to_owned(),
        _ => "when the log's controller does is not to be seen".to_owned(),
    }
}

/// Returns a time in seconds, to the microsecond.
fn seconds(nanos: u64) -> String {
    format!("{}.{:06}", nanos / 1_000_000_000, nanos / 1_000 % 1_000_000)
}

/// Prints what the log lacks, and which of its connections is replayed.
fn notes(name: &str, summary: &Summary, connection: &Connection) {
    if let Some(why) = &summary.early {
        output::say(&format!("warning: {name}: {}; what came before is used\n", excerpt::message(why)));
    }
    let count = summary.connections.len();
    if count > 1 {
        let title = excerpt::message(&connection.title);
        output::say(&format!(
            "note: {name}: of {count} connections the one that sent most is replayed: {title}\n"
        ));
    }
    for line in connection.notes.lines() {
        output::say(&format!("note: {name}: {line}\n"));
    }
}

/// Returns the header of the replay: the scheme with the law that it has in races, and the log's initial window.
fn header(scheme: &str, mtu: u64, window: Option<u64>, registry: Registry) -> Result<Header, Failure> {
    let packets = window.and_then(|window| u32::try_from((window / mtu.max(1)).max(1)).ok());
    let base = Header {
        format: FORMAT,
        version: firstflight_measure::VERSION.to_owned(),
        scheme: String::new(),
        restart: "rfc5681".to_owned(),
        avoidance: "cubic".to_owned(),
        iw_segments: packets.unwrap_or(INITIAL_WINDOW),
        ssthresh_bytes: None,
        hosts: Hosts::default(),
        departures: Departures::default(),
    };
    registry.header_for(&base, scheme).map_err(|error| Failure::usage(format!("--scheme: {error}")))
}

/// The host of the scheme, fed by the log.
struct Feed {
    host: AnyHost,
    /// The congestion window of the log's controller.
    window: Option<u64>,
    /// Bytes of the packets in flight.
    in_flight: u64,
    /// Whether the log says that the application limits the sender.
    is_idle: bool,
    /// Time of a loss that was not reported to the scheme. The log's next events may say that it is persistent congestion.
    lost_at: Option<Time>,
    /// The last time at which the log named persistent congestion or a timeout as the cause of a state.
    collapsed_at: Option<Time>,
}

impl Feed {
    fn event(&mut self, now: Time, event: &Event<'_>) {
        let is_response = matches!(event, Event::State { .. } | Event::Metrics(_));
        if !is_response || self.lost_at != Some(now) {
            self.report_loss();
        }
        match event {
            Event::Sent(packet) => {
                self.in_flight += packet.bytes;
                self.host.on_packet_sent(now, sent(packet));
                let limit = if self.has_room() { Limit::App } else { Limit::Window };
                self.host.set_limit(limit);
            }
            Event::Acked { packets, spurious, is_marked } => {
                let app_limited = self.has_room();
                if *spurious > 0 {
                    self.host.on_spurious_loss();
                }
                for packet in *packets {
                    self.host.on_packet_acked(now, sent(packet), at(packet));
                }
                self.remove(packets);
                self.host.on_ack_end(now, AckEnd { in_flight: None, app_limited });
                if let Some(newest) = packets.last().filter(|_| *is_marked) {
                    self.host.on_mark(now, at(newest));
                }
            }
            Event::Lost(packets) => {
                for packet in *packets {
                    self.host.on_packet_lost(packet.number, packet.bytes, Some(at(packet)));
                }
                self.remove(packets);
                self.lost_at = Some(now);
            }
            Event::Metrics(metrics) => self.window = metrics.window.or(self.window),
            Event::State { state, is_timeout, .. } => {
                self.is_idle = *state == State::ApplicationLimited;
                if *is_timeout {
                    self.collapsed_at = Some(now);
                }
            }
            Event::MaxAckDelay(nanos) => self.host.set_max_ack_delay(Span::from_nanos(*nanos)),
            // A probe timeout shows no loss and leaves the window as it is (RFC 9002 section 6.2).
            Event::TimedOut | Event::Closed => {}
        }
    }

    /// Reports the last loss to the scheme, once the log's response to it is known. Losses are persistent congestion if the log says so at the
    /// same time.
    fn report_loss(&mut self) {
        if let Some(at) = self.lost_at.take() {
            self.host.on_loss(at, self.collapsed_at == Some(at));
        }
    }

    /// Checks whether the application limited the log's sender: less than half of its window is in flight. A paced sender may have somewhat
    /// less than its window in flight.
    fn has_room(&self) -> bool {
        self.is_idle || self.window.is_some_and(|window| self.in_flight < window / 2)
    }

    fn remove(&mut self, packets: &[Packet]) {
        let bytes = packets.iter().map(|packet| packet.bytes).sum();
        self.in_flight = self.in_flight.saturating_sub(bytes);
    }
}

fn at(packet: &Packet) -> Time {
    Time::ZERO + Span::from_nanos(packet.sent_at)
}

fn sent(packet: &Packet) -> PacketSent {
    PacketSent { number: Some(packet.number), bytes: packet.bytes }
}

/// The calls of the host since the last time they were taken, and the first exit.
#[derive(Debug, Default)]
struct Records {
    calls: Vec<TraceRecord>,
    exit: Option<ExitReport>,
}

/// Records the calls of the host.
#[derive(Debug, Default)]
struct Recorder(Mutex<Records>);

impl Recorder {
    fn take(&self) -> Records {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Observer for Recorder {
    fn on_exit(&self, report: &ExitReport) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).exit.get_or_insert(*report);
    }

    fn records_calls(&self) -> bool {
        true
    }

    fn on_call(&self, record: TraceRecord) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).calls.push(record);
    }
}
