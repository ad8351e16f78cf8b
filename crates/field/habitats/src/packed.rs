//! Compressed rows of numbers: each number is stored as its difference to the previous row, as a variable-length integer.

/// Rows of `N` numbers. Each number is stored as its difference to the number in the previous row. A difference below 64 takes one byte, a
/// difference below 8,192 two bytes.
#[derive(Clone, Debug)]
pub(crate) struct Packed<const N: usize> {
    last: [u64; N],
    bytes: Vec<u8>,
}

impl<const N: usize> Default for Packed<N> {
    fn default() -> Self {
        Self { last: [0; N], bytes: Vec::new() }
    }
}

impl<const N: usize> Packed<N> {
    pub(crate) fn push(&mut self, row: [u64; N]) {
        for (new, last) in row.iter().zip(&self.last) {
            let difference = new.wrapping_sub(*last).cast_signed();
            let mut rest = (difference << 1 ^ difference >> 63).cast_unsigned();
            while rest >= 0x80 {
                self.bytes.push(low(rest) | 0x80);
                rest >>= 7;
            }
            self.bytes.push(low(rest));
        }
        self.last = row;
    }

    /// Returns the rows in the order in which they were added.
    pub(crate) fn rows(&self) -> impl Iterator<Item = [u64; N]> {
        let (mut row, mut bytes) = ([0_u64; N], self.bytes.iter());
        std::iter::from_fn(move || {
            for number in &mut row {
                let (mut rest, mut shift) = (0_u64, 0);
                loop {
                    let byte = *bytes.next()?;
                    rest |= u64::from(byte & 0x7F) << shift;
                    shift += 7;
                    if byte & 0x80 == 0 {
                        break;
                    }
                }
                let difference = (rest >> 1).cast_signed() ^ -((rest & 1).cast_signed());
                *number = number.wrapping_add(difference.cast_unsigned());
            }
            Some(row)
        })
    }

    /// Returns the last row; zeros if there is none.
    pub(crate) fn last(&self) -> [u64; N] {
        self.last
    }

    /// Returns whether there is no row.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the bytes of heap memory in use.
    pub(crate) fn memory(&self) -> usize {
        self.bytes.capacity()
    }
}

fn low(number: u64) -> u8 {
    u8::try_from(number & 0x7F).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_as_they_were_and_steady_ones_take_few_bytes() {
        let mut packed = Packed::default();
        let odd = [[u64::MAX, 0], [0, u64::MAX], [1 << 63, 63], [7, 64], [7, 64], [0, 0]];
        for row in odd {
            packed.push(row);
        }
        assert_eq!(packed.rows().collect::<Vec<_>>(), odd);
        assert_eq!(packed.last(), [0, 0]);
        let mut packed = Packed::default();
        assert!(packed.is_empty() && packed.rows().next().is_none());
        (0..1_000).for_each(|n| packed.push([n * 60_000, n * 1_448, 1_448]));
        assert!(packed.bytes.len() < 6_100, "{}", packed.bytes.len());
        assert_eq!(packed.rows().nth(999), Some([999 * 60_000, 999 * 1_448, 1_448]));
    }
}
