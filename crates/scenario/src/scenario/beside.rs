//! The cross traffic of a scenario, all of it together.

use firstflight::Rate;

use super::{Scenario, ScenarioError, ScenarioFault};
use crate::beside::Beside;
use crate::population::show_instant;
use crate::quantity::show_span;
use crate::words::Cross;

impl Scenario {
    /// All cross traffic.
    pub fn traffic(&self) -> impl Iterator<Item = Beside> + '_ {
        let steady = Some(self.cross).filter(|cross| *cross != Cross::None).map(Beside::steady);
        steady.into_iter().chain(self.beside.iter().copied())
    }

    /// Whether there is cross traffic.
    pub fn has_cross(&self) -> bool {
        self.traffic().next().is_some()
    }

    /// Whether cross traffic in the measured flow's direction responds to congestion, so that the available rate is a fair share.
    pub fn is_responsive(&self) -> bool {
        self.traffic().any(|entry| !entry.reverse && entry.cross.is_responsive())
    }

    /// Whether the rate that cross traffic leaves changes during a run in a way that may depend on the measured scheme.
    pub fn varies(&self) -> bool {
        self.traffic().any(|entry| !entry.reverse && entry.cross.varies())
    }

    /// The rate of the links that an entry crosses first, in IP bits per second, without a trace.
    pub fn rate_of(&self, entry: &Beside) -> Rate {
        if entry.reverse { self.reverse_rate } else { self.rate }
    }

    /// Cross traffic in words, for titles.
    pub(super) fn describe_traffic(&self) -> String {
        let steady = Some(self.cross).filter(|cross| *cross != Cross::None || self.beside.is_empty());
        let all =
            steady.map(|cross| cross.describe()).into_iter().chain(self.beside.iter().map(Beside::describe));
        all.map(|words| self.topology.describe_cross(&words)).collect::<Vec<_>>().join(" and ")
    }

    /// Refuses an entry that begins after the run, or whose hosts are nearer than the path is long.
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
                    "a round trip of {least} is shorter than the path's {path}, all of which it crosses"
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
    fn an_entry_that_cannot_be_on_this_path_is_refused_in_one_line() {
        for (cross, says) in [
            ("1mbit,start=5s", "cross: `1mbit,start=5s`: it begins at 5s, and the run is over at 5s"),
            (
                "tcp:1,rtt=39ms",
                "cross: `tcp:1,rtt=39ms`: a round trip of 39ms is shorter than the path's 40ms",
            ),
            ("onoff:1mbit,1us,1us,start=1s", "cross: on and off within 2us"),
            ("100gbit,start=1s", "cross: 100gbit, more than 1000 times"),
        ] {
            let error = resolve(&[("cross", cross), ("duration", "5s")]).expect_err(cross);
            assert!(error.starts_with(says) && !error.contains('\n'), "{cross}: {error}");
        }
    }
}
