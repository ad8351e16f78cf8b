//! All cross traffic of a scenario.

use firstflight::Rate;

use super::{Scenario, ScenarioError, ScenarioFault};
use crate::HostCpu;
use crate::cross_entries::Beside;
use crate::keywords::Cross;
use crate::population::show_instant;
use crate::quantity::{humane_span, show_span};

impl Scenario {
    /// Returns all cross traffic.
    pub fn traffic(&self) -> impl Iterator<Item = Beside> + '_ {
        let steady = Some(self.cross).filter(|cross| *cross != Cross::None).map(Beside::steady);
        steady.into_iter().chain(self.beside.iter().copied())
    }

    /// Checks whether there is cross traffic.
    pub fn has_cross(&self) -> bool {
        self.traffic().next().is_some()
    }

    /// Returns whether timers of senders have noise by default on the user's own path. They have noise if other flows share the path,
    /// because the relative timing of the flows then matters, and if hosts have no model of processor, timer or offload.
    pub(crate) fn has_usual_noise(&self) -> bool {
        let clients = self.rounds.map_or(1, |rounds| rounds.clients);
        let is_shared =
            self.has_cross() || self.population.is_some() || !self.script.is_empty() || clients > 1;
        is_shared && self.host_cpu == HostCpu::None && self.departures().is_none()
    }

    /// Checks whether cross traffic in the measured flow's direction responds to congestion, so that the available rate is a fair share.
    pub fn is_responsive(&self) -> bool {
        self.traffic().any(|entry| !entry.reverse && entry.cross.is_responsive())
    }

    /// Checks whether the rate that cross traffic leaves to the measured flow changes during a run in a way that may depend on the measured
    /// scheme.
    pub fn varies(&self) -> bool {
        self.traffic().any(|entry| !entry.reverse && entry.cross.varies())
    }

    /// Returns the rate of the first link that an entry's traffic crosses between routers, in IP bits per second. It ignores a rate trace.
    pub fn rate_of(&self, entry: &Beside) -> Rate {
        if entry.reverse { self.reverse_rate } else { self.rate }
    }

    /// Returns the cross traffic in words, for titles.
    pub(super) fn describe_traffic(&self) -> String {
        let steady = Some(self.cross).filter(|cross| *cross != Cross::None || self.beside.is_empty());
        let all =
            steady.map(|cross| cross.describe()).into_iter().chain(self.beside.iter().map(Beside::describe));
        let words = all.map(|words| self.topology.describe_cross(&words)).collect::<Vec<_>>().join(" and ");
        let is_bulk = |entry: Beside| matches!(entry.cross, Cross::Tcp(_)) && entry.start.is_none();
        let spread = self.bulk_spread();
        if self.population.is_some() || !self.traffic().any(is_bulk) {
            return words;
        }
        format!("{words}, {} to {} old", humane_span(spread), humane_span(spread * 2))
    }

    /// Returns an error if an entry begins after the run, or if its hosts have a shorter RTT than the path.
    pub(super) fn check_beside(&self) -> Result<(), ScenarioError> {
        for entry in &self.beside {
            let fault =
                |fault: String| Err(ScenarioFault::OfEntry { entry: entry.to_string(), fault }.of("cross"));
            if let Some(start) = entry.start.filter(|start| *start >= self.limit) {
                let (start, over) = (show_instant(start), show_span(self.limit));
                return fault(format!("it begins at {start}, and the run is over at {over}"));
            }
            if let Some((least, _)) = entry.rtt.filter(|(least, _)| *least < self.rtt) {
                let (least, path) = (show_span(least), show_span(self.rtt));
                return fault(format!(
                    "an RTT of {least} is shorter than the path's {path}, all of which it crosses"
                ));
            }
            if let Cross::Poisson { size, .. } | Cross::Users { size, .. } = entry.cross
                && size.in_bytes(u64::from(self.mss)).is_none()
            {
                return fault(format!("{size} is too large on this path"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;

    fn resolve(given: &[(&str, &str)]) -> Result<Scenario, String> {
        let mut options = Options::default();
        for (key, text) in [("rate", "10mbit"), ("rtt", "40ms")].iter().chain(given) {
            options.set(key, text).map_err(|error| error.to_string())?;
        }
        Scenario::resolve(&options).map_err(|error| error.to_string())
    }

    const HOSTS: [(&str, &str); 2] = [("topology", "dumbbell:hosts=2"), ("flows", "5")];

    #[test]
    fn beside_a_population_all_traffic_is_entries_and_reads_back() {
        let given = [&HOSTS[..], &[("cross", "1mbit;2mbit,way=reverse")]].concat();
        let path = resolve(&given).expect("a scenario");
        assert_eq!((path.cross, path.beside.len()), (Cross::None, 2));
        assert!(path.canonical().contains("cross = \"1mbit;2mbit,way=reverse\"\n"), "{}", path.canonical());
        let words = path.describe();
        assert!(words.contains("1 Mbit/s CBR across and 2 Mbit/s CBR against it"), "{words}");
    }

    #[test]
    fn traffic_that_comes_later_leaves_the_steady_traffic_as_it_was() {
        let path = resolve(&[("cross", "3mbit;tcp:1,start=2s,stop=3s")]).expect("a scenario");
        assert_eq!(path.traffic().next(), Some(Beside::steady(Cross::Cbr(Rate::from_bps(3_000_000)))));
        assert!(path.is_responsive() && path.has_cross());
        let against = resolve(&[("cross", "tcp:1,way=reverse")]).expect("a scenario");
        assert!(!against.is_responsive(), "nobody shares the way of the data");
    }

    #[test]
    fn cross_entries_impossible_on_the_path_are_refused_in_one_line() {
        for (cross, says) in [
            ("1mbit,start=5s", "cross: `1mbit,start=5s`: it begins at 5s, and the run is over at 5s"),
            ("tcp:1,rtt=39ms", "cross: `tcp:1,rtt=39ms`: an RTT of 39ms is shorter than the path's 40ms"),
            ("onoff:1mbit,1us,1us,start=1s", "cross: on and off within 2us"),
            ("100gbit,start=1s", "cross: 100gbit, more than 1000 times"),
        ] {
            let error = resolve(&[("cross", cross), ("duration", "5s")]).expect_err(cross);
            assert!(error.starts_with(says) && !error.contains('\n'), "{cross}: {error}");
        }
    }
}
