//! The expressions of claims and plots. Their text is read into a tree.
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
    /// A text with which the words of a column are compared.
    Text(String),
    /// The values of the axis with this key; of the first axis if there is no key.
    Axis(Option<String>),
    /// A column of the results of a scheme.
    Column(Column),
    /// A cell of a closed-form model.
    Model {
        /// The model's name.
        model: String,
        /// The cell's name.
        cell: String,
        /// The parameters of the model: each a text of a value, or an axis.
        given: Vec<(String, Given)>,
    },
    /// A function of expressions.
    Call(Function, Vec<Expression>),
    /// An expression, evaluated only at the points where an axis has a given value.
    AtKey {
        /// The key of the axis.
        key: String,
        /// The value on the axis, as the file writes it.
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
    /// The value on the axis with this key; on the first axis if there is no key.
    Axis(Option<String>),
}

/// A column of results.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    /// The kind of rows that have the column.
    pub(crate) of: Of,
    /// The column's name.
    pub(crate) name: String,
    /// The scheme's label.
    pub(crate) label: String,
    /// The population, as rows name it. `None` for the population in which all flows have the scheme, or otherwise for the only population
    /// with the scheme.
    pub(crate) population: Option<String>,
}

/// The kind of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// One row for each run of a scheme.
    Run,
    /// One row for each measured flow of a population.
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

/// Why a text is not an expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct ExpressionError {
    /// The fault, and what is allowed.
    pub(crate) message: String,
    /// The offset of the first byte of the text at fault.
    pub(crate) from: usize,
    /// The offset after the last byte of the text at fault.
    pub(crate) to: usize,
}

impl Expression {
    /// Checks whether the value may change along an axis. Inside `at(KEY=…)` it does not change along the axis with this key.
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
