//! Formats numbers for people, with three significant digits in the column's unit.

/// The maximum number of decimals. With `MANY_DECIMALS` decimals or more, trailing zeros are dropped.
const DECIMALS: usize = 7;
const MANY_DECIMALS: usize = 4;

/// Formats a value with three significant digits. If its whole part has more digits, all of them are kept: `1234`, `96.9`, `0.142`.
///
/// A value too small for seven decimals is `<0.0000001`, so that a nonzero value never appears as zero.
pub fn significant(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let size = value.abs();
    if size < 1e-7 {
        return if value < 0.0 { ">-0.0000001" } else { "<0.0000001" }.to_owned();
    }
    // 99.95 prints as 100, not as 100.0: the number of digits is that of the rounded value.
    let decimals = (0..DECIMALS).find(|&d| size >= first_with(d)).unwrap_or(DECIMALS);
    let text = format!("{value:.decimals$}");
    if decimals >= MANY_DECIMALS {
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    text
}

/// Returns the smallest absolute value that is printed with this many decimals.
fn first_with(decimals: usize) -> f64 {
    match decimals {
        0 => 99.95,
        1 => 9.995,
        2 => 0.9995,
        3 => 0.099_95,
        4 => 0.009_995,
        5 => 0.000_999_5,
        6 => 0.000_099_95,
        _ => 0.0,
    }
}

/// Formats a rate in the unit that keeps the number short: `9.6 kbit/s`, `60 Mbit/s`, `1.25 Gbit/s`.
pub fn rate(bps: f64) -> String {
    let (unit, name) = match bps.abs() {
        size if size >= 1e9 => (1e9, "Gbit/s"),
        size if size >= 1e6 => (1e6, "Mbit/s"),
        size if size >= 1e3 => (1e3, "kbit/s"),
        _ => (1.0, "bit/s"),
    };
    format!("{} {name}", significant(bps / unit))
}

/// Formats a time in the unit that keeps the number short: `80 ms`, `1.42 s`.
pub fn seconds(s: f64) -> String {
    let (unit, name) = match s.abs() {
        0.0 => (1.0, "s"),
        size if size >= 1.0 => (1.0, "s"),
        size if size >= 1e-3 => (1e-3, "ms"),
        size if size >= 1e-6 => (1e-6, "µs"),
        _ => (1e-9, "ns"),
    };
    format!("{} {name}", significant(s / unit))
}

/// Formats a whole number with commas between thousands: `312,408`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_significant_digits_and_never_fewer_than_the_whole_part() {
        let cases = [
            (96.94, "96.9"),
            (99.96, "100"),
            (9.996, "10.0"),
            (0.999_6, "1.00"),
            (0.142_4, "0.142"),
            (0.014_23, "0.0142"),
            (12_345.6, "12346"),
            (1.0, "1.00"),
            (0.0, "0"),
            (-3.25, "-3.25"),
            (0.001_264, "0.00126"),
            (0.009_996, "0.01"),
            (0.000_542_1, "0.000542"),
            (0.000_074_9, "0.0000749"),
            (0.000_04, "0.00004"),
            (-0.000_000_2, "-0.0000002"),
            (0.000_000_04, "<0.0000001"),
            (0.000_5, "0.0005"),
        ];
        for (value, text) in cases {
            assert_eq!(significant(value), text, "{value}");
        }
    }

    #[test]
    fn rates_and_times_take_the_unit_that_keeps_them_short() {
        assert_eq!(rate(100e6), "100 Mbit/s");
        assert_eq!(rate(1.25e9), "1.25 Gbit/s");
        assert_eq!(rate(9600.0), "9.60 kbit/s");
        assert_eq!(rate(0.0), "0 bit/s");
        assert_eq!(seconds(0.08), "80.0 ms");
        assert_eq!(seconds(1.42), "1.42 s");
        assert_eq!(seconds(0.0), "0 s");
        assert_eq!(seconds(12e-6), "12.0 µs");
    }

    #[test]
    fn thousands_stand_apart() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1000), "1,000");
        assert_eq!(count(1_234_567), "1,234,567");
    }
}
