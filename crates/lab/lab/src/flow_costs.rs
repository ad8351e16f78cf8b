//! Observing every flow of a population: the cost of its start-up.

use firstflight::{Cause, Note, Phase, Rate, Sent, Tag, Time};
use firstflight_measure::SuCounts;
use firstflight_sim::{DropCause, FlowId, LinkId, Packet, Recorder};
use firstflight_tcp::quick_start::IpOption;
use firstflight_tcp::{EndpointEvent, Role, Segment, Snapshot};

use crate::growth::GrowthWatch;

/// The observations of a flow and its start-up, with the definitions of a race's metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Watched {
    /// The cause of the first exit from start-up that was not undone.
    pub(crate) exit: Option<Cause>,
    /// When new data was first sent under the avoidance law.
    pub(crate) su_end: Option<Time>,
    now: Counts,
    /// The counts when data was last delivered in order. If the flow has finished, these are the counts at its end.
    delivered: Counts,
    delivered_at: Time,
    /// Exits from start-up that were not undone.
    exits: u32,
    /// The number of exits when the window was last reduced. Undoing that reduction also undoes later exits.
    exits_at_cut: u32,
    /// Whether su-time had ended when the window was last reduced.
    su_over_at_cut: bool,
    /// Whether new data was sent during the current event.
    new_data: bool,
    growth: GrowthWatch,
    /// The tag of the newest data sent, and whether this tag was first sent in the current event.
    tag: (Tag, bool),
    /// Packet trains sent before the first exit from start-up. All plans of one train have the same tag.
    pub(crate) trains: u32,
    /// Requests for a rate, and the routers' answers.
    pub(crate) quick_start: QuickStart,
}

/// A flow's requests to routers for a rate, and the routers' answers (Quick-Start).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct QuickStart {
    /// The number of requests sent.
    pub(crate) requests: u32,
    /// The number of requests for which every router approved a rate.
    pub(crate) approved: u32,
    /// The number of requests for which the approved rate was lower than requested.
    pub(crate) lowered: u32,
    /// The requested rate of the newest request.
    pub(crate) requested: Option<Rate>,
    /// The first rate that routers approved.
    pub(crate) granted: Option<Rate>,
}

impl QuickStart {
    /// Records a request that is sent.
    #[cold]
    fn ask(&mut self, option: Option<IpOption>) {
        if let Some(IpOption::Request { rate, .. }) = option {
            self.requests += 1;
            self.requested = Some(rate.rate());
        }
    }

    /// Records the answer to the newest request.
    fn on_response(&mut self, approved: Option<Rate>) {
        let Some(rate) = approved else { return };
        self.approved += 1;
        self.lowered += u32::from(self.requested.is_some_and(|requested| rate < requested));
        self.granted = self.granted.or(approved);
    }
}

/// Counts of a sender's data packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Data packets sent, retransmissions included.
    pub(crate) sent: u32,
    /// Data packets that the network dropped.
    pub(crate) lost: u32,
    /// Dropped data packets that were sent at or after the end of su-time.
    lost_since: u32,
    /// Retransmission timeouts.
    pub(crate) timeouts: u32,
}

impl Counts {
    /// Returns the number of dropped data packets that were sent before the end of su-time; of all dropped data packets if su-time did not
    /// end.
    pub(crate) const fn su_lost(self) -> u32 {
        self.lost - self.lost_since
    }
}

impl Watched {
    /// Returns the counts when the last byte was delivered if the flow is over, or else the counts now.
    pub(crate) const fn counts(&self, is_over: bool) -> Counts {
        if is_over { self.delivered } else { self.now }
    }

    /// Returns the growth class of the flow's start-up.
    pub(crate) const fn counts_in_start_up(&self) -> SuCounts {
        self.growth.counts()
    }

    fn note(&mut self, note: &Note) {
        match *note {
            Note::Exited { exit, phase: Phase::Startup, .. } => {
                if self.exits == 0 {
                    self.exit = Some(exit.cause);
                }
                self.exits += 1;
            }
            Note::Continued => self.keep(self.exits.saturating_sub(1)),
            Note::Reduced { .. } => {
                (self.exits_at_cut, self.su_over_at_cut) = (self.exits, self.su_end.is_some());
            }
            Note::Undone { exit: true } => {
                self.keep(self.exits.min(self.exits_at_cut));
                if !self.su_over_at_cut {
                    self.su_end = None;
                    // The counts at the flow's end are reset too, because a packet may be reported as dropped after the flow is over.
                    (self.now.lost_since, self.delivered.lost_since) = (0, 0);
                }
            }
            Note::Began(_) | Note::Exited { .. } | Note::Undone { exit: false } => {}
        }
    }

    /// Counts a data packet that was sent at `sent_at` and dropped at `at`. Events after `at` may have been reported already.
    fn lose(&mut self, at: Time, sent_at: Time) {
        let since = u32::from(self.su_end.is_some_and(|end| sent_at >= end));
        let counts = [Some(&mut self.now), Some(&mut self.delivered).filter(|_| at <= self.delivered_at)];
        for counts in counts.into_iter().flatten() {
            counts.lost += 1;
            counts.lost_since += since;
        }
    }

    /// Discards all exits but the first `exits`.
    fn keep(&mut self, exits: u32) {
        self.exits = exits;
        if exits == 0 {
            self.exit = None;
        }
    }
}

/// Observes every flow of a population.
#[derive(Clone, Debug)]
pub(crate) struct Census {
    flows: Vec<Watched>,
    /// Payload bytes of a full packet.
    mss: u32,
}

impl Census {
    /// Creates observations before any flow has started. `mss` is the payload of a full packet in bytes.
    pub(crate) const fn new(mss: u32) -> Self {
        Self { flows: Vec::new(), mss }
    }

    /// Returns the observations of a flow.
    pub(crate) fn of(&self, flow: FlowId) -> Watched {
        self.flows.get(flow.0 as usize).copied().unwrap_or_default()
    }

    /// Updates the observations of a flow.
    #[inline]
    fn of_flow(&mut self, flow: FlowId, note: impl FnOnce(&mut Watched)) {
        match self.flows.get_mut(flow.0 as usize) {
            Some(watched) => note(watched),
            None => note(self.first_of(flow)),
        }
    }

    /// Makes room for the observations of a flow that has none yet.
    #[cold]
    #[inline(never)]
    fn first_of(&mut self, flow: FlowId) -> &mut Watched {
        let index = flow.0 as usize;
        self.flows.resize(self.flows.len().max(index + 1), Watched::default());
        &mut self.flows[index]
    }
}

impl Recorder for Census {
    const NEEDS_QUEUES: bool = false;
    const NEEDS_DROPS_IN_ORDER: bool = false;

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and a few steps")]
    fn sent(&mut self, _: Time, flow: FlowId, side: Role, _: u64, segment: &Segment, sent: Option<&Sent>) {
        if side == Role::Client && !segment.quick_start.is_empty() {
            self.of_flow(flow, |flow| flow.quick_start.ask(segment.quick_start.ip()));
        }
        if side == Role::Client && segment.len > 0 {
            let again = sent.is_some_and(|sent| sent.retransmission);
            let tag = sent.map(|sent| sent.tag);
            self.of_flow(flow, |flow| {
                flow.now.sent += 1;
                flow.new_data |= !again;
                if let Some(tag) = tag.filter(|tag| *tag != flow.tag.0) {
                    flow.tag = (tag, true);
                }
            });
        }
    }

    fn dropped(&mut self, at: Time, _: LinkId, packet: &Packet, _: DropCause) {
        if packet.from == Role::Client && packet.is_data() {
            self.of_flow(packet.flow, |flow| flow.lose(at, packet.sent_at));
        }
    }

    fn state(&mut self, at: Time, flow: FlowId, side: Role, snapshot: impl Fn() -> Snapshot) {
        if side == Role::Server {
            return;
        }
        let mss = self.mss;
        self.of_flow(flow, |flow| {
            // Plans that are not part of a train have tags as well.
            if std::mem::take(&mut flow.tag.1) && flow.exits == 0 && snapshot().train == Some(flow.tag.0) {
                flow.trains += 1;
            }
            flow.growth.on_ack(flow.exits > 0, mss, &snapshot);
            if std::mem::take(&mut flow.new_data) && flow.su_end.is_none() && flow.exits > 0 {
                let now = snapshot();
                let governs = now.phase == Phase::Avoidance
                    && !now.recovering
                    && now.ssthresh.is_none_or(|ssthresh| now.cwnd >= ssthresh);
                flow.su_end = governs.then_some(at);
            }
        });
    }

    fn event(&mut self, _: Time, flow: FlowId, side: Role, event: &EndpointEvent, _: impl Fn() -> Snapshot) {
        if side == Role::Server {
            return;
        }
        match event {
            EndpointEvent::Control(note) => self.of_flow(flow, |flow| flow.note(note)),
            EndpointEvent::TimedOut => self.of_flow(flow, |flow| flow.now.timeouts += 1),
            EndpointEvent::QuickStart { approved } => {
                self.of_flow(flow, |flow| flow.quick_start.on_response(*approved));
            }
            EndpointEvent::Established
            | EndpointEvent::RecoveryBegan { .. }
            | EndpointEvent::RecoveryEnded
            | EndpointEvent::AllAcknowledged
            | EndpointEvent::Closed
            | EndpointEvent::Aborted => {}
        }
    }

    fn delivered(&mut self, at: Time, flow: FlowId, _: u64) {
        self.of_flow(flow, |flow| (flow.delivered, flow.delivered_at) = (flow.now, at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Time {
        Time::from_nanos(nanos)
    }

    /// Returns a flow whose start-up ended at 100 ns and whose last byte was delivered at 200 ns.
    fn over() -> Watched {
        Watched { su_end: Some(at(100)), delivered_at: at(200), ..Watched::default() }
    }

    #[test]
    fn drops_reported_late_are_counted_by_their_instant_until_the_last_delivery() {
        let mut flow = over();
        for (dropped, sent) in [(150, 90), (160, 110), (200, 120), (201, 130)] {
            flow.lose(at(dropped), at(sent));
        }
        let lost = |is_over| (flow.counts(is_over).lost, flow.counts(is_over).su_lost());
        assert_eq!((lost(true), lost(false)), ((3, 1), (4, 1)));
    }

    #[test]
    fn an_undone_exit_after_start_up_leaves_su_time_unchanged() {
        let mut flow = over();
        flow.note(&Note::Reduced { from: firstflight::Bytes::new(9_000) });
        flow.lose(at(150), at(110));
        flow.note(&Note::Undone { exit: true });
        assert_eq!((flow.su_end, flow.counts(true).su_lost()), (Some(at(100)), 0));
    }

    #[test]
    fn an_undone_exit_assigns_every_loss_to_start_up_regardless_of_order() {
        let undone = Note::Undone { exit: true };
        let (mut before, mut after) = (over(), over());
        before.lose(at(150), at(110));
        before.note(&undone);
        after.note(&undone);
        after.lose(at(150), at(110));
        assert_eq!(before, after);
        assert_eq!((after.counts(true).su_lost(), after.counts(false).su_lost()), (1, 1));
    }
}
