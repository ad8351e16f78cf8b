//! Compares the models with worked values of their sources, which were computed independently, and with laws.

mod admission;
mod catalog;
mod limited;
mod paced;
mod ptr;
mod transfer;

/// Asserts that `found` equals `expected` to the number of decimals with which `expected` is printed.
#[track_caller]
fn assert_decimals(found: f64, expected: f64, decimals: i32, what: &str) {
    let half = 0.5 * 10f64.powi(-decimals);
    // A value between two roundings may be rounded either way.
    assert!((found - expected).abs() <= half * 1.000_001, "{what}: {found}, not {expected}");
}
