//! A parameter's value from its text.

use firstflight::registry::{Kind, Parameter, Value};
use firstflight::schemes::Initial;
use firstflight::{Bytes, Rate, Span};

use crate::quantity::{self, QuantityError, Why, refuse};

/// What a scheme is built with only to see whether its parameters are allowed.
pub(crate) const CHECKED: Initial = Initial { segments: 2, ssthresh: None };

/// A parameter's value from its text. Ranges are the registry's to check, so zero passes here, with a unit or without.
pub(crate) fn read(parameter: &Parameter, text: &str) -> Result<Value, QuantityError> {
    let or_zero = |result: Result<Value, QuantityError>, zero: Value| match result {
        Err(QuantityError { why: Why::Zero, .. }) => Ok(zero),
        Err(_) if text.trim() == "0" => Ok(zero),
        // What any quantity of the kind may be is more, and less, than the parameter takes.
        Err(error) if matches!(error.why, Why::Negative | Why::TooLarge | Why::NotFinite) => {
            Err(QuantityError { allowed: format!("allowed is {}", parameter.kind).into(), ..error })
        }
        other => other,
    };
    match parameter.kind {
        Kind::Count { .. } => or_zero(quantity::count(text).map(Value::Count), Value::Count(0)),
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
