//! Units as people write them. A unit with one meaning is accepted, in upper or lower case. A unit with two possible meanings is an error
//! that names both. For a unit of another quantity, or an incomplete unit, the error says what to write for the same meaning.

use firstflight::{Bytes, Rate};
use firstflight_trace::in_a_line;

use super::decimal::Decimal;
use super::show::{show_bytes, show_rate};
use super::why::Why;

/// Prefixes with their factors, which are powers of 1000 or of 1024. The last value is whether the factor is a power of 1024.
const PREFIXES: [(&str, u64, bool); 15] = [
    ("kilo", 1_000, false),
    ("mega", 1_000_000, false),
    ("giga", 1_000_000_000, false),
    ("tera", 1_000_000_000_000, false),
    ("kibi", 1 << 10, true),
    ("mebi", 1 << 20, true),
    ("gibi", 1 << 30, true),
    ("ki", 1 << 10, true),
    ("mi", 1 << 20, true),
    ("gi", 1 << 30, true),
    ("k", 1_000, false),
    ("m", 1_000_000, false),
    ("g", 1_000_000_000, false),
    ("t", 1_000_000_000_000, false),
    ("", 1, false),
];

/// The prefix of a unit of bits or bytes.
struct Prefix {
    factor: u64,
    /// Whether the factor is a power of 1024.
    is_binary: bool,
    is_empty: bool,
}

/// Returns the prefix of a unit in lower case, and the rest of the unit. The `b` of `bit` is not a prefix.
fn prefix(lower: &str) -> (Prefix, &str) {
    let found = PREFIXES.iter().find_map(|(name, factor, is_binary)| {
        let prefix = Prefix { factor: *factor, is_binary: *is_binary, is_empty: name.is_empty() };
        Some((prefix, lower.strip_prefix(name)?))
    });
    found.unwrap_or((Prefix { factor: 1, is_binary: false, is_empty: true }, lower))
}

/// Returns the bits per second of a unit of rates. If `/s` or `ps` shows that the unit is a rate, a small `b` means bits and a capital `B`
/// bytes.
///
/// # Errors
/// Why the unit is not a unit of rates.
pub(super) fn of_rate(number: Decimal, unit: &str) -> Result<u64, Why> {
    let whole = unit.to_ascii_lowercase();
    let stem = ["/s", "/sec", "ps"].iter().find_map(|end| whole.strip_suffix(end));
    let (lower, is_a_second) = (stem.unwrap_or(&whole), stem.is_some());
    let is_byte = unit.get(..lower.len()).is_some_and(|stem| stem.ends_with('B'));
    let (Prefix { factor, is_binary, is_empty }, rest) = prefix(lower);
    let as_rate = |times: u64| number.times(factor * times).filter(|bps| *bps > 0).map(Rate::from_bps);
    let (bits, bytes) = (as_rate(1).map(show_rate), as_rate(8).map(show_rate));
    let written = |text: Option<String>| text.map_or_else(|| unknown(unit), Why::Write);
    match rest {
        _ if is_binary => Err(unknown(unit)),
        "bit" | "bits" => Ok(factor),
        "b" if is_a_second && !is_byte => Ok(factor),
        "b" if is_a_second => Err(written(bytes)),
        "byte" | "bytes" => Err(written(bytes)),
        "" if !is_empty && !is_a_second => Err(written(bits)),
        "b" | "" if !is_empty => Err(either(unit, bits, bytes)),
        _ => Err(unknown(unit)),
    }
}

/// Returns the bytes of a unit of sizes. A capital `B` means bytes; a small `b` is ambiguous.
///
/// # Errors
/// Why the unit is not a unit of sizes.
pub(super) fn of_size(number: Decimal, unit: &str) -> Result<u64, Why> {
    let lower = unit.to_ascii_lowercase();
    let (Prefix { factor, is_binary, is_empty }, rest) = prefix(&lower);
    let value = number.times(factor).filter(|bytes| *bytes > 0);
    let as_bytes = |value: Option<u64>| value.filter(|bytes| *bytes > 0).map(Bytes::new).map(show_bytes);
    let (bytes, bits) = (as_bytes(value), as_bytes(value.map(|bits| bits / 8)));
    let written = |text: Option<String>| text.map_or_else(|| unknown(unit), Why::Write);
    match rest {
        "b" if unit.ends_with('B') || is_binary => Ok(factor),
        "byte" | "bytes" => Ok(factor),
        "b" => Err(either(unit, bytes, bits)),
        "bit" | "bits" => Err(written(bits)),
        "" if !is_empty => Err(written(bytes)),
        _ => Err(unknown(unit)),
    }
}

/// Returns the nanoseconds of a unit of time.
///
/// # Errors
/// Why the unit is not a unit of time.
pub(super) fn of_time(text: &str, unit: &str) -> Result<u64, Why> {
    Ok(match unit.to_lowercase().as_str() {
        "ns" | "nsec" | "nsecs" | "nanosecond" | "nanoseconds" => 1,
        "us" | "µs" | "μs" | "usec" | "usecs" | "microsecond" | "microseconds" => 1_000,
        "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" => 1_000_000,
        "s" | "sec" | "secs" | "second" | "seconds" => 1_000_000_000,
        "min" | "mins" | "minute" | "minutes" => 60_000_000_000,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3_600_000_000_000,
        "m" => {
            let number = text.trim().trim_end_matches(['m', 'M']).trim_end();
            return Err(Why::Either(Box::new((format!("{number}ms"), format!("{number}min")))));
        }
        _ => return Err(unknown(unit)),
    })
}

/// Checks whether the unit is packets.
pub(super) fn is_packets(unit: &str) -> bool {
    matches!(
        unit.to_ascii_lowercase().as_str(),
        "p" | "pkt" | "pkts" | "packet" | "packets" | "seg" | "segs" | "segment" | "segments"
    )
}

fn either(unit: &str, one: Option<String>, other: Option<String>) -> Why {
    match (one, other) {
        (Some(one), Some(other)) => Why::Either(Box::new((one, other))),
        (Some(one), None) | (None, Some(one)) => Why::Write(one),
        (None, None) => unknown(unit),
    }
}

/// Returns the fault of a missing or unknown unit.
pub(super) fn unknown(unit: &str) -> Why {
    if unit.is_empty() { Why::NoUnit } else { Why::UnknownUnit(in_a_line(unit)) }
}

#[cfg(test)]
mod tests {
    use crate::quantity::{QuantityError, amount, bytes, packets, queue, rate, span};

    #[test]
    fn a_unit_that_says_one_thing_is_read_in_any_case() {
        for text in
            ["10mbit", "10Mbps", "10mbps", "10 Mb/s", "10MBIT", "10mbit/s", "10 Mbits/sec", "10 megabit"]
        {
            assert_eq!(rate(text), rate("10mbit"), "{text}");
        }
        for text in ["5MiB", "5 MiB", "5mib", "5 MIB", "5 mebibytes"] {
            assert_eq!(bytes(text), bytes("5242880B"), "{text}");
        }
        for text in ["64kB", "64KB", "64 kilobytes", "64000 bytes", "0.064mB"] {
            assert_eq!(bytes(text), bytes("64000B"), "{text}");
        }
        for text in ["50ms", "50 ms", "50MS", "50msec", "50 milliseconds", "0.05 sec"] {
            assert_eq!(span(text), span("50000us"), "{text}");
        }
        for text in ["10", "10p", "10 packets", "10pkts", "10 segments"] {
            assert_eq!(packets(text), Ok(10), "{text}");
        }
        assert_eq!(queue("100 packets"), queue("100p"));
        assert_eq!(queue("0.5 BDP"), queue("0.5bdp"));
        assert_eq!(amount("100 pkts"), amount("100p"));
    }

    fn fault<T: std::fmt::Debug>(read: Result<T, QuantityError>) -> String {
        let text = read.expect_err("no such unit").to_string();
        text.split(';').next().unwrap_or_default().to_owned()
    }

    #[test]
    fn a_unit_that_may_say_two_things_is_refused_with_both() {
        assert_eq!(fault(rate("100 mb")), "`100 mb` may mean `100mbit` or `800mbit`");
        assert_eq!(fault(rate("1GB")), "`1GB` may mean `1gbit` or `8gbit`");
        assert_eq!(fault(rate("5M/s")), "`5M/s` may mean `5mbit` or `40mbit`");
        assert_eq!(fault(bytes("100 mb")), "`100 mb` may mean `100MB` or `12500kB`");
        assert_eq!(fault(bytes("1Mb")), "`1Mb` may mean `1MB` or `125kB`");
        assert_eq!(fault(queue("64kb")), "`64kb` may mean `64kB` or `8kB`");
        assert_eq!(fault(span("5m")), "`5m` may mean `5ms` or `5min`");
    }

    #[test]
    fn incomplete_and_wrong_units_are_refused_with_the_correct_form() {
        assert_eq!(fault(rate("10M")), "`10M` is written `10mbit` here");
        assert_eq!(fault(rate("1G")), "`1G` is written `1gbit` here");
        assert_eq!(fault(rate("2.5k")), "`2.5k` is written `2500bit` here");
        assert_eq!(fault(rate("10MB/s")), "`10MB/s` is written `80mbit` here");
        assert_eq!(fault(rate("10 MBps")), "`10 MBps` is written `80mbit` here");
        assert_eq!(fault(bytes("10M")), "`10M` is written `10MB` here");
        assert_eq!(fault(bytes("10mbit")), "`10mbit` is written `1250kB` here");
        assert_eq!(fault(amount("3k")), "`3k` is written `3kB` here");
    }

    #[test]
    fn unknown_and_missing_units_are_reported() {
        for text in ["10", "10x", "10ps", "10/s", "10mibit", "99999999999999999999999M", "0.0000000001M"] {
            let text = fault(rate(text));
            assert!(text.contains("has no unit") || text.contains("unknown unit"), "{text}");
        }
        assert_eq!(fault(bytes("10x")), "`10x` has the unknown unit `x`");
        assert_eq!(fault(span("80")), "`80` has no unit");
    }
}
