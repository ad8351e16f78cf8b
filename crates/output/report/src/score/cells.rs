//! The texts of cells and clauses of a score: shares, quantiles, and the best schemes.

use firstflight_lab::score::Group;
use firstflight_measure::Quantile;

use crate::human::{count, significant};

/// Lists the three schemes with the smallest median cost. The text also says how many schemes do not differ significantly from the first,
/// and which are faster than the first in significantly more races. `beyond` is the text of an infinite median.
pub(crate) fn least(group: &Group, beyond: &str) -> String {
    let order = group.by_cost();
    if order.is_empty() {
        return String::new();
    }
    let names: Vec<_> = order
        .iter()
        .take(3)
        .map(|one| format!("{} {}", one.scheme, quantile(one.cost.at[0], 1.0, beyond)))
        .collect();
    let same = order.iter().filter(|one| !group.differs_from_first(one)).count();
    let faster: Vec<_> =
        order.iter().filter(|one| group.beats_first(one)).map(|one| one.scheme.as_str()).collect();
    let faster =
        if faster.is_empty() { String::new() } else { format!("; faster more often: {}", faster.join(", ")) };
    format!("{} ({same} not distinguished{faster})", names.join(", "))
}

/// Lists up to three schemes whose cost is most often within a hundredth of the best. Each has its share of `decided`, the weight of the
/// races that at least one scheme finished.
pub(crate) fn nearest(group: &Group, decided: f64) -> String {
    let mut near = group.by_cost();
    near.retain(|one| one.near_best > 0.0);
    near.sort_by(|a, b| b.near_best.total_cmp(&a.near_best));
    let names: Vec<_> =
        near.iter().take(3).map(|one| format!("{} {}", one.scheme, share(one.near_best, decided))).collect();
    if names.is_empty() { "-".to_owned() } else { names.join(", ") }
}

pub(crate) fn quantile(quantile: Quantile, factor: f64, beyond: &str) -> String {
    match quantile {
        Quantile::Undefined => "-".to_owned(),
        Quantile::Beyond { .. } => beyond.to_owned(),
        Quantile::Value { value, .. } => significant(value * factor),
    }
}

pub(crate) fn share(part: f64, whole: f64) -> String {
    if whole > 0.0 { format!("{} %", significant(part * 100.0 / whole)) } else { "-".to_owned() }
}

/// Formats a weight: as a count if it is a whole number, as it is without weights.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "weights are far below 2^53 and not negative"
)]
pub(crate) fn weight(weight: f64) -> String {
    if weight.fract().abs() > 0.0 { significant(weight) } else { count(weight as u64) }
}
