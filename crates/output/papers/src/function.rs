//! The functions of expressions, by name.

/// A function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Max,
    Min,
    Mean,
    Median,
    Sum,
    First,
    Last,
    Count,
    ArgMax,
    ArgMin,
    When,
    Longest,
    Quantile,
    Share,
    At,
    Held,
    Between,
    Where,
    Defined,
    Pick,
    Diff,
    Abs,
    Sqrt,
    Log2,
    Integral,
}

/// Every function: its name, the function, and its syntax.
pub(crate) const FUNCTIONS: &[(&str, Function, &str)] = &[
    ("max", Function::Max, "max(E)"),
    ("min", Function::Min, "min(E)"),
    ("mean", Function::Mean, "mean(E)"),
    ("median", Function::Median, "median(E)"),
    ("sum", Function::Sum, "sum(E)"),
    ("first", Function::First, "first(E)"),
    ("last", Function::Last, "last(E)"),
    ("count", Function::Count, "count(E)"),
    ("argmax", Function::ArgMax, "argmax(E)"),
    ("argmin", Function::ArgMin, "argmin(E)"),
    ("when", Function::When, "when(CONDITION)"),
    ("longest", Function::Longest, "longest(CONDITION)"),
    ("quantile", Function::Quantile, "quantile(Q, E)"),
    ("share", Function::Share, "share(CONDITION)"),
    ("at", Function::At, "at(X, E) or at(KEY=VALUE, E)"),
    ("held", Function::Held, "held(X, E)"),
    ("between", Function::Between, "between(A, B, E)"),
    ("where", Function::Where, "where(CONDITION, E)"),
    ("defined", Function::Defined, "defined(E)"),
    ("pick", Function::Pick, "pick(K, E)"),
    ("diff", Function::Diff, "diff(E)"),
    ("abs", Function::Abs, "abs(E)"),
    ("sqrt", Function::Sqrt, "sqrt(E)"),
    ("log2", Function::Log2, "log2(E)"),
    ("integral", Function::Integral, "integral(E)"),
];

impl Function {
    /// Returns the function of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        FUNCTIONS.iter().find(|(known, ..)| *known == name).map(|(_, function, _)| *function)
    }

    /// Returns the function's syntax.
    pub(crate) fn usage(self) -> &'static str {
        FUNCTIONS.iter().find(|(_, function, _)| *function == self).map_or("", |(.., usage)| *usage)
    }

    /// Returns the number of arguments that the function takes.
    pub(crate) fn arguments(self) -> usize {
        match self {
            Self::Between => 3,
            Self::Quantile | Self::At | Self::Held | Self::Where | Self::Pick => 2,
            _ => 1,
        }
    }
}
