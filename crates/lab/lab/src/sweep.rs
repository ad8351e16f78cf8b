//! A sweep: many paths, listed or drawn, each raced by the same schemes.
//!
//! A sweep's file determines its content: the path of each index, the path's seeds, and the part that holds its rows. The number and the
//! order of threads have no effect.

mod bound;
mod early;
mod facts;
mod file;
mod mlab;
mod neighbours;
mod parts;
mod path_list;
mod path_race;
mod population;
mod schedule;
mod value;

pub use early::EarlyFields;
pub use facts::{Bottleneck, PathFacts};
pub use file::parse_sweep;
pub use neighbours::Beside;
pub use parts::{Stopped, SweptRow, race_parts};
pub use path_list::PathList;
pub(crate) use value::{Draws, share_bps};

use std::ops::Range;

use firstflight::registry::Registry;

use firstflight_measure::VERSION;
use firstflight_scenario::quantity::{self, show_rate};
use firstflight_scenario::{ByName, Options, Scenario, SchemeChoice, fnv_1a, show_choices};

use self::bound::steady_ideal;
use self::value::{Sample, Value};
/// A sweep of paths, as read from its file.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The registry with the names of schemes and options.
    pub registry: Registry,
    /// The seed of every draw, which is also the seed of the first path's first run.
    pub seed: u64,
    /// The number of runs of each scheme on each path.
    pub runs: u32,
    /// The number of paths in a part.
    pub part: u64,
    /// The time after which a transfer is given up, in multiples of its ideal completion time; `None` if the scenario's limit applies.
    pub give_up: Option<u32>,
    /// The schemes.
    pub choices: Vec<SchemeChoice>,
    /// The number of draws of all options. Each draw makes one path for every combination of the lists.
    pub draws: u64,
    /// The population of paths, one for each draw.
    pub population: Option<PathList>,
    /// The options of the path, in the order of the file.
    axes: Vec<Axis>,
}

/// One option of the path.
#[derive(Clone, Debug)]
struct Axis {
    key: &'static str,
    value: Value,
}

/// Why a path of a sweep cannot be raced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("path {path}: {message}")]
pub struct SweepError {
    /// The index of the path.
    pub path: u64,
    /// The fault, in one line.
    pub message: String,
}

impl Sweep {
    /// Returns the number of paths: the draws times the lengths of all lists.
    pub fn paths(&self) -> u64 {
        self.draws.saturating_mul(self.combinations())
    }

    /// Returns the number of independent samples of paths: the draws, or the paths if nothing is drawn.
    pub fn samples(&self) -> u64 {
        let is_drawn = self.population.is_some() || self.axes.iter().any(|axis| axis.value.is_drawn());
        if is_drawn { self.draws } else { self.paths() }
    }

    /// Returns the facts of a path, with its name and its weight in the population.
    pub(crate) fn facts(&self, path: u64, scenario: &Scenario) -> PathFacts {
        let facts = PathFacts::of(path, scenario);
        match self.listed(path) {
            Some(listed) => PathFacts { path_name: listed.name.clone(), path_weight: listed.weight, ..facts },
            None => facts,
        }
    }

    fn listed(&self, path: u64) -> Option<&path_list::ListedPath> {
        let draw = usize::try_from(path / self.combinations()).ok()?;
        self.population.as_ref()?.paths.get(draw)
    }

    /// Returns the number of parts. The last one may be shorter.
    pub fn parts(&self) -> u64 {
        self.paths().div_ceil(self.part)
    }

    /// Returns the indices of the paths of a part.
    pub fn paths_of(&self, part: u64) -> Range<u64> {
        let from = part.saturating_mul(self.part).min(self.paths());
        from..from.saturating_add(self.part).min(self.paths())
    }

    /// Returns the number of rows of each path: one for each scheme and run.
    pub fn rows_a_path(&self) -> u64 {
        self.choices.len() as u64 * u64::from(self.runs)
    }

    /// Returns the path of an index, with its seeds.
    ///
    /// Each option is drawn from its own random stream, so that adding an option or paths changes no other draw. Each draw takes all
    /// combinations of the lists; the last list varies fastest. The first seed is the sweep's seed plus the index times (runs + 1). No two
    /// runs of a sweep therefore share a seed. The seed after a path's runs is that of Careful Resume's earlier connection.
    ///
    /// # Errors
    /// Fails if the path is not valid.
    pub fn scenario(&self, path: u64) -> Result<Scenario, SweepError> {
        let fault = |message: String| match (&self.population, self.listed(path)) {
            (Some(list), Some(listed)) if listed.line > 0 => {
                let name = quantity::in_a_line(&list.source);
                SweepError { path, message: format!("{name}:{}: {message}", listed.line) }
            }
            _ => SweepError { path, message },
        };
        let options = self.options(path).map_err(fault)?;
        let mut scenario = Scenario::resolve(&options).map_err(|error| fault(error.to_string()))?;
        scenario.seed = self.seed.wrapping_add(path.wrapping_mul(u64::from(self.runs) + 1));
        scenario.runs = self.runs;
        if let Some(times) = self.give_up {
            const WANTED: &str = "give-up needs a size, one bottleneck, and cross traffic that is `none`, a constant \
                                  rate or `tcp:N`; bound other runs with `limit`";
            let ideal = steady_ideal(&scenario).ok_or_else(|| fault(WANTED.to_owned()))?;
            scenario.limit = ideal * u64::from(times);
        }
        Ok(scenario)
    }

    /// Returns a hash of the sweep: of the version, the schemes, the runs, the part size, and every path with its weight and name. Files that
    /// describe the same sweep in different words have equal hashes.
    ///
    /// # Errors
    /// Returns the error of the first path that is not valid.
    pub fn hash(&self) -> Result<String, SweepError> {
        let mut text = format!("{VERSION}\n{}\n{}\n{}\n", self.schemes(), self.runs, self.part);
        for path in 0..self.paths() {
            let scenario = self.scenario(path)?;
            text = text + &scenario.hash() + " " + &scenario.seed.to_string();
            let of_population = self.listed(path).map(|listed| (listed.weight, listed.name.as_deref()));
            if let Some((weight, name)) = of_population.filter(|of| *of != (1.0, None)) {
                text = text + " " + &weight.to_string() + " " + name.unwrap_or_default();
            }
            text.push('\n');
        }
        Ok(format!("{:016x}", fnv_1a(text.as_bytes())))
    }

    /// Returns the list of schemes as text that [`ByName::parse_choices`] reads.
    pub fn schemes(&self) -> String {
        show_choices(&self.choices)
    }

    fn combinations(&self) -> u64 {
        self.axes.iter().map(|axis| axis.value.len()).fold(1, u64::saturating_mul)
    }

    fn options(&self, path: u64) -> Result<Options, String> {
        let (draw, mut combination) = (path / self.combinations(), path % self.combinations());
        let mut picks = vec![0; self.axes.len()];
        for (pick, axis) in picks.iter_mut().zip(&self.axes).rev() {
            (*pick, combination) = (combination % axis.value.len(), combination / axis.value.len());
        }
        let mut options = self.registry.options();
        if let (Some(list), Some(listed)) = (&self.population, self.listed(path)) {
            for (key, text) in list.keys.iter().zip(&listed.texts) {
                if let Some(text) = text {
                    options.set(key, text).map_err(|error| error.to_string())?;
                }
            }
        }
        let mut shares = Vec::new();
        for (axis, pick) in self.axes.iter().zip(picks) {
            match axis.value.sample(pick, &mut Draws::new(self.seed, axis.key, draw)) {
                Sample::Text(text) => options.set(axis.key, &text).map_err(|error| error.to_string())?,
                Sample::Share(share) => shares.push((axis.key, share)),
            }
        }
        // A preset may set the rate, and may exclude what follows.
        let mut options = options.expanded().into_owned();
        for (key, share) in shares {
            let rate = options
                .rate
                .ok_or_else(|| format!("{key}: a share of the rate needs `rate` among the options"))?;
            #[expect(clippy::cast_precision_loss, reason = "rates are at most 10^13")]
            let bps = share_bps(rate.bps() as f64, share);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 1 to 10^13")]
            let text = show_rate(firstflight::Rate::from_bps(bps as u64));
            options.set(key, &text).map_err(|error| error.to_string())?;
        }
        if options.restart.as_ref().is_some_and(|policies| policies.len() > 1) {
            return Err("restart: one policy a path is wanted; make a list of them".to_owned());
        }
        if self.give_up.is_some() && options.limit.is_some() {
            return Err("limit: it and give-up exclude each other".to_owned());
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests;
