//! The parameters of a figure.

use crate::reference::BasePath;

/// The parameters that a figure needs in addition to the report.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// The path, for the bandwidth-delay product.
    pub path: BasePath,
    /// The length of the figure in nanoseconds from time zero; `None` for the length of the longest run.
    pub until: Option<u64>,
    /// Whether all flows are of one run. Then time counts from the start of the run; otherwise it counts from each flow's first data
    /// packet.
    pub is_one_run: bool,
}
