//! A connection: its handshake, and both directions as senders of data.

use std::net::SocketAddr;
use std::num::NonZeroU16;

use firstflight_tcp::{Flags, Segment, Timestamps};
use serde::{Deserialize, Serialize};

use crate::clock::{Clock, DISORDER};
use crate::ecn::{Counter, Feedback, ace};
use crate::events::{Ack, Data, Origin, Setting};
use crate::layers::Layer;
use crate::packet::{Packet, Point};
use crate::recent::{LATEST_COPY, LONGEST_WAY, Recent};
use crate::seen::SeenAt;
use crate::sender::{FARTHEST, FIRST, Sender};
use crate::views::Views;

/// What continues a connection lies no further below what was sent last, and what may be missing is no more.
const NEAR: u64 = 1 << 24;
const BEYOND: u64 = 1 << 28;

/// One of the two hosts; the first is the one that opened the connection, or whose packet came first.
pub(crate) type Host = usize;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Connection {
    /// The ends, by host.
    pub(crate) ends: [SocketAddr; 2],
    pub(crate) hosts: [Side; 2],
    pub(crate) handshake: Handshake,
    /// The first packet of all, and the time since.
    pub(crate) first_at: u64,
    pub(crate) clock: Clock,
    /// The place in the table of the connection between the same ends before it.
    pub(crate) before: Option<usize>,
    is_reset: bool,
    /// Where the packets of each host pass here.
    pub(crate) points: [Option<Point>; 2],
    /// What was seen of it at other places.
    pub(crate) views: Option<Box<Views>>,
    /// The tunnels, sessions or label stacks in which the first packets of each host were.
    pub(crate) layers: Option<Box<[Option<Layer>; 2]>>,
    /// Where the user says that the capture was taken.
    pub(crate) seen_at: Option<SeenAt>,
    /// The host whose own kernel tells of its socket, in place of a capture.
    pub(crate) own: Option<Host>,
}

/// What is kept of a SYN.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Syn {
    seq: u32,
    ack: u32,
    mss: Option<NonZeroU16>,
    pub(crate) window_scale: Option<u8>,
    pub(crate) sack_permitted: bool,
    #[serde(with = "crate::asleep::timestamps")]
    pub(crate) timestamps: Option<Timestamps>,
}

impl Syn {
    fn of(segment: &Segment) -> Self {
        let Segment { seq, ack, mss, window_scale, sack_permitted, timestamps, .. } = *segment;
        Self { seq, ack, mss, window_scale, sack_permitted, timestamps }
    }
}

/// What is known of one host.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Side {
    /// The sequence number of the first byte of its stream, by its SYN, or of the first packet seen.
    origin: Option<u32>,
    pub(crate) saw_syn: bool,
    pub(crate) syn_count: u32,
    /// Its SYN, with the options.
    pub(crate) syn: Option<Syn>,
    pub(crate) options_cut: bool,
    /// AE, CWR and ECE of its SYN.
    syn_ace: u8,
    /// Its counter of marked packets, and the highest place that it acknowledged with it.
    marks: (Counter, u64),
    /// Where its stream ends, if it said so.
    fin: Option<u64>,
    fin_acknowledged: bool,
    recent: Option<Box<Recent>>,
    /// Bytes in its SYN whose acknowledgement did not come yet.
    syn_len: u64,
    /// Packets without payload.
    pub(crate) empty_packets: u64,
    pub(crate) sender: Sender,
}

/// When the three packets passed.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Handshake {
    pub(crate) syn: Option<u64>,
    pub(crate) answer: Option<u64>,
    pub(crate) third: Option<u64>,
    /// Whether the opener was heard after the answer: what it says later is not the third packet.
    pub(crate) is_over: bool,
    /// Whether the capture's clock was set back before that.
    pub(crate) is_untimed: bool,
    /// An acknowledgement from the opener before any answer: when, and of what.
    early: Option<(u64, u32)>,
    /// By how much the third packet stands before the answer that it acknowledges.
    pub(crate) disorder: Option<u64>,
}

/// Where the capture was taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// At this host.
    At(Host),
    Between,
}

impl Handshake {
    /// From the capture's place to the host that answers and back, and to the one that opens and back.
    pub(crate) fn parts(&self) -> Option<[u64; 2]> {
        let (syn, answer, third) = (self.syn?, self.answer?, self.third.filter(|_| !self.is_untimed)?);
        Some([answer.checked_sub(syn)?, third.checked_sub(answer)?])
    }

    /// At a host if the part on its side is at most an eighth of the whole: hosts take tens of microseconds.
    pub(crate) fn place(&self) -> Option<Place> {
        let [to_answerer, to_opener] = self.parts()?;
        let whole = to_answerer.checked_add(to_opener)?;
        Some(if to_opener <= whole / 8 {
            Place::At(0)
        } else if to_answerer <= whole / 8 {
            Place::At(1)
        } else {
            Place::Between
        })
    }

    /// The round trip, without a host's own time where the capture was taken at it.
    pub(crate) fn round_trip(&self, place: Place) -> Option<u64> {
        let [to_answerer, to_opener] = self.parts()?;
        Some(match place {
            Place::At(0) => to_answerer,
            Place::At(_) => to_opener,
            Place::Between => to_answerer.checked_add(to_opener)?,
        })
    }
}

impl Side {
    fn new(is_drawn: bool) -> Self {
        Self {
            origin: None,
            saw_syn: false,
            syn_count: 0,
            syn: None,
            options_cut: false,
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

    /// The place in this host's stream of a sequence number, the one nearest to what was sent last; `None` before
    /// anything of the stream is known.
    fn place(&self, number: u32) -> Option<u64> {
        let origin = self.origin?;
        let near = self.sender.board.next;
        #[expect(clippy::cast_possible_truncation, reason = "sequence numbers are places modulo 2^32")]
        let from_near =
            number.wrapping_sub(origin).wrapping_sub((near - FIRST.min(near)) as u32).cast_signed();
        near.checked_add_signed(i64::from(from_near))
    }

    /// The sequence number of the first byte of its data; 0 before anything of the stream is known.
    pub(crate) fn first(&self) -> u32 {
        self.origin.unwrap_or(0)
    }

    /// What was sent or acknowledged up to `place` says how much of the data in the SYN was taken.
    fn take_syn_data(&mut self, place: u64) {
        let taken = place.saturating_sub(FIRST).min(std::mem::take(&mut self.syn_len));
        if taken > 0 && self.sender.first_data.is_none() {
            self.sender.skip(taken);
        }
    }

    /// Whether data lies beyond the stream's end, or beyond any window.
    fn is_beyond_its_end(&self, number: u32, len: u32) -> bool {
        self.place(number).is_some_and(|start| {
            start.abs_diff(self.sender.board.next) > FARTHEST
                || self.fin.is_some_and(|fin| start.saturating_add(u64::from(len)) > fin)
        })
    }
}

impl Connection {
    pub(crate) fn new(
        first: &Packet,
        before: Option<usize>,
        is_drawn: bool,
        seen_at: Option<SeenAt>,
    ) -> Self {
        let flags = first.segment.flags;
        // A first packet that is the answer to a SYN comes from the host that did not open.
        let is_answer = flags.has(Flags::SYN.with(Flags::ACK));
        let ends =
            if is_answer { [first.destination, first.source] } else { [first.source, first.destination] };
        Self {
            ends,
            hosts: [Side::new(is_drawn), Side::new(is_drawn)],
            handshake: Handshake::default(),
            first_at: first.at,
            clock: Clock::new(first.at),
            before,
            is_reset: false,
            points: [None; 2],
            views: None,
            layers: None,
            seen_at,
            own: None,
        }
    }

    /// Whether the packet is the first of another connection between the same ends.
    pub(crate) fn is_over_by(&self, packet: &Packet) -> bool {
        let (segment, from) = (&packet.segment, self.host_of(packet));
        let (side, other) = (&self.hosts[from], &self.hosts[1 - from]);
        if segment.flags.has(Flags::RST) {
            return false;
        }
        if !segment.flags.has(Flags::SYN) {
            return self.is_closed() && packet.len > 0 && side.is_beyond_its_end(segment.seq, packet.len);
        }
        let is_repeat = side.saw_syn && side.origin == Some(segment.seq.wrapping_add(1));
        if is_repeat || side.origin.is_none() {
            return false;
        }
        if !segment.flags.has(Flags::ACK) {
            return true;
        }
        // An answer belongs to the SYN that it acknowledges: hosts that keep no state make a new number for each.
        let asked = if other.saw_syn { other.origin } else { side.syn.map(|syn| syn.ack) };
        asked.map_or(self.is_closed(), |asked| asked != segment.ack)
    }

    /// Whether the packet has a number that lies before the SYN of this connection, or beyond any window behind it: it is
    /// of an earlier connection between the same ends.
    pub(crate) fn is_after(&self, packet: &Packet) -> bool {
        !packet.segment.flags.has(Flags::SYN)
            && self.places(packet).any(|(side, place)| {
                side.saw_syn && (place + 1 < FIRST || place > side.sender.board.next.saturating_add(FARTHEST))
            })
    }

    /// Whether all its numbers lie beyond what was seen of this connection: the capture missed what lies between, or it
    /// is of an earlier connection.
    pub(crate) fn is_behind(&self, packet: &Packet) -> bool {
        let mut places = self.places(packet).filter(|(side, _)| side.saw_syn).peekable();
        !packet.segment.flags.has(Flags::SYN)
            && places.peek().is_some()
            && places.all(|(side, place)| place > side.sender.board.next)
    }

    /// Whether all its numbers are among those seen of this connection; a FIN is one more.
    pub(crate) fn holds(&self, packet: &Packet) -> bool {
        self.places(packet).all(|(side, place)| (FIRST..=side.sender.board.next + 2).contains(&(place + 1)))
    }

    /// The places that the packet names: its own in its host's stream, and what it acknowledges in the other's.
    fn places(&self, packet: &Packet) -> impl Iterator<Item = (&Side, u64)> {
        let (segment, from) = (&packet.segment, self.host_of(packet));
        let acknowledged = segment.flags.has(Flags::ACK).then_some((&self.hosts[1 - from], segment.ack));
        std::iter::once((&self.hosts[from], segment.seq))
            .chain(acknowledged)
            .filter_map(|(side, number)| Some((side, side.place(number)?)))
    }

    /// The payload that is missing before the packet, if it continues this connection: its numbers are none of a new one, lie near
    /// those that were seen or not far beyond, and the connection is open.
    pub(crate) fn missing_before(&self, packet: &Packet) -> Option<u64> {
        if self.is_closed() || packet.segment.flags.has(Flags::SYN) || self.is_over_by(packet) {
            return None;
        }
        if !self.is_near(packet) {
            return None;
        }
        let side = &self.hosts[self.host_of(packet)];
        // A FIN is one more.
        Some(side.place(packet.segment.seq)?.saturating_sub(side.sender.board.next + 1))
    }

    /// Whether its numbers lie near those that were seen of this connection, or not far beyond.
    fn is_near(&self, packet: &Packet) -> bool {
        let mut places = self.places(packet).peekable();
        places.peek().is_some()
            && places.all(|(side, place)| {
                let next = side.sender.board.next;
                place.saturating_add(NEAR) >= next && place <= next.saturating_add(BEYOND)
            })
    }

    /// Whether the packet is of this connection, though its tunnel is not known here: the same SYN, or a number near.
    pub(crate) fn fits(&self, packet: &Packet) -> bool {
        let segment = &packet.segment;
        if segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK) {
            return self.hosts[self.host_of(packet)].syn.is_some_and(|syn| syn.seq == segment.seq);
        }
        self.is_near(packet)
    }

    /// A packet passed that is of no connection that is known here.
    pub(crate) fn leave_out(&mut self, packet: &Packet) {
        let from = self.host_of(packet);
        self.hosts[from].sender.counts.out_of_window += 1;
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_reset || self.hosts.iter().all(|side| side.fin_acknowledged)
    }

    /// Whether data passed at this view's place.
    pub(crate) fn has_data(&self) -> bool {
        self.hosts.iter().any(|side| side.sender.first_data.is_some())
    }

    pub(crate) fn is_reset(&self) -> bool {
        self.is_reset
    }

    /// Whether this host said that its stream is over, or the connection was reset.
    pub(crate) fn is_over(&self, host: Host) -> bool {
        self.is_reset || self.hosts[host].fin.is_some()
    }

    pub(crate) fn host_of(&self, packet: &Packet) -> Host {
        usize::from(packet.source != self.ends[0])
    }

    /// Whether the packet is the opener's SYN once more, sent once: one that is sent again later has a newer timestamp.
    pub(crate) fn is_syn_again(&self, packet: &Packet) -> bool {
        let segment = &packet.segment;
        let is_syn = segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK);
        let last = self.hosts[0].syn.filter(|syn| is_syn && syn.seq == segment.seq);
        let is_soon = self.handshake.syn.is_some_and(|at| packet.at.abs_diff(at) < LONGEST_WAY);
        last.is_some_and(|syn| {
            let is_same = syn.timestamps == segment.timestamps && (syn.timestamps.is_some() || is_soon);
            self.host_of(packet) == 0 && is_same
        })
    }

    /// Whether it may be packed until its next packet, and what that needs no more is forgotten.
    pub(crate) fn may_rest(&mut self, now: u64) -> bool {
        if self.views.as_ref().is_some_and(|views| views.is_held()) {
            return false;
        }
        // Where the capture's clock was set back, what is late is not known.
        let is_in_step = self.clock.is_in_step();
        let late = now.saturating_sub(DISORDER);
        for side in self.hosts.iter_mut().filter(|_| is_in_step) {
            if side.recent.as_mut().is_some_and(|recent| !recent.forget(late)) {
                side.recent = None;
            }
        }
        self.views.as_mut().is_none_or(|views| views.far.may_rest(now))
    }

    /// What was acknowledged of the host that had more acknowledged.
    pub(crate) fn size(&self) -> u64 {
        self.hosts.iter().map(|side| side.sender.board.una).max().unwrap_or(0)
    }

    pub(crate) fn is_drawn(&self) -> bool {
        self.hosts[0].sender.trace.is_some()
    }

    /// A packet of this connection passed at this view's place.
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

    /// The connection ended, whether by a reset or by a FIN that was not seen.
    pub(crate) fn abort(&mut self) {
        self.is_reset = true;
    }

    /// When its packets have no times from which a handshake's round trip can be told: it is over.
    pub(crate) fn forget_handshake(&mut self) {
        self.handshake = Handshake { is_over: true, ..Handshake::default() };
        self.settle();
    }

    fn follow(&mut self, packet: &Packet) {
        let from = self.host_of(packet);
        self.points[from].get_or_insert(packet.point);
        if packet.layer.is_some() {
            let first = &mut self.layers.get_or_insert_default()[from];
            *first = first.or(packet.layer);
        }
        let set_back = self.clock.set_back;
        let at = self.clock.read(packet.at);
        if self.clock.set_back != set_back {
            self.handshake.is_untimed |= !self.handshake.is_over;
            self.hosts.iter_mut().for_each(|side| side.sender.times_since = at);
        }
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
            // RFC 7413: whether it counts, the answer says.
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
        self.hosts[from].sender.data(&Data { at, start, end, origin, options_len, answers_echo });
    }

    fn follow_handshake(&mut self, at: u64, from: Host, packet: &Packet) {
        let segment = &packet.segment;
        let flags = segment.flags;
        if flags.has(Flags::SYN) {
            let side = &mut self.hosts[from];
            side.syn_count += 1;
            side.saw_syn = true;
            side.syn = Some(Syn::of(segment));
            side.options_cut = packet.options_cut;
            side.syn_ace = ace(packet);
            side.origin = Some(segment.seq.wrapping_add(1));
            if flags.has(Flags::ACK) {
                let early = self.handshake.early.filter(|early| early.1 == segment.seq.wrapping_add(1));
                if self.handshake.answer.is_none()
                    && let Some((then, _)) = early
                {
                    self.handshake.disorder = Some(at.saturating_sub(then));
                    self.handshake.is_over = true;
                }
                self.handshake.answer = self.handshake.answer.or(Some(at));
            } else if self.handshake.answer.is_none() {
                self.handshake.syn = Some(at);
            }
            self.settle();
        } else if from == 0 && self.handshake.answer.is_none() && flags.has(Flags::ACK) {
            self.handshake.early = self.handshake.early.or(Some((at, segment.ack)));
        } else if from == 0 && self.handshake.answer.is_some() && !self.handshake.is_over {
            self.handshake.is_over = true;
            let answerer = self.hosts[1].origin;
            let begins = [FIRST, FIRST + self.hosts[0].sender.counts.syn_data];
            let is_first = self.hosts[0].place(segment.seq).is_some_and(|place| begins.contains(&place));
            // Of anything later than the first bytes, or of anything later than the answer, it is another packet.
            if flags.has(Flags::ACK) && is_first && Some(segment.ack) == answerer {
                self.handshake.third = Some(at);
                self.settle();
            }
        }
    }

    /// Whether the same packet passed just before: the capture has it twice.
    fn was_captured(&mut self, at: u64, from: Host, packet: &Packet) -> bool {
        let side = &mut self.hosts[from];
        // Before a round trip is known nothing was acknowledged: only a timer could send again.
        let sender = &side.sender;
        let round_trip = sender.rtt.least().into_iter().chain(sender.setting.handshake).min();
        let within = round_trip.map_or(LATEST_COPY, |round_trip| LATEST_COPY.min(round_trip / 8));
        let soon = round_trip.unwrap_or(LONGEST_WAY);
        side.recent.get_or_insert_default().has(at, packet, within, soon)
    }

    /// Both senders learn what the handshake told: the options with the answer, the times with the third packet.
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
            // The part of the other side is the way to the sender: the answerer's part comes first.
            let part =
                parts.map_or(0, |[to_answerer, to_opener]| if host == 0 { to_opener } else { to_answerer });
            let shift = if place == Some(Place::At(host)) { 0 } else { part };
            let options_cut = self.hosts.iter().any(|side| side.options_cut);
            self.hosts[host].sender.setting =
                Setting { mss_option, timestamps, no_sack, options_cut, shift, handshake };
        }
    }

    /// Tells the other host's sender what this packet acknowledges.
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
            // The capture begins with an acknowledgement: what it acknowledges is where this stream begins here.
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
        // Without the packet that held it, a FIN is one byte more.
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
        self.hosts[to]
            .sender
            .ack(at, Ack { to: place, window, is_scaled: scale.is_some(), blocks, block_count, echo });
    }

    /// How marks are told of; `None` if the SYNs are not both in the capture.
    pub(crate) fn feedback(&self) -> Option<Feedback> {
        let seen = self.hosts.iter().all(|side| side.syn.is_some());
        seen.then(|| Feedback::agreed(self.hosts[0].syn_ace, self.hosts[1].syn_ace))
    }

    /// Whether this acknowledgement up to `place` tells its host of congestion marks.
    fn echoes(&mut self, from: Host, packet: &Packet, place: u64, feedback: Option<Feedback>) -> bool {
        let flags = packet.segment.flags;
        if flags.has(Flags::SYN) {
            return false;
        }
        let (counter, highest) = &mut self.hosts[from].marks;
        match feedback {
            Some(Feedback::Classic) => flags.has(Flags::ECE),
            // The first acknowledgement of a host that opened has the handshake's own code, and one that was overtaken an
            // old value (RFC 9768 section 3.2.2).
            Some(Feedback::Accurate) if place > FIRST && place >= *highest => {
                *highest = place;
                counter.rises(ace(packet))
            }
            _ => false,
        }
    }

    /// The shift of a host's windows: zero unless both SYNs have the option; `None` if that is not known.
    pub(crate) fn scale_of(&self, host: Host) -> Option<u8> {
        let is_known =
            |side: &&Side| side.syn.is_some_and(|syn| !side.options_cut || syn.window_scale.is_some());
        let syns = [0, 1].map(|host| Some(&self.hosts[host]).filter(is_known).and_then(|side| side.syn));
        let [Some(one), Some(other)] = syns else { return None };
        let both = one.window_scale.is_some() && other.window_scale.is_some();
        // RFC 7323 section 2.3: more than 14 counts as 14.
        let own = if host == 0 { one } else { other };
        Some(if both { own.window_scale.unwrap_or(0).min(14) } else { 0 })
    }
}
