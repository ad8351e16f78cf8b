//! Segments of no connection: first ones, cookies that come back, and what is refused.

use std::sync::Arc;

use firstflight::Time;
use firstflight_tcp::{Config, Endpoint, Flags, Role, Segment};

use super::Engine;
use crate::cookie::{Cookie, Offers, Remembered};
use crate::frame::HEADER;
use crate::link::{Arrival, Route};
use crate::width::{LEAST_MSS, mss_of_width, send_padded};

/// A SYN-ACK over a TUN is sent once again at most, so that a peer that only claims its address gets no more than three times what
/// it sent.
const SYN_ACK_RETRIES: u32 = 1;

impl Engine {
    /// A segment of no connection.
    pub(super) fn hear_stranger(&mut self, now: Time, arrival: &Arrival<'_>) {
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
            // Data may overtake the ACK with the cookie, or follow a lost one. A reset would end the connection that then opens.
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

    /// A SYN is answered, and nothing is kept of it. The answer is no longer than the SYN, or than a header with its options.
    fn answer_syn(&mut self, now: Time, arrival: &Arrival<'_>) {
        let ends = &arrival.route.ends;
        let own = self.ready.config.mss + HEADER;
        let ours = mss_of_width(arrival.width, own);
        let theirs = arrival.segment.mss.map_or(536, std::num::NonZeroU16::get).max(LEAST_MSS);
        let offers = Offers::of(&arrival.segment);
        let what = Remembered { at: in_micros(now), mss: ours.get().min(theirs), offers };
        let config = Config { initial_sequence: self.secrets.sequence(ends, what.at), ..self.ready.config };
        let mut endpoint = Endpoint::new(Role::Server, &config, self.ready.controller.clone());
        endpoint.on_segment(now, &Segment { len: 0, ..arrival.segment });
        let Some(transmit) = endpoint.poll_transmit(now) else { return };
        let answer = Segment { mss: Some(ours), ..transmit.segment };
        let cookie = self.secrets.cookie(ends, arrival.segment.seq, &what);
        send_padded(&mut self.link, &arrival.route, &answer, Some(&cookie), arrival.width.min(own));
    }

    /// The answer to the answer: the peer has the address it claims, and gets a connection.
    fn take_cookie(&mut self, now: Time, arrival: &Arrival<'_>, cookie: &Cookie) {
        let (ends, segment) = (&arrival.route.ends, &arrival.segment);
        let what = self.secrets.check(now, ends, segment.seq.wrapping_sub(1), cookie);
        let Some(what) = what.filter(|_| !self.used.has(cookie)) else {
            return self.refuse(&arrival.route, segment);
        };
        let initial_sequence = self.secrets.sequence(ends, what.at);
        let has_room = self.shared.accepts().waiting.len() < self.options.backlog && self.make_room(now);
        if segment.ack != initial_sequence.wrapping_add(1) || !has_room {
            return;
        }
        self.used.add(cookie);
        if let Some(old) = self.table.find(ends) {
            self.remove(old);
        }
        let connection =
            self.begin(Role::Server, arrival.route, initial_sequence, self.ready.config.syn_retries);
        let mut state = connection.lock();
        state.narrow(what.mss.saturating_add(HEADER));
        state.was_opened(what.at, &what.syn(segment));
        state.hear(now, segment, None, arrival.payload);
        if !state.socket.is_open() {
            return;
        }
        // The client offers its cookie until it hears that it was taken.
        state.socket.acknowledge();
        drop(state);
        let place = self.table.insert(*ends, Arc::clone(&connection));
        let mut state = connection.lock();
        self.tend(now, place, &connection, &mut state);
        self.hand_out(Arc::clone(&connection), &mut state);
    }

    /// Over a TUN: a SYN of a peer that knows no cookies. Of connections that are not open as many are kept as may wait.
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
        let waiting = self.shared.accepts().waiting.len();
        if waiting + self.half_open.len() >= self.options.backlog || !self.make_room(now) {
            return;
        }
        let initial_sequence = self.secrets.sequence(ends, now);
        let connection = self.begin(Role::Server, arrival.route, initial_sequence, SYN_ACK_RETRIES);
        let place = self.table.insert(*ends, Arc::clone(&connection));
        let generation = self.table.at(place).map_or(0, |(_, generation)| generation);
        self.half_open.push((place, generation));
        let mut state = connection.lock();
        state.to_accept = true;
        state.hear(now, &arrival.segment, None, &[]);
        self.tend(now, place, &connection, &mut state);
    }

    /// A segment of no connection is answered with a reset (RFC 9293 section 3.10.7.1), which is no longer than it.
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

pub(super) fn is_syn(segment: &Segment) -> bool {
    segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK)
}

/// An instant as a cookie holds it.
fn in_micros(at: Time) -> Time {
    Time::from_nanos(at.nanos() / 1_000 * 1_000)
}
