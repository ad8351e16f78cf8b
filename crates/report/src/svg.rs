//! Drawings for print: plain SVG with a background and generic fonts, and with identical bytes on every machine.
//!
//! [`chart`] draws curves over two axes, and [`figure`] draws the flows of a race over time. Both use one canvas and one
//! kind of axis. [`plot`] draws into a page, in the page's colours. All are static and need no script; [`html`](crate::html)
//! is the interactive report.

mod axis;
mod canvas;
pub mod chart;
mod drops;
pub mod figure;
mod panel;
pub mod plot;
mod told;
