//! The results of a population: a row for each flow, and a row for each scheme.

use std::ops::Range;

use firstflight::{Bytes, Rate, Time};
use firstflight_measure::arithmetic::{bps, ratio, seconds};
use firstflight_measure::{FlowRow, PopulationRow, Quantile, VERSION, Windows, quantile};
use firstflight_scenario::{Scenario, asks_routers, keywords};
use firstflight_sim::{Arrived, FlowId, FlowStats, HostName, Ways};

use crate::build_network::AnySim;
use crate::flow_costs::{Census, Counts, QuickStart};
use crate::flow_group::Group;
use crate::processors;
use crate::window_meter::Meter;

/// A finished run of a population.
pub(crate) struct Run<'a, W = Census> {
    pub(crate) seed: u64,
    pub(crate) group: &'a Group,
    pub(crate) ways: Option<Ways>,
    /// The numbers of the measured flows.
    pub(crate) measured: Range<u32>,
    pub(crate) end: Time,
    pub(crate) meter: Meter,
    pub(crate) sim: AnySim<W>,
}

impl Run<'_> {
    /// Returns the flows among `ids` that have the `place`-th scheme of the mix, each with its statistics.
    fn flows(&self, place: usize, ids: Range<u32>) -> impl Iterator<Item = (FlowId, FlowStats)> {
        ids.map(FlowId).filter_map(move |id| {
            let arrived = self.sim.arrived(id)?;
            (self.group.place(arrived)? == place).then_some(())?;
            Some((id, self.sim.flow(id)?))
        })
    }

    /// Returns the counts of a flow's sender, up to the last byte or the end of the run.
    fn counts(&self, (id, flow): &(FlowId, FlowStats)) -> Counts {
        self.sim.recorder().of(*id).counts(flow.finished().is_some())
    }

    /// Returns the measurements in the scenario's windows, for a row of these flows.
    fn windows(&self, flows: &[FlowId]) -> Windows {
        self.meter.fields(flows)
    }

    /// Returns the time integral of the number of active flows from `from` to `until`, in flow-nanoseconds.
    fn active(&self, from: Time, until: Time) -> u128 {
        let own = |id: &FlowId| self.sim.arrived(*id).and_then(|arrived| self.group.place(arrived)).is_some();
        let ids = (0..self.sim.flow_count()).map(FlowId).filter(own);
        let all = ids.filter_map(|id| self.sim.flow(id));
        let within = |flow: FlowStats| {
            let began = flow.started?.max(from);
            let ended = flow.ended().unwrap_or(until).min(until);
            Some(u128::from(ended.nanos().saturating_sub(began.nanos())))
        };
        all.filter_map(within).sum()
    }
}

/// Returns the time from the SYN to the delivery of the last byte, in nanoseconds; `None` if the flow did not finish.
fn fct(flow: &FlowStats) -> Option<u64> {
    Some(flow.finished()?.nanos() - flow.started?.nanos())
}

/// Returns the payload delivered, over the time from the SYN to the last byte, the abort or `end`.
fn throughput(flow: &FlowStats, end: Time) -> Option<f64> {
    bps(flow.delivered_bytes, flow.ended().unwrap_or(end).nanos().saturating_sub(flow.started?.nanos()))
}

/// Returns the row of the `place`-th scheme of a run's mix.
pub(crate) fn row(scenario: &Scenario, run: &Run<'_>, place: usize) -> PopulationRow {
    let choice = &run.group.mix[place];
    let own = scenario.for_scheme(choice);
    let flows: Vec<(FlowId, FlowStats)> = run.flows(place, run.measured.clone()).collect();
    let counts: Vec<Counts> = flows.iter().map(|flow| run.counts(flow)).collect();
    let sum = |of: fn(Counts) -> u32| counts.iter().map(|flow| u64::from(of(*flow))).sum::<u64>();
    let (packets_sent, packets_lost) = (sum(|flow| flow.sent), sum(|flow| flow.lost));
    let startup_lost = sum(Counts::su_lost);
    let exited = |(id, _): &(FlowId, FlowStats)| run.sim.recorder().of(*id).exit.is_some();
    let started = |(id, _): &(FlowId, FlowStats)| run.sim.recorder().of(*id).counts_in_start_up();
    let count = |iterator: &mut dyn Iterator<Item = bool>| iterator.filter(|yes| *yes).count() as u64;
    let throughputs = Distribution::of(flows.iter().map(|(_, flow)| throughput(flow, run.end)));
    let fcts = Distribution::of(flows.iter().map(|(_, flow)| fct(flow).map(seconds)));
    let asks = asks_routers(scenario, choice);
    let asked: Vec<QuickStart> = flows.iter().map(|(id, _)| run.sim.recorder().of(*id).quick_start).collect();
    let quick_start = |of: fn(&QuickStart) -> u32| asked.iter().map(|flow| u64::from(of(flow))).sum::<u64>();
    let (requests, approved) = (quick_start(|flow| flow.requests), quick_start(|flow| flow.approved));
    let granted = Distribution::of(asked.iter().filter_map(|flow| Some(Some(rate_bps(flow.granted?)))));
    PopulationRow {
        scheme: choice.entry.name.to_owned(),
        label: choice.label.clone(),
        params: choice.params(),
        population: run.group.population.clone(),
        avoidance: choice.law(own.avoidance).to_owned(),
        recovery: keywords::recovery_name(own.recovery).to_owned(),
        stack: keywords::stack_if_not_rfc(own.stack).map(str::to_owned),
        restart: own.restart.to_string(),
        deploy: scenario.deploy(choice),
        flows: flows.len() as u64,
        unfinished: count(&mut flows.iter().map(|(_, flow)| flow.finished().is_none())),
        throughput_mean_bps: throughputs.mean(),
        throughput_p5_bps: throughputs.at(0.05),
        throughput_median_bps: throughputs.at(0.5),
        throughput_p95_bps: throughputs.at(0.95),
        fct_mean_s: fcts.mean(),
        fct_p5_s: fcts.at(0.05),
        fct_median_s: fcts.at(0.5),
        fct_p95_s: fcts.at(0.95),
        loss: ratio(packets_lost, packets_sent),
        startup_loss: ratio(startup_lost, packets_sent),
        su_counts: flows.iter().map(started).max().unwrap_or_default().name().to_owned(),
        lossy_flows: count(&mut counts.iter().map(|flow| flow.lost > 0)),
        exited_flows: count(&mut flows.iter().map(exited)),
        trains: some_trains(flows.iter().map(|(id, _)| run.sim.recorder().of(*id).trains).sum()),
        timeouts: sum(|flow| flow.timeouts),
        packets_sent,
        packets_lost,
        qs_requests: asks.then_some(requests),
        qs_approved: asks.then_some(approved),
        qs_lowered: asks.then(|| quick_start(|flow| flow.lowered)),
        qs_success: asks.then(|| ratio(approved, requests)),
        qs_rate_mean_bps: asks.then(|| granted.mean()),
        active_mean: active_mean(run),
        packet_hops: run.sim.packet_hops(),
        cpu: processors::fields(&run.sim, flows.iter().copied(), run.end),
        windows: run
            .windows(&run.flows(place, 0..run.sim.flow_count()).map(|(id, _)| id).collect::<Vec<_>>()),
        seed: run.seed,
        version: VERSION.to_owned(),
        scenario_hash: scenario.hash(),
    }
}

/// Returns a number of trains for a row; `None` if no train was sent.
fn some_trains(trains: u32) -> Option<u64> {
    (trains > 0).then(|| trains.into())
}

#[expect(clippy::cast_precision_loss, reason = "the nearest double is what is wanted")]
fn active_mean(run: &Run<'_>) -> Option<f64> {
    let began = |id: u32| run.sim.flow(FlowId(id)).and_then(|flow| flow.started);
    let (first, last) = (began(run.measured.start)?, began(run.measured.end.checked_sub(1)?)?);
    let nanos = last.nanos() - first.nanos();
    (nanos > 0).then(|| run.active(first, last) as f64 / nanos as f64)
}

/// Returns the rows of all flows of the `place`-th scheme of a run's mix.
pub(crate) fn flow_rows(scenario: &Scenario, run: &Run<'_>, place: usize) -> Vec<FlowRow> {
    let choice = &run.group.mix[place];
    let (script_hosts, scenario_hash) = (scenario.script_hosts(), scenario.hash());
    let size = |arrived: Arrived| match scenario.script.get(arrived.process as usize) {
        Some(flow) => scenario.size_of(flow).map(Bytes::get),
        None => scenario.is_sized().then_some(arrived.bytes),
    };
    let asks = asks_routers(scenario, choice);
    let host = |(router, place): HostName| format!("{router}/{place}");
    let row = |(id, flow): (FlowId, FlowStats)| {
        let arrived = run.sim.arrived(id)?;
        let drawn = || run.ways.as_ref()?.hosts(arrived.way);
        let (from, to) = script_hosts.get(arrived.process as usize).copied().or_else(drawn)?;
        let watched = run.sim.recorder().of(id);
        let counts = run.counts(&(id, flow));
        let su_time = watched.su_end.zip(flow.first_data).map(|(end, first)| end.nanos() - first.nanos());
        Some(FlowRow {
            flow: id.0,
            scheme: choice.entry.name.to_owned(),
            label: choice.label.clone(),
            params: choice.params(),
            population: run.group.population.clone(),
            measured: u8::from(run.measured.contains(&id.0)),
            start_s: seconds(flow.started?.nanos()),
            from: host(from),
            to: host(to),
            size_bytes: size(arrived),
            fct_s: fct(&flow).map(seconds),
            throughput_bps: throughput(&flow, run.end),
            su_time_s: su_time.map(seconds),
            su_counts: watched.counts_in_start_up().name().to_owned(),
            exit_cause: watched.exit.map_or("none", |cause| cause.name()).to_owned(),
            trains: some_trains(watched.trains),
            requested_rate_bps: asks.then(|| watched.quick_start.requested.map(rate_bps)),
            granted_rate_bps: asks.then(|| watched.quick_start.granted.map(rate_bps)),
            packets_sent: u64::from(counts.sent),
            packets_lost: u64::from(counts.lost),
            startup_packets_lost: u64::from(counts.su_lost()),
            timeouts: u64::from(counts.timeouts),
            cpu: processors::fields(&run.sim, std::iter::once((id, flow)), run.end),
            windows: run.windows(&[id]),
            seed: run.seed,
            version: VERSION.to_owned(),
            scenario_hash: scenario_hash.clone(),
        })
    };
    run.flows(place, 0..run.sim.flow_count()).filter_map(row).collect()
}

/// Returns a rate for a row, in bits per second.
#[expect(clippy::cast_precision_loss, reason = "rates are far below 2^53")]
fn rate_bps(rate: Rate) -> f64 {
    rate.bps() as f64
}

/// Values in ascending order, with the undefined ones at the end.
struct Distribution(Vec<Option<f64>>);

impl Distribution {
    fn of(values: impl Iterator<Item = Option<f64>>) -> Self {
        let mut values: Vec<Option<f64>> = values.collect();
        let key = |value: &Option<f64>| value.unwrap_or(f64::INFINITY);
        values.sort_by(|a, b| key(a).total_cmp(&key(b)));
        Self(values)
    }

    /// Returns the mean of all values; `None` if there are none, or if one is undefined.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    fn mean(&self) -> Option<f64> {
        let values: Option<Vec<f64>> = self.0.iter().copied().collect();
        let values = values.filter(|values| !values.is_empty())?;
        Some(values.iter().sum::<f64>() / values.len() as f64)
    }

    fn at(&self, q: f64) -> Option<f64> {
        match quantile(&self.0, q, false) {
            Quantile::Value { value, .. } => Some(value),
            Quantile::Undefined | Quantile::Beyond { .. } => None,
        }
    }
}
