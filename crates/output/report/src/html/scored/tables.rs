//! The tables of a score's page.

use firstflight_lab::score::{Group, Spread, Standing};
use firstflight_measure::{Pairing, Quantile};
use serde::Serialize;

use crate::human::{count, significant};
use crate::prose::joined;
use crate::score::{least, nearest, share, weight};

/// A table with columns, and heads that may span several of them.
#[derive(Serialize)]
pub(super) struct Table {
    spans: Vec<Span>,
    heads: Vec<Head>,
    rows: Vec<Vec<Cell>>,
}

#[derive(Serialize)]
struct Span {
    name: &'static str,
    columns: usize,
}

#[derive(Serialize)]
struct Head {
    name: String,
    unit: String,
    is_words: bool,
}

#[derive(Serialize, Default)]
struct Cell {
    text: String,
    /// Small print next to the cell.
    detail: String,
    /// The value by which the script sorts the table; empty if undefined.
    key: String,
    /// Whether the cell is among the best of its column: it is the best, does not differ significantly from the best, or its scheme is
    /// faster than the best scheme in significantly more races.
    is_best: bool,
    is_words: bool,
}

/// Returns the table of the transfers' cost.
pub(super) fn cost(group: &Group, beyond: &str) -> Table {
    let decided = group.decided();
    let rows = group.by_cost().into_iter().enumerate().map(|(place, one)| {
        let mut row = vec![Cell::scheme(one), Cell::count(one.rows), Cell::share(one.unfinished, one.weight)];
        row.extend(quantiles(&one.cost, 1.0, beyond));
        row[3].is_best = is_best(group, one);
        row.push(Cell::share(one.under_ideal, one.weight));
        row.extend([one.best_alone, one.best_tied, one.near_best].map(|wins| Cell::share(wins, decided)));
        row.extend(quantiles(&one.regret, 1.0, "never"));
        let Pairing { faster, slower, alike, .. } = one.against_first;
        row.extend([faster, slower].map(|races| match place {
            0 => Cell { text: "–".to_owned(), ..Cell::default() },
            _ => Cell::share(races, faster + slower + alike),
        }));
        row
    });
    Table {
        rows: rows.collect(),
        spans: spans(&[("", 3), ("cost, × ideal", 4), ("races, %", 3), ("over best, ×", 3), ("races, %", 2)]),
        heads: [
            ("scheme", ""),
            ("rows", ""),
            ("given up", "%"),
            ("median", ""),
            ("90th", "percentile"),
            ("99th", "percentile"),
            ("under 1", "% of rows"),
            ("best", "alone"),
            ("best", "tied"),
            ("within 1 %", "of the best"),
            ("median", ""),
            ("90th", "percentile"),
            ("99th", "percentile"),
            ("faster", "than the first"),
            ("slower", "than the first"),
        ]
        .map(Head::new)
        .into(),
    }
}

/// Returns the table of what the transfers cost the network and other traffic.
pub(super) fn price(group: &Group) -> Table {
    let rows = group.by_cost().into_iter().map(|one| {
        let mut row = vec![Cell::words(&one.scheme)];
        row.extend(quantiles(&one.loss, 100.0, "–"));
        row.extend(quantiles(&one.timeouts, 1.0, "–"));
        row.push(Cell::count(one.queue.of));
        row.extend(quantiles(&one.queue, 1.0, "–"));
        row.push(Cell::count(one.harm_per_byte.of));
        row.extend(quantiles(&one.harm_per_byte, 1.0, "–"));
        row.push(Cell::count(one.harm_during.of));
        row.extend(quantiles(&one.harm_during, 100.0, "–"));
        row.push(Cell::share(one.beyond_fair, one.beside_tcp));
        row
    });
    let three = [("median", ""), ("90th", "percentile"), ("99th", "percentile")];
    let heads = [("scheme", "")].into_iter().chain(three).chain(three).chain([("rows", "")]).chain(three);
    Table {
        rows: rows.collect(),
        spans: spans(&[
            ("", 1),
            ("loss, %", 3),
            ("timeouts", 3),
            ("queue, base RTTs", 4),
            ("harm, B for each byte", 4),
            ("harm during the flow, % of the rate", 5),
        ]),
        heads: heads
            .chain([("rows", "")])
            .chain(three)
            .chain([("rows", "")])
            .chain(three)
            .chain([("beyond fair", "% next to TCP")])
            .map(Head::new)
            .collect(),
    }
}

/// Returns the table of the best schemes in each class.
pub(super) fn winners(classes: &[Group], beyond: &str) -> Table {
    let rows = classes.iter().map(|group| {
        let decided = group.decided();
        vec![
            Cell::words(&format!("{}: {}", group.axis, group.class)),
            Cell::count(group.paths),
            Cell::words(&least(group, beyond)),
            Cell::words(&nearest(group, decided)),
            Cell::share(group.nobody, group.weight),
        ]
    });
    Table {
        rows: rows.collect(),
        spans: Vec::new(),
        heads: [
            ("class", "", false),
            ("paths", "", false),
            ("lowest median cost", "", true),
            ("within 1 % of the best most often", "", true),
            ("no one finished", "% of races", false),
        ]
        .map(|(name, unit, is_words)| Head { is_words, ..Head::new((name, unit)) })
        .into(),
    }
}

/// Returns the table of the median and the 90th percentile of the cost in each class.
pub(super) fn by_class(groups: &[Group], beyond: &str) -> Table {
    let mut heads = vec![Head::new(("scheme", ""))];
    heads.extend(groups.iter().map(|group| Head {
        name: group.class.clone(),
        unit: format!("{} {}", count(group.paths as u64), if group.paths == 1 { "path" } else { "paths" }),
        is_words: false,
    }));
    let rows = (0..groups[0].standings.len()).map(|at| {
        let cells = groups.iter().map(|group| {
            let one = &group.standings[at];
            let [median, ninetieth, _] = quantiles(&one.cost, 1.0, beyond);
            Cell {
                is_best: one.rows > 0 && is_best(group, one),
                text: format!("{} / {}", median.text, ninetieth.text),
                key: median.key,
                ..Cell::default()
            }
        });
        std::iter::once(Cell::words(&groups[0].standings[at].scheme)).chain(cells).collect()
    });
    Table { rows: rows.collect(), heads, spans: Vec::new() }
}

/// Checks whether a scheme has the smallest median cost, does not differ significantly from the scheme that has it, or is faster than that
/// scheme in significantly more races.
pub(super) fn is_best(group: &Group, one: &Standing) -> bool {
    !group.differs_from_first(one) || group.beats_first(one)
}

fn spans(spans: &[(&'static str, usize)]) -> Vec<Span> {
    spans.iter().map(|&(name, columns)| Span { name, columns }).collect()
}

/// Returns the three quantiles times a factor; the first also has its interval. `beyond` is the text of an infinite quantile.
fn quantiles(spread: &Spread, factor: f64, beyond: &str) -> [Cell; 3] {
    let mut cells = spread.at.map(|quantile| match quantile {
        Quantile::Undefined => Cell { text: "–".to_owned(), ..Cell::default() },
        // An infinite quantile sorts after every number.
        Quantile::Beyond { .. } => {
            Cell { text: beyond.to_owned(), key: f64::MAX.to_string(), ..Cell::default() }
        }
        Quantile::Value { value, .. } => {
            Cell { text: significant(value * factor), key: value.to_string(), ..Cell::default() }
        }
    });
    let interval = match spread.at[0] {
        Quantile::Value { low, high, .. } => low.zip(high),
        Quantile::Beyond { low } => low.map(|low| (low, f64::INFINITY)),
        Quantile::Undefined => None,
    };
    if let Some((low, high)) = interval.filter(|(low, high)| low < high) {
        let high = if high.is_finite() { significant(high * factor) } else { beyond.to_owned() };
        cells[0].detail = format!("{}–{high}", significant(low * factor));
    }
    cells
}

impl Head {
    fn new((name, unit): (&str, &str)) -> Self {
        Self { name: name.to_owned(), unit: unit.to_owned(), is_words: false }
    }
}

impl Cell {
    fn words(words: &str) -> Self {
        // A line is not broken between a number and its unit.
        let text = joined(words);
        Self { text, key: words.to_owned(), is_words: true, ..Self::default() }
    }

    /// Returns the cell of a scheme, with its law in small print.
    fn scheme(one: &Standing) -> Self {
        Self {
            detail: one.law.clone().unwrap_or_else(|| "several laws".to_owned()),
            ..Self::words(&one.scheme)
        }
    }

    fn count(value: usize) -> Self {
        Self { text: count(value as u64), key: value.to_string(), ..Self::default() }
    }

    /// Returns a share in percent, with the count in small print.
    fn share(part: f64, whole: f64) -> Self {
        let text = share(part, whole);
        Self {
            text: text.trim_end_matches(" %").replace('-', "–"),
            detail: if part > 0.0 { weight(part) } else { String::new() },
            key: if whole > 0.0 { (part / whole).to_string() } else { String::new() },
            ..Self::default()
        }
    }
}
