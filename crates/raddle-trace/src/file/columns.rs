//! Columns: the streams of numbers that make up a block of events.
//!
//! A column holds words of a width that an op says (see [`super::events`]), and numbers that say their width
//! themselves: by the lowest set bit of the first byte, bit 0 one byte, bit 1 two, … bit 7 eight; none nine,
//! of which the first is then zero and the others are the number. The bits above that bit are the number's
//! lowest.

use super::rows::Malformed;

/// Bytes that a number takes at most.
pub const MOST_BYTES: usize = 9;

/// Zeros behind the columns of a block, so that a load at the last byte stays inside.
pub const PADDING: usize = 16;

/// A difference as a number that is small if the difference is, whatever its sign.
#[inline]
pub const fn fold(delta: u64) -> u64 {
    let delta = delta as i64;
    (delta << 1 ^ delta >> 63) as u64
}

/// Undoes [`fold`].
pub const fn unfold(folded: u64) -> u64 {
    folded >> 1 ^ (folded & 1).wrapping_neg()
}

/// A column that is written.
#[derive(Debug, Default)]
pub struct ColumnWriter {
    /// What was written, and room behind it.
    bytes: Vec<u8>,
    len: usize,
}

impl ColumnWriter {
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn clear(&mut self) {
        self.len = 0;
    }

    pub fn written(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Room for more, to be written by the caller; [`ColumnWriter::grow`] says how much of it was.
    #[inline]
    pub fn room<const N: usize>(&mut self) -> &mut [u8; N] {
        if self.bytes.len() - self.len < N {
            self.more(N);
        }
        let room = self.bytes[self.len..].first_chunk_mut();
        room.expect("there is room")
    }

    #[cold]
    fn more(&mut self, len: usize) {
        let len = (self.len + len).max(2 * self.bytes.len());
        self.bytes.resize(len, 0);
    }

    /// Keeps so many bytes of what was written into the room.
    #[inline]
    pub fn grow(&mut self, len: usize) {
        self.len += len;
    }

    /// Appends so many zeros.
    pub fn zeros(&mut self, count: usize) {
        if self.bytes.len() - self.len < count {
            self.more(count);
        }
        self.bytes[self.len..self.len + count].fill(0);
        self.len += count;
    }

    /// Appends one byte.
    #[inline]
    pub fn byte(&mut self, byte: u8) {
        *self.room() = [byte];
        self.len += 1;
    }

    /// Appends the lowest `width` bytes of a word.
    #[inline]
    pub fn word(&mut self, word: u64, width: usize) {
        *self.room() = word.to_le_bytes();
        self.len += width;
    }

    /// Appends a number.
    #[inline]
    pub fn number(&mut self, number: u64) {
        let (bytes, len) = number_bytes(number);
        *self.room() = bytes;
        self.len += len;
    }
}

/// A number as it is written, and how many of these bytes it takes.
#[inline]
pub fn number_bytes(number: u64) -> ([u8; MOST_BYTES], usize) {
    let bits = 63 - (number | 1).leading_zeros() as usize;
    let len = (1 + bits / 7).min(MOST_BYTES);
    let mut bytes = [0; MOST_BYTES];
    if len < MOST_BYTES {
        let word = (number << 1 | 1) << (len - 1);
        bytes[..8].copy_from_slice(&word.to_le_bytes());
    } else {
        bytes[1..].copy_from_slice(&number.to_le_bytes());
    }
    (bytes, len)
}

/// A place in a column that is read.
///
/// Reading may leave the column, though not the block: whoever reads holds [`ColumnReader::overrun`]
/// against it before anything read is believed.
#[derive(Clone, Copy, Debug)]
pub struct ColumnReader {
    at: usize,
    end: usize,
}

impl ColumnReader {
    pub fn new(at: usize, end: usize) -> Self {
        Self { at, end }
    }

    pub fn is_at_end(&self) -> bool {
        self.at == self.end
    }

    /// What is wrong if more was read than there is.
    pub fn overrun(&self) -> Option<Malformed> {
        (self.at > self.end).then_some(Malformed {
            at: self.end,
            what: "a column ends too early",
        })
    }

    #[inline]
    pub fn byte(&mut self, block: &[u8]) -> Result<u8, Malformed> {
        let byte = block.get(self.at).copied();
        self.at += 1;
        byte.ok_or_else(|| self.outside())
    }

    /// The next word of `width` bytes, at most eight. Above them stands what follows in the block.
    #[inline]
    pub fn word(&mut self, block: &[u8], width: usize) -> Result<u64, Malformed> {
        let bytes: Option<&[u8; 8]> = block.get(self.at..).and_then(|rest| rest.first_chunk());
        let Some(bytes) = bytes else {
            return Err(self.outside());
        };
        self.at += width;
        Ok(u64::from_le_bytes(*bytes))
    }

    #[inline]
    pub fn number(&mut self, block: &[u8]) -> Result<u64, Malformed> {
        let bytes: Option<&[u8; MOST_BYTES]> =
            block.get(self.at..).and_then(|rest| rest.first_chunk());
        let Some(&[first, b1, b2, b3, b4, b5, b6, b7, b8]) = bytes else {
            return Err(self.outside());
        };
        let zeros = first.trailing_zeros() as usize;
        if zeros < 8 {
            let word = u64::from_le_bytes([first, b1, b2, b3, b4, b5, b6, b7]);
            let len = zeros + 1;
            self.at += len;
            let unused = 64 - 8 * len;
            Ok(word << unused >> unused >> len)
        } else {
            self.at += MOST_BYTES;
            Ok(u64::from_le_bytes([b1, b2, b3, b4, b5, b6, b7, b8]))
        }
    }

    #[cold]
    fn outside(&self) -> Malformed {
        self.malformed("it ends too early")
    }

    #[cold]
    pub fn malformed(&self, what: &'static str) -> Malformed {
        Malformed { at: self.at, what }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(numbers: &[u64]) -> ColumnWriter {
        let mut column = ColumnWriter::default();
        for &number in numbers {
            column.number(number);
        }
        column
    }

    proptest! {
        #[test]
        fn numbers_come_back(numbers: Vec<u64>, shifts in prop::collection::vec(0..64_u32, 100)) {
            let numbers: Vec<u64> = numbers.iter().zip(shifts).map(|(it, by)| it >> by).collect();
            let column = written(&numbers);
            let mut block = column.written().to_vec();
            block.extend([0; PADDING]);
            let mut reader = ColumnReader::new(0, column.len());
            for number in numbers {
                prop_assert_eq!(reader.number(&block), Ok(number));
            }
            prop_assert!(reader.is_at_end() && reader.overrun().is_none());
            prop_assert!(reader.number(&block).is_ok() && reader.overrun().is_some());
        }

        #[test]
        fn a_folded_difference_comes_back(delta: u64) {
            prop_assert_eq!(unfold(fold(delta)), delta);
        }
    }

    #[test]
    fn seven_bits_a_byte_up_to_eight_bytes() {
        for (number, len) in [
            (0, 1),
            (127, 1),
            (128, 2),
            ((1 << 56) - 1, 8),
            (1 << 56, 9),
            (u64::MAX, 9),
        ] {
            assert_eq!(written(&[number]).len(), len, "{number}");
        }
        assert_eq!([fold(1), fold(u64::MAX), fold(2)], [2, 1, 4]);
    }

    #[test]
    fn behind_the_block_there_is_nothing() {
        let mut reader = ColumnReader::new(8, 16);
        assert_eq!(reader.number(&[0; 16]).unwrap_err().at, 8);
        assert_eq!(reader.word(&[0; 15], 1).unwrap_err().at, 8);
        assert_eq!(
            ColumnReader::new(usize::MAX - 1, 16)
                .byte(&[])
                .unwrap_err()
                .what,
            "it ends too early"
        );
    }
}
