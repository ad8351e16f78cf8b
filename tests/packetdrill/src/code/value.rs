//! Values.

/// A value of an expression.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Value {
    Integer(i64),
    Float(f64),
    Text(String),
    Tuple(Vec<Value>),
    None,
}

impl Value {
    pub(super) fn is_true(&self) -> bool {
        match self {
            Self::Integer(value) => *value != 0,
            Self::Float(value) => *value != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::Tuple(all) => !all.is_empty(),
            Self::None => false,
        }
    }

    /// Returns the number of values, including nested values, and the depth of nesting.
    pub(super) fn extent(&self) -> (usize, usize) {
        let Self::Tuple(all) = self else { return (1, 0) };
        all.iter()
            .map(Self::extent)
            .fold((1, 1), |(held, depth), (more, inside)| (held + more, depth.max(inside + 1)))
    }

    #[expect(clippy::cast_precision_loss, reason = "Python's division does so too")]
    pub(super) fn float(&self) -> Option<f64> {
        match self {
            Self::Integer(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            Self::Text(_) | Self::Tuple(_) | Self::None => None,
        }
    }
}
