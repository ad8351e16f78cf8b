//! Measures links and flows between instants of a run, while it goes on.

use firstflight::{Span, Time};
use firstflight_measure::arithmetic::bps;
use firstflight_measure::{WindowFields, Windows};
use firstflight_scenario::{Scenario, Window};
use firstflight_sim::{FlowId, LinkId, LinkSpec, LinkStats, Recorder};

use crate::build_network::AnySim;

/// Reads the counters of a run at the ends of the scenario's windows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter {
    windows: Vec<Window>,
    /// From when windows count.
    origin: Time,
    /// The instants that are still to be read, the last one first.
    due: Vec<Time>,
    read: Vec<Reading>,
}

/// The counters of a run at an instant.
#[derive(Clone, Debug)]
struct Reading {
    at: Time,
    links: Vec<LinkStats>,
    /// Bytes delivered of each flow.
    delivered: Vec<u64>,
}

impl Meter {
    /// The meter of a scenario's windows, which count from `origin`.
    pub(crate) fn new(scenario: &Scenario, origin: Time) -> Self {
        let windows = scenario.windows.clone();
        let mut due: Vec<Time> =
            windows.iter().flat_map(|window| [origin + window.from, origin + window.until]).collect();
        due.sort_unstable();
        due.dedup();
        due.reverse();
        Self { windows, origin, due, read: Vec::new() }
    }

    /// The next instant at which [`Meter::read`] is to be called, if it comes by `until`.
    pub(crate) fn next(&self, until: Time) -> Option<Time> {
        self.due.last().copied().filter(|at| *at <= until)
    }

    /// Reads the counters if the run, which has settled, has reached the next instant, `at`.
    pub(crate) fn read<W: Recorder>(&mut self, sim: &AnySim<W>, at: Time) {
        if self.due.last() != Some(&at) {
            return;
        }
        self.due.pop();
        let links = (0..).map_while(|id| sim.link(LinkId(id))).collect();
        let flows = (0..sim.flow_count()).map(FlowId);
        let delivered = flows.map(|id| sim.flow(id).unwrap_or_default().delivered_bytes).collect();
        self.read.push(Reading { at, links, delivered });
    }

    /// The fields of a row: of the bottlenecks among `links`, and of the row's flows.
    pub(crate) fn fields(&self, links: &[LinkSpec], bottlenecks: &[LinkId], flows: &[FlowId]) -> Windows {
        let one = |window: &Window| {
            let empty = || WindowFields { suffix: window.suffix(), ..WindowFields::default() };
            self.between(window).map_or_else(empty, |ends| ends.fields(window, links, bottlenecks, flows))
        };
        Windows(self.windows.iter().map(one).collect())
    }

    /// The readings at the ends of a window; `None` if the run ended before.
    fn between(&self, window: &Window) -> Option<Ends<'_>> {
        let at = |span: Span| self.read.iter().find(|reading| reading.at == self.origin + span);
        Some(Ends { from: at(window.from)?, until: at(window.until)? })
    }
}

/// The readings at the ends of a window.
struct Ends<'a> {
    from: &'a Reading,
    until: &'a Reading,
}

impl Ends<'_> {
    fn fields(
        &self,
        window: &Window,
        links: &[LinkSpec],
        bottlenecks: &[LinkId],
        flows: &[FlowId],
    ) -> WindowFields {
        let of = |link: &LinkId| (*link, self.utilisation(*link, links.get(link.0 as usize)));
        // The first of those that are used most.
        let used = bottlenecks
            .iter()
            .map(of)
            .rev()
            .max_by(|(_, one), (_, other)| one.unwrap_or_default().total_cmp(&other.unwrap_or_default()));
        let goodput = bps(flows.iter().map(|flow| self.delivered(*flow)).sum(), self.nanos());
        WindowFields {
            suffix: window.suffix(),
            utilisation: used.and_then(|(_, used)| used),
            goodput_bps: goodput,
            dropped_packets: used.map(|(link, _)| self.dropped(link)),
        }
    }

    fn nanos(&self) -> u64 {
        self.until.at.since(self.from.at).nanos()
    }

    /// Of the bits that the link could have sent, how many it sent; `None` of a link without a rate.
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

    /// The packets that a link dropped, for whatever cause.
    fn dropped(&self, link: LinkId) -> u64 {
        self.change(link, |link| link.dropped_by_queue + link.dropped_by_policer + link.dropped_at_random)
    }

    fn change(&self, link: LinkId, counter: fn(&LinkStats) -> u64) -> u64 {
        let at = |reading: &Reading| reading.links.get(link.0 as usize).map_or(0, counter);
        at(self.until).saturating_sub(at(self.from))
    }

    /// Payload bytes of a flow that were delivered in order.
    fn delivered(&self, flow: FlowId) -> u64 {
        let at = |reading: &Reading| reading.delivered.get(flow.0 as usize).copied().unwrap_or(0);
        at(self.until).saturating_sub(at(self.from))
    }
}
