//! A sweep as a drawing: one curve a column, axes in decades where the values span them.

use std::fmt::Write;

use firstflight_lab::model::{Model, Quantity, Sweep, Unit};

use super::Answer;
use super::table::trimmed;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 470.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 20.0;
const BOTTOM: f64 = 60.0;

/// From the top to the first line of the legend, and from line to line.
const LEGEND: f64 = 46.0;
const LINE: f64 = 18.0;

/// Colours that the colour-blind tell apart (Okabe and Ito), each with a dash of its own for print.
const STYLES: [(&str, &str); 6] = [
    ("#0072b2", "none"),
    ("#d55e00", "8 4"),
    ("#009e73", "2 3"),
    ("#cc79a7", "10 3 2 3"),
    ("#e69f00", "14 4"),
    ("#000000", "4 2"),
];

/// A curve: its name and its points, with a gap where it is undefined.
struct Curve<'a> {
    name: &'a str,
    what: &'a str,
    points: Vec<(f64, Option<f64>)>,
}

/// An axis: where values stand between 0 and 1.
struct Axis {
    least: f64,
    most: f64,
    logarithmic: bool,
}

/// The columns of a sweep as curves. Without a choice by name, those in the unit that most have.
pub(super) fn curves(
    model: &Model,
    sweep: &Sweep,
    answers: &[Answer],
    columns: &[usize],
    chosen: bool,
) -> Result<String, String> {
    let first = answers.first().map(|answer| &answer.row).ok_or("there is nothing to draw")?;
    if sweep.points.len() < 2 || sweep.points.iter().any(|point| matches!(point, Quantity::Word(_))) {
        return Err("a curve wants two points or more, and numbers".to_owned());
    }
    let numeric = |at: &usize| answers.iter().any(|answer| answer.row[*at].value.number().is_some());
    let (drawn, unit) = of_one_unit(columns, |at| first[at].unit, numeric, chosen)?;
    if drawn.len() > STYLES.len() {
        return Err(format!("{} curves are too many; up to {} can be told apart", drawn.len(), STYLES.len()));
    }
    let x = |answer: &Answer| answer.settings.get(sweep.parameter.name).map_or(f64::NAN, Quantity::number);
    let curve = |at: usize| Curve {
        name: first[at].name,
        what: first[at].what,
        points: answers.iter().map(|answer| (x(answer), answer.row[at].value.number())).collect(),
    };
    let curves: Vec<_> = drawn.into_iter().map(curve).collect();
    let label = format!("{}: {}", sweep.parameter.name, sweep.parameter.help);
    let description = describe(model, sweep, answers);
    let x_unit = sweep.points.first().map_or("", |point| unit_of(*point));
    let units = [x_unit, unit.symbol()];
    let xs = curves.iter().flat_map(|curve| curve.points.iter().map(|point| point.0));
    let ys = curves.iter().flat_map(|curve| curve.points.iter().filter_map(|point| point.1));
    let drawing = Drawing {
        title: format!("{} ({})", model.name, model.source),
        description,
        curves: &curves,
        x: Axis::over(xs, sweep.parameter.is_logarithmic(), false),
        y: Axis::over(ys, !units[1].is_empty(), true),
        label: &label,
        units,
    };
    Ok(drawing.svg())
}

/// The parameters but the one on the axis.
fn describe(model: &Model, sweep: &Sweep, answers: &[Answer]) -> String {
    let settings = answers.iter().take(1).flat_map(|answer| answer.settings.iter());
    let fixed = settings.filter(|(parameter, _)| parameter.name != sweep.parameter.name);
    let shown = fixed.filter_map(|(parameter, quantity)| Some(format!("{} {}", parameter.name, quantity?)));
    format!("{}; {}", model.summary, shown.collect::<Vec<_>>().join(", "))
}

/// The columns of one unit: all, if they were chosen; else those of the most frequent.
fn of_one_unit(
    columns: &[usize],
    unit: impl Fn(usize) -> Unit,
    numeric: impl Fn(&usize) -> bool,
    chosen: bool,
) -> Result<(Vec<usize>, Unit), String> {
    let columns: Vec<_> = columns.iter().copied().filter(numeric).collect();
    let of = |wanted: Unit| columns.iter().copied().filter(|at| unit(*at) == wanted).collect::<Vec<_>>();
    let mut best: (Vec<usize>, Unit) = (Vec::new(), Unit::One);
    for at in &columns {
        let same = of(unit(*at));
        if same.len() > best.0.len() {
            best = (same, unit(*at));
        }
    }
    if best.0.is_empty() {
        return Err("none of the columns is a number".to_owned());
    }
    if chosen && best.0.len() < columns.len() {
        return Err("the columns have different units, and a drawing has one axis".to_owned());
    }
    Ok(best)
}

fn unit_of(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Rate(_) => "bit/s",
        Quantity::Span(_) => "s",
        Quantity::Size(_) => "B",
        Quantity::Packets(_) => "p",
        Quantity::PerSecond(_) => "/s",
        Quantity::Share(_) | Quantity::Count(_) | Quantity::Word(_) => "",
    }
}

struct Drawing<'a> {
    title: String,
    /// What the parameters were, for who opens the file.
    description: String,
    curves: &'a [Curve<'a>],
    x: Axis,
    y: Axis,
    label: &'a str,
    units: [&'a str; 2],
}

impl Drawing<'_> {
    fn svg(&self) -> String {
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" \
             height=\"{HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <desc>{}</desc>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
            escaped(&self.description)
        );
        text(&mut out, (LEFT, 24.0), "start", "font-size=\"14\"", &self.title);
        self.axes(&mut out);
        for (curve, style) in self.curves.iter().zip(STYLES) {
            self.line(&mut out, curve, style);
        }
        self.legend(&mut out);
        out += "</svg>\n";
        out
    }

    fn axes(&self, out: &mut String) {
        let bottom = HEIGHT - BOTTOM;
        for value in self.x.ticks() {
            let x = self.place_x(value);
            line(out, (x, self.top()), (x, bottom), "#dddddd");
            text(out, (x, bottom + 18.0), "middle", "", &with_prefix(value, self.units[0]));
        }
        for value in self.y.ticks() {
            let y = self.place_y(value);
            line(out, (LEFT, y), (WIDTH - RIGHT, y), "#dddddd");
            text(out, (LEFT - 8.0, y + 4.0), "end", "", &with_prefix(value, self.units[1]));
        }
        line(out, (LEFT, bottom), (WIDTH - RIGHT, bottom), "#333333");
        line(out, (LEFT, self.top()), (LEFT, bottom), "#333333");
        let middle = f64::midpoint(LEFT, WIDTH - RIGHT);
        text(out, (middle, HEIGHT - 16.0), "middle", "", self.label);
    }

    fn line(&self, out: &mut String, curve: &Curve<'_>, (colour, dash): (&str, &str)) {
        // A gap where the curve is undefined.
        for run in curve.points.split(|(_, y)| y.is_none()).filter(|run| !run.is_empty()) {
            let points: Vec<_> = run
                .iter()
                .filter_map(|(x, y)| Some(format!("{:.1},{:.1}", self.place_x(*x), self.place_y((*y)?))))
                .collect();
            _ = writeln!(
                out,
                "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dash}\" \
                 points=\"{}\"/>",
                points.join(" ")
            );
        }
    }

    fn legend(&self, out: &mut String) {
        let mut y = LEGEND;
        for (curve, (colour, dash)) in self.curves.iter().zip(STYLES) {
            _ = writeln!(
                out,
                "<line x1=\"{LEFT}\" y1=\"{0}\" x2=\"{1}\" y2=\"{0}\" stroke=\"{colour}\" stroke-width=\"2\" \
                 stroke-dasharray=\"{dash}\"/>",
                y - 4.0,
                LEFT + 36.0
            );
            text(out, (LEFT + 44.0, y), "start", "", &format!("{}: {}", curve.name, curve.what));
            y += LINE;
        }
    }

    /// Below the legend.
    fn top(&self) -> f64 {
        self.curves.iter().fold(LEGEND, |y, _| y + LINE)
    }

    fn place_x(&self, value: f64) -> f64 {
        LEFT + self.x.share(value) * (WIDTH - LEFT - RIGHT)
    }

    fn place_y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - self.y.share(value) * (HEIGHT - BOTTOM - self.top())
    }
}

impl Axis {
    /// An axis over the values; one that may begin at zero does, unless it is logarithmic.
    fn over(values: impl Iterator<Item = f64>, may_be_log: bool, from_zero: bool) -> Self {
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|value| value.is_finite()) {
            (least, most) = (least.min(value), most.max(value));
        }
        let logarithmic = may_be_log && least > 0.0 && most / least >= 10.0;
        if from_zero && !logarithmic {
            (least, most) = (least.min(0.0), most.max(0.0));
        }
        if from_zero && logarithmic {
            least = power(libm::floor(libm::log10(least) + 1e-9));
            most = power(libm::ceil(libm::log10(most) - 1e-9));
        }
        if most <= least {
            most = least + 1.0;
        }
        if from_zero && !logarithmic {
            let step = round_step(least, most);
            (least, most) = (libm::floor(least / step) * step, libm::ceil(most / step - 1e-9) * step);
        }
        Self { least, most, logarithmic }
    }

    fn share(&self, value: f64) -> f64 {
        if self.logarithmic {
            return libm::log(value / self.least) / libm::log(self.most / self.least);
        }
        (value - self.least) / (self.most - self.least)
    }

    /// Round values along the axis.
    fn ticks(&self) -> Vec<f64> {
        if self.logarithmic { self.decades() } else { self.steps() }
    }

    /// Powers of ten; where they are few, their doubles and fives too.
    fn decades(&self) -> Vec<f64> {
        let few = self.most / self.least < 1e3;
        let multiples: &[f64] = if few { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let within = self.least * (1.0 - 1e-9)..=self.most * (1.0 + 1e-9);
        let mut ticks = Vec::new();
        let mut decade = libm::floor(libm::log10(self.least));
        while decade <= libm::log10(self.most) {
            ticks
                .extend(multiples.iter().map(|one| one * power(decade)).filter(|tick| within.contains(tick)));
            decade += 1.0;
        }
        ticks
    }

    /// Multiples of a round step.
    fn steps(&self) -> Vec<f64> {
        let step = round_step(self.least, self.most);
        let mut ticks = Vec::new();
        let mut count = libm::ceil(self.least / step - 1e-9);
        while count * step <= self.most + step * 1e-9 && ticks.len() < 20 {
            ticks.push(count * step);
            count += 1.0;
        }
        ticks
    }
}

/// 1, 2 or 5 times a power of ten, so that four to nine of them fit.
fn round_step(least: f64, most: f64) -> f64 {
    let rough = (most - least) / 8.0;
    let decade = power(libm::floor(libm::log10(rough)));
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|one| one * decade).find(|step| *step >= rough);
    step.unwrap_or(rough)
}

fn power(exponent: f64) -> f64 {
    libm::pow(10.0, exponent)
}

/// `12 ms`, `100 kB`, `0.5`.
fn with_prefix(value: f64, unit: &str) -> String {
    if unit.is_empty() || value == 0.0 {
        return format!("{} {unit}", trimmed(value)).trim_end().to_owned();
    }
    let prefixes =
        [("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0), ("m", 1e-3), ("µ", 1e-6), ("n", 1e-9)];
    let size = value.abs() * (1.0 + 1e-9);
    let (prefix, factor) = prefixes.into_iter().find(|(_, factor)| size >= *factor).unwrap_or(("n", 1e-9));
    format!("{} {prefix}{unit}", trimmed(value / factor))
}

fn line(out: &mut String, from: (f64, f64), to: (f64, f64), colour: &str) {
    _ = writeln!(
        out,
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\"/>",
        from.0, from.1, to.0, to.1
    );
}

fn text(out: &mut String, at: (f64, f64), anchor: &str, more: &str, words: &str) {
    let words = escaped(words);
    let space = if more.is_empty() { "" } else { " " };
    _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\"{space}{more}>{words}</text>",
        at.0, at.1
    );
}

fn escaped(words: &str) -> String {
    words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
