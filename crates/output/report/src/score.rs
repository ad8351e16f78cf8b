//! Turns the rows of a sweep's parts into a score: tables and records.

mod cells;
mod sentence;
mod summary;
mod words;

pub(crate) use cells::{least, nearest, quantile, share, weight};
pub use sentence::verdict;
pub use summary::summary;
pub use words::{LIMITS, MEASURES};

use firstflight_lab::score::{Group, Judged, QUANTILES, Spread, Standing};
use firstflight_lab::{Beside, Bottleneck, EarlyFields, PathFacts};
use firstflight_measure::{EARLY_ROUND_TRIPS, Pairing, Quantile, SuCounts};
use serde_json::Value;

use crate::grid::{ALWAYS, Cells, Column, Columns, Grid};
use crate::human::significant;
use crate::prose;
use crate::table::{Headings, TableStyle, in_lines};
use firstflight_export::columns::SWEEP_COLUMNS;
use firstflight_export::record::{self, Record};

/// Checks whether a row of a sweep has an ideal completion time. A row does not if its flow has no size, or if cross traffic may take the
/// whole rate. Without an ideal there is no cost.
pub fn has_ideal(record: &Record) -> bool {
    record::number(record, "ideal_fct_s").is_some()
}

/// Reads from a row of a sweep the numbers that the score uses. A row without [an ideal](has_ideal) must not be passed, because it would
/// count as given up. `paths_a_draw` successive paths of the sweep come from one draw.
///
/// # Errors
/// Returns the name of the first field that is missing or has another type.
pub fn judged(record: &Record, paths_a_draw: u64) -> Result<Judged, &'static str> {
    let path: PathFacts =
        serde_json::from_value(Value::Object(record.clone())).map_err(|_| first_missing(record))?;
    let beside: Beside =
        serde_json::from_value(Value::Object(record.clone())).map_err(|_| first_missing(record))?;
    let early: EarlyFields =
        serde_json::from_value(Value::Object(record.clone())).map_err(|_| first_missing(record))?;
    let number = |field: &'static str| record::number(record, field).ok_or(field);
    let bound =
        early.bound_fct_s.zip(record::number(record, "ideal_fct_s")).map(|(bound, ideal)| bound / ideal);
    let bottleneck = path.bottleneck();
    // Responsive traffic keeps a queue even without the flow, so the flow did not cause that queue. Traffic of constant rate keeps no
    // queue; where it may take the whole bottleneck, there is no ideal.
    let alone = matches!(path.path_cross.as_str(), "none" | "cbr");
    let queue = if alone && bottleneck != Bottleneck::Trace {
        #[expect(clippy::cast_precision_loss, reason = "packets are at most 65535 bytes")]
        let packet_s = path.path_packet_bytes as f64 * 8.0 / path.path_rate_bps;
        Some(number("queue_mean_packets")? * packet_s / path.path_rtt_s)
    } else {
        None
    };
    let shared = path.path_cross != "none" && bottleneck == Bottleneck::Constant;
    let rates = path.path_rate_bps * f64::from(path.path_crossings);
    let harm_during = if shared { Some(number("harm_during_bps")? / rates) } else { None };
    let beside_tcp = shared && path.path_cross == "tcp";
    let fair = path.path_cross_share.filter(|_| beside_tcp).map(|others| 1.0 - others);
    Ok(Judged {
        draw: path.path / paths_a_draw.max(1),
        weight: path.path_weight,
        // Parameters may differ between paths, as do the values saved for Careful Resume. They are therefore not part of the name.
        scheme: match record::text(record, "label") {
            "" => record::text(record, "scheme").to_owned(),
            label => label.to_owned(),
        },
        law: record::text(record, "avoidance").to_owned(),
        deploy: Some(record::text(record, "deploy"))
            .filter(|deploy| !deploy.is_empty())
            .ok_or("deploy")?
            .to_owned(),
        seed: record.get("seed").and_then(Value::as_u64).ok_or("seed")?,
        cost: record::number(record, "cost"),
        fct_s: record::number(record, "fct_s"),
        counts: SuCounts::of(record::text(record, "su_counts")),
        never_left: record::text(record, "exit_cause") == "none",
        beside: (beside.bytes_raced > 0).then_some(beside.bytes_cost),
        loss: match record.get("loss") {
            Some(Value::Null) => None,
            _ => Some(number("loss")?),
        },
        timeouts: number("timeouts")?,
        queue,
        harm_during,
        harm_per_byte: record::number(record, "harm_per_byte"),
        fair,
        bound,
        early: behind(&early),
        rate_found: record::number(record, "exit_rate_bps")
            .zip(early.bound_available_bps)
            .map(|(found, available)| found / available)
            .filter(|found| found.is_finite() && *found > 0.0),
        queue_loss: match record::number(record, "packets_sent").ok_or("packets_sent")? {
            0.0 => None,
            #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
            sent => Some(early.queue_lost_packets as f64 / sent),
        },
        path,
    })
}

/// Returns the bytes that the bound's ideal sender has delivered by each early instant, over the run's bytes. The ideal sender knows the
/// path after one RTT. While it has delivered nothing, the ratio is at most 1. `None` if there is no bound.
#[expect(clippy::cast_precision_loss, reason = "bytes are far below 2^53")]
fn behind(early: &EarlyFields) -> Option<[f64; EARLY_ROUND_TRIPS.len()]> {
    let [two, three, five] = early.delivered().map(|(ideal, own)| match (ideal?, own) {
        (ideal, 0) if ideal > 0.0 => Some(f64::INFINITY),
        (_, 0) => Some(1.0),
        (ideal, own) => Some(ideal / own as f64),
    });
    Some([two?, three?, five?])
}

/// Returns the name of the first missing field of a path. Parts from an earlier version may lack fields.
fn first_missing(record: &Record) -> &'static str {
    let missing = SWEEP_COLUMNS.iter().find(|column| !record.contains_key(column.name));
    missing.map_or("path_…", |column| column.name)
}

/// Returns a record for each scheme in each class. It has all numbers that `--json` and `--csv` print.
pub fn records(groups: &[Group]) -> Vec<Record> {
    groups
        .iter()
        .flat_map(|group| group.standings.iter().filter(|one| one.rows > 0).map(move |one| full(group, one)))
        .collect()
}

fn full(group: &Group, one: &Standing) -> Record {
    let mut record = Record::new();
    let mut put = |field: &str, value: Value| record.insert(field.to_owned(), value);
    put("axis", group.axis.into());
    put("class", group.class.clone().into());
    put("scheme", one.scheme.clone().into());
    put("avoidance", one.law.clone().into());
    put("deploy", one.deploy.clone().into());
    put("su_counts", one.counts.name().into());
    put("paths", group.paths.into());
    put("races", group.races.into());
    put("draws", group.draws.into());
    put("races_nobody_finished", weighed(group.nobody));
    put("weight", weighed(group.weight));
    put("rows", one.rows.into());
    put("unfinished", weighed(one.unfinished));
    put("under_ideal", weighed(one.under_ideal));
    put("beside_tcp", weighed(one.beside_tcp));
    put("beyond_fair_share", weighed(one.beyond_fair));
    put("bounded_rows", one.over_bound.of.into());
    put("near_bound", weighed(one.near_bound));
    put("queue_loss_mean", one.queue_loss_mean.into());
    let spreads = spreads(one).into_iter().chain([("bound_cost", &group.bound)]);
    for (name, spread) in spreads {
        put(&format!("{name}_rows"), spread.of.into());
        for (quantile, suffix) in spread.at.iter().zip(SUFFIXES) {
            let (value, low, high) = match *quantile {
                Quantile::Value { value, low, high } => (Some(value), low, high),
                Quantile::Undefined => (None, None, None),
                Quantile::Beyond { low } => (None, low, None),
            };
            put(&format!("{name}_{suffix}"), value.into());
            put(&format!("{name}_{suffix}_low"), low.into());
            // An infinite upper end is null, as is an undefined one. The previous field distinguishes the two cases.
            put(&format!("{name}_{suffix}_high"), high.filter(|high| high.is_finite()).into());
        }
    }
    put("best_alone", weighed(one.best_alone));
    put("best_tied", weighed(one.best_tied));
    put("near_best", weighed(one.near_best));
    put("faster_than_first", weighed(one.against_first.faster));
    put("slower_than_first", weighed(one.against_first.slower));
    put("as_fast_as_first", weighed(one.against_first.alike));
    put("told_from_first", group.differs_from_first(one).into());
    record
}

/// Returns a weight as a value: a whole number if it is one, as without weights; else to nine digits after the point.
#[expect(clippy::cast_possible_truncation, reason = "weights are far below 2^53")]
fn weighed(weight: f64) -> Value {
    const DIGITS: f64 = 1e9;
    let weight = libm::round(weight * DIGITS) / DIGITS;
    if weight.fract().abs() > 0.0 { weight.into() } else { (weight as i64).into() }
}

const SUFFIXES: [&str; QUANTILES.len()] = ["median", "p90", "p99"];

fn spreads(one: &Standing) -> [(&'static str, &Spread); 16] {
    [
        ("cost", &one.cost),
        ("fct_s", &one.fct_s),
        ("bytes_cost", &one.bytes_cost),
        ("loss", &one.loss),
        ("queue_rtts", &one.queue),
        ("timeouts", &one.timeouts),
        ("harm_during", &one.harm_during),
        ("harm_per_byte", &one.harm_per_byte),
        ("regret", &one.regret),
        ("over_bound", &one.over_bound),
        ("early_2", &one.early[0]),
        ("early_3", &one.early[1]),
        ("early_5", &one.early[2]),
        ("rate_over", &one.rate_over),
        ("rate_under", &one.rate_under),
        ("queue_loss", &one.queue_loss),
    ]
}

/// Returns the text of an infinite cost. It is `>20`, for example, if transfers are given up at twenty times the ideal completion time.
pub fn beyond(give_up: Option<u64>) -> String {
    give_up.map_or_else(|| "unfinished".to_owned(), |times| format!(">{times}"))
}

/// Renders a score as text: the verdict, the text `of`, which says what was scored, and the tables. These are: all paths, the best schemes
/// by class, the cost by class side by side, and every class in full. `give_up` is the multiple of the ideal completion time at which
/// transfers were given up, if any.
pub fn render(groups: &[Group], give_up: Option<u64>, of: &str, style: &TableStyle) -> String {
    let beyond = &beyond(give_up);
    let Some((all, classes)) = groups.split_first() else { return String::new() };
    let width = style.width;
    let fitting = width.filter(|_| style.columns != Columns::All);
    let plain = |columns| Grid::new(columns, fitting).plain(width);
    let title = "All paths: median / 90th / 99th percentile; docs/guide/score.md has the definitions";
    let opening = format!("\n{of}\n\n{}\n\n", with_bound(title, all, &style.columns));
    let mut out = in_lines(&verdict(all, beyond), style);
    out += &prose::fold(&opening, width, 0);
    out += &plain(standings(all, beyond, &style.columns));
    let who = "\nWho wins where: in each class the schemes with the lowest median cost, and those that are most often within \
               1 % of the best\n\n";
    out += &prose::fold(who, width, 0);
    out += &plain(winners(classes));
    for of_axis in classes.chunk_by(|a, b| a.axis == b.axis) {
        let title = format!("\nCost by {}: median / 90th percentile of n rows a scheme\n\n", of_axis[0].axis);
        out = out + &prose::fold(&title, width, 0) + &plain(by_class(of_axis, beyond));
    }
    for class in classes {
        let races = if class.races == 1 { "race" } else { "races" };
        let title = format!("Of {}: {}, {} {races}", class.axis, class.class, class.races);
        let title = format!("{title}: median / 90th / 99th percentile");
        let title = format!("\n{}\n\n", with_bound(&title, class, &style.columns));
        out = out + &prose::fold(&title, width, 0) + &plain(standings(class, beyond, &style.columns));
    }
    out
}

/// Returns the fields of the tables and of the [records]. Users choose columns by these fields.
pub fn fields(groups: &[Group]) -> Vec<String> {
    let shown = STANDINGS.iter().chain(&BOUNDED).map(|(field, ..)| (*field).to_owned());
    let records = records(groups);
    let others =
        records.first().into_iter().flat_map(Record::keys).filter(|field| *field != "scheme").cloned();
    let mut fields: Vec<String> = shown.collect();
    for field in others {
        if !fields.contains(&field) {
            fields.push(field);
        }
    }
    fields
}

/// Returns the headings of the table of schemes.
pub fn headings() -> Headings {
    crate::table::headings(STANDINGS.iter().chain(&BOUNDED).map(|(field, head, ..)| (*head, *field)))
}

/// The columns of a class, each as (field, head, cells, rank). A field is one of the [records], or the common prefix of several.
const STANDINGS: [(&str, [&str; 2], Cells, u8); 18] = [
    ("scheme", ["scheme", ""], Cells::Names, ALWAYS),
    ("avoidance", ["law", ""], Cells::Words, 10),
    ("rows", ["rows", ""], Cells::Numbers, 11),
    ("unfinished", ["given", "up"], Cells::Numbers, 3),
    ("cost", ["cost", "× ideal"], Cells::Numbers, 1),
    ("fct_s", ["completion", "ms"], Cells::Numbers, 6),
    ("under_ideal", ["under", "1"], Cells::Numbers, 9),
    ("loss", ["loss", "%"], Cells::Numbers, 2),
    ("queue_rtts", ["queue", "RTTs"], Cells::Numbers, 8),
    ("timeouts", ["timeouts", ""], Cells::Numbers, 7),
    ("harm_per_byte", ["harm", "B/B"], Cells::Numbers, 2),
    ("harm_during", ["harm", "during, %"], Cells::Numbers, 8),
    ("beyond_fair_share", ["beyond", "fair"], Cells::Numbers, 10),
    ("best_alone", ["best", "alone"], Cells::Numbers, 9),
    ("best_tied", ["tied", ""], Cells::Numbers, 9),
    ("near_best", ["within", "1 %"], Cells::Numbers, 4),
    ("regret", ["over best", "×"], Cells::Numbers, 7),
    ("told_from_first", ["against the first", ""], Cells::Numbers, 5),
];

/// The columns about the bound, the ideal sender that knows the path after one RTT. They are shown only on request.
const BOUNDED: [(&str, [&str; 2], Cells, u8); 8] = [
    ("over_bound", ["over bound", "×"], Cells::Numbers, 1),
    ("near_bound", ["within", "5 %"], Cells::Numbers, 2),
    ("early_2", ["behind", "2 RTT"], Cells::Numbers, 5),
    ("early_3", ["behind", "3 RTT"], Cells::Numbers, 3),
    ("early_5", ["behind", "5 RTT"], Cells::Numbers, 6),
    ("rate_over", ["rate found", "× available"], Cells::Numbers, 7),
    ("queue_loss", ["queue", "loss, %"], Cells::Numbers, 4),
    ("queue_loss_mean", ["mean", ""], Cells::Numbers, 4),
];

/// The fields that `score --bound` shows.
pub const BOUND_FIELDS: [&str; 10] = [
    "cost",
    "over_bound",
    "near_bound",
    "early_2",
    "early_3",
    "early_5",
    "rate_over",
    "queue_loss",
    "queue_loss_mean",
    "told_from_first",
];

/// Describes the bound's cost in a class, in one sentence; `None` if no race has a bound. The bound is the ideal sender that knows the path
/// after one RTT.
fn of_the_bound(group: &Group) -> Option<String> {
    (group.bound.of > 0).then(|| {
        let races = if group.bound.of == group.races {
            String::new()
        } else {
            format!(", in {} races", group.bound.of)
        };
        format!(
            "The ideal that knows the path after one round trip costs {}{races}",
            three(&group.bound, 1.0, "-")
        )
    })
}

/// Returns the title, with the sentence of [`of_the_bound`] if columns about the bound are shown.
fn with_bound(title: &str, group: &Group, columns: &Columns) -> String {
    let is_shown =
        matches!(columns, Columns::Chosen(fields) if fields.iter().any(|field| field == "over_bound"));
    let bound = of_the_bound(group).filter(|_| is_shown);
    bound.map_or_else(|| title.to_owned(), |bound| format!("{title}. {bound}"))
}

/// Returns the columns of the table with each scheme of a class.
fn standings(group: &Group, beyond: &str, columns: &Columns) -> Vec<Column> {
    let order = group.by_cost();
    let all = || columns_of(STANDINGS.iter(), group, &order, beyond);
    let Columns::Chosen(fields) = columns else { return all().collect() };
    let all = || columns_of(STANDINGS.iter().chain(&BOUNDED), group, &order, beyond);
    let records: Vec<Record> = order.iter().map(|one| full(group, one)).collect();
    let chosen = fields.iter().filter(|field| *field != "scheme").map(|field| {
        let shown = all().find(|column| column.field == *field);
        let own = || Column {
            field: field.clone(),
            head: vec![field.clone()],
            cells: Cells::Numbers,
            rank: ALWAYS,
            texts: records.iter().map(|record| exact(record.get(field))).collect(),
        };
        shown.map_or_else(own, |column| Column { rank: ALWAYS, ..column })
    });
    all().take(1).chain(chosen).collect()
}

fn columns_of<'a>(
    described: impl Iterator<Item = &'a (&'static str, [&'static str; 2], Cells, u8)>,
    group: &Group,
    order: &[&Standing],
    beyond: &str,
) -> impl Iterator<Item = Column> {
    described.map(move |&(field, head, cells, rank)| Column {
        field: field.to_owned(),
        head: head.map(str::to_owned).to_vec(),
        cells,
        rank,
        texts: order.iter().map(|one| cell(group, one, field, beyond)).collect(),
    })
}

/// Returns a number of a record as the text of a cell.
fn exact(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "-".to_owned(),
        Some(Value::String(words)) => words.clone(),
        Some(Value::Number(number)) if number.is_f64() => significant(number.as_f64().unwrap_or(f64::NAN)),
        Some(other) => other.to_string(),
    }
}

/// Returns the text of a scheme's cell in the column of this field.
fn cell(group: &Group, one: &Standing, field: &str, beyond: &str) -> String {
    let decided = group.decided();
    match field {
        "scheme" => one.scheme.clone(),
        "avoidance" => one.law.clone().unwrap_or_else(|| "several".to_owned()),
        "rows" => one.rows.to_string(),
        "unfinished" => share(one.unfinished, one.weight),
        "cost" => three(&one.cost, 1.0, beyond),
        "fct_s" => three(&one.fct_s, 1000.0, "never"),
        "under_ideal" => share(one.under_ideal, one.weight),
        "loss" => three(&one.loss, 100.0, "-"),
        "queue_rtts" => three(&one.queue, 1.0, "-"),
        "timeouts" => three(&one.timeouts, 1.0, "-"),
        "harm_during" => three(&one.harm_during, 100.0, "-"),
        "harm_per_byte" => three(&one.harm_per_byte, 1.0, "-"),
        "beyond_fair_share" => share(one.beyond_fair, one.beside_tcp),
        "best_alone" => share(one.best_alone, decided),
        "best_tied" => share(one.best_tied, decided),
        "near_best" => share(one.near_best, decided),
        "regret" => three(&one.regret, 1.0, "never"),
        "over_bound" => three(&one.over_bound, 1.0, beyond),
        "near_bound" => share(one.near_bound, one.over_bound.weight),
        "early_2" => three(&one.early[0], 1.0, "nothing yet"),
        "early_3" => three(&one.early[1], 1.0, "nothing yet"),
        "early_5" => three(&one.early[2], 1.0, "nothing yet"),
        "rate_over" => found(one),
        "queue_loss" => three(&one.queue_loss, 100.0, "-"),
        "queue_loss_mean" => {
            one.queue_loss_mean.map_or_else(|| "-".to_owned(), |mean| significant(mean * 100.0))
        }
        _ => against_first(group, one),
    }
}

/// Returns the share of races in which a scheme cost less than the first, and the share in which it cost more. The first scheme has the
/// smallest median cost. A `?` marks a difference that is not significant. A `<` marks a scheme that is faster than the first in
/// significantly more races.
fn against_first(group: &Group, one: &Standing) -> String {
    let Pairing { faster, slower, alike, .. } = one.against_first;
    let races = faster + slower + alike;
    if faster + slower <= 0.0 {
        return "-".to_owned();
    }
    let told = match (group.differs_from_first(one), group.beats_first(one)) {
        (false, _) => " ?",
        (true, true) => " <",
        (true, false) => "",
    };
    format!("{} faster, {} slower{told}", share(faster, races), share(slower, races))
}

fn winners(classes: &[Group]) -> Vec<Column> {
    let column = |field: &str, head: [&str; 2], cells, rank, text: &dyn Fn(&Group) -> String| Column {
        field: field.to_owned(),
        head: head.map(str::to_owned).to_vec(),
        cells,
        rank,
        texts: classes.iter().map(text).collect(),
    };
    let decided = |group: &Group| group.decided();
    vec![
        column("class", ["class", ""], Cells::Names, ALWAYS, &|group| {
            format!("{}: {}", group.axis, group.class)
        }),
        column("paths", ["paths", ""], Cells::Numbers, 4, &|group| group.paths.to_string()),
        column("cost", ["lowest median cost", ""], Cells::Sentences, 1, &|group| least(group, "given up")),
        column("near_best", ["within 1 % of the best", "most often"], Cells::Sentences, 2, &|group| {
            nearest(group, decided(group))
        }),
        column("races_nobody_finished", ["nobody", "finished"], Cells::Numbers, 5, &|group| {
            share(group.nobody, group.weight)
        }),
    ]
}

fn by_class(groups: &[Group], beyond: &str) -> Vec<Column> {
    let names = groups[0].standings.iter().map(|one| one.scheme.clone());
    let scheme = Column {
        field: "scheme".to_owned(),
        head: vec!["scheme".to_owned()],
        cells: Cells::Names,
        rank: ALWAYS,
        texts: names.collect(),
    };
    let class = |group: &Group| Column {
        field: group.class.clone(),
        head: vec![group.class.clone(), format!("n={}", group.races)],
        cells: Cells::Numbers,
        rank: 4,
        texts: group.standings.iter().map(|one| median_and_90th(one, beyond)).collect(),
    };
    std::iter::once(scheme).chain(groups.iter().map(class)).collect()
}

fn median_and_90th(one: &Standing, beyond: &str) -> String {
    format!("{} / {}", quantile(one.cost.at[0], 1.0, beyond), quantile(one.cost.at[1], 1.0, beyond))
}

fn three(spread: &Spread, factor: f64, beyond: &str) -> String {
    if spread.of == 0 {
        return "-".to_owned();
    }
    spread.at.map(|at| quantile(at, factor, beyond)).join(" / ")
}

/// Returns three quantiles of the rate found over the rate available: the 10th percentile, the median, and the 90th percentile.
fn found(one: &Standing) -> String {
    let Quantile::Value { value: under, .. } = one.rate_under.at[1] else { return "-".to_owned() };
    let [median, high, _] = one.rate_over.at;
    format!("{} / {} / {}", significant(1.0 / under), quantile(median, 1.0, "-"), quantile(high, 1.0, "-"))
}

#[cfg(test)]
pub(crate) mod tests;
