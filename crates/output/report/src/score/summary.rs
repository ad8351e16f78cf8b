//! A summary of a sweep's score on one screen: the verdict, the best schemes over all paths, and the classes in which another scheme is
//! better.

use firstflight_lab::score::{Group, Standing};
use firstflight_measure::Quantile;

use super::sentence::verdict;
use super::{beyond, median_and_90th};
use crate::grid::{ALWAYS, Cells, Column, Columns, Grid};
use crate::human::significant;
use crate::prose;
use crate::table::{TableStyle, in_lines};

/// The maximum number of lines of a summary on a terminal of 80 columns or more.
const LINES: usize = 34;

/// The maximum number of classes in the summary.
const MAX_CLASSES: usize = 5;

/// The minimum number of schemes in the summary, if the score has that many.
const FEWEST_SCHEMES: usize = 3;

/// The columns of the table of schemes, unless others are chosen.
const SHOWN: [&str; 7] =
    ["scheme", "cost", "loss", "harm_per_byte", "unfinished", "near_best", "told_from_first"];

/// Returns the summary of the score in 34 lines. It has the verdict, the text `of`, which says what was scored, the schemes with the
/// smallest median cost over all paths, and the classes in which the first of them costs most relative to the best of the class. `give_up`
/// is the multiple of the ideal completion time at which transfers were given up, if any.
pub fn summary(groups: &[Group], give_up: Option<u64>, of: &str, style: &TableStyle) -> String {
    let beyond = &beyond(give_up);
    let Some((all, classes)) = groups.split_first() else { return String::new() };
    let width = style.width;
    let title = super::with_bound("All paths: median / 90th / 99th percentile", all, &style.columns);
    let opening = prose::fold(&format!("{of}\n\n{title}\n\n"), width, 0);
    let opening = in_lines(&verdict(all, beyond), style) + &opening;
    let schemes = all.by_cost().len();
    let fewest = FEWEST_SCHEMES.min(schemes);
    // If there are too many lines, schemes are left out first, down to the minimum, and then classes.
    let (mut shown, mut most) = (schemes, MAX_CLASSES);
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
        "--full shows {more}every class and every column; --report FILE.html draws them; docs/guide/score.md has the definitions."
    )
}

/// Renders the table of the first `shown` schemes over all paths.
fn best(all: &Group, beyond: &str, shown: usize, style: &TableStyle) -> String {
    let mut columns = super::standings(all, beyond, &style.columns);
    if style.columns == Columns::Fitting {
        let place = |column: &Column| SHOWN.iter().position(|field| *field == column.field);
        let has_values =
            |column: &Column| column.field != "harm_per_byte" || column.texts.iter().any(|text| text != "-");
        columns.retain(|column| place(column).is_some() && has_values(column));
        columns.sort_by_key(place);
    }
    for column in &mut columns {
        column.texts.truncate(shown);
    }
    Grid::new(columns, style.width.filter(|_| style.columns != Columns::All)).plain(style.width)
}

/// A class in which another scheme has a smaller median cost than the scheme that is first over all paths.
struct Worse<'a> {
    /// The median cost of the scheme that is first over all paths, over the median cost of the best scheme in the class.
    ratio: f64,
    group: &'a Group,
    best: &'a Standing,
    own: &'a Standing,
}

/// Lists the classes in which the scheme that is first over all paths costs most relative to the best of the class. At most `most` classes
/// are listed. If the races can be tested, only significant differences count.
fn elsewhere(all: &Group, classes: &[Group], most: usize, beyond: &str, width: Option<usize>) -> String {
    let Some(first) = all.by_cost().first().map(|one| one.scheme.clone()) else { return String::new() };
    let mut worse: Vec<Worse<'_>> = Vec::new();
    for group in classes {
        let order = group.by_cost();
        let Some(own) = order.iter().find(|one| one.scheme == first) else { continue };
        let best = order[0];
        let is_told = best.scheme != first && group.differs_from_first(own);
        if is_told && let Some(ratio) = ratio(own, best) {
            worse.push(Worse { ratio, group, best, own });
        }
    }
    if worse.is_empty() {
        let all = format!(
            "In no class does another scheme have a significantly lower median cost than {first}.\n\n"
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
        column("scheme", ["lowest", "median cost"], Cells::Names, &|one| one.best.scheme.clone()),
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

/// Returns the median cost of `own` over that of `best`, if it is above 1. It is infinite if only `best` has a finite median.
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
