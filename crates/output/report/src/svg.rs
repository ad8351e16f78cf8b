//! Drawings for print: plain SVG with a background and generic fonts. The bytes are identical on every machine.
//!
//! [`chart`] draws curves over two axes, and [`figure`] draws the flows of a race over time. Both use the same canvas and the same kind of
//! axis. [`plot`], `multiple` and `tradeoff` draw into a page, in the page's colours, and [`print`](mod@print) draws plots into a file. All
//! drawings are static and need no script; the interactive report is [`html`](crate::html).

mod annotations;
mod axis;
mod canvas;
pub mod chart;
mod drops;
pub mod figure;
mod frame;
pub(crate) mod multiple;
mod overlay;
mod panel;
pub mod plot;
pub mod print;
mod style;
mod text;
pub(crate) mod tradeoff;

pub use frame::Sheet;
