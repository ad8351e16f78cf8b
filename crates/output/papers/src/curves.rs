//! The curves of plots, computed from the runs of a figure.

use firstflight_measure::student::mean_and_ci95;

use crate::evaluate::{Runs, View};
use crate::figure::{Curve, Figure, Plot};
use crate::runs::OneRun;
use crate::value::Value;
use crate::words::Kind;

/// A curve that is drawn. Each point may have half the width of its confidence interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Drawn {
    pub(crate) label: String,
    pub(crate) points: Vec<(f64, f64, Option<f64>)>,
}

/// Returns the curves of each plot. If there is a second axis and the expression does not choose a value of it, each of its values gives a
/// curve.
pub(crate) fn curves(figure: &Figure, outcomes: &[Vec<OneRun>]) -> Result<Vec<Vec<Drawn>>, String> {
    figure.plots.iter().map(|plot| plot_curves(figure, plot, outcomes)).collect()
}

fn plot_curves(figure: &Figure, plot: &Plot, outcomes: &[Vec<OneRun>]) -> Result<Vec<Drawn>, String> {
    let mut drawn = Vec::new();
    for curve in &plot.curves {
        for (suffix, fixed) in branches(figure, plot.kind, curve) {
            let mut one = drawn_curve(figure, plot.kind, curve, outcomes, &fixed)?;
            one.label = format!("{}{suffix}", curve.label);
            drawn.push(one);
        }
    }
    Ok(drawn)
}

/// Returns the branches of a curve, one for each combination of values of the axes that are not the plot's x axis. Each has the suffix of
/// the curve's name, and the axes with the places on them.
fn branches(figure: &Figure, kind: Kind, curve: &Curve) -> Vec<(String, Vec<(usize, usize)>)> {
    let own = usize::from(!matches!(kind, Kind::Cdf | Kind::Ordered | Kind::Series));
    let varies =
        |key: &str| curve.y.varies_along(key) || curve.x.as_ref().is_some_and(|x| x.varies_along(key));
    let mut branches = vec![(String::new(), Vec::new())];
    let axes = figure.points.axes.iter().enumerate().filter(|(_, axis)| varies(&axis.key));
    for (axis, described) in axes.skip(own) {
        let mut more = Vec::new();
        for (suffix, fixed) in &branches {
            for (place, value) in described.values.iter().enumerate() {
                let mut fixed: Vec<(usize, usize)> = fixed.clone();
                fixed.push((axis, place));
                more.push((format!("{suffix}, {} {}", described.key, value.name), fixed));
            }
        }
        branches = more;
    }
    branches
}

fn drawn_curve(
    figure: &Figure,
    kind: Kind,
    curve: &Curve,
    outcomes: &[Vec<OneRun>],
    fixed: &[(usize, usize)],
) -> Result<Drawn, String> {
    let view = |seed: usize| {
        let all = View::new(&figure.points, figure.slot, outcomes, Runs::One(seed));
        fixed.iter().fold(all, |view, (axis, place)| view.at(*axis, *place))
    };
    let is_sampled = matches!(kind, Kind::Cdf | Kind::Ordered);
    if is_sampled {
        let mut sample = Vec::new();
        for seed in 0..figure.points.runs() as usize {
            match view(seed).value(&curve.y)? {
                Value::Samples(samples) => sample.extend(samples.into_iter().flat_map(|(_, sample)| sample)),
                other => sample.extend(other.points()?.into_iter().map(|(_, y)| y)),
            }
        }
        return Ok(Drawn { points: sorted(kind, sample), ..Drawn::default() });
    }
    // A series is only drawn for the first run.
    let seeds = if kind == Kind::Series { 1 } else { figure.points.runs() as usize };
    let mut of_seeds = Vec::new();
    for seed in 0..seeds {
        let ys = view(seed).value(&curve.y)?.points()?;
        let points = match &curve.x {
            None => ys,
            Some(x) => {
                let xs = view(seed).value(x)?.points()?;
                xs.into_iter().zip(ys).map(|((_, x), (_, y))| (x, y)).collect()
            }
        };
        of_seeds.push(points);
    }
    Ok(Drawn { points: means(&of_seeds), ..Drawn::default() })
}

/// Returns the mean at each place, and half its confidence interval. Omits places that are undefined in a run.
fn means(of_seeds: &[Vec<(f64, f64)>]) -> Vec<(f64, f64, Option<f64>)> {
    let count = of_seeds.iter().map(Vec::len).min().unwrap_or(0);
    let at = |place: usize| {
        let ys: Vec<f64> = of_seeds.iter().map(|points| points[place].1).collect();
        let xs: Vec<f64> = of_seeds.iter().map(|points| points[place].0).collect();
        let (x, _) = mean_and_ci95(&xs)?;
        let (y, half) = mean_and_ci95(&ys)?;
        (x.is_finite() && y.is_finite()).then_some((x, y, half))
    };
    (0..count).filter_map(at).collect()
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn sorted(kind: Kind, mut sample: Vec<f64>) -> Vec<(f64, f64, Option<f64>)> {
    sample.retain(|one| one.is_finite());
    sample.sort_by(f64::total_cmp);
    let count = sample.len() as f64;
    let point = |(place, value): (usize, f64)| {
        let rank = (place + 1) as f64;
        if kind == Kind::Cdf { (value, rank / count, None) } else { (rank, value, None) }
    };
    sample.into_iter().enumerate().map(point).collect()
}

#[cfg(test)]
mod tests {
    use firstflight::registry::Registry;

    use super::*;

    /// Returns the suffixes that the curves of the only plot add to the scheme's name.
    fn suffixes(kind: &str, y: &str) -> Vec<String> {
        let text = format!(
            "title = \"t\"\nsection = \"1\"\nfigure = \"1\"\nsetup = \"ns-2\"\n[scenario]\nrate = \"1mbit\"\nrtt = \"10ms\"\n\
             schemes = [\"paced\"]\n[vary]\nqueue = [\"5p\", \"9p\"]\nsize = [\"3p\", \"4p\"]\n[plot]\nkind = \"{kind}\"\ny = \"{y}\"\n"
        );
        let figure = Figure::parse(Registry::builtin(), "past", "figure-1", &text).expect("a figure");
        let plot = &figure.plots[0];
        branches(&figure, plot.kind, &plot.curves[0]).into_iter().map(|(suffix, _)| suffix).collect()
    }

    #[test]
    fn each_axis_value_has_a_curve_unless_the_expression_selects_one() {
        let both =
            [", queue 5p, size 3p", ", queue 5p, size 4p", ", queue 9p, size 3p", ", queue 9p, size 4p"];
        assert_eq!(suffixes("series", "series.cwnd_bytes[*]"), both);
        assert_eq!(suffixes("series", "at(queue=5p, series.cwnd_bytes[*])"), [", size 3p", ", size 4p"]);
        assert_eq!(suffixes("series", "at(size=3p, at(queue=5p, series.cwnd_bytes[*]))"), [""]);
        let partly = "at(queue=5p, series.cwnd_bytes[*]) / max(series.cwnd_bytes[*])";
        assert_eq!(suffixes("series", partly), both);
    }

    #[test]
    fn lines_are_over_the_first_axis_that_is_left() {
        assert_eq!(suffixes("lines", "su_loss[*]"), [", size 3p", ", size 4p"]);
        assert_eq!(suffixes("lines", "at(size=3p, su_loss[*])"), [""]);
        assert_eq!(suffixes("lines", "at(queue=5p, su_loss[*])"), [""]);
    }
}
