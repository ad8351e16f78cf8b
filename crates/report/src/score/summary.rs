//! The score of a sweep on a screen: the verdict, the best schemes over all paths, and where another one is better.

use firstflight_lab::score::{Group, Standing};
use firstflight_measure::Quantile;

use super::{beyond, median_and_90th};
use crate::grid::{ALWAYS, Cells, Column, Columns, Grid};
use crate::html::scored::verdict;
use crate::human::significant;
use crate::prose;
use crate::table::TableStyle;

/// The most lines of a summary on a terminal of 80 columns or more.
const LINES: usize = 30;

/// The most classes that are shown.
const MOST_CLASSES: usize = 5;

/// The fewest schemes that are shown, if there are so many.
const FEWEST_SCHEMES: usize = 3;

/// The columns of the table of schemes, unless others are chosen.
const SHOWN: [&str; 6] = ["scheme", "cost", "loss", "unfinished", "near_best", "told_from_first"];

/// The score in thirty lines: the verdict, then `of`, which says what was scored, then the schemes with the least median cost
/// over all paths, and the classes in which the first of them costs most beside the best. `give_up` is the multiple of
/// the ideal at which transfers were given up, if any.
pub fn summary(groups: &[Group], give_up: Option<u64>, of: &str, style: &TableStyle) -> String {
    let beyond = &beyond(give_up);
    let Some((all, classes)) = groups.split_first() else { return String::new() };
    let width = style.width;
    let opening = prose::fold(
        &format!(
            "{}\n\n{of}\n\n{}\n\n",
            verdict(all, beyond),
            super::with_bound("All paths: median / 90th / 99th percentile", all, &style.columns)
        ),
        width,
        0,
    );
    let schemes = all.by_cost().len();
    let fewest = FEWEST_SCHEMES.min(schemes);
    // Schemes give way first, down to the fewest, and then classes.
    let (mut shown, mut most) = (schemes, MOST_CLASSES);
    loop {
        let table = best(all, beyond, shown, style);
        let elsewhere = elsewhere(all, classes, most, beyond, width);
        let closing = prose::fold(&closing(schemes - shown), width, 0);
        let text = format!("{opening}{table}\n{elsewhere}{closing}\n");
        if text.lines().count() <= LINES || shown <= fewest && most == 1 {
            return text;
        }
        if shown > fewest {
            shown -= 1;
        } else {
            most -= 1;
        }
    }
}

fn closing(more: usize) -> String {
    let more = match more {
        0 => String::new(),
        1 => "1 scheme more, ".to_owned(),
        more => format!("{more} schemes more, "),
    };
    format!(
        "--full shows {more}every class and every column; --report FILE.html draws them; docs/score.md has the definitions."
    )
}

/// The table of the first `shown` schemes over all paths.
fn best(all: &Group, beyond: &str, shown: usize, style: &TableStyle) -> String {
    let mut columns = super::standings(all, beyond, &style.columns);
    if style.columns == Columns::Fitting {
        let place = |column: &Column| SHOWN.iter().position(|field| *field == column.field);
        columns.retain(|column| place(column).is_some());
        columns.sort_by_key(place);
    }
    for column in &mut columns {
        column.texts.truncate(shown);
    }
    Grid::new(columns, style.width.filter(|_| style.columns != Columns::All)).plain(style.width)
}

/// A class in which another scheme has a lesser median cost than the first over all paths.
struct Worse<'a> {
    /// The median cost of that first over the best of the class.
    ratio: f64,
    group: &'a Group,
    best: &'a Standing,
    own: &'a Standing,
}

/// The classes in which the scheme that is first over all paths costs most beside the best: those in which it is told apart
/// from the best of the class, if the races can be tested. No more than `most` are shown.
fn elsewhere(all: &Group, classes: &[Group], most: usize, beyond: &str, width: Option<usize>) -> String {
    let Some(first) = all.by_cost().first().map(|one| one.scheme.clone()) else { return String::new() };
    let mut worse: Vec<Worse<'_>> = Vec::new();
    for group in classes {
        let order = group.by_cost();
        let Some(own) = order.iter().find(|one| one.scheme == first) else { continue };
        let best = order[0];
        let is_told = best.scheme != first && group.tells_from_first(own);
        if is_told && let Some(ratio) = ratio(own, best) {
            worse.push(Worse { ratio, group, best, own });
        }
    }
    if worse.is_empty() {
        let all = format!(
            "In no class does another scheme have a median cost that is less than that of {first} and told apart.\n\n"
        );
        return prose::fold(&all, width, 0);
    }
    worse.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
    let count = worse.len();
    worse.truncate(most);
    let column = |field: &str, head: [&str; 2], cells, text: &dyn Fn(&Worse<'_>) -> String| Column {
        field: field.to_owned(),
        head: head.map(str::to_owned).to_vec(),
        cells,
        rank: ALWAYS,
        texts: worse.iter().map(text).collect(),
    };
    let columns = vec![
        column("class", ["class", ""], Cells::Words, &|one| {
            format!("{}: {}", one.group.axis, one.group.class)
        }),
        column("scheme", ["least", "median cost"], Cells::Names, &|one| one.best.scheme.clone()),
        column("cost", ["median /", "90th"], Cells::Numbers, &|one| median_and_90th(one.best, beyond)),
        column("first", ["the first has", ""], Cells::Numbers, &|one| median_and_90th(one.own, beyond)),
        column("ratio", ["times", "more"], Cells::Numbers, &|one| times(one.ratio)),
    ];
    let of = if count > most {
        let classes = if most == 1 { "the class" } else { &format!("the {most} classes") };
        format!(", {classes} of {count} in which it is by most")
    } else {
        String::new()
    };
    let title = format!("Where another scheme is better than {first}{of}:\n\n");
    prose::fold(&title, width, 0) + &Grid::new(columns, width).plain(width) + "\n"
}

/// The median cost of `own` over that of `best`; infinite if only `best` has one.
fn ratio(own: &Standing, best: &Standing) -> Option<f64> {
    match (own.cost.at[0], best.cost.at[0]) {
        (Quantile::Value { value: own, .. }, Quantile::Value { value: best, .. }) => Some(own / best),
        (Quantile::Beyond { .. }, Quantile::Value { .. }) => Some(f64::INFINITY),
        _ => None,
    }
    .filter(|ratio| *ratio > 1.0)
}

fn times(ratio: f64) -> String {
    if ratio.is_finite() { significant(ratio) } else { "-".to_owned() }
}
