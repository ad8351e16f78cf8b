//! The models against worked values of their sources, computed independently, and against laws.

mod admission;
mod catalog;
mod limited;
mod paced;
mod ptr;
mod transfer;

/// Whether `found` is `expected` to as many decimals as those of `expected` are printed with.
#[track_caller]
fn assert_decimals(found: f64, expected: f64, decimals: i32, what: &str) {
    let half = 0.5 * 10f64.powi(-decimals);
    // What stands at the edge of rounding may go either way.
    assert!((found - expected).abs() <= half * 1.000_001, "{what}: {found}, not {expected}");
}
