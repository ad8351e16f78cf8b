//! A host for tests: it tracks the path as a sender does, and reports events to a controller packet by packet.

#[allow(dead_code, reason = "each host uses its own part")]
mod in_flight;
pub(crate) mod ledger;

use firstflight::fast_events::{FastAck, FastEvents};
use firstflight::{
    Avoidance, Bytes, Controller, Event, Loss, Note, Origin, Pacing, Path, Plan, Rate, SendLimit, Span,
    Startup, Tag, Time,
};
use in_flight::{Acked, InFlight};

pub(crate) const MSS: Bytes = Bytes::new(1_000);

pub(crate) fn micros(count: u64) -> Span {
    Span::from_micros(count)
}

pub(crate) fn millis(count: u64) -> Span {
    Span::from_millis(count)
}

pub(crate) fn packets(count: u64) -> Bytes {
    MSS * count
}

/// One connection under a controller.
#[derive(Clone)]
pub(crate) struct Flow<S, R, A> {
    pub(crate) control: Controller<S, R, A>,
    pub(crate) path: Path,
    pub(crate) notes: Vec<Note>,
    /// Delivery rate that the host reports with every ACK.
    pub(crate) delivery_rate: Option<Rate>,
    in_flight: InFlight,
    /// Whether to report an ACK by [`FastEvents::acked_fast`] where that is enough, and the number of these reports.
    pub(crate) briefly: bool,
    pub(crate) brief: u64,
}

impl<S: Startup, R: Startup, A: Avoidance> Flow<S, R, A> {
    /// Returns an established connection; the wire size of a packet equals its payload, so that gaps are round
    /// numbers.
    pub(crate) fn new(control: Controller<S, R, A>) -> Self {
        let mut path = Path::new(Time::from_nanos(1_000_000_000), MSS, MSS);
        path.rwnd = Bytes::new(1 << 30);
        path.limit = SendLimit::Window;
        let mut flow = Self {
            control,
            path,
            notes: Vec::new(),
            delivery_rate: None,
            in_flight: InFlight::default(),
            briefly: false,
            brief: 0,
        };
        flow.say(&Event::Begin(Origin::Fresh));
        flow
    }

    pub(crate) fn established(control: Controller<S, R, A>, rtt: Span) -> Self {
        let mut flow = Self::new(control);
        flow.establish(rtt, false);
        flow
    }

    pub(crate) fn establish(&mut self, rtt: Span, syn_lost: bool) {
        self.path.sampled(rtt);
        self.say(&Event::Established { rtt: Some(rtt), syn_lost });
    }

    /// Reports an event to the controller, and checks the laws that hold for every plan.
    pub(crate) fn say(&mut self, event: &Event<'_>) {
        self.control.on(event, &self.path);
        while let Some(note) = self.control.take_note() {
            self.notes.push(note);
        }
        let plan = self.control.plan(&self.path);
        assert_eq!(plan, self.control.plan(&self.path), "a plan does not depend on how often it is asked");
        assert!(plan.window >= self.path.mss, "the window is at least one segment");
        if let Pacing::Train { packets, .. } = plan.pacing {
            assert!(plan.window >= self.path.mss * u64::from(packets), "the window holds the whole train");
        }
        self.path.cwnd = plan.window;
    }

    pub(crate) fn plan(&self) -> Plan {
        self.control.plan(&self.path)
    }

    /// The window in packets, rounded down.
    pub(crate) fn window(&self) -> u64 {
        self.plan().window.packets(self.path.mss)
    }

    pub(crate) fn wait(&mut self, span: Span) {
        self.path.now = self.path.now + span;
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Sends `count` full packets now, whatever the plan allows.
    pub(crate) fn send(&mut self, count: usize) {
        for _ in 0..count {
            let sent = self.in_flight.send(self.plan().tag, &self.path);
            self.say(&Event::Sent(sent));
            self.path.sent(self.path.mss);
        }
    }

    /// Sends all that the window holds.
    pub(crate) fn fill(&mut self) {
        while self.path.pipe + self.path.mss <= self.plan().window {
            self.send(1);
        }
    }

    /// Acknowledges the oldest `count` packets in flight by one ACK, with the RTT of the newest of them.
    pub(crate) fn ack(&mut self, count: usize) {
        let newest = self.in_flight.get(count.saturating_sub(1)).map(|packet| packet.sent_at);
        let rtt = newest.map(|sent_at| self.path.now.since(sent_at)).filter(|rtt| !rtt.is_zero());
        self.ack_with(count, rtt);
    }

    pub(crate) fn ack_with(&mut self, count: usize, rtt: Option<Span>) {
        let acked = self.in_flight.acknowledge(count, 0);
        self.take(&acked, rtt);
    }

    fn take(&mut self, acked: &Acked, rtt: Option<Span>) {
        let mut ack = acked.ack(rtt);
        ack.delivery_rate = self.delivery_rate;
        self.in_flight.count(&ack, &mut self.path);
        if !(self.briefly && self.say_briefly(acked.advanced)) {
            self.say(&Event::Acked(ack));
        }
    }

    /// Reports an ACK of `advanced` bytes by [`FastEvents::acked_fast`], if no part needs more. Returns whether it
    /// was reported.
    fn say_briefly(&mut self, advanced: Bytes) -> bool {
        let Path { una, nxt, cwnd, mss, recovering, .. } = self.path;
        let before = self.plan();
        let brief = FastAck { advanced, una, nxt, cwnd, mss, recovering, counts_bytes: false };
        let Some(window) = self.control.acked_fast(&brief) else { return false };
        assert_eq!(Plan { window, ..before }, self.plan(), "nothing but the window changes");
        assert_eq!(self.control.take_note(), None);
        self.path.cwnd = window;
        self.brief += 1;
        true
    }

    /// Acknowledges the oldest packet in flight, and the newest one selectively by the same ACK.
    pub(crate) fn ack_and_sack(&mut self) {
        if let Some(newest) = self.in_flight.acknowledge_newest() {
            let acked = self.in_flight.acknowledge(1, 0).and(newest);
            self.take(&acked, None);
        }
    }

    /// Forgets the packets in flight, which stay on the old path of the connection.
    pub(crate) fn forget_flight(&mut self) {
        self.in_flight = InFlight::default();
        (self.path.flight, self.path.pipe) = (Bytes::ZERO, Bytes::ZERO);
        self.path.una = self.path.nxt;
    }

    /// Reports the oldest packet in flight lost; recovery ends when all packets now in flight are acknowledged.
    pub(crate) fn lose(&mut self) {
        let lost = self.in_flight.lose(1, &mut self.path);
        let unsaid = self.briefly && !self.control.needs_losses(self.path.recovering);
        if !lost.is_empty() && !unsaid {
            self.say(&Event::Lost(Loss::new(&lost)));
        }
    }

    pub(crate) fn time_out(&mut self, repeated: bool) {
        self.path.recovering = false;
        self.say(&Event::TimedOut { repeated });
    }

    pub(crate) fn before_new_data(&mut self) -> bool {
        let began = self.control.before_new_data(&self.path);
        while let Some(note) = self.control.take_note() {
            self.notes.push(note);
        }
        self.path.cwnd = self.plan().window;
        began
    }

    /// Runs one round trip: the window is sent, and acknowledged `each` packets at a time, `spacing` apart.
    pub(crate) fn round(&mut self, rtt: Span, each: usize, spacing: Span) {
        self.fill();
        let start = self.path.now;
        let count = self.in_flight();
        let mut at = start + rtt;
        for _ in 0..count.div_ceil(each) {
            self.path.now = at;
            self.ack_with(each, Some(rtt));
            at = at + spacing;
        }
    }

    /// Runs for `span`: sends whenever the window allows, and acknowledges each packet one RTT after its
    /// transmission, with at least `spacing` between ACKs.
    pub(crate) fn clocked(&mut self, rtt: Span, spacing: Span, span: Span) {
        let end = self.path.now + span;
        self.fill();
        while let Some(sent_at) = self.in_flight.get(0).map(|packet| packet.sent_at) {
            let at = (sent_at + rtt).max(self.path.now + spacing);
            if at > end {
                break;
            }
            self.path.now = at;
            self.ack_with(1, Some(rtt));
            self.fill();
        }
        self.path.now = end;
    }

    pub(crate) fn exits(&self) -> Vec<firstflight::Exit> {
        let exit = |note: &Note| match note {
            Note::Exited { exit, .. } => Some(*exit),
            _ => None,
        };
        self.notes.iter().filter_map(exit).collect()
    }

    pub(crate) fn train_cut(&mut self, tag: Tag) {
        self.say(&Event::TrainCut(tag));
    }
}
