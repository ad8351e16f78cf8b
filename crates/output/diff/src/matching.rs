//! Matches the rows of two results: by path and seed, or by path, or not at all.

use std::collections::BTreeSet;

use firstflight_export::record::number;
use firstflight_measure::{Change, Scale};

use crate::side::{Side, SideRow, by_key, is_score, mean_of};

/// How the rows of two results are matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Each run with the run of the same path and seed.
    Seeds,
    /// The mean of a path's runs with the mean of the same path's runs, which have other seeds.
    Paths,
    /// The runs of one path with runs of other seeds, or connections with connections; none has a partner.
    Unpaired,
    /// Means over runs, whose single runs are not known.
    Means,
    /// Numbers of a score, whose paths are not known.
    Scores,
}

/// Two results that cannot be matched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MatchError {
    /// No scheme is in both results.
    #[error("no scheme is in both: {before} before, {after} after")]
    Schemes {
        /// The schemes before.
        before: String,
        /// The schemes after.
        after: String,
    },
    /// No path is in both results.
    #[error(
        "no path is in both, by the hash of its scenario ({before} before, {after} after): another path, size, law or stack was \
         raced; --by-name matches by scheme and path number all the same"
    )]
    Scenario {
        /// A hash before.
        before: String,
        /// A hash after.
        after: String,
    },
    /// Two rows of one scheme would match the same row.
    #[error(
        "`{name}` has two rows with the seed {seed} on one path, of different scenarios; --by-name cannot match them"
    )]
    Twice {
        /// The scheme.
        name: String,
        /// The seed.
        seed: u64,
    },
}

/// The key of a path.
type PathKey = (u64, String);

/// The rows of one scheme in two results, matched.
pub(crate) struct Matched<'a> {
    pub(crate) basis: Basis,
    /// The rows of each path that is in both results.
    paths: Vec<[Vec<&'a SideRow>; 2]>,
    /// The number of rows on each side that have no partner.
    pub(crate) left_out: [usize; 2],
}

impl<'a> Matched<'a> {
    /// Matches the rows of a scheme, which has a name in each result. With `by_name`, paths match by their numbers, whatever their scenarios are.
    pub(crate) fn new(sides: [(&'a Side, &'a str); 2], by_name: bool) -> Result<Self, MatchError> {
        let key = |row: &SideRow| -> PathKey {
            (row.path, if by_name { String::new() } else { row.scenario.clone() })
        };
        let [mut before, mut after] = sides.map(|(side, name)| by_key(side.rows_of(name), key));
        let counts = [&before, &after].map(|rows| rows.values().map(Vec::len).sum::<usize>());
        let first = |rows: &std::collections::BTreeMap<PathKey, Vec<&SideRow>>| {
            rows.keys().next().map_or_else(String::new, |(_, scenario)| scenario.clone())
        };
        let firsts = [first(&before), first(&after)];
        for rows in before.values().chain(after.values()) {
            let mut seen = BTreeSet::new();
            if let Some(twin) = rows.iter().find(|row| !seen.insert(row.seed)) {
                return Err(MatchError::Twice { name: twin.name.clone(), seed: twin.seed });
            }
        }
        before.retain(|key, _| after.contains_key(key));
        after.retain(|key, _| before.contains_key(key));
        if before.is_empty() {
            let [before, after] = firsts;
            return Err(MatchError::Scenario { before, after });
        }
        let is_joined = |rows: &std::collections::BTreeMap<PathKey, Vec<&SideRow>>| {
            rows.values().flatten().any(|row| row.runs > 1)
        };
        let seeds = |rows: &[&SideRow]| rows.iter().map(|row| row.seed).collect::<BTreeSet<_>>();
        let has_common_seed = |key: &PathKey| !seeds(&before[key]).is_disjoint(&seeds(&after[key]));
        let is_connections = before.values().flatten().any(|row| row.record.contains_key("connection"));
        let basis = if before.values().flatten().any(|row| is_score(&row.record)) {
            Basis::Scores
        } else if is_connections {
            Basis::Unpaired
        } else if is_joined(&before) || is_joined(&after) {
            Basis::Means
        } else if before.keys().any(has_common_seed) {
            Basis::Seeds
        } else if before.len() > 1 {
            Basis::Paths
        } else {
            Basis::Unpaired
        };
        let mut paths: Vec<[Vec<&SideRow>; 2]> =
            before.into_iter().map(|(key, rows)| [rows, after.remove(&key).unwrap_or_default()]).collect();
        if basis == Basis::Seeds {
            for [before, after] in &mut paths {
                let [of_before, of_after] = [seeds(before), seeds(after)];
                before.retain(|row| of_after.contains(&row.seed));
                after.retain(|row| of_before.contains(&row.seed));
                before.sort_by_key(|row| row.seed);
                after.sort_by_key(|row| row.seed);
            }
            paths.retain(|[before, _]| !before.is_empty());
        }
        let used = [0, 1].map(|side: usize| paths.iter().map(|rows| rows[side].len()).sum::<usize>());
        Ok(Self { basis, paths, left_out: [counts[0] - used[0], counts[1] - used[1]] })
    }

    /// Measures the change of a number. Also returns how many matched rows had the number only before, and only after. `None` if there is
    /// nothing to compare.
    pub(crate) fn change(&self, field: &str, scale: Scale, comparisons: u64) -> (Option<Change>, [usize; 2]) {
        match self.basis {
            Basis::Seeds | Basis::Scores => {
                let (pairs, only) = self.pairs(field);
                (Change::paired(&pairs, scale, comparisons), only)
            }
            Basis::Paths => {
                let pairs: Vec<(f64, f64)> = self.of_draws(|[before, after]| {
                    Some((mean(&numbers(before, field))?, mean(&numbers(after, field))?))
                });
                (Change::paired(&pairs, scale, comparisons), [0, 0])
            }
            Basis::Unpaired => {
                let all = |side: usize| -> Vec<f64> {
                    self.paths.iter().flat_map(|rows| numbers(&rows[side], field)).collect()
                };
                (Change::unpaired(&all(0), &all(1), scale, comparisons), [0, 0])
            }
            Basis::Means => {
                let rows = |side: usize| -> Vec<&SideRow> {
                    self.paths.iter().flat_map(|rows| rows[side].iter().copied()).collect()
                };
                let of = |side: usize| mean_of(&rows(side), field);
                (of(0).zip(of(1)).map(|(before, after)| Change::of_means(before, after, comparisons)), [0, 0])
            }
        }
    }

    /// Returns the pairs of a number, by run; over several paths by draw, because the runs of a draw are not independent.
    fn pairs(&self, field: &str) -> (Vec<(f64, f64)>, [usize; 2]) {
        let mut only = [0, 0];
        let mut of_rows = |[before, after]: [&Vec<&SideRow>; 2]| -> Vec<(f64, f64)> {
            let both = before.iter().zip(after).filter_map(|(before, after)| {
                match (number(&before.record, field), number(&after.record, field)) {
                    (Some(before), Some(after)) => return Some((before, after)),
                    (Some(_), None) => only[0] += 1,
                    (None, Some(_)) => only[1] += 1,
                    (None, None) => {}
                }
                None
            });
            both.collect()
        };
        if let [[before, after]] = self.paths.as_slice() {
            return (of_rows([before, after]), only);
        }
        let mut pairs = Vec::new();
        for draw in self.paths.chunk_by(|one, other| is_same_draw(one, other)) {
            let of_draw: Vec<(f64, f64)> =
                draw.iter().flat_map(|[before, after]| of_rows([before, after])).collect();
            let befores = mean(&of_draw.iter().map(|(before, _)| *before).collect::<Vec<_>>());
            let afters = mean(&of_draw.iter().map(|(_, after)| *after).collect::<Vec<_>>());
            pairs.extend(befores.zip(afters));
        }
        (pairs, only)
    }

    /// Returns a value of each draw.
    fn of_draws<T>(&self, of: impl Fn([&[&SideRow]; 2]) -> Option<T>) -> Vec<T> {
        let draws = self.paths.chunk_by(|one, other| is_same_draw(one, other));
        let rows = |draw: &[[Vec<&'a SideRow>; 2]], side: usize| -> Vec<&'a SideRow> {
            draw.iter().flat_map(|rows| rows[side].iter().copied()).collect()
        };
        draws.filter_map(|draw| of([&rows(draw, 0), &rows(draw, 1)])).collect()
    }

    /// Returns the number of matched paths, and of independent units: draws, or the runs of one path.
    pub(crate) fn size(&self) -> (usize, usize) {
        let units = if let [[before, _]] = self.paths.as_slice() {
            before.len()
        } else {
            self.paths.chunk_by(|one, other| is_same_draw(one, other)).count()
        };
        (self.paths.len(), units)
    }

    /// Returns the numbers of matched rows before and after.
    pub(crate) fn samples(&self) -> [usize; 2] {
        [0, 1].map(|side: usize| self.paths.iter().map(|rows| rows[side].len()).sum())
    }

    /// Returns the number of matched rows after.
    pub(crate) fn rows(&self) -> usize {
        self.paths.iter().map(|[_, after]| after.len()).sum()
    }
}

/// Checks whether two paths are of one draw.
fn is_same_draw(one: &[Vec<&SideRow>; 2], other: &[Vec<&SideRow>; 2]) -> bool {
    let draw = |rows: &[Vec<&SideRow>; 2]| rows[1].first().map(|row| row.draw);
    draw(one) == draw(other)
}

fn numbers(rows: &[&SideRow], field: &str) -> Vec<f64> {
    rows.iter().filter_map(|row| number(&row.record, field)).collect()
}

fn mean(values: &[f64]) -> Option<f64> {
    firstflight_measure::student::mean_and_ci95(values).map(|(mean, _)| mean)
}
