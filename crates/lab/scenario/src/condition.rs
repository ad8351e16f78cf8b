//! Conditions on the fields of a result or of a path: a name, a comparison and a value, as in `loss<=0.1%`. Each command has its own
//! fields.

use std::cmp::Reverse;

use crate::quantity::{self, Decimal, QuantityError};

/// The comparison of a found value with the wanted value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `!=`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}

/// A sign and its comparison.
pub type Sign = (&'static str, Comparison);

/// The signs of comparisons.
pub const SIGNS: [Sign; 6] = [
    ("=", Comparison::Equal),
    ("!=", Comparison::Unequal),
    ("<", Comparison::Less),
    ("<=", Comparison::AtMost),
    (">", Comparison::Greater),
    (">=", Comparison::AtLeast),
];

impl Comparison {
    /// Returns whether the comparison needs an order, which words do not have.
    pub const fn needs_order(self) -> bool {
        !matches!(self, Self::Equal | Self::Unequal)
    }

    /// Returns the sign of the comparison.
    pub fn sign(self) -> &'static str {
        SIGNS.iter().find(|(_, comparison)| *comparison == self).map_or("", |(sign, _)| sign)
    }

    /// Checks whether a comparison without an order holds for values that are equal or not.
    pub fn holds_if(self, equal: bool) -> bool {
        equal == (self == Self::Equal)
    }

    /// Checks whether the comparison holds for numbers. Numbers that differ by `slack` or less are equal.
    pub fn holds(self, found: f64, wanted: f64, slack: f64) -> bool {
        let equal = (found - wanted).abs() <= slack;
        match self {
            Self::Equal => equal,
            Self::Unequal => !equal,
            Self::Less => found < wanted && !equal,
            Self::AtMost => found < wanted || equal,
            Self::Greater => found > wanted && !equal,
            Self::AtLeast => found > wanted || equal,
        }
    }
}

/// The parts of a condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parts<'a> {
    /// The name of the field.
    pub name: &'a str,
    /// The comparison.
    pub comparison: Comparison,
    /// The wanted value.
    pub value: &'a str,
    /// The text from the comparison's sign on.
    pub rest: &'a str,
}

/// Parts a condition at its first sign; of signs that begin at the same place, at the longest. `None` if it has no sign.
pub fn parts<'a>(text: &'a str, signs: &[Sign]) -> Option<Parts<'a>> {
    let found = signs.iter().filter_map(|(sign, comparison)| Some((text.find(sign)?, *sign, *comparison)));
    let (at, sign, comparison) = found.min_by_key(|(at, sign, _)| (*at, Reverse(sign.len())))?;
    let (name, rest) = text.split_at(at);
    let value = rest.get(sign.len()..).unwrap_or_default();
    Some(Parts { name: name.trim(), comparison, value: value.trim(), rest })
}

/// The unit of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Bits per second.
    Rate,
    /// Seconds.
    Time,
    /// Bytes.
    Bytes,
    /// A share of one, written as a percentage or as a fraction.
    Share,
    /// A number whose unit may be left out, such as `p` or `bdp`.
    Of(&'static str),
    /// A whole number.
    Count,
}

impl Unit {
    /// Reads a number with its unit.
    ///
    /// # Errors
    /// Fails if the text is no number of this unit.
    #[expect(clippy::cast_precision_loss, reason = "the nearest double is what is wanted")]
    pub fn read(self, text: &str) -> Result<f64, QuantityError> {
        match self {
            Self::Rate => quantity::rate(text).map(|rate| rate.bps() as f64),
            Self::Time => quantity::span(text).map(|span| span.nanos() as f64 / 1e9),
            Self::Bytes => quantity::bytes(text).map(|bytes| bytes.get() as f64),
            Self::Share => quantity::fraction(text).map(Decimal::to_f64),
            Self::Of(unit) => quantity::number(text.strip_suffix(unit).unwrap_or(text)).map(Decimal::to_f64),
            Self::Count => quantity::count(text).map(|count| count as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_parted_at_its_first_and_longest_sign() {
        for (text, name, comparison, value) in [
            ("a<=1", "a", Comparison::AtMost, "1"),
            (" a > = 1", "a", Comparison::Greater, "= 1"),
            ("a!=b=c", "a", Comparison::Unequal, "b=c"),
            ("=", "", Comparison::Equal, ""),
        ] {
            let found = parts(text, &SIGNS).expect(text);
            assert_eq!((found.name, found.comparison, found.value), (name, comparison, value), "{text}");
        }
        assert_eq!(parts("a!b", &SIGNS), None);
    }
}
