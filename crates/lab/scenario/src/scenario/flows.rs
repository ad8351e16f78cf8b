//! The population that options describe, and the keys that it excludes.

use std::borrow::Cow;

use firstflight::{Bytes, Span};
use firstflight_sim::HostName;

use super::load::Load;
use super::{Goal, Scenario, ScenarioError, ScenarioFault};
use crate::cross::SizeLaw;
use crate::hosts::hosts_of;
use crate::options::Options;
use crate::population::{ArrivalProcess, Population, show_instant};
use crate::quantity::{Decimal, show_span};
use crate::script::ScriptedFlow;
use crate::topology::{Hosts, Topology};

/// Returns the population that the options describe, if any. `load` describes the population's transfers.
pub(super) fn population(options: &Options, load: Load) -> Result<Option<Population>, ScenarioError> {
    let topology = options.plain.topology;
    let (flows, hosts) = match (options.flows, topology) {
        (None, Topology::Hosts(_)) => {
            return Err(ScenarioFault::HostsWithoutFlows { topology }.of("topology"));
        }
        (None, _) => return Ok(None),
        (Some(flows), Topology::Hosts(hosts)) => (flows, hosts),
        (Some(_), _) => return Err(ScenarioFault::FlowsWithoutHosts { topology }.of("topology")),
    };
    let arrivals = options.arrivals.clone().unwrap_or(ArrivalProcess::Poisson(Decimal::whole(20)));
    let overloads = load.exceeds_path(&arrivals, hosts);
    let steady = match arrivals {
        ArrivalProcess::Poisson(_) if overloads => Span::ZERO,
        ArrivalProcess::Poisson(_) => options.rtt.map_or(STEADY, |rtt| STEADY.max(rtt * STEADY_RTTS)),
        ArrivalProcess::Every(_) | ArrivalProcess::At(_) | ArrivalProcess::Users(_) => Span::ZERO,
    };
    let warm_up = options.warm_up.map_or(steady, |warm_up| warm_up.unwrap_or(Span::ZERO));
    if let Some(limit) = options.limit.filter(|limit| *limit <= warm_up) {
        let (limit, warm_up) = (show_span(limit), show_span(warm_up));
        return Err(ScenarioFault::LimitInWarmUp { limit, warm_up }.of("limit"));
    }
    if matches!(arrivals, ArrivalProcess::Users(_)) && options.duration.is_some() {
        const SIZED: &str = "users wait for files of a size; say size, and with limit how long they go on";
        return Err(ScenarioFault::Needs(SIZED).of("arrivals"));
    }
    if let ArrivalProcess::At(instants) = &arrivals {
        let listed = instants.iter().filter(|at| **at >= warm_up).count();
        if listed == 0 {
            let warm_up = show_span(warm_up);
            return Err(ScenarioFault::AllInWarmUp { warm_up }.of("arrivals"));
        }
        if listed < flows as usize {
            return Err(ScenarioFault::FewArrivals { flows, listed }.of("flows"));
        }
    }
    Ok(Some(Population {
        flows,
        arrivals,
        sizes: options.sizes.unwrap_or(SizeLaw::Fixed),
        warm_up,
        overloads,
        mixed: options.mixed || options.mixed_share.is_some(),
        mixed_share: options.mixed_share,
    }))
}

/// The warm-up of a population with Poisson arrivals is the maximum of this time and [`STEADY_RTTS`] base RTTs. Arrivals that overload the
/// path have no warm-up, because they never reach a steady state.
const STEADY: Span = Span::from_secs(10);
const STEADY_RTTS: u64 = 100;

/// Returns the mean time until the last flow of a population has arrived.
pub(super) fn arriving(population: &Population) -> Span {
    let by_the_clock = population.warm_up + population.arrivals.mean_gap() * u64::from(population.flows);
    by_the_clock.max(population.arrivals.latest())
}

/// Returns the options with the number of flows set. If the options do not state the number, the script or the listed arrivals determine
/// it. With rounds, the flows of a script are clients, not a population.
pub(super) fn counted(options: &Options) -> Cow<'_, Options> {
    let script = &options.plain.script;
    let count = |count: usize| u32::try_from(count.max(1)).ok();
    if !script.is_empty() && options.rounds.is_none() {
        let mut counted = with_flows(options, count(script.len()));
        let mut starts: Vec<Span> = script.iter().map(|flow| flow.start).collect();
        starts.sort_unstable();
        counted.arrivals = Some(ArrivalProcess::At(starts));
        if options.given("topology").is_none() {
            let each = count(script.len()).unwrap_or(1);
            counted.plain.topology = Topology::Hosts(Hosts { hops: 1, each, onward: false });
        }
        return Cow::Owned(counted);
    }
    match &options.arrivals {
        Some(ArrivalProcess::At(instants)) if options.flows.is_none() => {
            let warm_up = options.warm_up.flatten().unwrap_or(Span::ZERO);
            let listed = instants.iter().filter(|at| **at >= warm_up).count();
            Cow::Owned(with_flows(options, count(listed)))
        }
        _ => Cow::Borrowed(options),
    }
}

fn with_flows(options: &Options, flows: Option<u32>) -> Options {
    let mut counted = options.clone();
    counted.flows = flows;
    counted.remember("flows", &flows.unwrap_or(1).to_string());
    counted
}

impl Scenario {
    /// Returns the sending and the receiving host of each flow, in the order of the script; empty without a script.
    pub fn script_hosts(&self) -> Vec<(HostName, HostName)> {
        match self.topology {
            Topology::Hosts(hosts) => hosts_of(&self.script, hosts).unwrap_or_default(),
            Topology::Single | Topology::ParkingLot { .. } => Vec::new(),
        }
    }

    /// Returns the payload bytes of a flow of the script. `None` if the flow lasts until its end time or the run's end.
    pub fn size_of(&self, flow: &ScriptedFlow) -> Option<Bytes> {
        match (flow.size, flow.end, self.goal) {
            (Some(size), ..) => size.in_bytes(u64::from(self.mss)),
            (None, None, Goal::Size(size)) => Some(size),
            (None, ..) => None,
        }
    }

    /// Returns an error if a flow of the script has impossible hosts, is outside the run, or is too large.
    pub(super) fn check_script(&self) -> Result<(), ScenarioError> {
        let fault =
            |index: usize, fault: String| ScenarioFault::OfFlow { number: index + 1, fault }.of("flow");
        if let Topology::Hosts(hosts) = self.topology {
            hosts_of(&self.script, hosts).map_err(|(index, text)| fault(index, text))?;
        }
        if self.rounds.is_some() {
            let client =
                |(index, flow): (usize, &ScriptedFlow)| client(flow).map_err(|text| fault(index, text));
            return self.script.iter().enumerate().try_for_each(client);
        }
        for (index, flow) in self.script.iter().enumerate() {
            let ScriptedFlow { start, size, end, .. } = flow;
            if let Some(size) = size.filter(|size| size.in_bytes(u64::from(self.mss)).is_none()) {
                return Err(fault(index, format!("{size} is too large on this path")));
            }
            let over = show_span(self.limit);
            if *start >= self.limit {
                let start = show_instant(*start);
                return Err(fault(index, format!("it begins at {start}, and the run is over at {over}")));
            }
            if let Some(end) = end.filter(|end| *end > self.limit) {
                let end = show_span(end);
                return Err(fault(index, format!("it ends at {end}, and the run is over at {over}")));
            }
        }
        Ok(())
    }
}

/// Returns an error if the flow has a word that a client of rounds cannot have, or has no scheme.
fn client(flow: &ScriptedFlow) -> Result<(), String> {
    let ScriptedFlow { scheme, start, size, end, from, to, .. } = flow;
    let others = [
        ("start", !start.is_zero()),
        ("size", size.is_some()),
        ("end", end.is_some()),
        ("from", from.is_some()),
        ("to", to.is_some()),
    ];
    if let Some((word, _)) = others.into_iter().find(|(_, is_said)| *is_said) {
        return Err(format!(
            "with rounds a flow is a client, which has scheme, ack and restart, and no {word}"
        ));
    }
    match scheme {
        Some(_) => Ok(()),
        None => {
            Err("with rounds each flow says its scheme, as in `scheme=slow-start,restart=ssr`".to_owned())
        }
    }
}

/// Returns the latest end time of a script's flows; zero if no flow has one.
pub(super) fn latest_end(script: &[ScriptedFlow]) -> Span {
    script.iter().filter_map(|flow| flow.end).max().unwrap_or(Span::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(given: &[(&str, &str)]) -> Result<Scenario, String> {
        let mut options = Options::default();
        for (key, text) in [("rtt", "40ms"), ("topology", "dumbbell:hosts=2")].iter().chain(given) {
            options.set(key, text).expect(text);
        }
        Scenario::resolve(&options).map_err(|error| error.to_string())
    }

    #[test]
    fn listed_arrivals_say_how_many_flows_are_measured() {
        let flows =
            |given: &[(&str, &str)]| resolve(given).map(|path| path.population.expect("a population").flows);
        assert_eq!(flows(&[("arrivals", "at:10s,40s")]), Ok(2));
        assert_eq!(flows(&[("arrivals", "at:0s,1s,2s"), ("warm-up", "1s")]), Ok(2));
        assert_eq!(flows(&[("arrivals", "at:0s,1s,2s"), ("flows", "2")]), Ok(2));
        let path = resolve(&[("arrivals", "at:10s,40s"), ("duration", "70s")]).expect("a scenario");
        assert!(
            path.canonical().contains("flows = \"2\"\narrivals = \"at:10s,40s\"\n"),
            "{}",
            path.canonical()
        );
        assert!(
            path.describe().ends_with("2 flows, at 10 s, 40 s, for 70 s, timers up to 20 \u{b5}s late"),
            "{}",
            path.describe()
        );
    }

    #[test]
    fn listed_arrivals_that_cannot_be_measured_are_refused_in_one_line() {
        for (given, wanted) in [
            (vec![("arrivals", "at:10s,70s"), ("duration", "70s")], "arrivals: the flow at 70s begins when"),
            (vec![("arrivals", "at:1s"), ("warm-up", "2s")], "arrivals: all are within the warm-up of 2s"),
            (
                vec![("arrivals", "at:1s,2s"), ("flows", "3")],
                "flows: 3 are more than the 2 that arrivals lists",
            ),
            (vec![("arrivals", "at:1s"), ("rounds", "2")], "rounds: it and flows exclude each other"),
        ] {
            let error = resolve(&given).expect_err("refused");
            assert!(error.starts_with(wanted) && !error.contains('\n'), "{error}");
        }
    }

    fn clients(given: &[(&str, &str)]) -> Result<Scenario, String> {
        let mut options = Options::default();
        for (key, text) in [("rtt", "40ms"), ("rounds", "3")].iter().chain(given) {
            options.set(key, text).expect(text);
        }
        Scenario::resolve(&options).map_err(|error| error.to_string())
    }

    #[test]
    fn with_rounds_the_flows_of_a_script_are_the_clients() {
        let script = "scheme=slow-start,restart=ssr;scheme=slow-start,restart=ssr;scheme=vegas,ack=linux";
        let path = clients(&[("flow", script)]).expect("a scenario");
        assert!(path.population.is_none());
        assert_eq!(path.rounds.map(|rounds| rounds.clients), Some(3));
        assert!(!path.canonical().contains("clients ="), "{}", path.canonical());
        let again = crate::parse_file(&path.canonical()).expect("a file");
        assert_eq!(Scenario::resolve(&again.options), Ok(path.clone()));
        assert!(
            path.describe().ends_with(
                ", clients: 2 of slow-start with ssr, 1 of vegas with ACKs linux, timers up to 20 \u{b5}s late"
            ),
            "{}",
            path.describe()
        );
    }

    #[test]
    fn flow_keys_unavailable_to_clients_of_rounds_are_refused_with_the_flow() {
        for (given, wanted) in [
            (
                vec![("flow", "scheme=vegas;scheme=vegas,start=1s")],
                "flow: flow 2: with rounds a flow is a client",
            ),
            (vec![("flow", "scheme=vegas,size=1kB")], "flow: flow 1: with rounds a flow is a client"),
            (vec![("flow", "scheme=vegas,from=0/0")], "flow: flow 1: with rounds a flow is a client"),
            (
                vec![("flow", "scheme=vegas;restart=ssr")],
                "flow: flow 2: with rounds each flow says its scheme",
            ),
            (vec![("flow", "scheme=vegas"), ("clients", "2")], "clients: it and flow exclude each other"),
        ] {
            let error = clients(&given).expect_err("refused");
            assert!(error.starts_with(wanted) && !error.contains('\n'), "{error}");
        }
    }
}
