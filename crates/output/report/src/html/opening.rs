//! The first screen of a race's page: what each scheme costs and whom, and the windows of all schemes side by side. It needs no script.

use serde::Serialize;

use super::drawn::{Drawn, RunWindow, Traces};
use super::merged::Merged;
use super::styles::{Style, styles};
use crate::human;
use crate::report::{Report, Subject};
use crate::svg::multiple::{self, Shared, Small};
use crate::svg::tradeoff::{self, Point, Tradeoff};
use firstflight_export::columns::{CI95, is_flows, is_population};
use firstflight_export::record::{Record, number, text};

/// The contents of the first screen.
#[derive(Default, Serialize)]
pub(crate) struct Opening {
    /// The charts of two prices.
    charts: Vec<Chart>,
    /// The small plots of windows.
    multiples: Vec<Multiple>,
    /// The number of runs in the bands of the small plots; 0 without bands.
    band_runs: usize,
    /// Whether the small plots have the line of the queue's limit.
    has_limit: bool,
    /// Whether numbers have confidence intervals.
    has_intervals: bool,
    /// Whether the page draws the lag behind the ideal.
    has_lag: bool,
    /// The end of the small plots in words; empty without plots.
    until: String,
    /// Sentences about what the charts show or leave out.
    notes: Vec<String>,
}

/// A chart of cost against loss or harm.
#[derive(Serialize)]
struct Chart {
    title: String,
    svg: String,
    /// The description for readers who do not see the chart.
    label: String,
}

/// The small plot of a scheme.
#[derive(Serialize)]
struct Multiple {
    panel: usize,
    name: String,
    facts: String,
    svg: String,
}

/// A number of a row that a chart shows.
struct Measure {
    field: &'static str,
    /// The title of the axis.
    axis: &'static str,
    /// The name in a sentence.
    name: &'static str,
    /// The factor from the field's unit, and the unit shown.
    factor: f64,
    unit: &'static str,
    more_is_better: bool,
}

const fn measure(field: &'static str, axis: &'static str, name: &'static str) -> Measure {
    Measure { field, axis, name, factor: 1.0, unit: "", more_is_better: false }
}

/// What the horizontal axis may show: the first number that most rows have.
const SPEEDS: [Measure; 5] = [
    measure("cost", "cost: completion time, × ideal", "cost"),
    Measure { unit: " s", ..measure("elapsed_s", "time for all replies, s", "elapsed") },
    Measure { unit: " s", ..measure("fct_s", "completion time, s", "completed in") },
    Measure {
        unit: " s",
        ..measure("time_to_90pct_s", "time to 90 % of the available rate, s", "time to 90 %")
    },
    Measure {
        factor: 1e-6,
        unit: " Mbit/s",
        more_is_better: true,
        ..measure("throughput_bps", "throughput, Mbit/s", "throughput")
    },
];

/// What the vertical axes show.
const PRICES: [Measure; 3] = [
    Measure {
        factor: 100.0,
        unit: " %",
        ..measure("su_loss", "su-loss: packets lost in start-up, %", "su-loss")
    },
    measure("harm_per_byte", "harm: bytes that others lose for each byte carried", "harm"),
    measure("drops", "packets dropped of a reply", "dropped"),
];

impl Measure {
    fn of(&self, row: &Record) -> Option<f64> {
        number(row, self.field).filter(|value| value.is_finite()).map(|value| value * self.factor)
    }

    /// Returns half the confidence interval; 0 without an interval.
    fn half(&self, row: &Record) -> f64 {
        number(row, &format!("{}{CI95}", self.field)).map_or(0.0, |half| half * self.factor)
    }

    fn says(&self, row: &Record) -> String {
        let Some(value) = self.of(row) else { return format!("{} –", self.name) };
        let half = self.half(row);
        let interval = if half > 0.0 { format!(" ±{}", human::significant(half)) } else { String::new() };
        format!("{} {}{interval}{}", self.name, human::significant(value), self.unit)
    }
}

impl Opening {
    /// Returns the first screen; it is empty unless the report is of a race of several schemes.
    pub(crate) fn new(report: &Report, merged: &Merged) -> Self {
        let has_lag = !report.ideal.is_empty();
        let rows: Vec<usize> = merged.rows().collect();
        let is_other = is_population(&report.rows) || is_flows(&report.rows);
        if report.subject != Subject::Race || is_other || rows.len() < 2 {
            return Self { has_lag, ..Self::default() };
        }
        let most = |speed: &&Measure| {
            let having = rows.iter().filter(|&&at| speed.of(&report.rows[at]).is_some()).count();
            having >= 2 && having * 2 >= rows.len()
        };
        let Some(speed) = SPEEDS.iter().find(most) else { return Self { has_lag, ..Self::default() } };
        let schemes = rows.iter().map(|&at| text(&report.rows[at], "scheme"));
        let scene = Scene { report, merged, styles: styles(schemes), rows, speed };
        let mut notes = Vec::new();
        let charts: Vec<Chart> = PRICES.iter().filter_map(|price| scene.chart(price, &mut notes)).collect();
        notes.extend(scene.sentences());
        let mut opening =
            Self { charts, notes, has_lag, has_intervals: scene.has_intervals(), ..Self::default() };
        scene.multiples(&mut opening);
        opening
    }
}

/// What the charts and the small plots draw.
struct Scene<'a> {
    report: &'a Report,
    merged: &'a Merged,
    /// The rows that repeat no other.
    rows: Vec<usize>,
    /// The style of each of these rows.
    styles: Vec<Option<Style>>,
    speed: &'static Measure,
}

impl Scene<'_> {
    fn has_intervals(&self) -> bool {
        self.rows.iter().any(|&at| self.speed.half(self.row(at)) > 0.0)
    }

    fn row(&self, at: usize) -> &Record {
        &self.report.rows[at]
    }

    /// Returns the name of the row: its label, or its scheme without parameters if no other row has that scheme.
    fn short(&self, at: usize) -> String {
        let (label, scheme) = (text(self.row(at), "label"), text(self.row(at), "scheme"));
        let same = self.report.rows.iter().filter(|row| text(row, "scheme") == scheme).count();
        match label {
            "" if same == 1 => scheme.to_owned(),
            _ => firstflight_export::record::name(self.row(at)),
        }
    }

    fn style(&self, place: usize) -> Style {
        let unnamed = Style { colour: "muted", dash: "solid" };
        self.styles[place].unwrap_or(unnamed)
    }

    /// Returns the chart of the speed and this price; `None` if fewer than two rows have it, or if it is zero in all rows, which a note then
    /// says.
    fn chart(&self, price: &Measure, notes: &mut Vec<String>) -> Option<Chart> {
        let having = |place: &usize| {
            let row = self.row(self.rows[*place]);
            self.speed.of(row).is_some() && price.of(row).is_some()
        };
        let (shown, missing): (Vec<usize>, Vec<usize>) = (0..self.rows.len()).partition(having);
        if shown.len() < 2 {
            return None;
        }
        if shown.iter().all(|&place| price.of(self.row(self.rows[place])) == Some(0.0)) {
            notes.push(format!("No scheme has any {}.", price.name));
            return None;
        }
        let point = |&place: &usize| {
            let at = self.rows[place];
            let (row, style) = (self.row(at), self.style(place));
            let value = |measure: &Measure| measure.of(row).unwrap_or_default();
            Point {
                name: self.short(at),
                says: format!("{}: {}, {}", self.short(at), self.speed.says(row), price.says(row)),
                colour: style.colour,
                shape: style.dash_number(),
                panel: self.merged.panel(at),
                at: [value(self.speed), value(price)],
                half: [self.speed.half(row), price.half(row)],
            }
        };
        let chart = Tradeoff {
            labels: [self.speed.axis, price.axis].map(str::to_owned),
            more_is_better: self.speed.more_is_better,
            points: shown.iter().map(point).collect(),
        };
        let drawn = tradeoff::render(&chart);
        let title = format!("{} against {}", self.speed.name, price.name);
        if !drawn.unnamed.is_empty() {
            notes.push(format!("Without room for a name in {title}: {}.", drawn.unnamed.join(", ")));
        }
        if !missing.is_empty() {
            let names: Vec<String> = missing.iter().map(|&place| self.short(self.rows[place])).collect();
            notes.push(format!("Not in {title}, because a number is undefined: {}.", names.join(", ")));
        }
        let all: Vec<&str> = chart.points.iter().map(|point| point.says.as_str()).collect();
        let label = format!(
            "{title}. No scheme betters these in both: {}. {}",
            drawn.front.join(", "),
            all.join("; ")
        );
        Some(Chart { title, svg: drawn.svg, label })
    }

    /// Returns the names of runs that are the same, and what a cost below 1 means.
    fn sentences(&self) -> Vec<String> {
        let same = |&at: &usize| {
            let others = self.merged.others(at);
            (!others.is_empty()).then(|| format!("{} = {}", self.short(at), others.join(" = ")))
        };
        let same: Vec<String> = self.rows.iter().filter_map(same).collect();
        let mut notes = Vec::new();
        if !same.is_empty() {
            notes.push(format!("The same run, drawn once: {}.", same.join("; ")));
        }
        if self.rows.iter().any(|&at| takes_more_than_a_share(self.row(at))) {
            notes
                .push("A cost below 1 is no better than the ideal: it is more than a fair share.".to_owned());
        }
        notes
    }

    /// Adds the small plots, if at least two runs are drawn.
    fn multiples(&self, opening: &mut Opening) {
        let drawn = |place: usize| {
            let panel = self.merged.panel(self.rows[place])?;
            let run = self.merged.panels(self.report).nth(panel)?;
            Some((place, panel, run))
        };
        let drawn: Vec<(usize, usize, &Drawn)> = (0..self.rows.len()).filter_map(drawn).collect();
        if drawn.len() < 2 {
            return;
        }
        let until = until(drawn.iter().map(|one| &one.2.run));
        let small = |&(place, _, one): &(usize, usize, &Drawn)| {
            let run = &one.run;
            let window = run.packets(&run.cwnd, 1.0 / f64::from(run.mss));
            Small {
                colour: self.style(place).colour,
                band: band(&window, run.end(), one.further(), until),
                window,
                product: run.packets(&run.product, 1e-3),
                queue: self.report.queue_packets,
                exit: run.exit(),
            }
        };
        let plots: Vec<Small> = drawn.iter().map(small).collect();
        opening.band_runs =
            drawn.iter().map(|one| one.2.further().len() + 1).max().filter(|&runs| runs > 1).unwrap_or(0);
        let within = |points: &[(f64, f64)]| {
            let seen = points.iter().filter(|point| point.0 <= until);
            seen.map(|point| point.1).fold(0.0, f64::max)
        };
        // A band may have a single run far above all others: it is cut off.
        let lines = plots.iter().map(|plot| within(&plot.window)).fold(1.0, f64::max);
        let bands = plots.iter().flat_map(|plot| &plot.band).map(|point| point.2).fold(lines, f64::max);
        let windows = bands.min(lines * 1.5);
        let limits =
            plots.iter().map(|plot| within(&plot.product) + plot.queue.unwrap_or(0.0)).fold(0.0, f64::max);
        let most = if limits <= windows * crate::reference::ROOM { windows.max(limits) } else { windows };
        let shared = Shared { span: [0.0, until], most: most * 1.05 };
        opening.until = human::seconds(until);
        opening.has_limit = self.report.queue_packets.is_some_and(|_| limits <= shared.most);
        opening.multiples = drawn
            .iter()
            .zip(&plots)
            .map(|(&(place, panel, _), plot)| {
                let row = self.row(self.rows[place]);
                let prices = PRICES.iter().filter(|price| price.of(row).is_some());
                let facts: Vec<String> =
                    std::iter::once(self.speed).chain(prices).map(|measure| plain(measure, row)).collect();
                Multiple {
                    panel,
                    name: self.short(self.rows[place]),
                    facts: facts.join(" · "),
                    svg: multiple::render(plot, &shared),
                }
            })
            .collect();
    }
}

/// The number of places of a band. A small plot has fewer pixels in three parts of four.
const BAND_PLACES: u32 = 120;

/// Returns the lowest and the highest window over all runs, as long as at least half of the runs and two of them last. `first` and `end` are of
/// the first run.
fn band(first: &[(f64, f64)], end: f64, further: &[RunWindow], until: f64) -> Vec<(f64, f64, f64)> {
    if further.is_empty() {
        return Vec::new();
    }
    let runs = further.len() + 1;
    let at = |place: u32| {
        let t = until * f64::from(place) / f64::from(BAND_PLACES);
        let before = first.partition_point(|step| step.0 <= t);
        let own = first[..before].last().map(|step| step.1).filter(|_| t <= end);
        let windows: Vec<f64> = own.into_iter().chain(further.iter().filter_map(|run| run.at(t))).collect();
        let lowest = windows.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = windows.iter().copied().fold(0.0, f64::max);
        (windows.len() >= 2 && windows.len() * 2 >= runs).then_some((t, lowest, highest))
    };
    (0..=BAND_PLACES).map_while(at).collect()
}

/// Returns the measure in a few words, without its interval.
fn plain(measure: &Measure, row: &Record) -> String {
    let value =
        measure.of(row).map_or_else(|| "–".to_owned(), |value| human::significant(value) + measure.unit);
    format!("{} {value}", measure.name)
}

/// Checks whether the row's cost shows more than a fair share.
pub(super) fn takes_more_than_a_share(row: &Record) -> bool {
    text(row, "ideal_kind") == "fair-share" && number(row, "cost").is_some_and(|cost| cost < 1.0)
}

/// Returns the end of the small plots: the latest end of a start-up, but at most four times the middle one, so that a single slow run does
/// not press all others together.
fn until<'a>(runs: impl Iterator<Item = &'a Traces>) -> f64 {
    let mut ends: Vec<f64> = runs.map(Traces::startup_end).collect();
    ends.sort_by(f64::total_cmp);
    let middle = ends.get(ends.len() / 2).copied().unwrap_or(1.0);
    ends.last().copied().unwrap_or(1.0).min(4.0 * middle).max(1e-6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstflight_measure::{Recording, State};

    fn run(seed: u64, packets: u64, end: u64) -> RunWindow {
        let states = vec![State { at: 0, cwnd: packets * 1000, ssthresh: None, in_flight: 0 }];
        let end = end * 1_000_000_000;
        let recording =
            Recording { mss: 1000, first_data_at: Some(0), ended_at: end, states, ..Recording::default() };
        RunWindow::new(seed, &recording)
    }

    #[test]
    fn a_band_spans_all_runs_as_long_as_half_of_them_last() {
        let first = [(0.0, 5.0)];
        let further = [run(2, 3, 10), run(3, 9, 4), run(4, 4, 4)];
        let band = band(&first, 6.0, &further, 12.0);
        assert_eq!(band.first(), Some(&(0.0, 3.0, 9.0)));
        let (last, low, high) = *band.last().unwrap();
        assert!((5.9..=6.0).contains(&last) && (low, high) == (3.0, 5.0), "{last} {low} {high}");
        assert!(super::band(&first, 6.0, &[], 12.0).is_empty(), "one run has no band");
    }
}
