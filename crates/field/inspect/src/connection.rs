//! A connection: its handshake, and both hosts as senders of data.

mod location;
mod timestamps;

use std::net::SocketAddr;
use std::num::NonZeroU16;

use firstflight_capture::Layer;
use firstflight_tcp::{Flags, Segment, Timestamps};
use serde::{Deserialize, Serialize};

use crate::clock::{Clock, DISORDER};
use crate::ecn::{Counter, Feedback, ace};
use crate::events::{Ack, Data, Origin, Setting};
use crate::few::Few;
use crate::handshake::{Handshake, Host, Place};
use crate::packet::{Packet, Point, Stamp};
use crate::recent::{LATEST_COPY, LONGEST_WAY, Recent};
use crate::sender::{FARTHEST, FIRST, Sender};
use crate::vantage::SeenAt;

/// Maximum distance of a packet that continues a connection, in bytes below the end of the data sent. [`BEYOND`] is the maximum above it,
/// where data may be missing in the capture.
const NEAR: u64 = 1 << 24;
const BEYOND: u64 = 1 << 28;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Connection {
    /// The addresses and ports of the two hosts.
    pub(crate) ends: [SocketAddr; 2],
    pub(crate) hosts: [Side; 2],
    pub(crate) handshake: Handshake,
    /// Time of the first packet.
    pub(crate) first_at: u64,
    pub(crate) clock: Clock,
    is_reset: bool,
    /// Capture point at which the packets of each host pass in this view.
    pub(crate) points: [Option<Point>; 2],
    /// Views of the connection at other capture points.
    pub(crate) views: Option<Box<Views>>,
    /// Packets of the handshake whose capture point is not yet known.
    #[serde(skip)]
    pub(crate) gathered: Few<Packet>,
    /// Whether a SYN with the same addresses and ports opened another connection while this one was open.
    pub(crate) is_replaced: bool,
    /// Whether some packets were too far out of order to be sorted.
    pub(crate) is_displaced: bool,
    /// The tunnel, session or label stack of each host's first packet.
    pub(crate) layers: Option<Box<[Option<Layer>; 2]>>,
    /// Location of the capture, if the user gave it.
    pub(crate) seen_at: Option<SeenAt>,
    /// The host whose kernel reports the segments of its socket. `None` for a capture.
    pub(crate) own: Option<Host>,
}

/// The points at which the packets of host 0 and of host 1 pass a place. `None` if a point is not yet known.
pub(crate) type Points = [Option<Point>; 2];

/// The places other than the first.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Views {
    /// The views of these places. Once the handshake passed everywhere, only the places nearest to a host keep a view.
    pub(crate) views: Vec<Connection>,
    /// The places without a view.
    pub(crate) others: Vec<Points>,
}

/// The fields of a SYN that are kept.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Syn {
    seq: u32,
    ack: u32,
    mss: Option<NonZeroU16>,
    pub(crate) window_scale: Option<u8>,
    pub(crate) sack_permitted: bool,
    #[serde(with = "timestamps")]
    pub(crate) timestamps: Option<Timestamps>,
}

impl Syn {
    fn of(segment: &Segment) -> Self {
        let Segment { seq, ack, mss, window_scale, sack_permitted, timestamps, .. } = *segment;
        Self { seq, ack, mss, window_scale, sack_permitted, timestamps }
    }
}

/// State of one host.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Side {
    /// Sequence number of the first byte of the host's stream, from its SYN. Without a SYN, the sequence number of the first packet seen.
    origin: Option<u32>,
    pub(crate) saw_syn: bool,
    /// Number of SYNs of the host that passed.
    syns: u32,
    syn_acks: u32,
    /// The host's SYN, with its options.
    pub(crate) syn: Option<Syn>,
    pub(crate) options_cut: bool,
    /// Whether the host's SYN has the options of Linux.
    pub(crate) has_linux_options: bool,
    /// The flags AE, CWR and ECE of the host's SYN.
    syn_ace: u8,
    /// The host's counter of marked packets, and the highest stream offset that an acknowledgement with it reported.
    marks: (Counter, u64),
    /// Stream offset of the host's FIN, once it was seen.
    fin: Option<u64>,
    fin_acknowledged: bool,
    recent: Option<Box<Recent>>,
    /// Number of bytes in the host's SYN that are not yet acknowledged.
    syn_len: u64,
    /// Number of packets without payload.
    pub(crate) empty_packets: u64,
    pub(crate) sender: Sender,
}

impl Side {
    pub(crate) fn new(is_drawn: bool) -> Self {
        Self {
            origin: None,
            saw_syn: false,
            syns: 0,
            syn_acks: 0,
            syn: None,
            options_cut: false,
            has_linux_options: false,
            syn_ace: 0,
            marks: (Counter::default(), FIRST),
            fin: None,
            fin_acknowledged: false,
            recent: None,
            syn_len: 0,
            empty_packets: 0,
            sender: Sender::new(FIRST, is_drawn),
        }
    }

    /// Checks whether `segment` is the SYN that began this host's stream, as far as it is known.
    pub(crate) fn has_syn(&self, segment: &Segment) -> bool {
        self.origin == Some(segment.seq.wrapping_add(1))
    }

    /// Checks whether the host's SYN or SYN-ACK passed more than once.
    pub(crate) fn repeated_its_syn(&self) -> bool {
        self.syns > 1 || self.syn_acks > 1
    }

    /// Returns the stream offset of a sequence number. Of the possible offsets, it is the one nearest to the end of the data sent. `None`
    /// if nothing of the stream is known.
    fn place(&self, number: u32) -> Option<u64> {
        let origin = self.origin?;
        let near = self.sender.board.next;
        #[expect(clippy::cast_possible_truncation, reason = "sequence numbers are places modulo 2^32")]
        let from_near =
            number.wrapping_sub(origin).wrapping_sub((near - FIRST.min(near)) as u32).cast_signed();
        near.checked_add_signed(i64::from(from_near))
    }

    /// Returns the sequence number of the first byte of the host's data; 0 if nothing of the stream is known.
    pub(crate) fn first(&self) -> u32 {
        self.origin.unwrap_or(0)
    }

    /// Accepts the data in the SYN up to stream offset `place`, up to which data was sent or acknowledged.
    fn take_syn_data(&mut self, place: u64) {
        let taken = place.saturating_sub(FIRST).min(std::mem::take(&mut self.syn_len));
        if taken > 0 && self.sender.instants.first_data.is_none() {
            self.sender.skip(taken);
        }
    }

    /// Checks whether the data lies beyond the FIN, or beyond any possible window.
    fn is_beyond_its_end(&self, number: u32, len: u32) -> bool {
        self.place(number).is_some_and(|start| {
            start.abs_diff(self.sender.board.next) > FARTHEST
                || self.fin.is_some_and(|fin| start.saturating_add(u64::from(len)) > fin)
        })
    }
}

impl Connection {
    pub(crate) fn new(first: &Packet, is_drawn: bool, seen_at: Option<SeenAt>) -> Self {
        let flags = first.segment.flags;
        // If the first packet is a SYN-ACK, its destination opened the connection.
        let is_answer = flags.has(Flags::SYN.with(Flags::ACK));
        let ends =
            if is_answer { [first.destination, first.source] } else { [first.source, first.destination] };
        Self::between(ends, is_drawn, seen_at)
    }

    /// Creates a connection between these ends, none of whose packets has passed yet.
    pub(crate) fn between(ends: [SocketAddr; 2], is_drawn: bool, seen_at: Option<SeenAt>) -> Self {
        Self {
            ends,
            hosts: [Side::new(is_drawn), Side::new(is_drawn)],
            handshake: Handshake::default(),
            first_at: 0,
            clock: Clock::default(),
            is_reset: false,
            points: [None; 2],
            views: None,
            gathered: Few::default(),
            is_replaced: false,
            is_displaced: false,
            layers: None,
            seen_at,
            own: None,
        }
    }

    /// Checks whether the packet begins another connection between the same ends.
    pub(crate) fn is_over_by(&self, packet: &Packet) -> bool {
        let (segment, from) = (&packet.segment, self.host_of(packet));
        let (side, other) = (&self.hosts[from], &self.hosts[1 - from]);
        if segment.flags.has(Flags::RST) {
            return false;
        }
        if !segment.flags.has(Flags::SYN) {
            return self.is_closed() && packet.len > 0 && side.is_beyond_its_end(segment.seq, packet.len);
        }
        if side.has_syn(segment) || side.origin.is_none() {
            return false;
        }
        if !segment.flags.has(Flags::ACK) {
            return true;
        }
        // A SYN-ACK belongs to the SYN that it acknowledges. Its own sequence number does not decide, because stateless hosts generate a
        // new one for each.
        let asked = if other.saw_syn { other.origin } else { side.syn.map(|syn| syn.ack) };
        asked.map_or(self.is_closed(), |asked| asked != segment.ack)
    }

    /// Checks whether the packet has a sequence number before this connection's SYN, or above it by more than any window. In this case it
    /// belongs to an earlier connection between the same ends.
    pub(crate) fn is_after(&self, packet: &Packet) -> bool {
        !packet.segment.flags.has(Flags::SYN)
            && self.places(packet).any(|(side, place)| {
                side.saw_syn && (place + 1 < FIRST || place > side.sender.board.next.saturating_add(FARTHEST))
            })
    }

    /// Checks whether all of the packet's sequence numbers lie above the data seen of this connection. In this case either the capture
    /// missed the data between, or the packet belongs to an earlier connection.
    pub(crate) fn is_behind(&self, packet: &Packet) -> bool {
        let mut places = self.places(packet).filter(|(side, _)| side.saw_syn).peekable();
        !packet.segment.flags.has(Flags::SYN)
            && places.peek().is_some()
            && places.all(|(side, place)| place > side.sender.board.next)
    }

    /// Checks whether all of the packet's sequence numbers are among those seen of this connection. One number after the data is allowed
    /// for a FIN.
    pub(crate) fn holds(&self, packet: &Packet) -> bool {
        self.places(packet).all(|(side, place)| (FIRST..=side.sender.board.next + 2).contains(&(place + 1)))
    }

    /// Returns the stream offsets in the packet's header: its own in its sender's stream, and the acknowledged one in the other host's
    /// stream.
    fn places(&self, packet: &Packet) -> impl Iterator<Item = (&Side, u64)> {
        let (segment, from) = (&packet.segment, self.host_of(packet));
        let acknowledged = segment.flags.has(Flags::ACK).then_some((&self.hosts[1 - from], segment.ack));
        std::iter::once((&self.hosts[from], segment.seq))
            .chain(acknowledged)
            .filter_map(|(side, number)| Some((side, side.place(number)?)))
    }

    /// Returns the number of payload bytes missing before the packet, if the packet continues this connection. Returns `None` if the
    /// connection is closed, or if the packet's sequence numbers begin a new connection or are too far from those seen.
    pub(crate) fn missing_before(&self, packet: &Packet) -> Option<u64> {
        if self.is_closed() || packet.segment.flags.has(Flags::SYN) || self.is_over_by(packet) {
            return None;
        }
        if !self.is_near(packet) {
            return None;
        }
        let side = &self.hosts[self.host_of(packet)];
        // A FIN takes one sequence number.
        Some(side.place(packet.segment.seq)?.saturating_sub(side.sender.board.next + 1))
    }

    /// Checks whether the packet's sequence numbers are close to those seen of this connection: at most [`NEAR`] below or [`BEYOND`] above.
    fn is_near(&self, packet: &Packet) -> bool {
        let mut places = self.places(packet).peekable();
        places.peek().is_some()
            && places.all(|(side, place)| {
                let next = side.sender.board.next;
                place.saturating_add(NEAR) >= next && place <= next.saturating_add(BEYOND)
            })
    }

    /// Checks whether a packet of an unknown tunnel belongs to this connection: it repeats the SYN, or its sequence numbers are close to
    /// those seen.
    pub(crate) fn fits(&self, packet: &Packet) -> bool {
        let segment = &packet.segment;
        if segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK) {
            return self.hosts[self.host_of(packet)].syn.is_some_and(|syn| syn.seq == segment.seq);
        }
        self.is_near(packet)
    }

    /// Counts a packet of no known connection, which is left out.
    pub(crate) fn leave_out(&mut self, packet: &Packet) {
        let from = self.host_of(packet);
        self.hosts[from].sender.counts.out_of_window += 1;
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_reset || self.hosts.iter().all(|side| side.fin_acknowledged)
    }

    /// Checks whether data passed at this view's capture point.
    pub(crate) fn has_data(&self) -> bool {
        self.hosts.iter().any(|side| side.sender.instants.first_data.is_some())
    }

    pub(crate) fn is_reset(&self) -> bool {
        self.is_reset
    }

    /// Checks whether this host sent a FIN, or the connection was reset.
    pub(crate) fn is_over(&self, host: Host) -> bool {
        self.is_reset || self.hosts[host].fin.is_some()
    }

    pub(crate) fn host_of(&self, packet: &Packet) -> Host {
        usize::from(packet.source != self.ends[0])
    }

    /// Discards state that is not needed after a silence.
    pub(crate) fn rest(&mut self, now: u64) {
        // If the capture's clock was set back, packets' delays are unknown.
        let is_in_step = self.clock.is_in_step();
        let late = now.saturating_sub(DISORDER);
        for side in self.hosts.iter_mut().filter(|_| is_in_step) {
            if side.recent.as_mut().is_some_and(|recent| !recent.forget(late)) {
                side.recent = None;
            }
        }
    }

    /// Returns the number of bytes acknowledged to the host that had more acknowledged.
    pub(crate) fn size(&self) -> u64 {
        self.hosts.iter().map(|side| side.sender.board.una).max().unwrap_or(0)
    }

    pub(crate) fn is_drawn(&self) -> bool {
        self.hosts[0].sender.drawn.trace.is_some()
    }

    /// Processes a packet of this connection that passed at this view's capture point.
    pub(crate) fn take(&mut self, packet: &Packet) {
        let was_closed = self.is_closed();
        self.follow(packet);
        if self.is_closed() && !was_closed {
            for side in &mut self.hosts {
                side.recent = None;
                side.sender.shrink();
            }
        }
    }

    /// Records that the connection ended by a reset, or by a FIN that was not seen.
    pub(crate) fn abort(&mut self) {
        self.is_reset = true;
    }

    /// Ends the handshake without times, if its packets give no RTT.
    pub(crate) fn forget_handshake(&mut self) {
        self.handshake = Handshake::without_times();
        self.settle();
    }

    fn follow(&mut self, packet: &Packet) {
        let from = self.host_of(packet);
        if !self.clock.has_begun() {
            (self.first_at, self.clock) = (packet.at, Clock::new(packet.at));
        }
        self.points[from].get_or_insert(packet.point);
        if packet.layer.is_some() {
            let first = &mut self.layers.get_or_insert_default()[from];
            *first = first.or(packet.layer.as_deref().copied());
        }
        let at = self.read_clock(packet);
        let segment = &packet.segment;
        let flags = segment.flags;
        if flags.has(Flags::RST) {
            self.is_reset = true;
            self.hosts[from].empty_packets += 1;
            return;
        }
        if self.own.is_none() && self.was_captured(at, from, packet) {
            self.hosts[from].sender.counts.duplicates += 1;
            return;
        }
        self.follow_handshake(at, from, packet);
        self.follow_acknowledgement(at, from, packet);
        let side = &mut self.hosts[from];
        let first = segment.seq.wrapping_add(u32::from(flags.has(Flags::SYN)));
        side.origin.get_or_insert(first);
        let Some(start) = side.place(first) else { return };
        let end = start.saturating_add(u64::from(packet.len));
        if flags.has(Flags::FIN) {
            side.fin = Some(end);
        }
        if packet.len == 0 {
            side.empty_packets += 1;
            return;
        }
        if flags.has(Flags::SYN) && !flags.has(Flags::ACK) {
            // RFC 7413: the SYN-ACK shows whether the data was accepted.
            side.syn_len = packet.len.into();
            side.sender.syn_data(packet.len.into());
            return;
        }
        if start > FIRST {
            side.take_syn_data(start);
        }
        let answers_echo = flags.has(Flags::CWR) && self.feedback() == Some(Feedback::Classic);
        let Packet { identification, options_len, point, .. } = *packet;
        let stamp = segment.timestamps.map(|timestamps| timestamps.value);
        let origin = Origin { identification, stamp, point };
        let is_timed = packet.stamp == Stamp::Right;
        self.hosts[from].sender.on_data(&Data {
            at,
            is_timed,
            start,
            end,
            origin,
            options_len,
            answers_echo,
            is_pushed: flags.has(Flags::PSH),
        });
    }

    /// Returns the time of the packet. Marks the handshake's times and other measurements as unusable if the clock was stepped during them
    /// or a packet has a wrong time.
    fn read_clock(&mut self, packet: &Packet) -> u64 {
        if packet.stamp == Stamp::Displaced {
            self.is_displaced = true;
            return self.clock.last;
        }
        let set_back = self.clock.set_back;
        let at = self.clock.read(packet.at);
        if self.clock.set_back != set_back {
            self.handshake.is_untimed |= !self.handshake.is_over;
            self.hosts.iter_mut().for_each(|side| side.sender.instants.timed_since = at);
        }
        if packet.stamp == Stamp::Wrong && !self.handshake.is_over {
            self.handshake.has_wrong_time = true;
        }
        at
    }

    fn follow_handshake(&mut self, at: u64, from: Host, packet: &Packet) {
        let segment = &packet.segment;
        let flags = segment.flags;
        if flags.has(Flags::SYN) {
            let is_answer = flags.has(Flags::ACK);
            let side = &mut self.hosts[from];
            *(if is_answer { &mut side.syn_acks } else { &mut side.syns }) += 1;
            side.saw_syn = true;
            side.syn = Some(Syn::of(segment));
            side.options_cut = packet.options_cut;
            side.has_linux_options = packet.has_linux_options;
            side.syn_ace = ace(packet);
            side.origin = Some(segment.seq.wrapping_add(1));
            if is_answer {
                self.handshake.syn_ack(at, from, segment.seq);
            } else {
                self.handshake.syn(at, from);
            }
            self.settle();
            return;
        }
        let acknowledges = flags.has(Flags::ACK).then_some(segment.ack);
        let is_third = || {
            let begins = [FIRST, FIRST + self.hosts[from].sender.counts.syn_data];
            let is_first = self.hosts[from].place(segment.seq).is_some_and(|place| begins.contains(&place));
            is_first && acknowledges.is_some() && acknowledges == self.hosts[1 - from].origin
        };
        if self.handshake.segment(at, from, acknowledges, is_third) {
            self.settle();
        }
    }

    /// Checks whether the packet is a captured copy of one that passed just before.
    fn was_captured(&mut self, at: u64, from: Host, packet: &Packet) -> bool {
        let side = &mut self.hosts[from];
        // Before an RTT is known nothing was acknowledged, so only a timer can have caused a retransmission.
        let sender = &side.sender;
        let round_trip = sender.rtt.least().into_iter().chain(sender.setting.handshake).min();
        let within = round_trip.map_or(LATEST_COPY, |round_trip| LATEST_COPY.min(round_trip / 8));
        let soon = round_trip.unwrap_or(LONGEST_WAY);
        side.recent.get_or_insert_default().has(at, packet, within, soon)
    }

    /// Passes the results of the handshake to both senders: the options after the SYN-ACK, the times after the third packet.
    fn settle(&mut self) {
        let options = [0, 1].map(|host| self.hosts[host].syn.and_then(|syn| syn.mss));
        let mss_option = match options {
            [Some(one), Some(other)] => Some(one.min(other).get()),
            _ => None,
        };
        let timestamps = self.hosts.iter().all(|side| side.syn.is_some_and(|syn| syn.timestamps.is_some()));
        let is_known = !self.hosts.iter().any(|side| side.options_cut);
        let permits = |side: &Side| side.syn.is_none_or(|syn| syn.sack_permitted);
        let no_sack = is_known && !self.hosts.iter().all(permits);
        let parts = self.handshake.parts();
        for host in 0..2 {
            let place = self.place_as(host);
            let handshake = place.and_then(|place| self.handshake.round_trip(place));
            // The time from the capture point to this sender and back is measured by the other host's SYN or SYN-ACK. The time to the
            // answering host comes first in `parts`.
            let part =
                parts.map_or(0, |[to_answerer, to_opener]| if host == 0 { to_opener } else { to_answerer });
            let shift = if place == Some(Place::At(host)) { 0 } else { part };
            let options_cut = self.hosts.iter().any(|side| side.options_cut);
            self.hosts[host].sender.setting =
                Setting { mss_option, timestamps, no_sack, options_cut, shift, handshake };
        }
    }

    /// Passes the packet's acknowledgement to the other host's sender.
    fn follow_acknowledgement(&mut self, at: u64, from: Host, packet: &Packet) {
        let segment = &packet.segment;
        let flags = segment.flags;
        if !flags.has(Flags::ACK) {
            return;
        }
        let to = 1 - from;
        let scale = self.scale_of(from);
        let feedback = self.feedback();
        let other = &mut self.hosts[to];
        if other.origin.is_none() {
            // The capture begins with an acknowledgement. The stream is taken to begin at the acknowledged sequence number.
            other.origin = Some(segment.ack);
        }
        let Some(mut place) = other.place(segment.ack) else { return };
        if let Some(fin) = other.fin
            && place == fin + 1
        {
            place = fin;
            other.fin_acknowledged = true;
        }
        other.take_syn_data(place);
        // If the packet with the FIN was not seen, the acknowledged FIN looks like an additional byte.
        if place == other.sender.board.next + 1 && other.fin.is_none() {
            place -= 1;
        }
        let mut blocks = [(0, 0); 4];
        let mut block_count = 0;
        for block in segment.sack_blocks() {
            if let (Some(start), Some(end)) = (other.place(block.start), other.place(block.end)) {
                blocks[block_count] = (start, end);
                block_count += 1;
            }
        }
        // The window of a SYN is not scaled (RFC 7323 section 2.2).
        let shift = if flags.has(Flags::SYN) { 0 } else { scale.unwrap_or(0) };
        let window = u64::from(segment.window) << shift;
        let echo = self.echoes(from, packet, place, feedback);
        self.hosts[to].sender.on_ack(
            at,
            Ack {
                to: place,
                is_timed: packet.stamp == Stamp::Right,
                window,
                is_scaled: scale.is_some(),
                blocks,
                block_count,
                echo,
            },
        );
    }

    /// Returns how congestion marks are echoed; `None` if the capture lacks a SYN.
    pub(crate) fn feedback(&self) -> Option<Feedback> {
        let seen = self.hosts.iter().all(|side| side.syn.is_some());
        seen.then(|| Feedback::agreed(self.hosts[0].syn_ace, self.hosts[1].syn_ace))
    }

    /// Checks whether this acknowledgement up to `place` echoes congestion marks.
    fn echoes(&mut self, from: Host, packet: &Packet, place: u64, feedback: Option<Feedback>) -> bool {
        let flags = packet.segment.flags;
        if flags.has(Flags::SYN) {
            return false;
        }
        let (counter, highest) = &mut self.hosts[from].marks;
        match feedback {
            Some(Feedback::Classic) => flags.has(Flags::ECE),
            // The opener's first acknowledgement has the handshake's code in these flags, and an acknowledgement that was overtaken has an
            // old value (RFC 9768 section 3.2.2). Both are ignored.
            Some(Feedback::Accurate) if place > FIRST && place >= *highest => {
                *highest = place;
                counter.rises(ace(packet))
            }
            _ => false,
        }
    }

    /// Returns the window scale shift of a host. It is zero unless both SYNs have the option, and `None` if that is not known.
    pub(crate) fn scale_of(&self, host: Host) -> Option<u8> {
        let is_known =
            |side: &&Side| side.syn.is_some_and(|syn| !side.options_cut || syn.window_scale.is_some());
        let syns = [0, 1].map(|host| Some(&self.hosts[host]).filter(is_known).and_then(|side| side.syn));
        let [Some(one), Some(other)] = syns else { return None };
        let both = one.window_scale.is_some() && other.window_scale.is_some();
        // RFC 7323 section 2.3: a shift above 14 is used as 14.
        let own = if host == 0 { one } else { other };
        Some(if both { own.window_scale.unwrap_or(0).min(14) } else { 0 })
    }
}
