use super::*;
use proptest::prelude::*;

fn bps(text: &str) -> u64 {
    rate(text).map(Rate::bps).expect(text)
}

fn why<T: std::fmt::Debug>(result: Result<T, QuantityError>) -> Why {
    result.expect_err("must be refused").why
}

#[test]
fn rates_are_bits_a_second_in_powers_of_a_thousand() {
    assert_eq!(bps("100mbit"), 100_000_000);
    assert_eq!(bps("1.5gbit"), 1_500_000_000);
    assert_eq!(bps("800kbit"), 800_000);
    assert_eq!(bps("64bit"), 64);
    assert_eq!(bps("5.12Mbit/s"), 5_120_000);
    assert_eq!(bps(".5mbit"), 500_000);
}

#[test]
fn decimal_fractions_are_exact() {
    // With doubles, 1.1e9, 0.29e9 and 4.35e2 would each be slightly below the whole number.
    assert_eq!(bps("1.1gbit"), 1_100_000_000);
    assert_eq!(bps("0.29gbit"), 290_000_000);
    assert_eq!(bps("0.000000435gbit"), 435);
    assert_eq!(span("0.1s").expect("a span"), Span::from_millis(100));
    assert_eq!(bytes("1.005kB").expect("a size"), Bytes::new(1_005));
    // A fraction of the base unit is rounded to the nearest, halves up.
    assert_eq!(bps("2.5bit"), 3);
    assert_eq!(bps("2.4999bit"), 2);
}

#[test]
fn durations_and_sizes_have_their_units() {
    let nanos = |text| span(text).map(Span::nanos).expect("a span");
    assert_eq!(nanos("7ns"), 7);
    assert_eq!(nanos("7us"), 7_000);
    assert_eq!(nanos("80ms"), 80_000_000);
    assert_eq!(nanos("1.5min"), 90_000_000_000);
    assert_eq!(nanos("1h"), 3_600_000_000_000);
    let size = |text| bytes(text).map(Bytes::get).expect("a size");
    assert_eq!(size("64kB"), 64_000);
    assert_eq!(size("1MB"), 1_000_000);
    assert_eq!(size("2KiB"), 2_048);
    assert_eq!(size("1.5MiB"), 1_572_864);
}

#[test]
fn human_readable_quantities_have_a_space_and_the_shortest_unit() {
    let size = |count| humane_bytes(Bytes::new(count));
    assert_eq!([size(999), size(23_040), size(1_000_000), size(0)], ["999 B", "23.04 kB", "1 MB", "0 B"]);
    assert_eq!([humane_span(Span::from_micros(50)), humane_span(Span::from_secs(120))], ["50 µs", "120 s"]);
    assert_eq!(humane_rate(Rate::from_bps(800_000)), "800 kbit/s");
}

#[test]
fn zero_negative_and_non_finite_values_are_refused() {
    assert_eq!(why(rate("0mbit")), Why::Zero);
    assert_eq!(why(rate("0.4bit")), Why::Zero);
    assert_eq!(why(rate("-1mbit")), Why::Negative);
    assert_eq!(why(rate("nan")), Why::NotFinite);
    assert_eq!(why(rate("infmbit")), Why::NotFinite);
    assert_eq!(why(span("0ms")), Why::Zero);
    assert_eq!(why(bytes("-3kB")), Why::Negative);
    assert_eq!(why(queue("0p")), Why::Zero);
    assert_eq!(why(queue("0.0bdp")), Why::Zero);
    assert_eq!(why(packets("0.5p")), Why::OutOfRange);
}

#[test]
fn overflow_is_refused_and_never_wraps() {
    assert_eq!(why(rate("99999999999999999999999gbit")), Why::TooLarge);
    assert_eq!(why(rate("999999999999999999999999999999mbit")), Why::TooLarge);
    assert_eq!(why(span("1001h")), Why::TooLarge);
    assert_eq!(why(bytes("18446744073709551616B")), Why::TooLarge);
    assert_eq!(why(packets("1000001p")), Why::TooLarge);
    assert_eq!(why(count("18446744073709551616")), Why::TooLarge);
}

#[test]
fn errors_say_what_was_found_and_what_is_allowed() {
    let error = queue("12x").expect_err("12x is no queue");
    assert_eq!(
        error.to_string(),
        "`12x` has the unknown unit `x`; a queue is a positive number of packets (`1000p`, at most \
         1000000p), bytes (`64kB`) or bandwidth-delay products (`0.3bdp`)"
    );
    assert_eq!(why(rate("100")), Why::NoUnit);
    assert_eq!(why(rate("fast")), Why::NoNumber);
    assert_eq!(why(rate("1.2.3mbit")), Why::NoNumber);
    assert_eq!(why(rate("")), Why::NoNumber);
    assert_eq!(why(queue("red")), Why::NoNumber);
}

#[test]
fn fractions_are_numbers_up_to_one_or_percentages() {
    let value = |text| fraction(text).expect("a fraction").to_f64();
    assert!((value("2%") - 0.02).abs() < 1e-15);
    assert!((value("0.25") - 0.25).abs() < 1e-15);
    assert!((value("100%") - 1.0).abs() < 1e-15);
    assert_eq!(why(fraction("1.01")), Why::OutOfRange);
    assert_eq!(why(fraction("101%")), Why::OutOfRange);
    assert_eq!(fraction("0.50").expect("half").to_string(), "0.5");
    assert_eq!(fraction("2.5%").expect("a fortieth").to_string(), "0.025");
}

#[test]
fn packets_may_be_fractions_of_a_segment_in_amounts() {
    assert_eq!(amount("2.5p").expect("amount").in_bytes(1_000), Some(Bytes::new(2_500)));
    assert_eq!(amount("64kB").expect("amount").in_bytes(1_000), Some(Bytes::new(64_000)));
}

proptest! {
    #[test]
    fn displayed_quantities_parse_to_the_same_value(value in 1u64..10_000_000_000_000) {
        prop_assert_eq!(rate(&show_rate(Rate::from_bps(value))), Ok(Rate::from_bps(value)));
        prop_assert_eq!(span(&show_span(Span::from_nanos(value))), Ok(Span::from_nanos(value)));
        prop_assert_eq!(bytes(&show_bytes(Bytes::new(value))), Ok(Bytes::new(value)));
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,30}") {
        let _ = (rate(&text), span(&text), bytes(&text), queue(&text), fraction(&text));
        let _ = (packets(&text), amount(&text), count(&text));
    }

    #[test]
    fn no_number_panics(text in "[-+.0-9]{0,40}(bit|mbit|Mbps|MB/s|mb|M|ms|m|B|MiB|p|bdp|%|)") {
        let _ = (rate(&text), span(&text), bytes(&text), queue(&text), fraction(&text));
        let _ = (packets(&text), amount(&text), count(&text));
    }
}
