//! Observes rounds: the times and counts of each reply of each client.
//!
//! An event belongs to its client's newest round.

use firstflight::{Sent, Time};
use firstflight_measure::rounds::Reply;
use firstflight_sim::{DropCause, FlowId, LinkId, Packet, Recorder};
use firstflight_tcp::{Flags, Role, Segment};

/// One client's replies, and the state needed to separate them.
#[derive(Clone, Debug, Default)]
struct Client {
    replies: Vec<Reply>,
    /// The latest time at which data was sent, and the number of packets sent at that time.
    instant: (u64, u64),
    /// The newest acknowledgement number, and the number of bytes acknowledged since the handshake.
    acknowledged: Option<(u32, u64)>,
    /// The number of fully acknowledged replies.
    whole: usize,
}

impl Client {
    /// Records that a data packet was sent.
    #[inline(never)]
    fn sent(&mut self, at: Time) {
        let (instant, count) = self.instant;
        self.instant = if instant == at.nanos() { (instant, count + 1) } else { (at.nanos(), 1) };
        if let Some(reply) = self.replies.last_mut() {
            reply.burst = reply.burst.max(self.instant.1);
        }
    }

    /// Records the arrival of an ACK with the acknowledgement number `ack`. A reply has `reply` bytes.
    #[inline(never)]
    fn heard(&mut self, at: Time, ack: u32, reply: u64) {
        let (before, bytes) = *self.acknowledged.get_or_insert((ack, 0));
        let advanced = ack.wrapping_sub(before).cast_signed();
        let Some(advanced) = u64::try_from(advanced).ok().filter(|advanced| *advanced > 0) else { return };
        let bytes = bytes + advanced;
        self.acknowledged = Some((ack, bytes));
        if let Some(newest) = self.replies.last_mut() {
            newest.clocked.get_or_insert(at.nanos());
        }
        while self.replies.len() > self.whole && bytes >= reply * (self.whole as u64 + 1) {
            self.replies[self.whole].acked = Some(at.nanos());
            self.whole += 1;
        }
    }
}

/// The recorder of the clients' rounds.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    /// The clients, by flow number; `None` for a flow that is not observed.
    clients: Vec<Option<Client>>,
    /// Payload bytes of a reply.
    reply: u64,
}

impl Watch {
    /// Creates the recorder of the flows `own`, in their order, with replies of `reply` bytes.
    pub(crate) fn new(own: &[FlowId], reply: u64) -> Self {
        let count = own.last().map_or(0, |last| last.0 + 1);
        let client = |flow| own.contains(&FlowId(flow)).then(Client::default);
        Self { clients: (0..count).map(client).collect(), reply }
    }

    /// Returns every reply, ordered by client and round.
    pub(crate) fn finish(self) -> Vec<Reply> {
        self.clients.into_iter().flatten().flat_map(|client| client.replies).collect()
    }

    fn client(&mut self, flow: FlowId) -> Option<&mut Client> {
        self.clients.get_mut(flow.0 as usize)?.as_mut()
    }

    fn newest(&mut self, flow: FlowId) -> Option<&mut Reply> {
        self.client(flow)?.replies.last_mut()
    }
}

impl Recorder for Watch {
    const NEEDS_QUEUES: bool = false;

    #[inline]
    fn sent(&mut self, at: Time, flow: FlowId, side: Role, _: u64, segment: &Segment, _: Option<&Sent>) {
        if let Some(client) = self.client(flow)
            && side == Role::Client
            && segment.len > 0
        {
            client.sent(at);
        }
    }

    #[inline]
    fn arrived(&mut self, at: Time, flow: FlowId, side: Role, segment: &Segment) {
        let reply = self.reply;
        if let Some(client) = self.client(flow)
            && side == Role::Client
            && segment.flags.has(Flags::ACK)
        {
            client.heard(at, segment.ack, reply);
        }
    }

    fn dropped(&mut self, _: Time, _: LinkId, packet: &Packet, _: DropCause) {
        if packet.from == Role::Client
            && packet.is_data()
            && let Some(reply) = self.newest(packet.flow)
        {
            reply.drops += 1;
        }
    }

    fn round_began(&mut self, at: Time, flow: FlowId, round: u32) {
        if let Some(client) = self.client(flow) {
            client.replies.push(Reply { round, began: at.nanos(), ..Reply::default() });
        }
    }

    fn round_ended(&mut self, at: Time, flow: FlowId, round: u32) {
        let reply = self.client(flow).and_then(|client| client.replies.get_mut(round as usize));
        if let Some(reply) = reply {
            reply.ended = Some(at.nanos());
        }
    }
}
