//! An axis of a drawing: it maps values to positions, and has ticks at round values.

/// The mapping of values to positions between 0 and 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub(super) least: f64,
    pub(super) most: f64,
    pub(super) logarithmic: bool,
}

/// How an axis is fitted to values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// The axis ends at the minimum and the maximum.
    Tight,
    /// The axis ends at round values. It starts at zero, or if it is logarithmic, at a power of ten.
    Round,
}

impl Axis {
    /// Returns an axis over the values. It is logarithmic if that is allowed and they span a decade.
    pub(super) fn over(values: impl Iterator<Item = f64>, may_be_log: bool, fit: Fit) -> Self {
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|value| value.is_finite()) {
            (least, most) = (least.min(value), most.max(value));
        }
        let logarithmic = may_be_log && least > 0.0 && most / least >= 10.0;
        let is_round = fit == Fit::Round;
        if is_round && !logarithmic {
            (least, most) = (least.min(0.0), most.max(0.0));
        }
        if is_round && logarithmic {
            least = power(libm::floor(libm::log10(least) + 1e-9));
            most = power(libm::ceil(libm::log10(most) - 1e-9));
        }
        if most <= least {
            most = least + 1.0;
        }
        if is_round && !logarithmic {
            let step = round_step(least, most, COUNT);
            (least, most) = (libm::floor(least / step) * step, libm::ceil(most / step - 1e-9) * step);
        }
        Self { least, most, logarithmic }
    }

    /// Returns the position of the value: from 0 to 1 on the axis, and outside that range if the value is beyond the axis.
    pub(super) fn share(&self, value: f64) -> f64 {
        if self.logarithmic {
            return libm::log(value / self.least) / libm::log(self.most / self.least);
        }
        (value - self.least) / (self.most - self.least)
    }

    /// Returns round values along the axis.
    pub(super) fn ticks(&self) -> Vec<f64> {
        self.some_ticks(COUNT)
    }

    /// Returns round values along the axis, about `count` of them at most.
    pub(super) fn some_ticks(&self, count: f64) -> Vec<f64> {
        if self.logarithmic { self.decades() } else { self.steps(count) }
    }

    /// Returns powers of ten. If they are few, their multiples by two and five are added.
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

    /// Returns the multiples of a round step, about `count` of them at most.
    fn steps(&self, count: f64) -> Vec<f64> {
        let step = round_step(self.least, self.most, count);
        let mut ticks = Vec::new();
        let mut count = libm::ceil(self.least / step - 1e-9);
        while count * step <= self.most + step * 1e-9 && ticks.len() < 20 {
            ticks.push(count * step);
            count += 1.0;
        }
        ticks
    }
}

/// The maximum number of ticks of an axis.
const COUNT: f64 = 8.0;

/// Returns the smallest step that is 1, 2 or 5 times a power of ten, and of which at most `count` fit between `least` and `most`.
fn round_step(least: f64, most: f64, count: f64) -> f64 {
    let rough = (most - least) / count;
    let decade = power(libm::floor(libm::log10(rough)));
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|one| one * decade).find(|step| *step >= rough);
    step.unwrap_or(rough)
}

fn power(exponent: f64) -> f64 {
    libm::pow(10.0, exponent)
}

/// Formats a value with a metric prefix: `12 ms`, `100 kB`, `0.5`.
pub(super) fn with_prefix(value: f64, unit: &str) -> String {
    if unit.is_empty() || value == 0.0 {
        return format!("{} {unit}", short(value)).trim_end().to_owned();
    }
    let prefixes =
        [("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0), ("m", 1e-3), ("µ", 1e-6), ("n", 1e-9)];
    let size = value.abs() * (1.0 + 1e-9);
    let (prefix, factor) = prefixes.into_iter().find(|(_, factor)| size >= *factor).unwrap_or(("n", 1e-9));
    format!("{} {prefix}{unit}", short(value / factor))
}

/// Formats a value to five significant digits, without trailing zeros.
fn short(value: f64) -> String {
    // Adding zero removes the sign of a negative zero.
    let rounded = format!("{value:.4e}").parse().unwrap_or(value) + 0.0;
    let size = rounded.abs();
    if rounded != 0.0 && !(1e-6..1e10).contains(&size) { format!("{rounded:e}") } else { rounded.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ticks_are_ordered_within_the_axis_and_number_two_to_twenty(
            least in 1e-3_f64..1e6, factor in 1.001_f64..1e6, is_log in any::<bool>(), is_round in any::<bool>()
        ) {
            let fit = if is_round { Fit::Round } else { Fit::Tight };
            let axis = Axis::over([least, least * factor].into_iter(), is_log, fit);
            let ticks = axis.ticks();
            prop_assert!((2..=20).contains(&ticks.len()), "{axis:?} {ticks:?}");
            prop_assert!(ticks.is_sorted_by(|a, b| a < b), "{ticks:?}");
            for tick in ticks {
                prop_assert!((-1e-6..=1.0 + 1e-6).contains(&axis.share(tick)), "{axis:?} {tick}");
            }
        }
    }

    #[test]
    fn a_round_axis_begins_at_zero_and_ends_above_all_values() {
        let axis = Axis::over([3.0, 871.0].into_iter(), false, Fit::Round);
        assert_eq!((axis.least, axis.most), (0.0, 1000.0));
        let axis = Axis::over([3.0, 871.0].into_iter(), true, Fit::Round);
        assert_eq!((axis.least, axis.most, axis.logarithmic), (1.0, 1000.0, true));
    }

    #[test]
    fn values_beside_an_axis_are_short() {
        let cases =
            [(0.0, "s", "0 s"), (0.0125, "s", "12.5 ms"), (1e8, "bit/s", "100 Mbit/s"), (0.3, "", "0.3")];
        for (value, unit, text) in cases {
            assert_eq!(with_prefix(value, unit), text);
        }
        assert_eq!(short(0.1 + 0.2), "0.3");
        assert_eq!((short(-0.0), with_prefix(-0.0, "s")), ("0".to_owned(), "0 s".to_owned()));
    }
}
