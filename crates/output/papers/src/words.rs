//! The words of a figure's file: where a paper measured, where it states a value, the status of a claim, and the kind of a plot.

use serde::{Deserialize, Serialize};

/// Where the paper measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Setup {
    /// The simulator ns-2.
    #[serde(rename = "ns-2")]
    Ns2,
    /// In closed-form models.
    Model,
    /// On machines in a laboratory. Here the described path is simulated.
    Testbed,
    /// On paths of the Internet. Here the described path is simulated.
    Internet,
}

/// Where the paper states a claimed value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// As a printed number.
    Printed,
    /// In a sentence.
    Text,
    /// Only in the image, so that only the order of values is compared.
    Image,
    /// Nowhere: the claim is this project's, and is counted apart from the claims of papers.
    Own,
}

/// The outcome of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The measured value is as expected.
    Holds,
    /// The measured value is not as expected.
    DoesNotHold,
    /// The claim cannot be tested here.
    NotTestable,
    /// No single plausible set-up decides the claim.
    Unsettled,
}

impl Status {
    /// Every status, in the order of counts.
    pub const ALL: [Self; 4] = [Self::Holds, Self::DoesNotHold, Self::Unsettled, Self::NotTestable];
}

/// The kind of a plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A curve over an axis.
    Lines,
    /// The distribution of a sample.
    Cdf,
    /// The values of a sample, in ascending order.
    Ordered,
    /// A bar for each scheme, grouped by the values of the axis.
    Bars,
    /// A value over time.
    Series,
    /// One quantity against another.
    Plane,
    /// A table of numbers.
    Table,
}

/// How a claim combines the values of several runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OverRuns {
    /// The mean of the values, with a confidence interval.
    #[default]
    Mean,
    /// The values are not combined. The claim is computed once, from means over runs, and from the flows of all runs as one sample.
    Before,
    /// The median of the values.
    Median,
    /// The minimum of the values.
    Min,
    /// The maximum of the values.
    Max,
}
