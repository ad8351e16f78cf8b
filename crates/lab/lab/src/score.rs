//! The score of a sweep: quantiles of each scheme's cost, and the paths on which it was the best. docs/guide/score.md has the
//! definitions in words.

mod class;
mod filter;
mod resamples;

pub use filter::{Filter, FilterError};

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use firstflight_measure::{ALONE, EARLY_ROUND_TRIPS, Pairing, Quantile, SuCounts, quantile};

use self::class::classes;
use self::resamples::{Resamples, Sampled};
use crate::sweep::PathFacts;

/// One run of a sweep, with the numbers that the score uses.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The path of the run.
    pub path: PathFacts,
    /// The number of the sweep's draw that made the path. In a sweep with lists, one draw makes several paths.
    pub draw: u64,
    /// The weight of the path in its population, as [`weigh`] scales it.
    pub weight: f64,
    /// The scheme's name in rows.
    pub scheme: String,
    /// The scheme's avoidance law.
    pub law: String,
    /// The help that the scheme needs beyond the sender ([`firstflight_measure::Row::deploy`]).
    pub deploy: String,
    /// The seed of the run.
    pub seed: u64,
    /// The completion time over the ideal completion time; `None` if the run was given up.
    pub cost: Option<f64>,
    /// The flow completion time in seconds; `None` if the run was given up.
    pub fct_s: Option<f64>,
    /// The growth class of the run's start-up.
    pub counts: SuCounts,
    /// Whether the flow did not leave start-up.
    pub never_left: bool,
    /// The cost of byte-counting slow start with the same seed; `None` if it was not raced over the path.
    pub beside: Option<Option<f64>>,
    /// The flow's data packets dropped, over those sent, up to the end of the run.
    pub loss: Option<f64>,
    /// Retransmission timeouts of the flow.
    pub timeouts: f64,
    /// The time that the mean queue takes to drain, over the base RTT; `None` if other traffic keeps a queue without the
    /// flow.
    pub queue: Option<f64>,
    /// The rate of the delivery that others lost while the flow ran, over the bottleneck's rate; `None` without other traffic.
    pub harm_during: Option<f64>,
    /// Bytes that others delivered less until harm was over, for each byte that the flow carried. `None` if there are no others, if the
    /// flow has no size, or if the run met its limit.
    pub harm_per_byte: Option<f64>,
    /// The fair share of the rate next to bulk TCP flows; `None` if there are none.
    pub fair: Option<f64>,
    /// The cost of the ideal sender that knows the path after one round trip; `None` if it is undefined.
    pub bound: Option<f64>,
    /// The payload that this ideal sender has delivered by each of [`firstflight_measure::EARLY_ROUND_TRIPS`], over the run's payload by
    /// then. It is infinite if the run has delivered none. `None` if the ideal is undefined.
    pub early: Option<[f64; EARLY_ROUND_TRIPS.len()]>,
    /// The rate found at the exit from start-up over the rate available to the flow; `None` if the exit found no rate, or if the rate
    /// available changes.
    pub rate_found: Option<f64>,
    /// The flow's data packets that queues and policers dropped, over those sent; `None` if none was sent.
    pub queue_loss: Option<f64>,
}

/// The quantiles of a [`Spread`].
pub const QUANTILES: [f64; 3] = [0.5, 0.9, 0.99];

/// The results of one scheme in one class of paths.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// The scheme's name in rows.
    pub scheme: String,
    /// The scheme's avoidance law; `None` if its rows differ in it.
    pub law: Option<String>,
    /// The help that the scheme needs beyond the sender.
    pub deploy: String,
    /// The number of rows.
    pub rows: usize,
    /// The total weight of the rows; their number if all paths weigh 1.
    pub weight: f64,
    /// The weight of the rows whose run was given up.
    pub unfinished: f64,
    /// The spread of the cost.
    pub cost: Spread,
    /// The spread of the flow completion time, in seconds.
    pub fct_s: Spread,
    /// The highest growth class of any row's start-up.
    pub counts: SuCounts,
    /// Whether no row left start-up.
    pub never_left: bool,
    /// The cost of the scheme in the rows for which byte-counting slow start was raced.
    pub cost_beside_bytes: Spread,
    /// The cost of byte-counting slow start in the same races.
    pub bytes_cost: Spread,
    /// The weight of the rows that cost less than the ideal.
    pub under_ideal: f64,
    /// The median cost of the rows that were not given up; infinite if all were.
    pub cost_of_ended: f64,
    /// The spread of the loss.
    pub loss: Spread,
    /// The spread of the queue that the flow added, in base RTTs.
    pub queue: Spread,
    /// Loss without random loss: packets dropped by queues and policers.
    pub queue_loss: Spread,
    /// The weighted mean of `queue_loss`'s values.
    pub queue_loss_mean: Option<f64>,
    /// The cost over the cost of the ideal sender that knows the path after one round trip, in rows that have this bound.
    pub over_bound: Spread,
    /// The weight of the rows that cost at most a twentieth more than the bound.
    pub near_bound: f64,
    /// The payload of that ideal sender over the run's payload, by each of [`firstflight_measure::EARLY_ROUND_TRIPS`].
    pub early: [Spread; EARLY_ROUND_TRIPS.len()],
    /// The rate found at the exit over the rate available: the factor by which the found rate was too high.
    pub rate_over: Spread,
    /// The rate available over the rate found at the exit: the factor by which the found rate was too low.
    pub rate_under: Spread,
    /// The spread of the number of retransmission timeouts.
    pub timeouts: Spread,
    /// Harm during the flow, in shares of the bottleneck's rate.
    pub harm_during: Spread,
    /// Harm until it is over, for each byte that the flow carried.
    pub harm_per_byte: Spread,
    /// The weight of the rows with bulk TCP flows as other traffic.
    pub beside_tcp: f64,
    /// The weight of the rows next to bulk TCP flows in which harm during the flow exceeds a fair share.
    pub beyond_fair: f64,
    /// The cost over the minimum cost of the race, in races that at least one scheme finished.
    pub regret: Spread,
    /// The weight of the races in which only this scheme had the minimum cost.
    pub best_alone: f64,
    /// The weight of the races in which the scheme shared the minimum cost with others.
    pub best_tied: f64,
    /// The weight of the races in which the scheme's cost was within a hundredth of the minimum.
    pub near_best: f64,
    /// Comparison, race by race, with the first scheme: the one with the smallest median cost in the class. For the first scheme itself all
    /// races are ties.
    pub against_first: Pairing,
    /// Comparison with the first scheme, draw by draw: the costs of a draw's races are averaged first. The significance test uses this
    /// comparison.
    pub draws_against_first: Pairing,
    /// Comparison, draw by draw, with the scheme that has the smallest median cost among those that a sender's operator can deploy alone.
    /// It has no draws if there is no such scheme.
    pub draws_against_alone: Pairing,
}

/// Median, 90th and 99th percentile of a number.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// The number of values that the quantiles are of.
    pub of: usize,
    /// The weight of these values.
    pub weight: f64,
    /// The values of the quantiles in [`QUANTILES`].
    pub at: [Quantile; 3],
}

/// A class of paths.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The property by which paths are classed; `all` for the class of all paths.
    pub axis: &'static str,
    /// The class of the paths by that property.
    pub class: String,
    /// The number of paths.
    pub paths: usize,
    /// The number of races: paths times seeds.
    pub races: usize,
    /// The number of draws that made the paths.
    pub draws: usize,
    /// Whether the weights of the paths differ.
    pub is_weighted: bool,
    /// The total weight of the races; their number if all paths weigh 1.
    pub weight: f64,
    /// The weight of the races that no scheme finished, so that no scheme won.
    pub nobody: f64,
    /// The cost of the ideal sender that knows the path after one round trip, over the races that have this bound.
    pub bound: Spread,
    /// The standing of each scheme, in the order of the rows.
    pub standings: Vec<Standing>,
}

impl Group {
    /// Returns the standings that have rows, smallest median cost first. Ties, which include infinite medians, are ordered by the 90th and
    /// then the 99th percentile, then by the number of runs given up, then by the median cost of the finished runs. Remaining ties keep the
    /// order of the rows.
    pub fn by_cost(&self) -> Vec<&Standing> {
        let mut order: Vec<&Standing> = self.standings.iter().filter(|one| one.rows > 0).collect();
        order.sort_by(|a, b| {
            let pairs = a.cost.values().into_iter().zip(b.cost.values());
            let percentiles = pairs.map(|(a, b)| a.total_cmp(&b)).find(|order| order.is_ne());
            let given_up = || a.unfinished.total_cmp(&b.unfinished);
            let ended = || a.cost_of_ended.total_cmp(&b.cost_of_ended);
            percentiles.unwrap_or(Ordering::Equal).then_with(given_up).then_with(ended)
        });
        order
    }

    /// Checks whether the races are independent, that is, whether each race has its own draw. Runs of one path share the path. Paths of one
    /// draw share all options except the listed ones.
    pub fn is_independent(&self) -> bool {
        self.draws == self.races
    }

    /// Returns the weight of the races that at least one scheme finished.
    pub fn decided(&self) -> f64 {
        self.weight - self.nobody
    }

    /// Checks whether a scheme differs significantly from the first: the one with the smallest median cost. The sample is of draws, each
    /// with the mean cost of its races, because runs of one path share the path.
    ///
    /// The first scheme is chosen from these rows, so any pair of schemes may be the one compared. The test is therefore corrected for all
    /// pairs.
    pub fn differs_from_first(&self, one: &Standing) -> bool {
        self.differs(&one.draws_against_first)
    }

    /// Checks whether a draw-by-draw comparison is significant, corrected for all pairs of schemes.
    pub fn differs(&self, draws: &Pairing) -> bool {
        let schemes = self.standings.iter().filter(|one| one.rows > 0).count();
        draws.is_significant(schemes * schemes.saturating_sub(1) / 2)
    }

    /// Checks whether a scheme is faster than the first in significantly more draws. The first scheme has the smallest median cost, but may
    /// be the slower one in most races.
    pub fn beats_first(&self, one: &Standing) -> bool {
        let Pairing { faster, slower, .. } = one.draws_against_first;
        faster > slower && self.differs_from_first(one)
    }
}

/// Scales the weights of the rows so that their mean over the paths is 1. Equal weights become exactly 1.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub fn weigh(rows: &mut [Judged]) {
    let weights: BTreeMap<u64, f64> = rows.iter().map(|row| (row.path.path, row.weight)).collect();
    let first = weights.values().next().copied().unwrap_or(1.0);
    let mean = weights.values().sum::<f64>() / weights.len().max(1) as f64;
    let are_equal = weights.values().all(|weight| weight.total_cmp(&first).is_eq());
    for row in rows {
        row.weight = if are_equal { 1.0 } else { row.weight / mean };
    }
}

/// Scores the rows: first all rows, then the classes of each axis in order.
///
/// Confidence intervals are given if the races of a class [are independent](Group::is_independent). If weights differ, the intervals come
/// from resampled draws.
pub fn score(rows: &[Judged]) -> Vec<Group> {
    let mut schemes: Vec<&str> = Vec::new();
    for row in rows {
        if !schemes.contains(&row.scheme.as_str()) {
            schemes.push(&row.scheme);
        }
    }
    let mut groups: BTreeMap<(usize, usize), (&'static str, String, Vec<&Judged>)> = BTreeMap::new();
    for row in rows {
        for (axis, (name, rank, class)) in classes(&row.path).into_iter().enumerate() {
            let group = groups.entry((axis, rank)).or_insert_with(|| (name, class, Vec::new()));
            group.2.push(row);
        }
    }
    // If no path of the sweep uses an axis, its only class has all paths, so it is left out.
    groups.retain(|_, (axis, _, of)| !class::may_be_unused(axis) || of.len() < rows.len());
    groups.into_values().map(|(axis, class, rows)| group(axis, class, &rows, &schemes)).collect()
}

/// A value, and the weight of its row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weighted {
    /// The value.
    pub value: f64,
    /// The weight.
    pub weight: f64,
}

/// The full distributions that [`Standing`] summarises, for one scheme over all paths.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// The scheme's name in rows.
    pub scheme: String,
    /// The scheme's costs, ascending, without runs that were given up.
    pub cost: Vec<Weighted>,
    /// The weight of the scheme's rows, including runs that were given up.
    pub rows: f64,
    /// The scheme's cost over the minimum cost of the race, ascending, without runs that were given up.
    pub over_best: Vec<Weighted>,
    /// The weight of the scheme's races that at least one scheme finished.
    pub races: f64,
}

/// Returns the distributions of each scheme's rows, in the order of the rows.
pub fn distributions(rows: &[Judged]) -> Vec<Distribution> {
    let rows: Vec<&Judged> = rows.iter().collect();
    let bests = bests(&races(&rows));
    let mut found: Vec<Distribution> = Vec::new();
    for row in rows {
        let at = found.iter().position(|one| one.scheme == row.scheme).unwrap_or_else(|| {
            let scheme = row.scheme.clone();
            found.push(Distribution {
                scheme,
                cost: Vec::new(),
                rows: 0.0,
                over_best: Vec::new(),
                races: 0.0,
            });
            found.len() - 1
        });
        let one = &mut found[at];
        let weight = row.weight;
        one.rows += weight;
        one.cost.extend(row.cost.map(|value| Weighted { value, weight }));
        if let Some(best) = bests.get(&(row.path.path, row.seed)) {
            one.races += weight;
            one.over_best.extend(row.cost.map(|cost| Weighted { value: cost / best, weight }));
        }
    }
    for one in &mut found {
        one.cost.sort_by(|a, b| a.value.total_cmp(&b.value));
        one.over_best.sort_by(|a, b| a.value.total_cmp(&b.value));
    }
    found
}

/// The races by path and seed: the rows of all schemes over that path with that seed.
type Races<'a> = BTreeMap<(u64, u64), Vec<&'a Judged>>;

fn races<'a>(rows: &[&'a Judged]) -> Races<'a> {
    let mut races: Races<'_> = BTreeMap::new();
    for row in rows {
        races.entry((row.path.path, row.seed)).or_default().push(row);
    }
    races
}

/// Returns the minimum cost of each race that at least one scheme finished.
fn bests(races: &Races<'_>) -> BTreeMap<(u64, u64), f64> {
    let best = |rows: &[&Judged]| rows.iter().filter_map(|row| row.cost).min_by(f64::total_cmp);
    races.iter().filter_map(|(race, rows)| Some((*race, best(rows)?))).collect()
}

/// How the confidence intervals of a class are found.
enum Intervals {
    /// The values depend on each other, so there are none.
    None,
    /// From order statistics, of values with equal weights.
    Order,
    /// From resampled draws, of values with weights.
    Resampled(Resamples),
}

fn group(axis: &'static str, class: String, rows: &[&Judged], schemes: &[&str]) -> Group {
    let races = races(rows);
    let mut paths: Vec<u64> = races.keys().map(|(path, _)| *path).collect();
    paths.dedup();
    let bests = bests(&races);
    let draws: BTreeSet<u64> = rows.iter().map(|row| row.draw).collect();
    let is_weighted = rows.iter().any(|row| row.weight.total_cmp(&1.0).is_ne());
    let intervals = if is_weighted {
        Intervals::Resampled(Resamples::new(&draws))
    } else if draws.len() == races.len() {
        Intervals::Order
    } else {
        Intervals::None
    };
    let firsts = || races.values().filter_map(|rows| rows.first().copied());
    let standings = schemes.iter().map(|scheme| standing(scheme, rows, &races, &bests, &intervals));
    let mut group = Group {
        axis,
        class,
        paths: paths.len(),
        races: races.len(),
        draws: draws.len(),
        is_weighted,
        weight: firsts().map(|row| row.weight).sum(),
        nobody: firsts()
            .filter(|row| !bests.contains_key(&(row.path.path, row.seed)))
            .map(|row| row.weight)
            .sum(),
        bound: Spread::of(firsts().filter_map(|row| Some((Some(row.bound?), row))).collect(), &intervals),
        standings: standings.collect(),
    };
    let alone = group.by_cost().into_iter().find(|one| one.deploy == ALONE).map(|one| one.scheme.clone());
    if let Some(alone) = alone {
        for one in &mut group.standings {
            let pairs = pairs(&one.scheme, &alone, &races);
            one.draws_against_alone = compared(pairs.values().map(|pairs| mean(pairs)));
        }
    }
    if let Some(first) = group.by_cost().first().map(|first| first.scheme.clone()) {
        for one in &mut group.standings {
            let pairs = pairs(&one.scheme, &first, &races);
            one.against_first = compared(pairs.values().flatten().copied());
            one.draws_against_first = compared(pairs.values().map(|pairs| mean(pairs)));
        }
    }
    group
}

/// The costs of one scheme and of another in a race, `None` for a run that was given up, and the weight of the race.
type Costs = (Option<f64>, Option<f64>, f64);

/// Returns, for each draw, the costs of `scheme` and of `other` in each race that both were in.
fn pairs(scheme: &str, other: &str, races: &Races<'_>) -> BTreeMap<u64, Vec<Costs>> {
    let mut pairs: BTreeMap<u64, Vec<Costs>> = BTreeMap::new();
    for rows in races.values() {
        let of = |name: &str| rows.iter().find(|row| row.scheme == name);
        if let (Some(own), Some(other)) = (of(scheme), of(other)) {
            pairs.entry(own.draw).or_default().push((own.cost, other.cost, own.weight));
        }
    }
    pairs
}

/// Returns the mean cost of each side, and the weight of the draw, which is the mean of its paths' weights. A side with a run that was given
/// up has `None`, which is worse than any finished run.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn mean(pairs: &[Costs]) -> Costs {
    let mean = |side: fn(&Costs) -> Option<f64>| {
        pairs.iter().map(side).sum::<Option<f64>>().map(|sum| sum / pairs.len() as f64)
    };
    let weight = pairs.iter().map(|pair| pair.2).sum::<f64>() / pairs.len() as f64;
    (mean(|pair| pair.0), mean(|pair| pair.1), weight)
}

fn compared(pairs: impl Iterator<Item = Costs>) -> Pairing {
    let mut pairing = Pairing::default();
    pairs.for_each(|(own, other, weight)| pairing.add(own, other, weight));
    pairing
}

fn standing(
    scheme: &str,
    rows: &[&Judged],
    races: &Races<'_>,
    bests: &BTreeMap<(u64, u64), f64>,
    intervals: &Intervals,
) -> Standing {
    let own: Vec<&Judged> = rows.iter().copied().filter(|row| row.scheme == scheme).collect();
    let every = |value: &dyn Fn(&Judged) -> Option<Option<f64>>| {
        Spread::of(own.iter().filter_map(|row| Some((value(row)?, *row))).collect(), intervals)
    };
    let some = |value: fn(&Judged) -> Option<f64>| every(&|row| value(row).map(Some));
    let mut regrets = Vec::new();
    let (mut best_alone, mut best_tied, mut near_best) = (0.0, 0.0, 0.0);
    for row in &own {
        let race = (row.path.path, row.seed);
        let Some(best) = bests.get(&race) else { continue };
        let regret = row.cost.map(|cost| cost / best);
        regrets.push((regret, *row));
        near_best += if regret.is_some_and(|regret| regret <= NEAR) { row.weight } else { 0.0 };
        let is_best = |row: &Judged| row.cost.is_some_and(|cost| cost.total_cmp(best).is_eq());
        if is_best(row) {
            let winners = races.get(&race).map_or(0, |rows| rows.iter().filter(|row| is_best(row)).count());
            *(if winners == 1 { &mut best_alone } else { &mut best_tied }) += row.weight;
        }
    }
    let ended = some(|row| row.cost);
    // An empty sum of floats is -0.
    let weight = |is: fn(&Judged) -> bool| {
        own.iter().filter(|row| is(row)).map(|row| row.weight).fold(0.0, |sum, weight| sum + weight)
    };
    Standing {
        scheme: scheme.to_owned(),
        law: own.first().map(|row| &row.law).filter(|law| own.iter().all(|row| row.law == **law)).cloned(),
        deploy: own.first().map_or_else(String::new, |row| row.deploy.clone()),
        rows: own.len(),
        weight: weight(|_| true),
        unfinished: weight(|row| row.cost.is_none()),
        counts: own.iter().map(|row| row.counts).max().unwrap_or_default(),
        never_left: own.iter().all(|row| row.never_left),
        cost_beside_bytes: every(&|row| row.beside.map(|_| row.cost)),
        bytes_cost: every(&|row| row.beside),
        under_ideal: weight(|row| row.cost.is_some_and(|cost| cost < 1.0)),
        cost: every(&|row| Some(row.cost)),
        fct_s: every(&|row| Some(row.fct_s)),
        cost_of_ended: ended.values()[0],
        loss: some(|row| row.loss),
        queue_loss: some(|row| row.queue_loss),
        queue_loss_mean: average(own.iter().filter_map(|row| Some((row.queue_loss?, row.weight)))),
        over_bound: every(&Judged::over_bound),
        near_bound: weight(|row| row.over_bound().flatten().is_some_and(|over| over <= NEAR_BOUND)),
        early: std::array::from_fn(|place| {
            every(&|row| Some(Some(row.early?[place]).filter(|ratio| ratio.is_finite())))
        }),
        rate_over: some(|row| row.rate_found),
        rate_under: some(|row| row.rate_found.map(|found| 1.0 / found)),
        queue: some(|row| row.queue),
        timeouts: every(&|row| Some(Some(row.timeouts))),
        harm_during: some(|row| row.harm_during),
        harm_per_byte: some(|row| row.harm_per_byte),
        beside_tcp: weight(|row| row.fair.is_some()),
        beyond_fair: weight(|row| row.harm_during.zip(row.fair).is_some_and(|(harm, fair)| harm > fair)),
        regret: Spread::of(regrets, intervals),
        best_alone,
        best_tied,
        near_best,
        against_first: Pairing::default(),
        draws_against_first: Pairing::default(),
        draws_against_alone: Pairing::default(),
    }
}

/// The factor within which a cost counts as near the minimum of its race.
const NEAR: f64 = 1.01;

/// The factor within which a cost counts as near the bound.
const NEAR_BOUND: f64 = 1.05;

/// Returns the mean of values with weights; `None` without values.
fn average(values: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (sum, weight) =
        values.fold((0.0, 0.0), |(sum, all), (value, weight)| (sum + value * weight, all + weight));
    (weight > 0.0).then(|| sum / weight)
}

impl Judged {
    /// Returns the cost over the bound's cost; `None` without a bound, `Some(None)` if the run was given up.
    pub fn over_bound(&self) -> Option<Option<f64>> {
        self.bound.map(|bound| self.cost.map(|cost| cost / bound))
    }
}

impl Spread {
    /// Returns the median; `None` if there are no values or if the median row was given up.
    pub fn median(&self) -> Option<f64> {
        match self.at[0] {
            Quantile::Value { value, .. } => Some(value),
            Quantile::Undefined | Quantile::Beyond { .. } => None,
        }
    }

    /// Returns the quantiles as numbers. A quantile that is infinite or undefined is infinite.
    fn values(&self) -> [f64; 3] {
        self.at.map(|at| if let Quantile::Value { value, .. } = at { value } else { f64::INFINITY })
    }

    /// Returns the spread of values, each with its row. `None` counts as infinite.
    fn of(mut values: Vec<(Option<f64>, &Judged)>, intervals: &Intervals) -> Self {
        values.sort_by(|(a, _), (b, _)| match (a, b) {
            (Some(a), Some(b)) => a.total_cmp(b),
            // `None` sorts after all numbers.
            (a, b) => b.is_some().cmp(&a.is_some()),
        });
        let weight = values.iter().map(|(_, row)| row.weight).fold(0.0, |sum, weight| sum + weight);
        let at = match intervals {
            Intervals::Resampled(resamples) => {
                let sampled = |(value, row): &(Option<f64>, &Judged)| Sampled {
                    value: *value,
                    weight: row.weight,
                    draw: row.draw,
                };
                let sampled: Vec<Sampled> = values.iter().map(sampled).collect();
                QUANTILES.map(|q| resamples.quantile(&sampled, q))
            }
            Intervals::None | Intervals::Order => {
                let numbers: Vec<Option<f64>> = values.iter().map(|(value, _)| *value).collect();
                QUANTILES.map(|q| quantile(&numbers, q, matches!(intervals, Intervals::Order)))
            }
        };
        Self { of: values.len(), weight, at }
    }
}

#[cfg(test)]
mod tests;
