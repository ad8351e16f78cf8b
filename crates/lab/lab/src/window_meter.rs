//! Measures links and flows during a run, in the scenario's windows and in slots.

use firstflight::{Span, Time};
use firstflight_measure::arithmetic::bps;
use firstflight_measure::{LinkFields, WindowFields, Windows};
use firstflight_scenario::{NamedLink, Scenario, Window};
use firstflight_sim::{FlowId, HostName, LinkId, LinkSpec, LinkStats, Recorder};

use crate::build_network::AnySim;

/// The links of a run that windows and slots measure.
#[derive(Clone, Debug)]
pub(crate) struct Metered {
    /// Every link of the run, by its number.
    specs: Vec<LinkSpec>,
    bottlenecks: Vec<LinkId>,
    /// The links that the scenario names, each with the last part of its fields' names.
    named: Vec<(String, LinkId)>,
    /// The links that slots measure: [`Scenario::slot_links`].
    in_slots: Vec<LinkId>,
}

impl Metered {
    /// Creates the links of a run of a scenario. `specs` starts with the links between routers: all forward links from the first router on,
    /// then the reverse links. `access` finds the access link from a host, or to it.
    pub(crate) fn new(
        scenario: &Scenario,
        specs: &[LinkSpec],
        bottlenecks: Vec<LinkId>,
        access: impl Fn(HostName, bool) -> Option<LinkId>,
    ) -> Self {
        let hops = scenario.topology.hops();
        let id = |link: &NamedLink| match *link {
            NamedLink::Forward(hop) => Some(LinkId(hop - 1)),
            NamedLink::Reverse(hop) => Some(LinkId(hops + hop - 1)),
            NamedLink::From(host) => access(host, false),
            NamedLink::To(host) => access(host, true),
        };
        let named = |link: &NamedLink| Some((link.suffix(), id(link)?));
        let named = scenario.measured_links.iter().filter_map(named).collect();
        let in_slots = scenario.slot_links().iter().filter_map(id).collect();
        Self { specs: specs.to_vec(), bottlenecks, named, in_slots }
    }
}

/// Reads the counters of a run at the ends of the scenario's windows.
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    links: Metered,
    windows: Vec<Window>,
    /// The instant from which windows count.
    origin: Time,
    /// The instants at which counters must still be read, the last one first.
    due: Vec<Time>,
    read: Vec<Reading>,
    slots: Option<Slots>,
}

/// The bits that each link sent in each slot.
#[derive(Clone, Debug)]
struct Slots {
    length: Span,
    /// The end of the slot under way.
    next: Time,
    /// The bits that each link had sent when the current slot started; empty before the first slot.
    before: Vec<u64>,
    read: Vec<LinkSlots>,
}

/// The bits that each link sent in one slot.
#[derive(Clone, Debug)]
pub(crate) struct LinkSlots {
    /// When the slot starts.
    pub(crate) from: Time,
    /// The bits that each link of [`Scenario::slot_links`] sent.
    pub(crate) bits: Vec<u64>,
}

/// The counters of a run at an instant.
#[derive(Clone, Debug)]
struct Reading {
    at: Time,
    links: Vec<LinkStats>,
    /// Bytes that each flow has delivered.
    delivered: Vec<u64>,
    /// Bytes that all flows over a link have delivered, for each link that the scenario names.
    over_named: Vec<u64>,
}

impl Meter {
    /// Creates a meter of the scenario's windows and, if `slot` is their length, of slots. Windows count from `origin`. The first slot
    /// starts with the run, and slots that start before `origin` are left out.
    pub(crate) fn new(scenario: &Scenario, origin: Time, links: Metered, slot: Option<Span>) -> Self {
        let windows = scenario.windows.clone();
        let mut due: Vec<Time> =
            windows.iter().flat_map(|window| [origin + window.from, origin + window.until]).collect();
        due.sort_unstable();
        due.dedup();
        due.reverse();
        let slots = slot.filter(|length| !length.is_zero()).map(|length| {
            let first = origin.nanos().div_ceil(length.nanos()) * length.nanos();
            Slots { length, next: Time::from_nanos(first), before: Vec::new(), read: Vec::new() }
        });
        Self { links, windows, origin, due, read: Vec::new(), slots }
    }

    /// Returns the next instant at which [`Meter::read`] must be called; `None` if it is after `until`.
    pub(crate) fn next(&self, until: Time) -> Option<Time> {
        let slot = self.slots.as_ref().map(|slots| slots.next);
        self.due.last().copied().into_iter().chain(slot).min().filter(|at| *at <= until)
    }

    /// Returns the bits that links sent in the slots that the run completed.
    pub(crate) fn slots(&self) -> &[LinkSlots] {
        self.slots.as_ref().map_or(&[], |slots| &slots.read)
    }

    /// Reads the counters if `at` is the next instant. The run must have reached it and finished its events.
    pub(crate) fn read<W: Recorder>(&mut self, sim: &AnySim<W>, at: Time) {
        if let Some(slots) = self.slots.as_mut().filter(|slots| slots.next == at) {
            let sent = |link: &LinkId| sim.link(*link).map_or(0, |link| link.sent_bits);
            slots.read(self.links.in_slots.iter().map(sent).collect());
        }
        if self.due.last() != Some(&at) {
            return;
        }
        self.due.pop();
        let links = (0..).map_while(|id| sim.link(LinkId(id))).collect();
        let flows = || (0..sim.flow_count()).map(FlowId);
        let of = |id: FlowId| sim.flow(id).unwrap_or_default().delivered_bytes;
        let crosses = |id: &FlowId, link: &LinkId| sim.way(*id).is_some_and(|way| way.contains(link));
        let named = self.links.named.iter();
        let over_named =
            named.map(|(_, link)| flows().filter(|id| crosses(id, link)).map(of).sum()).collect();
        self.read.push(Reading { at, links, delivered: flows().map(of).collect(), over_named });
    }

    /// Returns the window fields of a row with these flows.
    pub(crate) fn fields(&self, flows: &[FlowId]) -> Windows {
        let one = |window: &Window| {
            let ends = self.between(window);
            WindowFields {
                suffix: window.suffix(),
                links: self.named(ends.as_ref()),
                ..ends.map(|ends| ends.fields(&self.links, flows)).unwrap_or_default()
            }
        };
        Windows(self.windows.iter().map(one).collect())
    }

    /// Returns the fields of the links that the scenario names.
    fn named(&self, ends: Option<&Ends<'_>>) -> Vec<LinkFields> {
        let one = |(place, (suffix, link)): (usize, &(String, LinkId))| {
            let fields = ends.map(|ends| ends.link(&self.links.specs, place, *link)).unwrap_or_default();
            LinkFields { suffix: suffix.clone(), ..fields }
        };
        self.links.named.iter().enumerate().map(one).collect()
    }

    /// Returns the readings at the start and the end of a window; `None` if the run ended before the window's end.
    fn between(&self, window: &Window) -> Option<Ends<'_>> {
        let at = |span: Span| self.read.iter().find(|reading| reading.at == self.origin + span);
        Some(Ends { from: at(window.from)?, until: at(window.until)? })
    }
}

impl Slots {
    /// Ends the current slot and starts the next one. Links have sent `sent` bits so far.
    fn read(&mut self, sent: Vec<u64>) {
        let before = std::mem::replace(&mut self.before, sent);
        if !before.is_empty() {
            let from = Time::from_nanos(self.next.nanos() - self.length.nanos());
            let bits =
                self.before.iter().zip(before).map(|(now, before)| now.saturating_sub(before)).collect();
            self.read.push(LinkSlots { from, bits });
        }
        self.next = self.next + self.length;
    }
}

/// The readings at the start and the end of a window.
struct Ends<'a> {
    from: &'a Reading,
    until: &'a Reading,
}

impl Ends<'_> {
    /// Returns a window's fields of the bottleneck and of these flows, without the window's name and without the named links.
    fn fields(&self, links: &Metered, flows: &[FlowId]) -> WindowFields {
        let of = |link: &LinkId| (*link, self.utilisation(*link, links.specs.get(link.0 as usize)));
        // The link with the highest utilisation; the first of several.
        let used = links
            .bottlenecks
            .iter()
            .map(of)
            .rev()
            .max_by(|(_, one), (_, other)| one.unwrap_or_default().total_cmp(&other.unwrap_or_default()));
        let goodput = bps(flows.iter().map(|flow| self.delivered(*flow)).sum(), self.nanos());
        WindowFields {
            utilisation: used.and_then(|(_, used)| used),
            goodput_bps: goodput,
            dropped_packets: used.map(|(link, _)| self.dropped(link)),
            ..WindowFields::default()
        }
    }

    /// Returns the fields of a link, without its name. `place` is the link's place among those that the scenario names.
    fn link(&self, specs: &[LinkSpec], place: usize, link: LinkId) -> LinkFields {
        let over = |reading: &Reading| reading.over_named.get(place).copied().unwrap_or(0);
        LinkFields {
            utilisation: self.utilisation(link, specs.get(link.0 as usize)),
            goodput_bps: bps(over(self.until).saturating_sub(over(self.from)), self.nanos()),
            dropped_packets: Some(self.dropped(link)),
            ..LinkFields::default()
        }
    }

    fn nanos(&self) -> u64 {
        self.until.at.since(self.from.at).nanos()
    }

    /// Returns the bits that the link sent over the bits that it could have sent; `None` for a link without a rate.
    #[expect(clippy::cast_precision_loss, reason = "the nearest double is what is wanted")]
    fn utilisation(&self, link: LinkId, spec: Option<&LinkSpec>) -> Option<f64> {
        let spec = spec?;
        let could = match (&spec.rates, spec.rate) {
            (Some(trace), _) => trace.bits(self.from.at, self.until.at) as f64,
            (None, Some(rate)) => rate.bps() as f64 * self.nanos() as f64 / 1e9,
            (None, None) => return None,
        };
        let sent = self.change(link, |link| link.sent_bits);
        (could > 0.0).then(|| sent as f64 / could)
    }

    /// Returns the number of packets that a link dropped, for any reason.
    fn dropped(&self, link: LinkId) -> u64 {
        self.change(link, |link| link.dropped_by_queue + link.dropped_by_policer + link.dropped_at_random)
    }

    fn change(&self, link: LinkId, counter: fn(&LinkStats) -> u64) -> u64 {
        let at = |reading: &Reading| reading.links.get(link.0 as usize).map_or(0, counter);
        at(self.until).saturating_sub(at(self.from))
    }

    /// Returns the payload bytes of a flow that were delivered in order.
    fn delivered(&self, flow: FlowId) -> u64 {
        let at = |reading: &Reading| reading.delivered.get(flow.0 as usize).copied().unwrap_or(0);
        at(self.until).saturating_sub(at(self.from))
    }
}
