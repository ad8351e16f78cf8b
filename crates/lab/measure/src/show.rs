//! Formatting of measured numbers for people.

/// Returns a rate as text with four digits: `65.00 Mbit/s`.
pub fn rounded_rate(bps: u64) -> String {
    let units = [("Gbit/s", 1_000_000_000), ("Mbit/s", 1_000_000), ("kbit/s", 1_000), ("bit/s", 1_u64)];
    let (name, factor) = units.into_iter().find(|(_, factor)| bps >= *factor).unwrap_or(("bit/s", 1));
    #[expect(clippy::cast_precision_loss, reason = "four digits are shown")]
    let value = bps as f64 / factor as f64;
    let decimals = match value {
        _ if factor == 1 => 0,
        0.0..10.0 => 3,
        10.0..100.0 => 2,
        _ => 1,
    };
    format!("{value:.decimals$} {name}")
}
