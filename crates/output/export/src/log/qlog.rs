//! The sender's events as qlog, which QUIC's tools read.
//!
//! The file is a JSON text sequence (RFC 7464). The events are those of QUIC as far as they fit TCP, with the names of the file's schema. A
//! packet's number counts transmissions, so a retransmission has its own number. The data is on stream 0. Events that the schema does not
//! have are in the namespace `firstflight`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use firstflight::{Bytes, Call, Event, Note, Pacing, Phase, Plan, Rate, Span, Time, TraceRecord};
use firstflight_measure::Tap;
use firstflight_tcp::{EndpointEvent, Flags, Role, Segment, Snapshot, Transmit};
use qlog::events::quic::{
    AckRange, CongestionStateUpdated, CongestionStateUpdatedTrigger, PacketHeader, PacketLost,
    PacketNumberSpace, PacketReceived, PacketSent, PacketType, PacketsAcked, QuicFrame,
    RecoveryMetricsUpdated, RecoveryParametersSet, TimerEventType, TimerType, TimerUpdated,
};
use qlog::events::{EventData, EventImportance, JsonEvent, RawInfo};
use serde::Serialize;
use serde_json::{Value, json};

use super::flow::{LoggedEnd, LoggedFlow};
use super::names::{origin_name, phase_name};
use super::naming::naming;
use super::qlog_schema::QlogSchema;
use crate::write::WholeFile;

/// The qlog of one flow.
pub struct Qlog {
    path: PathBuf,
    schema: QlogSchema,
    /// The file; `None` after it was finished.
    file: Option<WholeFile>,
    failed: Option<io::Error>,
    metrics: RecoveryMetricsUpdated,
    /// The pacing rate of the current plan; `None` without pacing.
    pacing_rate: Option<u64>,
    pacing: Option<Value>,
    state: Option<&'static str>,
    /// Whether the sender is in slow start after an RTO.
    after_timeout: bool,
    /// Whether a congestion mark arrived since the last state.
    marked: bool,
    /// Number of ACKs so far that delivered packets.
    acks: u64,
    end: LoggedEnd,
}

impl Qlog {
    /// Returns the name of a flow's file.
    pub fn file_name(name: &str) -> String {
        format!("{name}.sqlog")
    }

    /// Starts `NAME.sqlog` in `folder`, in this schema.
    ///
    /// # Errors
    /// Fails if the file cannot be created.
    pub fn begin(folder: &Path, flow: &LoggedFlow, schema: QlogSchema) -> io::Result<Self> {
        let LoggedFlow { name, header, run, mss, packet, end, .. } = flow;
        let path = folder.join(Self::file_name(name));
        let file = WholeFile::create(&path).map_err(|error| naming(&path, &error.source))?;
        let mut log = Self {
            path,
            schema,
            file: Some(file),
            failed: None,
            metrics: RecoveryMetricsUpdated::default(),
            pacing_rate: None,
            pacing: None,
            state: None,
            after_timeout: false,
            marked: false,
            acks: 0,
            end: *end,
        };
        log.record(&schema.first_record(flow));
        if *end == LoggedEnd::Receiver {
            return Ok(log);
        }
        let (seed, scenario_hash) = run.as_ref().map(|(seed, hash)| (*seed, hash.as_str())).unzip();
        log.own(
            Time::ZERO,
            "scenario",
            json!({
                "version": header.version,
                "scheme": header.scheme,
                "restart": header.restart,
                "avoidance": header.avoidance,
                "seed": seed,
                "scenario_hash": scenario_hash,
                "mss": mss,
                "ip_packet": packet,
            }),
        );
        let window = u64::from(header.iw_segments) * u64::from(*mss);
        let parameters = RecoveryParametersSet {
            initial_congestion_window: Some(window),
            ..RecoveryParametersSet::default()
        };
        log.add(Time::ZERO, EventData::QuicRecoveryParametersSet(parameters));
        Ok(log)
    }

    /// Renames the flow's file.
    ///
    /// # Errors
    /// Fails if the file cannot have this name.
    pub fn rename(&mut self, name: &str) -> io::Result<()> {
        let path = self.path.with_file_name(Self::file_name(name));
        let renamed = self.file.as_mut().map_or(Ok(()), |file| file.rename(&path));
        renamed.map_err(|error| naming(&path, &error.source))?;
        self.path = path;
        Ok(())
    }

    fn add(&mut self, at: Time, data: EventData) {
        // Serialized, an event is its name and its data.
        let Ok(Value::Object(mut event)) = serde_json::to_value(data) else { return };
        let (Some(Value::String(name)), Some(mut data)) = (event.remove("name"), event.remove("data")) else {
            return;
        };
        self.schema.shape(&mut data);
        self.event_of(at, self.schema.name(&name).to_owned(), data);
    }

    fn event_of(&mut self, at: Time, name: String, data: Value) {
        let time = milliseconds(at.nanos());
        self.record(&JsonEvent { time, importance: EventImportance::Core, name, data });
    }

    /// Writes an event of the namespace `firstflight`.
    fn own(&mut self, at: Time, name: &str, data: Value) {
        self.event_of(at, format!("firstflight:{name}"), data);
    }

    /// Writes one record of a JSON text sequence: RS, the text, LF (RFC 7464 section 2.2).
    fn record(&mut self, record: &impl Serialize) {
        let Some(file) = self.file.as_mut().filter(|_| self.failed.is_none()) else { return };
        let written = serde_json::to_string(record)
            .map_err(io::Error::other)
            .and_then(|text| file.write_all(format!("\u{1e}{text}\n").as_bytes()));
        if let Err(error) = written {
            self.failed = Some(naming(&self.path, &error));
        }
    }

    fn note(&mut self, at: Time, note: Note) {
        match note {
            Note::Began(origin) => {
                self.after_timeout = matches!(origin, firstflight::Origin::AfterTimeout { .. });
                self.own(at, "startup_began", json!({ "origin": origin_name(origin) }));
            }
            Note::Exited { exit, phase, cwnd, flight } => {
                self.after_timeout = false;
                let learned = exit.learned;
                self.own(
                    at,
                    "startup_exit",
                    json!({
                        "phase": phase_name(phase),
                        "cause": exit.cause.name(),
                        "congestion_window": cwnd.get(),
                        "bytes_in_flight": flight.get(),
                        "learned_window": learned.window.get(),
                        "learned_ssthresh": learned.ssthresh.map(Bytes::get),
                        "learned_rate": learned.rate.map(Rate::bps),
                    }),
                );
            }
            Note::Continued => self.own(at, "startup_continued", json!({})),
            Note::Reduced { from } => self.own(at, "window_reduced", json!({ "from": from.get() })),
            Note::Undone { exit } => self.own(at, "reduction_undone", json!({ "exit_undone": exit })),
        }
    }

    /// Writes the pacing rate of the plan if it has changed.
    fn plan(&mut self, at: Time, plan: &Plan) {
        self.pacing_rate = None;
        let pacing = match plan.pacing {
            Pacing::AckClock => json!({ "mode": "ack_clock" }),
            Pacing::Hold => json!({ "mode": "hold" }),
            Pacing::Rate { rate, burst } => {
                self.pacing_rate = Some(rate.bps());
                json!({ "mode": "rate", "rate": rate.bps(), "burst": burst.get() })
            }
            Pacing::Train { packets, gap } => {
                json!({ "mode": "train", "tag": plan.tag.0, "packets": packets, "gap": milliseconds(gap.nanos()) })
            }
        };
        if self.pacing.as_ref() != Some(&pacing) {
            self.own(at, "pacing_updated", pacing.clone());
            self.pacing = Some(pacing);
        }
    }

    fn congestion_state(&mut self, at: Time, snapshot: &Snapshot) {
        let new = match snapshot.phase {
            Phase::Startup | Phase::Avoidance if self.after_timeout => "slow_start_after_timeout",
            _ if snapshot.recovering => "recovery",
            Phase::Startup => "startup",
            Phase::Restart => "restart",
            Phase::Avoidance => "congestion_avoidance",
        };
        let trigger = self.marked.then_some(CongestionStateUpdatedTrigger::Ecn);
        self.marked = false;
        if self.state != Some(new) {
            let old = self.state.replace(new).map(str::to_owned);
            let state = CongestionStateUpdated { old, new: new.to_owned(), trigger };
            self.add(at, EventData::QuicCongestionStateUpdated(state));
        }
    }

    /// Writes the metrics that have changed; the schema requires that others are left out.
    fn metrics(&mut self, at: Time, snapshot: &Snapshot) {
        let now = RecoveryMetricsUpdated {
            min_rtt: snapshot.min_rtt.map(short_milliseconds),
            smoothed_rtt: snapshot.srtt.map(short_milliseconds),
            latest_rtt: snapshot.latest_rtt.map(short_milliseconds),
            congestion_window: Some(snapshot.cwnd.get()),
            bytes_in_flight: Some(snapshot.in_flight.get()),
            ssthresh: snapshot.ssthresh.map(Bytes::get),
            pacing_rate: self.pacing_rate,
            ..RecoveryMetricsUpdated::default()
        };
        let before = &self.metrics;
        let changed = RecoveryMetricsUpdated {
            min_rtt: news(now.min_rtt, before.min_rtt),
            smoothed_rtt: news(now.smoothed_rtt, before.smoothed_rtt),
            latest_rtt: news(now.latest_rtt, before.latest_rtt),
            congestion_window: news(now.congestion_window, before.congestion_window),
            bytes_in_flight: news(now.bytes_in_flight, before.bytes_in_flight),
            ssthresh: news(now.ssthresh, before.ssthresh),
            pacing_rate: news(now.pacing_rate, before.pacing_rate),
            ..RecoveryMetricsUpdated::default()
        };
        self.metrics = now;
        if changed != RecoveryMetricsUpdated::default() {
            self.add(at, EventData::QuicMetricsUpdated(changed));
        }
    }
}

impl Tap for Qlog {
    fn sent(&mut self, at: Time, role: Role, transmit: &Transmit, offset: u64) {
        let Some(sent) = transmit.sent.filter(|_| role == Role::Client) else { return };
        let (raw, frames) = stream(&transmit.segment, offset);
        let packet = PacketSent { header: packet_header(sent.packet), raw, frames, ..PacketSent::default() };
        self.add(at, EventData::QuicPacketSent(packet));
    }

    fn arrived(&mut self, at: Time, role: Role, segment: &Segment, offset: u64) {
        if self.end != LoggedEnd::Receiver || role == Role::Client || segment.len == 0 {
            return;
        }
        // The receiver does not know packet numbers, because TCP does not send them.
        let header = PacketHeader { packet_type: PacketType::OneRtt, ..PacketHeader::default() };
        let (raw, frames) = stream(segment, offset);
        let packet = PacketReceived { header, raw, frames, ..PacketReceived::default() };
        self.add(at, EventData::QuicPacketReceived(packet));
    }

    fn event(&mut self, at: Time, role: Role, event: &EndpointEvent) {
        if role == Role::Server {
            return;
        }
        match event {
            EndpointEvent::Control(note) => self.note(at, *note),
            EndpointEvent::TimedOut => {
                let timer = TimerUpdated {
                    timer_type: Some(TimerType::Pto),
                    timer_id: None,
                    packet_number_space: Some(PacketNumberSpace::ApplicationData),
                    event_type: TimerEventType::Expired,
                    delta: None,
                };
                self.add(at, EventData::QuicTimerUpdated(timer));
            }
            EndpointEvent::QuickStart { approved } => {
                self.own(at, "quick_start_answered", json!({ "approved_rate": approved.map(Rate::bps) }));
            }
            EndpointEvent::Established => self.own(at, "established", json!({})),
            EndpointEvent::RecoveryBegan { .. }
            | EndpointEvent::RecoveryEnded
            | EndpointEvent::AllAcknowledged
            | EndpointEvent::Closed
            | EndpointEvent::Aborted => {}
        }
    }

    fn wants_trace(&self) -> bool {
        true
    }

    fn record(&mut self, record: &TraceRecord) {
        let at = record.path.now;
        if let Call::On(heard) = &record.call {
            match heard.event() {
                Event::Acked(ack) if !ack.packets.is_empty() => {
                    self.acks += 1;
                    let frame = QuicFrame::Ack {
                        ack_delay: None,
                        acked_ranges: Some(ranges(ack.packets.iter().map(|one| one.packet))),
                        ect1: None,
                        ect0: None,
                        ce: None,
                        raw: None,
                    };
                    let header = packet_header(self.acks - 1);
                    let received =
                        PacketReceived { header, frames: Some(vec![frame]), ..PacketReceived::default() };
                    self.add(at, EventData::QuicPacketReceived(received));
                    let acked = PacketsAcked {
                        packet_number_space: Some(PacketNumberSpace::ApplicationData),
                        packet_numbers: Some(ack.packets.iter().map(|one| one.packet).collect()),
                    };
                    self.add(at, EventData::QuicPacketsAcked(acked));
                }
                Event::Lost(loss) => {
                    for one in loss.packets {
                        let header = Some(packet_header(one.packet));
                        self.add(
                            at,
                            EventData::QuicPacketLost(PacketLost { header, ..PacketLost::default() }),
                        );
                    }
                }
                Event::Marked { .. } => self.marked = true,
                _ => {}
            }
        }
        self.plan(at, &record.plan);
    }

    fn wants_state(&self) -> bool {
        true
    }

    fn state(&mut self, at: Time, snapshot: &Snapshot) {
        self.congestion_state(at, snapshot);
        self.metrics(at, snapshot);
    }

    fn finish(&mut self) -> io::Result<()> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        match self.file.take() {
            Some(file) => file.commit().map_err(|error| naming(&self.path, &error.source)),
            None => Ok(()),
        }
    }
}

fn packet_header(number: u64) -> PacketHeader {
    PacketHeader { packet_type: PacketType::OneRtt, packet_number: Some(number), ..PacketHeader::default() }
}

/// Returns the payload of a segment as QUIC would carry it: a range of stream 0.
fn stream(segment: &Segment, offset: u64) -> (Option<RawInfo>, Option<Vec<QuicFrame>>) {
    // Readers count `length` in flight, and compare it with the window, which counts payload.
    let len = Some(u64::from(segment.len));
    let payload = RawInfo { length: len, payload_length: len, ..RawInfo::default() };
    let frame = QuicFrame::Stream {
        stream_id: 0,
        offset: Some(offset),
        fin: segment.flags.has(Flags::FIN).then_some(true),
        raw: Some(Box::new(payload.clone())),
    };
    (Some(payload), Some(vec![frame]))
}

/// Returns packet numbers as ranges, in ascending order.
fn ranges(numbers: impl Iterator<Item = u64>) -> Vec<AckRange> {
    let mut numbers: Vec<u64> = numbers.collect();
    numbers.sort_unstable();
    let mut ranges: Vec<AckRange> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some(last) if number <= last.end + 1 => last.end = number,
            _ => ranges.push(AckRange::new(number, number)),
        }
    }
    ranges
}

/// Returns the value of a metric if it has changed; `None` if not.
fn news<T: Copy + PartialEq>(now: Option<T>, before: Option<T>) -> Option<T> {
    now.filter(|_| now != before)
}

#[expect(clippy::cast_precision_loss, reason = "exact to the nanosecond for the first 104 days")]
fn milliseconds(nanos: u64) -> f64 {
    nanos as f64 / 1e6
}

#[expect(clippy::cast_possible_truncation, reason = "the schema's metrics are float32")]
fn short_milliseconds(span: Span) -> f32 {
    milliseconds(span.nanos()) as f32
}
