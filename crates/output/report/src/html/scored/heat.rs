//! The heat map of a score: for each class of paths, how close each scheme comes to the lowest median cost.

use firstflight_lab::score::{Group, Standing};
use firstflight_measure::Quantile;
use serde::Serialize;

use super::tables::is_best;
use crate::human::significant;
use crate::score::{quantile, share};

/// The heat map: a row for each class, a column for each scheme.
#[derive(Serialize)]
pub(super) struct Heat {
    schemes: Vec<String>,
    rows: Vec<HeatRow>,
    /// The levels of colour, each with its class in the style sheet and its range in words.
    levels: Vec<(usize, String)>,
}

#[derive(Serialize)]
struct HeatRow {
    /// The property by which paths are classed; empty if the row above has the same.
    axis: &'static str,
    class: String,
    cells: Vec<HeatCell>,
}

#[derive(Serialize)]
struct HeatCell {
    text: String,
    /// The level of colour.
    level: usize,
    is_best: bool,
    /// The cell in words.
    says: String,
}

/// The ratios to the lowest median cost at which the levels end. Beyond the last is a further level.
const ENDS: [f64; 5] = [1.01, 1.05, 1.2, 1.5, 2.0];

impl Heat {
    /// Returns the heat map of the class of all paths and of the others. An axis with a single class is left out, because that class has all
    /// paths.
    pub(super) fn new(all: &Group, classes: &[Group], beyond: &str) -> Self {
        let order: Vec<&str> = all.by_cost().iter().map(|one| one.scheme.as_str()).collect();
        let several = classes.chunk_by(|a, b| a.axis == b.axis).filter(|axis| axis.len() > 1);
        let mut rows =
            vec![HeatRow { axis: "all paths", class: String::new(), cells: cells(all, &order, beyond) }];
        for axis in several {
            rows.extend(axis.iter().enumerate().map(|(at, group)| HeatRow {
                axis: if at == 0 { group.axis } else { "" },
                class: group.class.clone(),
                cells: cells(group, &order, beyond),
            }));
        }
        let mut levels: Vec<(usize, String)> =
            ENDS.iter().enumerate().map(|(level, end)| (level, format!("up to {end}"))).collect();
        levels.push((ENDS.len(), format!("above {}", ENDS[ENDS.len() - 1])));
        Self { schemes: order.iter().map(|&scheme| scheme.to_owned()).collect(), rows, levels }
    }
}

fn cells(group: &Group, order: &[&str], beyond: &str) -> Vec<HeatCell> {
    let median = |one: &Standing| match one.cost.at[0] {
        Quantile::Value { value, .. } => Some(value),
        Quantile::Undefined | Quantile::Beyond { .. } => None,
    };
    let ran = || group.standings.iter().filter(|one| one.rows > 0);
    let lowest = ran().filter_map(median).fold(f64::INFINITY, f64::min);
    let name =
        if group.axis == "all" { "all paths".to_owned() } else { format!("{}: {}", group.axis, group.class) };
    let cell = |&scheme: &&str| {
        let Some(one) = ran().find(|one| one.scheme == scheme) else {
            let says = format!("{name}. {scheme}: not raced");
            return HeatCell { text: "–".to_owned(), level: ENDS.len(), is_best: false, says };
        };
        let ratio = median(one).map(|median| median / lowest);
        let level = ratio.map_or(ENDS.len(), |ratio| ENDS.partition_point(|end| *end < ratio));
        let [middle, ninetieth] = [0, 1].map(|at| quantile(one.cost.at[at], 1.0, beyond));
        let times = ratio.map_or_else(String::new, |ratio| format!(", {} × the lowest", significant(ratio)));
        let near = share(one.near_best, group.decided());
        HeatCell {
            text: ratio.map_or_else(|| beyond.to_owned(), |ratio| format!("{ratio:.2}")),
            level,
            is_best: is_best(group, one),
            says: format!(
                "{name}. {scheme}: median cost {middle}{times}; 90th percentile {ninetieth}; within 1 % of the best in {near} of races"
            ),
        }
    };
    order.iter().map(cell).collect()
}
