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
    /// Whether all flows share one axis for their windows and one for their queues, instead of a panel each.
    pub overlays: bool,
    /// The size of the figure and of its text.
    pub sheet: Sheet,
}

/// The size of a drawing and of its text, in pixels of SVG and PNG and in points of PDF.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sheet {
    /// The width.
    pub width: f64,
    /// The height; `None` for the height that the content needs.
    pub height: Option<f64>,
    /// The size of most text.
    pub font: f64,
}

impl Sheet {
    /// The sheet of drawings without other settings.
    pub const DEFAULT: Self = Self { width: 760.0, height: None, font: 12.0 };

    /// Returns the factor by which a drawing with text of the default size is enlarged.
    pub(super) fn scale(self) -> f64 {
        self.font / Self::DEFAULT.font
    }

    /// Returns the width of the drawing before it is enlarged.
    pub(super) fn drawn_width(self) -> f64 {
        self.width / self.scale()
    }

    /// Returns the height of the drawing before it is enlarged.
    pub(super) fn drawn_height(self) -> Option<f64> {
        self.height.map(|height| height / self.scale())
    }
}
