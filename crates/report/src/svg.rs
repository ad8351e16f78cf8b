//! Drawings for print: plain SVG on a ground of its own, with generic fonts and the same bytes on every machine.
//!
//! [`chart`] draws curves over two axes, [`figure`] the lives of a race's flows. Both stand on one canvas and
//! one kind of axis. They are still and need no script; [`html`](crate::html) is for looking around.

mod axis;
mod canvas;
pub mod chart;
mod drops;
pub mod figure;
mod panel;
mod told;
