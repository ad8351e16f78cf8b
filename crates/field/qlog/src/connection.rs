//! A connection of a log: its name, what the log lacks, and the events that follow from each entry.

use serde_json::Value;

use crate::clock::Clock;
use crate::entry::Entry;
use crate::event::{Carries, Event, Metrics, Packet, Space, State};
use crate::fields::{first_text, first_whole, whole};
use crate::flight::Flight;
use crate::head::Head;

/// A threshold above this value means that there is none: stacks write the maximum of their integers.
const NO_THRESHOLD: u64 = 1 << 40;

/// The largest packet: the maximum UDP payload with IPv6.
const LARGEST: u64 = 65_527;

/// A connection of a log.
#[derive(Clone, Debug, Default)]
pub struct Connection {
    /// The title of the log and, if the log states it, the version of its program. A log without a title has the name of its schema here.
    pub title: String,
    /// The end that wrote the log: `client`, `server` or `network`, if the log says so.
    pub vantage: Option<String>,
    /// The addresses of the end that wrote the log and of its peer, if the log has them.
    pub ends: Option<[String; 2]>,
    /// The first event by the log's clock, in seconds. Negative if the event was before the log's reference time.
    pub began_s: f64,
    /// Time of the last event, in nanoseconds since the first.
    pub last_at: u64,
    /// Whether the log shows that the connection was closed.
    pub is_closed: bool,
    /// What the log has and lacks.
    pub notes: Notes,
    clock: Clock,
    flight: Flight,
    /// The last state, and whether a timeout was its cause.
    state: Option<(State, bool)>,
    /// Packets found lost that were not reported yet. The log has an entry for each.
    losses: Vec<Packet>,
}

/// What the log of a connection has and lacks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Notes {
    /// Packets sent that elicit an acknowledgement.
    pub packets: u64,
    /// Packets among them that carry data, as far as the log lists frames.
    pub data_packets: u64,
    /// Packets sent of which the log gives no length. They are left out.
    pub without_length: u64,
    /// Packets sent of which the log lists no frames.
    pub without_frames: u64,
    /// Packets newly acknowledged.
    pub acked: u64,
    /// Packets in flight that the log reports as lost.
    pub lost: u64,
    /// Whether the log reports losses.
    pub reports_losses: bool,
    /// Packets that were assumed lost by RFC 9002's packet threshold, because the log reports no losses.
    pub assumed_lost: u64,
    /// Ranges of acknowledged packets that are not two numbers in ascending order, and are left out.
    pub bad_ranges: u64,
    /// Ranges of acknowledged packets with numbers above the largest that was sent. These numbers are left out.
    pub unsent_ranges: u64,
    /// Whether the log has congestion windows.
    pub has_window: bool,
    /// Whether the log has slow-start thresholds.
    pub has_ssthresh: bool,
    /// Whether the log has states of the congestion controller.
    pub has_state: bool,
    /// Events that are earlier than the event before them in the log.
    pub set_back: u64,
    /// Events without a name or a time, which are left out.
    pub unreadable: u64,
}

impl Notes {
    /// Returns a sentence for each thing that the log lacks.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut add = |is: bool, text: String| lines.extend(is.then_some(text));
        let Self { packets, .. } = *self;
        add(packets == 0 && self.without_length == 0, "it has no sent packets".to_owned());
        add(
            self.without_length > 0,
            format!("{} packets have no length and are left out", self.without_length),
        );
        add(packets > 0 && self.acked == 0, "it has no acknowledgements of its packets".to_owned());
        add(
            self.without_frames > 0,
            format!("the frames of {} packets are not listed: each counts as data", self.without_frames),
        );
        add(
            self.assumed_lost > 0 && !self.reports_losses,
            format!(
                "it reports no losses: {} packets are assumed lost by the packet threshold of RFC 9002",
                self.assumed_lost
            ),
        );
        add(
            self.bad_ranges > 0,
            format!(
                "{} ranges of acknowledged packets are not in ascending order and are left out",
                self.bad_ranges
            ),
        );
        add(
            self.unsent_ranges > 0,
            format!(
                "{} ranges of acknowledged packets have numbers that were not sent, which are left out",
                self.unsent_ranges
            ),
        );
        let metrics = [
            (self.has_window, "congestion window"),
            (self.has_ssthresh, "slow-start threshold"),
            (self.has_state, "state of the congestion controller"),
        ];
        let missing: Vec<_> = metrics.into_iter().filter(|(has, _)| !has).map(|(_, what)| what).collect();
        add(packets > 0 && !missing.is_empty(), format!("it has no {}", missing.join(", no ")));
        add(self.set_back > 0, format!("{} events are earlier than the event before", self.set_back));
        add(
            self.unreadable > 0,
            format!("{} events have no name or no time and are left out", self.unreadable),
        );
        lines
    }
}

/// The receiver of a connection's events, each with its time.
pub(crate) type Emit<'a> = &'a mut dyn FnMut(u64, &Event<'_>);

impl Connection {
    /// Counts an event that has no name or no time.
    pub(crate) fn unreadable(&mut self) {
        self.notes.unreadable += 1;
    }

    /// Processes an entry of the log, at `time` by the log's clock.
    pub(crate) fn take(&mut self, time: f64, entry: &Entry<'_>, head: &Head, emit: Emit<'_>) {
        let last = self.clock.last;
        let at = self.clock.at(time, head);
        let is_loss = entry.name == "packet_lost";
        if at > last || !is_loss {
            self.report_losses(last, emit);
        }
        let data = entry.data;
        match entry.name.as_ref() {
            "packet_sent" => self.on_sent(at, data, emit),
            "packet_received" => self.on_received(at, data, emit),
            "packets_acked" => self.on_packets_acked(at, data, emit),
            "packet_lost" => self.on_lost(data),
            "packets_lost" => self.on_packets_lost(at, data, emit),
            "metrics_updated"
            | "metric_update"
            | "recovery_metrics_updated"
            | "congestion_metric_update"
            | "congestion_metrics_updated" => self.on_metrics(at, data, emit),
            "congestion_state_updated" => self.on_state(at, data, emit),
            "loss_timer_updated" | "timer_updated" | "loss_timer_expired" => on_timer(at, entry, emit),
            "parameters_set" | "recovery_parameters_set" => self.on_parameters(at, data, emit),
            "connection_started" => self.on_started(data),
            "key_discarded" | "key_retired" => self.on_key_discarded(data),
            "connection_closed" | "connection_close" => self.close(at, emit),
            "connection_state_updated" if is_over(data) => self.close(at, emit),
            _ => {}
        }
    }

    /// Ends the connection at the end of the file.
    pub(crate) fn finish(&mut self, head: &Head, emit: Emit<'_>) {
        self.report_losses(self.clock.last, emit);
        let title = head.title().or(head.vantage_name()).or(head.version.as_deref()).unwrap_or("qlog");
        self.title = match head.code_version() {
            Some(version) => format!("{title} {version}"),
            None => title.to_owned(),
        };
        let name = head.vantage_name().filter(|name| !title.contains(name));
        if let Some(name) = name {
            self.title = format!("{} ({name})", self.title);
        }
        self.vantage = head.vantage().map(str::to_owned);
        self.began_s = self.clock.began(head).unwrap_or(0.0);
        self.last_at = self.clock.last;
        self.notes.set_back = self.clock.set_back;
    }

    fn close(&mut self, at: u64, emit: Emit<'_>) {
        if !std::mem::replace(&mut self.is_closed, true) {
            emit(at, &Event::Closed);
        }
    }

    fn report_losses(&mut self, at: u64, emit: Emit<'_>) {
        let mut losses = std::mem::take(&mut self.losses);
        if !losses.is_empty() {
            losses.sort_unstable_by_key(|packet| packet.number);
            emit(at, &Event::Lost(&losses));
            losses.clear();
            self.losses = losses;
        }
    }

    fn on_sent(&mut self, at: u64, data: &Value, emit: Emit<'_>) {
        self.assume_losses(at, emit);
        let (Some(space), Some(number)) = (space(data), number(data)) else { return };
        self.flight.number(space, number);
        let Some(carries) = carries(data) else { return };
        let Some(bytes) = length(data).filter(|bytes| (1..=LARGEST).contains(bytes)) else {
            self.notes.without_length += 1;
            return;
        };
        self.notes.packets += 1;
        self.notes.data_packets += u64::from(carries == Carries::Data);
        self.notes.without_frames += u64::from(carries == Carries::Unknown);
        let packet = Packet { space, number, sent_at: at, bytes, carries };
        self.flight.sent(packet);
        emit(at, &Event::Sent(packet));
    }

    fn on_received(&mut self, at: u64, data: &Value, emit: Emit<'_>) {
        let Some(space) = space(data) else { return };
        let frames = data.get("frames").and_then(Value::as_array);
        for frame in frames.into_iter().flatten().filter(|frame| frame_type(frame) == Some("ack")) {
            self.assume_losses(at, emit);
            let ranges = frame.get("acked_ranges").and_then(Value::as_array);
            let ranges: Vec<_> = ranges.into_iter().flatten().map(range).collect();
            let is_marked = first_whole(frame, &["ce"]).is_some_and(|ce| self.flight.is_marked(space, ce));
            self.acknowledge(at, space, &ranges, is_marked, emit);
        }
    }

    fn on_packets_acked(&mut self, at: u64, data: &Value, emit: Emit<'_>) {
        let numbers = data.get("packet_numbers").and_then(Value::as_array);
        let ranges: Vec<_> = numbers
            .into_iter()
            .flatten()
            .map(|number| whole(number).map(|number| (number, number)))
            .collect();
        let space = first_text(data, &["packet_number_space"]).and_then(space_of);
        self.acknowledge(at, space.unwrap_or(Space::Application), &ranges, false, emit);
    }

    /// Processes the ranges of an ACK; `None` is a range that is not two numbers in ascending order.
    fn acknowledge(
        &mut self,
        at: u64,
        space: Space,
        ranges: &[Option<(u64, u64)>],
        is_marked: bool,
        emit: Emit<'_>,
    ) {
        let largest = self.flight.largest(space);
        let mut sent = Vec::with_capacity(ranges.len());
        for range in ranges {
            let Some((first, last)) = *range else {
                self.notes.bad_ranges += 1;
                continue;
            };
            self.notes.unsent_ranges += u64::from(largest.is_none_or(|largest| last > largest));
            sent.extend(
                largest.filter(|largest| first <= *largest).map(|largest| (first, last.min(largest))),
            );
        }
        let (packets, spurious) = self.flight.acked(space, &sent);
        self.notes.acked += packets.len() as u64;
        if !packets.is_empty() {
            emit(at, &Event::Acked { packets: &packets, spurious, is_marked });
        }
    }

    fn on_lost(&mut self, data: &Value) {
        let (Some(space), Some(number)) = (space(data), number(data)) else { return };
        self.notes.reports_losses = true;
        let packet = self.flight.lost(space, number);
        self.notes.lost += u64::from(packet.is_some());
        self.losses.extend(packet);
    }

    /// Takes the event of mvfst, which has the largest lost number and the number of lost packets.
    fn on_packets_lost(&mut self, at: u64, data: &Value, emit: Emit<'_>) {
        let largest = first_whole(data, &["largest_lost_packet_num"]);
        let count = first_whole(data, &["lost_packets"]);
        let (Some(largest), Some(count)) = (largest, count) else { return };
        self.notes.reports_losses = true;
        let packets = self.flight.oldest_lost(largest, count);
        self.notes.lost += packets.len() as u64;
        self.losses.extend(packets);
        self.report_losses(at, emit);
    }

    /// Assumes that overtaken packets are lost, as long as the log reports no losses. An entry of a loss follows its ACK directly, so this is
    /// called with the next packet.
    fn assume_losses(&mut self, at: u64, emit: Emit<'_>) {
        if self.notes.reports_losses {
            return;
        }
        let numbers = self.flight.overtaken();
        self.notes.assumed_lost += numbers.len() as u64;
        for number in numbers {
            self.losses.extend(self.flight.lost(Space::Application, number));
        }
        self.report_losses(at, emit);
    }

    fn on_metrics(&mut self, at: u64, data: &Value, emit: Emit<'_>) {
        let metrics = Metrics {
            window: first_whole(data, &["congestion_window", "cwnd", "current_cwnd"]),
            ssthresh: first_whole(data, &["ssthresh", "slow_start_threshold"])
                .filter(|bytes| *bytes < NO_THRESHOLD),
            in_flight: first_whole(data, &["bytes_in_flight", "in_flight"]),
        };
        self.notes.has_window |= metrics.window.is_some();
        self.notes.has_ssthresh |= metrics.ssthresh.is_some();
        if metrics != Metrics::default() {
            emit(at, &Event::Metrics(metrics));
        }
        if data.get("state").is_some() {
            self.on_state(at, data, emit);
        }
    }

    fn on_state(&mut self, at: u64, data: &Value, emit: Emit<'_>) {
        let Some(name) = first_text(data, &["new", "state"]) else { return };
        let Some(state) = state(name) else { return };
        self.notes.has_state = true;
        let causes =
            first_text(data, &["trigger"]).into_iter().chain(first_text(data, &["congestion_event"]));
        let causes: Vec<String> = causes.chain([name]).map(plain).collect();
        let has = |words: [&str; 2]| causes.iter().any(|cause| words.iter().any(|word| cause.contains(word)));
        let is_timeout = has(["persistent", "timeout"]);
        if self.state.replace((state, is_timeout)) != Some((state, is_timeout)) {
            let is_mark = has(["ecn", "mark"]);
            emit(at, &Event::State { state, is_timeout, is_mark });
        }
    }

    fn on_parameters(&mut self, at: u64, data: &Value, emit: Emit<'_>) {
        let window = first_whole(data, &["initial_congestion_window"]);
        if window.is_some() {
            self.notes.has_window = true;
            emit(at, &Event::Metrics(Metrics { window, ..Metrics::default() }));
        }
        let is_peer = first_text(data, &["owner", "initiator"]) == Some("remote");
        if let Some(delay) = first_whole(data, &["max_ack_delay"]).filter(|delay| is_peer && *delay < 1 << 14)
        {
            emit(at, &Event::MaxAckDelay(delay * 1_000_000));
        }
    }

    fn on_started(&mut self, data: &Value) {
        let end = |address: &str, port: &str| {
            let address = data.get(address)?.as_str()?;
            let address = if address.contains(':') { format!("[{address}]") } else { address.to_owned() };
            Some(format!("{address}:{}", whole(data.get(port)?)?))
        };
        if let (Some(own), Some(peer)) = (end("src_ip", "src_port"), end("dst_ip", "dst_port")) {
            self.ends = Some([own, peer]);
        }
    }

    fn on_key_discarded(&mut self, data: &Value) {
        let key = first_text(data, &["key_type"]).unwrap_or_default();
        for (word, space) in [("initial", Space::Initial), ("handshake", Space::Handshake)] {
            if key.contains(word) {
                self.flight.discard(space);
            }
        }
    }
}

fn on_timer(at: u64, entry: &Entry<'_>, emit: Emit<'_>) {
    let is_expired = entry.name == "loss_timer_expired"
        || first_text(entry.data, &["event_type"]).is_some_and(|event| event == "expired");
    if is_expired && first_text(entry.data, &["timer_type"]).is_some_and(|timer| timer == "pto") {
        emit(at, &Event::TimedOut);
    }
}

fn is_over(data: &Value) -> bool {
    first_text(data, &["new", "state"])
        .is_some_and(|state| matches!(state, "closed" | "draining" | "closing"))
}

/// Returns the number of a packet.
fn number(data: &Value) -> Option<u64> {
    let header = data.get("header").and_then(|header| first_whole(header, &["packet_number"]));
    header.or_else(|| first_whole(data, &["packet_number"]))
}

/// Returns the packet number space of a packet; `None` for packets without a number. A packet without a type is a 1-RTT packet.
fn space(data: &Value) -> Option<Space> {
    let kind = data.get("header").and_then(|header| first_text(header, &["packet_type"]));
    let kind = kind.or_else(|| first_text(data, &["packet_type"]));
    kind.map_or(Some(Space::Application), space_of)
}

fn space_of(kind: &str) -> Option<Space> {
    match plain(kind).as_str() {
        "initial" => Some(Space::Initial),
        "handshake" => Some(Space::Handshake),
        "1rtt" | "onertt" | "short" | "shortheader" | "0rtt" | "zerortt" | "applicationdata" | "appdata" => {
            Some(Space::Application)
        }
        _ => None,
    }
}

/// Returns the length of a packet in bytes.
fn length(data: &Value) -> Option<u64> {
    let of = |part: &str, names: &[&str]| first_whole(data.get(part)?, names);
    of("raw", &["length"])
        .or_else(|| of("header", &["packet_size"]))
        .or_else(|| of("raw", &["payload_length"]))
        .or_else(|| first_whole(data, &["packet_size", "length"]))
        .or_else(|| of("header", &["payload_length"]))
}

fn frame_type(frame: &Value) -> Option<&str> {
    first_text(frame, &["frame_type", "type"])
}

/// Returns what a packet carries; `None` if it elicits no acknowledgement (RFC 9002 section 2).
fn carries(data: &Value) -> Option<Carries> {
    let Some(frames) = data.get("frames").and_then(Value::as_array) else { return Some(Carries::Unknown) };
    let mut carries = None;
    for kind in frames.iter().filter_map(frame_type) {
        match kind {
            "stream" | "datagram" => return Some(Carries::Data),
            "ack" | "ack_mp" | "padding" | "connection_close" => {}
            _ => carries = Some(Carries::Control),
        }
    }
    if frames.is_empty() { Some(Carries::Unknown) } else { carries }
}

/// Returns the ends of a range of packet numbers, which may be one number; `None` if they are not numbers in ascending order.
fn range(value: &Value) -> Option<(u64, u64)> {
    let (first, last) = match value {
        Value::Array(ends) => (ends.first()?, ends.last()?),
        _ => (value, value),
    };
    let (first, last) = (whole(first)?, whole(last)?);
    (first <= last).then_some((first, last))
}

/// Returns the state of this name; `None` before the controller starts.
fn state(name: &str) -> Option<State> {
    let name = plain(name);
    let is = |words: &[&str]| words.iter().any(|word| name.contains(word));
    Some(if is(&["uninitialized", "unknown"]) {
        return None;
    } else if is(&["slowstart", "startup", "hystart", "restart"]) {
        State::SlowStart
    } else if is(&["recovery", "persistentcongestion", "quiescence"]) {
        State::Recovery
    } else if is(&["applicationlimited", "applimited"]) {
        State::ApplicationLimited
    } else {
        State::Avoidance
    })
}

/// Returns a word in lower case, without spaces, hyphens and underscores.
fn plain(word: &str) -> String {
    word.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
