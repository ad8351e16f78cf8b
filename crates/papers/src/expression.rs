//! The expressions of claims and plots: their text, read into a tree.
//!
//! ```text
//! sum        = product { ("+" | "-") product }
//! comparison = sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
//! expression = comparison { ("&" | "|") comparison }
//! product    = signed { ("*" | "/") signed }
//! signed     = [ "-" ] value
//! value      = NUMBER[UNIT] | "text" | "axis" | "axis." KEY | COLUMN "[" LABEL [ ", " POPULATION ] "]"
//!            | "flow." COLUMN "[" LABEL "]" | "series." NAME "[" LABEL "]" | "model." MODEL "." CELL "(" [KEY "=" VALUE, …] ")"
//!            | FUNCTION "(" expression, … ")" | "(" expression ")"
//! ```

mod lexer;
mod parser;

pub(crate) use parser::{parse, parse_with};

use crate::function::Function;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expression {
    /// A number.
    Number(f64),
    /// A word to compare a column of words with.
    Text(String),
    /// The values of the axis with this key; the first axis without one.
    Axis(Option<String>),
    /// A column of the results of a scheme.
    Column(Column),
    /// A cell of a closed-form model.
    Model {
        /// The model's name.
        model: String,
        /// The cell's name.
        cell: String,
        /// Its parameters: a text of a value, or the name of an axis.
        given: Vec<(String, Given)>,
    },
    /// A function of expressions.
    Call(Function, Vec<Expression>),
    /// An expression at the points where an axis has a value.
    AtKey {
        /// The axis.
        key: String,
        /// The value on it, as the file writes it.
        value: String,
        /// The expression.
        inner: Box<Expression>,
    },
    /// An operation on two expressions.
    Binary(Operator, Box<Expression>, Box<Expression>),
}

/// A parameter of a model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Given {
    /// A text, as on the command line.
    Text(String),
    /// The value on an axis: the first axis without a key.
    Axis(Option<String>),
}

/// A column of results.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    /// What the rows are of.
    pub(crate) of: Of,
    /// The column's name.
    pub(crate) name: String,
    /// The scheme's label.
    pub(crate) label: String,
    /// The population, as rows call it; `None` for the one in which all flows have the scheme, or the only one that has it.
    pub(crate) population: Option<String>,
}

/// What rows are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// A row for each run of a scheme.
    Run,
    /// A row for each measured flow of a population.
    Flow,
    /// A value over time of the measured flow.
    Series,
}

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Less,
    AtMost,
    Greater,
    AtLeast,
    Equal,
    Unequal,
    And,
    Or,
}

/// Why a text is no expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct ExpressionError {
    /// What was found and what is allowed.
    pub(crate) message: String,
    /// The bytes of the text at fault.
    pub(crate) from: usize,
    /// Their end.
    pub(crate) to: usize,
}

impl Expression {
    /// Whether the value may change along an axis. Within `at(KEY=…)` nothing changes along that axis.
    pub(crate) fn varies_along(&self, axis: &str) -> bool {
        match self {
            Self::Number(_) | Self::Text(_) => false,
            Self::Column(_) => true,
            Self::Axis(key) => key.as_deref().is_none_or(|key| key == axis),
            Self::Model { given, .. } => given.iter().any(|(_, value)| match value {
                Given::Axis(key) => key.as_deref().is_none_or(|key| key == axis),
                Given::Text(_) => false,
            }),
            Self::Call(_, arguments) => arguments.iter().any(|one| one.varies_along(axis)),
            Self::AtKey { key, inner, .. } => key != axis && inner.varies_along(axis),
            Self::Binary(_, left, right) => left.varies_along(axis) || right.varies_along(axis),
        }
    }

    /// Calls `visit` with every column in the expression.
    pub(crate) fn columns<'a>(&'a self, visit: &mut dyn FnMut(&'a Column)) {
        match self {
            Self::Column(column) => visit(column),
            Self::Call(_, arguments) => arguments.iter().for_each(|one| one.columns(visit)),
            Self::AtKey { inner, .. } => inner.columns(visit),
            Self::Binary(_, left, right) => {
                left.columns(visit);
                right.columns(visit);
            }
            Self::Number(_) | Self::Text(_) | Self::Axis(_) | Self::Model { .. } => {}
        }
    }
}
