//! Converts quantities of the ledger to numbers in SI units: bit/s, seconds, bytes, packets, shares.

use firstflight_scenario::quantity;

/// Returns the number of a quantity. The quantity is a plain number, a rate in bit/s, a time in seconds, a size in bytes, packets, a share,
/// or a multiple of the bandwidth-delay product. `none` is zero. Returns `None` for any other text.
#[expect(clippy::cast_precision_loss, reason = "exact up to 2^53")]
pub(crate) fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Ok(plain) = text.parse::<f64>() {
        return Some(plain).filter(|plain| plain.is_finite());
    }
    if text == "none" {
        return Some(0.0);
    }
    if let Some(multiple) = text.strip_suffix("bdp") {
        return multiple.parse().ok().filter(|multiple: &f64| multiple.is_finite());
    }
    // A rate of zero is invalid as a key, but it may be a value on an axis.
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic() || letter == '%');
    if digits.parse::<f64>() == Ok(0.0) {
        return Some(0.0);
    }
    let rate = quantity::rate(text).ok().map(|rate| rate.bps() as f64);
    let span = || quantity::span(text).ok().map(|span| span.nanos() as f64 / 1e9);
    let packets = || quantity::packets(text).ok().map(f64::from);
    let bytes = || quantity::bytes(text).ok().map(|bytes| bytes.get() as f64);
    let share = || quantity::fraction(text).ok().map(quantity::Decimal::to_f64);
    rate.or_else(span).or_else(packets).or_else(bytes).or_else(share)
}

/// Returns the number of a value on an axis. The value is a quantity, or has a quantity after a colon, as in `tcp:4` and `every:10s`.
pub(crate) fn on_axis(text: &str) -> Option<f64> {
    number(text).or_else(|| number(text.split_once(':')?.1))
}

/// Formats a number with six significant digits, without zeros at the end.
pub(crate) fn show(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let size = number.abs();
    if !number.is_finite() {
        return number.to_string();
    }
    if !(1e-4..1e15).contains(&size) {
        return format!("{number:.3e}");
    }
    let mut digits: usize = 0;
    let mut least = 1e4;
    while size < least && digits < 8 {
        digits += 1;
        least /= 10.0;
    }
    let text = format!("{number:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Formats half the width of a confidence interval with two significant digits.
pub(crate) fn show_half(half: f64) -> String {
    show(format!("{half:.1e}").parse().unwrap_or(half))
}

/// Formats an end of a confidence interval of this width, with the decimals of half the width's second significant digit.
pub(crate) fn show_end(end: f64, width: f64) -> String {
    let half = width / 2.0;
    if !(half > 0.0 && half.is_finite()) {
        return show(end);
    }
    #[expect(clippy::cast_possible_truncation, reason = "the exponent of a finite number")]
    let exponent = half.log10().floor() as i32 - 1;
    let step = 10f64.powi(exponent);
    show((end / step).round() * step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_in_si_units() {
        for (text, expected) in [
            ("5", 5.0),
            ("5mbit", 5e6),
            ("0mbit", 0.0),
            ("none", 0.0),
            ("80ms", 0.08),
            ("10p", 10.0),
            ("24kB", 24e3),
            ("50%", 0.5),
            ("0.25bdp", 0.25),
            ("-1e3", -1e3),
        ] {
            assert_eq!(number(text), Some(expected), "{text}");
        }
        assert_eq!(number("reno"), None);
        assert_eq!(on_axis("tcp:4"), Some(4.0));
        assert_eq!(on_axis("every:10s"), Some(10.0));
    }

    #[test]
    fn a_number_is_shown_with_five_digits() {
        for (number, shown) in
            [(0.0, "0"), (0.005, "0.005"), (1_234_567.0, "1234567"), (1.0 / 3.0, "0.33333"), (12.5, "12.5")]
        {
            assert_eq!(show(number), shown);
        }
    }

    #[test]
    fn an_end_of_an_interval_has_the_digits_of_its_width() {
        for (end, width, shown) in [
            (0.401_23, 0.0624, "0.401"),
            (1_234_567.0, 2468.0, "1234600"),
            (12.5, 0.0, "12.5"),
            (1.0, f64::NAN, "1"),
        ] {
            assert_eq!(show_end(end, width), shown);
        }
    }
}
