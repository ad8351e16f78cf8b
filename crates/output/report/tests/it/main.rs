//! The page that is written: as text, and in a real browser.

mod browser;
mod cells;
mod page;
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "made-up numbers of known size"
)]
mod synthetic;
