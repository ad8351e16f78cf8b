//! Sends arbitrary segments to an endpoint.

use core::num::NonZeroU16;

use firstflight::{Span, Time};
use firstflight_tcp::quick_start::{IpOption, Nonce, Options, Response};
use firstflight_tcp::{
    Config, Ecn, Flags, Recovery, Role, SackBlock, Segment, Snapshot, Status, Timestamps, Transmit,
};

use crate::Source;
use crate::peer::{self, Any, Memory};

/// An endpoint, and a peer whose segments have any header.
struct Attack {
    endpoint: Any,
    config: Config,
    now: Time,
    /// The newest acknowledgement number of the endpoint, which is the next sequence number that it expects.
    expected: u32,
    /// The peer's initial sequence number. The largest window scale in any of its SYNs follows.
    initial: u32,
    scale: u8,
    /// The highest stream offset that any window advertised by the peer permits.
    edge: u64,
    /// An upper bound on the windows that the peer advertised.
    largest: u64,
    before: Snapshot,
    memory: Memory,
}

/// Sends segments with any flags, options, acknowledgements, windows and payload to an endpoint. Between the segments, the application
/// makes calls and time passes.
pub fn endpoint_segments(data: &[u8]) {
    let mut source = Source::new(data);
    let config = peer::config(&mut source);
    let role = source.pick(&[Role::Client, Role::Server]);
    let endpoint = peer::endpoint(role, &config, &mut source);
    let before = endpoint.snapshot();
    let mut attack = Attack {
        endpoint,
        config,
        now: Time::from_nanos(1_000_000_000),
        expected: 0,
        initial: source.word(),
        scale: 0,
        edge: 0,
        largest: 0,
        before,
        memory: Memory::default(),
    };
    attack.endpoint.open(attack.now);
    attack.endpoint.write(u64::from(source.short()) * 4);
    attack.drain();
    if !source.once_in(8) {
        attack.shake_hands(role, &mut source);
    }
    for _ in 0..2_000 {
        if source.is_empty() {
            return;
        }
        attack.step(&mut source);
    }
}

impl Attack {
    fn shake_hands(&mut self, role: Role, source: &mut Source<'_>) {
        let answer = role == Role::Client;
        let flags = if answer { Flags::SYN.with(Flags::ACK) } else { Flags::SYN };
        let syn = Segment {
            seq: self.initial,
            ack: if answer { self.config.initial_sequence.wrapping_add(1) } else { 0 },
            window: source.short(),
            flags: if source.once_in(2) { flags.with(Flags::ECE) } else { flags },
            mss: NonZeroU16::new(source.pick(&[1_460, 536, 0, 1, 48, u16::MAX])),
            window_scale: source.pick(&[Some(7), None, Some(0), Some(14), Some(255)]),
            sack_permitted: !source.once_in(4),
            timestamps: source.once_in(2).then(Timestamps::default),
            ..Segment::default()
        };
        self.expected = self.initial.wrapping_add(1);
        self.inject(&syn);
        if !answer {
            let ack = Segment {
                seq: self.expected,
                ack: self.config.initial_sequence.wrapping_add(1),
                window: u16::MAX,
                flags: Flags::ACK,
                ..Segment::default()
            };
            self.inject(&ack);
        }
    }

    fn step(&mut self, source: &mut Source<'_>) {
        match source.below(16) {
            0..=10 => {
                let segment = self.segment(source);
                // Sometimes the peer floods the endpoint with copies of one segment.
                let times = if source.once_in(32) { 100 } else { 1 };
                for _ in 0..times {
                    self.inject(&segment);
                }
                return;
            }
            11..=12 => self.now = self.now + Span::from_nanos(source.wide()),
            13 => {
                if let Some(at) = self.endpoint.next_timer() {
                    self.now = self.now.max(at);
                }
                self.endpoint.on_timer(self.now);
            }
            14 => self.endpoint.write(u64::from(source.short())),
            _ => match source.byte() {
                0..=250 => {
                    self.endpoint.read(u64::from(source.short()));
                }
                251..=253 => self.endpoint.shut(),
                _ => self.endpoint.reset(),
            },
        }
        self.drain();
    }

    /// Returns a segment. It is often close to the segment that the endpoint expects.
    fn segment(&self, source: &mut Source<'_>) -> Segment {
        let state = self.endpoint.snapshot();
        let mut segment = Segment {
            seq: match source.below(8) {
                0..=4 => self.expected,
                5 => self.expected.wrapping_add(u32::from(source.short())),
                6 => self.expected.wrapping_sub(u32::from(source.short())),
                _ => source.word(),
            },
            ack: self.number(&state, source),
            window: source.pick(&[u16::MAX, 1_000, 0, 1, 2, 3, 30_000, 5]),
            flags: Flags::ACK,
            len: if source.once_in(4) { source.pick(&[1, 100, 1_460, u16::MAX, 2]) } else { 0 },
            ..Segment::default()
        };
        if source.once_in(8) {
            segment.flags = Flags(source.byte());
        }
        if source.once_in(3) {
            segment.sack_count = source.byte() % 8;
            let mut blocks = [SackBlock::default(); 4];
            for block in &mut blocks[..usize::from(segment.sack_count).min(4)] {
                *block = SackBlock { start: self.number(&state, source), end: self.number(&state, source) };
            }
            segment.sack = blocks;
        }
        if source.once_in(4) {
            let stamp = u32::try_from(self.now.nanos() / 1_000_000 % (1 << 32)).unwrap_or(0);
            let value = if source.once_in(3) { source.word() } else { stamp };
            segment.timestamps = Some(Timestamps { value, echo: source.word() });
        }
        if source.once_in(16) {
            segment.ecn = Ecn::Ce;
            segment.mss = NonZeroU16::new(source.short());
            segment.window_scale = Some(source.byte());
            segment.quick_start = options(source);
        }
        segment
    }

    /// Returns a sequence number in or near the endpoint's stream: one that is acknowledged, outstanding or not yet sent, or any number.
    fn number(&self, state: &Snapshot, source: &mut Source<'_>) -> u32 {
        let span = state.nxt - state.una;
        let offset = match source.below(8) {
            0..=1 => state.una,
            2 => state.nxt,
            // The number acknowledges a part of the outstanding data, as if the peer divided its acknowledgement.
            3..=5 => state.una + span * u64::from(source.byte()) / 255,
            6 => {
                (state.nxt + u64::from(source.short())).saturating_sub(u64::from(source.pick(&[0, u16::MAX])))
            }
            _ => return source.word(),
        };
        let low = u32::try_from(offset & 0xffff_ffff).expect("32 bits");
        self.config.initial_sequence.wrapping_add(1).wrapping_add(low)
    }

    /// Returns the stream offset of a sequence number. Of the possible offsets, it is the one nearest to `near`.
    fn offset(&self, number: u32, near: u64) -> Option<u64> {
        let low = u32::try_from(near & 0xffff_ffff).expect("32 bits");
        let at = self.config.initial_sequence.wrapping_add(1).wrapping_add(low);
        near.checked_add_signed(i64::from(number.wrapping_sub(at).cast_signed()))
    }

    fn inject(&mut self, segment: &Segment) {
        let state = self.endpoint.snapshot();
        let syn = segment.flags.has(Flags::SYN);
        if syn {
            self.scale = self.scale.max(segment.window_scale.unwrap_or(0).min(14));
        }
        let shift = if self.config.window_scaling { self.scale } else { 0 };
        let acknowledges = segment.flags.has(Flags::ACK);
        let offset = self.offset(segment.ack, state.una).filter(|_| acknowledges);
        let window = u64::from(segment.window) << shift;
        self.largest = self.largest.max(window);
        self.edge = self.edge.max(offset.unwrap_or(0).saturating_add(window));
        let open = self.endpoint.status() == Status::Open;
        let received = self.endpoint.stats().received;

        self.endpoint.on_segment(self.now, segment);

        let oldest = state.una.saturating_sub(self.largest);
        let acceptable = offset.is_some_and(|offset| (oldest..=state.nxt).contains(&offset));
        if open && acknowledges && !acceptable && !syn && !segment.flags.has(Flags::RST) {
            let after = self.endpoint.snapshot();
            assert_eq!(after, state, "an ACK outside of what was sent is not heard (RFC 5961 section 5.2)");
            assert_eq!(self.endpoint.stats().received, received, "nor is the data that comes with it");
        }
        let replies = self.drain();
        assert!(replies <= 3, "{replies} segments without data answer one");
    }

    /// Sends every segment that the endpoint may send now. Returns the number of segments without data.
    fn drain(&mut self) -> u64 {
        let start = self.endpoint.snapshot();
        let outstanding = self.endpoint.info().outstanding;
        let (mut empty, mut again) = (0, 0);
        loop {
            let (before, probes) = (self.endpoint.snapshot(), self.endpoint.stats().probes);
            let Some(transmit) = self.endpoint.poll_transmit(self.now) else { break };
            let after = self.endpoint.snapshot();
            match transmit.sent {
                None => empty += 1,
                Some(sent) => {
                    again += u64::from(sent.retransmission);
                    self.admits(&transmit, &before, &after, self.endpoint.stats().probes > probes);
                }
            }
            if transmit.segment.flags.has(Flags::ACK) {
                self.expected = transmit.segment.ack;
            }
            // There must be no endless loop: outstanding data is retransmitted at most once, and all new data advances the stream.
            assert!(empty <= 8, "segments without data leave and leave");
            let news = after.nxt - start.nxt;
            assert!(again <= outstanding + news + 2, "segments sent again leave and leave");
        }
        let state = self.endpoint.snapshot();
        assert!(self.before.una <= state.una && state.una <= state.nxt, "una goes on, up to nxt");
        assert!(self.before.nxt <= state.nxt, "nxt goes on");
        self.before = state;
        while self.endpoint.poll_event().is_some() {}
        self.memory.holds(&self.endpoint, &self.config);
        empty
    }

    /// Checks that the peer's window and the congestion window permitted the data that was sent.
    fn admits(&self, transmit: &Transmit, before: &Snapshot, after: &Snapshot, is_probe: bool) {
        let Some(sent) = transmit.sent else { return };
        let segment = &transmit.segment;
        let len = u64::from(segment.len);
        let start = self.offset(segment.seq, before.nxt).expect("within the stream");
        if sent.retransmission {
            assert!(before.una <= start && start + len <= before.nxt, "what is sent again is outstanding");
            return;
        }
        assert_eq!(start, before.nxt, "new data follows what was sent");
        let (end, edge) = (start + len, self.edge);
        assert!(len == 0 || end <= edge, "byte {end} left, and no window offered goes beyond {edge}");
        // Limited transmit (RFC 3042) adds two segments. A tail loss probe is sent regardless of the window (RFC 8985 section 7.3), and so
        // is a FIN without data.
        let most = before.cwnd.max(after.cwnd).get() + 2 * u64::from(self.config.mss);
        let (was, is) = (before.in_flight.get(), after.in_flight.get());
        let is_exempt = was == 0 || len == 0 || is_probe || self.config.recovery == Recovery::Ns2Sack1;
        assert!(is_exempt || is <= most, "{is} bytes in flight, {most} allowed");
    }
}

fn options(source: &mut Source<'_>) -> Options {
    use firstflight::RateCode;
    let rate = RateCode::from_low_bits(source.byte());
    let nonce = Nonce::new(source.word());
    let ip = match source.below(3) {
        0 => None,
        1 => Some(IpOption::Request { rate, ttl: source.byte(), hop_limit: source.byte(), nonce }),
        _ => Some(IpOption::Report { rate, nonce }),
    };
    let response = source.once_in(2).then(|| Response { rate, ttl_diff: source.byte(), nonce });
    Options::new(ip, response)
}
