//! The score of a sweep: quantiles of each scheme's cost, and the paths on which it was the best. docs/score.md has the
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
    /// The path.
    pub path: PathFacts,
    /// The draw of the sweep that made the path. In a sweep with lists, one draw makes several paths.
    pub draw: u64,
    /// The scheme's name in rows.
    pub scheme: String,
    /// Its avoidance law.
    pub law: String,
    /// What it needs beyond the sender ([`firstflight_measure::Row::deploy`]).
    pub deploy: String,
    /// The seed.
    pub seed: u64,
    /// FCT over the ideal; `None` if the run was given up.
    pub cost: Option<f64>,
    /// What its start-up counted.
    pub counts: SuCounts,
    /// Whether it did not leave start-up.
    pub never_left: bool,
    /// The cost of slow start that counts bytes with the same seed, if that was raced beside the path.
    pub beside: Option<Option<f64>>,
    /// The flow's data packets dropped, over those sent, up to the end of the run.
    pub loss: Option<f64>,
    /// Retransmission timeouts.
    pub timeouts: f64,
    /// The time that the mean queue takes to drain, over the base RTT; `None` if other traffic keeps a queue without the
    /// flow.
    pub queue: Option<f64>,
    /// The delivery that the others lost because of the flow, over the bottleneck's rate; `None` without other traffic.
    pub harm: Option<f64>,
    /// The fair share of the rate beside bulk TCP flows; `None` without such flows.
    pub fair: Option<f64>,
    /// The cost of the ideal that knows the path after one round trip; `None` if it is undefined.
    pub bound: Option<f64>,
    /// The payload that this ideal has delivered by each of [`firstflight_measure::EARLY_ROUND_TRIPS`] over the run's: infinite if
    /// the run has delivered none. `None` if the ideal is undefined.
    pub early: Option<[f64; EARLY_ROUND_TRIPS.len()]>,
    /// The rate that the exit found over the rate available to the flow; `None` if the exit found none, or if the rate available
    /// changes.
    pub rate_found: Option<f64>,
    /// The flow's data packets that queues and policers dropped, over those sent; `None` if none was sent.
    pub queue_loss: Option<f64>,
}

/// The quantiles of a [`Spread`].
pub const QUANTILES: [f64; 3] = [0.5, 0.9, 0.99];

/// The results of one scheme in one class of paths.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// The scheme.
    pub scheme: String,
    /// Its avoidance law; `None` if rows differ in it.
    pub law: Option<String>,
    /// What it needs beyond the sender.
    pub deploy: String,
    /// The number of rows.
    pub rows: usize,
    /// The rows whose run was given up.
    pub unfinished: usize,
    /// Cost.
    pub cost: Spread,
    /// The most that a row's start-up counted.
    pub counts: SuCounts,
    /// Whether no row left start-up.
    pub never_left: bool,
    /// Cost of the rows beside which slow start that counts bytes was raced.
    pub cost_beside_bytes: Spread,
    /// The cost of that slow start, in the same races.
    pub bytes_cost: Spread,
    /// Rows that cost less than the ideal.
    pub under_ideal: usize,
    /// The median cost of the rows that ended; infinite if none did.
    pub cost_of_ended: f64,
    /// Loss.
    pub loss: Spread,
    /// The queue that the flow added, in base RTTs.
    pub queue: Spread,
    /// Loss without the random one: what queues and policers dropped.
    pub queue_loss: Spread,
    /// The mean of that.
    pub queue_loss_mean: Option<f64>,
    /// Cost over that of the ideal that knows the path after one round trip, in rows that have this bound.
    pub over_bound: Spread,
    /// Of those rows, how many cost at most a twentieth more than the bound.
    pub near_bound: usize,
    /// The payload of that ideal over the run's, by each of [`firstflight_measure::EARLY_ROUND_TRIPS`].
    pub early: [Spread; EARLY_ROUND_TRIPS.len()],
    /// The rate that exits found over the rate available: by what factor it was too high.
    pub rate_over: Spread,
    /// The rate available over the rate that exits found: by what factor it was too low.
    pub rate_under: Spread,
    /// Timeouts.
    pub timeouts: Spread,
    /// Harm, in shares of the bottleneck's rate.
    pub harm: Spread,
    /// The number of rows beside bulk TCP flows.
    pub beside_tcp: usize,
    /// The number of those rows whose harm exceeds a fair share.
    pub beyond_fair: usize,
    /// Cost over the least cost of the race, in races that a scheme finished.
    pub regret: Spread,
    /// Races in which the scheme alone had the least cost.
    pub best_alone: usize,
    /// Races in which the scheme shared the least cost with others.
    pub best_tied: usize,
    /// Races in which the scheme's cost was within a hundredth of the best, the best included.
    pub near_best: usize,
    /// The comparison with the scheme of the least median cost in the class, race by race. That scheme itself has only
    /// ties.
    pub against_first: Pairing,
    /// The same comparison draw by draw: costs of the races of a draw are averaged first. The test is of these.
    pub draws_against_first: Pairing,
    /// The comparison draw by draw with the scheme of the least median cost among those that a sender's operator can deploy
    /// alone; no races if there is none.
    pub draws_against_alone: Pairing,
}

/// Median, 90th and 99th percentile of a number.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// The number of values.
    pub of: usize,
    /// Each quantile of [`QUANTILES`].
    pub at: [Quantile; 3],
}

/// A class of paths.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The property by which paths are classed; `all` for the class of all paths.
    pub axis: &'static str,
    /// The class on that axis.
    pub class: String,
    /// The number of paths.
    pub paths: usize,
    /// Races: paths times seeds.
    pub races: usize,
    /// The number of draws that made the paths.
    pub draws: usize,
    /// Races that no scheme finished, and so none won.
    pub nobody: usize,
    /// The cost of the ideal that knows the path after one round trip, over the races that have this bound.
    pub bound: Spread,
    /// The standing of each scheme, in the order of the rows.
    pub standings: Vec<Standing>,
}

impl Group {
    /// The standings that have rows, the least median cost first. Ties, which include infinite medians, are ordered by the
    /// 90th and then the 99th percentile, then by the number of runs given up, then by the median cost of the finished
    /// runs. Remaining ties keep the order of the rows.
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

    /// Whether the races are independent: each has a draw of its own. Runs of one path share the path, and paths of one
    /// draw share all options except the listed ones.
    pub fn is_independent(&self) -> bool {
        self.draws == self.races
    }

    /// Whether a scheme differs significantly from the one with the least median cost. The sample is of draws, each with the
    /// mean cost of its races: runs of one path share the path.
    ///
    /// The first scheme is chosen from these rows, so any pair may be compared. The test is corrected for all pairs.
    pub fn tells_from_first(&self, one: &Standing) -> bool {
        self.tells(&one.draws_against_first)
    }

    /// Whether a comparison draw by draw is significant, corrected for all pairs of schemes.
    pub fn tells(&self, draws: &Pairing) -> bool {
        let schemes = self.standings.iter().filter(|one| one.rows > 0).count();
        draws.tells(schemes * schemes.saturating_sub(1) / 2)
    }

    /// Whether a scheme differs significantly from the one with the least median cost by being faster more often. The
    /// scheme with the least median may be the slower one in most races.
    pub fn beats_first(&self, one: &Standing) -> bool {
        let Pairing { faster, slower, .. } = one.draws_against_first;
        faster > slower && self.tells_from_first(one)
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
    // An axis that no path of the sweep uses has one class, which is that of all paths.
    groups.retain(|_, (axis, _, of)| !class::may_be_unused(axis) || of.len() < rows.len());
    groups.into_values().map(|(axis, class, rows)| group(axis, class, &rows, &schemes)).collect()
}

/// The full distributions behind [`Standing`], for one scheme over all paths.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// The scheme.
    pub scheme: String,
    /// The scheme's costs, ascending, without runs that were given up.
    pub cost: Vec<f64>,
    /// The scheme's rows, including runs that were given up.
    pub rows: usize,
    /// The scheme's cost over the least cost of the race, ascending, for its finished runs.
    pub over_best: Vec<f64>,
    /// The scheme's races that some scheme finished.
    pub races: usize,
}

/// The distributions of each scheme's rows, in the order of the rows.
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

/// The races: the rows of all schemes over one path with one seed.
type Races<'a> = BTreeMap<(u64, u64), Vec<&'a Judged>>;

fn races<'a>(rows: &[&'a Judged]) -> Races<'a> {
    let mut races: Races<'_> = BTreeMap::new();
    for row in rows {
        races.entry((row.path.path, row.seed)).or_default().push(row);
    }
    races
}

/// The least cost of each race that some scheme finished.
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

/// The costs of `scheme` and of `other` in each race that both were in, by draw.
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

/// The mean of each side's costs. A side with a run that was given up has none: it is worse than all that ended.
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
        harm: some(|row| row.harm),
        beside_tcp: count(|row| row.fair.is_some()),
        beyond_fair: count(|row| row.harm.zip(row.fair).is_some_and(|(harm, fair)| harm > fair)),
        regret: spread(regrets),
        best_alone,
        best_tied,
        near_best,
        against_first: Pairing::default(),
        draws_against_first: Pairing::default(),
        draws_against_alone: Pairing::default(),
    }
}

/// Within a hundredth of the best cost.
const NEAR: f64 = 1.01;

/// Within a twentieth of the bound.
const NEAR_BOUND: f64 = 1.05;

/// The mean; `None` without values.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn average(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

impl Judged {
    /// The cost over the bound's; `None` without a bound, `Some(None)` if the run was given up.
    pub fn over_bound(&self) -> Option<Option<f64>> {
        self.bound.map(|bound| self.cost.map(|cost| cost / bound))
    }
}

impl Spread {
    /// The median; `None` without values, and if it is that of a row that was given up.
    pub fn median(&self) -> Option<f64> {
        match self.at[0] {
            Quantile::Value { value, .. } => Some(value),
            Quantile::Undefined | Quantile::Beyond { .. } => None,
        }
    }

    /// The quantiles as numbers; infinite if the quantile is infinite or undefined.
    fn values(&self) -> [f64; 3] {
        self.at.map(|at| if let Quantile::Value { value, .. } = at { value } else { f64::INFINITY })
    }

    /// The spread of values, of which `None` is the highest.
    fn of(mut values: Vec<Option<f64>>, independent: bool) -> Self {
        values.sort_by(|a, b| match (a, b) {
            (Some(a), Some(b)) => a.total_cmp(b),
            // `None` is the greatest.
            (a, b) => b.is_some().cmp(&a.is_some()),
        });
        Self { of: values.len(), at: QUANTILES.map(|q| quantile(&values, q, independent)) }
    }
}

#[cfg(test)]
mod tests;
