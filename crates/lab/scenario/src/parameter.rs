//! Reads a parameter's value from its text.

use firstflight::registry::{Kind, Parameter, Value};
use firstflight::schemes::Initial;
use firstflight::{Bytes, Rate, Span};

use crate::quantity::{self, QuantityError, Why, refuse};

/// The initial values with which a scheme is built to check its parameters.
pub(crate) const CHECKED: Initial = Initial { segments: 2, ssthresh: None };

/// Reads a parameter's value. Zero is accepted, with or without a unit, because the registry checks the range.
pub(crate) fn read(parameter: &Parameter, text: &str) -> Result<Value, QuantityError> {
    let or_zero = |result: Result<Value, QuantityError>, zero: Value| match result {
        Err(QuantityError { why: Why::Zero, .. }) => Ok(zero),
        Err(_) if text.trim() == "0" => Ok(zero),
        // The parameter may have a smaller range than the quantity has in general, so the error states the parameter's range.
        Err(error) if matches!(error.why, Why::Negative | Why::TooLarge | Why::NotFinite) => {
            Err(QuantityError { allowed: format!("allowed is {}", parameter.kind).into(), ..error })
        }
        other => other,
    };
    match parameter.kind {
        Kind::CountOr { .. } if parameter.kind.word(text).is_some() => parameter
            .kind
            .word(text)
            .ok_or_else(|| refuse(text, Why::UnknownWord, format!("allowed is {}", parameter.kind))),
        Kind::Count { .. } | Kind::CountOr { .. } => {
            or_zero(quantity::count(text).map(Value::Count), Value::Count(0))
        }
        Kind::Span { .. } => or_zero(quantity::span(text).map(Value::Span), Value::Span(Span::ZERO)),
        Kind::Rate { .. } => or_zero(quantity::rate(text).map(Value::Rate), Value::Rate(Rate::ZERO)),
        Kind::Bytes { .. } => or_zero(quantity::bytes(text).map(Value::Bytes), Value::Bytes(Bytes::ZERO)),
        Kind::Fraction { .. } => quantity::ppm(text).map(|ppm| Value::Fraction { ppm }),
        Kind::Word(_) => parameter
            .kind
            .word(text)
            .ok_or_else(|| refuse(text, Why::UnknownWord, format!("allowed is {}", parameter.kind))),
    }
}
