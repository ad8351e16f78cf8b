//! The score of a sweep: quantiles of each scheme's cost, and the paths on which it was the best. docs/guide/score.md has the
//! definitions in words.

mod class;
mod filter;

pub use filter::{Filter, FilterError};

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use firstflight_measure::{ALONE, EARLY_ROUND_TRIPS, Pairing, Quantile, SuCounts, quantile};

use self::class::classes;
use crate::sweep::PathFacts;

/// One run of a sweep, with the numbers that the score uses.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The path of the run.
    pub path: PathFacts,
    /// The number of the sweep's draw that made the path. In a sweep with lists, one draw makes several paths.
    pub draw: u64,
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
    /// The number of rows whose run was given up.
    pub unfinished: usize,
    /// The spread of the cost.
    pub cost: Spread,
    /// The highest growth class of any row's start-up.
    pub counts: SuCounts,
    /// Whether no row left start-up.
    pub never_left: bool,
    /// The cost of the scheme in the rows for which byte-counting slow start was raced.
    pub cost_beside_bytes: Spread,
    /// The cost of byte-counting slow start in the same races.
    pub bytes_cost: Spread,
    /// The number of rows that cost less than the ideal.
    pub under_ideal: usize,
    /// The median cost of the rows that were not given up; infinite if all were.
    pub cost_of_ended: f64,
    /// The spread of the loss.
    pub loss: Spread,
    /// The spread of the queue that the flow added, in base RTTs.
    pub queue: Spread,
    /// Loss without random loss: packets dropped by queues and policers.
    pub queue_loss: Spread,
    /// The mean of `queue_loss`'s values.
    pub queue_loss_mean: Option<f64>,
    /// The cost over the cost of the ideal sender that knows the path after one round trip, in rows that have this bound.
    pub over_bound: Spread,
    /// The number of rows that cost at most a twentieth more than the bound.
    pub near_bound: usize,
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
    /// The number of rows with bulk TCP flows as other traffic.
    pub beside_tcp: usize,
    /// The number of rows next to bulk TCP flows in which harm during the flow exceeds a fair share.
    pub beyond_fair: usize,
    /// The cost over the minimum cost of the race, in races that at least one scheme finished.
    pub regret: Spread,
    /// The number of races in which only this scheme had the minimum cost.
    pub best_alone: usize,
    /// The number of races in which the scheme shared the minimum cost with others.
    pub best_tied: usize,
    /// The number of races in which the scheme's cost was within a hundredth of the minimum.
    pub near_best: usize,
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
    /// The number of races that no scheme finished, so that no scheme won.
    pub nobody: usize,
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
            let given_up = || a.unfinished.cmp(&b.unfinished);
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

/// Scores the rows: first all rows, then the classes of each axis in order.
///
/// Confidence intervals are given if the races of a class [are independent](Group::is_independent).
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

/// The full distributions that [`Standing`] summarises, for one scheme over all paths.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// The scheme's name in rows.
    pub scheme: String,
    /// The scheme's costs, ascending, without runs that were given up.
    pub cost: Vec<f64>,
    /// The number of the scheme's rows, including runs that were given up.
    pub rows: usize,
    /// The scheme's cost over the minimum cost of the race, ascending, without runs that were given up.
    pub over_best: Vec<f64>,
    /// The number of the scheme's races that at least one scheme finished.
    pub races: usize,
}

/// Returns the distributions of each scheme's rows, in the order of the rows.
pub fn distributions(rows: &[Judged]) -> Vec<Distribution> {
    let rows: Vec<&Judged> = rows.iter().collect();
    let bests = bests(&races(&rows));
    let mut found: Vec<Distribution> = Vec::new();
    for row in rows {
        let at = found.iter().position(|one| one.scheme == row.scheme).unwrap_or_else(|| {
            let scheme = row.scheme.clone();
            found.push(Distribution { scheme, cost: Vec::new(), rows: 0, over_best: Vec::new(), races: 0 });
            found.len() - 1
        });
        let one = &mut found[at];
        one.rows += 1;
        one.cost.extend(row.cost);
        if let Some(best) = bests.get(&(row.path.path, row.seed)) {
            one.races += 1;
            one.over_best.extend(row.cost.map(|cost| cost / best));
        }
    }
    for one in &mut found {
        one.cost.sort_by(f64::total_cmp);
        one.over_best.sort_by(f64::total_cmp);
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

fn group(axis: &'static str, class: String, rows: &[&Judged], schemes: &[&str]) -> Group {
    let races = races(rows);
    let mut paths: Vec<u64> = races.keys().map(|(path, _)| *path).collect();
    paths.dedup();
    let bests = bests(&races);
    let draws = rows.iter().map(|row| row.draw).collect::<BTreeSet<_>>().len();
    let independent = draws == races.len();
    let standings = schemes.iter().map(|scheme| standing(scheme, rows, &races, &bests, independent));
    let mut group = Group {
        axis,
        class,
        paths: paths.len(),
        races: races.len(),
        draws,
        nobody: races.len() - bests.len(),
        bound: Spread::of(
            races.values().filter_map(|rows| rows.first()?.bound).map(Some).collect(),
            independent,
        ),
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

/// The costs of one scheme and of another in a race; `None` for a run that was given up.
type Costs = (Option<f64>, Option<f64>);

/// Returns, for each draw, the costs of `scheme` and of `other` in each race that both were in.
fn pairs(scheme: &str, other: &str, races: &Races<'_>) -> BTreeMap<u64, Vec<Costs>> {
    let mut pairs: BTreeMap<u64, Vec<Costs>> = BTreeMap::new();
    for rows in races.values() {
        let of = |name: &str| rows.iter().find(|row| row.scheme == name);
        if let (Some(own), Some(other)) = (of(scheme), of(other)) {
            pairs.entry(own.draw).or_default().push((own.cost, other.cost));
        }
    }
    pairs
}

/// Returns the mean cost of each side. A side with a run that was given up has `None`, which is worse than any finished run.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn mean(pairs: &[Costs]) -> Costs {
    let mean = |side: fn(&Costs) -> Option<f64>| {
        pairs.iter().map(side).sum::<Option<f64>>().map(|sum| sum / pairs.len() as f64)
    };
    (mean(|pair| pair.0), mean(|pair| pair.1))
}

fn compared(pairs: impl Iterator<Item = Costs>) -> Pairing {
    let mut pairing = Pairing::default();
    pairs.for_each(|(own, other)| pairing.add(own, other));
    pairing
}

fn standing(
    scheme: &str,
    rows: &[&Judged],
    races: &Races<'_>,
    bests: &BTreeMap<(u64, u64), f64>,
    independent: bool,
) -> Standing {
    let own: Vec<&Judged> = rows.iter().copied().filter(|row| row.scheme == scheme).collect();
    let spread = |values: Vec<Option<f64>>| Spread::of(values, independent);
    let every = |value: fn(&Judged) -> f64| spread(own.iter().map(|row| Some(value(row))).collect());
    let some = |value: fn(&Judged) -> Option<f64>| {
        spread(own.iter().filter_map(|row| value(row)).map(Some).collect())
    };
    let mut regrets = Vec::new();
    let (mut best_alone, mut best_tied, mut near_best) = (0, 0, 0);
    for row in &own {
        let race = (row.path.path, row.seed);
        let Some(best) = bests.get(&race) else { continue };
        let regret = row.cost.map(|cost| cost / best);
        regrets.push(regret);
        near_best += usize::from(regret.is_some_and(|regret| regret <= NEAR));
        let is_best = |row: &Judged| row.cost.is_some_and(|cost| cost.total_cmp(best).is_eq());
        if is_best(row) {
            let winners = races.get(&race).map_or(0, |rows| rows.iter().filter(|row| is_best(row)).count());
            *(if winners == 1 { &mut best_alone } else { &mut best_tied }) += 1;
        }
    }
    let ended = spread(own.iter().filter_map(|row| row.cost).map(Some).collect());
    let count = |is: fn(&Judged) -> bool| own.iter().filter(|row| is(row)).count();
    Standing {
        scheme: scheme.to_owned(),
        law: own.first().map(|row| &row.law).filter(|law| own.iter().all(|row| row.law == **law)).cloned(),
        deploy: own.first().map_or_else(String::new, |row| row.deploy.clone()),
        rows: own.len(),
        unfinished: count(|row| row.cost.is_none()),
        counts: own.iter().map(|row| row.counts).max().unwrap_or_default(),
        never_left: own.iter().all(|row| row.never_left),
        cost_beside_bytes: spread(
            own.iter().filter(|row| row.beside.is_some()).map(|row| row.cost).collect(),
        ),
        bytes_cost: spread(own.iter().filter_map(|row| row.beside).collect()),
        under_ideal: count(|row| row.cost.is_some_and(|cost| cost < 1.0)),
        cost: spread(own.iter().map(|row| row.cost).collect()),
        cost_of_ended: ended.values()[0],
        loss: some(|row| row.loss),
        queue_loss: some(|row| row.queue_loss),
        queue_loss_mean: average(own.iter().filter_map(|row| row.queue_loss)),
        over_bound: spread(own.iter().filter_map(|row| row.over_bound()).collect()),
        near_bound: count(|row| row.over_bound().flatten().is_some_and(|over| over <= NEAR_BOUND)),
        early: std::array::from_fn(|place| {
            spread(
                own.iter()
                    .filter_map(|row| Some(row.early?[place]))
                    .map(|ratio| Some(ratio).filter(|ratio| ratio.is_finite()))
                    .collect(),
            )
        }),
        rate_over: some(|row| row.rate_found),
        rate_under: some(|row| row.rate_found.map(|found| 1.0 / found)),
        queue: some(|row| row.queue),
        timeouts: every(|row| row.timeouts),
        harm_during: some(|row| row.harm_during),
        harm_per_byte: some(|row| row.harm_per_byte),
        beside_tcp: count(|row| row.fair.is_some()),
        beyond_fair: count(|row| row.harm_during.zip(row.fair).is_some_and(|(harm, fair)| harm > fair)),
        regret: spread(regrets),
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

/// Returns the mean; `None` without values.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn average(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
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

    /// Returns the spread of values. `None` counts as infinite. Confidence intervals need `independent` values.
    fn of(mut values: Vec<Option<f64>>, independent: bool) -> Self {
        values.sort_by(|a, b| match (a, b) {
            (Some(a), Some(b)) => a.total_cmp(b),
            // `None` sorts after all numbers.
            (a, b) => b.is_some().cmp(&a.is_some()),
        });
        Self { of: values.len(), at: QUANTILES.map(|q| quantile(&values, q, independent)) }
    }
}

#[cfg(test)]
mod tests;
