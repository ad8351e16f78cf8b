//! A QUIC connection that its sender logged (qlog), analysed as a TCP connection is.
//!
//! QUIC sends the data of a lost packet in a new packet. The analysis knows bytes of a stream, so each packet with data gets the next bytes of
//! an assumed stream, and the first packet after a loss gets those of the oldest lost packet: it is its retransmission. Each lost packet has
//! one retransmission, whatever the sizes of the two.

mod ending;

use std::collections::{BTreeMap, VecDeque};
use std::net::{Ipv4Addr, SocketAddr};

use firstflight_qlog::{Carries, Connection as Logged, Event, Packet, Space};

use crate::connection::Connection;
use crate::events::{Ack, Data, Origin};
use crate::exit::Exit;
use crate::sender::FIRST;
use crate::socket::{Opening, opened};
use crate::{Inspected, senders};
use ending::{Ended, Ending};

/// The receiver's window. A log does not show flow control, so it never is the limit.
const NO_LIMIT: u32 = u32::MAX >> 2;

/// Number of lost packets of which the retransmissions were acknowledged, after which these packets are forgotten.
const MAX_LATE: usize = 4_096;

/// A QUIC connection followed through the log of one of its ends, as the sender of data.
#[derive(Debug)]
pub struct QuicLog {
    is_drawn: bool,
    /// The RTT of the handshake, once an Initial or a Handshake packet was acknowledged.
    handshake: Option<u64>,
    flow: Option<Flow>,
    ending: Ending,
    /// The bytes in flight before the last ACK, if no data was sent since: a stack responds to the ACK after it processed the whole ACK.
    before_ack: Option<u64>,
    is_closed: bool,
}

/// The data of the connection.
#[derive(Debug)]
struct Flow {
    connection: Connection,
    /// The bytes of each packet that is not acknowledged, by its number. Lost packets are among them, because they may arrive after all.
    bytes: BTreeMap<u64, (u64, u64)>,
    /// The ranges of the stream that are not acknowledged: from the first offset to the end.
    outstanding: BTreeMap<u64, u64>,
    /// Lost ranges that were not retransmitted, in the order of the losses.
    lost: VecDeque<(u64, u64)>,
    /// The end of the stream so far.
    next: u64,
    largest: u16,
    bytes_sent: u64,
    data_packets: u64,
    spurious: u64,
}

impl QuicLog {
    /// Creates the state of a connection without events. Keeps the time series if `is_drawn` is true.
    pub fn new(is_drawn: bool) -> Self {
        Self {
            is_drawn,
            handshake: None,
            flow: None,
            ending: Ending::default(),
            before_ack: None,
            is_closed: false,
        }
    }

    /// Processes an event of the log.
    pub fn event(&mut self, at: u64, event: &Event<'_>) {
        match event {
            Event::Sent(packet) if is_data(packet) => self.sent(at, packet),
            Event::Acked { packets, spurious, is_marked } => self.acked(at, packets, *spurious, *is_marked),
            Event::Lost(packets) => self.lost(at, packets),
            Event::Metrics(metrics) => self.ending.metrics(at, metrics, self.flight()),
            Event::State { state, is_timeout, is_mark } => {
                self.ending.state(at, *state, (*is_timeout, *is_mark), self.flight());
            }
            Event::Closed => self.is_closed = true,
            Event::Sent(_) | Event::TimedOut | Event::MaxAckDelay(_) => {}
        }
    }

    /// Returns the bytes in flight when the controller responds; `None` before the first data.
    fn flight(&self) -> Option<u64> {
        let flow = self.flow.as_ref()?;
        Some(self.before_ack.unwrap_or_else(|| flow.flight()))
    }

    fn sent(&mut self, at: u64, packet: &Packet) {
        self.before_ack = None;
        let (handshake, is_drawn) = (self.handshake, self.is_drawn);
        self.flow.get_or_insert_with(|| Flow::new(at, handshake, is_drawn)).sent(at, packet);
    }

    fn acked(&mut self, at: u64, packets: &[Packet], spurious: usize, is_marked: bool) {
        if let Some(newest) = packets.iter().rfind(|packet| packet.space != Space::Application) {
            self.handshake = self.handshake.or(Some(at.saturating_sub(newest.sent_at)));
        }
        if is_marked {
            self.ending.marked(at);
        }
        let data = packets.iter().filter(|packet| is_data(packet));
        if let Some(flow) = &mut self.flow {
            flow.spurious += spurious as u64;
            self.before_ack = Some(flow.flight());
            flow.acked(at, data, is_marked);
        }
    }

    fn lost(&mut self, at: u64, packets: &[Packet]) {
        let Some(flow) = &mut self.flow else { return };
        let mut is_any = false;
        for range in packets.iter().filter(|packet| is_data(packet)) {
            is_any |= flow.lost(range.number);
        }
        if is_any {
            self.ending.lost(at);
        }
    }

    /// Returns the results. `is_cut` says whether the log ends before the connection does.
    pub fn finish(self, number: usize, log: &Logged, is_cut: bool) -> Inspected {
        let Self { flow, ending, is_closed, handshake, is_drawn, .. } = self;
        let had_data = flow.is_some();
        let mut flow = flow.unwrap_or_else(|| Flow::new(log.last_at, handshake, is_drawn));
        let connection = &mut flow.connection;
        connection.first_at = 0;
        connection.clock.read(log.last_at);
        if is_closed || !is_cut {
            connection.abort();
        }
        connection.finish();
        let ended = ending.finish();
        if let Ended::At(shown) = &ended {
            let exit = shown.exit;
            let sender = &mut connection.hosts[0].sender;
            let round =
                sender.rounds.kept.partition_point(|round| round.ended.is_some_and(|end| end <= exit.at));
            let round = round.min(sender.rounds.kept.len().saturating_sub(1));
            sender.end_start_up(Exit { round, ..exit });
        }
        let Flow { connection, largest, bytes_sent, data_packets, spurious, .. } = flow;
        let mut inspected = senders(number, connection).swap_remove(0);
        let found = &mut inspected.found;
        let vantage = log.vantage.as_deref();
        let ends = log.ends.clone();
        let [from, to] = ends.unwrap_or_else(|| [log.title.clone(), "its peer".to_owned()]);
        (found.from, found.to) = (from, to);
        found.role = [("client", "client"), ("server", "server")]
            .into_iter()
            .find_map(|(name, role)| (vantage == Some(name)).then_some(role));
        found.began_at_s = log.began_s;
        found.vantage = Some("sender");
        (found.window_scale, found.receiver_window_scale) = (None, None);
        (found.sack, found.timestamps, found.ecn, found.ecn_feedback) = (None, None, None, None);
        let options = ["window_scale", "receiver_window_scale", "sack", "timestamps", "ecn", "ecn_feedback"];
        found.lacks(options, "QUIC has no option of this name");
        found.segments_sent = None;
        found.lacks(["segments_sent"], "packets that elicit no acknowledgement are not followed");
        if had_data {
            found.mss_bytes = Some(largest.into());
            (found.bytes_sent, found.data_segments_sent) = (Some(bytes_sent), Some(data_packets));
            found.spurious_segments = spurious;
        } else {
            found.mss_bytes = None;
            found.lacks(["mss_bytes"], "the log has no packet with data");
        }
        if found.handshake_rtt_s.is_none() {
            let why = "the log has no acknowledgement of a packet of the handshake";
            found.lacks(["handshake_rtt_s", "rtt_to_sender_s", "rtt_to_receiver_s"], why);
        }
        if had_data {
            ended.tell(found);
        }
        inspected
    }
}

/// Checks whether a packet is in the stream of the analysis.
fn is_data(packet: &Packet) -> bool {
    packet.space == Space::Application && packet.carries != Carries::Control
}

impl Flow {
    fn new(at: u64, handshake: Option<u64>, is_drawn: bool) -> Self {
        let end = |port| SocketAddr::from((Ipv4Addr::UNSPECIFIED, port));
        let opening = Opening {
            at,
            local: end(1),
            remote: end(2),
            is_opener: true,
            round_trip: handshake,
            first: [0, 0],
            mss: 1_200,
            sack: true,
            timestamps: false,
            scales: Some([14, 14]),
            window: NO_LIMIT,
            ecn: false,
        };
        Self {
            connection: opened(&opening, is_drawn),
            bytes: BTreeMap::new(),
            outstanding: BTreeMap::new(),
            lost: VecDeque::new(),
            next: FIRST,
            largest: 0,
            bytes_sent: 0,
            data_packets: 0,
            spurious: 0,
        }
    }

    fn flight(&self) -> u64 {
        self.connection.hosts[0].sender.board.flight()
    }

    fn sent(&mut self, at: u64, packet: &Packet) {
        let size = u16::try_from(packet.bytes).unwrap_or(u16::MAX);
        let sender = &mut self.connection.hosts[0].sender;
        self.largest = self.largest.max(size);
        sender.setting.mss_option = Some(self.largest);
        self.bytes_sent += packet.bytes;
        self.data_packets += 1;
        let (start, end) = self.lost.pop_front().unwrap_or_else(|| {
            let start = self.next;
            self.next += u64::from(size);
            self.outstanding.insert(start, self.next);
            (start, self.next)
        });
        self.bytes.insert(packet.number, (start, end));
        if self.bytes.len() > 2 * self.outstanding.len() + MAX_LATE {
            self.bytes.retain(|_, (start, _)| self.outstanding.contains_key(start));
        }
        sender.on_data(&Data {
            at,
            is_timed: true,
            start,
            end,
            origin: Origin::default(),
            options_len: 0,
            answers_echo: false,
            is_pushed: false,
        });
        self.connection.clock.read(at);
    }

    fn acked<'a>(&mut self, at: u64, packets: impl Iterator<Item = &'a Packet>, is_marked: bool) {
        let mut ranges: Vec<(u64, u64)> =
            packets.filter_map(|packet| self.bytes.remove(&packet.number)).collect();
        // A packet that arrives after it was found lost needs no retransmission.
        self.lost.retain(|range| !ranges.contains(range));
        ranges.retain(|(start, _)| self.outstanding.remove(start).is_some());
        ranges.sort_unstable();
        let to = self.outstanding.first_key_value().map_or(self.next, |(start, _)| *start);
        let mut blocks: Vec<(u64, u64)> = Vec::new();
        for (start, end) in ranges.into_iter().filter(|(start, _)| *start >= to) {
            match blocks.last_mut() {
                Some(last) if last.1 == start => last.1 = end,
                _ => blocks.push((start, end)),
            }
        }
        // An ACK of TCP has at most four blocks. The highest are in the first.
        let mut echo = is_marked;
        let sender = &mut self.connection.hosts[0].sender;
        let mut groups: Vec<&[(u64, u64)]> = blocks.rchunks(4).collect();
        if groups.is_empty() {
            groups.push(&[]);
        }
        for group in groups {
            let mut blocks = [(0, 0); 4];
            blocks[..group.len()].copy_from_slice(group);
            sender.on_ack(
                at,
                Ack {
                    to,
                    is_timed: true,
                    window: u64::from(NO_LIMIT),
                    is_scaled: true,
                    blocks,
                    block_count: group.len(),
                    echo: std::mem::take(&mut echo),
                },
            );
        }
    }

    /// Records that a packet was found lost. Returns whether it carried data that was not acknowledged.
    fn lost(&mut self, number: u64) -> bool {
        let Some(range) = self.bytes.get(&number).copied() else { return false };
        let is_missing = self.outstanding.contains_key(&range.0);
        if is_missing {
            self.lost.push_back(range);
        }
        is_missing
    }
}
