//! A host that reports any event that a host may report. It checks every decision of its controller against the laws.

use firstflight::registry::{self, AnyController};
use firstflight::schemes::Initial;
use firstflight::{
    Ack, Bytes, Call, Event, Loss, Note, Origin, OwnedEvent, Pacing, Path, Phase, Plan, Rate, SendLimit,
    Span, Tag, Time, TraceRecord,
};

use crate::Source;
use crate::hiding::Parts;
use crate::in_flight::{Acked, InFlight};
use crate::ledger::Ledger;

/// A law that a decision of a controller breaks.
#[derive(Clone, Debug)]
pub struct Broken {
    /// The law.
    pub law: &'static str,
    /// The index of the call after which it is broken.
    pub call: usize,
    /// The decision.
    pub text: String,
    /// The calls to the controller, up to that one.
    pub record: Vec<TraceRecord>,
}

/// One connection under a controller.
pub(crate) struct Flow {
    control: AnyController,
    pub(crate) path: Path,
    largest_mss: Bytes,
    ledger: Ledger,
    /// The names of the scheme, the policy and the law.
    names: [&'static str; 3],
    in_flight: InFlight,
    /// The last reduction that can be undone.
    reduced: Option<Reduced>,
    /// The window that ACKs have narrowed and not restored.
    narrowed: Bytes,
    /// The calls to the controller so far.
    record: Vec<TraceRecord>,
    /// The first law that was broken, and how.
    broken: Option<(&'static str, String)>,
}

/// The laws of decisions.
const PURE: &str = "a plan does not depend on how often it is read";
const SEGMENT: &str = "a window holds at least one segment";
const TRAIN: &str = "the window holds the whole train";
const UNDO: &str = "an undo restores the window";
const GROWTH: &str = "an ACK widens the window by at most what it acknowledges";

/// The maximum random initial window in segments.
const MAX_INITIAL: u64 = 20;

/// A reduction, and the window that an undo of the reduction must restore.
#[derive(Clone, Copy, Debug)]
struct Reduced {
    /// Window in bytes that an undone reduction restores. For a train this is the part that was sent, and not the planned length.
    owed: Bytes,
    mss: Bytes,
    at: Time,
    /// Whether the window may expire with time even if the reduction is undone. An approved rate expires if no data was sent at this rate
    /// (RFC 4782).
    lapses: bool,
}

impl Flow {
    pub(crate) fn new(source: &mut Source<'_>) -> Self {
        let initial = Initial { segments: 1 + u32::from(source.below(20)), ssthresh: None };
        let (schemes, restarts, laws) = (registry::schemes(), registry::restarts(), registry::laws());
        let (scheme, restart, law) = (source.pick(schemes), source.pick(restarts), source.pick(laws));
        let parts = Parts {
            scheme: scheme.build(initial, &[]).expect("defaults are allowed"),
            restart: restart.build(initial, &[]).expect("defaults are allowed"),
            law: law.build(),
        };
        Self::of(&parts, [scheme.name, restart.name, law.name], source)
    }

    /// Makes a connection whose controller consists of `parts`. `names` are the names of the parts.
    pub(crate) fn of(parts: &Parts, names: [&'static str; 3], source: &mut Source<'_>) -> Self {
        let mss = Bytes::new(u64::from(source.pick(&[1_460_u16, 1_000, 536, 48, 1, 8_960, u16::MAX])));
        let mut path = Path::new(Time::from_nanos(1_000_000_000), mss, mss + Bytes::new(40));
        path.rwnd = Bytes::new(1 << 30);
        path.backlog = Some(Bytes::new(1 << 40));
        path.limit = SendLimit::Window;
        let mut flow = Self {
            control: parts.open(),
            path,
            largest_mss: mss,
            ledger: Ledger::default(),
            names,
            in_flight: InFlight::default(),
            reduced: None,
            narrowed: Bytes::ZERO,
            record: Vec::new(),
            broken: None,
        };
        flow.say(&Event::Begin(Origin::Fresh));
        flow
    }

    /// Returns all calls to the controller, or the law that the last of them broke.
    pub(crate) fn into_record(self) -> Result<Vec<TraceRecord>, Broken> {
        let Self { record, broken, names, .. } = self;
        match broken {
            None => Ok(record),
            Some((law, text)) => {
                Err(Broken { law, call: record.len() - 1, text: format!("{names:?}: {text}"), record })
            }
        }
    }

    /// Returns whether a law is broken.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    /// Notes that the last call broke a law, if it did not keep the law.
    fn hold(&mut self, law: &'static str, keeps: bool, text: impl FnOnce() -> String) {
        if !keeps && self.broken.is_none() {
            self.broken = Some((law, text()));
        }
    }

    fn keep(&mut self, call: Call, plan: Plan) {
        self.record.push(TraceRecord { call, path: self.path, plan, notes: Vec::new(), judged: None });
    }

    pub(crate) fn plan(&self) -> Plan {
        self.control.plan(&self.path)
    }

    /// Reports an event to the controller, and checks its new plan against the laws. After a broken law nothing is reported.
    pub(crate) fn say(&mut self, event: &Event<'_>) {
        if self.is_broken() {
            return;
        }
        let before = self.plan();
        self.largest_mss = self.largest_mss.max(self.path.mss);
        self.control.on(event, &self.path);
        let silent = self.hear_notes(&before);
        let after = self.plan();
        self.keep(Call::On(OwnedEvent::new(event)), after);
        if let Event::Acked(ack) = event
            && silent
            && self.control.phase() != Phase::Restart
            && let Err(fault) =
                grows_with_leave(ack, &self.path, (self.lead(&before), self.times()), &before, &after)
        {
            let phase = self.control.phase();
            self.hold(GROWTH, false, || format!("in {phase:?}, {fault}"));
        }
        self.narrowed = match event {
            Event::Acked(_) if silent && after.window < before.window => self.narrowed.max(before.window),
            _ if after.window < self.narrowed => self.narrowed,
            _ => Bytes::ZERO,
        };
        self.keeps_standing_laws(&after);
    }

    /// Returns the bytes by which a window may grow in addition to the usual bound. CUBIC adopts its estimate of Reno's window when the
    /// estimate is larger (RFC 9438 section 4.3), and the estimate may be ahead by up to one segment of the size at that time. ns-2's Vegas
    /// (`variant=ns2`) opens the initial window only at the first ACK. Before that ACK, the window is one segment. BBR narrows the window on
    /// an ACK when ProbeRTT begins, and restores it in one step when ProbeRTT ends.
    fn lead(&self, before: &Plan) -> Bytes {
        match self.names {
            ["vegas", ..] if before.window <= self.path.mss => self.largest_mss * MAX_INITIAL,
            [.., "cubic"] => self.largest_mss,
            names if names.contains(&"bbr") => self.narrowed.max(before.window) - before.window,
            _ => Bytes::ZERO,
        }
    }

    /// Returns the maximum growth of the window in bytes for each acknowledged byte. Rapid Start, alone or inside Quick-Start, triples the
    /// window in an RTT, and does not pace if the pacing rate would be less than 1 bit/s.
    fn times(&self) -> u64 {
        if matches!(self.names[0], "rapid-start" | "quick-start") { 2 } else { 1 }
    }

    /// Reports that new data is available after all data was acknowledged.
    pub(crate) fn before_new_data(&mut self) {
        if self.is_broken() {
            return;
        }
        let before = self.plan();
        self.control.before_new_data(&self.path);
        self.hear_notes(&before);
        let plan = self.plan();
        self.keep(Call::NewData, plan);
        self.keeps_standing_laws(&plan);
    }

    fn keeps_standing_laws(&mut self, plan: &Plan) {
        let (mss, again) = (self.path.mss, self.plan());
        self.hold(PURE, *plan == again, || format!("the plan is {plan:?}, and then {again:?}"));
        self.hold(SEGMENT, plan.window >= mss, || format!("a window of {:?}, and {mss:?}", plan.window));
        if let Pacing::Train { packets, .. } = plan.pacing {
            let length = mss * u64::from(packets);
            let holds = plan.window >= length;
            self.hold(TRAIN, holds, || format!("a window of {:?}, and a train of {length:?}", plan.window));
        }
        let open = self.control.phase() != Phase::Avoidance;
        assert_eq!(self.ledger.is_open(), open, "a phase is a begin whose exit does not stand yet");
        self.path.cwnd = plan.window;
        self.path.wake = plan.wake;
    }

    /// Processes the notes of an event. Returns whether there were none. `before` is the plan before the event.
    fn hear_notes(&mut self, before: &Plan) -> bool {
        let mut silent = true;
        while let Some(note) = self.control.take_note() {
            silent = false;
            self.ledger.follow(&note);
            match note {
                Note::Reduced { from } => self.reduced = Some(self.reduction(from, before)),
                Note::Undone { .. } => {
                    let reduced = self.reduced.take().expect("a reduction is undone once");
                    let after = self.plan();
                    let lapsed = reduced.lapses && self.path.now > reduced.at;
                    // The window of a train is its length. A scheme that continues to measure may start with a shorter train.
                    let measures = matches!(after.pacing, Pacing::Train { .. });
                    let resized = reduced.mss != self.path.mss;
                    let restores = after.window >= reduced.owed || resized || lapsed || measures;
                    self.hold(UNDO, restores, || format!("{reduced:?} is undone, and the plan is {after:?}"));
                }
                Note::Began(_) | Note::Exited { .. } | Note::Continued => {}
            }
        }
        silent
    }

    fn reduction(&self, from: Bytes, before: &Plan) -> Reduced {
        let train = match before.pacing {
            Pacing::Train { .. } => true,
            // The host sent only a part of a train, and the plan sends the rest of it.
            Pacing::Rate { .. } => self.names[0] == "paced" && before.tag != Tag::default(),
            Pacing::AckClock | Pacing::Hold => false,
        };
        let left = self.in_flight.iter().filter(|packet| packet.tag == before.tag).count() as u64;
        Reduced {
            owed: if train { from.min(self.path.mss * left) } else { from },
            mss: self.path.mss,
            at: self.path.now,
            lapses: self.names[0] == "quick-start" || self.names[1] == "quick-start",
        }
    }

    /// Sends full packets now, regardless of the plan.
    pub(crate) fn send(&mut self, count: u16) {
        for _ in 0..count {
            if self.is_broken() {
                return;
            }
            let sent = self.in_flight.send(self.plan().tag, &self.path);
            self.say(&Event::Sent(sent));
            self.path.sent(self.path.mss);
        }
    }

    /// Sends packets until the window is full, but at most 200, because a scheme may set a large window.
    pub(crate) fn fill(&mut self) {
        let room = self.plan().window - self.path.pipe;
        self.send(u16::try_from(room.packets(self.path.mss).min(200)).expect("small"));
    }

    /// Acknowledges the oldest `count` packets in flight and `part` bytes of the next.
    pub(crate) fn acknowledge(&mut self, count: u16, part: u64, source: &mut Source<'_>) {
        let acked = self.in_flight.acknowledge(usize::from(count), part);
        self.take(&acked, source);
    }

    /// Acknowledges the newest packet in flight selectively.
    pub(crate) fn acknowledge_newest(&mut self, source: &mut Source<'_>) {
        if let Some(acked) = self.in_flight.acknowledge_newest() {
            self.take(&acked, source);
        }
    }

    fn take(&mut self, acked: &Acked, source: &mut Source<'_>) {
        let newest = acked.packets.last().filter(|packet| !packet.retransmitted);
        let rtt = newest.map(|packet| match source.byte() {
            0..=200 => self.path.now.since(packet.sent_at),
            _ => Span::from_nanos(source.wide()),
        });
        let rtt = rtt.filter(|rtt| !rtt.is_zero());
        let rated = !acked.bytes.is_zero() && source.once_in(2);
        let mut delivery = acked.ack(rtt);
        delivery.delivery_rate = rated.then(|| Rate::from_bps(source.wide()));
        self.in_flight.count(&delivery, &mut self.path);
        self.say(&Event::Acked(delivery));
    }

    /// Reports the oldest `count` packets in flight as lost. The recovery ends when all packets that are in flight now are acknowledged.
    pub(crate) fn lose(&mut self, count: u16) {
        let packets = self.in_flight.lose(usize::from(count), &mut self.path);
        if !packets.is_empty() {
            let mut loss = Loss::new(&packets);
            loss.ranges = 1;
            self.say(&Event::Lost(loss));
        }
    }
}

/// Checks the growth of the window on an ACK that changes no phase. A restart policy may restore its saved window in one step; another law
/// bounds that step (`crates/library/core/tests/it/laws.rs`).
///
/// - An ACK without new bytes does not widen the window, except that a scheme that measures with trains may start its next train.
/// - On the ACK clock a window grows by at most the bytes newly acknowledged (RFC 5681 section 3.1). With a law that counts segments, it
///   grows by one segment for each whole packet acknowledged, or by one segment per RTT. `lead` is added to these bounds.
fn grows_with_leave(
    ack: &Ack<'_>,
    path: &Path,
    (lead, times): (Bytes, u64),
    before: &Plan,
    after: &Plan,
) -> Result<(), String> {
    let (was, is) = (before.window, after.window);
    let trains = [before, after].iter().any(|plan| matches!(plan.pacing, Pacing::Train { .. }));
    if ack.bytes.is_zero() && !trains && is > was {
        return Err(format!("an ACK of nothing new widened the window from {was:?} to {is:?}"));
    }
    let clocked = [before, after].iter().all(|plan| plan.pacing == Pacing::AckClock);
    let segments = path.mss * ack.whole_packets().max(1);
    if clocked && is > was + ack.bytes.max(ack.advanced).max(segments) * times + lead {
        return Err(format!("an ACK of {:?} widened the window from {was:?} to {is:?}", ack.bytes));
    }
    Ok(())
}
