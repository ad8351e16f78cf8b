//! The comparison of two results, number by number.

use firstflight_measure::Change;
use firstflight_scenario::suggest::closest;

use crate::matching::{Basis, MatchError, Matched};
use crate::numbers::{self, Better, HEADLINE};
use crate::side::Side;

/// How two results are compared.
#[derive(Clone, Debug, Default)]
pub struct How {
    /// Whether paths match by their numbers, whatever their scenarios are.
    pub by_name: bool,
    /// The numbers to compare; `None` compares those that decide a choice.
    pub fields: Option<Vec<String>>,
}

/// The comparison of two results.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The numbers that were compared, by scheme.
    pub numbers: Vec<Changed>,
    /// How the rows of the first scheme were matched.
    pub basis: Basis,
    /// Whether the rows of another scheme were matched in another way.
    pub is_mixed: bool,
    /// The numbers of matched rows of the first scheme, before and after.
    pub samples: [usize; 2],
    /// The number of matched paths of the first scheme.
    pub paths: usize,
    /// The number of independent units of the first scheme: draws of paths, or the runs of one path.
    pub units: usize,
    /// The number of comparisons for which all intervals hold together.
    pub comparisons: usize,
    /// Whether paths were matched by their numbers.
    pub by_name: bool,
    /// The number of rows before, and after, that have no partner.
    pub left_out: [usize; 2],
    /// The schemes that are only in the result before, and only in that after.
    pub only: [Vec<String>; 2],
    /// The programs of both results.
    pub programs: [Vec<String>; 2],
    /// The hashes of the sources of the user's schemes in both results.
    pub sources: [Vec<String>; 2],
}

/// A number of a scheme in two results.
#[derive(Clone, Debug)]
pub struct Changed {
    /// The scheme.
    pub scheme: String,
    /// The field.
    pub field: String,
    /// The direction in which the number is better; `None` if neither is.
    pub better: Option<Better>,
    /// The change; `None` if no matched rows have the number on both sides.
    pub change: Option<Change>,
    /// The number of matched rows that had the number only before, and only after.
    pub only: [usize; 2],
    /// The number of matched rows.
    pub rows: usize,
}

/// What a change says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The number is equal in all pairs.
    Equal,
    /// The number is better, and the change is significant.
    Better,
    /// The number is worse, and the change is significant.
    Worse,
    /// The number is equal in all pairs, but some matched rows have it on one side only.
    PartlyEqual,
    /// The number changed significantly, and neither direction is better.
    Moved,
    /// Pairs differ, but their mean change may be chance.
    Unclear,
    /// One pair differs, so that there is no interval.
    OnePair,
    /// Neither side has the number in matched rows, or only one side has.
    Undefined,
}

impl Changed {
    /// Returns what the change says.
    pub fn standing(&self) -> Standing {
        let Some(change) = self.change else { return Standing::Undefined };
        if change.is_equal {
            return if self.only == [0, 0] { Standing::Equal } else { Standing::PartlyEqual };
        }
        if change.interval.is_none() {
            return Standing::OnePair;
        }
        if !change.is_significant {
            return Standing::Unclear;
        }
        match self.better {
            None => Standing::Moved,
            Some(Better::Lower) if change.size < 0.0 => Standing::Better,
            Some(Better::Higher) if change.size > 0.0 => Standing::Better,
            Some(_) => Standing::Worse,
        }
    }
}

/// Compares the rows after with the rows before.
///
/// # Errors
/// Fails if the results have no scheme or no path in common.
pub fn compare(before: &Side, after: &Side, how: &How) -> Result<Comparison, MatchError> {
    let only_in = |one: &Side, other: &Side| -> Vec<String> {
        one.names().iter().filter(|name| !other.names().contains(name)).cloned().collect()
    };
    let is_common = |name: &&String| before.names().contains(name);
    let mut common: Vec<[&String; 2]> =
        after.names().iter().filter(is_common).map(|name| [name, name]).collect();
    // One scheme on each side is compared whatever its names are.
    if let ([one], [other], true) = (before.names(), after.names(), how.by_name) {
        common = vec![[one, other]];
    }
    let is_one_pair = common.iter().any(|[one, other]| one != other);
    if common.is_empty() {
        let [before, after] = [before, after].map(|side| side.names().join(", "));
        return Err(MatchError::Schemes { before, after });
    }
    let fields = fields(before, after, how);
    let comparisons = common.len() * fields.len();
    let mut all = Vec::new();
    let mut matched_first = None;
    let mut left_out = [0, 0];
    let mut is_mixed = false;
    for [name_before, name] in common {
        let matched = Matched::new([(before, name_before), (after, name)], how.by_name)?;
        for (sum, one) in left_out.iter_mut().zip(matched.left_out) {
            *sum += one;
        }
        for field in &fields {
            let (change, only) = matched.change(field, numbers::scale(field), comparisons as u64);
            if change.is_some() || only != [0, 0] {
                all.push(Changed {
                    scheme: name.clone(),
                    field: field.clone(),
                    better: numbers::better(field),
                    change,
                    only,
                    rows: matched.rows(),
                });
            }
        }
        let first = *matched_first.get_or_insert((matched.basis, matched.size(), matched.samples()));
        is_mixed |= first.0 != matched.basis;
    }
    let (basis, (paths, units), samples) = matched_first.unwrap_or((Basis::Unpaired, (0, 0), [0, 0]));
    Ok(Comparison {
        numbers: all,
        basis,
        is_mixed,
        samples,
        paths,
        units,
        comparisons,
        by_name: how.by_name,
        left_out,
        only: if is_one_pair {
            [Vec::new(), Vec::new()]
        } else {
            [only_in(before, after), only_in(after, before)]
        },
        programs: [before.programs(), after.programs()],
        sources: [before.sources(), after.sources()],
    })
}

/// Returns the numbers to compare: those chosen, or the headline numbers that both results have. A completion time is left out if there is
/// a cost, because both change alike, and so is the throughput of a transfer.
fn fields(before: &Side, after: &Side, how: &How) -> Vec<String> {
    if let Some(chosen) = &how.fields {
        return chosen.clone();
    }
    let (of_before, of_after) = (before.fields(), after.fields());
    let has =
        |field: &str| of_before.iter().any(|one| one == field) && of_after.iter().any(|one| one == field);
    let has_number = |field: &str| {
        let rows = before.rows().iter().chain(after.rows());
        rows.into_iter().any(|row| row.record.get(field).is_some_and(serde_json::Value::is_number))
    };
    let is_transfer = has_number("cost") && has("cost");
    let headline = HEADLINE.iter().map(|(field, _)| *field).filter(|field| has(field));
    let headline = headline.filter(|field| has_number(field));
    let headline = headline.filter(|field| !(is_transfer && ["fct_s", "throughput_bps"].contains(field)));
    headline.map(str::to_owned).collect()
}

impl Comparison {
    /// Returns the numbers of a scheme, in order.
    pub(crate) fn of<'a>(&'a self, scheme: &'a str) -> impl Iterator<Item = &'a Changed> {
        self.numbers.iter().filter(move |number| number.scheme == scheme)
    }

    /// Returns the schemes that were compared, in order.
    pub(crate) fn schemes(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for number in &self.numbers {
            if !names.contains(&number.scheme.as_str()) {
                names.push(&number.scheme);
            }
        }
        names
    }
}

/// Returns the name that is nearest to a wrong one.
pub(crate) fn near<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    closest(name, names)
}
