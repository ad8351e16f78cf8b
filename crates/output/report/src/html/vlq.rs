//! Compact text for sequences of numbers: their differences in base-64 variable-length digits, as in source maps.
//!
//! A difference is doubled, with its sign in the lowest bit. It is written in groups of five bits, the lowest first. A digit of 32 or more
//! means that another digit follows.

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Encodes numbers as text. The first is encoded as its difference from zero.
pub(crate) fn encode(numbers: impl Iterator<Item = i64>) -> String {
    let mut text = String::new();
    let mut last = 0_i64;
    for number in numbers {
        let size = number.abs_diff(last);
        let (mut group, mut rest) = ((size & 15) << 1 | u64::from(number < last), size >> 4);
        last = number;
        while rest > 0 {
            text.push(digit(group | 32));
            (group, rest) = (rest & 31, rest >> 5);
        }
        text.push(digit(group));
    }
    text
}

fn digit(group: u64) -> char {
    char::from(DIGITS[(group & 63) as usize])
}

#[cfg(test)]
pub(crate) fn decode(text: &str) -> Vec<i64> {
    let mut numbers = Vec::new();
    let (mut last, mut value, mut shift) = (0_i128, 0_u128, 0);
    for byte in text.bytes() {
        let digit = DIGITS.iter().position(|&d| d == byte).unwrap() as u128;
        value |= (digit & 31) << shift;
        shift += 5;
        if digit < 32 {
            let size = i128::try_from(value >> 1).unwrap();
            last += if value & 1 == 1 { -size } else { size };
            numbers.push(i64::try_from(last).unwrap());
            (value, shift) = (0, 0);
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_digits_are_those_of_source_maps() {
        // The differences are 0, 1, -2 and 16, which are A, C, F and gB.
        assert_eq!(encode([0, 1, -1, 15].into_iter()), "ACFgB");
    }

    proptest! {
        #[test]
        fn numbers_read_back(numbers in prop::collection::vec(any::<i64>(), 0..50)) {
            prop_assert_eq!(decode(&encode(numbers.iter().copied())), numbers);
        }
    }
}
