//! Segments that belong to no connection: SYNs, segments that return a cookie, and segments to refuse.

use std::sync::Arc;

use firstflight::Time;
use firstflight_tcp::{Config, Endpoint, Flags, Role, Segment};

use super::{Engine, is_syn};
use crate::cookie::{Cookie, Offers, Remembered, seal_of};
use crate::frame::HEADER;
use crate::link::{Arrival, Route};
use crate::pmtu::{MIN_MSS, send_padded};
use crate::source::Source;
use crate::used::Used;

/// The number of retransmissions of a SYN-ACK over a TUN device. With one retransmission, a peer that spoofs its address makes the host
/// send at most three times as many bytes as the peer sent.
const SYN_ACK_RETRIES: u32 = 1;

impl Engine {
    /// Handles a segment that belongs to no connection.
    pub(super) fn on_unmatched(&mut self, now: Time, arrival: &Arrival<'_>) {
        let segment = &arrival.segment;
        if segment.flags.has(Flags::RST) {
            return;
        }
        if is_syn(segment) && self.is_listening(arrival.route.ends.ours) {
            if self.link.has_cookies() {
                self.answer_syn(now, arrival);
            } else {
                self.take_syn(now, arrival);
            }
            return;
        }
        if self.link.has_cookies() && self.is_listening(arrival.route.ends.ours) {
            // Data may overtake the ACK with the cookie, or that ACK may be lost. A reset in response to the data would end the connection
            // that the cookie then opens.
            if let Some(cookie) = arrival.cookie.filter(|_| !segment.flags.has(Flags::SYN)) {
                self.take_cookie(now, arrival, &cookie);
            }
            return;
        }
        self.refuse(&arrival.route, segment);
    }

    fn is_listening(&self, port: u16) -> bool {
        let accepts = self.shared.accepts();
        accepts.listeners > 0 && (self.link.has_cookies() || accepts.port == port)
    }

    /// Answers a SYN without keeping state. The answer is no longer than the SYN, or than a header with its options.
    fn answer_syn(&mut self, now: Time, arrival: &Arrival<'_>) {
        let ends = &arrival.route.ends;
        let ours = self.candidates.mss(arrival.length);
        let theirs = arrival.segment.mss.map_or(536, std::num::NonZeroU16::get).max(MIN_MSS);
        let offers = Offers::of(&arrival.segment);
        let what = Remembered { at: in_micros(now), mss: ours.get().min(theirs), offers };
        let config = Config { initial_sequence: self.secrets.sequence(ends, what.at), ..self.ready.config };
        let mut endpoint = Endpoint::new(Role::Server, &config, self.ready.controller.clone());
        endpoint.on_segment(now, &Segment { len: 0, ..arrival.segment });
        let Some(transmit) = endpoint.poll_transmit(now) else { return };
        let answer = Segment { mss: Some(ours), ..transmit.segment };
        let cookie = self.secrets.cookie(ends, arrival.segment.seq, &what);
        send_padded(
            &mut self.link,
            &arrival.route,
            &answer,
            Some(&cookie),
            arrival.length.min(self.candidates.own),
        );
    }

    /// Handles the ACK that returns a cookie. The cookie proves that the peer has the address that it claims, so the peer gets a
    /// connection.
    fn take_cookie(&mut self, now: Time, arrival: &Arrival<'_>, cookie: &Cookie) {
        let (ends, segment) = (&arrival.route.ends, &arrival.segment);
        let Some(what) = self.remembered(now, arrival, cookie) else {
            return self.refuse(&arrival.route, segment);
        };
        let initial_sequence = self.secrets.sequence(ends, what.at);
        let source = Source::of(ends.peer.ip());
        if segment.ack != initial_sequence.wrapping_add(1)
            || !self.may_open(now, source)
            || !self.make_room(now, Some(ends.peer))
        {
            return;
        }
        if let Some(forgotten) = self.used.add(what.at, seal_of(cookie), source) {
            self.sources.of(forgotten).cookies -= 1;
        }
        self.sources.of(source).cookies += 1;
        if let Some(old) = self.table.find(ends) {
            self.remove(old);
        }
        let connection =
            self.begin(Role::Server, arrival.route, initial_sequence, self.ready.config.syn_retries);
        let mut state = connection.lock();
        state.narrow(what.mss.saturating_add(HEADER));
        state.was_opened(what.at, &what.syn(segment));
        state.on_segment(now, segment, None, arrival.payload);
        if !state.socket.is_open() {
            return;
        }
        // The client repeats its cookie until a segment shows that the server accepted it.
        state.socket.acknowledge();
        drop(state);
        let place = self.keep(*ends, &connection);
        let mut state = connection.lock();
        self.tend(now, place, &connection, &mut state);
        self.hand_out(Arc::clone(&connection), &mut state);
    }

    /// Returns the features of the SYN from a returned cookie. `None` unless the cookie is unexpired, was issued for these endpoints, and
    /// has opened no connection.
    pub(super) fn remembered(&self, now: Time, arrival: &Arrival<'_>, cookie: &Cookie) -> Option<Remembered> {
        let syn = arrival.segment.seq.wrapping_sub(1);
        let what = self.secrets.check(now, &arrival.route.ends, syn, cookie)?;
        self.used.allows(what.at, seal_of(cookie)).then_some(what)
    }

    /// Returns whether a source may open a connection. False if the source has its maximum number of connections that wait to be accepted,
    /// or its maximum number of unexpired used cookies.
    fn may_open(&mut self, now: Time, source: Source) -> bool {
        while let Some(source) = self.used.expire(now) {
            self.sources.of(source).cookies -= 1;
        }
        let cookies = self.sources.get(source).map_or(0, |usage| usage.cookies);
        cookies < Used::MAX_OF_A_SOURCE && self.may_wait(source)
    }

    /// Returns whether an additional connection of a source may wait to be accepted.
    fn may_wait(&self, source: Source) -> bool {
        let accepts = self.shared.accepts();
        let of_source = accepts.waiting.iter().filter(|waiting| waiting.source == source).count();
        accepts.waiting.len() < self.options.backlog && of_source < self.options.backlog_of_a_source()
    }

    /// Handles a SYN over a TUN device, where peers do not know cookies. Half-open connections count towards the backlog.
    fn take_syn(&mut self, now: Time, arrival: &Arrival<'_>) {
        let ends = &arrival.route.ends;
        if let Some(old) = self.table.find(ends) {
            self.remove(old);
        }
        let table = &self.table;
        let is_there = |(place, generation): &(usize, u64)| {
            table
                .at(*place)
                .is_some_and(|(connection, now)| now == *generation && !connection.lock().socket.is_open())
        };
        self.half_open.retain(is_there);
        let source = Source::of(ends.peer.ip());
        let waiting = self.shared.accepts().waiting.len();
        if waiting + self.half_open.len() >= self.options.backlog
            || !self.may_wait(source)
            || !self.make_room(now, Some(ends.peer))
        {
            return;
        }
        let initial_sequence = self.secrets.sequence(ends, now);
        let connection = self.begin(Role::Server, arrival.route, initial_sequence, SYN_ACK_RETRIES);
        let place = self.keep(*ends, &connection);
        let generation = self.table.at(place).map_or(0, |(_, generation)| generation);
        self.half_open.push((place, generation));
        let mut state = connection.lock();
        state.to_accept = true;
        state.on_segment(now, &arrival.segment, None, &[]);
        self.tend(now, place, &connection, &mut state);
    }

    /// Answers a segment of no connection with a reset (RFC 9293 section 3.10.7.1), which is no longer than the segment.
    fn refuse(&mut self, route: &Route, segment: &Segment) {
        let answer = if segment.flags.has(Flags::ACK) {
            Segment { seq: segment.ack, flags: Flags::RST, ..Segment::default() }
        } else {
            let is_padded = segment.flags.has(Flags::SYN) && self.link.has_cookies();
            let len = if is_padded { 1 } else { segment.sequence_length() };
            Segment {
                ack: segment.seq.wrapping_add(len),
                flags: Flags::RST.with(Flags::ACK),
                ..Segment::default()
            }
        };
        self.link.send(route, &answer, None, [&[], &[]]);
    }
}

/// Returns a time with the precision of a cookie, which is one microsecond.
fn in_micros(at: Time) -> Time {
    Time::from_nanos(at.nanos() / 1_000 * 1_000)
}
