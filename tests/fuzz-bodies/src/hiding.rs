//! Runs a part of a controller without the facts that it does not declare. If its behaviour changes, it needs or uses an undeclared fact.

use firstflight::registry::{Ability, AnyController, AnyLaw, AnyRestart, AnyScheme, Needs};
use firstflight::{
    Ack, Advice, Avoidance, Bytes, Controller, Delivered, Event, Exit, Origin, Pacing, Path, PathEstimate,
    Phase, Plan, Startup, Step, Time, TraceRecord,
};

/// The abilities of hosts that are hidden from a part: facts that a host may report.
#[derive(Clone, Debug)]
pub struct Hidden(Vec<Ability>);

/// The abilities that are kinds of plan. Every other ability is a fact that a host reports.
const PLANS: [Ability; 4] = [Ability::AckClock, Ability::Rate, Ability::Train, Ability::Hold];

/// The granularity, in nanoseconds, of send times on a host that does not measure them exactly.
const COARSE: u64 = 1_000_000;

impl Hidden {
    /// Hides only this ability.
    pub fn only(ability: Ability) -> Self {
        Self(vec![ability])
    }

    /// Returns `self` without this ability, which is no longer hidden.
    #[must_use]
    pub fn without(&self, ability: Ability) -> Self {
        Self(self.0.iter().copied().filter(|hidden| *hidden != ability).collect())
    }

    /// Hides every fact that `needs` neither needs nor uses. It does not hide [`Ability::DenseAcks`], because no event reports whether each
    /// ACK arrives by itself.
    pub fn undeclared(needs: Needs) -> Self {
        let fact = |ability: &Ability| !PLANS.contains(ability) && *ability != Ability::DenseAcks;
        let declared = |ability: Ability| needs.has(ability) || needs.uses(ability);
        Self(Ability::ALL.into_iter().filter(fact).filter(|ability| !declared(*ability)).collect())
    }

    /// Returns the hidden facts.
    pub fn each(&self) -> impl Iterator<Item = Ability> {
        self.0.iter().copied()
    }

    fn has(&self, ability: Ability) -> bool {
        self.0.contains(&ability)
    }

    fn path(&self, path: &Path) -> Path {
        let mut path = *path;
        path.wake = path.wake.filter(|_| !self.has(Ability::LateTimer));
        path.backlog = path.backlog.filter(|_| !self.has(Ability::Backlog));
        path
    }

    /// Calls `hear` with the parts of the event that are not hidden. Returns `None` without a call if the whole event is hidden.
    fn tell<T>(
        &self,
        event: &Event<'_>,
        path: &Path,
        hear: impl FnOnce(&Event<'_>, &Path) -> T,
    ) -> Option<T> {
        let mut path = self.path(path);
        let silent = match event {
            Event::Sent(_) => self.has(Ability::Sends),
            Event::SpuriousLoss => self.has(Ability::SpuriousLosses),
            Event::Marked { .. } => self.has(Ability::Marks),
            Event::Woken => self.has(Ability::LateTimer),
            Event::Begin(Origin::AfterIdle { .. }) => self.has(Ability::IdleQuestion),
            Event::Advice(Advice::QuickStart { .. }) => self.has(Ability::RateRequest),
            _ => false,
        };
        if silent {
            return None;
        }
        Some(match *event {
            Event::Acked(ack) => {
                let packets: Vec<Delivered> = ack.packets.iter().map(|packet| self.packet(packet)).collect();
                let newest = ack.newest_packet().map(|packet| self.packet(packet));
                hear(&Event::Acked(self.ack(&ack, &packets, newest.as_ref())), &path)
            }
            Event::Lost(mut loss) if self.has(Ability::LostPackets) => {
                loss.packets = &[];
                hear(&Event::Lost(loss), &path)
            }
            Event::Sent(sent) if self.has(Ability::ExactSendTimes) => {
                path.now = coarse(path.now).max(path.last_sent.unwrap_or_default());
                hear(&Event::Sent(sent), &path)
            }
            Event::Asked(_) if self.has(Ability::RateRequest) => hear(&Event::Asked(false), &path),
            _ => hear(event, &path),
        })
    }

    fn packet(&self, packet: &Delivered) -> Delivered {
        let exact = !self.has(Ability::ExactSendTimes);
        Delivered {
            sent_at: if exact { packet.sent_at } else { coarse(packet.sent_at) },
            selectively: packet.selectively && !self.has(Ability::SackSplit),
            ..*packet
        }
    }

    fn ack<'a>(&self, ack: &Ack<'_>, packets: &'a [Delivered], newest: Option<&'a Delivered>) -> Ack<'a> {
        // The list of packets gives all three facts.
        let by_list = [Ability::PacketAcks, Ability::NewestAck, Ability::PacketCounts];
        let listed = !by_list.into_iter().any(|ability| self.has(ability));
        let whole = u32::try_from(ack.whole_packets()).unwrap_or(u32::MAX);
        let mut shown = Ack::unlisted(ack.bytes, 0, ack.counts_bytes);
        shown.packets = if listed { packets } else { &[] };
        shown.newest = newest.filter(|_| !listed && !self.has(Ability::NewestAck));
        shown.whole = if listed || self.has(Ability::PacketCounts) { None } else { Some(whole) };
        shown.advanced = ack.advanced;
        shown.sacked = if self.has(Ability::SackSplit) { Bytes::ZERO } else { ack.sacked };
        shown.segments = if self.has(Ability::SegmentCounts) { 0 } else { ack.segments };
        shown.duplicate = ack.duplicate;
        shown.rtt = ack.rtt;
        shown.delivery_rate = ack.delivery_rate.filter(|_| !self.has(Ability::DeliveryRate));
        shown.round_ended = ack.round_ended;
        shown.round_sent = ack.round_sent;
        shown.growth = ack.growth;
        shown
    }
}

fn coarse(time: Time) -> Time {
    Time::from_nanos(time.nanos() / COARSE * COARSE)
}

/// A part of a controller that gets everything except the hidden facts.
#[derive(Clone, Debug)]
pub struct Blinkered<T> {
    part: T,
    hidden: Hidden,
    /// Whether a wake-up is pending. A host without an exact timer reports a wake-up with the next event.
    late: bool,
}

impl<T> Blinkered<T> {
    fn new(part: T, hidden: Hidden) -> Self {
        Self { part, hidden, late: false }
    }
}

impl<T: Startup> Startup for Blinkered<T> {
    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        let part = &mut self.part;
        if self.hidden.has(Ability::Timer) && !self.hidden.has(Ability::LateTimer) {
            if matches!(event, Event::Woken) {
                self.late = true;
                return Step::Stay;
            }
            if core::mem::take(&mut self.late)
                && let done @ Step::Exit(_) = part.on(&Event::Woken, &self.hidden.path(path))
            {
                return done;
            }
        }
        self.hidden.tell(event, path, |event, path| part.on(event, path)).unwrap_or(Step::Stay)
    }

    fn plan(&self, path: &Path) -> Plan {
        self.part.plan(&self.hidden.path(path))
    }

    fn observe(&mut self, event: &Event<'_>, path: &Path) -> Option<PathEstimate> {
        let part = &mut self.part;
        self.hidden.tell(event, path, |event, path| part.observe(event, path)).flatten()
    }
}

impl<T: Avoidance> Avoidance for Blinkered<T> {
    fn enter(&mut self, exit: &Exit, path: &Path) {
        self.part.enter(exit, &self.hidden.path(path));
    }

    fn on(&mut self, event: &Event<'_>, path: &Path) {
        let part = &mut self.part;
        self.hidden.tell(event, path, |event, path| part.on(event, path));
    }

    fn plan(&self, path: &Path) -> Plan {
        self.part.plan(&self.hidden.path(path))
    }

    fn forget_path(&mut self) {
        self.part.forget_path();
    }

    fn observe(&mut self, event: &Event<'_>, path: &Path) {
        let part = &mut self.part;
        self.hidden.tell(event, path, |event, path| part.observe(event, path));
    }
}

/// The three parts of a controller.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The start-up scheme.
    pub scheme: AnyScheme,
    /// The restart policy.
    pub restart: AnyRestart,
    /// The avoidance law.
    pub law: AnyLaw,
}

/// The part of a controller from which facts are hidden.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The start-up scheme.
    Scheme,
    /// The restart policy.
    Restart,
    /// The avoidance law.
    Law,
}

impl Parts {
    /// Returns a controller from which no facts are hidden.
    pub fn open(&self) -> AnyController {
        Controller::new(self.scheme.clone(), self.restart.clone(), self.law.clone())
    }

    /// Compares a controller with one in which the facts are hidden from `part`. Returns the index of the first of `calls` at which they
    /// decide differently, and the difference; `None` if they never differ.
    pub fn differs(&self, part: Part, hidden: &Hidden, calls: &[TraceRecord]) -> Option<(usize, String)> {
        let hides = |this| if this == part { hidden.clone() } else { Hidden(Vec::new()) };
        let mut other = Controller::new(
            Blinkered::new(self.scheme.clone(), hides(Part::Scheme)),
            Blinkered::new(self.restart.clone(), hides(Part::Restart)),
            Blinkered::new(self.law.clone(), hides(Part::Law)),
        );
        let mut open = self.open();
        calls.iter().enumerate().find_map(|(index, record)| {
            let (was, is) =
                (open.replay(&record.call, &record.path), other.replay(&record.call, &record.path));
            (was != is).then(|| (index, format!("{is:?} instead of {was:?}")))
        })
    }

    /// Returns the first of `calls` after which `part` makes a kind of plan or a request that `needs` does not declare; `None` if there is
    /// none.
    pub fn undeclared_plan(
        &self,
        part: Part,
        needs: Needs,
        calls: &[TraceRecord],
    ) -> Option<(usize, Ability)> {
        let phase = match part {
            Part::Scheme => Phase::Startup,
            Part::Restart => Phase::Restart,
            Part::Law => Phase::Avoidance,
        };
        let mut open = self.open();
        let mut established = false;
        calls.iter().enumerate().find_map(|(index, record)| {
            let (plan, _) = open.replay(&record.call, &record.path);
            established |= record.path.srtt.is_some();
            let wanted = [
                match plan.pacing {
                    Pacing::AckClock => Some(Ability::AckClock),
                    Pacing::Rate { .. } => Some(Ability::Rate),
                    Pacing::Train { .. } => Some(Ability::Train),
                    // Until the handshake is complete, every host holds its data anyway.
                    Pacing::Hold => established.then_some(Ability::Hold),
                },
                plan.wake.map(|_| Ability::LateTimer),
                plan.ask.map(|_| Ability::RateRequest),
            ];
            let undeclared = |ability: &Ability| !needs.has(*ability) && !needs.uses(*ability);
            let first = wanted.into_iter().flatten().find(undeclared)?;
            (open.phase() == phase).then_some((index, first))
        })
    }
}
