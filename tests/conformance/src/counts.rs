//! The counters in the state of the path: bytes sent, acknowledged and delivered, bytes in flight, and RTTs.

use firstflight::{Ack, Bytes, Event, Origin, Path, Sent, Span, Time, TraceRecord};

use crate::breach::Breaches;
use crate::law::Law;
use crate::order::event;

/// The values of the path that an ACK changes. A host may first make another call because of the same ACK (an undo or a loss). The path
/// then already has the new values before the `acked` call, which must follow at the same time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Facts {
    una: u64,
    delivered: Bytes,
    latest: Option<Span>,
    least: Option<Span>,
}

impl Facts {
    fn of(path: &Path) -> Self {
        let Path { una, delivered, latest_rtt, min_rtt, .. } = *path;
        Self { una, delivered, latest: latest_rtt, least: min_rtt }
    }
}

/// Changed values that no call has explained yet.
#[derive(Clone, Copy, Debug)]
struct Ahead {
    facts: Facts,
    now: Time,
    line: usize,
}

/// How the host counts, as far as the trace shows it.
#[derive(Clone, Copy, Debug)]
struct Readings {
    flight_of_stream: bool,
    flight_is_pipe: bool,
    /// Whether `nxt` counts retransmitted data.
    counts_again: Option<bool>,
}

#[derive(Debug)]
pub(super) struct Counts {
    facts: Facts,
    ahead: Option<Ahead>,
    nxt: u64,
    /// The packet that the previous call reported as sent.
    sent: Option<Sent>,
    /// Whether the stream has ended.
    ended: bool,
    /// Bytes selectively acknowledged above the cumulative ACK.
    selected: Bytes,
    /// The number of duplicate ACKs without new bytes since the last advance of the cumulative ACK.
    told_of: u64,
    /// Whether no packet was lost, timed out or retransmitted since all data was last acknowledged.
    clean: bool,
    /// Whether an RTT was measured on the current path.
    timed: bool,
    readings: Readings,
    /// Whether the trace has a value that only a host of a byte stream reports.
    of_stream: bool,
    /// Whether `una` is the end of the newest acknowledged packet. Only a host with packet numbers reports this value.
    of_packets: bool,
    /// Whether the host itself determines the bytes by which an ACK advances.
    host_judges: bool,
    last_data: Option<Time>,
    last_any: Option<Time>,
    last_received: Option<Time>,
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            facts: Facts::default(),
            ahead: None,
            nxt: 0,
            sent: None,
            ended: false,
            selected: Bytes::ZERO,
            told_of: 0,
            clean: true,
            timed: true,
            readings: Readings { flight_of_stream: true, flight_is_pipe: true, counts_again: None },
            of_stream: false,
            of_packets: false,
            host_judges: false,
            last_data: None,
            last_any: None,
            last_received: None,
        }
    }
}

impl Counts {
    /// Records that the host itself determines the bytes that may grow the window. Then `advanced` of an ACK does not determine `una`.
    pub(super) fn host_limits_growth(&mut self) {
        self.host_judges = true;
    }

    pub(super) fn check_record(
        &mut self,
        record: &TraceRecord,
        newest_end: Option<u64>,
        breaches: &mut Breaches,
    ) {
        let (event, path) = (event(record), &record.path);
        self.instants(event.as_ref(), path, breaches);
        self.next(path, breaches);
        // The minimum RTT may be reset after persistent congestion (RFC 9002 section 5.2).
        let persistent = matches!(&event, Some(Event::Lost(loss)) if loss.persistent);
        if matches!(event, Some(Event::Begin(Origin::PathChange))) || persistent {
            self.timed = false;
        }
        if let Some(Event::Acked(ack)) = &event {
            self.of_stream |= ack.duplicate || !ack.sacked.is_zero();
            self.acked(ack, path, breaches);
        }
        self.move_on(event.as_ref(), newest_end, path, breaches);
        self.note(event.as_ref(), path);
        self.between(event.as_ref(), path, breaches);
        if let Some(Event::Sent(sent)) = event {
            self.clean &= !sent.retransmission;
            self.of_stream |= sent.retransmission;
            self.sent = Some(sent);
            self.last_any = Some(path.now);
            self.last_data = if sent.bytes.is_zero() { self.last_data } else { Some(path.now) };
        }
    }

    pub(super) fn finish(&mut self, breaches: &mut Breaches) {
        self.unexplained(None, breaches);
    }

    fn instants(&mut self, event: Option<&Event<'_>>, path: &Path, breaches: &mut Breaches) {
        let shown = |at: Option<Time>| at.map_or("none".to_owned(), |at| format!("{} ns", at.nanos()));
        if path.last_sent != self.last_any && path.last_sent != self.last_data {
            let (is, was) = (shown(path.last_sent), shown(self.last_any));
            breaches.add(Law::LastSent, format!("last_sent is {is}; the `sent` before was at {was}"));
        }
        let (is, was) = (shown(path.last_received), shown(self.last_received));
        if path.last_received < self.last_received {
            breaches.add(Law::LastReceived, format!("last_received is {is}; it was {was} before"));
        } else if path.last_received > Some(path.now) {
            breaches.add(Law::LastReceived, format!("last_received is {is}; it is {} ns", path.now.nanos()));
        } else if matches!(event, Some(Event::Acked(_))) && path.last_received != Some(path.now) {
            let what = format!("last_received is {is}; an ACK arrives at {} ns", path.now.nanos());
            breaches.add(Law::LastReceived, what);
        }
        self.last_received = path.last_received;
    }

    /// Checks that `nxt` counts the packet that the previous call reported as sent.
    fn next(&mut self, path: &Path, breaches: &mut Breaches) {
        let before = core::mem::replace(&mut self.nxt, path.nxt);
        let grown = path.nxt.checked_sub(before);
        let (least, ends) = match self.sent.take() {
            None => (0, false),
            Some(sent) if sent.retransmission => {
                let bytes = sent.bytes.get();
                let counts = self.readings.counts_again.unwrap_or(grown == Some(bytes) && bytes > 0);
                if bytes > 0 {
                    self.readings.counts_again = Some(counts);
                }
                (if counts { bytes } else { 0 }, false)
            }
            Some(sent) => {
                if self.ended && !sent.bytes.is_zero() {
                    breaches.add(Law::Nxt, "new data left after the end of the stream".to_owned());
                }
                (sent.bytes.get(), !self.ended)
            }
        };
        if ends && grown == Some(least.saturating_add(1)) {
            self.ended = true;
        } else if grown != Some(least) {
            let what =
                format!("nxt is {}; it was {before}, and {least} B of new data were sent since", path.nxt);
            breaches.add(Law::Nxt, what);
        }
        if path.nxt < path.una {
            breaches.add(Law::Nxt, format!("nxt is {}; una is {}", path.nxt, path.una));
        }
    }

    /// Compares the values of the path with the values that this call explains.
    fn move_on(
        &mut self,
        event: Option<&Event<'_>>,
        newest_end: Option<u64>,
        path: &Path,
        breaches: &mut Breaches,
    ) {
        let is = Facts::of(path);
        let mut due = self.facts;
        let sample = match event {
            Some(Event::Acked(ack)) => {
                due.una = due.una.saturating_add(ack.advanced.get());
                due.delivered += ack.bytes;
                ack.rtt.map(|sample| sample.rtt)
            }
            Some(Event::Established { rtt, .. }) => *rtt,
            _ => None,
        };
        let by_packets = is.una == newest_end.unwrap_or_default().max(self.facts.una)
            || is.una == path.nxt && path.pipe.is_zero();
        if is.una != due.una && by_packets && !self.of_stream {
            self.of_packets = true;
            due.una = is.una;
        }
        if self.host_judges && matches!(event, Some(Event::Acked(_))) {
            due.una = is.una.max(self.facts.una);
        }
        if let Some(sample) = sample {
            due.latest = Some(sample);
            due.least = if self.timed {
                due.least.map_or(sample, |least| least.min(sample)).into()
            } else {
                is.least
            };
            self.timed = true;
        } else if !self.timed {
            (due.latest, due.least) = (is.latest, is.least);
        }
        if matches!(event, Some(Event::Acked(_) | Event::Established { .. })) {
            Self::compare(is, due, None, breaches);
            // If an earlier call already had changed values, they must be the values of this ACK.
            if let Some(ahead) = self.ahead.take() {
                let explained = if ahead.now == path.now { is } else { self.facts };
                Self::compare(ahead.facts, explained, Some(ahead.line), breaches);
            }
            self.facts = is;
        } else if is != due {
            if self.ahead.is_some_and(|ahead| ahead.now != path.now || ahead.facts != is) {
                self.unexplained(Some(is), breaches);
            } else if self.ahead.is_none() {
                self.ahead = Some(Ahead { facts: is, now: path.now, line: breaches.line });
            }
        } else {
            self.unexplained(None, breaches);
            self.facts = is;
        }
    }

    /// Reports changed values that no call explained. Then accepts `is` as the current values.
    fn unexplained(&mut self, is: Option<Facts>, breaches: &mut Breaches) {
        if let Some(ahead) = self.ahead.take() {
            Self::compare(ahead.facts, self.facts, Some(ahead.line), breaches);
            self.facts = is.unwrap_or(self.facts);
        }
    }

    fn compare(is: Facts, due: Facts, line: Option<usize>, breaches: &mut Breaches) {
        let line = line.unwrap_or(breaches.line);
        let mut differs = |law, what: &str, is: u64, due: u64| {
            breaches.add_at(line, law, format!("{what} is {is}; by the reports it is {due}"));
        };
        if is.una != due.una {
            differs(Law::Una, "una", is.una, due.una);
        }
        if is.delivered != due.delivered {
            differs(Law::Delivered, "delivered", is.delivered.get(), due.delivered.get());
        }
        let mut rtt = |what: &str, is: Option<Span>, due: Option<Span>| {
            if is != due {
                let [is, due] =
                    [is, due].map(|rtt| rtt.map_or("none".to_owned(), |rtt| format!("{} ns", rtt.nanos())));
                breaches.add_at(
                    line,
                    Law::Rtt,
                    format!("{what} is {is}; by the reported samples it is {due}"),
                );
            }
        };
        rtt("latest_rtt", is.latest, due.latest);
        rtt("min_rtt", is.least, due.least);
    }

    /// Records the effect of an event on the packets in flight.
    fn note(&mut self, event: Option<&Event<'_>>, path: &Path) {
        match event {
            Some(Event::Acked(ack)) => {
                let cumulative = ack.bytes - ack.sacked;
                self.selected -= ack.advanced - cumulative;
                self.selected += ack.sacked;
                // A duplicate ACK without SACK shows that a packet was delivered, but not which.
                self.clean &= !(ack.duplicate && ack.sacked.is_zero());
            }
            Some(Event::Lost(_) | Event::TimedOut { .. } | Event::SpuriousLoss) => self.clean = false,
            _ => {}
        }
        // If changed values are not explained yet, their `acked` call is still to come.
        if path.nxt == path.una && self.ahead.is_none() {
            self.selected = Bytes::ZERO;
            self.clean = true;
        }
    }

    fn between(&mut self, event: Option<&Event<'_>>, path: &Path, breaches: &mut Breaches) {
        let stream = Bytes::new(path.nxt.saturating_sub(path.una));
        // For these events the host reports the flight before the event, because a law halves that flight.
        let halved = matches!(event, Some(Event::Lost(_) | Event::Marked { .. } | Event::TimedOut { .. }));
        if !halved {
            let of_stream = self.readings.flight_of_stream && path.flight == stream;
            let is_pipe = self.readings.flight_is_pipe && path.flight == path.pipe;
            if of_stream || is_pipe {
                self.readings.flight_of_stream = of_stream;
                self.readings.flight_is_pipe = is_pipe;
            } else {
                let (is, due, pipe) = (path.flight.get(), stream.get(), path.pipe.get());
                let what =
                    format!("flight is {is} B; {due} B are between una and nxt, and the pipe is {pipe} B");
                breaches.add(Law::Flight, what);
            }
        }
        if self.of_packets {
            // On a host with packet numbers, only the packets after the newest acknowledged one are between `una` and `nxt`.
            return;
        }
        let (pipe, due) = (path.pipe, stream - self.selected);
        // The end of the stream is not a byte of a packet, but may be acknowledged together with a packet.
        let fits = pipe == due || self.ended && pipe + Bytes::new(1) == due;
        if pipe > stream {
            let (is, most) = (pipe.get(), stream.get());
            breaches.add(Law::Pipe, format!("the pipe is {is} B; {most} B are between una and nxt"));
        } else if self.clean && self.ahead.is_none() && !fits {
            let (is, due) = (pipe.get(), due.get());
            breaches.add(Law::Pipe, format!("the pipe is {is} B; by the reports it is {due} B"));
        }
    }

    fn acked(&mut self, ack: &Ack<'_>, path: &Path, breaches: &mut Breaches) {
        let outstanding = path.nxt.saturating_sub(path.una);
        let advanced = ack.advanced.get();
        if ack.duplicate && (advanced > 0 || outstanding == 0) {
            let what = format!("a duplicate advances by {advanced} B, with {outstanding} B outstanding");
            breaches.add(Law::Duplicate, what);
        }
        if !self.host_judges && !ack.duplicate && advanced == 0 && !ack.sacked.is_zero() {
            breaches.add(
                Law::Duplicate,
                "an ACK that only acknowledges selectively is not said to be one".to_owned(),
            );
        }
        let least = (ack.bytes - ack.sacked).get();
        let told_of = (path.mss * self.told_of).get();
        let before = self.selected.get().saturating_add(told_of);
        let most = least.saturating_add(before).saturating_add(u64::from(self.ended));
        if !self.host_judges && !(least..=most).contains(&advanced) {
            let what = format!("advanced is {advanced}; from {least} to {most} are allowed");
            breaches.add(Law::AckAdvanced, what);
        }
        self.told_of = match (advanced, ack.duplicate) {
            (0, true) => self.told_of + u64::from(ack.bytes.is_zero()),
            (0, false) => self.told_of,
            _ => 0,
        };
    }
}
