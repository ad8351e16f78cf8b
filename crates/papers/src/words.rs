//! The words of a file: what a paper measured on, where a value stands, what became of a claim, how a plot is drawn.

use serde::{Deserialize, Serialize};

/// What a paper measured on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Setup {
    /// The simulator ns-2.
    #[serde(rename = "ns-2")]
    Ns2,
    /// Closed forms.
    Model,
    /// Machines in a laboratory: the run here is a simulation of the described path.
    Testbed,
    /// Paths of the Internet: the run here is a simulation of the described path.
    Internet,
}

/// Where a claimed value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// A number in print.
    Printed,
    /// A sentence.
    Text,
    /// The image only: the ordering is held.
    Image,
}

/// The outcome of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The measured value is as expected.
    Holds,
    /// It is not.
    DoesNotHold,
    /// It cannot be measured here.
    NotTestable,
}

/// How a plot is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A curve over an axis.
    Lines,
    /// The distribution of a sample.
    Cdf,
    /// The values of a sample, in ascending order.
    Ordered,
    /// A bar a scheme, in groups by the axis.
    Bars,
    /// A value over time.
    Series,
    /// One quantity against another.
    Plane,
    /// Numbers.
    Table,
}

/// What a claim takes of the values of several runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OverRuns {
    /// Their mean, with a confidence interval.
    #[default]
    Mean,
    /// None: the claim is computed once, from means over runs, and from the flows of all runs as one sample.
    Before,
    /// Their median.
    Median,
    /// Their least.
    Min,
    /// Their greatest.
    Max,
}
