//! Conditions on the numbers of schemes, as in `leap.cost<=1.6` or `cost<=baseline*1.05`.

use firstflight_export::columns::{CI95, Column, Kind, column, described_field};
use firstflight_scenario::condition::{Comparison, Parts, SIGNS, Unit, parts};
use firstflight_scenario::quantity;

use crate::comparison::near;
use crate::side::split;

/// A condition on a number of one scheme, or of all schemes.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The condition as it was written.
    pub text: String,
    /// The scheme; `None` for all schemes.
    pub(crate) scheme: Option<String>,
    /// The field, with or without the suffix of a spread.
    pub(crate) field: String,
    pub(crate) comparison: Comparison,
    pub(crate) wanted: Wanted,
}

/// The value that a number is compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Wanted {
    Number(f64),
    /// The number of the same scheme in the baseline, times a factor, plus a number.
    Baseline {
        factor: f64,
        plus: f64,
    },
}

/// A condition that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}`: {why}")]
pub struct ConditionError {
    /// The condition.
    pub text: String,
    /// The fault, and what is allowed.
    pub why: String,
}

/// The word for the baseline's number.
const BASELINE: &str = "baseline";

impl Condition {
    /// Reads a condition `[SCHEME.]FIELD OPERATOR VALUE`. The operator is one of `= != < <= > >=`. The value is a number with or without a
    /// unit, or `baseline`, `baseline*1.05` or `baseline+10ms`. `schemes` are the names that rows have.
    /// `numbers` are further numbers of the rows, which are ratios or counts.
    ///
    /// # Errors
    /// Fails with a line that says what is allowed, if the text is no condition or names no scheme or number of the rows.
    pub fn parse(text: &str, schemes: &[String], numbers: &[String]) -> Result<Self, ConditionError> {
        Self::read(text.trim(), schemes, numbers)
            .map_err(|why| ConditionError { text: quantity::in_a_line(text).clone(), why })
    }

    fn read(text: &str, schemes: &[String], numbers: &[String]) -> Result<Self, String> {
        // A scheme's name may have signs and dots, as in `paced:first=4`. The longest name counts.
        let of_scheme = schemes
            .iter()
            .filter_map(|name| Some((name, text.strip_prefix(name.as_str())?.strip_prefix('.')?)))
            .max_by_key(|(name, _)| name.len());
        let (scheme, rest) = match of_scheme {
            Some((name, rest)) => (Some(name.clone()), rest),
            None => (None, text),
        };
        let form = || {
            "a condition is a number of the rows, one of = != < <= > >=, and a value, as in `cost<=1.6`, `leap.su_loss<2%`, \
             `fct_s_p99<=baseline*1.05`"
                .to_owned()
        };
        let Some(Parts { name, comparison, value, .. }) = parts(rest, &SIGNS) else { return Err(form()) };
        if name.is_empty() || value.is_empty() {
            return Err(form());
        }
        if value.starts_with(['=', '!', '<', '>', '~']) {
            return Err("the comparisons are = != < <= > >=".to_owned());
        }
        let is_given = numbers.iter().any(|number| number == name);
        let found = known(name).or(is_given.then_some((Kind::Real, "1")));
        let Some(found) = found else { return Err(unknown(name, schemes)) };
        if !matches!(found.0, Kind::Whole | Kind::Real) {
            return Err(format!("`{name}` is no number"));
        }
        let wanted = match value.strip_prefix(BASELINE) {
            Some(rest) => baseline(rest.trim(), found.1)?,
            None => Wanted::Number(of_unit(found.1, name, value)?),
        };
        Ok(Self { text: quantity::in_a_line(text), scheme, field: name.to_owned(), comparison, wanted })
    }

    /// Checks whether the condition needs a baseline.
    pub fn needs_baseline(&self) -> bool {
        matches!(self.wanted, Wanted::Baseline { .. })
    }

    /// Returns the field of the condition.
    pub fn field(&self) -> &str {
        &self.field
    }
}

/// Returns the kind and the unit of a field of any result; `None` for an unknown field.
fn known(name: &str) -> Option<(Kind, &'static str)> {
    let stem = name.strip_suffix(CI95).unwrap_or(name);
    let of = |column: &Column| (column.kind, column.unit);
    column(name).or_else(|| described_field(name)).or_else(|| described_field(split(stem).0)).map(of)
}

fn unknown(name: &str, schemes: &[String]) -> String {
    let known = firstflight_export::columns::COLUMNS.iter().map(|column| column.name);
    if let Some((scheme, field)) = name.rsplit_once('.') {
        let names = || schemes.iter().map(String::as_str);
        let all = || names().collect::<Vec<_>>().join(", ");
        let meant = near(scheme, names())
            .map_or_else(|| format!("there are {}", all()), |near| format!("is `{near}.{field}` meant?"));
        return format!("no row is of `{scheme}`; {meant}");
    }
    match near(&name.replace('-', "_"), known) {
        Some(near) => format!("there is no number `{name}`; is `{near}` meant?"),
        None => format!("there is no number `{name}`; the numbers are the fields of --json"),
    }
}

fn baseline(rest: &str, unit: &'static str) -> Result<Wanted, String> {
    if rest.is_empty() {
        return Ok(Wanted::Baseline { factor: 1.0, plus: 0.0 });
    }
    let wrong = || format!("`baseline{rest}`: write `baseline`, `baseline*1.05` or `baseline+VALUE`");
    let (sign, number) = rest.split_at_checked(1).ok_or_else(wrong)?;
    let number = number.trim();
    match sign {
        "*" => {
            let factor = number.parse::<f64>().ok().filter(|factor| factor.is_finite());
            Ok(Wanted::Baseline { factor: factor.ok_or_else(wrong)?, plus: 0.0 })
        }
        "+" => Ok(Wanted::Baseline { factor: 1.0, plus: of_unit(unit, BASELINE, number)? }),
        "-" => Ok(Wanted::Baseline { factor: 1.0, plus: -of_unit(unit, BASELINE, number)? }),
        _ => Err(wrong()),
    }
}

/// Reads a number of a field in the form in which it is printed, or with a unit.
///
/// # Errors
/// Fails with a line for the user if the text is no number of the field's unit.
pub fn number(column: &Column, text: &str) -> Result<f64, String> {
    of_unit(column.unit, column.name, text)
}

fn of_unit(unit: &str, name: &str, text: &str) -> Result<f64, String> {
    if let Ok(number) = text.parse::<f64>() {
        return if number.is_finite() { Ok(number) } else { Err(format!("`{text}` is no number")) };
    }
    let unit = match unit {
        "s" => Unit::Time,
        "bytes" => Unit::Bytes,
        "bit/s" => Unit::Rate,
        "1" if text.ends_with('%') => Unit::Share,
        _ => return Err(format!("`{text}` is no number, as `{name}` is")),
    };
    unit.read(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Condition, String> {
        let schemes = ["leap", "paced:first=4", "leap-saved:saved=1.5kB"].map(str::to_owned);
        Condition::parse(text, &schemes, &[]).map_err(|error| error.to_string())
    }

    #[test]
    fn a_condition_names_a_scheme_a_number_and_a_value() {
        for (text, scheme, field, comparison, wanted) in [
            ("cost<=1.6", None, "cost", Comparison::AtMost, Wanted::Number(1.6)),
            ("leap.cost < 2", Some("leap"), "cost", Comparison::Less, Wanted::Number(2.0)),
            (
                "paced:first=4.su_loss=2%",
                Some("paced:first=4"),
                "su_loss",
                Comparison::Equal,
                Wanted::Number(0.02),
            ),
            ("fct_s_p99<=250ms", None, "fct_s_p99", Comparison::AtMost, Wanted::Number(0.25)),
            ("throughput_bps>=9mbit", None, "throughput_bps", Comparison::AtLeast, Wanted::Number(9e6)),
            (
                "leap-saved:saved=1.5kB.cost<=baseline*1.05",
                Some("leap-saved:saved=1.5kB"),
                "cost",
                Comparison::AtMost,
                Wanted::Baseline { factor: 1.05, plus: 0.0 },
            ),
            (
                "fct_s<=baseline + 10ms",
                None,
                "fct_s",
                Comparison::AtMost,
                Wanted::Baseline { factor: 1.0, plus: 0.01 },
            ),
            (
                "timeouts=baseline",
                None,
                "timeouts",
                Comparison::Equal,
                Wanted::Baseline { factor: 1.0, plus: 0.0 },
            ),
        ] {
            let found = read(text).expect(text);
            assert_eq!(
                (found.scheme.as_deref(), found.field.as_str(), found.comparison, found.wanted),
                (scheme, field, comparison, wanted),
                "{text}"
            );
        }
    }

    #[test]
    fn a_wrong_condition_is_one_line_with_what_is_allowed() {
        for (text, words) in [
            ("cost", "a condition is a number of the rows"),
            ("<=1", "a condition is"),
            ("costs<=1", "is `cost` meant?"),
            ("elephants<=1", "the fields of --json"),
            ("leep.cost<=1", "no row is of `leep`; is `leap.cost` meant?"),
            ("giraffe.cost<=1", "there are leap, paced:first=4"),
            ("exit_cause=loss", "`exit_cause` is no number"),
            ("cost<=many", "`many` is no number"),
            ("cost<=nan", "`nan` is no number"),
            ("cost<=baseline/2", "write `baseline`, `baseline*1.05`"),
            ("cost<=baseline*x", "write `baseline`"),
            ("cost=<1", "the comparisons are"),
            ("fct_s<=5furlongs", "unknown unit"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(words), "{text}: {error}");
            assert_eq!(error.lines().count(), 1, "{error}");
        }
    }
}
